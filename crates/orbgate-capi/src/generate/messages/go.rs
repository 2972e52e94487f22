//! Go's side: it writes questions and reads answers.

use super::{Field, MADE, Message, Messages, ValueType};

pub(super) fn messages(messages: &Messages) -> String {
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
    text += "\n// A Reply is an answer: Number is which one.\ntype Reply struct {\n\tNumber uint32\n";
    for (_, answer) in messages.answers().filter(|(_, answer)| !answer.fields.is_empty()) {
        text += &format!("\n\t{}\n", answer.name);
    }
    text += "}\n\n// Read reads an answer over an earlier one; false if it isn't one, or if it has something unknown and critical.\n";
    text += "func (r *Reply) Read(message []byte) bool {\n\tnumber, fields, ok := open(message)\n\tr.Number = number\n";
    text += "\tswitch {\n\tcase !ok:\n";
    for (_, answer) in messages.answers() {
        let name = answer.name;
        text += &match answer.fields.is_empty() {
            true => format!("\tcase number == Kind{name}:\n\t\tok = skip(fields)\n"),
            false => format!("\tcase number == Kind{name}:\n\t\tok = r.{name}.read(fields)\n"),
        };
    }
    text += "\tdefault:\n\t\tok = false\n\t}\n\tif !ok {\n\t\t*r = Reply{}\n\t}\n\treturn ok\n}\n";
    let read = messages.0.iter().filter(|message| messages.is_answered(message) && !message.fields.is_empty());
    for message in read {
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
    let mut text = format!("\n// {}: {}\ntype {} struct", message.name, message.about, message.name);
    if message.fields.is_empty() {
        return text + "{}\n";
    }
    text += " {\n";
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
                text += &format!("\t// Has{} is whether there is one.\n\tHas{} bool\n", name(field), name(field));
                one.to_owned()
            }
            (_, true, _) if one != "[]byte" => format!("*{one}"),
            _ => one.to_owned(),
        };
        text += &format!("\t// {}\n\t{} {kind}\n", field.about, name(field));
    }
    text + "}\n"
}

fn writer(message: &Message) -> String {
    let name_of = message.name;
    let head = match message.number() {
        Some(number) => {
            let about = "Append writes the question after these bytes.";
            format!(
                "\n// {about}\nfunc (m *{name_of}) Append(to []byte) []byte {{\n\tto, start := begin(to, {number})\n"
            )
        }
        None => format!("\nfunc (m *{name_of}) put(to []byte) []byte {{\n"),
    };
    let puts: String = message.fields.iter().map(put).collect();
    let end = match message.number() {
        Some(_) => "\treturn end(to, start)\n}\n",
        None => "\treturn to\n}\n",
    };
    head + &puts + end
}

fn put(field: &Field) -> String {
    let (number, own) = (field.number, format!("m.{}", name(field)));
    match (field.list, field.optional, field.kind) {
        (true, _, ValueType::Part(_)) => format!(
            "\tfor index := range {own} {{\n\t\tpart, start := begin(to, {number})\n\t\tto = end({own}[index].put(part), start)\n\t}}\n"
        ),
        (true, ..) => format!("\tfor _, one := range {own} {{\n\t\tto = putText(to, {number}, one)\n\t}}\n"),
        (_, true, _) => format!("\tif {own} != nil {{\n\t\tto = putText(to, {number}, *{own})\n\t}}\n"),
        (_, _, ValueType::Integer) => format!("\tif {own} != 0 {{\n\t\tto = putInteger(to, {number}, {own})\n\t}}\n"),
        (_, _, ValueType::Boolean) => format!("\tif {own} {{\n\t\tto = putFlag(to, {number})\n\t}}\n"),
        _ => format!("\tif {own} != \"\" {{\n\t\tto = putText(to, {number}, {own})\n\t}}\n"),
    }
}

fn reader(message: &Message) -> String {
    let name_of = message.name;
    let kept: Vec<_> = message.fields.iter().filter(|field| is_kept(field)).collect();
    let reset = match kept.is_empty() {
        true => format!("\t*m = {name_of}{{}}\n"),
        false => {
            let bytes = kept.iter().filter(|field| field.kind == ValueType::Bytes);
            let bytes: Vec<_> = bytes.map(|field| format!("{0}: old.{0}[:0]", name(field))).collect();
            // A part keeps what it has, and says itself that it isn't there.
            let parts = kept.iter().filter(|field| matches!(field.kind, ValueType::Part(_)));
            let parts: Vec<_> = parts.map(|field| format!("{0}: old.{0}", name(field))).collect();
            format!("\told := *m\n\t*m = {name_of}{{{}}}\n", [bytes, parts].concat().join(", "))
        }
    };
    let mut text = format!("\nfunc (m *{name_of}) read(fields []byte) bool {{\n{reset}");
    text += "\tvar seen uint32\n\tfor len(fields) > 0 {\n\t\ttag, bytes, rest, ok := next(fields)\n";
    let single = message.fields.iter().filter(|field| !field.list).fold(0_u32, |all, field| all | 1 << field.number);
    text += "\t\tif !ok {\n\t\t\treturn false\n\t\t}\n";
    if single == 0 {
        text = text.replace("\tvar seen uint32\n", "");
    } else {
        text += &format!(
            "\t\tbit := once(tag, {single:#x})\n\t\tif seen&bit != 0 {{\n\t\t\treturn false\n\t\t}}\n\t\tseen |= bit\n"
        );
    }
    text += "\t\tfields = rest\n\t\tswitch tag {\n";
    for field in &message.fields {
        let tag = match field.critical {
            true => format!("critical | {}", field.number),
            false => field.number.to_string(),
        };
        text += &format!("\t\tcase {tag}:\n{}", take(field));
    }
    text += "\t\tdefault:\n\t\t\tok = tag < critical\n\t\t}\n\t\tif !ok {\n\t\t\treturn false\n\t\t}\n\t}\n";
    for field in message.fields.iter().filter(|field| matches!(field.kind, ValueType::Part(_)) && field.optional) {
        text += &format!("\tif !m.Has{0} {{\n\t\tm.{0} = {1}{{}}\n\t}}\n", name(field), part(field));
    }
    text + "\treturn true\n}\n"
}

const fn part(field: &Field) -> &'static str {
    match field.kind {
        ValueType::Part(part) => part,
        _ => "",
    }
}

const fn is_kept(field: &Field) -> bool {
    match field.kind {
        ValueType::Kept => true,
        ValueType::Bytes => field.critical && !field.list && !field.optional,
        ValueType::Part(_) => field.optional,
        _ => false,
    }
}

fn take(field: &Field) -> String {
    let own = format!("m.{}", name(field));
    let lines = match (field.list, field.optional, field.kind) {
        (true, _, ValueType::Part(part)) => {
            format!("var one {part}\nok = one.read(bytes)\n{own} = append({own}, one)\n")
        }
        (_, _, ValueType::Part(_)) => format!("m.Has{0} = true\nok = {own}.read(bytes)\n", name(field)),
        (_, _, ValueType::Integer) => format!("{own}, ok = integer(bytes)\n"),
        (_, _, ValueType::Boolean) => format!("{own}, ok = true, len(bytes) == 0\n"),
        (_, true, ValueType::Text) => format!("text := string(bytes)\n{own} = &text\n"),
        (_, true, ValueType::Bytes) => format!("{own} = append([]byte{{}}, bytes...)\n"),
        (_, _, ValueType::Kept) => format!("{own} = kept(old.{}, bytes)\n", name(field)),
        (_, _, ValueType::Bytes) => format!("{own} = append({own}, bytes...)\n"),
        _ => format!("{own} = string(bytes)\n"),
    };
    lines.lines().map(|line| format!("\t\t\t{line}\n")).collect()
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
pub(super) fn public(message: &Message) -> [String; 2] {
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
