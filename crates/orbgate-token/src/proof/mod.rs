//! Proof that the sender of a token holds the key that the token is bound to: DPoP (RFC 9449) and mTLS (RFC 8705).

pub(crate) mod confirmation;
pub(crate) mod dpop;
pub(crate) mod explain;
pub(crate) mod presented;
pub(crate) mod replays;
pub(crate) mod rules;
pub(crate) mod unproved;
pub(crate) mod url;
