//! The messages of gates, as `shapes.txt` has them.

use crate::table;

pub(crate) struct Message {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) role: Role,
    pub(crate) fields: Vec<Field>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A host writes it, the library reads it.
    Question(u32),
    /// The library writes it, a host reads it.
    Answer(u32),
    /// A part of questions or of answers.
    Part,
}

pub(crate) struct Field {
    pub(crate) number: u32,
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) kind: ValueType,
    /// A host that doesn't know it must deny.
    pub(crate) critical: bool,
    /// It can be absent, which isn't the same as empty.
    pub(crate) optional: bool,
    pub(crate) list: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueType {
    Integer,
    Boolean,
    Text,
    /// A text that answer after answer has, so that a reader may keep it.
    Kept,
    Bytes,
    Part(&'static str),
}

pub(crate) struct Messages(pub(crate) Vec<Message>);

impl Messages {
    pub(crate) fn read() -> Self {
        let mut messages = Vec::<Message>::new();
        for line in table::messages() {
            table::read(line, |line| {
                if let Some(field) = line.strip_prefix("  ") {
                    messages.last_mut()?.fields.push(Field::read(field)?);
                    return Some(());
                }
                let (head, about) = line.split_once(": ")?;
                let (role, name) = match head.split(' ').collect::<Vec<_>>()[..] {
                    [">", number, name] => (Role::Question(number.parse().ok()?), name),
                    ["<", number, name] => (Role::Answer(number.parse().ok()?), name),
                    [name] => (Role::Part, name),
                    _ => return None,
                };
                messages.push(Message { name, about, role, fields: Vec::new() });
                Some(())
            });
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

    pub(crate) fn find(&self, name: &str) -> &Message {
        self.0.iter().find(|message| message.name == name).unwrap_or_else(|| panic!("there is no message {name}"))
    }

    /// Whether hosts write it.
    pub(crate) fn is_given(&self, message: &Message) -> bool {
        self.is_in(message, |role| matches!(role, Role::Question(_)))
    }

    /// Whether hosts read it.
    pub(crate) fn is_answered(&self, message: &Message) -> bool {
        self.is_in(message, |role| matches!(role, Role::Answer(_)))
    }

    fn is_in(&self, message: &Message, is_meant: fn(Role) -> bool) -> bool {
        let has = |other: &&Message| other.fields.iter().any(|field| field.kind == ValueType::Part(message.name));
        is_meant(message.role) || self.0.iter().filter(has).any(|other| self.is_in(other, is_meant))
    }

    pub(crate) fn questions(&self) -> impl Iterator<Item = (u32, &Message)> {
        self.0.iter().filter_map(|message| match message.role {
            Role::Question(number) => Some((number, message)),
            _ => None,
        })
    }

    pub(crate) fn answers(&self) -> impl Iterator<Item = (u32, &Message)> {
        self.0.iter().filter_map(|message| match message.role {
            Role::Answer(number) => Some((number, message)),
            _ => None,
        })
    }
}

impl Message {
    pub(crate) const fn number(&self) -> Option<u32> {
        match self.role {
            Role::Question(number) | Role::Answer(number) => Some(number),
            Role::Part => None,
        }
    }
}

impl Field {
    fn read(line: &'static str) -> Option<Self> {
        let (head, rest) = line.split_once(": ")?;
        let (kind, about) = rest.split_once(": ")?;
        let (number, name) = head.split_once(' ')?;
        let inner = kind.trim_matches(['[', ']']);
        Some(Self {
            number: number.trim_end_matches('!').parse().ok()?,
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
        })
    }

    /// Its number on the wire.
    pub(crate) const fn tag(&self) -> u32 {
        self.number | if self.critical { 1 << 31 } else { 0 }
    }
}
