//! A request as a proxy names it → its answer: policy, keys and audit as they are now.

pub(crate) mod answers;
mod audit;
pub(crate) mod errors;
mod keys;
pub(crate) mod ledger;
pub(crate) mod measures;
mod policy;
pub(crate) mod question;
pub(crate) mod state;
mod tls;
pub(crate) mod tokenless;

pub(crate) use self::policy::INTERVAL;
