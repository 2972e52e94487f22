//! The first reading: YAML text → a tree in which every value knows its place.
//!
//! Everything that makes YAML mean more than it shows is refused here: aliases, anchors, tags,
//! merge keys, duplicate keys, several documents. Nothing is ever expanded, and depth, size and the
//! number of faults are bounded, so a hostile file costs no more than an honest one.

use core::ops::ControlFlow;
use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span};

use super::fault::Place;
use super::faults::{Faults, is_hidden, quoted};

/// A larger text is not looked at.
const TEXT_BYTES: usize = 8 * 1024 * 1024;
/// Collections within collections; the deepest sound policy has seven.
const DEPTH: usize = 8;
/// 200,000 routes in their longest form are a million values.
const NODES: usize = 2_000_000;

/// A value of the file.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) place: Place,
    pub(super) kind: Kind<'a>,
}

#[derive(Debug)]
pub(super) enum Kind<'a> {
    Scalar(Scalar<'a>),
    Sequence(Vec<Node<'a>>),
    Mapping(Vec<Entry<'a>>),
    /// Already reported; says nothing about what was meant.
    Refused,
}

/// Text, and whether it was written plain: without quotes, and not as a block.
#[derive(Debug)]
pub(super) struct Scalar<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) plain: bool,
}

/// One `key: value`.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) key_place: Place,
    pub(super) key: Scalar<'a>,
    pub(super) value: Node<'a>,
}

/// The text without its byte-order mark, if it is small enough to be read at all.
pub(super) fn within_limits<'a>(text: &'a str, faults: &mut Faults) -> Option<&'a str> {
    if text.len() > TEXT_BYTES {
        let message = format!(
            "the file has {} bytes, and {TEXT_BYTES} is the limit",
            text.len()
        );
        faults.push(Place::START, message);
        return None;
    }
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The tree of the text's only document; `None` where the text has none that can be walked.
pub(super) fn parse<'a>(text: &'a str, faults: &mut Faults) -> Option<Node<'a>> {
    refuse_hidden_characters(text, faults);
    if faults.is_full() {
        return None;
    }
    let mut builder = Builder {
        text,
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
        faults.push(
            Place::START,
            "the file is empty: a policy starts with `orbgate: 1`",
        );
    }
    builder.root
}

fn refuse_hidden_characters(text: &str, faults: &mut Faults) {
    // Line ends as the parser counts them: LF, CR LF, and a lone CR.
    let mut place = Place::START;
    let mut after_return = false;
    for c in text.chars() {
        if is_hidden(c) {
            faults.push(
                place,
                format!(
                    "character U+{:04X} is not allowed in a policy file",
                    u32::from(c)
                ),
            );
            if faults.is_full() {
                return;
            }
        }
        if c == '\r' || (c == '\n' && !after_return) {
            place = Place {
                line: place.line.saturating_add(1),
                column: 1,
            };
        } else if c != '\n' {
            place.column = place.column.saturating_add(1);
        }
        after_return = c == '\r';
    }
}

/// A collection whose end has not been read yet.
enum Open<'a> {
    Sequence(Place, Vec<Node<'a>>),
    Mapping {
        place: Place,
        pairs: Vec<(Node<'a>, Node<'a>)>,
        key: Option<Node<'a>>,
    },
}

struct Builder<'a> {
    text: &'a str,
    open: Vec<Open<'a>>,
    root: Option<Node<'a>>,
    nodes: usize,
    documents: usize,
    /// Where the last plain text stood, for the diagnostic of an unquoted template.
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
                        "a second document starts here: a policy file is one document",
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
                return self.start(Open::Sequence(place, Vec::new()), place, faults);
            }
            Event::MappingStart(anchor, tag) => {
                refuse_properties(place, anchor, tag.is_some(), faults);
                return self.start(
                    Open::Mapping {
                        place,
                        pairs: Vec::new(),
                        key: None,
                    },
                    place,
                    faults,
                );
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let node = match self.open.pop() {
                    Some(Open::Sequence(place, items)) => Node {
                        place,
                        kind: Kind::Sequence(items),
                    },
                    Some(Open::Mapping { place, pairs, .. }) => Node {
                        place,
                        kind: Kind::Mapping(entries(pairs, faults)),
                    },
                    None => return ControlFlow::Break(()),
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
        match self.unquoted_template(at) {
            Some((template_place, message)) => faults.push(template_place, message),
            None => faults.push(
                place(at),
                format!("not readable as YAML: {}", in_our_style(error.info())),
            ),
        }
        ControlFlow::Break(())
    }

    fn start(
        &mut self,
        collection: Open<'a>,
        place: Place,
        faults: &mut Faults,
    ) -> ControlFlow<()> {
        if self.open.len() >= DEPTH {
            faults.push(
                place,
                format!("nested too deeply: {DEPTH} levels are the limit"),
            );
            return ControlFlow::Break(());
        }
        self.open.push(collection);
        ControlFlow::Continue(())
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
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Sequence(_, items)) => items.push(node),
            Some(Open::Mapping { pairs, key, .. }) => match key.take() {
                None => *key = Some(node),
                Some(key) => pairs.push((key, node)),
            },
        }
        ControlFlow::Continue(())
    }

    /// In flow style an unquoted `{` ends the text before it. People run into this with templates,
    /// and the parser's own words do not help them.
    fn unquoted_template(&self, at: &Marker) -> Option<(Place, String)> {
        let span = self.last_plain?;
        let gap = at.index().checked_sub(span.end.index())?;
        let mut tail = self.text.chars().skip(span.start.index());
        let plain: String = tail.by_ref().take(span.len()).collect();
        if !tail.by_ref().take(gap).all(char::is_whitespace) {
            return None;
        }
        // Up to what ends an item in flow style; a brace that was opened belongs to the template.
        let mut braces = 0_u32;
        let rest: String = tail
            .take_while(|c| {
                match c {
                    '{' => braces = braces.saturating_add(1),
                    '}' if braces == 0 => return false,
                    '}' => braces = braces.saturating_sub(1),
                    ',' | ']' | '\n' | '\r' | '#' => return false,
                    _ => {}
                }
                true
            })
            .collect();
        if !rest.starts_with('{') {
            return None;
        }
        let whole = format!("{plain}{rest}");
        let whole = whole.trim_end();
        let message = format!(
            "in flow style a template with braces must be quoted: write {}",
            quoted(&format!("'{whole}'"))
        );
        Some((place(&span.start), message))
    }
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
    let mut first_lines: HashMap<&str, u32> = HashMap::with_capacity(sound.len());
    for entry in &sound {
        let key = entry.key.text.as_ref();
        if let Some(line) = first_lines.get(key) {
            faults.push(
                entry.key_place,
                format!("duplicate key {} (first on line {line})", quoted(key)),
            );
        } else {
            first_lines.insert(key, entry.key_place.line);
        }
    }
    sound
}

/// The parser's words, with its one odd pair of quotes made ours.
fn in_our_style(info: &str) -> String {
    let quote_is_open = info.contains('`');
    let info = if quote_is_open {
        info.replace('\'', "`")
    } else {
        info.to_owned()
    };
    info.trim_end_matches('.').to_owned()
}

fn place(marker: &Marker) -> Place {
    Place {
        line: u32::try_from(marker.line()).unwrap_or(u32::MAX),
        column: u32::try_from(marker.col())
            .unwrap_or(u32::MAX)
            .saturating_add(1),
    }
}
