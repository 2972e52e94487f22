//! Java's side: it writes questions and reads answers.

use super::shape::{Field, Message, Messages, ValueType};
use crate::table::MADE;

/// For what this package doesn't do: hold orbs in a ledger, serve MCP, and pass secrets on.
const LEFT_OUT: [&str; 28] = [
    "Sources",
    "Checked",
    "ReadSecrets",
    "Body",
    "UseLedger",
    "Hold",
    "Held",
    "Waited",
    "Ended",
    "NextLedgerCall",
    "LedgerCalled",
    "LedgerReplied",
    "CheckLedger",
    "LedgerAt",
    "CheckAmounts",
    "ReadResponse",
    "ResponseBegins",
    "ResponsePiece",
    "Visible",
    "SecretSources",
    "SecretSource",
    "ReadBody",
    "Charge",
    "HoldStep",
    "LedgerCall",
    "Ledgered",
    "Responded",
    "VisibleNames",
];

pub(crate) fn messages(messages: &Messages) -> String {
    let is_used = |message: &&Message| !LEFT_OUT.contains(&message.name);
    let mut text = format!(
        "package io.github.orbgate;\n\nimport static io.github.orbgate.Wire.CRITICAL;\n\nimport java.util.List;\n\n\
         /**\n * The messages of gates: questions, which this package writes, and answers, which it reads. {{@code docs/messages.md}} describes them.\n *\n \
         * <p>{}\n */\nfinal class Messages {{\n    private Messages() {{}}\n\n    private static final byte[] NOTHING = {{}};\n\n    \
         /** A question to a gate. */\n    interface Question extends Wire.Written {{}}\n\n    \
         /** The answer to a question. */\n    abstract static sealed class Reply extends Wire.Read {{\n        \
         Reply(Wire.Reader from) {{\n            super(from);\n        }}\n\n        \
         /**\n         * Reads a message.\n         *\n         \
         * @throws OrbgateException if it isn't an answer, or has something unknown and critical\n         */\n        \
         static Reply read(byte[] message) {{\n            Wire.Reader fields = Wire.Reader.of(message);\n            Reply reply = switch (fields.number) {{\n",
        code(MADE)
    );
    for (number, answer) in messages.answers().filter(|(_, answer)| is_used(answer)) {
        text += &format!("                case {number} -> new {}(fields);\n", answer.name);
    }
    text += "                default -> throw Wire.refused();\n            };\n            fields.end();\n            return reply;\n        }\n    }\n";
    for message in messages.0.iter().filter(is_used) {
        text += &class(message, messages.is_given(message));
    }
    text + "}\n"
}

/// `left_out` as `leftOut`.
fn name(field: &Field) -> String {
    let mut words = field.name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, rest) = word.split_at(1);
        name + &head.to_uppercase() + rest
    })
}

fn class(message: &Message, is_given: bool) -> String {
    let (line, form): (fn(&Field) -> String, _) = match (is_given, message.number()) {
        (true, Some(_)) => (given, "implements Question"),
        (true, None) => (given, "implements Wire.Written"),
        (false, Some(_)) => (read, "extends Reply"),
        (false, None) => (read, "extends Wire.Read"),
    };
    let own = message.name;
    let fields: String = message.fields.iter().map(line).collect();
    let gap = if fields.is_empty() { "" } else { "\n" };
    let method = match is_given {
        true => {
            let begin = message.number().map(|number| format!("            to.begin({number});\n")).unwrap_or_default();
            let puts: String = message.fields.iter().map(put).collect();
            format!("        @Override\n        public void write(Wire.Writer to) {{\n{begin}{puts}        }}\n")
        }
        false => format!("        {own}(Wire.Reader from) {{\n            super(from);\n        }}\n"),
    };
    format!("\n    static final class {own} {form} {{\n{fields}{gap}{method}    }}\n")
}

fn java_type(field: &Field) -> String {
    let one = match field.kind {
        ValueType::Integer => "long",
        ValueType::Boolean => "boolean",
        ValueType::Text | ValueType::Kept => "String",
        ValueType::Bytes => "byte[]",
        ValueType::Part(part) => part,
    };
    if field.list { format!("List<{one}>") } else { one.to_owned() }
}

/// A field that is written. Null is absent.
fn given(field: &Field) -> String {
    let value = match (field.list, field.optional, field.kind) {
        (true, ..) => " = List.of()",
        (_, false, ValueType::Text | ValueType::Kept) => " = \"\"",
        (_, false, ValueType::Bytes) => " = NOTHING",
        _ => "",
    };
    format!("        {} {}{value};\n", java_type(field), name(field))
}

fn put(field: &Field) -> String {
    let method = match (field.list, field.optional, field.kind) {
        (true, _, ValueType::Part(_)) => "parts",
        (true, _, ValueType::Bytes) => "items",
        (true, ..) => "texts",
        (_, true, _) => "optional",
        _ => "put",
    };
    format!("            to.{method}({}, {});\n", field.number, name(field))
}

/// A field that is read. Null is absent.
fn read(field: &Field) -> String {
    let tag = format!("{}{}", if field.critical { "CRITICAL | " } else { "" }, field.number);
    let value = match (field.list, field.kind) {
        (true, ValueType::Part(part)) => format!("parts({tag}, {part}::new)"),
        (true, _) => panic!("no answer has a list of other values"),
        (_, ValueType::Part(part)) => format!("part({tag}, {part}::new)"),
        (_, ValueType::Integer) => format!("integer({tag})"),
        (_, ValueType::Boolean) => format!("isThere({tag})"),
        (_, ValueType::Text | ValueType::Kept) if field.optional => format!("text({tag}, null)"),
        (_, ValueType::Text | ValueType::Kept) => format!("text({tag}, \"\")"),
        (_, ValueType::Bytes) if field.optional => format!("bytes({tag}, null)"),
        (_, ValueType::Bytes) => format!("bytes({tag}, NOTHING)"),
    };
    format!("        {} {} = from.{value};\n", java_type(field), name(field))
}

/// Fields that callers don't see, or see as something else.
const HIDDEN: [&str; 7] = ["packed", "misrouted", "audit", "may_call", "body", "headers", "retry_after"];

/// A field as callers see it: its description, its type, its name, and its value.
fn shown(message: &Message, field: &Field) -> [String; 4] {
    let own = name(field);
    let from = format!("from.{own}");
    // What is said after a colon is about the form that it has in the message.
    let about = field.about.split_once(": ").map_or(field.about, |(first, _)| first);
    let about = code(&about.trim_end_matches('.').replace("`opaque`", "`isOpaque`"));
    let (first, rest) = about.split_at(1);
    let about = first.to_lowercase() + rest;
    // An empty string of an answer is none, and so is a string of which the table describes that.
    let is_absent = field.about.contains("empty if") || message.name == "Answer";
    let [kind, own, value] = match (field.name, field.kind) {
        ("kind", _) => ["TokenKind".to_owned(), own, format!("TokenKind.of(Math.toIntExact({from}))")],
        ("expires_ms", _) => ["Instant", "expires", "Instant.ofEpochMilli(from.expiresMs)"].map(str::to_owned),
        ("key_count", _) => ["int", "count", "Math.toIntExact(from.keyCount)"].map(str::to_owned),
        ("fetched_ms", _) => {
            let value =
                "from.keyCount == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(monotonicMs - from.fetchedMs))";
            let [kind, own, value] = ["Optional<Duration>", "age", value].map(str::to_owned);
            return ["the time since the keys were fetched; empty if there aren't any".to_owned(), kind, own, value];
        }
        ("warnings", _) => ["List<String>".to_owned(), own, format!("{from}.lines().toList()")],
        ("opaque", _) => ["boolean".to_owned(), "isOpaque".to_owned(), from],
        (_, ValueType::Integer) => ["int".to_owned(), own, format!("Math.toIntExact({from})")],
        (_, ValueType::Boolean) => ["boolean".to_owned(), own, from],
        (_, ValueType::Part("Token")) => ["Optional<BearerToken>".to_owned(), own, "token".to_owned()],
        _ if field.optional => ["Optional<String>".to_owned(), own, format!("Optional.ofNullable({from})")],
        _ if is_absent => ["Optional<String>".to_owned(), own, format!("Text.unlessEmpty({from})")],
        _ => ["String".to_owned(), own, from],
    };
    [about, kind, own, value]
}

/// The parameters of a record that callers see: how Javadoc describes them, their types and names, and their values.
pub(crate) fn public(message: &Message) -> [String; 3] {
    let fields = message.fields.iter().filter(|field| !HIDDEN.contains(&field.name));
    let fields: Vec<_> = fields.map(|field| shown(message, field)).collect();
    let about = fields.iter().map(|[about, _, own, _]| format!(" * @param {own} {about}\n"));
    let parameters: Vec<_> = fields.iter().map(|[_, kind, own, _]| format!("        {kind} {own}")).collect();
    let values: Vec<_> = fields.iter().map(|[_, _, _, value]| format!("                {value}")).collect();
    [about.collect(), parameters.join(",\n") + "\n", values.join(",\n") + "\n"]
}

/// Code as Javadoc writes it.
fn code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => part.to_owned(),
        _ => format!("{{@code {part}}}"),
    });
    parts.collect()
}
