//! Walks the schema and the document together, and finds every value that doesn't match, with its location. Supports only
//! the keywords that the generated schemas use.

use core::cmp::Ordering;
use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use crate::contract::{Contract, Finding, Mode};

/// Checks one document, given as JSON and as a value. Lines are counted from the start of the JSON.
/// `most` limits the number of findings.
pub(crate) fn check(contract: Contract, text: &str, value: &Value, mode: Mode, most: usize) -> Vec<Finding> {
    let schema = contract.parsed();
    let mut walk =
        Walk { schema, text, mode, pointer: String::new(), locations: BTreeMap::new(), problems: Vec::new(), most };
    if let Some(raw) = walk.read(text, 0) {
        walk.value(schema, raw);
    }
    if (contract, mode) == (Contract::RunRecord, Mode::Strict) {
        consistency(value, &mut |pointer, message| {
            let location = walk.locations.get(&pointer).copied().unwrap_or_default();
            walk.push(location, pointer, message);
        });
    }
    in_order(text, walk.problems)
}

/// The findings in document order, with their locations converted to lines.
fn in_order(text: &str, mut problems: Vec<(usize, String, String)>) -> Vec<Finding> {
    problems.sort_by_key(|(location, ..)| *location);
    let (mut line, mut counted) = (1_usize, 0);
    let findings = problems.into_iter().map(|(location, pointer, message)| {
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
    problems: Vec<(usize, String, String)>,
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
        if self.problems.len() < self.most {
            self.problems.push((location, pointer, message));
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

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    /// The type of a JSON value in its source form.
    fn of(raw: &RawValue) -> Self {
        match raw.get().as_bytes().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            // Classified as the types read it: `1.0` is a number, and so is an integer of more than
            // 64 bits.
            _ if serde_json::from_str::<i64>(raw.get()).is_ok() => Self::Integer,
            _ => Self::Number,
        }
    }

    /// The type with this name in a schema.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    fn includes(self, kind: Self) -> bool {
        self == kind || (self == Self::Number && kind == Self::Integer)
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// The only type that a schema accepts, apart from null; `None` if it accepts any.
fn wanted(schema: &Value) -> Option<JsonType> {
    match schema.get("type")? {
        Value::String(name) => JsonType::named(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find_map(JsonType::named),
        _ => None,
    }
}

/// The schema that a reference names; null can be allowed in addition.
fn described<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let branches = schema.get("anyOf").and_then(Value::as_array);
    let branch = branches.and_then(|branches| branches.iter().find(|branch| !is_null(branch)));
    let schema = branch.unwrap_or(schema);
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    target.unwrap_or(schema)
}

/// Whether a schema accepts null.
fn allows_null(schema: &Value) -> bool {
    let any = schema == &Value::Bool(true);
    let untyped = || schema.is_object() && ["type", "$ref", "anyOf"].iter().all(|key| schema.get(key).is_none());
    let listed = |key: &str, null: fn(&Value) -> bool| {
        let all = schema.get(key).and_then(Value::as_array);
        all.is_some_and(|all| all.iter().any(null))
    };
    any || untyped() || listed("type", |name| name == "null") || listed("anyOf", is_null)
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
}

fn has_format(schema: &Value, format: &str) -> bool {
    schema.get("format").is_some_and(|name| name == format)
}

fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

/// The required members, in the order of the specification.
fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}

/// Checks the consistency of a run record (specification §2.3 and §2.4), which a schema can't express. If a value is missing
/// or has another type, that is already a finding, and the rule is skipped. `find` takes a pointer and a message.
fn consistency(record: &Value, find: &mut dyn FnMut(String, String)) {
    if let Some(metrics) = record.get("metrics") {
        total(metrics, "/metrics", find);
        timed(metrics, find);
    }
    let messages = record.get("messages").and_then(Value::as_array);
    for (index, message) in messages.into_iter().flatten().enumerate() {
        message_consistency(message, &format!("/messages/{index}"), find);
    }
}

fn message_consistency(message: &Value, at: &str, find: &mut dyn FnMut(String, String)) {
    if let Some(metrics) = message.get("metrics") {
        let at = format!("{at}/metrics");
        total(metrics, &at, find);
        if metrics.get("timer").is_some_and(|timer| !timer.is_null()) {
            find(format!("{at}/timer"), "must be null on a message".to_owned());
        }
    }
    let role = message.get("role").and_then(Value::as_str);
    if let Some(role) = role.filter(|role| *role != "user")
        && message.get("input").is_some()
    {
        let wrong = format!("only on a user's message, and the role of this one is `{role}`");
        find(format!("{at}/input"), wrong);
    }
}

/// `total_tokens` equals `input_tokens` plus `output_tokens`.
fn total(metrics: &Value, at: &str, find: &mut dyn FnMut(String, String)) {
    let tokens = |name| metrics.get(name)?.as_i64().map(i128::from);
    let names = ["input_tokens", "output_tokens", "total_tokens"].map(tokens);
    let [Some(input), Some(output), Some(total)] = names else {
        return;
    };
    // The sum of two 64-bit integers can have 65 bits.
    let sum = input.saturating_add(output);
    if total != sum {
        let wrong = format!("is {total}, but input_tokens + output_tokens is {sum}");
        find(format!("{at}/total_tokens"), wrong);
    }
}

/// A run has a timer, and `duration` equals its `elapsed_time`.
fn timed(metrics: &Value, find: &mut dyn FnMut(String, String)) {
    let Some(timer) = metrics.get("timer") else {
        return;
    };
    if timer.is_null() {
        let wrong = "must be an object on a run record, not null";
        find("/metrics/timer".to_owned(), wrong.to_owned());
    }
    let duration = metrics.get("duration").and_then(Value::as_number);
    let elapsed = timer.get("elapsed_time").and_then(Value::as_number);
    if let (Some(duration), Some(elapsed)) = (duration, elapsed)
        && !equal(duration, elapsed)
    {
        let wrong = format!("is {duration}, but timer.elapsed_time is {elapsed}");
        find("/metrics/duration".to_owned(), wrong);
    }
}

/// Whether two numbers are equal: `2` equals `2.0`.
fn equal(one: &Number, other: &Number) -> bool {
    if one.is_f64() || other.is_f64() {
        let order = one.as_f64().partial_cmp(&other.as_f64());
        return order == Some(Ordering::Equal);
    }
    one == other
}
