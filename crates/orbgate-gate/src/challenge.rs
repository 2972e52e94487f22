//! The `WWW-Authenticate` header of a denial (RFC 6750 §3, RFC 9470 §3).

use std::borrow::Cow;

use orbgate::{Decision, Reason, is_earned};
use orbgate_token::{LONGEST_PARAMETER, TokenError};

use crate::credentials::{Credentials, Verified};
use crate::lacking::Lacking;

/// What `WWW-Authenticate` reveals to a denied caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Challenge {
    /// `Bearer`, with every 401 and 403. Only if a login is missing, it also says which: no client could guess it.
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
    /// Fails if the string contains a character that isn't printable ASCII, or `"` or `\`, or has more than 1,024 characters.
    pub fn realm(self, realm: &str) -> Result<Self, ChallengeError> {
        let realm = Some(quotable(realm)?);
        Ok(Self { realm, ..self })
    }

    /// Sets the URL of this service's metadata (RFC 9728 §5.1). It is never derived from a
    /// request's `Host`.
    ///
    /// # Errors
    ///
    /// Fails if it isn't an absolute `https` URL, or if [`FullChallenge::realm`] rejects it.
    pub fn resource_metadata(self, url: &str) -> Result<Self, ChallengeError> {
        if !is_https_url(url) {
            return Err(ChallengeError);
        }
        let resource_metadata = Some(quotable(url)?);
        Ok(Self { resource_metadata, ..self })
    }

    /// The value, with scopes to start with, and metadata if there is no other.
    fn value(&self, refusal: &Refusal<'_, '_>, initial: Option<&str>, metadata: Option<&str>) -> String {
        let error = match refusal {
            Refusal::Header => Some("invalid_request"),
            Refusal::Reason(Reason::InvalidToken) | Refusal::Lacking(Lacking::Proof) => Some("invalid_token"),
            Refusal::Reason(_) | Refusal::Lacking(Lacking::Nothing) => None,
            Refusal::Lacking(Lacking::Scopes(_) | Lacking::Earned) => Some("insufficient_scope"),
            Refusal::Lacking(Lacking::Login(_)) => Some("insufficient_user_authentication"),
        };
        let (scope, login) = match refusal {
            Refusal::Lacking(Lacking::Scopes(needed)) => (Some(needed.names()), None),
            Refusal::Lacking(Lacking::Login(login)) => (None, Some(login)),
            _ => (None, None),
        };
        // Its values need no escapes either: the configuration is checked.
        let acr_values = login.map(|login| login.acr_values.join(" ")).filter(|values| !values.is_empty());
        // A part of them would send the client for a token that isn't enough.
        let [scope, acr_values] = [scope, acr_values].map(|value| value.filter(|value| fits(value)));
        let max_age = login.and_then(|login| login.max_age).map(|seconds| seconds.to_string());
        let parameters = [
            ("realm", self.realm.as_deref()),
            ("error", error),
            ("scope", scope.as_deref().or(initial)),
            ("acr_values", acr_values.as_deref()),
            ("max_age", max_age.as_deref()),
            ("resource_metadata", self.resource_metadata.as_deref().or(metadata)),
        ];
        let stated = parameters.iter().filter_map(|(name, value)| Some(format!("{name}=\"{}\"", (*value)?)));
        let text = format!("Bearer {}", stated.collect::<Vec<_>>().join(", "));
        text.trim_end().to_owned()
    }
}

/// The value with a second challenge (RFC 9449 §7.1), in the same line, because some proxies copy only one.
pub(crate) fn with_dpop(value: &str, refused: Option<TokenError>, has_token: bool, algorithms: &str) -> String {
    let error = match refused {
        Some(error) if error.is_of_dpop_proof() => "error=\"invalid_dpop_proof\", ",
        Some(_) => "error=\"invalid_token\", ",
        // It lacks what only a bound one has.
        None if has_token => "error=\"invalid_token\", ",
        None => "",
    };
    format!("{value}, DPoP {error}algs=\"{algorithms}\"")
}

/// Why a request is denied.
pub(crate) enum Refusal<'e, 't> {
    /// Its `Authorization` header can't be read.
    Header,
    /// Its token lacks something.
    Lacking(Lacking<'e, 't>),
    Reason(Reason),
}

impl<'e, 't> Refusal<'e, 't> {
    pub(crate) fn of<T: Verified>(decision: &Decision<'e>, credentials: &'t Credentials<T>) -> Self {
        match (Lacking::of(decision, credentials), decision.reason()) {
            (Lacking::Nothing, Reason::InvalidToken) if !credentials.is_readable() => Self::Header,
            (Lacking::Nothing, reason) => Self::Reason(reason),
            (lacking, _) => Self::Lacking(lacking),
        }
    }

    /// Whether only a proof is missing.
    pub(crate) const fn is_proof(&self) -> bool {
        matches!(self, Self::Lacking(Lacking::Proof))
    }

    /// Whether only a login is missing.
    pub(crate) const fn is_login(&self) -> bool {
        matches!(self, Self::Lacking(Lacking::Login(_)))
    }
}

impl Challenge {
    const BARE: FullChallenge = FullChallenge::new();

    /// The header's value for a denial with this status.
    pub(crate) fn value(&self, status: u16, refusal: &Refusal<'_, '_>) -> Option<Cow<'static, str>> {
        match (self, status) {
            (Self::None, _) => None,
            (Self::Full(full), 401 | 403) => Some(Cow::Owned(full.value(refusal, None, None))),
            (Self::Minimal, 401) if refusal.is_login() => Some(Cow::Owned(Self::BARE.value(refusal, None, None))),
            (Self::Minimal, 401 | 403) => Some(Cow::Borrowed("Bearer")),
            _ => None,
        }
    }

    /// The header's value for a denial at an MCP endpoint, whose clients need its parameters.
    pub(crate) fn at_endpoint(&self, refusal: &Refusal<'_, '_>, initial: &str, metadata: Option<&str>) -> String {
        let full = if let Self::Full(full) = self { full } else { &Self::BARE };
        // A client with a valid token has asked for its scopes before.
        let is_start = match refusal {
            Refusal::Header => true,
            Refusal::Reason(reason) => reason.is_without_token(),
            Refusal::Lacking(_) => false,
        };
        full.value(refusal, Some(initial).filter(|scopes| is_start && !scopes.is_empty()), metadata)
    }
}

/// The scopes that a client can ask for, of those between spaces.
pub(crate) fn requestable(scopes: &str) -> Vec<&str> {
    scopes.split_ascii_whitespace().filter(|scope| !is_earned(scope)).collect()
}

/// Checks that a string can be quoted (RFC 9110 §5.6.4) without escapes, and isn't too long.
fn quotable(text: &str) -> Result<String, ChallengeError> {
    if is_quotable(text) && fits(text) { Ok(text.to_owned()) } else { Err(ChallengeError) }
}

/// Whether a challenge has room for this value.
pub(crate) const fn fits(value: &str) -> bool {
    value.len() <= LONGEST_PARAMETER
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
#[error(
    "a realm is printable ASCII without `\"` and `\\`; resource metadata is an absolute https URL; each has at most \
     {LONGEST_PARAMETER} characters"
)]
#[non_exhaustive]
pub struct ChallengeError;

orbgate_yaml::debug_as_display!(ChallengeError);

#[cfg(test)]
mod tests {
    use super::{Challenge, ChallengeError, FullChallenge, Refusal};
    use crate::credentials::{Credentials, Verified};
    use orbgate::{Decision, Engine, Request, Token, TokenKind};

    #[derive(Clone, Debug)]
    struct Holder(TokenKind, &'static str);

    impl Verified for Holder {
        fn token(&self) -> Token<'_> {
            Token { kind: self.0, scopes: self.1.into() }
        }
    }

    fn decide<'e>(engine: &'e Engine, target: &str, credentials: &Credentials<Holder>) -> Decision<'e> {
        engine.decide(&Request {
            method: b"GET",
            target: target.as_bytes(),
            token: credentials.token(),
            allow_bonus_orbs_use: false,
        })
    }

    fn value(
        challenge: &Challenge,
        engine: &Engine,
        target: &str,
        credentials: &Credentials<Holder>,
    ) -> Option<String> {
        let decision = decide(engine, target, credentials);
        let value = challenge.value(decision.status()?, &Refusal::of(&decision, credentials))?;
        Some(value.into_owned())
    }

    #[test]
    fn a_full_challenge_names_the_error_as_rfc_6750_does() {
        let challenge = Challenge::Full(FullChallenge::new().realm("orbs").unwrap());
        let full = |challenge, credentials| value(challenge, Engine::external(), "/api/v1/external/orbs", &credentials);
        assert_eq!(full(&challenge, Credentials::None).unwrap(), "Bearer realm=\"orbs\"");
        let held = Credentials::Token(Holder(TokenKind::User, "read:account"));
        assert_eq!(
            full(&challenge, held).unwrap(),
            "Bearer realm=\"orbs\", error=\"insufficient_scope\", scope=\"read:orbs\""
        );
        let bare = Challenge::Full(FullChallenge::new());
        assert_eq!(full(&bare, Credentials::None).unwrap(), "Bearer");
        let header = full(&bare, Credentials::Unreadable).unwrap();
        assert_eq!(header, "Bearer error=\"invalid_request\"");
        assert_eq!(full(&Challenge::None, Credentials::None), None);
    }

    #[test]
    fn a_token_of_the_wrong_kind_is_told_the_error_too() {
        let policy = "orbgate: 1\napis: { a: { base_path: '', token: user, organisation: deny, \
            scopes: { read:a: { orbs: false, routes: [GET /a] } } } }\n";
        let engine = Engine::new(&orbgate::Policy::from_yaml(policy).unwrap());
        let held = Credentials::Token(Holder(TokenKind::Organisation, "read:a"));
        assert_eq!(decide(&engine, "/a", &held).reason(), orbgate::Reason::UserTokenRequired);
        let header = value(&Challenge::Full(FullChallenge::new()), &engine, "/a", &held).unwrap();
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
            let held = Credentials::Token(Holder(TokenKind::User, held));
            let header = value(&challenge, &engine, target, &held).unwrap();
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
        let value = value.value(&Refusal::Header, None, None);
        assert!(value.ends_with(&format!("resource_metadata=\"{url}\"")));
    }
}
