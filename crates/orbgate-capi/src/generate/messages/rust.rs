//! The library's side: it reads questions and writes answers.

use super::{Field, MADE, Message, Messages, ValueType};

pub(super) fn module(messages: &Messages) -> String {
    let mut text = format!(
        "//! The messages of gates.\n//!\n//! {MADE}\n#![cfg_attr(rustfmt, rustfmt_skip)]\n\n\
         use super::wire::{{CRITICAL, Fields, Seen, Value as _, Writer, message}};\n\
         use crate::status::{{OrStatus, OrbgateStatus}};\n"
    );
    text += "\n/// A question to a gate.\npub(super) enum Question<'a> {\n";
    for (_, question) in messages.questions() {
        let name = question.name;
        text += &match question.fields.is_empty() {
            true => format!("    {name},\n"),
            false => format!("    {}({}),\n", name, named(messages, question)),
        };
    }
    text += "}\n\nimpl<'a> Question<'a> {\n    pub(super) fn read(bytes: &'a [u8]) -> OrStatus<Self> {\n";
    let has_tokens =
        |question: &Message| question.fields.iter().any(|field| ["policy", "tokens"].contains(&field.name));
    let is_long = |question: &Message| question.name == "Body" || has_tokens(question);
    let with_tokens = messages.questions().filter(|(_, question)| is_long(question)).map(|(number, _)| number);
    let with_tokens: Vec<_> = with_tokens.collect();
    text += &format!("        let (number, fields) = message(bytes, &{with_tokens:?})?;\n        match number {{\n");
    for (number, question) in messages.questions() {
        let name = question.name;
        text += &match question.fields.is_empty() {
            true => format!(
                "            {number} => fields.each(|_, _| Err(OrbgateStatus::InvalidArgument)).map(|()| Self::{name}),\n"
            ),
            false => format!("            {number} => {name}::read(fields).map(Self::{name}),\n"),
        };
    }
    text += "            _ => Err(OrbgateStatus::InvalidArgument),\n        }\n    }\n}\n";
    for message in messages.0.iter().filter(|message| messages.is_given(message) && !message.fields.is_empty()) {
        text += &structure(messages, message);
        text += &reader(messages, message);
    }
    for message in messages.0.iter().filter(|message| messages.is_answered(message)) {
        text += &structure(messages, message);
        text += &writer(messages, message);
    }
    text
}

/// `Ask<'a>`
fn named(messages: &Messages, message: &Message) -> String {
    match borrows(messages, message) {
        true => format!("{}<'a>", message.name),
        false => message.name.to_owned(),
    }
}

fn borrows(messages: &Messages, message: &Message) -> bool {
    message.fields.iter().any(|field| match field.kind {
        ValueType::Integer | ValueType::Boolean => false,
        ValueType::Part(part) => borrows(messages, messages.find(part)),
        ValueType::Text | ValueType::Kept | ValueType::Bytes => true,
    })
}

fn structure(messages: &Messages, message: &Message) -> String {
    let name = named(messages, message);
    let mut text = format!("\n/// {}\n#[derive(Default)]\npub(super) struct {name}", message.about);
    if message.fields.is_empty() {
        return text + ";\n";
    }
    text += " {\n";
    for field in &message.fields {
        let one = match field.kind {
            ValueType::Integer => "u64".to_owned(),
            ValueType::Boolean => "bool".to_owned(),
            ValueType::Text | ValueType::Kept => "&'a str".to_owned(),
            ValueType::Bytes => "&'a [u8]".to_owned(),
            ValueType::Part(part) => named(messages, messages.find(part)),
        };
        let kind = match (field.list, field.optional) {
            (true, _) => format!("Vec<{one}>"),
            (_, true) => format!("Option<{one}>"),
            _ => one,
        };
        text += &format!("    /// {}\n    pub(super) {}: {kind},\n", field.about, field.name);
    }
    text + "}\n"
}

fn reader(messages: &Messages, message: &Message) -> String {
    let (life, name) = match borrows(messages, message) {
        true => ("<'a>", named(messages, message)),
        false => ("", message.name.to_owned()),
    };
    let given = if life.is_empty() { "Fields<'_>" } else { "Fields<'a>" };
    let seen = message.fields.iter().any(|field| !field.list);
    let mut text = format!(
        "\nimpl{life} {name} {{\n    fn read(fields: {given}) -> OrStatus<Self> {{\n        let mut read = Self::default();\n"
    );
    if seen {
        text += "        let mut seen = Seen::default();\n";
    }
    text += "        fields.each(|number, bytes| {\n            match number {\n";
    for field in &message.fields {
        let one = value(field);
        let (number, name) = (field.number, field.name);
        if field.list {
            text += &format!("                {number} => read.{name}.push({one}),\n");
            continue;
        }
        let value = match field.optional {
            true => format!("Some({one})"),
            false => one,
        };
        text += &format!(
            "                {number} => {{\n                    seen.first(number)?;\n                    read.{name} = {value};\n                }}\n"
        );
    }
    text += "                _ => return Err(OrbgateStatus::InvalidArgument),\n            }\n            Ok(())\n";
    text + "        })?;\n        Ok(read)\n    }\n}\n"
}

fn value(field: &Field) -> String {
    match field.kind {
        ValueType::Integer => "u64::read(bytes)?".to_owned(),
        ValueType::Boolean => "bool::read(bytes)?".to_owned(),
        ValueType::Text | ValueType::Kept => "<&str>::read(bytes)?".to_owned(),
        ValueType::Bytes => "bytes".to_owned(),
        ValueType::Part(part) => format!("{part}::read(Fields::read(bytes)?)?"),
    }
}

fn writer(messages: &Messages, message: &Message) -> String {
    let name = match borrows(messages, message) {
        true => format!("{}<'_>", message.name),
        false => message.name.to_owned(),
    };
    let mut text = format!("\nimpl {name} {{\n");
    if let Some(number) = message.number() {
        let put = if message.fields.is_empty() { "|_| Ok(())" } else { "|to| self.put(to)" };
        text += &format!(
            "    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {{\n        \
             to.fields({number}, {put})\n    }}\n"
        );
        if message.fields.is_empty() {
            return text + "}\n";
        }
        text.push('\n');
    }
    text += "    fn put(&self, to: &mut Writer<'_>) -> OrStatus {\n";
    for field in &message.fields {
        text += &put(field);
    }
    text + "        Ok(())\n    }\n}\n"
}

fn put(field: &Field) -> String {
    let (name, number) = (field.name, field.number);
    let tag = match field.critical {
        true => format!("CRITICAL | {number}"),
        false => number.to_string(),
    };
    let one = |value: &str| match field.kind {
        ValueType::Integer => format!("to.integer({tag}, {value})"),
        ValueType::Boolean => format!("to.boolean({tag}, {value})"),
        ValueType::Text | ValueType::Kept => format!("to.bytes({tag}, {value}.as_bytes())?"),
        ValueType::Bytes => format!("to.bytes({tag}, {value})?"),
        ValueType::Part(_) => format!("to.fields({tag}, |to| {value}.put(to))?"),
    };
    let own = format!("self.{name}");
    match (field.list, field.optional, field.kind) {
        (true, ..) => format!("        for one in &{own} {{\n            {};\n        }}\n", one("one")),
        (_, true, _) => format!("        if let Some(one) = &{own} {{\n            {};\n        }}\n", one("one")),
        (_, _, ValueType::Text | ValueType::Kept | ValueType::Bytes) => {
            format!("        if !{own}.is_empty() {{\n            {};\n        }}\n", one(&own))
        }
        _ => format!("        {};\n", one(&own)),
    }
}
