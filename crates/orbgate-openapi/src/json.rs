//! JSON → values with their locations. Every value is a slice of the document, so its location is known.

use core::fmt;

use orbgate_yaml::{Content, Diagnostics, Entry, Keep, Location, Node, Scalar, refuse_duplicates};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::part::Part;

/// The parts of the document that are kept.
pub(super) fn parse<'a>(text: &'a str, diagnostics: &mut Diagnostics) -> Option<Node<'a>> {
    let mut reader = Reader { text, read: 0, location: Location::START, values: 0, diagnostics };
    match serde_json::from_str(text) {
        Ok(root) => reader.node(root, Some(Part::Root), 0),
        Err(error) => {
            let number = |number: usize| u32::try_from(number.max(1)).unwrap_or(u32::MAX);
            let location = Location { line: number(error.line()), column: number(error.column()) };
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let message = format!("a document that starts with `{{` is JSON, and here: {message}");
            reader.diagnostics.push(location, message);
            None
        }
    }
}

struct Reader<'a, 'f> {
    text: &'a str,
    /// The number of bytes before the location.
    read: usize,
    location: Location,
    values: usize,
    diagnostics: &'f mut Diagnostics,
}

impl<'a> Reader<'a, '_> {
    /// `None` if a limit is reached, which is an error.
    fn node(&mut self, raw: &'a RawValue, keep: Option<Part>, depth: usize) -> Option<Node<'a>> {
        let location = self.location_of(raw);
        let node = |kind| Some(Node { location, kind });
        let Some(keep) = keep else {
            return node(Content::Refused);
        };
        self.values = self.values.saturating_add(1);
        let limit = match () {
            () if depth > Part::DEPTH => Some(format!("nested too deeply: {} levels are the limit", Part::DEPTH)),
            () if self.values > Part::VALUES => Some(format!("too many values: {} are the limit", Part::VALUES)),
            () => None,
        };
        if let Some(message) = limit {
            self.diagnostics.push(location, message);
            return None;
        }
        let deeper = depth.saturating_add(1);
        match raw.get().as_bytes().first() {
            Some(b'{') => {
                let Entries(entries) = self.read(raw, location)?;
                let mut read = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let key_location = self.location_of(key);
                    let key = self.text(key, key_location)?;
                    let value = self.node(value, keep.of(&key.text), deeper)?;
                    read.push(Entry { key_location, key, value });
                }
                if keep.is_strict() {
                    refuse_duplicates(&read, self.diagnostics);
                }
                node(Content::Mapping(read))
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = self.read(raw, location)?;
                let items = items.into_iter().map(|item| self.node(item, keep.item(), deeper));
                let items = items.collect::<Option<_>>()?;
                node(Content::Sequence(items))
            }
            Some(b'"') => {
                let text = self.text(raw, location)?;
                node(Content::Scalar(text))
            }
            _ => node(Content::Scalar(Scalar { text: raw.get().into(), plain: true })),
        }
    }

    fn text(&mut self, raw: &'a RawValue, location: Location) -> Option<Scalar<'a>> {
        let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
        let text = match inner.contains('\\') {
            true => self.read::<String>(raw, location)?.into(),
            false => inner.into(),
        };
        Some(Scalar { text, plain: false })
    }

    /// Parses a value. A value that is invalid after all, such as half of a surrogate pair, is an error.
    fn read<T: Deserialize<'a>>(&mut self, raw: &'a RawValue, location: Location) -> Option<T> {
        let read = serde_json::from_str(raw.get());
        read.map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            self.diagnostics.push(location, format!("this is not valid JSON: {message}"));
        })
        .ok()
    }

    /// The start of a value. Call this in document order, so that every byte is counted only once.
    fn location_of(&mut self, raw: &RawValue) -> Location {
        let start = raw.get().as_ptr().addr();
        let start = start.saturating_sub(self.text.as_ptr().addr());
        let passed = self.text.get(self.read..start).unwrap_or_default();
        let line = self.location.line;
        let breaks = passed.bytes().filter(|byte| *byte == b'\n').count();
        let breaks = u32::try_from(breaks).unwrap_or(u32::MAX);
        let behind = passed.rsplit('\n').next().unwrap_or_default();
        let columns = u32::try_from(behind.chars().count()).unwrap_or(u32::MAX);
        let before = if breaks > 0 { 1 } else { self.location.column };
        self.location = Location { line: line.saturating_add(breaks), column: before.saturating_add(columns) };
        self.read = start.max(self.read);
        self.location
    }
}

/// The entries of an object in order, including duplicates.
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
