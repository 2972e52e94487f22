//! Go's side: it writes questions and reads answers.

use super::shape::{Field, Message, Messages, ValueType};
use crate::table::MADE;

pub(crate) fn messages(messages: &Messages) -> String {
    let mut text = format!("package steps\n\n// {MADE}\n\n// The numbers of answers.\nconst (\n");
    let width = messages.answers().map(|(_, answer)| answer.name.len()).max().unwrap();
    for (number, answer) in messages.answers() {
        text += &format!("\tKind{:width$} = {number}\n", answer.name);
    }
    text += ")\n";
    for message in messages.0.iter().filter(|message| messages.is_given(message)) {
        text += &structure(message);
        text += &writer(message);
    }
    text += "\n// A Reply is an answer: Number is which one.\ntype Reply struct {\n\tNumber uint32\n\n";
    for (_, answer) in messages.answers() {
        text += &format!("\t{}\n", answer.name);
    }
    text += "}\n\n// Read reads an answer over an earlier one; false if it isn't one, or if it has something unknown and critical.\n";
    text += "func (r *Reply) Read(message []byte) bool {\n\tnumber, fields, ok := open(message)\n\tr.Number = number\n";
    text += "\tswitch {\n\tcase !ok:\n";
    for (_, answer) in messages.answers() {
        let name = answer.name;
        text += &format!("\tcase number == Kind{name}:\n\t\tok = r.{name}.read(fields)\n");
    }
    text += "\tdefault:\n\t\tok = false\n\t}\n\tif !ok {\n\t\t*r = Reply{}\n\t}\n\treturn ok\n}\n";
    for message in messages.0.iter().filter(|message| messages.is_answered(message)) {
        text += &structure(message);
        text += &reader(message);
    }
    text
}

/// A field's name in Go's spelling.
fn name(field: &Field) -> String {
    let word = |word: &str| match word {
        "http" | "id" | "ms" | "ttl" | "url" | "www" => word.to_uppercase(),
        _ => {
            let (first, rest) = word.split_at(1);
            format!("{}{rest}", first.to_uppercase())
        }
    };
    field.name.split('_').map(word).collect()
}

fn structure(message: &Message) -> String {
    let mut text = format!("\ntype {} struct", message.name);
    if message.fields.is_empty() {
        return text + "{}\n";
    }
    let mut lines = Vec::new();
    for field in &message.fields {
        let one = match field.kind {
            ValueType::Integer => "uint64",
            ValueType::Boolean => "bool",
            ValueType::Text | ValueType::Kept => "string",
            ValueType::Bytes if field.critical => "[]byte",
            ValueType::Bytes => "string",
            ValueType::Part(part) => part,
        };
        let kind = match (field.list, field.optional, field.kind) {
            (true, ..) => format!("[]{one}"),
            (_, true, ValueType::Part(_)) => {
                lines.push((format!("Has{}", name(field)), "bool".to_owned()));
                one.to_owned()
            }
            (_, true, _) if one != "[]byte" => format!("*{one}"),
            _ => one.to_owned(),
        };
        lines.push((name(field), kind));
    }
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap();
    text += " {\n";
    text.extend(lines.iter().map(|(name, kind)| format!("\t{name:width$} {kind}\n")));
    text + "}\n"
}

fn writer(message: &Message) -> String {
    let name_of = message.name;
    let head = match message.number() {
        Some(number) => {
            format!("\nfunc (m *{name_of}) Append(to []byte) []byte {{\n\tw, start := begin(to, {number})\n")
        }
        None => format!("\nfunc (m *{name_of}) put(to []byte) []byte {{\n\tw := writer{{to}}\n"),
    };
    let puts: String = message.fields.iter().map(put).collect();
    let end = match message.number() {
        Some(_) => "\treturn end(w.to, start)\n}\n",
        None => "\treturn w.to\n}\n",
    };
    head + &puts + end
}

fn put(field: &Field) -> String {
    let (number, own) = (field.number, format!("m.{}", name(field)));
    match (field.list, field.optional, field.kind) {
        (true, _, ValueType::Part(_)) => format!("\tputParts(&w, {number}, {own})\n"),
        (true, ..) => format!("\tw.texts({number}, {own})\n"),
        (_, true, _) => format!("\tw.optional({number}, {own})\n"),
        (_, _, ValueType::Integer) => format!("\tw.integer({number}, {own})\n"),
        (_, _, ValueType::Boolean) => format!("\tw.flag({number}, {own})\n"),
        _ => format!("\tw.text({number}, {own})\n"),
    }
}

fn reader(message: &Message) -> String {
    let name_of = message.name;
    // A part keeps what it has, and says itself that it isn't there.
    let parts = message.fields.iter().filter(|field| matches!(field.kind, ValueType::Part(_)) && !field.list);
    let absent =
        parts.clone().map(|field| format!("\tif !m.Has{0} {{\n\t\tm.{0} = {1}{{}}\n\t}}\n", name(field), part(field)));
    let bytes =
        message.fields.iter().filter(|field| is_reused(field)).map(|field| format!("{0}: m.{0}[:0]", name(field)));
    let again: Vec<_> = bytes.chain(parts.clone().map(|field| format!("{0}: m.{0}", name(field)))).collect();
    let old = match message.fields.iter().any(|field| field.kind == ValueType::Kept) {
        true => "\told := *m\n",
        false => "",
    };
    let takes: String = message.fields.iter().map(take).collect();
    format!(
        "\nfunc (m *{name_of}) read(fields []byte) bool {{\n{old}\t*m = {name_of}{{{}}}\n\tr := newReader(fields)\n\tfor r.pass() {{\n{takes}\t}}\n{}\treturn r.isRight()\n}}\n",
        again.join(", "),
        absent.collect::<String>()
    )
}

const fn part(field: &Field) -> &'static str {
    match field.kind {
        ValueType::Part(part) => part,
        _ => "",
    }
}

/// Bytes of most answers, whose memory the next answer uses again.
const fn is_reused(field: &Field) -> bool {
    matches!(field.kind, ValueType::Bytes) && field.critical && !field.list && !field.optional
}

fn take(field: &Field) -> String {
    let own = format!("m.{}", name(field));
    let tag = match field.critical {
        true => format!("critical|{}", field.number),
        false => field.number.to_string(),
    };
    let call = match (field.list, field.optional, field.kind) {
        (true, ..) => format!("readParts(&r, {tag}, &{own})"),
        (_, _, ValueType::Part(_)) => format!("r.part({tag}, &m.Has{}, &{own})", name(field)),
        (_, _, ValueType::Integer) => format!("r.integer({tag}, &{own})"),
        (_, _, ValueType::Boolean) => format!("r.flag({tag}, &{own})"),
        (_, true, ValueType::Text) => format!("r.optional({tag}, &{own})"),
        (_, _, ValueType::Kept) => format!("r.kept({tag}, &{own}, old.{})", name(field)),
        (_, _, ValueType::Bytes) if field.critical => format!("r.blob({tag}, &{own})"),
        _ => format!("r.text({tag}, &{own})"),
    };
    format!("\t\t{call}\n")
}

/// Fields of an answer that callers don't see, or see as something else.
const HIDDEN: [&str; 8] = ["packed", "misrouted", "audit", "token", "may_call", "body", "headers", "retry_after"];

/// A field as callers see it: its name, its type, and its value. An absent string is empty.
fn shown(field: &Field) -> [String; 3] {
    let from = format!("from.{}", name(field));
    match (field.name, field.kind) {
        ("http_status", _) => ["Status", "int", "int(from.HTTPStatus)"].map(str::to_owned),
        ("kind", _) => ["Kind", "orbgate.TokenKind", "orbgate.TokenKind(from.Kind)"].map(str::to_owned),
        ("expires_ms", _) => ["Expires", "time.Time", "time.UnixMilli(int64(from.ExpiresMS))"].map(str::to_owned),
        (_, ValueType::Integer) => [name(field), "uint64".to_owned(), from],
        (_, ValueType::Boolean) => [name(field), "bool".to_owned(), from],
        _ if field.optional => [name(field), "string".to_owned(), format!("or(from.{})", name(field))],
        _ => [name(field), "string".to_owned(), from],
    }
}

/// The fields that callers see, and their values.
pub(crate) fn public(message: &Message) -> [String; 2] {
    let fields = message.fields.iter().filter(|field| !HIDDEN.contains(&field.name));
    // What is said after a colon is about the form that it has in the message.
    let about = |field: &Field| match field.about.split_once(": ") {
        Some((first, _)) => format!("{first}."),
        None => field.about.to_owned(),
    };
    let fields: Vec<_> = fields.map(|field| (about(field), shown(field))).collect();
    let lines = fields.iter().map(|(about, [name, kind, _])| format!("\t// {about}\n\t{name} {kind}\n"));
    let values: Vec<_> = fields.iter().map(|(_, [name, _, value])| format!("{name}: {value},")).collect();
    [lines.collect(), format!("\t\t{}\n", values.join(" "))]
}
