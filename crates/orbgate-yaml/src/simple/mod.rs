//! Reads simple files line by line, without a library.
//!
//! Most files are written in block style: a value is on the key's line or on the more indented lines below it, and a
//! string is written plain or in quotes without escapes. All YAML readers agree on such a file, and no library is
//! needed; tests compare the result with two libraries. The same is true for flow style on one line. Everything else
//! is left to `tree`: flow style over several lines, block strings, escapes, strings over several lines, numbers
//! other than integers, and anything that might be an error.

use std::borrow::Cow;

use crate::keys::are_unique;
use crate::node::{Content, Entry, Location, Node, Scalar};
use crate::scalar::other_reading;
use crate::tree::{All, Keep, most_values};

/// A longer line might contain more commas and brackets than `Budget` allows.
const LINE_BYTES: usize = 32_768;

/// The tree of a simple file, the same as `tree` returns. `None` if the file isn't simple.
pub(super) fn read(text: &str) -> Option<Node<'_>> {
    // All other ASCII characters are visible.
    let is_control = |byte| matches!(byte, ..b' ' | b'\x7f') && byte != b'\n';
    let has_control = has(text, is_control);
    let mut lines = Lines {
        next: None,
        rest: text,
        line: 0,
        // If each character is one byte, the number of allowed values grows with the file.
        characters: if text.is_ascii() { text.len() } else { 0 },
        values: 0,
        most_values: 0,
    };
    lines.advance();
    let root = lines.collection(0).filter(|_| !has_control)?;
    if lines.next.is_some_and(Rest::is_end_marker) {
        lines.advance();
    }
    lines.next.is_none().then_some(root)
}

/// The rest of a line, and its location.
#[derive(Clone, Copy)]
struct Rest<'t> {
    location: Location,
    text: &'t str,
}

impl<'t> Rest<'t> {
    /// The rest after this many bytes, all of which are single characters.
    fn after(self, bytes: usize) -> Self {
        let columns = u32::try_from(bytes).unwrap_or(u32::MAX);
        Self {
            location: Location { line: self.location.line, column: self.location.column.saturating_add(columns) },
            text: self.text.get(bytes..).unwrap_or_default(),
        }
    }

    fn after_mark(self, mark: char) -> Option<Self> {
        self.text.starts_with(mark).then(|| self.after(1))
    }

    fn after_spaces(self) -> Self {
        let spaces = self.text.bytes().take_while(|byte| *byte == b' ');
        self.after(spaces.count())
    }

    /// Whether the line ends here, possibly with a comment.
    fn is_end(self) -> bool {
        let rest = self.text.trim_start_matches(' ');
        rest.is_empty() || (rest.starts_with('#') && self.text.starts_with(' '))
    }

    fn is_item(self) -> bool {
        self.text.starts_with("- ")
    }

    fn is_end_marker(self) -> bool {
        let is_marker = self.text.starts_with("...") && self.after(3).is_end();
        self.location.column == 1 && is_marker
    }

    /// A key without a space, and the rest after its colon.
    fn key(self) -> Option<(Scalar<'t>, Self)> {
        let length = self.text.bytes().position(|byte| byte == b' ');
        let length = length.unwrap_or(self.text.len());
        let key = self.text.get(..length)?.strip_suffix(':')?;
        is_key(key).then(|| (scalar(key, true), self.after(length)))
    }

    /// A quoted string, and the rest after it.
    fn quoted(self) -> Option<(Node<'t>, Self)> {
        let quote = self.text.chars().next()?;
        let inner = self.after(1).text;
        let inner = inner.get(..inner.find(quote)?)?;
        let is_same_in_quotes = inner.is_ascii() && !inner.contains(['"', '\'', '\\']);
        let node = self.node(Content::Scalar(scalar(inner, false)));
        is_same_in_quotes.then(|| (node, self.after(inner.len().saturating_add(2))))
    }

    /// An unquoted string of at most this many bytes, and the rest after it.
    fn plain(self, most: usize) -> Option<(Node<'t>, Self)> {
        let text = self.text.get(..most)?.trim_end_matches(' ');
        let node = self.node(Content::Scalar(scalar(text, true)));
        is_plain(text).then(|| (node, self.after(text.len())))
    }

    const fn node(self, kind: Content<'t>) -> Node<'t> {
        let location = self.location;
        Node { location, kind }
    }
}

const fn scalar(text: &str, plain: bool) -> Scalar<'_> {
    let text = Cow::Borrowed(text);
    Scalar { text, plain }
}

/// The lines that haven't been read yet.
struct Lines<'t> {
    /// The first line that is neither blank nor a comment, without its indentation.
    next: Option<Rest<'t>>,
    rest: &'t str,
    line: u32,
    characters: usize,
    values: usize,
    /// The maximum number of values before the next line.
    most_values: usize,
}

impl<'t> Lines<'t> {
    fn advance(&mut self) {
        self.next = None;
        while !self.rest.is_empty() && self.next.is_none() {
            self.most_values = most_values(self.characters.saturating_sub(self.rest.len()));
            let (line, rest) = split_line(self.rest);
            self.rest = rest;
            self.line = self.line.saturating_add(1);
            let location = Location { line: self.line, column: 1 };
            let line = Rest { location, text: line }.after_spaces();
            self.next = Some(line).filter(|line| !line.text.is_empty() && !line.text.starts_with('#'));
        }
    }

    /// Counts values.
    fn count(&mut self, values: usize) -> Option<()> {
        self.values = self.values.saturating_add(values);
        (self.values <= self.most_values).then_some(())
    }

    /// The next line, if it starts at this column.
    fn at(&self, column: u32) -> Option<Rest<'t>> {
        self.next.filter(|line| line.location.column == column)
    }

    /// The mapping or list on the next lines, at this depth.
    fn collection(&mut self, depth: usize) -> Option<Node<'t>> {
        let first = self.next.filter(|_| depth < All::DEPTH)?;
        self.count(1)?;
        let column = first.location.column;
        let kind = if first.is_item() {
            let mut items = Vec::new();
            while let Some(line) = self.at(column).filter(|line| line.is_item()) {
                items.push(self.item(line, depth)?);
            }
            Content::Sequence(items)
        } else {
            let mut entries = Vec::new();
            while let Some(line) = self.at(column).filter(|line| !line.is_end_marker()) {
                entries.push(self.entry(line, depth)?);
            }
            mapping(entries)?
        };
        // A more indented line would be an error here. A less indented line is handled by the caller.
        let is_whole = self.next.is_none_or(|line| line.location.column <= column);
        is_whole.then(|| first.node(kind))
    }

    /// `key: value`, or a key with its value on the lines below.
    fn entry(&mut self, line: Rest<'t>, depth: usize) -> Option<Entry<'t>> {
        let (key, rest) = line.key()?;
        self.count(1)?;
        let value = if rest.is_end() {
            self.advance();
            let below = self.next?;
            // The dashes of a list can be directly below its key. Then the location of the list is that of
            // its first item.
            let is_deeper = below.location.column > line.location.column;
            let is_right_below = below.is_item() && below.location.column == line.location.column;
            let value = self.collection(depth.saturating_add(1))?;
            match value.kind {
                kind if is_right_below => below.after(2).node(kind),
                kind => below.node(Some(kind).filter(|_| is_deeper)?),
            }
        } else {
            let value = self.value(rest.after_spaces(), depth)?;
            self.advance();
            value
        };
        Some(Entry { key_location: line.location, key, value })
    }

    /// An item of a list.
    fn item(&mut self, line: Rest<'t>, depth: usize) -> Option<Node<'t>> {
        let item = line.after(2);
        if item.key().is_some() {
            // The first key follows the dash, and the others are directly below the first key.
            self.next = Some(item);
            return self.collection(depth.saturating_add(1));
        }
        let item = self.value(item, depth);
        self.advance();
        item
    }

    /// A value on the rest of a line, possibly followed by a comment.
    fn value(&mut self, rest: Rest<'t>, depth: usize) -> Option<Node<'t>> {
        let (node, after) = match rest.text.as_bytes() {
            text if text.len() > LINE_BYTES => return None,
            [b'[' | b'{' | b'\'' | b'"', ..] => self.flow(rest, depth)?,
            _ => {
                self.count(1)?;
                rest.plain(end_of_plain(rest.text)?)?
            }
        };
        after.is_end().then_some(node)
    }

    /// A value in flow style, and the rest after it.
    fn flow(&mut self, rest: Rest<'t>, depth: usize) -> Option<(Node<'t>, Rest<'t>)> {
        self.count(1)?;
        let inner = depth.saturating_add(1);
        let (kind, after) = match rest.text.as_bytes().first()? {
            b'[' | b'{' if inner >= All::DEPTH => return None,
            b'[' => {
                let (items, after) = self.items(rest, ']', |lines, item| lines.flow(item, inner))?;
                (Content::Sequence(items), after)
            }
            b'{' => {
                let (entries, after) = self.items(rest, '}', |lines, entry| lines.flow_entry(entry, inner))?;
                (mapping(entries)?, after)
            }
            b'\'' | b'"' => return rest.quoted(),
            _ => {
                let end = rest.text.find([',', '[', ']', '{', '}', ':', '?', '#'])?;
                // One of the libraries reads a dash before an indicator as an item in block style.
                let has_dash = rest.text.get(..end)?.contains(" -");
                return rest.plain(end).filter(|_| !has_dash);
            }
        };
        Some((rest.node(kind), after))
    }

    fn flow_entry(&mut self, rest: Rest<'t>, depth: usize) -> Option<(Entry<'t>, Rest<'t>)> {
        let (key, after) = rest.key()?;
        self.count(1)?;
        let is_bare = !key.text.contains(':');
        let (value, after) = self.flow(after.after_spaces(), depth)?;
        let entry = Entry { key_location: rest.location, key, value };
        is_bare.then_some((entry, after))
    }

    /// The items in brackets, and the rest after them. Commas separate items, and a comma can follow the last
    /// item.
    fn items<T>(
        &mut self,
        rest: Rest<'t>,
        close: char,
        item: impl Fn(&mut Self, Rest<'t>) -> Option<(T, Rest<'t>)>,
    ) -> Option<(Vec<T>, Rest<'t>)> {
        let mut items = Vec::new();
        let mut next = Some(rest.after(1));
        while let Some(rest) = next.map(Rest::after_spaces) {
            if let Some(after) = rest.after_mark(close) {
                return Some((items, after));
            }
            let (item, after) = item(self, rest)?;
            items.push(item);
            let after = after.after_spaces();
            if let Some(after) = after.after_mark(close) {
                return Some((items, after));
            }
            next = after.after_mark(',');
        }
        None
    }
}

/// A mapping without a duplicate key.
fn mapping(entries: Vec<Entry<'_>>) -> Option<Content<'_>> {
    are_unique(&entries).then_some(Content::Mapping(entries))
}

/// A key without a space. The first colon followed by a space ends it.
fn is_key(text: &str) -> bool {
    // YAML requires the colon within 1,024 characters.
    let fits = text.len() <= 256 && starts_like_text(text) && !text.ends_with(':');
    let mut bytes = text.bytes();
    fits && other_reading(text).is_none()
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'/' | b'-' | b'~'))
}

/// A scalar that every reader reads the same way: a string, an integer, `true` or `false`.
fn is_plain(text: &str) -> bool {
    let is_number = || {
        let is_short = (1..=18).contains(&text.len()) && !text.starts_with('0');
        is_short && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_text = || {
        let ends_well = !text.ends_with([' ', ':']);
        let is_known = matches!(text, "true" | "false") || other_reading(text).is_none();
        ends_well && is_known && text.is_ascii()
    };
    if starts_like_text(text) { is_text() } else { is_number() }
}

fn starts_like_text(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'_'))
}

/// The end of an unquoted string before a comment; `None` if it continues as a mapping.
fn end_of_plain(text: &str) -> Option<usize> {
    if !has(text, |byte| matches!(byte, b':' | b'#')) {
        return Some(text.len());
    }
    let mut pairs = text.as_bytes().windows(2);
    match pairs.position(|pair| matches!(pair, b": " | b" #")) {
        None => Some(text.len()),
        Some(end) => text.get(end..)?.starts_with(' ').then_some(end),
    }
}

/// Splits off the first line at its line feed. Reads eight bytes at a time, because lines are too short for more.
fn split_line(text: &str) -> (&str, &str) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (words, _) = text.as_bytes().as_chunks();
    let has_none = |word: &&[u8; 8]| {
        // A zero byte is the line feed. Below, only a zero byte, or a one after it, has its highest bit set.
        let differ = u64::from_le_bytes(**word) ^ ONES.wrapping_mul(10);
        differ.wrapping_sub(ONES) & !differ & ONES << 7 == 0
    };
    let before = words.iter().take_while(has_none).count().saturating_mul(8);
    let rest = text.as_bytes().get(before..).unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == b'\n');
    let end = end.map_or(text.len(), |end| before.saturating_add(end));
    let (line, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    (line, rest.get(1..).unwrap_or_default())
}

/// Whether a string contains such a byte. Checks all bytes, many at a time.
fn has(text: &str, is: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(0, |has, byte| has | u8::from(is(byte))) > 0
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test reads its files")]
mod tests;
