//! A document in YAML → its values with their places.
//!
//! The strict reader of policies refuses what documents may have, so this is another reader on the same parser. It
//! need not understand an alias or a value with a tag: the code that needs the value reports it.

use core::ops::ControlFlow;

use orbgate_yaml::{Bounded, Budget, Content, Entry, Faults, Node, Place, Scalar};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use super::keep::Keep;
use super::tree::{DEPTH, VALUES, too_deep, too_many_values};

/// The parts of the document that are kept.
pub(super) fn parse<'a>(text: &'a str, faults: &mut Faults) -> Option<Node<'a>> {
    let budget = Budget::new();
    let mut builder = Builder {
        open: Vec::new(),
        skipped: None,
        root: None,
        values: 0,
        documents: 0,
    };
    for step in Parser::new(Bounded::new(text, &budget)) {
        if budget.is_spent() {
            let start = match &step {
                Ok((_, span)) => span.start,
                Err(error) => *error.marker(),
            };
            let message = format!(
                "over {} commas and brackets in the value that starts here: write it in lines, or as JSON",
                Budget::MARKS
            );
            faults.push(place(&start), message);
            return None;
        }
        budget.renew();
        match step {
            Ok((event, span)) => {
                if builder.take(event, place(&span.start), faults).is_break() {
                    return None;
                }
            }
            // The parser has skipped an alias of an anchor that it has not seen.
            Err(error) if error.info().contains("unknown anchor") => {
                builder.value(place(error.marker()), Content::Refused);
            }
            Err(error) => {
                let message = format!("this is not valid YAML: {}", error.info());
                faults.push(place(error.marker()), message);
                return None;
            }
        }
    }
    if builder.root.is_none() {
        faults.push(Place::START, "the document is empty");
    }
    builder.root
}

fn place(marker: &Marker) -> Place {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Place {
        line: number(marker.line()),
        column: number(marker.col()).saturating_add(1),
    }
}

/// A collection whose end has not been read yet.
struct Open<'a> {
    place: Place,
    keep: Keep,
    so_far: SoFar<'a>,
}

enum SoFar<'a> {
    Sequence(Vec<Node<'a>>),
    /// Complete entries, and a key that still waits for its value.
    Mapping(Vec<Entry<'a>>, Option<(Place, Scalar<'a>)>),
}

struct Builder<'a> {
    open: Vec<Open<'a>>,
    /// The collection that is being skipped, and how many collections within it are open.
    skipped: Option<(Place, usize)>,
    root: Option<Node<'a>>,
    values: usize,
    documents: usize,
}

impl<'a> Builder<'a> {
    fn take(&mut self, event: Event<'a>, place: Place, faults: &mut Faults) -> ControlFlow<()> {
        if let Some((start, open)) = self.skipped {
            self.skip(&event, start, open);
            return ControlFlow::Continue(());
        }
        let fault = match event {
            Event::DocumentStart(_) => {
                self.documents = self.documents.saturating_add(1);
                let message = "a second document starts here: one is read";
                (self.documents > 1).then(|| message.to_owned())
            }
            Event::Alias(_) => self.value(place, Content::Refused),
            Event::Scalar(text, style, _, tag) => {
                let plain = style == ScalarStyle::Plain;
                let kind = match tag {
                    None => Content::Scalar(Scalar { text, plain }),
                    Some(_) => Content::Refused,
                };
                self.value(place, kind)
            }
            Event::SequenceStart(_, tag) => {
                self.start(place, tag.is_some(), SoFar::Sequence(Vec::new()))
            }
            Event::MappingStart(_, tag) => {
                self.start(place, tag.is_some(), SoFar::Mapping(Vec::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    let kind = match open.so_far {
                        SoFar::Sequence(items) => Content::Sequence(items),
                        SoFar::Mapping(entries, _) => Content::Mapping(entries),
                    };
                    self.value(open.place, kind)
                }
                None => None,
            },
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => None,
        };
        match fault {
            None => ControlFlow::Continue(()),
            Some(message) => {
                faults.push(place, message);
                ControlFlow::Break(())
            }
        }
    }

    fn skip(&mut self, event: &Event<'_>, start: Place, open: usize) {
        let open = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => open.saturating_add(1),
            Event::SequenceEnd | Event::MappingEnd => open.saturating_sub(1),
            _ => open,
        };
        self.skipped = (open > 0).then_some((start, open));
        if open == 0 {
            self.value(start, Content::Refused);
        }
    }

    /// How much of the next value is kept.
    fn keep(&self) -> Keep {
        match self.open.last() {
            None => Keep::Root,
            Some(open) => match &open.so_far {
                SoFar::Sequence(_) => open.keep.item(),
                SoFar::Mapping(_, None) => Keep::All,
                SoFar::Mapping(_, Some((_, key))) => open.keep.of(&key.text),
            },
        }
    }

    /// Starts a collection; returns what is wrong with it.
    fn start(&mut self, place: Place, tagged: bool, so_far: SoFar<'a>) -> Option<String> {
        let keep = self.keep();
        if self.is_key() {
            return Some("a key must be text".to_owned());
        }
        if keep == Keep::Nothing || tagged {
            self.skipped = Some((place, 1));
            return None;
        }
        if self.open.len() >= DEPTH {
            return Some(too_deep());
        }
        self.open.push(Open {
            place,
            keep,
            so_far,
        });
        None
    }

    fn is_key(&self) -> bool {
        let innermost = self.open.last().map(|open| &open.so_far);
        matches!(innermost, Some(SoFar::Mapping(_, None)))
    }

    /// Puts a complete value where it belongs; returns what is wrong with it.
    fn value(&mut self, place: Place, kind: Content<'a>) -> Option<String> {
        self.values = self.values.saturating_add(1);
        if self.values > VALUES {
            return Some(too_many_values());
        }
        let keep = self.keep();
        let kind = match keep {
            Keep::Nothing => Content::Refused,
            _ => kind,
        };
        match self.open.last_mut().map(|open| &mut open.so_far) {
            None => self.root = Some(Node { place, kind }),
            Some(SoFar::Sequence(items)) => items.push(Node { place, kind }),
            Some(SoFar::Mapping(entries, key)) => match (key.take(), kind) {
                (Some((key_place, key)), kind) => entries.push(Entry {
                    key_place,
                    key,
                    value: Node { place, kind },
                }),
                (None, Content::Scalar(text)) => *key = Some((place, text)),
                (None, _) => return Some("a key must be text".to_owned()),
            },
        }
        None
    }
}
