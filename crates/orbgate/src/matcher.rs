//! Which shape fits a path.
//!
//! Three ways, each for what the one before leaves over; all give the same answer:
//! 1. [`short`]: a plain path of usual length, without a loop or branch that depends on what it says.
//! 2. [`known`]: any accepted path; one probe a segment and one for the whole.
//! 3. [`search`]: the tree of shapes, where several values of parameters are words or a word's case differs.

use core::hint::select_unpredictable;

use crate::hash::{Ends, FOLD, POSITION, index, shape_hash, tag, word_hash};
use crate::outline::Found;
use crate::reason::Detail;
use crate::scan::{Mask, Window};
use crate::tables::{CLOSER, COUNT, NONE, Node, Shape, Tables, Word, WordRow, slice};
use crate::target::{self, Decoded, Path};
use crate::terms::{MAX_SEGMENTS, MAX_TARGET_BYTES, Profile};

/// The most specific shape that fits a target (rule P20), `None` where none fits, or the rule that the
/// target breaks.
#[inline(always)]
pub(crate) fn find<'e>(tables: &'e Tables, target: &[u8]) -> Result<Option<&'e Shape>, Detail> {
    // What of the target must be looked at byte by byte: not the prefix, which is compared.
    let length = target.len().wrapping_sub(index(tables.prefix.text.length));
    let found = match length {
        0..=64 => short::<u64>(tables, target),
        _ => long(tables, target),
    };
    match found {
        Found::This(shape) => Ok(Some(shape)),
        Found::Nothing => Ok(None),
        Found::Malformed(detail) => Err(detail),
        Found::Closer => closer(tables, target),
    }
}

#[inline(never)]
fn long<'e>(tables: &'e Tables, target: &[u8]) -> Found<'e, Shape> {
    short::<u128>(tables, target)
}

#[inline(never)]
pub(crate) fn closer<'e>(tables: &'e Tables, target: &[u8]) -> Result<Option<&'e Shape>, Detail> {
    let path = target::split(target, tables.profile)?;
    known(tables, &path)
}

/// Most segments beyond the prefix that the short way looks at, in groups of three.
const GROUPS: usize = 4;

/// The short way. Whatever is not simple is left to the closer look.
#[inline(always)]
fn short<'e, M: Mask>(tables: &'e Tables, target: &[u8]) -> Found<'e, Shape> {
    let prefix = index(tables.prefix.text.length);
    // The window is the whole target, or its end where all before it is prefix.
    let base = target.len().saturating_sub(M::BITS);
    let Some(bytes) = target.get(base..) else {
        return Found::Closer;
    };
    let Some(window) = Window::<M>::of(bytes) else {
        return Found::Closer;
    };
    if base > prefix || target.len() > MAX_TARGET_BYTES {
        return Found::Closer;
    }
    if window.has_odd_segment() {
        // `/` alone, before a query, is the root and has no segment.
        let is_whole = base == 0 && window.slashes().has(0) && window.end() > 1;
        return match is_whole && window.has_empty_segment() {
            true => Found::Malformed(Detail::EmptySegment),
            false => Found::Closer,
        };
    }
    let (slashes, end, inside) = (window.slashes(), window.end(), prefix.wrapping_sub(base));
    let is_below = inside <= end && (inside == end || slashes.has(inside));
    if !is_below || !starts_with_prefix(tables, target) {
        // Of 64 bytes there are at most 32 segments, of more there could be too many.
        let is_path = base == 0 && slashes.has(0) && M::BITS <= 2 * MAX_SEGMENTS;
        return match is_path {
            true => Found::Nothing,
            false => Found::Closer,
        };
    }
    // Where segments begin, and where the last one ends.
    let bounds = (slashes & !M::before(inside)) | M::bit(end);
    if inside >= 8 {
        below_prefix::<M, true>(tables, &window, bounds)
    } else {
        below_prefix::<M, false>(tables, &window, bounds)
    }
}

/// Whether the target starts with the bytes of the prefix.
#[inline(always)]
fn starts_with_prefix(tables: &Tables, target: &[u8]) -> bool {
    let prefix = &tables.prefix;
    let length = index(prefix.text.length);
    let start = target.get(..length).unwrap_or_default();
    match length {
        0 => true,
        8..=16 => {
            let Ends { first, last } = Ends::of(start);
            (first ^ prefix.first) | (last ^ prefix.last) == 0
        }
        _ => start == tables.text.get(prefix.text).as_bytes(),
    }
}

/// The shape of the segments between the bounds.
#[inline(always)]
fn below_prefix<'e, M: Mask, const ROOM: bool>(
    tables: &'e Tables,
    window: &Window<'_, M>,
    mut bounds: M,
) -> Found<'e, Shape> {
    let end = window.end();
    let has_segments = bounds.first() < end;
    let mut position = tables.prefix.segments.wrapping_mul(POSITION);
    let mut key = 0_u64;
    for _ in 0..GROUPS {
        // Three segments at a time, whether or not there are as many: an absent one is no word. To
        // guess wrong how many there are would cost more than to look at all three.
        for _ in 0..3 {
            let slash = bounds.first();
            bounds = bounds.without_first();
            // The lowest bits of a key count the segments.
            key = key.wrapping_add(u64::from(slash < end));
            let (start, stop) = (slash.wrapping_add(1), bounds.first().min(end));
            let tag = tag(stop.wrapping_sub(start), 0).wrapping_add(position);
            position = position.wrapping_add(POSITION);
            let ends = Ends::within::<M, ROOM>(window, start, stop);
            let Some(word) = tables.words.probe(word_hash(tables.words.seed, tag, ends)) else {
                return Found::Closer;
            };
            // A perfect hash sends strangers to some slot: the whole key is compared.
            let bytes = (word.first ^ ends.first) | (word.last ^ ends.last);
            let place = word.tag ^ tag;
            let same = bytes | u64::from(place) == 0;
            let mut share = select_unpredictable(same, word.key, 0);
            // Of the right length in the right place: perhaps in another case, longer than its ends,
            // or one of several. (One test, because a processor could guess neither part of it.)
            if (place & !CLOSER) | u32::from(same) == 0 {
                match share_of(tables, word, ends, window.segment(start, stop)) {
                    Some(found) => share = found,
                    None => return Found::Closer,
                }
            }
            key |= share;
        }
        if bounds.first() >= end {
            break;
        }
    }
    if bounds.first() < end {
        return Found::Closer;
    }
    let count = usize::try_from(key & COUNT).unwrap_or(usize::MAX);
    match tables.shapes.probe(shape_hash(tables.shapes.seed, key)) {
        Some(shape) if shape.key == key => Found::This(shape),
        _ if index(tables.prefix.segments).saturating_add(count) > MAX_SEGMENTS => Found::Closer,
        Some(_) if has_segments && key & tables.prefix.first_share == 0 => Found::Nothing,
        Some(_) => fewer_words(tables, key, count),
        None => Found::Closer,
    }
}

/// The best shape where some words of the path are values of parameters. All of them are spelt exactly.
///
/// A word in a place where no template of so many segments has a parameter is that word in every shape
/// that fits. Of the others each subset may be the words of a shape; the one that keeps the word at the
/// first position where two differ is more specific, so the subsets are tried in that order.
#[inline(never)]
fn fewer_words<'e>(tables: &'e Tables, key: u64, count: usize) -> Found<'e, Shape> {
    let parameters = tables.parameter_shares.get(count).copied().unwrap_or(0);
    let mut shares = [0; 3];
    let mut free = 0_usize;
    for position in tables.position_shares.iter().take(count) {
        let share = key & parameters & position;
        if share != 0 {
            let Some(slot) = shares.get_mut(free) else {
                // So many subsets that the tree is better.
                return Found::Closer;
            };
            *slot = share;
            free = free.saturating_add(1);
        }
    }
    // The first position is the highest bit: counting down from all tries the most specific first.
    for kept in (0..1_usize << free).rev().skip(1) {
        let mut fewer = key & !(key & parameters);
        for (place, share) in shares.iter().take(free).rev().enumerate() {
            fewer |= share & u64::from(kept >> place & 1 == 1).wrapping_neg();
        }
        match tables.shapes.probe(shape_hash(tables.shapes.seed, fewer)) {
            Some(shape) if shape.key == fewer => return Found::This(shape),
            _ => {}
        }
    }
    Found::Nothing
}

/// The share of a word for a segment of its length in its place, with ends that may differ: nothing
/// where it is another, `None` where it must be looked at closer.
#[cold]
fn share_of(tables: &Tables, word: &Word, ends: Ends, segment: Option<&[u8]>) -> Option<u64> {
    let bytes = (word.first ^ ends.first) | (word.last ^ ends.last);
    if bytes & !FOLD != 0 {
        return Some(0);
    }
    let row = row(tables, word);
    let same = segment == Some(tables.text.get(row.text).as_bytes());
    (row.others.length == 0 && same).then_some(word.key)
}

/// Whether a word has these ends, length and position but for case or for what its ends do not show.
const fn is_like(word: &Word, tag: u32, ends: Ends) -> bool {
    let bytes = (word.first ^ ends.first) | (word.last ^ ends.last);
    bytes & !FOLD == 0 && (word.tag ^ tag) & !CLOSER == 0
}

fn row(tables: &Tables, word: &Word) -> WordRow {
    let row = tables.word_rows.get(index(word.symbol));
    row.copied().unwrap_or_default()
}

/// A length as a number of bits.
fn bits(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(NONE)
}

/// The way for any accepted path.
fn known<'e>(tables: &'e Tables, path: &Path<'_>) -> Result<Option<&'e Shape>, Detail> {
    let mut all = [0; MAX_SEGMENTS];
    let Some(symbols) = all.get_mut(..path.len()) else {
        return Ok(None);
    };
    let mut exact = true;
    let mut key = 0;
    for (position, symbol) in symbols.iter_mut().enumerate() {
        let segment = path.segment(position);
        let Some(word) = word(tables, position, segment) else {
            continue;
        };
        *symbol = word.symbol;
        exact &= word.is_exact;
        key |= word.key;
    }
    if tables.profile == Profile::EncodedParams {
        exact &= !read_escaped(tables, path, symbols)?;
    }
    let after_prefix = path.len().checked_sub(index(tables.prefix.segments));
    if let Some(count) = after_prefix
        && exact
    {
        // Every word of the path is a literal of this shape, so no shape that fits is more specific.
        key |= u64::from(bits(count));
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
struct FoundWord {
    symbol: u32,
    key: u64,
    /// Whether it is spelt exactly so and there is no other spelling.
    is_exact: bool,
}

/// The word that a segment is at its position, without regard to case.
fn word(tables: &Tables, position: usize, segment: &[u8]) -> Option<FoundWord> {
    let tag = tag(segment.len(), position);
    let ends = Ends::of(segment);
    let word = tables
        .words
        .probe(word_hash(tables.words.seed, tag, ends))?;
    // A perfect hash sends strangers to some slot: the whole key is compared.
    if !is_like(word, tag, ends) {
        return None;
    }
    let row = row(tables, word);
    let text = |span| tables.text.get(span).as_bytes();
    if text(row.text).eq_ignore_ascii_case(segment) {
        let is_exact = text(row.text) == segment && row.others.length == 0;
        return Some(FoundWord {
            symbol: word.symbol,
            key: word.key,
            is_exact,
        });
    }
    let mut others = slice(&tables.others, row.others).iter();
    let other = others.find(|other| text(other.text).eq_ignore_ascii_case(segment))?;
    Some(FoundWord {
        symbol: other.symbol,
        key: 0,
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
            .filter(|word| is_like(word, tag, ends))
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
