//! The first reading: YAML text → a tree in which every value knows its place.
//!
//! Everything that makes YAML mean more than it shows is refused here: aliases, anchors, tags,
//! merge keys, duplicate keys, several documents. Nothing is ever expanded, and depth, size and the
//! number of faults are bounded, so a hostile file costs no more than an honest one.

use core::ops::ControlFlow;
use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use crate::faults::{Faults, first_place, quoted};
use crate::format::Format;
use crate::place::Place;
use crate::syntax::{self, place};

/// Collections within collections; the deepest sound file has seven.
const DEPTH: usize = 8;
/// More values than any file of the largest size needs.
const NODES: usize = 2_000_000;

/// A value of the file.
#[derive(Debug)]
pub struct Node<'a> {
    /// Where it starts.
    pub place: Place,
    /// What it is.
    pub kind: Kind<'a>,
}

/// What a value is, as far as YAML tells.
#[derive(Debug)]
pub enum Kind<'a> {
    /// Text, a number, nothing: it depends on who reads it.
    Scalar(Scalar<'a>),
    /// A list.
    Sequence(Vec<Node<'a>>),
    /// Keys and their values, in the order of the file.
    Mapping(Vec<Entry<'a>>),
    /// Already reported; says nothing about what was meant.
    Refused,
}

/// Text, and whether it was written plain: without quotes, and not as a block.
#[derive(Debug)]
pub struct Scalar<'a> {
    /// The text, without quotes and escapes.
    pub text: Cow<'a, str>,
    /// Whether it was written plain.
    pub plain: bool,
}

/// One `key: value`.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Where the key starts.
    pub key_place: Place,
    /// The key.
    pub key: Scalar<'a>,
    /// Its value.
    pub value: Node<'a>,
}

/// The tree of the text's only document; `None` where the text has none that can be walked.
pub(super) fn parse<'a>(
    text: &'a str,
    format: &'a Format,
    faults: &mut Faults,
) -> Option<Node<'a>> {
    let mut builder = Builder {
        text,
        format,
        open: Vec::new(),
        root: None,
        nodes: 0,
        documents: 0,
        last_plain: None,
    };
    for step in Parser::new_from_str(text) {
        let flow = match step {
            Ok((event, span)) => builder.take(event, span, faults),
            Err(error) => builder.take_error(&error, faults),
        };
        if flow.is_break() || faults.is_full() {
            return None;
        }
    }
    if builder.root.is_none() {
        faults.push(Place::START, format!("the file is empty: {}", format.start));
    }
    builder.root
}

/// A collection whose end has not been read yet.
struct Open<'a> {
    place: Place,
    /// Whether it is written in brackets or braces.
    flow: bool,
    so_far: SoFar<'a>,
}

enum SoFar<'a> {
    Sequence(Vec<Node<'a>>),
    /// Complete pairs, and a key that still waits for its value.
    Mapping(Vec<(Node<'a>, Node<'a>)>, Option<Node<'a>>),
}

struct Builder<'a> {
    text: &'a str,
    format: &'a Format,
    open: Vec<Open<'a>>,
    root: Option<Node<'a>>,
    nodes: usize,
    documents: usize,
    /// Where the last plain text stood, for the diagnostic of a text with braces.
    last_plain: Option<Span>,
}

impl<'a> Builder<'a> {
    fn take(&mut self, event: Event<'a>, span: Span, faults: &mut Faults) -> ControlFlow<()> {
        let place = place(&span.start);
        match event {
            Event::DocumentStart(_) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents > 1 {
                    faults.push(
                        place,
                        format!(
                            "a second document starts here: {} is one document",
                            self.format.file
                        ),
                    );
                    return ControlFlow::Break(());
                }
            }
            Event::Alias(_) => {
                refuse_alias(place, faults);
                return self.close(
                    Node {
                        place,
                        kind: Kind::Refused,
                    },
                    faults,
                );
            }
            Event::Scalar(text, style, anchor, tag) => {
                refuse_properties(place, anchor, tag.is_some(), faults);
                let plain = style == ScalarStyle::Plain;
                if plain && !text.is_empty() {
                    self.last_plain = Some(span);
                }
                return self.close(
                    Node {
                        place,
                        kind: Kind::Scalar(Scalar { text, plain }),
                    },
                    faults,
                );
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_properties(place, anchor, tag.is_some(), faults);
                return self.start(&span, SoFar::Sequence(Vec::new()), faults);
            }
            Event::MappingStart(anchor, tag) => {
                refuse_properties(place, anchor, tag.is_some(), faults);
                return self.start(&span, SoFar::Mapping(Vec::new(), None), faults);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else {
                    return ControlFlow::Break(());
                };
                let kind = match open.so_far {
                    SoFar::Sequence(items) => Kind::Sequence(items),
                    SoFar::Mapping(pairs, _) => Kind::Mapping(entries(pairs, faults)),
                };
                let node = Node {
                    place: open.place,
                    kind,
                };
                return self.close(node, faults);
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        ControlFlow::Continue(())
    }

    fn take_error(&mut self, error: &ScanError, faults: &mut Faults) -> ControlFlow<()> {
        let at = error.marker();
        if error.info().contains("unknown anchor") {
            // The parser has stepped over the alias, so the rest of the file can still be judged.
            refuse_alias(place(at), faults);
            return self.close(
                Node {
                    place: place(at),
                    kind: Kind::Refused,
                },
                faults,
            );
        }
        let (place, message) = match error.info() {
            info if info.contains("recursion limit") => (place(at), too_deep()),
            _ => syntax::diagnosis(
                error,
                self.text,
                self.format,
                self.last_plain,
                self.open_flow(),
            ),
        };
        faults.push(place, message);
        ControlFlow::Break(())
    }

    fn start(&mut self, span: &Span, so_far: SoFar<'a>, faults: &mut Faults) -> ControlFlow<()> {
        let place = place(&span.start);
        if self.open.len() >= DEPTH {
            faults.push(place, too_deep());
            return ControlFlow::Break(());
        }
        // A bracket takes up room, the start of a block does not.
        let flow = span.end.index() > span.start.index();
        self.open.push(Open {
            place,
            flow,
            so_far,
        });
        ControlFlow::Continue(())
    }

    /// Where the innermost collection in brackets or braces starts; everything within is in flow style.
    fn open_flow(&self) -> Option<Place> {
        let innermost = self.open.iter().rev().find(|open| open.flow);
        innermost.map(|open| open.place)
    }

    /// Puts a complete value where it belongs.
    fn close(&mut self, node: Node<'a>, faults: &mut Faults) -> ControlFlow<()> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > NODES {
            faults.push(
                node.place,
                format!("too many values: {NODES} are the limit"),
            );
            return ControlFlow::Break(());
        }
        match self.open.last_mut().map(|open| &mut open.so_far) {
            None => self.root = Some(node),
            Some(SoFar::Sequence(items)) => items.push(node),
            Some(SoFar::Mapping(pairs, key)) => match key.take() {
                None => *key = Some(node),
                Some(key) => pairs.push((key, node)),
            },
        }
        ControlFlow::Continue(())
    }
}

fn too_deep() -> String {
    format!("nested too deeply: {DEPTH} levels are the limit")
}

fn refuse_alias(place: Place, faults: &mut Faults) {
    faults.push(place, "an alias is not allowed: write the value here");
}

fn refuse_properties(place: Place, anchor: usize, tagged: bool, faults: &mut Faults) {
    if anchor > 0 {
        faults.push(
            place,
            "an anchor is not allowed: nothing may refer to this value",
        );
    }
    if tagged {
        faults.push(
            place,
            "a tag is not allowed: the format fixes the kind of every value",
        );
    }
}

/// The entries of a mapping, without those whose key cannot be one.
fn entries<'a>(pairs: Vec<(Node<'a>, Node<'a>)>, faults: &mut Faults) -> Vec<Entry<'a>> {
    let mut sound = Vec::with_capacity(pairs.len());
    for (key, mut value) in pairs {
        match key.kind {
            Kind::Scalar(text) if text.plain && text.text == "<<" => {
                faults.push(key.place, "a merge key is not allowed: write the keys here");
            }
            Kind::Scalar(text) => {
                // The parser puts an empty value behind the colon or further; people look at the key.
                if matches!(&value.kind, Kind::Scalar(empty) if empty.plain && empty.text.is_empty())
                    && !faults.stand_at(value.place)
                {
                    value.place = key.place;
                }
                sound.push(Entry {
                    key_place: key.place,
                    key: text,
                    value,
                });
            }
            Kind::Sequence(_) | Kind::Mapping(_) => faults.push(key.place, "a key must be text"),
            Kind::Refused => {}
        }
    }
    let mut first: HashMap<&str, Place> = HashMap::with_capacity(sound.len());
    for entry in &sound {
        let key = entry.key.text.as_ref();
        if let Some(first) = first.get(key) {
            let first = first_place(*first, entry.key_place);
            let message = format!("duplicate key {} (first on {first})", quoted(key));
            faults.push(entry.key_place, message);
        } else {
            first.insert(key, entry.key_place);
        }
    }
    sound
}
