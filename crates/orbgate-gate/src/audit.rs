//! What an audit says of a decision.

use orbgate::{Decision, TokenKind};
use serde::{Serialize, Serializer};

use crate::credentials::{Credentials, Verified};

/// What an audit says of a decision: as JSON, a line of its own.
///
/// It has the decision as `orbgate decide --json` has it, with the policy's digest. It also has the time, and the route that the
/// request is about, even if it came without a valid token; and of a token its kind and fingerprint, or why it was refused.
#[derive(Clone, Debug, Serialize)]
pub struct AuditLine<'a> {
    time_ms: u64,
    #[serde(flatten)]
    decision: &'a Decision<'a>,
    about: Option<&'a str>,
    #[serde(flatten)]
    token: AuditToken,
}

impl<'a> AuditLine<'a> {
    /// Of a decision at this time, in milliseconds since 1970, about a request with this token.
    #[must_use]
    pub fn new(time_ms: u64, decision: &'a Decision<'a>, token: AuditToken) -> Self {
        let about = decision.about().map(|route| route.as_str());
        Self {
            time_ms,
            decision,
            about,
            token,
        }
    }
}

/// What an audit may say of a token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "what each driver must give")]
pub struct AuditToken {
    /// Whose it is, if it is right.
    #[serde(rename = "token_kind", serialize_with = "kind")]
    pub kind: Option<TokenKind>,
    /// A name for it that reveals nothing of it.
    #[serde(rename = "token")]
    pub fingerprint: Option<String>,
    /// Why it is refused.
    #[serde(rename = "token_refused")]
    pub refused: Option<&'static str>,
}

impl<T: Verified> From<&Credentials<T>> for AuditToken {
    fn from(credentials: &Credentials<T>) -> Self {
        let (kind, fingerprint) = match credentials {
            Credentials::Token(token) => (Some(token.token().kind), token.fingerprint()),
            _ => (None, None),
        };
        Self {
            kind,
            fingerprint,
            refused: credentials.refused(),
        }
    }
}

fn kind<S: Serializer>(kind: &Option<TokenKind>, to: S) -> Result<S::Ok, S::Error> {
    kind.map(TokenKind::as_str).serialize(to)
}
