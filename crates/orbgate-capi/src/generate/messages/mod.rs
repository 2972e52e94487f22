//! The messages of gates, as `shapes.txt` has them, in every language, and the list of their numbers, which only grows.

mod c;
mod c_fields;
mod cpp;
mod go;
mod hostile;
mod java;
mod node;
mod reference;
mod rust;

pub(super) use self::c::lower;

use super::committed::{compare, compare_section};

/// What a comment of each made file says.
const MADE: &str = "Made of crates/orbgate-capi/src/generate/shapes.txt by `cargo xtask codes`; not to be edited.";

struct Message {
    name: &'static str,
    about: &'static str,
    role: Role,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A host writes it, the library reads it.
    Question(u32),
    /// The library writes it, a host reads it.
    Answer(u32),
    /// A part of questions or of answers.
    Part,
}

struct Field {
    number: u32,
    name: &'static str,
    about: &'static str,
    kind: ValueType,
    /// A host that doesn't know it must deny.
    critical: bool,
    /// It can be absent, which isn't the same as empty.
    optional: bool,
    list: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueType {
    Integer,
    Boolean,
    Text,
    /// A text that answer after answer has, so that a reader may keep it.
    Kept,
    Bytes,
    Part(&'static str),
}

struct Messages(Vec<Message>);

impl Messages {
    fn read() -> Self {
        let (_, lines) = include_str!("../shapes.txt").split_once("\n== Messages\n").unwrap();
        let mut messages = Vec::<Message>::new();
        for line in lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(field) = line.strip_prefix("  ") {
                messages.last_mut().unwrap().fields.push(Field::read(field));
                continue;
            }
            let (head, about) = line.split_once(": ").unwrap();
            let (role, name) = match head.split(' ').collect::<Vec<_>>()[..] {
                [">", number, name] => (Role::Question(number.parse().unwrap()), name),
                ["<", number, name] => (Role::Answer(number.parse().unwrap()), name),
                [name] => (Role::Part, name),
                _ => panic!("{line}"),
            };
            messages.push(Message { name, about, role, fields: Vec::new() });
        }
        let messages = Self(messages);
        messages.check();
        messages
    }

    /// Each number once, each part in use, and a critical field only where a host reads it.
    fn check(&self) {
        let mut numbers: Vec<_> = self.0.iter().filter_map(Message::number).collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "a number is used twice");
        for message in &self.0 {
            let numbers: Vec<_> = message.fields.iter().map(|field| field.number).collect();
            assert!(numbers.is_sorted_by(|one, two| one < two), "{}", message.name);
            // Readers have a bit for each field.
            assert!(numbers.iter().all(|number| (1..32).contains(number)), "{}", message.name);
            assert!(self.is_given(message) != self.is_answered(message), "{}", message.name);
            assert!(
                message.fields.iter().all(|field| !field.critical || self.is_answered(message)),
                "{}",
                message.name
            );
            assert!(message.fields.iter().all(|field| !(field.list && field.optional)), "{}", message.name);
            assert!(message.about.ends_with('.') && message.fields.iter().all(|field| field.about.ends_with('.')));
        }
    }

    fn find(&self, name: &str) -> &Message {
        self.0.iter().find(|message| message.name == name).unwrap_or_else(|| panic!("there is no message {name}"))
    }

    /// Whether hosts write it.
    fn is_given(&self, message: &Message) -> bool {
        self.is_in(message, |role| matches!(role, Role::Question(_)))
    }

    /// Whether hosts read it.
    fn is_answered(&self, message: &Message) -> bool {
        self.is_in(message, |role| matches!(role, Role::Answer(_)))
    }

    fn is_in(&self, message: &Message, is_meant: fn(Role) -> bool) -> bool {
        let has = |other: &&Message| other.fields.iter().any(|field| field.kind == ValueType::Part(message.name));
        is_meant(message.role) || self.0.iter().filter(has).any(|other| self.is_in(other, is_meant))
    }

    fn questions(&self) -> impl Iterator<Item = (u32, &Message)> {
        self.0.iter().filter_map(|message| match message.role {
            Role::Question(number) => Some((number, message)),
            _ => None,
        })
    }

    fn answers(&self) -> impl Iterator<Item = (u32, &Message)> {
        self.0.iter().filter_map(|message| match message.role {
            Role::Answer(number) => Some((number, message)),
            _ => None,
        })
    }
}

impl Message {
    const fn number(&self) -> Option<u32> {
        match self.role {
            Role::Question(number) | Role::Answer(number) => Some(number),
            Role::Part => None,
        }
    }
}

impl Field {
    fn read(line: &'static str) -> Self {
        let (head, rest) = line.split_once(": ").unwrap();
        let (kind, about) = rest.split_once(": ").unwrap();
        let (number, name) = head.split_once(' ').unwrap();
        let inner = kind.trim_matches(['[', ']']);
        Self {
            number: number.trim_end_matches('!').parse().unwrap(),
            name: name.trim_end_matches('?'),
            about,
            kind: match inner {
                "integer" => ValueType::Integer,
                "boolean" => ValueType::Boolean,
                "string" => ValueType::Text,
                "kept" => ValueType::Kept,
                "bytes" => ValueType::Bytes,
                part => ValueType::Part(part),
            },
            critical: number.ends_with('!'),
            optional: name.ends_with('?'),
            list: kind.starts_with('['),
        }
    }

    /// Its number on the wire.
    const fn tag(&self) -> u32 {
        self.number | if self.critical { 1 << 31 } else { 0 }
    }
}

#[test]
fn every_language_has_the_messages() {
    let messages = Messages::read();
    compare("crates/orbgate-capi/src/gate/messages.rs", &rust::module(&messages));
    compare("crates/orbgate-capi/messages.tsv", &reference::numbers(&messages));
    compare("docs/messages.md", &reference::page(&messages));
    compare("bindings/c/include/orbgate_gate.h", &c::header(&messages));
    compare("bindings/go/orbgate/internal/steps/messages.go", &go::messages(&messages));
    for (message, section) in [("Answer", "answer"), ("Token", "token")] {
        let [fields, values] = go::public(messages.find(message));
        compare_section("bindings/go/orbgate/gate/gate.go", section, &fields);
        compare_section("bindings/go/orbgate/gate/gate.go", &format!("{section} values"), &values);
    }
    let [options, set] = cpp::options(messages.find("Make"));
    let [status, read] = cpp::structure(messages.find("IssuerStatus"));
    for (section, text) in [
        ("options", &options),
        ("set options", &set),
        ("answer", &cpp::answer(messages.find("Answer"), "message()")),
        ("token", &cpp::answer(messages.find("Token"), "token()")),
        ("issuer status", &status),
        ("read issuer status", &read),
    ] {
        compare_section("bindings/cpp/include/orbgate_gate.hpp", section, text);
    }
    compare("bindings/node/lib/gate/messages.js", &node::messages(&messages));
    for (message, section, file) in
        [("Answer", "answer", "answer"), ("Token", "token", "answer"), ("IssuerStatus", "issuer", "keys")]
    {
        let [types, values] = node::public(messages.find(message));
        compare_section("bindings/node/gate.d.ts", section, &types);
        compare_section(&format!("bindings/node/lib/gate/{file}.js"), &format!("{section} values"), &values);
    }
    let java = "bindings/java/src/main/java/io/github/orbgate";
    compare(&format!("{java}/Messages.java"), &java::messages(&messages));
    for (message, record) in [("Answer", "Answer"), ("Token", "BearerToken"), ("IssuerStatus", "IssuerKeys")] {
        let sections = ["descriptions", "parameters", "values"].into_iter().zip(java::public(messages.find(message)));
        for (section, lines) in sections {
            compare_section(&format!("{java}/{record}.java"), section, &lines);
        }
    }
    compare("crates/orbgate-capi/testdata/answers.tsv", &hostile::rows(&messages));
}
