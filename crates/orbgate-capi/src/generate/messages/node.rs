//! Node's side: it writes questions and reads answers.

use super::{Field, MADE, Message, Messages, ValueType};

pub(super) fn messages(messages: &Messages) -> String {
    let mut text = format!(
        "\"use strict\";\n// The messages of gates. {MADE}\nconst {{ CRITICAL, HEAD, Kept, bytesAt, integerAt, sizeAt, skip, textAt }} = \
         require(\"./wire.js\");\n\n/** @typedef {{InstanceType<typeof import(\"./wire.js\").Writer>}} Writer */\n\
         /** @typedef {{import(\"../../index.js\").Text}} Text */\n\
         /** @template Of @typedef {{(to: Writer, of: Of) => void}} Put */\n\
         /** With a view of the same memory. @template Of @typedef {{(bytes: Uint8Array, view: DataView, start: number, end: number) => Of | null}} Read */\n\n\
         /** The numbers of questions and answers. */\n\
         const MESSAGES = Object.freeze({{\n"
    );
    for (number, message) in messages.questions().chain(messages.answers()) {
        text += &format!("  {}: {number},\n", upper(message.name));
    }
    text += "});\n";
    for message in messages.0.iter().filter(|message| messages.is_given(message)) {
        text += &type_of(message, true);
        if !message.fields.is_empty() {
            text += &writer(message);
        }
    }
    text += &union("A question.", "Question", messages.questions());
    text += "/** Writes a question. @type {Put<Question>} */\nconst write = (to, question) => {\n  const start = to.open(question.number);\n  switch (question.number) {\n";
    for (number, message) in messages.questions().filter(|(_, message)| !message.fields.is_empty()) {
        text += &format!("    case {number}:\n      put{}(to, question);\n      break;\n", message.name);
    }
    text += "  }\n  to.close(start);\n};\n";
    let kept = messages.0.iter().flat_map(|message| message.fields.iter().map(move |field| (message, field)));
    let kept = kept.filter(|(_, field)| field.kind == ValueType::Kept);
    text += "\n/** Texts that answer after answer has. */\nconst KEPT = {\n";
    for (message, field) in kept {
        text += &format!("  {}: new Kept(),\n", slot(message, field));
    }
    text += "};\n";
    for message in messages.0.iter().filter(|message| messages.is_answered(message)) {
        text += &type_of(message, false);
        text += &reader(message);
    }
    text += &union("An answer.", "Reply", messages.answers());
    text += "/** Reads an answer; `null` if it isn't one, or if it has something unknown and critical. @type {Read<Reply>} */\n\
             const read = (bytes, view, start, end) => {\n  const size = sizeAt(view, start, end);\n  const from = start + HEAD;\n  \
             if (size < 0 || from + size !== end) {\n    return null;\n  }\n  switch (view.getInt32(start, true)) {\n";
    for (number, message) in messages.answers() {
        text += &format!("    case {number}:\n      return read{}(bytes, view, from, end);\n", message.name);
    }
    text + "    default:\n      return null;\n  }\n};\n\nmodule.exports = { MESSAGES, read, write };\n"
}

fn union<'m>(about: &str, name: &str, of: impl Iterator<Item = (u32, &'m Message)>) -> String {
    let names: Vec<_> = of.map(|(_, message)| message.name).collect();
    format!("\n/** {about} @typedef {{{}}} {name} */\n\n", names.join(" | "))
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

/// `tokenScopes`
fn slot(message: &Message, field: &Field) -> String {
    let (first, rest) = message.name.split_at(1);
    let field = name(field);
    let (initial, others) = field.split_at(1);
    format!("{}{rest}{}{others}", first.to_lowercase(), initial.to_uppercase())
}

fn type_of(message: &Message, is_given: bool) -> String {
    let mut text = format!("\n/**\n * {}\n * @typedef {{object}} {}\n", message.about, message.name);
    if let Some(number) = message.number() {
        text += &format!(" * @property {{{number}}} number\n");
    }
    for field in &message.fields {
        let one = match field.kind {
            ValueType::Integer => "number",
            ValueType::Boolean => "boolean",
            ValueType::Text | ValueType::Kept | ValueType::Bytes if is_given => "Text",
            ValueType::Text | ValueType::Kept => "string",
            ValueType::Bytes => "Uint8Array",
            ValueType::Part(part) => part,
        };
        let kind = match (field.list, is_given, field.optional) {
            (true, true, _) => format!("readonly {one}[]"),
            (true, false, _) => format!("{one}[]"),
            (_, false, true) => format!("{one} | null"),
            _ => one.to_owned(),
        };
        let name = match is_given {
            true => format!("[{}]", name(field)),
            false => name(field),
        };
        text += &format!(" * @property {{{kind}}} {name} {}\n", field.about);
    }
    text + " */\n"
}

fn writer(message: &Message) -> String {
    let name_of = message.name;
    let puts: String = message.fields.iter().map(put).collect();
    format!("\n/** @type {{Put<{name_of}>}} */\nconst put{name_of} = (to, of) => {{\n{puts}}};\n")
}

fn put(field: &Field) -> String {
    let (number, own) = (field.number, format!("of.{}", name(field)));
    let call = match (field.list, field.optional, field.kind) {
        (true, _, ValueType::Part(part)) => format!("parts({number}, {own}, put{part})"),
        (true, ..) => format!("texts({number}, {own})"),
        (_, true, _) => format!("optional({number}, {own})"),
        (_, _, ValueType::Integer) => format!("integer({number}, {own})"),
        (_, _, ValueType::Boolean) => format!("flag({number}, {own})"),
        _ => format!("text({number}, {own})"),
    };
    format!("  to.{call};\n")
}

fn reader(message: &Message) -> String {
    let name_of = message.name;
    let head = format!("\n/** @type {{Read<{name_of}>}} */\nconst read{name_of} = (bytes, view, start, end) => {{\n");
    let number = message.number().map(|number| format!("number: {number}"));
    if message.fields.is_empty() {
        return head
            + &format!("  return skip(view, start, end) ? {{ {} }} : null;\n}};\n", number.unwrap_or_default());
    }
    let values = message.fields.iter().map(|field| format!("{}: {}", name(field), absent(field)));
    let values: Vec<_> = number.into_iter().chain(values).collect();
    let mut text = head + &format!("  /** @type {{{name_of}}} */\n  const of = {{ {} }};\n", values.join(", "));
    let has_single = message.fields.iter().any(|field| !field.list);
    if has_single {
        text += "  let seen = 0;\n";
    }
    text += "  for (let at = start; at < end;) {\n    const size = sizeAt(view, at, end);\n    if (size < 0) {\n      return null;\n    }\n";
    text += "    const tag = view.getInt32(at, true);\n    const from = at + HEAD;\n    at = from + size;\n    switch (tag) {\n";
    for field in &message.fields {
        let tag = match field.critical {
            true => format!("CRITICAL | {}", field.number),
            false => field.number.to_string(),
        };
        text += &format!("      case {tag}:");
        text += &take(message, field);
    }
    text + "      default:\n        if (tag < 0) {\n          return null;\n        }\n    }\n  }\n  return of;\n};\n"
}

/// Its value if the field isn't there.
const fn absent(field: &Field) -> &'static str {
    match (field.list, field.optional, field.kind) {
        (true, ..) => "[]",
        (_, true, _) => "null",
        (_, _, ValueType::Integer) => "0",
        (_, _, ValueType::Boolean) => "false",
        (_, _, ValueType::Text | ValueType::Kept) => "\"\"",
        (_, _, ValueType::Bytes) => "bytesAt(bytes, 0, 0)",
        (_, _, ValueType::Part(_)) => "null",
    }
}

fn take(message: &Message, field: &Field) -> String {
    let own = format!("of.{}", name(field));
    let one = match field.kind {
        ValueType::Integer => "integerAt(view, from)".to_owned(),
        ValueType::Boolean => "true".to_owned(),
        ValueType::Text => "textAt(bytes, from, at)".to_owned(),
        ValueType::Kept => format!("KEPT.{}.at(bytes, from, at)", slot(message, field)),
        ValueType::Bytes => "bytesAt(bytes, from, at)".to_owned(),
        ValueType::Part(part) => format!("read{part}(bytes, view, from, at)"),
    };
    let mut refused = Vec::new();
    let bit = 1_u32 << field.number;
    if !field.list {
        refused.push(format!("(seen & {bit}) !== 0"));
    }
    match field.kind {
        ValueType::Integer => refused.push("size !== 8".to_owned()),
        ValueType::Boolean => refused.push("size !== 0".to_owned()),
        _ => {}
    }
    let mut text = String::new();
    if let ValueType::Part(_) = field.kind {
        refused.push("part === null".to_owned());
        text += &format!(" {{\n        const part = {one};\n");
    } else {
        text += "\n";
    }
    if !refused.is_empty() {
        text += &format!("        if ({}) {{\n          return null;\n        }}\n", refused.join(" || "));
    }
    let value = if let ValueType::Part(_) = field.kind { "part" } else { &one };
    match field.list {
        true => text += &format!("        {own}.push({value});\n"),
        false => text += &format!("        seen |= {bit};\n        {own} = {value};\n"),
    }
    text += "        break;\n";
    match field.kind {
        ValueType::Part(_) => text + "      }\n",
        _ => text,
    }
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
pub(super) fn public(message: &Message) -> [String; 2] {
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
