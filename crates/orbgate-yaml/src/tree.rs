//! YAML → a tree in which every value has its location. All YAML events are handled here.
//!
//! Our own files are read completely, and features that give YAML a hidden meaning are rejected, such as aliases,
//! anchors and tags. Of other programs' documents, only some parts are kept, and parts that need an alias or a tag
//! aren't understood. In both, merge keys, duplicate keys and multiple documents are rejected. Nothing is ever
//! expanded. Depth, the number of errors, and the number of values are bounded, so a hostile file costs no more than an
//! honest one.

use core::ops::ControlFlow;
use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use crate::conflict;
use crate::diagnostics::Diagnostics;
use crate::input::{Bounded, Budget};
use crate::keys::{entry, is_ordinary, refuse_duplicates};
use crate::node::{Content, Entry, Location, Node, Scalar};
use crate::syntax::{self, Format, location};

/// A file of any length can have this many values …
const FREE_VALUES: usize = 10_000;
/// … and a longer file one value for each group of this many characters.
const CHARACTERS_A_VALUE: usize = 4;

/// The tree of the file's only document; `None` if there is no readable document.
pub(super) fn parse<'a>(text: &'a str, format: &'a Format, diagnostics: &mut Diagnostics) -> Option<Node<'a>> {
    walk(text, Some(format), All, diagnostics)
}

/// The kept parts of another program's document; `None` if it can't be read. Parts that aren't kept are
/// [`Content::Refused`], and so are tagged values and aliases. Code that needs such a part reports it.
pub fn outline<'a, K: Keep>(text: &'a str, keep: K, diagnostics: &mut Diagnostics) -> Option<Node<'a>> {
    let root = walk(text, None, keep, diagnostics);
    conflict::name_markers(text, diagnostics);
    root
}

fn walk<'a, K: Keep>(
    text: &'a str,
    format: Option<&'a Format>,
    keep: K,
    diagnostics: &mut Diagnostics,
) -> Option<Node<'a>> {
    let budget = Budget::new();
    let mut builder = Builder {
        text,
        is_ascii: text.is_ascii(),
        format,
        keep,
        open: Vec::new(),
        skipped: None,
        root: None,
        values: 0,
        documents: 0,
        last_plain: None,
    };
    for step in Parser::new(Bounded::new(text, &budget)) {
        if budget.is_spent() {
            // The input was cut short, so the parser's error about that doesn't count.
            let start = match &step {
                Ok((_, span)) => span.start,
                Err(error) => *error.marker(),
            };
            diagnostics.push(location(&start), builder.too_many_marks());
            return None;
        }
        budget.renew();
        let flow = match step {
            Ok((event, _)) if builder.skips(&event) => ControlFlow::Continue(()),
            Ok((event, span)) => builder.take(event, span, diagnostics),
            Err(error) => builder.take_error(&error, diagnostics),
        };
        if flow.is_break() || diagnostics.is_full() {
            return None;
        }
    }
    if builder.root.is_none() {
        let message = match format {
            Some(format) => format!("the file is empty: {}", format.start),
            None => "the document is empty".to_owned(),
        };
        diagnostics.push(Location::START, message);
    }
    builder.root
}

/// A collection that hasn't ended yet.
struct Open<'a, K> {
    location: Location,
    keep: K,
    /// Whether it is written in brackets or braces.
    flow: bool,
    so_far: SoFar<'a>,
}

enum SoFar<'a> {
    Sequence(Vec<Node<'a>>),
    /// Complete entries, and a key whose value hasn't been read yet.
    Mapping(Vec<Entry<'a>>, Option<Node<'a>>),
}

struct Builder<'a, K> {
    text: &'a str,
    /// Whether each character is one byte.
    is_ascii: bool,
    /// The format of our own files; other programs' documents have none.
    format: Option<&'a Format>,
    keep: K,
    open: Vec<Open<'a, K>>,
    /// The collection that is being skipped, and the number of open collections within it.
    skipped: Option<(Location, usize)>,
    root: Option<Node<'a>>,
    values: usize,
    documents: usize,
    /// The location of the last plain string, for errors about strings with braces.
    last_plain: Option<Span>,
}

impl<'a, K: Keep> Builder<'a, K> {
    /// Whether an event is within a skipped collection.
    const fn skips(&mut self, event: &Event<'_>) -> bool {
        let Some((_, open)) = &mut self.skipped else {
            return false;
        };
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => *open = open.saturating_add(1),
            Event::SequenceEnd | Event::MappingEnd => *open = open.saturating_sub(1),
            _ => {}
        }
        *open > 0
    }

    fn take(&mut self, event: Event<'a>, span: Span, diagnostics: &mut Diagnostics) -> ControlFlow<()> {
        if let Some((location, _)) = self.skipped.take() {
            return self.close(location, Content::Refused, diagnostics);
        }
        let location = location(&span.start);
        self.count(&event, &span, diagnostics)?;
        match event {
            Event::Alias(_) => {
                self.refuse_alias(location, diagnostics);
                self.close(location, Content::Refused, diagnostics)
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_properties(location, anchor, tag.is_some(), diagnostics);
                if self.next_keep().is_none() || self.is_foreign(tag.is_some()) {
                    return self.close(location, Content::Refused, diagnostics);
                }
                let plain = style == ScalarStyle::Plain;
                let text = self.borrowed(text, style, &span);
                if plain && !text.is_empty() {
                    self.last_plain = Some(span);
                }
                self.close(location, Content::Scalar(Scalar { text, plain }), diagnostics)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_properties(location, anchor, tag.is_some(), diagnostics);
                self.start(&span, tag.is_some(), SoFar::Sequence(Vec::new()), diagnostics)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_properties(location, anchor, tag.is_some(), diagnostics);
                let so_far = SoFar::Mapping(Vec::new(), None);
                self.start(&span, tag.is_some(), so_far, diagnostics)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(diagnostics),
            Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing | Event::StreamStart | Event::StreamEnd => {
                ControlFlow::Continue(())
            }
        }
    }

    /// Counts values and documents, and stops if there are too many.
    fn count(&mut self, event: &Event<'_>, span: &Span, diagnostics: &mut Diagnostics) -> ControlFlow<()> {
        let message = match event {
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                self.values = self.values.saturating_add(1);
                match self.format {
                    Some(_) if self.values > most_values(span.start.index()) => too_many_values(),
                    None if self.values > K::VALUES => {
                        format!("too many values: {} are the limit", K::VALUES)
                    }
                    _ => return ControlFlow::Continue(()),
                }
            }
            Event::DocumentStart(_) => {
                self.documents = self.documents.saturating_add(1);
                match self.format {
                    _ if self.documents == 1 => return ControlFlow::Continue(()),
                    Some(Format { file, .. }) => {
                        format!("a second document starts here: {file} is one document")
                    }
                    None => "a second document starts here: one is read".to_owned(),
                }
            }
            _ => return ControlFlow::Continue(()),
        };
        diagnostics.push(location(&span.start), message);
        ControlFlow::Break(())
    }

    /// Whether a value in another program's document has a tag.
    const fn is_foreign(&self, tagged: bool) -> bool {
        tagged && self.format.is_none()
    }

    /// The parts of the next value that are kept.
    fn next_keep(&self) -> Option<K> {
        let Some(open) = self.open.last() else {
            return Some(self.keep);
        };
        match &open.so_far {
            SoFar::Sequence(_) => open.keep.item(),
            SoFar::Mapping(_, None) => Some(open.keep),
            SoFar::Mapping(_, Some(key)) => match &key.kind {
                Content::Scalar(key) => open.keep.of(&key.text),
                _ => Some(open.keep),
            },
        }
    }

    /// Completes the innermost collection.
    fn end(&mut self, diagnostics: &mut Diagnostics) -> ControlFlow<()> {
        let Some(Open { location, so_far, keep, .. }) = self.open.pop() else {
            return ControlFlow::Break(());
        };
        let kind = match so_far {
            SoFar::Sequence(mut items) => {
                items.shrink_to_fit();
                Content::Sequence(items)
            }
            SoFar::Mapping(mut entries, _) => {
                entries.shrink_to_fit();
                if keep.is_strict() {
                    refuse_duplicates(&entries, diagnostics);
                }
                Content::Mapping(entries)
            }
        };
        self.close(location, kind, diagnostics)
    }

    fn too_many_marks(&self) -> String {
        let most = Budget::MARKS;
        // After a document marker, a bracket can't start a key.
        let instead = match (self.format, self.open.as_slice()) {
            (None, _) => "or as JSON",
            (_, []) => "without brackets, or `---` and a space before it",
            _ => "without brackets",
        };
        format!("over {most} commas and brackets in the value that starts here: write it in lines, {instead}")
    }

    /// A string, borrowed from the file if it is unescaped there.
    fn borrowed(&self, text: Cow<'a, str>, style: ScalarStyle, span: &Span) -> Cow<'a, str> {
        let quote = match style {
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => 1,
            _ => 0,
        };
        let start = span.start.index().saturating_add(quote);
        let end = span.end.index().saturating_sub(quote);
        match self.text.get(start..end) {
            Some(written) if self.is_ascii && *written == *text => Cow::Borrowed(written),
            // The parser's strings have much spare capacity.
            _ => Cow::Owned(text.into_owned().into_boxed_str().into_string()),
        }
    }

    fn take_error(&mut self, error: &ScanError, diagnostics: &mut Diagnostics) -> ControlFlow<()> {
        let at = error.marker();
        if error.info().contains("unknown anchor") {
            if self.skipped.is_some() {
                return ControlFlow::Continue(());
            }
            // The parser has skipped the alias, so the rest of the file can still be checked.
            self.refuse_alias(location(at), diagnostics);
            return self.close(location(at), Content::Refused, diagnostics);
        }
        let (location, message) = match (self.format, error.info()) {
            (None, info) => (location(at), format!("this is not valid YAML: {info}")),
            (_, info) if info.contains("recursion limit") => (location(at), too_deep(K::DEPTH)),
            (Some(format), _) => {
                let flow = self.open_flow();
                syntax::diagnosis(error, self.text, format, self.last_plain, flow)
            }
        };
        diagnostics.push(location, message);
        ControlFlow::Break(())
    }

    fn start(
        &mut self,
        span: &Span,
        tagged: bool,
        so_far: SoFar<'a>,
        diagnostics: &mut Diagnostics,
    ) -> ControlFlow<()> {
        let location = location(&span.start);
        let Some(keep) = self.next_keep().filter(|_| !self.is_foreign(tagged)) else {
            self.skipped = Some((location, 1));
            return ControlFlow::Continue(());
        };
        if self.open.len() >= K::DEPTH {
            diagnostics.push(location, too_deep(K::DEPTH));
            return ControlFlow::Break(());
        }
        // A bracket has a width; the start of a block doesn't.
        let flow = span.end.index() > span.start.index();
        self.open.push(Open { location, keep, flow, so_far });
        ControlFlow::Continue(())
    }

    /// The start of the innermost collection in brackets or braces. Everything within it is in flow
    /// style.
    fn open_flow(&self) -> Option<Location> {
        let innermost = self.open.iter().rev().find(|open| open.flow);
        innermost.map(|open| open.location)
    }

    /// Adds a complete value to its parent.
    fn close(&mut self, location: Location, kind: Content<'a>, diagnostics: &mut Diagnostics) -> ControlFlow<()> {
        let node = Node { location, kind };
        let is_own = self.format.is_some();
        match self.open.last_mut().map(|open| (&mut open.so_far, open.keep)) {
            None => self.root = Some(node),
            Some((SoFar::Sequence(items), _)) => items.push(node),
            Some((SoFar::Mapping(entries, key), keep)) => match key.take() {
                None => *key = Some(node),
                Some(key) if !keep.is_strict() && !is_ordinary(&key) => {}
                Some(key) => entries.extend(entry(key, node, is_own, diagnostics)),
            },
        }
        ControlFlow::Continue(())
    }

    fn refuse_alias(&self, location: Location, diagnostics: &mut Diagnostics) {
        if self.format.is_some() {
            diagnostics.push(location, "an alias is not allowed: write the value here");
        }
    }

    fn refuse_properties(&self, location: Location, anchor: usize, tagged: bool, diagnostics: &mut Diagnostics) {
        if self.format.is_none() {
            return;
        }
        if anchor > 0 {
            diagnostics
                .push(location, "anchors aren't supported: remove the anchor and repeat the value where you need it");
        }
        if tagged {
            diagnostics.push(location, "a tag is not allowed: the format fixes the kind of every value");
        }
    }
}

/// The maximum number of values in a file with this many characters.
pub(super) const fn most_values(characters: usize) -> usize {
    (characters / CHARACTERS_A_VALUE).saturating_add(FREE_VALUES)
}

fn too_many_values() -> String {
    format!(
        "too many values for a document of this size: after the first {FREE_VALUES}, the limit is one per {CHARACTERS_A_VALUE} characters"
    )
}

fn too_deep(most: usize) -> String {
    format!("nested too deeply: {most} levels are the limit")
}

/// The parts of a document that are kept, selected by the keys that lead to them.
pub trait Keep: Copy {
    /// The maximum nesting depth of collections that are kept.
    const DEPTH: usize;
    /// The maximum number of values that are kept.
    const VALUES: usize;

    /// The parts of a key's value that are kept; `None` for nothing.
    fn of(self, key: &str) -> Option<Self>;

    /// The parts of a list item that are kept.
    fn item(self) -> Option<Self>;

    /// Whether an invalid key of a mapping is an error. Otherwise it is skipped, and so is a merge key.
    fn is_strict(self) -> bool {
        true
    }
}

/// Keeps the whole file.
#[derive(Clone, Copy)]
pub(super) struct All;

impl Keep for All {
    /// The deepest valid file has seven levels.
    const DEPTH: usize = 8;
    const VALUES: usize = usize::MAX;

    fn of(self, _: &str) -> Option<Self> {
        Some(self)
    }

    fn item(self) -> Option<Self> {
        Some(self)
    }
}
