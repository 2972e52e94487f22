//! Audit records of decisions.

use orbgate::{Decision, TokenKind};
use serde::{Serialize, Serializer};

use crate::credentials::{Credentials, Verified};
use crate::orbs::charge::HoldId;

/// An audit record of a decision. Serialised as JSON, it is one line.
///
/// It contains the decision as in `orbgate decide --json`, with the policy's digest. It also contains the time, the
/// route that the request matches even if the request has no valid token, and the token's kind and fingerprint or the
/// reason why the token was rejected, and the id of what a ledger holds for it. [`audit_json`] writes it.
#[derive(Clone, Debug, Serialize)]
pub struct AuditLine<'a> {
    time_ms: u64,
    #[serde(flatten)]
    decision: &'a Decision<'a>,
    about: Option<&'a str>,
    #[serde(flatten)]
    token: AuditToken,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold_id: Option<String>,
}

impl<'a> AuditLine<'a> {
    /// A record of a decision at this time, in milliseconds since 1970, for a request with this
    /// token.
    #[must_use]
    pub fn new(time_ms: u64, decision: &'a Decision<'a>, token: AuditToken) -> Self {
        let about = decision.about().map(|route| route.as_str());
        Self { time_ms, decision, about, token, hold_id: None }
    }

    /// The same for a request whose orbs are held.
    #[must_use]
    pub fn held(mut self, id: Option<HoldId>) -> Self {
        self.hold_id = id.map(|id| id.to_string());
        self
    }
}

/// The JSON of an audit line, or of a value that contains one. If no one has read whether the request allows bonus orbs, no
/// `bonus_allowed` is false: it is null, because the handler may still charge with them.
///
/// # Errors
///
/// Fails if the value can't be represented.
pub fn audit_json(line: &impl Serialize, reads_bonus_orbs: bool) -> serde_json::Result<String> {
    let json = serde_json::to_string(line)?;
    Ok(match reads_bonus_orbs {
        true => json,
        // Only the member looks like this: a quote in a string is escaped.
        false => json.replace(r#""bonus_allowed":false"#, r#""bonus_allowed":null"#),
    })
}

/// The properties of a token that may appear in an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "what each driver must give")]
pub struct AuditToken {
    /// The kind of token, if it is valid.
    #[serde(rename = "token_kind", serialize_with = "kind")]
    pub kind: Option<TokenKind>,
    /// An id for the token that reveals nothing about it.
    #[serde(rename = "token")]
    pub fingerprint: Option<String>,
    /// Why the token was rejected.
    #[serde(rename = "token_refused")]
    pub refused: Option<&'static str>,
}

impl<T: Verified> From<&Credentials<T>> for AuditToken {
    fn from(credentials: &Credentials<T>) -> Self {
        let (kind, fingerprint) = match credentials {
            Credentials::Token(token) => (Some(token.token().kind), token.fingerprint()),
            _ => (None, None),
        };
        Self { kind, fingerprint, refused: credentials.refused() }
    }
}

fn kind<S: Serializer>(kind: &Option<TokenKind>, to: S) -> Result<S::Ok, S::Error> {
    kind.map(TokenKind::as_str).serialize(to)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::audit_json;

    #[test]
    fn text_of_a_request_is_no_charge() {
        let text = r#""bonus_allowed":false"#;
        let line = json!({ "about": text, "orbs": { "bonus_allowed": false } });
        for (reads, expected) in [(true, json!(false)), (false, Value::Null)] {
            let read: Value = serde_json::from_str(&audit_json(&line, reads).unwrap()).unwrap();
            assert_eq!(read, json!({ "about": text, "orbs": { "bonus_allowed": expected } }));
        }
    }
}
