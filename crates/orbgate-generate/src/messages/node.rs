//! Node's side: it writes questions and reads answers.

use super::shape::{Field, Message, Messages, ValueType};
use crate::table::MADE;

/// Before the tables.
const TYPES: &str = r#"/** @template M @typedef {import("./fields.js").Given<M>} Given */
/** @template M @typedef {import("./fields.js").Made<M>} Made */
/** @template M @typedef {import("./fields.js").Part<M>} Part */
"#;

/// After the tables.
const END: &str = r#"
/** A question. @typedef {Given<typeof QUESTIONS[keyof typeof QUESTIONS]>} Question */
/** An answer. @typedef {Made<typeof ANSWERS[keyof typeof ANSWERS]>} Reply */

module.exports = messages(QUESTIONS, ANSWERS);
"#;

pub(crate) fn messages(messages: &Messages) -> String {
    let mut text = format!(
        "\"use strict\";\n// The messages of gates: see docs/messages.md. {MADE}\n\
         const {{ Message, bytes, critical, flag, given, integer, kept, messages, nullable, optional, part, parts, string, text, texts }} = \
         require(\"./fields.js\");\n\n{TYPES}"
    );
    let mut types = String::new();
    let parts = messages.0.iter().filter(|message| message.number().is_none());
    for message in parts {
        let name = message.name;
        text += &format!("\nconst {name}Part = new Message(0, {{\n{}}});\n", fields(messages, message, "  "));
        let form = if messages.is_given(message) { "Given" } else { "Made" };
        types += &format!("/** @typedef {{Part<{form}<typeof {name}Part>>}} {name} */\n");
    }
    let mut of = |name: &str, form: &str, all: Vec<(u32, &Message)>| {
        text += &format!("\nconst {name} = {{\n");
        for (number, message) in all {
            let key = upper(message.name);
            text += &match message.fields.is_empty() {
                true => format!("  {key}: new Message({number}, {{}}),\n"),
                false => format!("  {key}: new Message({number}, {{\n{}  }}),\n", fields(messages, message, "    ")),
            };
            types += &format!("/** @typedef {{{form}<typeof {name}.{key}>}} {} */\n", message.name);
        }
        text += "};\n";
    };
    of("QUESTIONS", "Given", messages.questions().collect());
    of("ANSWERS", "Made", messages.answers().collect());
    format!("{text}\n{types}{END}")
}

/// `CHECK_SIGNATURE`
fn upper(name: &str) -> String {
    let letters = name.char_indices().map(|(at, letter)| match at > 0 && letter.is_uppercase() {
        true => format!("_{letter}"),
        false => letter.to_uppercase().to_string(),
    });
    letters.collect()
}

/// `httpStatus`
fn name(field: &Field) -> String {
    let mut words = field.name.split('_');
    let first = words.next().unwrap().to_owned();
    words.fold(first, |all, word| {
        let (first, rest) = word.split_at(1);
        format!("{all}{}{rest}", first.to_uppercase())
    })
}

fn fields(messages: &Messages, message: &Message, indent: &str) -> String {
    let is_given = messages.is_given(message);
    let line = |field: &Field| {
        let number = field.number;
        let kind = match (field.kind, field.list, field.optional) {
            (ValueType::Integer, ..) => format!("integer({number})"),
            (ValueType::Boolean, ..) => format!("flag({number})"),
            (ValueType::Part(of), ..) if is_given => format!("given({number}, {of}Part)"),
            (ValueType::Part(of), true, _) => format!("parts({number}, {of}Part)"),
            (ValueType::Part(of), ..) => format!("part({number}, {of}Part)"),
            (_, true, _) => format!("texts({number})"),
            (_, _, true) if is_given => format!("optional({number})"),
            _ if is_given => format!("text({number})"),
            (ValueType::Kept, ..) => format!("kept({number})"),
            (ValueType::Bytes, ..) => format!("bytes({number})"),
            (ValueType::Text, ..) => format!("string({number})"),
        };
        let kind = if field.optional && !is_given { format!("nullable({kind})") } else { kind };
        let kind = if field.critical { format!("critical({kind})") } else { kind };
        format!("{indent}{}: {kind},\n", name(field))
    };
    message.fields.iter().map(line).collect()
}

/// Fields of answers that callers don't see, or see as something else.
const HIDDEN: [&str; 12] = [
    "packed",
    "http_status",
    "www_authenticate",
    "allow",
    "audit",
    "token",
    "may_call",
    "fetched_ms",
    "warnings",
    "body",
    "headers",
    "retry_after",
];

/// Strings that callers get even if they are empty; of others, an empty one is `null`.
const NEVER_NULL: [&str; 3] = ["scopes", "issuer", "fingerprint"];

/// The fields that callers see, and their values.
pub(crate) fn public(message: &Message) -> [String; 2] {
    let fields = message.fields.iter().filter(|field| !HIDDEN.contains(&field.name));
    let (mut types, mut values) = (String::new(), Vec::new());
    for field in fields {
        let name = name(field);
        let from = format!("from.{name}");
        let (kind, value) = match (field.name, field.kind) {
            ("kind", _) => ("TokenKind", format!("kindOf({from})")),
            (_, ValueType::Integer) => ("number", from),
            (_, ValueType::Boolean) => ("boolean", from),
            (own, _) if NEVER_NULL.contains(&own) => ("string", from),
            _ if field.optional => ("string | null", from),
            _ => ("string | null", format!("{from} || null")),
        };
        // A number of the C library is a name here, and an empty string is null.
        let about = match field.about.split_once(": an `Orbgate") {
            Some((first, _)) => format!("{first}."),
            None if kind == "string | null" && !field.optional => field.about.replace("; empty if", "; `null` if"),
            None => field.about.to_owned(),
        };
        types += &format!("  /** {about} */\n  readonly {name}: {kind};\n");
        values.push(format!("{name}: {value}"));
    }
    [types, format!("    {},\n", values.join(", "))]
}
