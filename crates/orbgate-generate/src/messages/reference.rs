//! The page that describes the messages, and the list of their numbers.

use super::shape::{Field, Message, Messages, Role, ValueType};
use crate::questions::shape::names;
use crate::table::MADE;

const HEAD: &str = "\
# The numbers of messages and of their fields. Made by `cargo xtask codes`; lines are only added, so a number is never used again.
# A `name` is the number of each field with that name in the answers of questions.
# kind	number	name	type: `!` is critical, `?` may be absent, `[]` a list
";

/// `messages.tsv`
pub(crate) fn numbers(messages: &Messages) -> String {
    let mut text = HEAD.to_owned();
    for message in &messages.0 {
        let name = message.name;
        text += &match message.role {
            Role::Question(number) => format!("question\t{number}\t{name}\t\n"),
            Role::Answer(number) => format!("answer\t{number}\t{name}\t\n"),
            Role::Part => format!("part\t\t{name}\t\n"),
        };
        for field in &message.fields {
            text += &format!("field\t{}\t{name}.{}\t{}\n", field.number, field.name, field.type_name());
        }
    }
    for (number, name) in (1..).zip(names()) {
        text += &format!("name\t{number}\t{name}\t\n");
    }
    text
}

impl Field {
    fn type_name(&self) -> String {
        let one = match self.kind {
            ValueType::Integer => "integer",
            ValueType::Boolean => "boolean",
            ValueType::Text | ValueType::Kept => "string",
            ValueType::Bytes => "bytes",
            ValueType::Part(part) => part,
        };
        let (critical, optional) = (if self.critical { "!" } else { "" }, if self.optional { "?" } else { "" });
        match self.list {
            true => format!("[{one}]{critical}"),
            false => format!("{one}{optional}{critical}"),
        }
    }
}

pub(crate) fn page(messages: &Messages) -> String {
    let mut text = format!(
        "# Messages of a gate\n\n<!-- {MADE} -->\n\n\
         A host sends a gate one message and gets one back: `orbgate_gate_ask` of the [C library](../bindings/c/README.md), which the\n\
         bindings of other languages use too. Each has a reader and a writer of its own. Those of C and C++ are `orbgate_gate.h`.\n\n\
         A message is a field, and its bytes are fields, one after the other. A field is a number (4 bytes), a length (4 bytes) and so\n\
         many bytes; all numbers are little-endian. An `integer` has 8 bytes and is 0 if it is left out. A `boolean` has none and is true\n\
         if it is there. A `string` is UTF-8, and empty if it is left out; with `?`, absent isn't the same as empty. A list has a field for\n\
         each of its items. Fields can have any order. A whole message has at most 2,097,152 bytes, or\n\
         10,485,760 with a token configuration, a policy or the body of a request.\n\n\
         The library refuses a question with an unknown field, with a second one that isn't a list's, or with bytes of another form:\n\
         `ORBGATE_STATUS_INVALID_ARGUMENT`. A host refuses such an answer too, and denies, but skips unknown fields. If the highest bit of a\n\
         number is set, marked `!` here, the field is critical: a host that doesn't know it denies. It also denies if it doesn't know the\n\
         number of the answer. So a later release can add fields, questions and answers, and hosts stay safe.\n"
    );
    text += include_str!("hosts.md");
    for (title, role) in [("Questions", true), ("Answers", false)] {
        text += &format!("\n## {title}\n");
        let listed = messages.0.iter().filter(|message| match role {
            true => messages.is_given(message),
            false => messages.is_answered(message),
        });
        listed.for_each(|message| text += &section(message));
    }
    text += "\n## Answers of questions\n\n\
             `orbgate_engine_ask` gives the answer of a [question about a policy](../bindings/README.md#questions) as JSON or, with\n\
             `ORBGATE_ANSWER_FIELDS`, as the fields of its object, without a head. The numbers are those of their names, in every object. A null,\n\
             an empty list and a false of the JSON aren't there, but every string and integer of it is. A list has a field for each item, and\n\
             an item that is a list is again a field for each of its items. A host refuses a second field that isn't a list's, and skips\n\
             unknown fields.\n\n\
             | number | name |\n|--:|---|\n";
    for (number, name) in (1..).zip(names()) {
        text += &format!("| {number} | `{name}` |\n");
    }
    text
}

fn section(message: &Message) -> String {
    let mut text = match message.number() {
        Some(number) => format!("\n### `{}` ({number})\n\n{}\n", message.name, message.about),
        None => format!("\n### `{}`\n\n{}\n", message.name, message.about),
    };
    if !message.fields.is_empty() {
        text += "\n| number | field | type | |\n|--:|---|---|---|\n";
    }
    for field in &message.fields {
        let about = field.about.replace('|', "\\|");
        text += &format!("| {} | `{}` | `{}` | {about} |\n", field.number, field.name, field.type_name());
    }
    text
}
