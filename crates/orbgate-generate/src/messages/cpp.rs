//! C++'s public types: options, answers and the status of keys, over the setters and getters of C.

use super::c::function;
use super::shape::{Field, Message, ValueType};
use crate::words::lower;

/// What options have in another form, and what a gate of C++ always or never is.
const OPTIONS_BY_HAND: [&str; 13] = [
    "tokens",
    "signatures_outside",
    "introspection",
    "cors_preflight",
    "public_routes",
    "secrets",
    "mcp",
    "mcp_initial_scopes",
    "mcp_most_bytes",
    "mcp_deny_legacy",
    "mcp_origins",
    "mcp_charge_sessions",
    "metadata",
];

/// What an answer has in another form.
const ANSWERS_BY_HAND: [&str; 8] =
    ["packed", "http_status", "token", "may_call", "kind", "body", "headers", "retry_after"];

/// Strings of a token that every token has.
const ALWAYS: [&str; 3] = ["scopes", "issuer", "fingerprint"];

/// The fields of the options, and the lines that set them.
pub(crate) fn options(make: &Message) -> [String; 2] {
    let fields: Vec<_> = make.fields.iter().filter(|field| !OPTIONS_BY_HAND.contains(&field.name)).collect();
    let line = |field: &&Field| {
        let (name, field_type, start) = shown(field);
        format!("    // {}\n    {field_type} {name}{start};\n", field.about)
    };
    let set = |field: &&Field| {
        let (name, ..) = shown(field);
        let value = match field.kind {
            ValueType::Integer if field.name.ends_with("_ms") => format!("detail::count(from.{name})"),
            ValueType::Integer | ValueType::Boolean => format!("from.{name}"),
            _ => format!("from.{name}.data(), from.{name}.size()"),
        };
        format!("        {}(to, {value});\n", function(make, field, ["set", "add"]))
    };
    [fields.iter().map(line).collect(), fields.iter().map(set).collect()]
}

/// A field's name and type, and the value that it starts with.
fn shown(field: &Field) -> (&'static str, &'static str, &'static str) {
    match (field.name.strip_suffix("_ms"), field.kind) {
        (Some(name), ValueType::Integer) => (name, "std::chrono::milliseconds", "{0}"),
        (_, ValueType::Integer) => (field.name, "std::uint64_t", " = 0"),
        (_, ValueType::Boolean) => (field.name, "bool", " = false"),
        _ => (field.name, "std::string", ""),
    }
}

/// The functions of an answer, or of its token, which is what `of` is called with.
pub(crate) fn answer(message: &Message, of: &str) -> String {
    let fields = message.fields.iter().filter(|field| !ANSWERS_BY_HAND.contains(&field.name));
    let line = |field: &Field| {
        let get = format!("{}({of})", function(message, field, ["get", "next"]));
        let (name, returned, value) = match (field.name, field.kind) {
            (_, ValueType::Boolean) => (field.name, "bool", get),
            ("expires_ms", _) => {
                ("expires", "std::optional<std::chrono::system_clock::time_point>", format!("detail::time({get})"))
            }
            (_, ValueType::Integer) => (field.name, "std::uint64_t", get),
            (name, _) if ALWAYS.contains(&name) => (name, "std::string_view", format!("detail::view({get})")),
            (name, _) => (name, "std::optional<std::string_view>", format!("detail::maybe({get})")),
        };
        let getter = format!("{returned} {name}() const");
        // A view of an answer that is over after this statement would dangle.
        let (kept, deleted) = match returned.contains("string_view") {
            true => (" &", format!("    {getter} && = delete;\n")),
            false => ("", String::new()),
        };
        format!("    // {}\n    [[nodiscard]] {getter}{kept} noexcept {{ return {value}; }}\n{deleted}", about(field))
    };
    fields.map(line).collect()
}

/// What follows a semicolon is about the form that a field has in the message.
fn about(field: &Field) -> String {
    match field.about.split_once("; empty if the token") {
        Some((first, _)) => format!("{first}, if the token states it."),
        None => {
            field.about.split_once(": in milliseconds").map_or(field.about.to_owned(), |(first, _)| format!("{first}."))
        }
    }
}

/// The fields of a part that is a struct, and their values.
pub(crate) fn structure(message: &Message) -> [String; 2] {
    let line = |field: &Field| {
        let (name, field_type, start) = shown(field);
        format!("    // {}\n    {field_type} {name}{start};\n", field.about)
    };
    let value = |field: &Field| {
        let get = format!("orbgate_{}_get_{}(&from)", lower(message.name), field.name);
        match field.kind {
            ValueType::Integer if field.name.ends_with("_ms") => format!("detail::milliseconds({get})"),
            ValueType::Integer | ValueType::Boolean => get,
            _ => format!("std::string(detail::view({get}))"),
        }
    };
    let values = message.fields.iter().map(value).collect::<Vec<_>>().join(",\n                ");
    [message.fields.iter().map(line).collect(), format!("        return {{{values}}};\n")]
}
