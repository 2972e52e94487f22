//! C's side: `orbgate_gate.h` sets the fields of questions and gets those of answers. C++ sits on it.

use super::shape::{Field, Message, Messages, ValueType};
use crate::table::MADE;
use crate::words::lower;

/// The most bytes of a line without what begins and ends its comment.
const LINE: usize = 140;

pub(crate) fn header(messages: &Messages) -> String {
    let answered: Vec<_> = messages.0.iter().filter(|message| messages.is_answered(message)).collect();
    let most = answered.iter().flat_map(|message| &message.fields).map(|field| field.number).max().unwrap();
    let forms = answered.iter().map(|message| {
        let last = message.fields.last().map_or(0, |field| field.number);
        let forms = (1..=last).map(|number| match message.fields.iter().find(|field| field.number == number) {
            Some(field) => form(messages, field).to_string(),
            None => "0".to_owned(),
        });
        let forms = forms.collect::<Vec<_>>().join(", ");
        format!("    ORBGATE_WIRE_FORMS({}, {forms}) /* {} */\n", messages.kind(message), message.name)
    });
    include_str!("../../../orbgate-capi/header/gate.h")
        .replace("@MADE@", MADE)
        .replace("@FIELDS@", &(most + 1).to_string())
        .replace("@FORMS@\n", &forms.collect::<String>())
        .replace("@FIRST@", &messages.answers().map(|(number, _)| number).min().unwrap().to_string())
        .replace(
            "@SETTERS@\n",
            &messages.questions().map(|(number, it)| setters(messages, number, it)).collect::<String>(),
        )
        .replace("@GETTERS@\n", &answered.iter().map(|message| getters(messages, message)).collect::<String>())
}

impl Messages {
    /// The kind of an answer, or of a part of one.
    fn kind(&self, message: &Message) -> u32 {
        let is_part = |it: &&Message| self.is_answered(it) && it.number().is_none();
        message.number().unwrap_or_else(|| {
            let before = self.0.iter().filter(is_part).take_while(|it| it.name != message.name).count();
            u32::try_from(before).unwrap() + 1
        })
    }
}

fn upper(name: &str) -> String {
    lower(name).to_uppercase()
}

/// How the table of a message has a field: see the constants of the header.
fn form(messages: &Messages, field: &Field) -> u32 {
    let one = match field.kind {
        ValueType::Integer => 1,
        ValueType::Boolean => 2,
        ValueType::Text | ValueType::Kept | ValueType::Bytes => 3,
        ValueType::Part(part) => 8 + messages.kind(messages.find(part)),
    };
    assert!(one < 64, "{} needs a wider form", field.name);
    one | if field.list { 64 } else { 0 } | if field.critical { 128 } else { 0 }
}

/// The function for a field: `orbgate_ask_set_method`, `orbgate_ask_add_upgrade`.
pub(crate) fn function(message: &Message, field: &Field, [one, item]: [&str; 2]) -> String {
    let message = lower(message.name);
    match field.list {
        true => format!("orbgate_{message}_{item}_{}", field.name.trim_end_matches('s')),
        false => format!("orbgate_{message}_{one}_{}", field.name),
    }
}

/// What declares a function, and its comment behind it, or above if the line would be long.
fn declaration(declares: &str, about: &str) -> String {
    match declares.len() + about.len() < LINE {
        true => format!("{declares} /* {about} */\n"),
        false => {
            assert!(about.len() < LINE, "too long for a line: {about}");
            format!("/* {about} */\n{declares}\n")
        }
    }
}

fn setters(messages: &Messages, number: u32, question: &Message) -> String {
    let mut text =
        declaration(&format!("ORBGATE_BEGIN(orbgate_{}_begin, {number})", lower(question.name)), question.about);
    question.fields.iter().for_each(|field| text += &setter(messages, (number, question), field));
    text + "\n"
}

fn setter(messages: &Messages, (number, question): (u32, &Message), field: &Field) -> String {
    let (kind, names) = match (field.list, field.kind) {
        (false, ValueType::Integer) => ("SET_INT", String::new()),
        (false, ValueType::Boolean) => ("SET_BOOL", String::new()),
        (true, ValueType::Part(part)) => match &messages.find(part).fields[..] {
            [one @ Field { optional: true, number: 1, .. }] if one.is_string() => ("ADD_OPTIONAL", String::new()),
            [one @ Field { optional: false, number: 1, .. }, two @ Field { optional: false, number: 2, .. }]
                if one.is_string() && two.is_string() =>
            {
                ("ADD_PAIR", format!(", {}, {}", one.name, two.name))
            }
            _ => panic!("{part} has fields that no part had yet"),
        },
        (list, ValueType::Text | ValueType::Kept | ValueType::Bytes) => {
            assert!(!field.optional, "only a part has a field that can be absent");
            (if list { "ADD_STR" } else { "SET_STR" }, String::new())
        }
        _ => panic!("{} has a form that no question had yet", field.name),
    };
    let name = function(question, field, ["set", "add"]);
    declaration(&format!("ORBGATE_{kind}({name}, {number}, {}{names})", field.number), field.about)
}

impl Field {
    const fn is_string(&self) -> bool {
        matches!(self.kind, ValueType::Text | ValueType::Bytes) && !self.list
    }
}

fn getters(messages: &Messages, message: &Message) -> String {
    let fields = message.fields.iter().map(|field| getter(messages, message, field));
    let head = match message.number() {
        Some(number) => {
            declaration(&format!("#define ORBGATE_MESSAGE_{} {number}u", upper(message.name)), message.about)
        }
        None => format!("/* {}: {} */\n", message.name, message.about),
    };
    format!("{head}{}\n", fields.collect::<String>())
}

fn getter(messages: &Messages, message: &Message, field: &Field) -> String {
    let (kind, rest) = match (field.list, field.kind) {
        (list, ValueType::Part(part)) => {
            let part = messages.kind(messages.find(part));
            (if list { "NEXT_PART" } else { "GET_PART" }, format!("{:#x}, {part}", field.tag()))
        }
        (false, ValueType::Integer) => ("GET_INT", field.number.to_string()),
        (false, ValueType::Boolean) => ("GET_BOOL", field.number.to_string()),
        (false, _) => ("GET_STR", field.number.to_string()),
        (true, _) => panic!("{} is a list of a kind that no answer had yet", field.name),
    };
    let name = function(message, field, ["get", "next"]);
    declaration(&format!("ORBGATE_{kind}({name}, {}, {rest})", messages.kind(message)), field.about)
}
