//! The scope claim (RFC 6749 §3.3, RFC 8693 §4.2).

use core::fmt;

use serde_json::Value;

use crate::error::TokenError;
use crate::json::{Member, Object};

const SCOPES: usize = 256;
const BYTES: usize = 4096;

/// Where a token has its scopes: exactly one claim in one format. Other claims are never read, so
/// `permissions` or `roles` can't widen the scopes that were requested unless one of them is that claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeClaim {
    /// The claim: `scope` for most providers, `scp` for Entra ID and Okta.
    pub claim: ClaimPath,
    /// The format of the claim.
    pub format: ScopeFormat,
    /// How to handle a token that has both `scope` and `scp`, if the claim is one of them; and an organisation's token that
    /// also has the claim of users' tokens, if organisations have [their own](crate::Issuer::organisation_scopes).
    pub conflict: Conflict,
}

impl Default for ScopeClaim {
    /// `scope`, a space-separated string (RFC 9068 §2.2.3).
    fn default() -> Self {
        Self { claim: "scope".into(), format: ScopeFormat::String, conflict: Conflict::Deny }
    }
}

/// The name of a claim, or the names that lead to a value inside one, such as `realm_access` and `roles`. A dot is part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimPath(Vec<String>);

impl ClaimPath {
    /// The value inside a claim: the name of the claim comes first.
    #[must_use]
    pub fn nested(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }

    /// Whether it leads to a value: it has a name, and none is empty.
    pub(crate) fn is_named(&self) -> bool {
        !self.0.is_empty() && !self.0.iter().any(String::is_empty)
    }

    pub(crate) fn find<'c>(&self, claims: &'c Object<'_>) -> Option<Found<'c>> {
        let (first, inside) = self.0.split_first()?;
        match claims.get(first)? {
            Member::Text(text) => inside.is_empty().then_some(Found::Text(text)),
            Member::Other(value) => match inside.iter().try_fold(value, |value, name| value.get(name))? {
                Value::String(text) => Some(Found::Text(text)),
                other => Some(Found::Other(other)),
            },
        }
    }
}

impl<T: Into<String>> From<T> for ClaimPath {
    fn from(name: T) -> Self {
        Self(vec![name.into()])
    }
}

/// As the configuration spells it.
impl fmt::Display for ClaimPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            [name] => f.write_str(name),
            names => write!(f, "[{}]", names.join(", ")),
        }
    }
}

pub(crate) enum Found<'c> {
    Text(&'c str),
    Other(&'c Value),
}

impl<'c> Found<'c> {
    pub(crate) const fn text(&self) -> Option<&'c str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }
}

/// The format of a scope claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeFormat {
    /// One string: scopes separated by single spaces.
    #[default]
    String,
    /// A list of strings, each one scope.
    Array,
}

/// How to handle a token that has two claims for scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflict {
    /// Reject the token.
    #[default]
    Deny,
    /// Use the configured claim, and ignore the other.
    Ignore,
}

impl ScopeClaim {
    /// The token's scopes, separated by single spaces; empty if the token lacks the claim.
    fn read(&self, claims: &Object<'_>) -> Result<Box<str>, TokenError> {
        let scopes = match (self.format, self.claim.find(claims)) {
            (_, None) => Some("".into()),
            (ScopeFormat::String, Some(Found::Text(text))) => Some(text.into()),
            (ScopeFormat::Array, Some(Found::Other(Value::Array(items)))) => joined(items),
            _ => None,
        };
        scopes.filter(|scopes| is_scope_text(scopes)).ok_or(TokenError::Scopes)
    }
}

pub(crate) struct ScopesOf<'i> {
    pub(crate) claim: &'i ScopeClaim,
    /// A claim that has the scopes of tokens of the other kind.
    pub(crate) other: Option<&'i ClaimPath>,
}

impl ScopesOf<'_> {
    /// The key of the configuration that names the claim.
    pub(crate) const fn key(&self) -> &'static str {
        match self.other {
            Some(_) => "organisation_scopes",
            None => "scopes",
        }
    }

    /// The token's scopes, separated by single spaces; empty if the token lacks the claim.
    pub(crate) fn read(&self, claims: &Object<'_>) -> Result<Box<str>, TokenError> {
        match self.conflict(claims) {
            Some(_) => Err(TokenError::Scopes),
            None => self.claim.read(claims),
        }
    }

    /// Another claim of the token that might have its scopes, unless it is ignored.
    pub(crate) fn conflict(&self, claims: &Object<'_>) -> Option<String> {
        if self.claim.conflict == Conflict::Ignore {
            return None;
        }
        let usual = match self.claim.claim.names() {
            [name] if name == "scope" => Some("scp"),
            [name] if name == "scp" => Some("scope"),
            _ => None,
        };
        let usual = usual.filter(|usual| claims.get(usual).is_some()).map(str::to_owned);
        let other = self.other.filter(|other| other.find(claims).is_some());
        usual.or_else(|| other.map(ClaimPath::to_string))
    }
}

fn joined(items: &[Value]) -> Option<Box<str>> {
    let scopes: Option<Vec<&str>> = items.iter().map(|item| item.as_str().filter(|scope| is_scope(scope))).collect();
    Some(scopes?.join(" ").into())
}

/// Whether this is empty, which is how some providers write "no scopes", or
/// `scope-token *( SP scope-token )`.
pub(crate) fn is_scope_text(text: &str) -> bool {
    let mut scopes = text.split(' ');
    text.is_empty() || (text.len() <= BYTES && scopes.by_ref().take(SCOPES).all(is_scope) && scopes.next().is_none())
}

/// `scope-token` of RFC 6749 §3.3.
pub(crate) fn is_scope(scope: &str) -> bool {
    !scope.is_empty() && scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ClaimPath, Conflict, ScopeClaim, ScopeFormat, ScopesOf};
    use crate::json::Object;

    fn read(claim: &str, format: ScopeFormat, conflict: Conflict, claims: &Value) -> Option<Box<str>> {
        let claim = ScopeClaim { claim: claim.into(), format, conflict };
        let text = claims.to_string();
        let scopes = ScopesOf { claim: &claim, other: None };
        scopes.read(&Object::parse(text.as_bytes()).unwrap()).ok()
    }

    #[test]
    fn scopes_are_read_in_one_format_from_one_claim() {
        let string = |claims| read("scope", ScopeFormat::String, Conflict::Deny, &claims);
        let array = |claims| read("scp", ScopeFormat::Array, Conflict::Deny, &claims);
        let some = |text: &str| Some(text.into());
        assert_eq!(string(json!({"scope": "a b:c b:c"})), some("a b:c b:c"));
        assert_eq!(string(json!({"permissions": ["a"], "roles": "b"})), some(""));
        assert_eq!(string(json!({"scope": ""})), some(""));
        assert_eq!(string(json!({"scope": "a,b"})), some("a,b"));
        assert_eq!(array(json!({"scp": ["a", "b"]})), some("a b"));
        assert_eq!(array(json!({"scp": []})), some(""));
        for refused in [
            json!(["a"]),
            json!({"a": 1}),
            json!(null),
            json!(7),
            json!(" a"),
            json!("a "),
            json!("a  b"),
            json!("a\tb"),
            json!("a\nb"),
            json!("a\"b"),
            json!("a\\b"),
            json!("é"),
            json!("a\u{0}"),
            json!(" "),
        ] {
            assert_eq!(string(json!({ "scope": refused })), None, "{refused}");
        }
        for refused in [json!("a"), json!(["a b"]), json!([""]), json!(["a", 1]), json!([["a"]])] {
            assert_eq!(array(json!({ "scp": refused })), None, "{refused}");
        }
    }

    #[test]
    fn scopes_can_be_inside_a_claim() {
        let read = |claims: Value| {
            let claim = ClaimPath::nested(["realm_access", "roles"]);
            let claim = ScopeClaim { claim, format: ScopeFormat::Array, conflict: Conflict::Deny };
            let text = claims.to_string();
            let scopes = ScopesOf { claim: &claim, other: None };
            scopes.read(&Object::parse(text.as_bytes()).unwrap()).ok()
        };
        assert_eq!(read(json!({"realm_access": {"roles": ["a", "b"]}})), Some("a b".into()));
        // A dot is part of a name.
        for none in [
            json!({}),
            json!({"realm_access.roles": ["a"]}),
            json!({"realm_access": {}}),
            json!({"realm_access": "roles"}),
        ] {
            assert_eq!(read(none), Some("".into()));
        }
        for refused in [json!("a"), json!([1]), json!({"a": 1}), json!(null)] {
            assert_eq!(read(json!({"realm_access": {"roles": refused}})), None);
        }
    }

    #[test]
    fn two_claims_for_scopes_are_a_conflict() {
        let both = json!({"scope": "a", "scp": "b"});
        let read = |claim, conflict| read(claim, ScopeFormat::String, conflict, &both);
        assert_eq!(read("scope", Conflict::Deny), None);
        assert_eq!(read("scp", Conflict::Deny), None);
        assert_eq!(&*read("scope", Conflict::Ignore).unwrap(), "a");
        assert_eq!(&*read("scp", Conflict::Ignore).unwrap(), "b");
        assert_eq!(&*read("https://x/scopes", Conflict::Deny).unwrap(), "");
    }

    #[test]
    fn there_are_limits() {
        let string = |text: String| {
            let claims = json!({ "scope": text });
            read("scope", ScopeFormat::String, Conflict::Deny, &claims).is_some()
        };
        assert!(string(vec!["a"; 256].join(" ")));
        assert!(!string(vec!["a"; 257].join(" ")));
        assert!(string("a".repeat(4096)));
        assert!(!string("a".repeat(4097)));
    }
}
