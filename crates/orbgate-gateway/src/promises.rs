//! The headers in every response, which replace any copies from the client before the request
//! reaches a backend.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use orbgate::{Charge, Decision};

/// The contents of the promised headers, in this order: the words after the prefix.
pub(crate) const WORDS: [&str; 8] =
    ["Decision", "Status", "Reason", "Scope", "Route", "Charge", "Policy", "Token-Kind"];

/// The value of a promised header without a value. Caddy treats an empty value as a missing header, and would leave the
/// client's copy in place.
const NOTHING: &str = "-";

/// The promised headers of a gateway.
#[derive(Clone, Debug)]
pub(crate) struct Promises {
    names: [HeaderName; WORDS.len()],
    /// Their spellings with underscores, which many servers treat as equal, for proxies that can remove
    /// headers.
    aliases: HeaderValue,
}

/// The values of one response.
pub(crate) type Values = [HeaderValue; WORDS.len()];

impl Promises {
    /// The default prefix.
    pub(crate) const PREFIX: &'static str = "X-Orb-";

    /// The headers with this prefix. The error is a message.
    pub(crate) fn new(prefix: &str) -> Result<Self, &'static str> {
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
        let names = WORDS.map(|word| format!("{lower}{}", word.to_ascii_lowercase()));
        let aliases: Vec<_> = names.iter().flat_map(|name| aliases(name)).collect();
        let header = |name: String| HeaderName::try_from(name).ok();
        let parsed: Vec<_> = names.into_iter().filter_map(header).collect();
        let names = parsed.try_into().map_err(|_| "it is no header name")?;
        let aliases = HeaderValue::try_from(aliases.join(","));
        let aliases = aliases.map_err(|_| "it is no header name")?;
        Ok(Self { names, aliases })
    }

    /// Writes all headers.
    pub(crate) fn write(&self, values: Values, headers: &mut HeaderMap) {
        for (name, value) in self.names.iter().zip(values) {
            headers.insert(name, value);
        }
    }

    /// The names, in the order of the values.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(HeaderName::as_str)
    }

    pub(crate) const fn aliases(&self) -> &HeaderValue {
        &self.aliases
    }
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

/// All spellings of a name in which at least one `-` is a `_`.
fn aliases(name: &str) -> Vec<String> {
    let parts = name.split('-');
    let spellings = parts.fold(Vec::new(), |spellings: Vec<String>, part| match spellings.is_empty() {
        true => vec![part.to_owned()],
        false => {
            let longer = |joint| spellings.iter().map(move |start| format!("{start}{joint}{part}"));
            longer('-').chain(longer('_')).collect()
        }
    });
    let with_one = |spelling: &String| spelling.contains('_');
    spellings.into_iter().filter(with_one).collect()
}

#[cfg(test)]
mod tests {
    use super::{Promises, aliases};

    #[test]
    fn every_spelling_with_an_underscore_is_an_alias() {
        assert_eq!(aliases("x-a-b"), ["x_a-b", "x-a_b", "x_a_b"]);
        let promises = Promises::new(Promises::PREFIX).unwrap();
        // Three spellings for each of the seven names with two dashes, and seven for the name with
        // three.
        let count = promises.aliases().to_str().unwrap().split(',').count();
        assert_eq!(count, 7 * 3 + 7);
    }

    #[test]
    fn a_prefix_is_one_of_its_own() {
        for prefix in ["X-Acme-", "x-a1-b2-c3-"] {
            assert!(Promises::new(prefix).is_ok(), "{prefix}");
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
            assert!(Promises::new(prefix).is_err(), "{prefix}");
        }
    }
}
