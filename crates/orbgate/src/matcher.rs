//! Which shape fits a path.
//!
//! The common path takes one probe a segment (is it a word?) and one for the whole (is it a shape?).
//! Only a parameter whose value happens to be a word, or a word in another case, needs the tree.

use crate::hash::{Ends, index, shape_hash, word_hash};
use crate::reason::Detail;
use crate::tables::{MAX_SEGMENTS, NONE, Node, Run, Tables, Word};
use crate::target::{Decoded, Path};
use crate::terms::Profile;

/// The most specific shape that fits a path (rule P20), `None` where none fits, or the rule that the
/// path breaks only beside this table: P19 or P21.
#[inline(always)]
pub(crate) fn find(tables: &Tables, path: &Path<'_>) -> Result<Option<u32>, Detail> {
    let mut all = [0; MAX_SEGMENTS];
    let Some(symbols) = all.get_mut(..path.len()) else {
        return Ok(None);
    };
    let mut exact = true;
    for (position, symbol) in symbols.iter_mut().enumerate() {
        let segment = path.segment(position);
        if let Some((word, spelling)) = word(tables, position, segment) {
            *symbol = word.symbol;
            exact &= spelling == Spelling::Exact;
        }
    }
    if tables.profile == Profile::EncodedParams {
        exact &= !read_escaped(tables, path, symbols)?;
    }
    // Every word of the path is a literal of this shape, so no shape that fits is more specific.
    if exact && let Some(shape) = shape(tables, symbols) {
        return Ok(Some(shape));
    }
    search(tables, path, symbols, exact)
}

/// How a segment spells a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// Byte for byte, and there is no other spelling.
    Exact,
    /// In another case, or one of several spellings.
    Unsure,
}

/// The word that a segment is at its position, without regard to case.
#[inline(always)]
fn word<'e>(tables: &'e Tables, position: usize, segment: &[u8]) -> Option<(&'e Word, Spelling)> {
    let ends = Ends::of(segment);
    let hash = word_hash(tables.words.seed, position, segment, ends);
    let word = tables.words.probe(hash)?;
    let stored = Ends {
        first: word.first,
        last: word.last,
    };
    // A perfect hash sends strangers to some slot: the whole key is compared.
    let fits = word.symbol != 0
        && index(word.text.length) == segment.len()
        && usize::from(word.position) == position
        && stored.folded() == ends.folded();
    if !fits {
        return None;
    }
    let same =
        stored == ends && (segment.len() <= 16 || tables.text.get(word.text).as_bytes() == segment);
    if same && !word.has_variants {
        return Some((word, Spelling::Exact));
    }
    // Folded ends can be equal where more than the case differs: this settles it.
    let text = tables.text.get(word.text).as_bytes();
    text.eq_ignore_ascii_case(segment)
        .then_some((word, Spelling::Unsure))
}

/// The shape with exactly these symbols.
#[inline(always)]
fn shape(tables: &Tables, symbols: &[u32]) -> Option<u32> {
    let shape = tables
        .shapes
        .probe(shape_hash(tables.shapes.seed, symbols))?;
    let fits = shape.id != NONE && slice(&tables.symbols, shape.symbols) == symbols;
    fits.then_some(shape.id)
}

/// The slower search, through the tree: the best shape by exact spelling, and the best without
/// regard to case, which must be the same one (rule P21).
#[cold]
fn search(
    tables: &Tables,
    path: &Path<'_>,
    symbols: &[u32],
    exact: bool,
) -> Result<Option<u32>, Detail> {
    let Some(root) = tables.nodes.first() else {
        return Ok(None);
    };
    let fits = Walk {
        tables,
        path,
        symbols,
        case: true,
    }
    .best(root, 0);
    if exact || fits.is_none() {
        return Ok(fits);
    }
    let fits_folded = Walk {
        tables,
        path,
        symbols,
        case: false,
    }
    .best(root, 0);
    if fits == fits_folded {
        Ok(fits)
    } else {
        Err(Detail::AmbiguousCase)
    }
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

/// The words that segments with escapes decode to, and whether there are any.
///
/// Refuses one that is a literal at its position of a template of this length (rule P19). One that is
/// so but for its case is a word in another case, which rule P21 looks at.
fn read_escaped(tables: &Tables, path: &Path<'_>, symbols: &mut [u32]) -> Result<bool, Detail> {
    let this_length = 1_u32.wrapping_shl(u32::try_from(path.len()).unwrap_or(1).wrapping_sub(1));
    let mut found = false;
    for (position, symbol) in symbols.iter_mut().enumerate() {
        let Some(decoded) = Decoded::of(path.segment(position)) else {
            continue;
        };
        let Some((word, _)) = word(tables, position, decoded.as_bytes()) else {
            continue;
        };
        let first = tables
            .variants
            .partition_point(|variant| variant.symbol < word.symbol);
        let variants = tables.variants.get(first..).unwrap_or_default().iter();
        let mut spellings = variants
            .take_while(|variant| variant.symbol == word.symbol)
            .map(|variant| (variant.text, variant.lengths))
            .chain([(word.text, word.lengths)]);
        let is_literal = spellings.any(|(text, lengths)| {
            tables.text.get(text).as_bytes() == decoded.as_bytes() && lengths & this_length != 0
        });
        if is_literal {
            return Err(Detail::NonCanonicalLiteral);
        }
        *symbol = word.symbol;
        found = true;
    }
    Ok(found)
}

/// The entries of a run.
#[inline(always)]
pub(crate) fn slice<T>(items: &[T], run: Run) -> &[T] {
    let start = index(run.start);
    items
        .get(start..start.saturating_add(index(run.length)))
        .unwrap_or_default()
}
