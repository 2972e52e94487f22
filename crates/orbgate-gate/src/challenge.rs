//! The `WWW-Authenticate` header of a denial (RFC 6750 §3).

use std::borrow::Cow;

use orbgate::{Decision, Reason};

use crate::credentials::Credentials;

/// What `WWW-Authenticate` reveals to a denied caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Challenge {
    /// `Bearer`, with every 401 and 403.
    #[default]
    Minimal,
    /// The error as RFC 6750 names it, and the missing scope.
    Full(FullChallenge),
    /// No header and a bare 403, as in the specification, for every reason.
    None,
}

/// The parameters of a full challenge, apart from the error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FullChallenge {
    realm: Option<String>,
    resource_metadata: Option<String>,
}

impl FullChallenge {
    /// Only errors and scopes.
    #[must_use]
    pub const fn new() -> Self {
        Self { realm: None, resource_metadata: None }
    }

    /// Sets the realm (RFC 9110 §11.5).
    ///
    /// # Errors
    ///
    /// Fails if the string contains a character that isn't printable ASCII, or `"` or `\`.
    pub fn realm(self, realm: &str) -> Result<Self, ChallengeError> {
        let realm = Some(quotable(realm)?);
        Ok(Self { realm, ..self })
    }

    /// Sets the URL of this service's metadata (RFC 9728 §5.1). It is never derived from a
    /// request's `Host`.
    ///
    /// # Errors
    ///
    /// Fails if it isn't an absolute `https` URL, or contains a character that
    /// [`FullChallenge::realm`] rejects.
    pub fn resource_metadata(self, url: &str) -> Result<Self, ChallengeError> {
        if !is_https_url(url) {
            return Err(ChallengeError);
        }
        let resource_metadata = Some(quotable(url)?);
        Ok(Self { resource_metadata, ..self })
    }

    fn value(&self, refusal: Refusal<'_>) -> String {
        self.value_with(refusal, None, None)
    }

    /// The value with the scopes to start with, and metadata if there is no other.
    fn value_with(&self, refusal: Refusal<'_>, initial: Option<&str>, metadata: Option<&str>) -> String {
        let (error, scope) = match refusal {
            Refusal::Header => (Some("invalid_request"), None),
            Refusal::Decision(decision) => match decision.reason() {
                Reason::InvalidToken => (Some("invalid_token"), None),
                Reason::ScopeMissing | Reason::UserTokenRequired => (Some("insufficient_scope"), needed(decision)),
                _ => (None, None),
            },
        };
        let scope = scope.or(initial.map(Cow::Borrowed));
        let parameters = [
            ("realm", self.realm.as_deref()),
            ("error", error),
            ("scope", scope.as_deref()),
            ("resource_metadata", self.resource_metadata.as_deref().or(metadata)),
        ];
        let stated = parameters.iter().filter_map(|(name, value)| Some(format!("{name}=\"{}\"", (*value)?)));
        let text = format!("Bearer {}", stated.collect::<Vec<_>>().join(", "));
        text.trim_end().to_owned()
    }
}

/// The scopes to ask for: the owner's alternative, whatever the token has. It is enough, and never sends a client for an
/// administrator's scope.
fn needed<'e>(decision: &Decision<'e>) -> Option<Cow<'e, str>> {
    let owned = decision.requirement().map(|requirement| Cow::Owned(requirement.of_owner().to_string()));
    owned.or_else(|| decision.scope().map(|scope| Cow::Borrowed(scope.name())))
}

/// Why a request is denied.
#[derive(Clone, Copy)]
pub(crate) enum Refusal<'a> {
    /// Its `Authorization` header can't be read.
    Header,
    Decision(&'a Decision<'a>),
}

impl Challenge {
    /// The header's value for a denial with this status.
    pub(crate) fn value(&self, status: u16, refusal: Refusal<'_>) -> Option<Cow<'static, str>> {
        if !matches!(status, 401 | 403) {
            return None;
        }
        match self {
            Self::None => None,
            Self::Minimal => Some(Cow::Borrowed("Bearer")),
            Self::Full(full) => Some(Cow::Owned(full.value(refusal))),
        }
    }
}

impl Challenge {
    /// The header's value for a denial at an MCP endpoint, whose clients need its parameters.
    pub(crate) fn at_endpoint<T>(
        &self,
        decision: &Decision<'_>,
        credentials: &Credentials<T>,
        initial: &str,
        metadata: Option<&str>,
    ) -> String {
        const BARE: &FullChallenge = &FullChallenge::new();
        let full = if let Self::Full(full) = self { full } else { BARE };
        let refusal = match credentials.is_readable() {
            true => Refusal::Decision(decision),
            false => Refusal::Header,
        };
        let initial = Some(initial).filter(|scopes| decision.status() == Some(401) && !scopes.is_empty());
        full.value_with(refusal, initial, metadata)
    }
}

/// Checks that a string can be quoted (RFC 9110 §5.6.4) without escapes.
fn quotable(text: &str) -> Result<String, ChallengeError> {
    if is_quotable(text) { Ok(text.to_owned()) } else { Err(ChallengeError) }
}

pub(crate) fn is_quotable(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\')
}

/// Whether a string is an absolute `https` URL that contains only characters of RFC 3986.
pub(crate) fn is_https_url(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    let is_of_url = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("https") && !host.is_empty() && rest.bytes().all(is_of_url)
}

/// A string that can't be part of a challenge.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a realm is printable ASCII without `\"` and `\\`; resource metadata is an absolute https URL")]
#[non_exhaustive]
pub struct ChallengeError;

orbgate_yaml::debug_as_display!(ChallengeError);

#[cfg(test)]
mod tests {
    use super::{Challenge, ChallengeError, FullChallenge, Refusal};
    use orbgate::{Engine, Request, Token};

    fn full(challenge: &Challenge, token: Option<Token<'_>>) -> Option<String> {
        let decision = Engine::external().decide(&Request {
            method: b"GET",
            target: b"/api/v1/external/orbs",
            token,
            allow_bonus_orbs_use: false,
        });
        let value = challenge.value(decision.status()?, Refusal::Decision(&decision))?;
        Some(value.into_owned())
    }

    #[test]
    fn a_full_challenge_names_the_error_as_rfc_6750_does() {
        let challenge = Challenge::Full(FullChallenge::new().realm("orbs").unwrap());
        let value = |token| full(&challenge, token);
        assert_eq!(value(None).unwrap(), "Bearer realm=\"orbs\"");
        assert_eq!(
            value(Some(Token::user("read:account"))).unwrap(),
            "Bearer realm=\"orbs\", error=\"insufficient_scope\", scope=\"read:orbs\""
        );
        let bare = Challenge::Full(FullChallenge::new());
        assert_eq!(full(&bare, None).unwrap(), "Bearer");
        let header = bare.value(401, Refusal::Header).unwrap();
        assert_eq!(header, "Bearer error=\"invalid_request\"");
        assert_eq!(full(&Challenge::None, None), None);
    }

    #[test]
    fn a_token_of_the_wrong_kind_is_told_the_error_too() {
        let policy = "orbgate: 1\napis: { a: { base_path: '', token: user, organisation: deny, \
            scopes: { read:a: { orbs: false, routes: [GET /a] } } } }\n";
        let engine = Engine::new(&orbgate::Policy::from_yaml(policy).unwrap());
        let decision = engine.decide(&Request {
            method: b"GET",
            target: b"/a",
            token: Some(Token::organisation("read:a")),
            allow_bonus_orbs_use: false,
        });
        assert_eq!(decision.reason(), orbgate::Reason::UserTokenRequired);
        let challenge = Challenge::Full(FullChallenge::new());
        let header = challenge.value(403, Refusal::Decision(&decision)).unwrap();
        assert_eq!(header, "Bearer error=\"insufficient_scope\", scope=\"read:a\"");
    }

    #[test]
    fn the_scopes_of_the_owner_s_alternative_are_named_whatever_the_token_has() {
        let policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { read:a: { orbs: false, or: [admin], and: read:b, \
            routes: [GET /a, { route: GET /c, or: [admin] }] }, admin: { routes: [] }, read:b: { routes: [] } } } }\n";
        let engine = Engine::new(&orbgate::Policy::from_yaml(policy).unwrap());
        let challenge = Challenge::Full(FullChallenge::new());
        for (target, held, named) in
            [("/a", "", "read:a read:b"), ("/a", "read:b", "read:a read:b"), ("/c", "x", "read:a")]
        {
            let decision = engine.decide(&Request {
                method: b"GET",
                target: target.as_bytes(),
                token: Some(Token::user(held)),
                allow_bonus_orbs_use: false,
            });
            let header = challenge.value(403, Refusal::Decision(&decision)).unwrap();
            assert_eq!(header, format!("Bearer error=\"insufficient_scope\", scope=\"{named}\""));
        }
    }

    #[test]
    fn nothing_breaks_out_of_the_quotation_marks() {
        for text in ["a\"b", "a\\b", "a\r\nX: y", "é", "\u{7f}"] {
            assert_eq!(FullChallenge::new().realm(text), Err(ChallengeError));
        }
        for url in [
            "/metadata",
            "http://a.example/m",
            "https://a.example/\"m",
            "https://a.example/a b",
            "https:///m",
            "https:",
            "",
        ] {
            let refused = FullChallenge::new().resource_metadata(url);
            assert_eq!(refused, Err(ChallengeError), "{url}");
        }
        let url = "https://a.example/.well-known/oauth-protected-resource";
        let value = FullChallenge::new().resource_metadata(url).unwrap();
        let value = value.value(Refusal::Header);
        assert!(value.ends_with(&format!("resource_metadata=\"{url}\"")));
    }
}
