//! C's side: `orbgate_gate.h` sets the fields of questions and gets those of answers. C++ sits on it.

use super::{Field, MADE, Message, Messages, ValueType};

pub(super) fn header(messages: &Messages) -> String {
    let answered: Vec<_> = messages.0.iter().filter(|message| messages.is_answered(message)).collect();
    let most = answered.iter().flat_map(|message| &message.fields).map(|field| field.number).max().unwrap();
    let kinds = messages
        .answers()
        .map(|(number, answer)| format!("#define ORBGATE_MESSAGE_{} {number}u\n", upper(answer.name)));
    let forms = answered.iter().map(|message| {
        let name = message.name;
        let last = message.fields.last().map_or(0, |field| field.number);
        let forms = (0..=last).map(|number| match message.fields.iter().find(|field| field.number == number) {
            Some(field) => form(messages, field).to_string(),
            None => "0".to_owned(),
        });
        format!("        {{{}}}, /* {name} */\n", forms.collect::<Vec<_>>().join(", "))
    });
    let rows = answered.iter().enumerate();
    let rows = rows.map(|(row, message)| format!("    case {}u: return forms[{row}];\n", messages.kind(message)));
    let drop = messages.find("Drop").number().unwrap();
    include_str!("../../../header/gate.h")
        .replace("@MADE@", MADE)
        .replace("@FIELDS@", &(most + 1).to_string())
        .replace("@KINDS@\n", &kinds.collect::<String>())
        .replace("@FORMS@\n", &forms.collect::<String>())
        .replace("@ROWS@\n", &rows.collect::<String>())
        .replace("@FIRST@", &messages.answers().map(|(number, _)| number).min().unwrap().to_string())
        .replace("@DROP@", &drop.to_string())
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

/// `CheckSignature` → `check_signature`
pub(super) fn lower(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
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
pub(super) fn function(message: &Message, field: &Field, [one, item]: [&str; 2]) -> String {
    let message = lower(message.name);
    match field.list {
        true => format!("orbgate_{message}_{item}_{}", field.name.trim_end_matches('s')),
        false => format!("orbgate_{message}_{one}_{}", field.name),
    }
}

fn about(message: &Message) -> String {
    format!("/* {}: {} */\n", message.name, message.about)
}

fn setters(messages: &Messages, number: u32, question: &Message) -> String {
    let name = lower(question.name);
    let mut text = about(question);
    text += &format!(
        "static inline void orbgate_{name}_begin(OrbgateQuestion *to) {{ orbgate_wire_begin(to, {number}u); }}\n"
    );
    question.fields.iter().for_each(|field| text += &setter(messages, (number, question), field));
    text + "\n"
}

fn setter(messages: &Messages, (number, question): (u32, &Message), field: &Field) -> String {
    let place = format!("to, {number}u, {}u", field.number);
    let (parameters, body) = match (field.list, field.kind) {
        (false, ValueType::Integer) => {
            ("uint64_t value".to_owned(), format!(" orbgate_wire_set_integer({place}, value); "))
        }
        (false, ValueType::Boolean) => {
            ("bool value".to_owned(), format!(" orbgate_wire_set_boolean({place}, value); "))
        }
        (true, ValueType::Part(part)) => {
            let fields = &messages.find(part).fields;
            let parameters = fields.iter().map(|it| format!("const char *{0}, size_t {0}_len", it.name));
            let puts = fields.iter().map(|it| put(number, it)).collect::<String>();
            let body = format!(
                "\n    const size_t part = orbgate_wire_part({place});\n{puts}    orbgate_wire_end(to, part);\n"
            );
            (parameters.collect::<Vec<_>>().join(", "), body)
        }
        (list, ValueType::Text | ValueType::Kept | ValueType::Bytes) => {
            assert!(!field.optional, "only a part has a field that can be absent");
            let call = if list { "orbgate_wire_add" } else { "orbgate_wire_set" };
            ("const char *value, size_t len".to_owned(), format!(" {call}({place}, value, len); "))
        }
        _ => panic!("{} has a form that no question had yet", field.name),
    };
    let name = function(question, field, ["set", "add"]);
    format!(
        "/* {} */\nstatic inline void {name}(OrbgateQuestion *to, {parameters}){}{{{body}}}\n",
        field.about,
        if body.starts_with('\n') { '\n' } else { ' ' }
    )
}

/// Sets a field of a part of a question.
fn put(question: u32, field: &Field) -> String {
    let (number, name) = (field.number, field.name);
    assert!(matches!(field.kind, ValueType::Text | ValueType::Bytes) && !field.list, "{name}: only strings yet");
    let put = format!("(to, {question}u, {number}u, {name}, {name}_len);\n");
    match field.optional {
        true => format!("    if ({name} != NULL || {name}_len > 0) {{\n        orbgate_wire_add{put}    }}\n"),
        false => format!("    orbgate_wire_set{put}"),
    }
}

fn getters(messages: &Messages, message: &Message) -> String {
    let fields = message.fields.iter().map(|field| getter(messages, message, field));
    about(message) + &fields.collect::<String>() + "\n"
}

fn getter(messages: &Messages, message: &Message, field: &Field) -> String {
    let place = format!("from, {}u, {}u", messages.kind(message), field.number);
    let from = "const OrbgateMessage *from";
    let (kind, parameters, body) = match (field.list, field.kind) {
        (true, ValueType::Part(part)) => {
            let place = format!("from, {}u, {:#x}u", messages.kind(message), field.tag());
            let part = messages.kind(messages.find(part));
            ("bool ", format!("{from}, OrbgateMessage *to"), format!("orbgate_wire_next_part({place}, {part}u, to)"))
        }
        (false, ValueType::Part(part)) => {
            let part = messages.kind(messages.find(part));
            ("bool ", format!("{from}, OrbgateMessage *to"), format!("orbgate_wire_get_part({place}, {part}u, to)"))
        }
        (false, ValueType::Integer) => ("uint64_t ", from.to_owned(), format!("orbgate_wire_get_integer({place})")),
        (false, ValueType::Boolean) => ("bool ", from.to_owned(), format!("orbgate_wire_get({place}).data != NULL")),
        (false, _) => ("OrbgateStr ", from.to_owned(), format!("orbgate_wire_get({place})")),
        (true, _) => panic!("{} is a list of a kind that no answer had yet", field.name),
    };
    let name = function(message, field, ["get", "next"]);
    format!("/* {} */\nstatic inline {kind}{name}({parameters}) {{ return {body}; }}\n", field.about)
}
