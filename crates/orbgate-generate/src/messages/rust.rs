//! The library's side: it reads questions and writes answers.

use super::shape::{Message, Messages, ValueType};
use crate::table::MADE;

pub(crate) fn module(messages: &Messages) -> String {
    let mut text = format!(
        "//! The messages of gates. {MADE}\n\n\
         use super::wire::{{CRITICAL, Fill, Form, INVALID, Item, Put, Writer, each, message}};\n\
         use crate::status::OrStatus;\n\n\
         /// A question to a gate.\npub(super) enum Question<'a> {{\n"
    );
    for (_, question) in messages.questions() {
        text += &match question.fields.is_empty() {
            true => format!("    {},\n", question.name),
            false => format!("    {}({}),\n", question.name, named(messages, question)),
        };
    }
    let is_long =
        |it: &Message| it.name == "Body" || it.fields.iter().any(|field| ["policy", "tokens"].contains(&field.name));
    let long: Vec<_> = messages.questions().filter(|(_, it)| is_long(it)).map(|(number, _)| number).collect();
    text += &format!(
        "}}\n\nimpl<'a> Question<'a> {{\n    pub(super) fn read(bytes: &'a [u8]) -> OrStatus<Self> {{\n        \
         let (number, fields) = message(bytes, &{long:?})?;\n        match number {{\n"
    );
    for (number, question) in messages.questions() {
        let name = question.name;
        text += &match question.fields.is_empty() {
            true => format!("            {number} if fields.is_empty() => Ok(Self::{name}),\n"),
            false => format!("            {number} => {name}::read(fields).map(Self::{name}),\n"),
        };
    }
    text += "            _ => Err(INVALID),\n        }\n    }\n}\n";
    for message in messages.0.iter().filter(|message| messages.is_answered(message) || !message.fields.is_empty()) {
        text += &structure(messages, message);
        text += &match messages.is_given(message) {
            true => reader(messages, message),
            false => writer(messages, message),
        };
    }
    text
}

/// `Ask<'a>`
fn named(messages: &Messages, message: &Message) -> String {
    format!("{}{}", message.name, if borrows(messages, message) { "<'a>" } else { "" })
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
    let mut text = format!("\n/// {}\n#[derive(Default)]\npub(super) struct {name} {{\n", message.about);
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
    let takes = message
        .fields
        .iter()
        .map(|field| format!("            {0} => read.{1}.fill({0}, bytes, seen),\n", field.number, field.name));
    let takes: String = takes.collect();
    format!(
        "\nimpl<'a> Form<'a> for {} {{\n    #[inline]\n    fn read(fields: &'a [u8]) -> OrStatus<Self> {{\n        \
         let mut read = Self::default();\n        each(fields, |number, bytes, seen| match number {{\n{takes}            \
         _ => Err(INVALID),\n        }})?;\n        Ok(read)\n    }}\n}}\n",
        named(messages, message)
    )
}

fn writer(messages: &Messages, message: &Message) -> String {
    let name = named(messages, message).replace("'a", "'_");
    let puts = message.fields.iter().map(|field| {
        let critical = if field.critical { "CRITICAL | " } else { "" };
        format!("            self.{}.put({critical}{}, to)?;\n", field.name, field.number)
    });
    let puts: String = puts.collect();
    let write = message.number().map(|number| {
        format!(
            "\nimpl {name} {{\n    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {{\n        \
             self.item({number}, to)\n    }}\n}}\n"
        )
    });
    format!(
        "{}\nimpl Item for {name} {{\n    #[inline]\n    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {{\n        \
         to.fields(number, |to| {{\n{puts}            Ok(())\n        }})\n    }}\n}}\n",
        write.unwrap_or_default()
    )
}
