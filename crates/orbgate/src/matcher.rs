//! Which shape fits a path.
//!
//! Three ways, each for what the one before leaves over; all give the same answer:
//! 1. [`short`]: a plain path of usual length, without a loop or branch that depends on what it says.
//! 2. [`known`]: any accepted path; one probe a segment and one for the whole.
//! 3. [`search`]: the tree of shapes, where a parameter's value equals a word or a word's case differs.

use crate::hash::{Ends, index, shape_hash, tag, word_hash};
use crate::reason::Detail;
use crate::scan::{BLOCK, WINDOW, marks};
use crate::tables::{MAX_SEGMENTS, NONE, Node, Prefix, Shape, Tables, Word, WordRow, slice};
use crate::target::{self, Decoded, Path, is_query};
use crate::terms::Profile;

/// The most specific shape that fits a target (rule P20), `None` where none fits, or the rule that the
/// target breaks.
#[inline(always)]
pub(crate) fn find<'e>(tables: &'e Tables, target: &[u8]) -> Result<Option<&'e Shape>, Detail> {
    match short(tables, target) {
        Short::Shape(shape) => Ok(Some(shape)),
        Short::Nothing => Ok(None),
        Short::Closer => {
            let path = target::split(target, tables.profile)?;
            known(tables, &path)
        }
    }
}

/// What the short way finds.
enum Short<'e> {
    /// The shape.
    Shape(&'e Shape),
    /// The path is in order and no shape fits it.
    Nothing,
    /// This one needs a closer look.
    Closer,
}

/// Most segments beyond the prefix that the short way looks at: three groups of four.
const GROUPS: usize = 3;
const GROUP: usize = 4;

/// The short way. Whatever is not simple is left to the closer look.
#[inline(always)]
fn short<'e>(tables: &'e Tables, target: &[u8]) -> Short<'e> {
    let prefix = &tables.prefix;
    let prefix_length = index(prefix.text.length);
    // The window is the whole target, or its last 64 bytes where all before them is prefix.
    let base = target.len().saturating_sub(WINDOW);
    let window = target.get(base..).unwrap_or_default();
    if window.len() < BLOCK || base > prefix_length || target.first() != Some(&b'/') {
        return Short::Closer;
    }
    let marks = marks(window);
    let (mut slashes, mut end) = (marks.slashes, window.len());
    if marks.unusual != 0 {
        // A query ends the path; anything else unusual needs a closer look.
        let at = marks.unusual.trailing_zeros();
        let query = window.get(index(at)..).unwrap_or_default();
        let is_in_order = query.iter().fold(true, |fine, byte| fine & is_query(*byte));
        if query.first() != Some(&b'?') || !is_in_order || at == 0 {
            return Short::Closer;
        }
        slashes &= 1_u64.wrapping_shl(at).wrapping_sub(1);
        end = index(at);
    }
    // P10 and P11: a segment that is empty, or one that may be all dots.
    let trailing = slashes.wrapping_shr(bits(end).wrapping_sub(1)) & 1;
    if slashes << 1 & (slashes | marks.dots) | trailing != 0 {
        return Short::Closer;
    }
    let inside = prefix_length.wrapping_sub(base);
    if !starts_with(tables, prefix, target, slashes, inside, end) {
        return if base == 0 {
            Short::Nothing
        } else {
            Short::Closer
        };
    }

    let mut rest = slashes & u64::MAX.checked_shl(bits(inside)).unwrap_or(0);
    let mut position = index(prefix.segments);
    let mut key = [0; 2];
    let first_is_word = rest;
    let mut count = 0_u64;
    let mut first_symbol = NONE;
    for _ in 0..GROUPS {
        // Four segments at a time, whether or not there are as many: an absent one is empty and no
        // word. Guessing wrong how many there are would cost more than looking at all four.
        for _ in 0..GROUP {
            count = count.wrapping_add(u64::from(rest != 0));
            let start = index(rest.trailing_zeros()).wrapping_add(1).min(end);
            rest &= rest.wrapping_sub(1);
            let stop = index(rest.trailing_zeros()).min(end);
            let length = stop.wrapping_sub(start);
            let ends = ends_within(window, start, stop, length);
            let tag = tag(length, position);
            position = position.wrapping_add(1);
            let Some(word) = tables.words.probe(word_hash(tables.words.seed, tag, ends)) else {
                return Short::Closer;
            };
            let (same, alike) = compare(word, tag, ends);
            if alike
                && !(same && word.ends_are_all)
                && !is_word(tables, word, window.get(start..stop))
            {
                return Short::Closer;
            }
            let share = u64::from(alike).wrapping_neg();
            key = [key[0] | word.key[0] & share, key[1] | word.key[1] & share];
            first_symbol = if first_symbol == NONE {
                if alike { word.symbol } else { 0 }
            } else {
                first_symbol
            };
        }
        if rest == 0 {
            break;
        }
    }
    if rest != 0 {
        return Short::Closer;
    }
    let no_word = key == [0; 2];
    key[0] |= count;
    let found = tables.shapes.probe(shape_hash(tables.shapes.seed, key));
    match found {
        Some(shape) if shape.key == key => Short::Shape(shape),
        // Only a word can be taken for a parameter's value, so without one there is no other shape.
        _ if no_word => Short::Nothing,
        _ => {
            let node = tables.nodes.get(index(prefix.node));
            let leads_nowhere =
                first_symbol == 0 && node.is_some_and(|node| node.parameter == NONE);
            if leads_nowhere && first_is_word != 0 {
                Short::Nothing
            } else {
                Short::Closer
            }
        }
    }
}

/// A length or place within the window as a number of bits.
#[inline(always)]
fn bits(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(NONE)
}

/// Whether the target starts with the prefix, and the prefix ends where a segment does.
#[inline(always)]
fn starts_with(
    tables: &Tables,
    prefix: &Prefix,
    target: &[u8],
    slashes: u64,
    inside: usize,
    end: usize,
) -> bool {
    let length = index(prefix.text.length);
    if length == 0 {
        return true;
    }
    if inside > end {
        return false;
    }
    let start = target.get(..length).unwrap_or_default();
    let same = match length {
        8..=16 => {
            Ends::of(start)
                == Ends {
                    first: prefix.first,
                    last: prefix.last,
                }
        }
        _ => start == tables.text.get(prefix.text).as_bytes(),
    };
    same && (inside == end || slashes.wrapping_shr(bits(inside)) & 1 == 1)
}

/// The ends of a segment of a window, read without a branch on its length: where the segment has fewer
/// than eight bytes the reading starts before it and what is too much is shifted out.
#[inline(always)]
fn ends_within(window: &[u8], start: usize, stop: usize, length: usize) -> Ends {
    let word = |at: usize| {
        let word = window.get(at..).and_then(<[u8]>::first_chunk);
        word.map_or(0, |word| u64::from_le_bytes(*word))
    };
    let eight = stop.max(8);
    let missing = bits(eight.wrapping_sub(stop).wrapping_mul(8));
    let surplus = bits(8_usize.saturating_sub(length).wrapping_mul(8));
    let last = word(eight.wrapping_sub(8)).wrapping_shl(missing);
    // All of it is surplus in an absent segment.
    let last = last.checked_shr(surplus).unwrap_or(0);
    let first = word(start.min(window.len().wrapping_sub(8)));
    Ends {
        first: if length < 8 { last } else { first },
        last,
    }
}

/// Whether a word's ends, length and position are the same, and whether they are but for case.
#[inline(always)]
const fn compare(word: &Word, tag: u32, ends: Ends) -> (bool, bool) {
    let stored = Ends {
        first: word.first,
        last: word.last,
    };
    let (a, b) = (stored.folded(), ends.folded());
    let placed = word.tag == tag;
    let same = placed & (stored.first == ends.first) & (stored.last == ends.last);
    (same, placed & (a.first == b.first) & (a.last == b.last))
}

/// Whether a segment whose ends are like a word's is this word exactly, and can be no other.
#[cold]
fn is_word(tables: &Tables, word: &Word, segment: Option<&[u8]>) -> bool {
    let row = row(tables, word);
    row.others.length == 0 && segment == Some(tables.text.get(row.text).as_bytes())
}

fn row(tables: &Tables, word: &Word) -> WordRow {
    tables
        .word_rows
        .get(index(word.symbol))
        .copied()
        .unwrap_or_default()
}

/// The way for any accepted path.
fn known<'e>(tables: &'e Tables, path: &Path<'_>) -> Result<Option<&'e Shape>, Detail> {
    let mut all = [0; MAX_SEGMENTS];
    let Some(symbols) = all.get_mut(..path.len()) else {
        return Ok(None);
    };
    let mut exact = true;
    let mut key = [0; 2];
    for (position, symbol) in symbols.iter_mut().enumerate() {
        let segment = path.segment(position);
        let Some(word) = word(tables, position, segment) else {
            continue;
        };
        *symbol = word.symbol;
        exact &= word.is_exact;
        key = [key[0] | word.key[0], key[1] | word.key[1]];
    }
    if tables.profile == Profile::EncodedParams {
        exact &= !read_escaped(tables, path, symbols)?;
    }
    let after_prefix = path.len().checked_sub(index(tables.prefix.segments));
    if let Some(count) = after_prefix
        && exact
    {
        // Every word of the path is a literal of this shape, so no shape that fits is more specific.
        key[0] |= u64::from(bits(count));
        let shape = tables.shapes.probe(shape_hash(tables.shapes.seed, key));
        let is_below_prefix = leads_to_prefix(tables, path);
        if let Some(shape) = shape.filter(|shape| shape.key == key && is_below_prefix) {
            return Ok(Some(shape));
        }
    }
    search(tables, path, symbols, exact)
}

/// Whether a path starts with the segments of the prefix.
fn leads_to_prefix(tables: &Tables, path: &Path<'_>) -> bool {
    let prefix = tables.text.get(tables.prefix.text).as_bytes();
    let mut segments = prefix.split(|byte| *byte == b'/').skip(1).enumerate();
    segments.all(|(position, segment)| path.segment(position) == segment)
}

/// A word as a path has it.
struct Found {
    symbol: u32,
    key: [u64; 2],
    /// Whether it is spelt exactly so and there is no other spelling.
    is_exact: bool,
}

/// The word that a segment is at its position, without regard to case.
fn word(tables: &Tables, position: usize, segment: &[u8]) -> Option<Found> {
    let tag = tag(segment.len(), position);
    let ends = Ends::of(segment);
    let word = tables
        .words
        .probe(word_hash(tables.words.seed, tag, ends))?;
    // A perfect hash sends strangers to some slot: the whole key is compared.
    let (_, alike) = compare(word, tag, ends);
    if !alike {
        return None;
    }
    let row = row(tables, word);
    let text = |span| tables.text.get(span).as_bytes();
    if text(row.text).eq_ignore_ascii_case(segment) {
        let is_exact = text(row.text) == segment && row.others.length == 0;
        return Some(Found {
            symbol: word.symbol,
            key: word.key,
            is_exact,
        });
    }
    let mut others = slice(&tables.others, row.others).iter();
    let other = others.find(|other| text(other.text).eq_ignore_ascii_case(segment))?;
    Some(Found {
        symbol: other.symbol,
        key: [0; 2],
        is_exact: false,
    })
}

/// The words that segments with escapes decode to, and whether there are any.
///
/// Refuses one that is a literal at its position of a template of this length (rule P19). One that is
/// so but for its case is a word in another case, which rule P21 looks at.
fn read_escaped(tables: &Tables, path: &Path<'_>, symbols: &mut [u32]) -> Result<bool, Detail> {
    let this_length = 1_u32.wrapping_shl(bits(path.len()).wrapping_sub(1));
    let mut found = false;
    for (position, symbol) in symbols.iter_mut().enumerate() {
        let Some(decoded) = Decoded::of(path.segment(position)) else {
            continue;
        };
        let decoded = decoded.as_bytes();
        let tag = tag(decoded.len(), position);
        let ends = Ends::of(decoded);
        let hash = word_hash(tables.words.seed, tag, ends);
        let Some(word) = tables
            .words
            .probe(hash)
            .filter(|word| compare(word, tag, ends).1)
        else {
            continue;
        };
        let row = row(tables, word);
        let others = slice(&tables.others, row.others).iter();
        let spellings = others
            .map(|other| (other.text, other.lengths, other.symbol))
            .chain([(row.text, row.lengths, word.symbol)]);
        for (text, lengths, its_symbol) in spellings {
            let text = tables.text.get(text).as_bytes();
            if text == decoded && lengths & this_length != 0 {
                return Err(Detail::NonCanonicalLiteral);
            }
            if text.eq_ignore_ascii_case(decoded) {
                *symbol = its_symbol;
                found = true;
            }
        }
    }
    Ok(found)
}

/// The slower search, through the tree: the best shape by exact spelling, and the best without
/// regard to case, which must be the same one (rule P21).
#[cold]
fn search<'e>(
    tables: &'e Tables,
    path: &Path<'_>,
    symbols: &[u32],
    exact: bool,
) -> Result<Option<&'e Shape>, Detail> {
    let Some(root) = tables.nodes.first() else {
        return Ok(None);
    };
    let walk = |case| Walk {
        tables,
        path,
        symbols,
        case,
    };
    let fits = walk(true).best(root, 0);
    let shape = fits.and_then(|slot| tables.shapes.slots.get(index(slot)));
    if exact || fits.is_none() || fits == walk(false).best(root, 0) {
        return Ok(shape);
    }
    Err(Detail::AmbiguousCase)
}

/// A walk down the tree of shapes.
struct Walk<'a> {
    tables: &'a Tables,
    path: &'a Path<'a>,
    symbols: &'a [u32],
    /// Whether a literal must be spelt exactly.
    case: bool,
}

impl Walk<'_> {
    /// The most specific shape below `node` that fits the segments from `position` on. A literal
    /// beats a parameter at the first position where two shapes differ, so it is tried first.
    ///
    /// Visits no node twice, goes as deep as the path has segments (at most 32).
    fn best(&self, node: &Node, position: usize) -> Option<u32> {
        let Some(symbol) = self.symbols.get(position) else {
            return (node.shape != NONE).then_some(node.shape);
        };
        let next = position.saturating_add(1);
        let literal = self.literal(node, *symbol, position);
        let found = literal.and_then(|node| self.best(node, next));
        found.or_else(|| {
            let parameter = self.tables.nodes.get(index(node.parameter))?;
            self.best(parameter, next)
        })
    }

    /// Where the segment at `position` leads from `node` as a literal.
    fn literal(&self, node: &Node, symbol: u32, position: usize) -> Option<&Node> {
        let edges = slice(&self.tables.edges, node.edges);
        let at = edges
            .binary_search_by_key(&symbol, |edge| edge.symbol)
            .ok()?;
        let edge = edges.get(at)?;
        let text = self.tables.text.get(edge.text).as_bytes();
        if self.case && text != self.path.segment(position) {
            return None;
        }
        self.tables.nodes.get(index(edge.node))
    }
}
