//! Walks the schema and the document together, and finds every value that doesn't match, with its location.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::contract::{Contract, Mode};
use crate::finding::Finding;
use crate::rules;
use crate::shape::{JsonType, allows_null, described, has_format, property, required, wanted};

/// Checks one document, given as JSON and as a value. Lines are counted from the start of the JSON.
/// `most` limits the number of findings.
pub(crate) fn check(contract: Contract, text: &str, value: &Value, mode: Mode, most: usize) -> Vec<Finding> {
    let schema = contract.parsed();
    let mut walk =
        Walk { schema, text, mode, pointer: String::new(), locations: BTreeMap::new(), found: Vec::new(), most };
    if let Some(raw) = walk.read(text, 0) {
        walk.value(schema, raw);
    }
    if (contract, mode) == (Contract::RunRecord, Mode::Strict) {
        rules::record(value, &mut |pointer, message| {
            let location = walk.locations.get(&pointer).copied().unwrap_or_default();
            walk.push(location, pointer, message);
        });
    }
    in_order(text, walk.found)
}

/// The findings in document order, with their locations converted to lines.
fn in_order(text: &str, mut found: Vec<(usize, String, String)>) -> Vec<Finding> {
    found.sort_by_key(|(location, ..)| *location);
    let (mut line, mut counted) = (1_usize, 0);
    let findings = found.into_iter().map(|(location, pointer, message)| {
        let passed = text.as_bytes().get(counted..location).unwrap_or_default();
        let newlines = passed.iter().filter(|byte| **byte == b'\n').count();
        line = line.saturating_add(newlines);
        counted = location;
        Finding { line, pointer, message }
    });
    findings.collect()
}

/// A walk through a document. It visits only members that the schema names. So unknown members are never wrong,
/// and no pointer is longer than the schema is deep.
struct Walk<'a> {
    schema: &'a Value,
    text: &'a str,
    mode: Mode,
    /// The current location.
    pointer: String,
    /// The start of each visited value, in bytes from the start of the document, for the rules.
    locations: BTreeMap<String, usize>,
    /// The findings: location, pointer and message.
    found: Vec<(usize, String, String)>,
    /// The maximum number of findings, because even a short document can have very many.
    most: usize,
}

impl<'a> Walk<'a> {
    /// Checks a value against its schema.
    fn value(&mut self, schema: &'a Value, raw: &'a RawValue) {
        let location = self.offset(raw);
        if self.mode == Mode::Strict {
            self.locations.insert(self.pointer.clone(), location);
        }
        let kind = JsonType::of(raw);
        if kind == JsonType::Null && allows_null(schema) {
            return;
        }
        let schema = described(self.schema, schema);
        match wanted(schema) {
            None if schema == &Value::Bool(false) => self.find(location, "nothing may be here"),
            None => {}
            Some(JsonType::Integer) if kind == JsonType::Number => {
                let wrong = "must be an integer of 64 bits without fraction or exponent, not";
                self.find(location, &format!("{wrong} `{}`", shown(raw.get())));
            }
            Some(wanted) if !wanted.includes(kind) => {
                self.find(location, &format!("must be {wanted}, not {kind}"));
            }
            Some(JsonType::Object) => self.object(schema, raw, location),
            Some(JsonType::Array) => self.array(schema, raw, location),
            Some(JsonType::String) if self.mode == Mode::Strict && has_format(schema, "uuid") => {
                self.uuid(raw, location);
            }
            Some(_) => {}
        }
    }

    fn object(&mut self, schema: &'a Value, raw: &'a RawValue, location: usize) {
        let Some(Members(members)) = self.read(raw.get(), location) else {
            return;
        };
        let mut seen = BTreeSet::new();
        for (name, raw) in members {
            let Some(property) = property(schema, &name) else {
                continue;
            };
            // An optional member can also be null.
            let absent = self.mode == Mode::Lenient
                && JsonType::of(raw) == JsonType::Null
                && required(schema).all(|required| required != name);
            self.below(&name, |walk| {
                if !seen.insert(name.clone()) {
                    walk.find(walk.offset(raw), "occurs more than once");
                }
                if !absent {
                    walk.value(property, raw);
                }
            });
        }
        for name in required(schema).filter(|name| !seen.contains(*name)) {
            if let Some(message) = property(schema, name).and_then(|schema| self.missing(schema)) {
                self.below(name, |walk| walk.find(location, &message));
            }
        }
    }

    /// The message for a missing required member; `None` if it has a default value.
    fn missing(&self, property: &Value) -> Option<String> {
        let default = property.get("default").filter(|default| !default.is_null());
        let but = match (self.mode, default) {
            (Mode::Lenient, Some(_)) => return None,
            (Mode::Lenient, None) if allows_null(property) => return None,
            (Mode::Strict, Some(default)) => format!(", though its default is {default}"),
            (Mode::Strict, None) if allows_null(property) => ", null where it has no value".to_owned(),
            (_, None) => String::new(),
        };
        Some(format!("missing, and required{but}"))
    }

    fn array(&mut self, schema: &'a Value, raw: &'a RawValue, location: usize) {
        // Elements whose type the specification doesn't show aren't checked.
        let Some(items) = schema.get("items").filter(|items| items.is_object()) else {
            return;
        };
        let Some(elements) = self.read::<Vec<&RawValue>>(raw.get(), location) else {
            return;
        };
        for (index, raw) in elements.into_iter().enumerate() {
            self.below(&index.to_string(), |walk| walk.value(items, raw));
        }
    }

    fn uuid(&mut self, raw: &'a RawValue, location: usize) {
        let text: Option<String> = self.read(raw.get(), location);
        if let Some(text) = text.filter(|text| !is_uuid(text)) {
            self.find(location, &format!("must be a UUID, not `{}`", shown(&text)));
        }
    }

    /// Visits a member or an element of the current value.
    fn below(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        // Only names from the schema and indices, so the pointer needs no escapes.
        self.pointer.push_str(name);
        look(self);
        self.pointer.truncate(length);
    }

    /// Parses a part of the document. The whole document was already parsed as a value; if this parser
    /// disagreed, that would also be a finding.
    fn read<T: Deserialize<'a>>(&mut self, text: &'a str, location: usize) -> Option<T> {
        let read = serde_json::from_str(text);
        if read.is_err() {
            self.find(location, "cannot be read as JSON");
        }
        read.ok()
    }

    fn find(&mut self, location: usize, message: &str) {
        self.push(location, self.pointer.clone(), message.to_owned());
    }

    fn push(&mut self, location: usize, pointer: String, message: String) {
        if self.found.len() < self.most {
            self.found.push((location, pointer, message));
        }
    }

    /// The position of a value in the document that contains it.
    fn offset(&self, raw: &RawValue) -> usize {
        let start = self.text.as_ptr().addr();
        raw.get().as_ptr().addr().saturating_sub(start)
    }
}

/// An invalid value, shortened for display.
fn shown(text: &str) -> String {
    let shown: String = text.chars().take(60).collect();
    let dots = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown}{dots}")
}

/// The string form of RFC 9562 §4: 8, 4, 4, 4 and 12 hexadecimal digits.
fn is_uuid(text: &str) -> bool {
    let groups = text.split('-').map(|group| {
        let digits = group.bytes().all(|byte| byte.is_ascii_hexdigit());
        digits.then_some(group.len())
    });
    groups.eq([8, 4, 4, 4, 12].map(Some))
}

/// An object's members in document order, including repeated ones.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor).map(Self)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}
