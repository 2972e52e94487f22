//! The headers in every response, which replace any copies from the client before the request
//! reaches a backend.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use orbgate::{Charge, Decision};
use orbgate_gate::same_header;
use orbgate_token::VerifiedToken;

/// The contents of the promised headers, in this order: the words after the prefix.
pub(crate) const WORDS: [&str; 8] =
    ["Decision", "Status", "Reason", "Scope", "Route", "Charge", "Policy", "Token-Kind"];

/// The words of headers that tell a backend who calls, if `identity` is on.
const IDENTITY: [&str; 3] = ["Token-Subject", "Token-Client", "Token-Issuer"];

/// The longest value that tells who calls, in bytes.
const LONGEST_IDENTITY: usize = 255;

/// The value of a promised header without a value. Caddy treats an empty value as a missing header, and would leave the
/// client's copy in place.
const NOTHING: &str = "-";

#[derive(Clone, Debug)]
pub(crate) struct Promises {
    names: [HeaderName; WORDS.len()],
    identity: [HeaderName; IDENTITY.len()],
    /// Whether the headers of identity are written.
    tells_identity: bool,
}

pub(crate) type Values = [HeaderValue; WORDS.len()];

impl Promises {
    pub(crate) const PREFIX: &'static str = "X-Orb-";

    /// The headers with this prefix, with or without those of identity. The error is a message.
    pub(crate) fn new(prefix: &str, tells_identity: bool) -> Result<Self, &'static str> {
        const TAKEN: [&str; 3] = ["x-forwarded-", "x-original-", "x-envoy-"];
        let lower = prefix.to_ascii_lowercase();
        let inside = lower.strip_prefix("x-").and_then(|rest| rest.strip_suffix('-'));
        let inside = inside.ok_or("it does not start with `X-` and end with `-`")?;
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let words = inside.split('-');
        if inside.len() > 32 || words.clone().count() > 3 || !words.clone().all(is_word) {
            return Err("between them are up to three words of letters and digits, with `-` between them");
        }
        if TAKEN.iter().any(|taken| lower.starts_with(taken)) {
            return Err("proxies have a meaning for it");
        }
        Ok(Self { names: names(&lower, WORDS)?, identity: names(&lower, IDENTITY)?, tells_identity })
    }

    /// Writes all headers. The token is that of an allowed call.
    pub(crate) fn write(&self, values: Values, token: Option<&VerifiedToken>, headers: &mut HeaderMap) {
        for (name, value) in self.names.iter().zip(values) {
            headers.insert(name, value);
        }
        let told = token.map(|token| [token.subject(), token.client(), Some(token.issuer())]);
        for (name, text) in self.told().iter().zip(told.unwrap_or_default()) {
            headers.insert(name, identity(text));
        }
    }

    /// The headers of identity that are written.
    const fn told(&self) -> &[HeaderName] {
        if self.tells_identity { &self.identity } else { &[] }
    }

    /// The names that are written, in the order of the values.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().chain(self.told()).map(HeaderName::as_str)
    }

    /// The names that no client may send, whether they are written or not.
    pub(crate) fn reserved(&self) -> impl Iterator<Item = &str> {
        self.names.iter().chain(&self.identity).map(HeaderName::as_str)
    }

    /// Whether a client's header, with its name in lower case, could reach a backend as one of the gateway's.
    ///
    /// Proxies replace the headers that the gateway writes, but only in this spelling. Whatever else a backend might
    /// read as one of them is forged.
    pub(crate) fn is_forged(&self, name: &[u8]) -> bool {
        self.reserved().any(|own| same_header(own.as_bytes(), name)) && !self.names().any(|own| own.as_bytes() == name)
    }
}

fn names<const N: usize>(prefix: &str, words: [&str; N]) -> Result<[HeaderName; N], &'static str> {
    let names = words.map(|word| HeaderName::try_from(format!("{prefix}{}", word.to_ascii_lowercase())));
    let names = names.into_iter().collect::<Result<Vec<_>, _>>();
    names.ok().and_then(|names| names.try_into().ok()).ok_or("it is no header name")
}

/// Whether this header, in lower case, tells who calls.
pub(crate) fn is_identity(name: &str) -> bool {
    IDENTITY.iter().any(|word| name.ends_with(&word.to_ascii_lowercase()))
}

/// A part of an identity as the value of a header, in which other bytes than these are escaped. A value that would be
/// too long is left out, because half of one is another's.
fn identity(text: Option<&str>) -> HeaderValue {
    let mut value = String::new();
    for byte in text.unwrap_or_default().bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"._~@|:/+=-".contains(&byte);
        if is_plain && text != Some(NOTHING) {
            value.push(char::from(byte));
        } else {
            value.push_str(&format!("%{byte:02X}"));
        }
    }
    let is_told = (1..=LONGEST_IDENTITY).contains(&value.len());
    let value = is_told.then(|| HeaderValue::try_from(value).ok()).flatten();
    value.unwrap_or(HeaderValue::from_static(NOTHING))
}

/// The promised values for a decision.
///
/// For a denial, scope and route are left out, because proxies show these headers to the client.
pub(crate) fn values(decision: &Decision<'_>, denied_with: Option<u16>) -> Values {
    let Decision::Allow(allow) = decision else {
        return denied(denied_with);
    };
    let text = |text: &str| HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(NOTHING));
    let nothing = || HeaderValue::from_static(NOTHING);
    [
        HeaderValue::from_static("allow"),
        nothing(),
        HeaderValue::from_static(allow.reason().as_str()),
        allow.scope().map_or_else(nothing, |scope| text(scope.name())),
        allow.route().map_or_else(nothing, |route| text(route.as_str())),
        text(&charge(allow.charge())),
        text(&decision.policy().to_string()),
        nothing(),
    ]
}

/// The promised values for a denial, with the status that the rules determine; for an error,
/// `None`.
pub(crate) fn denied(status: Option<u16>) -> Values {
    let mut values = WORDS.map(|_| HeaderValue::from_static(NOTHING));
    let [decision, code, ..] = &mut values;
    *decision = HeaderValue::from_static("deny");
    if let Some(status) = status {
        *code = HeaderValue::from(status);
    }
    values
}

/// The number of orbs that a call consumes, `unstated` if the policy doesn't state the amount, or nothing if the policy
/// doesn't state whether orbs are consumed.
fn charge(charge: Option<Charge>) -> String {
    match charge {
        None => NOTHING.to_owned(),
        Some(Charge { amount: None, .. }) => "unstated".to_owned(),
        Some(Charge { amount: Some(orbs), .. }) => orbs.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Promises, identity};

    #[test]
    fn an_identity_is_one_word_or_left_out() {
        let long = "a".repeat(255);
        let table = [
            (None, "-"),
            (Some(""), "-"),
            (Some("-"), "%2D"),
            (Some("--"), "--"),
            (Some("auth0|user+1@a.example"), "auth0|user+1@a.example"),
            (Some("https://id.example.com/a?b"), "https://id.example.com/a%3Fb"),
            (Some("a b,%\r\n"), "a%20b%2C%25%0D%0A"),
            (Some("\u{e9}"), "%C3%A9"),
            (Some(long.as_str()), long.as_str()),
            (Some(&long.replacen('a', " ", 1)), "-"),
            (Some(&format!("{long}a")), "-"),
        ];
        for (text, value) in table {
            assert_eq!(identity(text), value, "{text:?}");
        }
    }

    #[test]
    fn a_client_may_send_only_what_is_replaced() {
        let told = Promises::new(Promises::PREFIX, true).unwrap();
        assert_eq!(told.names().count(), 11);
        assert!(told.names().all(|name| !told.is_forged(name.as_bytes())));
        assert!(told.is_forged(b"x.orb.token.subject"));
        let promises = Promises::new(Promises::PREFIX, false).unwrap();
        for name in promises.names() {
            assert!(!promises.is_forged(name.as_bytes()), "{name}");
            for other in ["_", ".", "!", "~"] {
                assert!(promises.is_forged(name.replace('-', other).as_bytes()), "{name} {other}");
                assert!(promises.is_forged(name.replacen('-', other, 1).as_bytes()), "{name} {other}");
            }
        }
        for name in ["x-orb-token-subject", "x-orb-token-client", "x.orb_token-issuer"] {
            assert!(promises.is_forged(name.as_bytes()), "{name}");
        }
        for name in ["x-orb-client", "x-orb-scopes", "xorbscope", "authorization", "x_acme_scope"] {
            assert!(!promises.is_forged(name.as_bytes()), "{name}");
        }
        let acme = Promises::new("X-Acme-", false).unwrap();
        assert!(acme.is_forged(b"x_acme_scope") && !acme.is_forged(b"x_orb_scope"));
    }

    #[test]
    fn a_prefix_is_one_of_its_own() {
        for prefix in ["X-Acme-", "x-a1-b2-c3-"] {
            assert!(Promises::new(prefix, false).is_ok(), "{prefix}");
        }
        for prefix in [
            "",
            "X-",
            "Orb-",
            "X-Orb",
            "X-Orb_-",
            "X--",
            "X-a--b-",
            "X-a-b-c-d-",
            "X-Forwarded-",
            "X-ORIGINAL-",
            "X-é-",
            "X-a\r\nb-",
        ] {
            assert!(Promises::new(prefix, false).is_err(), "{prefix}");
        }
    }
}
