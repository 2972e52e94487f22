//! JSON objects in which no member comes twice, at any depth: of two duplicates, two readers may take
//! different ones.

use core::fmt;
use std::collections::BTreeSet;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Why a text is not such an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonFault {
    NotAnObject,
    DuplicateMember,
}

/// The members of the text's one object.
pub(crate) fn object(text: &[u8]) -> Result<Map<String, Value>, JsonFault> {
    // Read twice, because with serde_json's feature `arbitrary_precision`, which any other crate of a
    // program may turn on, a reader of our own would see numbers as something else.
    if let Err(error) = serde_json::from_slice::<Unique>(text) {
        return Err(if error.is_data() {
            JsonFault::DuplicateMember
        } else {
            JsonFault::NotAnObject
        });
    }
    match serde_json::from_slice(text) {
        Ok(Value::Object(members)) => Ok(members),
        _ => Err(JsonFault::NotAnObject),
    }
}

/// Any JSON in which no object has a member twice; the values are not kept.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Unique, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if !names.insert(name) {
                return Err(A::Error::custom("a member comes twice"));
            }
            members.next_value::<Unique>()?;
        }
        Ok(Unique)
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonFault, object};

    #[test]
    fn a_member_comes_once_at_any_depth() {
        let table: [(&[u8], _); 12] = [
            (br#"{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}"#, None),
            (
                br#"{"a":1,"b":-2.5,"c":true,"d":null,"e":"x","f":18446744073709551615}"#,
                None,
            ),
            (br#"{"a":1,"a":1}"#, Some(JsonFault::DuplicateMember)),
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
