//! Java's side: it writes questions and reads answers.

use super::{Field, MADE, Message, Messages, ValueType};

pub(super) fn messages(messages: &Messages) -> String {
    let answers: Vec<_> = messages.answers().map(|(_, answer)| answer.name).collect();
    let mut text = format!(
        "package io.github.orbgate;\n\nimport java.util.ArrayList;\nimport java.util.List;\n\n\
         /**\n * The messages of gates: questions, which this package writes, and answers, which it reads.\n *\n * <p>{}\n */\n\
         final class Messages {{\n    private Messages() {{}}\n\n    private static final byte[] NOTHING = {{}};\n\n    \
         /** A question to a gate. */\n    interface Question {{\n        \
         /** Writes it as a message. */\n        void write(Wire.Writer to);\n    }}\n\n    \
         /** The answer to a question. */\n    sealed interface Reply permits {} {{\n",
        code(MADE),
        answers.join(", ")
    );
    text += "        /**\n         * Reads a message.\n         *\n         \
             * @throws OrbgateException if it isn't an answer, or has something unknown and critical\n         */\n        \
             static Reply read(byte[] message) {\n            Wire.Reader whole = new Wire.Reader(message);\n            \
             int number = whole.onlyField();\n            Wire.Reader fields = whole.part();\n            \
             return switch (number) {\n";
    for (number, answer) in messages.answers() {
        text += &format!("                case {number} -> {}.read(fields);\n", answer.name);
    }
    text += "                default -> throw Wire.refused();\n            };\n        }\n    }\n";
    for message in &messages.0 {
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
    let mut text = format!("\n    /** {} */\n    static final class {}", code(message.about), message.name);
    text += match (message.number(), is_given) {
        (Some(_), true) => " implements Question",
        (Some(_), false) => " implements Reply",
        _ => "",
    };
    text += " {\n";
    for field in &message.fields {
        let (kind, value) = variable(field, is_given);
        text += &format!("        /** {} */\n        {kind} {}{value};\n\n", code(field.about), name(field));
    }
    text += &match is_given {
        true => writer(message),
        false => reader(message),
    };
    text + "    }\n"
}

/// The type of a field, and its first value. Null is absent.
fn variable(field: &Field, is_given: bool) -> (String, &'static str) {
    let (one, empty) = match field.kind {
        ValueType::Integer => ("long", ""),
        ValueType::Boolean => ("boolean", ""),
        ValueType::Text | ValueType::Kept => ("String", " = \"\""),
        ValueType::Bytes => ("byte[]", " = NOTHING"),
        ValueType::Part(part) => (part, ""),
    };
    match (field.list, field.optional) {
        (true, _) if is_given => (format!("List<{one}>"), " = List.of()"),
        (true, _) => (format!("List<{one}>"), " = new ArrayList<>()"),
        (_, true) => (one.to_owned(), ""),
        _ => (one.to_owned(), empty),
    }
}

fn writer(message: &Message) -> String {
    let puts: String = message.fields.iter().map(put).collect();
    match message.number() {
        Some(number) => format!(
            "        @Override\n        public void write(Wire.Writer to) {{\n            int start = to.begin({number});\n{puts}            \
             to.end(start);\n        }}\n"
        ),
        None => format!("        void write(Wire.Writer to) {{\n{puts}        }}\n"),
    }
}

fn put(field: &Field) -> String {
    let (number, own) = (field.number, name(field));
    let lines = match (field.list, field.optional, field.kind) {
        (true, _, ValueType::Part(part)) => format!(
            "for ({part} one : {own}) {{\n    int part = to.begin({number});\n    one.write(to);\n    to.end(part);\n}}\n"
        ),
        (true, _, ValueType::Bytes) => format!("for (byte[] one : {own}) {{\n    to.item({number}, one);\n}}\n"),
        (true, ..) => format!("for (String one : {own}) {{\n    to.item({number}, one);\n}}\n"),
        (_, true, _) => format!("if ({own} != null) {{\n    to.item({number}, {own});\n}}\n"),
        _ => format!("to.put({number}, {own});\n"),
    };
    lines.lines().map(|line| format!("            {line}\n")).collect()
}

fn reader(message: &Message) -> String {
    let own = message.name;
    let mut text = format!(
        "        static {own} read(Wire.Reader fields) {{\n            {own} to = new {own}();\n            \
         while (fields.hasNext()) {{\n                int number = fields.next();\n"
    );
    if message.fields.is_empty() {
        return text + "                fields.skip(number);\n            }\n            return to;\n        }\n";
    }
    text += "                switch (number) {\n";
    for field in &message.fields {
        let tag = match field.critical {
            true => format!("Wire.CRITICAL | {}", field.number),
            false => field.number.to_string(),
        };
        text += &format!("                    case {tag} -> {};\n", take(field));
    }
    text += "                    default -> fields.skip(number);\n                }\n            }\n            return to;\n        }\n";
    text
}

fn take(field: &Field) -> String {
    let own = name(field);
    // A field that isn't a list's is there once.
    let from = match field.list {
        true => "fields".to_owned(),
        false => format!("fields.once({})", field.number),
    };
    let value = match field.kind {
        ValueType::Integer => format!("{from}.integer()"),
        ValueType::Boolean => format!("{from}.isThere()"),
        ValueType::Text | ValueType::Kept => format!("{from}.text()"),
        ValueType::Bytes => format!("{from}.bytes()"),
        ValueType::Part(part) => format!("{part}.read({from}.part())"),
    };
    match field.list {
        true => format!("to.{own}.add({value})"),
        false => format!("to.{own} = {value}"),
    }
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
pub(super) fn public(message: &Message) -> [String; 3] {
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
