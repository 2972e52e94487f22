//! JSON objects in which no member comes twice, at any depth: of two duplicates, two readers may take
//! different ones.

use serde_json::{Map, Value};

/// Why a text is not such an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonFault {
    NotAnObject,
    DuplicateMember,
}

/// The members of the text's one object.
pub(crate) fn object(text: &[u8]) -> Result<Map<String, Value>, JsonFault> {
    let Ok(Value::Object(members)) = serde_json::from_slice(text) else {
        return Err(JsonFault::NotAnObject);
    };
    // serde_json keeps the last of two members of one name. A reader of our own would be no way out: with the feature
    // `arbitrary_precision`, which any other crate of a program may turn on, it would see numbers as objects.
    if written(text) == members.values().fold(members.len(), kept) {
        Ok(members)
    } else {
        Err(JsonFault::DuplicateMember)
    }
}

/// How many members there are in JSON, at any depth: each has a colon, which is not in a string.
fn written(json: &[u8]) -> usize {
    let (mut members, mut in_string) = (0_usize, false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            // It is of what follows, which may be a quote.
            b'\\' => drop(bytes.next()),
            b':' if !in_string => members = members.saturating_add(1),
            _ => {}
        }
    }
    members
}

/// How many members a value has, at any depth, added to those of others.
fn kept(others: usize, value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            let others = others.saturating_add(members.len());
            members.values().fold(others, kept)
        }
        Value::Array(items) => items.iter().fold(others, kept),
        _ => others,
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonFault, object};

    #[test]
    fn a_member_comes_once_at_any_depth() {
        let table: [(&[u8], _); 15] = [
            (br#"{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}"#, None),
            (
                br#"{"a":1,"b":-2.5,"c":true,"d":null,"e":"x","f":18446744073709551615}"#,
                None,
            ),
            (
                br#"{"a:":":\\","b\":":"\"a\":","c":"\\\":","":[[{"":{}}]]}"#,
                None,
            ),
            (br#"{"a":1,"a":1}"#, Some(JsonFault::DuplicateMember)),
            (
                br#"{"a":{"a":{"b":1}},"a":{}}"#,
                Some(JsonFault::DuplicateMember),
            ),
            (
                br#"{"a:":"\\","a:":"\""}"#,
                Some(JsonFault::DuplicateMember),
            ),
            (br#"{"a":1,"\u0061":1}"#, Some(JsonFault::DuplicateMember)),
            (
                br#"{"x":[{"y":{"a":1,"a":2}}]}"#,
                Some(JsonFault::DuplicateMember),
            ),
            (b"[]", Some(JsonFault::NotAnObject)),
            (b"{}x", Some(JsonFault::NotAnObject)),
            (br#"{"a":NaN}"#, Some(JsonFault::NotAnObject)),
            (br#"{"a":1e999}"#, Some(JsonFault::NotAnObject)),
            (b"{\"a\":\"\xff\"}", Some(JsonFault::NotAnObject)),
            (br#"{"a":"\ud800"}"#, Some(JsonFault::NotAnObject)),
            (b"", Some(JsonFault::NotAnObject)),
        ];
        for (text, fault) in table {
            assert_eq!(
                object(text).err(),
                fault,
                "{}",
                String::from_utf8_lossy(text)
            );
        }
        assert_eq!(
            object("[".repeat(5_000).as_bytes()).err(),
            Some(JsonFault::NotAnObject)
        );
    }
}
