//! Reads a shape from its JSON Schema. Supports only the keywords that the generated schemas use.

use core::fmt;

use serde_json::Value;
use serde_json::value::RawValue;

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonType {
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
    pub(crate) fn of(raw: &RawValue) -> Self {
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

    pub(crate) fn includes(self, kind: Self) -> bool {
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
pub(crate) fn wanted(schema: &Value) -> Option<JsonType> {
    match schema.get("type")? {
        Value::String(name) => JsonType::named(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find_map(JsonType::named),
        _ => None,
    }
}

/// The schema that a reference names; null can be allowed in addition.
pub(crate) fn described<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let branches = schema.get("anyOf").and_then(Value::as_array);
    let branch = branches.and_then(|branches| branches.iter().find(|branch| !is_null(branch)));
    let schema = branch.unwrap_or(schema);
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    target.unwrap_or(schema)
}

/// Whether a schema accepts null.
pub(crate) fn allows_null(schema: &Value) -> bool {
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

pub(crate) fn has_format(schema: &Value, format: &str) -> bool {
    schema.get("format").is_some_and(|name| name == format)
}

pub(crate) fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

/// The required members, in the order of the specification.
pub(crate) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}
