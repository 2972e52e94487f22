//! Reads one flag from a request's body.

use serde::Deserialize;

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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Flag {
    #[serde(default)]
    allow_bonus_orbs_use: bool,
}

#[cfg(test)]
mod tests {
    use super::allows_bonus_orbs;

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
