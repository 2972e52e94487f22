//! The test of every setter and getter of C: bytes that are put together here, without the header. It isn't committed: the
//! step `c` writes it and compiles it.

use super::c::function;
use super::hostile::field as put;
use super::shape::{Field, Message, Messages, ValueType};
use crate::words::lower;

pub(crate) fn test(messages: &Messages) -> String {
    let mut text = "#include \"gate_fields.h\"\n".to_owned();
    let mut calls = String::new();
    for (_, question) in messages.questions() {
        text += &written(messages, question);
        calls += &format!("    ask_{}();\n", lower(question.name));
    }
    for (_, answer) in messages.answers() {
        text += &read(messages, answer);
        calls += &format!("    read_{}();\n", lower(answer.name));
    }
    format!("{text}\nint main(void)\n{{\n{calls}    return 0;\n}}\n")
}

/// The value of an integer.
const fn integer(field: &Field) -> u64 {
    0x8007_0605_0403_0201 + field.number as u64
}

/// The bytes of a field, of its second item for a list.
fn value(messages: &Messages, field: &Field, second: bool) -> Vec<u8> {
    match field.kind {
        ValueType::Integer => integer(field).to_le_bytes().to_vec(),
        ValueType::Boolean => Vec::new(),
        ValueType::Part(part) => fields(messages, messages.find(part), second),
        _ => string(field, second).into_bytes(),
    }
}

/// The string of a field.
fn string(field: &Field, second: bool) -> String {
    format!("{}{}", field.name, if second { " 2" } else { "" })
}

/// The bytes of all fields of a message.
fn fields(messages: &Messages, message: &Message, second: bool) -> Vec<u8> {
    let bytes = message.fields.iter().flat_map(|field| {
        let one = put(field.tag(), &value(messages, field, second));
        match field.list {
            true => [one, put(field.tag(), &value(messages, field, true))].concat(),
            false => one,
        }
    });
    bytes.collect()
}

fn array(bytes: &[u8]) -> String {
    let lines = bytes.chunks(48).map(|line| line.iter().map(|byte| format!("{byte},")).collect::<String>());
    format!(
        "    static const unsigned char bytes[] = {{\n        {}\n    }};\n",
        lines.collect::<Vec<_>>().join("\n        ")
    )
}

fn written(messages: &Messages, question: &Message) -> String {
    let (name, number) = (lower(question.name), question.number().unwrap());
    let mut text =
        format!("\nstatic void ask_{name}(void)\n{{\n{}", array(&put(number, &fields(messages, question, false))));
    text += "    OrbgateQuestion question = orbgate_question_init();\n";
    text += &format!("    orbgate_{name}_begin(NULL);\n    orbgate_{name}_begin(&question);\n");
    let mut wrong = String::new();
    for field in &question.fields {
        let call = function(question, field, ["set", "add"]);
        let quoted = |name: &str, second: &str| format!(", ORBGATE_TEXT(\"{name}{second}\")");
        let strings = match field.kind {
            ValueType::Part(part) => messages.find(part).fields.iter().map(|it| it.name).collect(),
            ValueType::Text | ValueType::Kept | ValueType::Bytes => vec![field.name],
            _ => Vec::new(),
        };
        let all = |second: &str| match field.kind {
            ValueType::Integer => format!(", UINT64_C({:#x})", integer(field)),
            ValueType::Boolean => ", true".to_owned(),
            _ => strings.iter().map(|name| quoted(name, second)).collect(),
        };
        text += &format!("    {call}(&question{});\n", all(""));
        if field.list {
            text += &format!("    {call}(&question{});\n", all(" 2"));
        }
        let places = format!("orbgate_{name}_begin, orbgate_{}_begin, {call}", other(question));
        match field.kind {
            ValueType::Part(_) => {
                wrong += &format!("    ADDS(orbgate_{}_begin, {call}{});\n", other(question), all(""));
                wrong += &nulls(&format!("orbgate_{name}_begin, {call}"), &strings);
                let nothing = ", NULL, 0".repeat(strings.len());
                wrong += &format!("    WRONG(orbgate_{}_begin, {call}(&question{nothing}));\n", other(question));
            }
            ValueType::Integer | ValueType::Boolean => wrong += &format!("    SETS({places}{});\n", all("")),
            _ if field.list => wrong += &format!("    ADDS_STRING({places}, \"{}\");\n", field.name),
            _ => wrong += &format!("    SETS_STRING({places}, \"{}\");\n", field.name),
        }
    }
    text += "    CHECK(is_written(&question, bytes, sizeof bytes));\n";
    format!("{text}{wrong}    orbgate_question_free(&question);\n}}\n")
}

/// The setter of a part, whose strings are null one after the other.
fn nulls(place: &str, strings: &[&str]) -> String {
    let nulls = (0..strings.len()).map(|null| {
        let strings = strings.iter().enumerate();
        let arguments = strings.map(|(at, name)| match at == null {
            true => ", NULL, 1".to_owned(),
            false => format!(", ORBGATE_TEXT(\"{name}\")"),
        });
        format!("    WRONG({place}(&question{}));\n", arguments.collect::<String>())
    });
    nulls.collect()
}

/// Another question.
fn other(question: &Message) -> &'static str {
    if question.name == "Drop" { "status" } else { "drop" }
}

fn read(messages: &Messages, answer: &Message) -> String {
    let (name, number) = (lower(answer.name), answer.number().unwrap());
    let mut text =
        format!("\nstatic void read_{name}(void)\n{{\n{}", array(&put(number, &fields(messages, answer, false))));
    text += "    OrbgateMessage message = whole(bytes, sizeof bytes);\n";
    text += &format!("    CHECK(message.kind == ORBGATE_MESSAGE_{});\n", name.to_uppercase());
    got(messages, answer, ("message", false), 0, &mut text);
    text + "}\n"
}

/// What each getter returns.
fn got(messages: &Messages, message: &Message, (from, second): (&str, bool), depth: usize, text: &mut String) {
    for field in &message.fields {
        let call = function(message, field, ["get", "next"]);
        let line = match field.kind {
            ValueType::Integer => format!("INTEGER({call}, {from}, UINT64_C({:#x}));\n", integer(field)),
            ValueType::Boolean => format!("BOOLEAN({call}, {from});\n"),
            ValueType::Part(part) => {
                let (part, name) = (messages.find(part), format!("part{depth}_{}", field.number));
                let mut lines =
                    format!("OrbgateMessage {name} = orbgate_message_init();\n    PART({call}, {from}, {name});\n");
                got(messages, part, (&name, second), depth + 1, &mut lines);
                // The next item of a list. Other parts are read again, and over what they are read from.
                lines += &format!("    CHECK({call}(&{from}, &{name}));\n");
                if field.list {
                    got(messages, part, (&name, true), depth + 1, &mut lines);
                    lines += &format!("    CHECK(!{call}(&{from}, &{name}) && is_none(&{name}));\n");
                } else {
                    let over = format!("over{depth}_{}", field.number);
                    lines += &format!("    OrbgateMessage {over} = {from};\n");
                    lines += &format!("    CHECK({call}(&{over}, &{over}) && {over}.kind == {name}.kind);\n");
                }
                lines
            }
            _ => format!("STRING({call}, {from}, \"{}\");\n", string(field, second)),
        };
        *text += &format!("    {line}");
    }
}
