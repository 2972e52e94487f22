//! JSON objects in which no member occurs twice, at any depth. Two readers could otherwise read
//! different values of a duplicate.

use core::cmp::Ordering;
use core::fmt;
use std::borrow::Cow;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonError {
    NotAnObject,
    DuplicateMember,
}

/// The members of a document's top-level object. Strings without escapes are borrowed, because
/// copying a token's claims would take longer than reading them.
#[derive(Debug)]
pub(crate) struct Object<'t>(Vec<(Text<'t>, Member<'t>)>);

#[derive(Debug, PartialEq)]
pub(crate) enum Member<'t> {
    Text(Cow<'t, str>),
    Other(Value),
}

#[derive(Debug, PartialEq, Eq)]
struct Text<'t>(Cow<'t, str>);

impl Text<'_> {
    /// Compares lengths first: most names differ in length, so their bytes needn't be compared.
    fn order(&self, other: &str) -> Ordering {
        let lengths = self.0.len().cmp(&other.len());
        lengths.then_with(|| self.0.as_ref().cmp(other))
    }
}

impl<'t> Object<'t> {
    pub(crate) fn parse(text: &'t [u8]) -> Result<Self, JsonError> {
        // Checked as a whole, because serde_json would check each string separately.
        let json = core::str::from_utf8(text).map_err(|_| JsonError::NotAnObject)?;
        let mut object: Self = serde_json::from_str(json).map_err(|_| JsonError::NotAnObject)?;
        let members = &mut object.0;
        members.sort_unstable_by(|(one, _), (other, _)| one.order(&other.0));
        let comes_twice = members.windows(2).any(|pair| matches!(pair, [(one, _), (other, _)] if one == other));
        let within = members.iter().fold(0, |others, (_, member)| match member {
            Member::Text(_) => others,
            Member::Other(value) => kept(others, value),
        });
        // If a value names a member twice, serde_json keeps the last one. A visitor of our own wouldn't help: with the
        // feature `arbitrary_precision`, which any other crate of a program can enable, it would see numbers as
        // objects.
        if comes_twice || within > 0 && written(text) != within.saturating_add(members.len()) {
            return Err(JsonError::DuplicateMember);
        }
        Ok(object)
    }

    /// Linear search: a token has few members, and most names differ in length.
    pub(crate) fn get(&self, name: &str) -> Option<&Member<'t>> {
        self.0.iter().find(|(other, _)| other.0 == name).map(|(_, member)| member)
    }

    /// The member, if it is a string.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Member::text)
    }
}

impl Member<'_> {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }
}

impl<'t> Deserialize<'t> for Object<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadObject)
    }
}

impl<'t> Deserialize<'t> for Text<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(ReadText)
    }
}

impl<'t> Deserialize<'t> for Member<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadMember)
    }
}

struct ReadObject;
struct ReadText;
struct ReadMember;

impl<'t> Visitor<'t> for ReadObject {
    type Value = Object<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Object<'t>, A::Error> {
        // More than most tokens need.
        let mut members = Vec::with_capacity(16);
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Object(members))
    }
}

impl<'t> Visitor<'t> for ReadText {
    type Value = Text<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'t str) -> Result<Text<'t>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'t>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}

impl<'t> Visitor<'t> for ReadMember {
    type Value = Member<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'t str) -> Result<Member<'t>, E> {
        Ok(Member::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Member<'t>, E> {
        Ok(Member::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Member<'t>, E> {
        Ok(Member::Other(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Member<'t>, E> {
        Ok(Member::Other(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Member<'t>, E> {
        Ok(Member::Other(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Member<'t>, E> {
        Ok(Member::Other(value.into()))
    }

    fn visit_unit<E: Error>(self) -> Result<Member<'t>, E> {
        Ok(Member::Other(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'t>>(self, items: A) -> Result<Member<'t>, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(items)).map(Member::Other)
    }

    /// With `arbitrary_precision`, numbers also arrive here.
    fn visit_map<A: MapAccess<'t>>(self, members: A) -> Result<Member<'t>, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(members)).map(Member::Other)
    }
}

/// The number of members in JSON, at any depth. Each has one colon outside strings.
fn written(json: &[u8]) -> usize {
    let (mut members, mut in_string) = (0_usize, false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            // Skips the escaped character, which might be a quote.
            b'\\' => drop(bytes.next()),
            b':' if !in_string => members = members.saturating_add(1),
            _ => {}
        }
    }
    members
}

/// Adds the number of members of a value, at any depth, to `others`.
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
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{JsonError, Member, Object, kept, written};

    /// JSON of any depth in which names are repeated, including in a different spelling.
    fn json() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec![r#""a""#, r#""\u0061""#, r#""b:""#, r#""""#, r#""é\"""#]);
        let scalar = prop::sample::select(vec![
            "1",
            "-2.5e3",
            "18446744073709551616",
            "true",
            "null",
            r#""x""#,
            r#""\\\":""#,
            r#""\ud83d\ude00""#,
        ]);
        scalar.prop_map(str::to_owned).prop_recursive(4, 32, 4, move |inner| {
            let member = (name.clone(), inner.clone()).prop_map(|(name, value)| format!("{name} :{value}"));
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
                prop::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(" ,"))),
            ]
        })
    }

    proptest! {
        /// Compares with serde_json, unless serde_json keeps fewer members.
        #[test]
        fn members_are_those_of_a_value(text in json()) {
            let value: Value = serde_json::from_str(&text).unwrap();
            let object = Object::parse(text.as_bytes());
            let Value::Object(members) = &value else {
                prop_assert_eq!(object.err(), Some(JsonError::NotAnObject));
                return Ok(());
            };
            if written(text.as_bytes()) != kept(0, &value) {
                prop_assert_eq!(object.err(), Some(JsonError::DuplicateMember));
                return Ok(());
            }
            let object = object.unwrap();
            prop_assert_eq!(object.0.len(), members.len());
            for (name, value) in members {
                let same = match object.get(name).unwrap() {
                    Member::Text(text) => value == text.as_ref(),
                    Member::Other(other) => value == other,
                };
                prop_assert!(same, "{}", name);
            }
        }
    }

    #[test]
    fn a_member_comes_once_at_any_depth() {
        let table: [(&[u8], _); 15] = [
            (br#"{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}"#, None),
            (br#"{"a":1,"b":-2.5,"c":true,"d":null,"e":"x","f":18446744073709551615}"#, None),
            (br#"{"a:":":\\","b\":":"\"a\":","c":"\\\":","":[[{"":{}}]]}"#, None),
            (br#"{"a":1,"a":1}"#, Some(JsonError::DuplicateMember)),
            (br#"{"a":{"a":{"b":1}},"a":{}}"#, Some(JsonError::DuplicateMember)),
            (br#"{"a:":"\\","a:":"\""}"#, Some(JsonError::DuplicateMember)),
            (br#"{"a":1,"\u0061":1}"#, Some(JsonError::DuplicateMember)),
            (br#"{"x":[{"y":{"a":1,"a":2}}]}"#, Some(JsonError::DuplicateMember)),
            (b"[]", Some(JsonError::NotAnObject)),
            (b"{}x", Some(JsonError::NotAnObject)),
            (br#"{"a":NaN}"#, Some(JsonError::NotAnObject)),
            (br#"{"a":1e999}"#, Some(JsonError::NotAnObject)),
            (b"{\"a\":\"\xff\"}", Some(JsonError::NotAnObject)),
            (br#"{"a":"\ud800"}"#, Some(JsonError::NotAnObject)),
            (b"", Some(JsonError::NotAnObject)),
        ];
        for (text, diagnostic) in table {
            assert_eq!(Object::parse(text).err(), diagnostic, "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(Object::parse("[".repeat(5_000).as_bytes()).err(), Some(JsonError::NotAnObject));
    }
}
