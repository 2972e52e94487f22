//! A request as received: what a router made of it, and the flag in its body.

use orbgate_token::Certificate;
use serde::Deserialize;

/// A request as received over the wire. The caller must not decode, strip or join any part of it.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "what an adapter must give")]
pub struct Request<'a> {
    /// The method.
    pub method: &'a [u8],
    /// The target: path and query, in the bytes of the request line or of `:path`.
    pub target: &'a [u8],
    /// Every value of `Authorization`, one item for each line of the header.
    pub authorization: &'a [&'a [u8]],
    /// Every value of `DPoP`, one item for each line of the header.
    pub dpop: &'a [&'a [u8]],
    /// The certificate with which the client has authenticated its connection, from the server that ended TLS: see
    /// [`Presented::certificate`](orbgate_token::Presented::certificate).
    pub certificate: Option<Certificate<'a>>,
    /// Whether the same request was allowed before, by this gate, and is only decided again: its proof isn't used a second time.
    pub repeats: bool,
    /// Every value of `Upgrade`, one item for each line of the header.
    pub upgrade: &'a [&'a [u8]],
    /// Every value of `Origin`, one item for each line of the header.
    pub origin: &'a [&'a [u8]],
    /// Every value of `Access-Control-Request-Method`, one item for each line of the header.
    pub access_control_request_method: &'a [&'a [u8]],
    /// Every value of `Access-Control-Request-Headers`, one item for each line of the header. Only an MCP endpoint needs them.
    pub access_control_request_headers: &'a [&'a [u8]],
    /// The names of all headers, or at least those that contain `method`, in any letter case and as they came. A header
    /// can override the method of the request line.
    pub header_names: &'a [&'a [u8]],
    /// The route that a router before the gate chose.
    pub matched: Matched<'a>,
    /// Whether the request allows bonus orbs: see [`allows_bonus_orbs`](crate::allows_bonus_orbs).
    pub allow_bonus_orbs_use: bool,
    /// Whether a thread blocks while this request waits for keys, as in a server with one thread per request. Only one
    /// such request waits for longer than a second.
    pub holds_thread: bool,
}

/// Whether two templates match the same paths. They can differ only in the names of their parameters.
///
/// Parameters are written `{name}`. A wildcard (`{*rest}`) isn't a parameter, because it matches more than a policy's
/// template can.
#[must_use]
pub fn same_template(one: &str, two: &str) -> bool {
    let (mut one, mut two) = (one.split('/'), two.split('/'));
    loop {
        match (one.next(), two.next()) {
            (None, None) => return true,
            (Some(one), Some(two)) if one == two && !one.starts_with("{*") => {}
            (Some(one), Some(two)) if is_parameter(one) && is_parameter(two) => {}
            _ => return false,
        }
    }
}

/// Whether a segment of a template is a parameter.
pub(crate) fn is_parameter(segment: &str) -> bool {
    let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| !name.starts_with('*') && !name.contains(['{', '}']))
}

/// The route that a router chose before the gate ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a router has routed, or not, or does not say")]
pub enum Matched<'r> {
    /// No router runs before the gate.
    #[default]
    Nothing,
    /// The route with this template, written as in a policy and including any prefix:
    /// `/users/{id}`.
    Template(&'r str),
    /// The router doesn't report a template, for example in a fallback or in a service below a prefix. An
    /// otherwise allowed request is denied.
    Unknown,
}

/// Whether the whole body is a JSON object with `"allowBonusOrbsUse": true` (specification §2.1).
/// False if the member is absent, has another type or occurs twice, and if the body isn't UTF-8.
#[must_use]
pub fn allows_bonus_orbs(body: &[u8]) -> bool {
    // Parsed as a string, because JSON is UTF-8. If given bytes, the parser wouldn't validate the
    // strings that it skips.
    let Ok(text) = str::from_utf8(body) else {
        return false;
    };
    // Serde also accepts a list for an object, with its elements as the members in order.
    let is_object = text.trim_ascii_start().starts_with('{');
    is_object && serde_json::from_str::<Flag>(text).is_ok_and(|flag| flag.allow_bonus_orbs_use)
}

/// The flag in a body.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Flag {
    #[serde(default)]
    allow_bonus_orbs_use: bool,
}

#[cfg(test)]
mod tests {
    use super::{allows_bonus_orbs, same_template};

    #[test]
    fn templates_are_the_same_but_for_the_names_of_parameters() {
        let table = [
            ("/users/{id}", "/users/{id}", true),
            ("/users/{id}", "/users/{user}", true),
            ("/users/{id}", "/users/export", false),
            ("/users/export", "/users/{id}", false),
            ("/users/{id}", "/users/{id}/all", false),
            ("/users/{id}", "/users/{*id}", false),
            ("/users/{*id}", "/users/{*id}", false),
            ("/users/{id}", "/users/{{id}}", false),
            ("/users/{id}", "/users/{a}-{b}", false),
            ("/users/{a}-{b}", "/users/{a}-{c}", false),
            ("/users/{id}", "/users/", false),
            ("/users/{id}", "/users", false),
            ("/", "/", true),
        ];
        for (one, two, same) in table {
            assert_eq!(same_template(one, two), same, "{one} {two}");
        }
    }

    #[test]
    fn only_an_object_that_says_so_once_allows_them() {
        let table: &[(&[u8], bool)] = &[
            (br#"{"allowBonusOrbsUse":true}"#, true),
            (br#" {"a":[1],"allowBonusOrbsUse":true} "#, true),
            (br#"{"allowBonusOrbsUse":false}"#, false),
            (br#"{"allowBonusOrbsUse":"true"}"#, false),
            (br#"{"allowBonusOrbsUse":1}"#, false),
            (br#"{"allowBonusOrbsUse":true,"allowBonusOrbsUse":true}"#, false),
            (br#"{"allowBonusOrbsUse":true} x"#, false),
            (br#"{"allow_bonus_orbs_use":true}"#, false),
            (b"[true]", false),
            (b"", false),
            (b"{\"a\":\"\xff\",\"allowBonusOrbsUse\":true}", false),
        ];
        for (body, expected) in table {
            assert_eq!(allows_bonus_orbs(body), *expected, "{}", body.escape_ascii());
        }
    }
}
