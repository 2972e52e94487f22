//! The first reading: YAML text → a tree in which every value knows its place.
//!
//! Everything that makes YAML mean more than it shows is refused here: aliases, anchors, tags,
//! merge keys, duplicate keys, several documents. Nothing is ever expanded; depth, the number of faults, and the number
//! of values for so long a text are bounded, so a hostile file costs no more than an honest one.

use core::ops::ControlFlow;
use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use crate::faults::{Faults, first_place, quoted};
use crate::format::Format;
use crate::input::{Bounded, Budget};
use crate::node::{Content, Entry, Node, Scalar};
use crate::place::Place;
use crate::syntax::{self, place};

/// Collections within collections; the deepest valid file has seven.
pub(super) const DEPTH: usize = 8;
/// A text of any length may have this many values …
const FREE_VALUES: usize = 10_000;
/// … and a longer one as many as it has this number of characters.
const CHARACTERS_A_VALUE: usize = 4;

/// The tree of the text's only document; `None` where the text has none that can be walked.
pub(super) fn parse<'a>(
    text: &'a str,
    format: &'a Format,
    faults: &mut Faults,
) -> Option<Node<'a>> {
    let budget = Budget::new();
    let mut builder = Builder {
        text,
        is_ascii: text.is_ascii(),
        format,
        open: Vec::new(),
        root: None,
        values: 0,
        documents: 0,
        last_plain: None,
    };
    for step in Parser::new(Bounded::new(text, &budget)) {
        if budget.is_spent() {
            // The text was cut short, so the parser's error about it does not count.
            let start = match &step {
                Ok((_, span)) => span.start,
                Err(error) => *error.marker(),
            };
            faults.push(place(&start), builder.too_many_marks());
            return None;
        }
        budget.renew();
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
    /// Complete entries, and a key that still waits for its value.
    Mapping(Vec<Entry<'a>>, Option<Node<'a>>),
}

struct Builder<'a> {
    text: &'a str,
    /// Whether a character's number is its byte's.
    is_ascii: bool,
    format: &'a Format,
    open: Vec<Open<'a>>,
    root: Option<Node<'a>>,
    values: usize,
    documents: usize,
    /// Where the last plain text was, for the diagnostic of a text with braces.
    last_plain: Option<Span>,
}

impl<'a> Builder<'a> {
    fn take(&mut self, event: Event<'a>, span: Span, faults: &mut Faults) -> ControlFlow<()> {
        let place = place(&span.start);
        self.count(&event, &span, faults)?;
        match event {
            Event::Alias(_) => {
                refuse_alias(place, faults);
                let kind = Content::Refused;
                self.close(Node { place, kind }, faults)
            }
            Event::Scalar(text, style, anchor, tag) => {
                refuse_properties(place, anchor, tag.is_some(), faults);
                let plain = style == ScalarStyle::Plain;
                let text = self.borrowed(text, style, &span);
                if plain && !text.is_empty() {
                    self.last_plain = Some(span);
                }
                let kind = Content::Scalar(Scalar { text, plain });
                self.close(Node { place, kind }, faults)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_properties(place, anchor, tag.is_some(), faults);
                self.start(&span, SoFar::Sequence(Vec::new()), faults)
            }
            Event::MappingStart(anchor, tag) => {
                refuse_properties(place, anchor, tag.is_some(), faults);
                self.start(&span, SoFar::Mapping(Vec::new(), None), faults)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(faults),
            Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd => ControlFlow::Continue(()),
        }
    }

    /// Counts values and documents, and ends where one is too many.
    fn count(&mut self, event: &Event<'_>, span: &Span, faults: &mut Faults) -> ControlFlow<()> {
        let place = place(&span.start);
        match event {
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                self.values = self.values.saturating_add(1);
                if self.values > most_values(span.start.index()) {
                    faults.push(place, too_many_values());
                    return ControlFlow::Break(());
                }
            }
            Event::DocumentStart(_) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents > 1 {
                    let file = self.format.file;
                    let message = format!("a second document starts here: {file} is one document");
                    faults.push(place, message);
                    return ControlFlow::Break(());
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// The end of the innermost collection: it is complete.
    fn end(&mut self, faults: &mut Faults) -> ControlFlow<()> {
        let Some(Open { place, so_far, .. }) = self.open.pop() else {
            return ControlFlow::Break(());
        };
        let kind = match so_far {
            SoFar::Sequence(mut items) => {
                items.shrink_to_fit();
                Content::Sequence(items)
            }
            SoFar::Mapping(mut entries, _) => {
                entries.shrink_to_fit();
                refuse_duplicates(&entries, faults);
                Content::Mapping(entries)
            }
        };
        self.close(Node { place, kind }, faults)
    }

    fn too_many_marks(&self) -> String {
        let most = Budget::MARKS;
        // After the mark of a document a bracket cannot start a key.
        let or = match self.open.as_slice() {
            [] => ", or `---` and a space before it",
            _ => "",
        };
        format!(
            "over {most} commas and brackets in the value that starts here: write it in lines, without brackets{or}"
        )
    }

    /// A text, borrowed from the file where the file has it unescaped.
    fn borrowed(&self, text: Cow<'a, str>, style: ScalarStyle, span: &Span) -> Cow<'a, str> {
        let quote = match style {
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => 1,
            _ => 0,
        };
        let start = span.start.index().saturating_add(quote);
        let end = span.end.index().saturating_sub(quote);
        match self.text.get(start..end) {
            Some(written) if self.is_ascii && *written == *text => Cow::Borrowed(written),
            // The parser's texts have much spare room.
            _ => Cow::Owned(text.into_owned().into_boxed_str().into_string()),
        }
    }

    fn take_error(&mut self, error: &ScanError, faults: &mut Faults) -> ControlFlow<()> {
        let at = error.marker();
        if error.info().contains("unknown anchor") {
            // The parser has stepped over the alias, so the rest of the file can still be judged.
            refuse_alias(place(at), faults);
            return self.close(
                Node {
                    place: place(at),
                    kind: Content::Refused,
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
        match self.open.last_mut().map(|open| &mut open.so_far) {
            None => self.root = Some(node),
            Some(SoFar::Sequence(items)) => items.push(node),
            Some(SoFar::Mapping(entries, key)) => match key.take() {
                None => *key = Some(node),
                Some(key) => entries.extend(entry(key, node, faults)),
            },
        }
        ControlFlow::Continue(())
    }
}

/// How many values a text of this many characters may have.
pub(super) const fn most_values(characters: usize) -> usize {
    (characters / CHARACTERS_A_VALUE).saturating_add(FREE_VALUES)
}

fn too_many_values() -> String {
    format!(
        "too many values for so short a text: after the first {FREE_VALUES}, one in {CHARACTERS_A_VALUE} characters is the limit"
    )
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

/// A key and its value, unless the key cannot be one.
fn entry<'a>(key: Node<'a>, mut value: Node<'a>, faults: &mut Faults) -> Option<Entry<'a>> {
    match key.kind {
        Content::Scalar(text) if text.plain && text.text == "<<" => {
            faults.push(key.place, "a merge key is not allowed: write the keys here");
            None
        }
        Content::Scalar(text) => {
            // The parser puts an empty value after the colon or further on; people look at the key.
            if matches!(&value.kind, Content::Scalar(empty) if empty.plain && empty.text.is_empty())
                && !faults.stand_at(value.place)
            {
                value.place = key.place;
            }
            Some(Entry {
                key_place: key.place,
                key: text,
                value,
            })
        }
        Content::Sequence(_) | Content::Mapping(_) => {
            faults.push(key.place, "a key must be text");
            None
        }
        Content::Refused => None,
    }
}

/// Reports each entry whose key was already used in the same mapping.
fn refuse_duplicates(entries: &[Entry<'_>], faults: &mut Faults) {
    let mut sorted: Vec<&Entry<'_>> = entries.iter().collect();
    // Equal keys stay in the order of the file.
    sorted.sort_by(|one, other| one.key.text.cmp(&other.key.text));
    for alike in sorted.chunk_by(|one, other| one.key.text == other.key.text) {
        let [first, others @ ..] = alike else {
            continue;
        };
        for entry in others {
            let first = first_place(first.key_place, entry.key_place);
            let message = format!(
                "duplicate key {} (first on {first})",
                quoted(&entry.key.text)
            );
            faults.push(entry.key_place, message);
        }
    }
}
