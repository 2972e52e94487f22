//! A document in JSON → its values with their places. Every value is a slice of the text, so its place is known.

use core::fmt;

use orbgate_yaml::{Content, Entry, Faults, Keep, Node, Place, Scalar, refuse_duplicates};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::keep::Part;

/// The parts of the document that are kept.
pub(super) fn parse<'a>(text: &'a str, faults: &mut Faults) -> Option<Node<'a>> {
    let mut reader = Reader {
        text,
        read: 0,
        place: Place::START,
        values: 0,
        faults,
    };
    match serde_json::from_str(text) {
        Ok(root) => reader.node(root, Some(Part::Root), 0),
        Err(error) => {
            let number = |number: usize| u32::try_from(number.max(1)).unwrap_or(u32::MAX);
            let place = Place {
                line: number(error.line()),
                column: number(error.column()),
            };
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let message = format!("a document that starts with `{{` is JSON, and here: {message}");
            reader.faults.push(place, message);
            None
        }
    }
}

struct Reader<'a, 'f> {
    text: &'a str,
    /// How many bytes of the text are before the place.
    read: usize,
    place: Place,
    values: usize,
    faults: &'f mut Faults,
}

impl<'a> Reader<'a, '_> {
    /// `None` where a limit is reached, which is a fault.
    fn node(&mut self, raw: &'a RawValue, keep: Option<Part>, depth: usize) -> Option<Node<'a>> {
        let place = self.place_of(raw);
        let node = |kind| Some(Node { place, kind });
        let Some(keep) = keep else {
            return node(Content::Refused);
        };
        self.values = self.values.saturating_add(1);
        let limit = match () {
            () if depth > Part::DEPTH => Some(format!(
                "nested too deeply: {} levels are the limit",
                Part::DEPTH
            )),
            () if self.values > Part::VALUES => {
                Some(format!("too many values: {} are the limit", Part::VALUES))
            }
            () => None,
        };
        if let Some(message) = limit {
            self.faults.push(place, message);
            return None;
        }
        let deeper = depth.saturating_add(1);
        match raw.get().as_bytes().first() {
            Some(b'{') => {
                let Entries(entries) = self.read(raw, place)?;
                let mut read = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let key_place = self.place_of(key);
                    let key = self.text(key, key_place)?;
                    let keep = keep.of(&key.text);
                    let value = self.node(value, keep, deeper)?;
                    read.push(Entry {
                        key_place,
                        key,
                        value,
                    });
                }
                refuse_duplicates(&read, self.faults);
                node(Content::Mapping(read))
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = self.read(raw, place)?;
                let items = items
                    .into_iter()
                    .map(|item| self.node(item, keep.item(), deeper));
                let items = items.collect::<Option<_>>()?;
                node(Content::Sequence(items))
            }
            Some(b'"') => {
                let text = self.text(raw, place)?;
                node(Content::Scalar(text))
            }
            _ => node(Content::Scalar(Scalar {
                text: raw.get().into(),
                plain: true,
            })),
        }
    }

    fn text(&mut self, raw: &'a RawValue, place: Place) -> Option<Scalar<'a>> {
        let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
        let text = match inner.contains('\\') {
            true => self.read::<String>(raw, place)?.into(),
            false => inner.into(),
        };
        Some(Scalar { text, plain: false })
    }

    /// What a value says; one that cannot be read after all, such as half of a surrogate pair, is a fault.
    fn read<T: Deserialize<'a>>(&mut self, raw: &'a RawValue, place: Place) -> Option<T> {
        let read = serde_json::from_str(raw.get());
        read.map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            self.faults
                .push(place, format!("this is not valid JSON: {message}"));
        })
        .ok()
    }

    /// Where a value starts. Values are asked for in the order of the text, so every byte is counted once.
    fn place_of(&mut self, raw: &RawValue) -> Place {
        let start = raw.get().as_ptr().addr();
        let start = start.saturating_sub(self.text.as_ptr().addr());
        let passed = self.text.get(self.read..start).unwrap_or_default();
        let line = self.place.line;
        let breaks = passed.bytes().filter(|byte| *byte == b'\n').count();
        let breaks = u32::try_from(breaks).unwrap_or(u32::MAX);
        let behind = passed.rsplit('\n').next().unwrap_or_default();
        let columns = u32::try_from(behind.chars().count()).unwrap_or(u32::MAX);
        let before = if breaks > 0 { 1 } else { self.place.column };
        self.place = Place {
            line: line.saturating_add(breaks),
            column: before.saturating_add(columns),
        };
        self.read = start.max(self.read);
        self.place
    }
}

/// The entries of an object in their order, none lost.
struct Entries<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}
