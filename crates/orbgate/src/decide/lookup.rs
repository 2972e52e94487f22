//! Finds the template that fits a path.
//!
//! Each segment is interned: looked up, with its position, in the perfect hash of literals. A literal adds its part to
//! the key; any other segment adds nothing. The key is looked up in the perfect hash of templates, and nearly always
//! finds the template. If it doesn't, a parameter value equals a literal of another template, or no template fits.
//! Then the tuples are tried, the most specific first (tuple space search).
//!
//! [`find`] is the fast path. It handles targets that no rule concerns and that are spelt as the templates are. It
//! leaves all other targets to [`find_exactly`].

#![allow(clippy::as_conversions, reason = "numbers of a few bits, and the lowest byte of a word, in the hot loop")]

use core::hint::select_unpredictable;
use core::num::NonZero;

use super::target::{Decoded, Path, is_clear, refused, reserved};
use super::vector::{BLOCK, Vector, end_in_block, positions_in_block};
use crate::tables::hash::{Ends, PerfectHash, SEEN};
use crate::tables::list::index;
use crate::tables::reason::Detail;
use crate::tables::terms::{MAX_SEGMENT_BYTES, MAX_SEGMENTS, MAX_TARGET_BYTES};
use crate::tables::{COUNT, Literal, LiteralRow, NONE, Spelling, Tables, Template, Tuple, slice};

/// The result of the fast path.
#[derive(Clone, Copy)]
pub(crate) enum Found<'e> {
    /// This template is the most specific one that fits.
    Template(&'e Template),
    /// No template fits.
    Nothing,
    /// Together with the policy, the path breaks this rule (P19, P21).
    Refused(Detail),
    /// The target is not simple enough for the fast path.
    Unknown,
}

/// Shorter paths are copied into a buffer of this size.
const SHORTEST: usize = 16;

/// The number of a path's segments, and the parts of those segments that equal a literal at their position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Never 0, because the fast path requires a segment. So a missing key needs no third register.
    all: NonZero<u64>,
    /// The parts of literals that match only in a different letter case. They might also be parameter values.
    other_case: u64,
}

/// The key of a path that lacks the common prefix of all templates: no template has this number of segments.
const NO_TEMPLATE: Option<Key> = Key::new(COUNT, 0);

impl Key {
    #[inline(always)]
    const fn new(all: u64, other_case: u64) -> Option<Self> {
        match NonZero::new(all) {
            Some(all) => Some(Self { all, other_case }),
            None => None,
        }
    }
}

/// The template of a path's key. A target without a key needs some rule applied.
#[inline(always)]
pub(crate) fn find(tables: &Tables, key: Option<Key>) -> Found<'_> {
    match key {
        Some(key) => find_by(tables, key),
        None => Found::Unknown,
    }
}

/// [`key`], for an engine whose paths end in a slash or don't.
pub(crate) type KeyOf = fn(&Tables, &[u8]) -> Option<Key>;

/// The key of a path, or `None` to fall back to the slow path. `SLASH` if the policy's paths end in a slash, which the
/// key is without. Never inlined, so that the walk has the processor's registers to itself. That saves more than a
/// call costs.
#[inline(never)]
pub(crate) fn key<V: Vector, const SLASH: bool>(tables: &Tables, path: &[u8]) -> Option<Key> {
    match path.len() {
        length @ SHORTEST.. => key_of_long::<V, SLASH>(tables, path, length),
        _ => key_of_short::<V, SLASH>(tables, path),
    }
}

#[inline(never)]
fn key_of_short<V: Vector, const SLASH: bool>(tables: &Tables, path: &[u8]) -> Option<Key> {
    let mut padded = [b'-'; SHORTEST];
    for (to, from) in padded.iter_mut().zip(path) {
        *to = *from;
    }
    key_of_long::<V, SLASH>(tables, &padded, path.len())
}

/// The key of the path, which is the first `length` bytes of the target.
#[inline(always)]
fn key_of_long<V: Vector, const SLASH: bool>(tables: &Tables, bytes: &[u8], length: usize) -> Option<Key> {
    let Some(start) = below_prefix(tables, bytes) else {
        return key_outside_prefix::<V, SLASH>(tables, bytes, length);
    };
    let mut walk = Walk::new(tables, bytes)?;
    each_segment::<V, SLASH>(bytes, length, start, &mut walk)?;
    Key::new(walk.all, walk.other_case)
}

/// The key of a path that lacks the common prefix, so that no segment has to be interned.
#[inline(never)]
fn key_outside_prefix<V: Vector, const SLASH: bool>(tables: &Tables, bytes: &[u8], length: usize) -> Option<Key> {
    if bytes.first() != Some(&b'/') || !tables.needs_prefix {
        return None;
    }
    let left = MAX_SEGMENTS;
    let mut check = Check { bytes, left };
    each_segment::<V, SLASH>(bytes, length, 1, &mut check)?;
    NO_TEMPLATE
}

/// An action for each segment of a path. A trait, because a closure can't be marked `#[inline(always)]`, and some
/// closures weren't inlined.
trait Visit {
    /// Handles a segment, which is neither empty nor too long. `None` falls back to the slow path.
    fn segment(&mut self, start: usize, end: usize) -> Option<()>;
}

/// Only checks that the segments need no rule applied.
struct Check<'t> {
    bytes: &'t [u8],
    /// How many more segments are allowed.
    left: usize,
}

impl Visit for Check<'_> {
    #[inline(always)]
    fn segment(&mut self, start: usize, end: usize) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let is_simple = self.bytes.get(start) != Some(&b'.') || !is_dots(self.bytes.get(start..end));
        is_simple.then_some(())
    }
}

/// Calls `visit` with the start and end of each segment, beginning at `start`. `None` if a byte is reserved, if a
/// segment is empty or too long, or if `SLASH` is set and the path doesn't end in a slash.
///
/// ```text
/// for each block of 64 bytes of the path:
///     slashes = a bit for each `/`                     // the lowest bit is the first byte
///     if a byte is unusual: the path ends here if it is `?`, otherwise give up
///     ends = the slashes before the path's end, and the path's end
///     give up if two ends are adjacent, or if a segment from an earlier block is too long
///     for each bit of ends, from the lowest:
///         visit(start .. end); start = end + 1
/// ```
///
/// If `SLASH` is set, the final slash ends the last segment.
#[inline(always)]
fn each_segment<V: Vector, const SLASH: bool>(
    bytes: &[u8],
    mut length: usize,
    mut start: usize,
    visit: &mut impl Visit,
) -> Option<()> {
    let mut base = start;
    while base <= length {
        let (slashes, is_usual) = slashes::<V>(bytes, base)?;
        if !is_usual {
            length = before_query::<V>(bytes, base, length)?;
        }
        // The end of the path ends the last segment.
        let end = end_in_block(length, base);
        let mut ends = slashes & end.wrapping_sub(1) | if SLASH { 0 } else { end };
        let first = base.wrapping_add(index(ends.trailing_zeros()));
        // Only a segment that starts in an earlier block can be too long.
        let is_too_long = start < base && first.wrapping_sub(start) > MAX_SEGMENT_BYTES;
        let is_empty = ends & (ends << 1 | u64::from(start == base)) != 0;
        if is_empty || is_too_long {
            return None;
        }
        while ends != 0 {
            let end = base.wrapping_add(index(ends.trailing_zeros()));
            visit.segment(start, end)?;
            start = end.wrapping_add(1);
            ends &= ends.wrapping_sub(1);
        }
        base = base.wrapping_add(BLOCK);
    }
    (!SLASH || start == length).then_some(())
}

/// The state of a walk over the segments.
struct Walk<'e, 't> {
    tables: &'e Tables,
    bytes: &'t [u8],
    /// The literals at the next segment's position and the positions after it.
    positions: core::slice::Iter<'e, PerfectHash<Literal>>,
    /// As in [`Key`], so far.
    all: u64,
    other_case: u64,
}

impl<'e, 't> Walk<'e, 't> {
    #[inline(always)]
    fn new(tables: &'e Tables, bytes: &'t [u8]) -> Option<Self> {
        let common = tables.prefix.segments;
        Some(Self {
            tables,
            bytes,
            positions: tables.positions.get(index(common)..)?.iter(),
            all: u64::from(common),
            other_case: 0,
        })
    }
}

impl Visit for Walk<'_, '_> {
    /// Interns the segment.
    ///
    /// ```text
    /// give up if the segment is all dots
    /// literal = the only literal of this position that the segment's ends and length could be  // perfect hash
    /// part = literal.part if ends and length are the same, otherwise 0                       // 0: a parameter's value
    /// if they are the same only without regard to case: other_case |= part
    /// all += part + 1                                                                        // and one segment more
    /// ```
    #[inline(always)]
    fn segment(&mut self, start: usize, end: usize) -> Option<()> {
        let ends = ends(self.bytes, start, end)?;
        if ends.head as u8 == b'.' && is_dots(self.bytes.get(start..end)) {
            return None;
        }
        let length = end.wrapping_sub(start) as u32;
        let literals = self.positions.as_slice().first()?;
        let literal = literals.get(literals.seed.literal(ends, length))?;
        let differ = literal.ends.differ(ends);
        let unlike = differ & SEEN | u64::from(literal.length ^ length);
        // Branchless, because no processor can predict whether a segment is a literal.
        let part = select_unpredictable(unlike == 0, literal.part, 0);
        // One test for both, for the same reason. The sum can't wrap, because `SEEN` leaves some bits unset.
        if unlike.wrapping_add(u64::from(differ == 0)) == 0 {
            let segment = self.bytes.get(start..end)?;
            if has_other_case(self.tables, literal, segment)? {
                self.other_case |= part;
            }
        }
        self.positions.next();
        self.all = self.all.wrapping_add(part).wrapping_add(1);
        Some(())
    }
}

/// The ends of a segment. If eight bytes of the path precede the segment's end, they are read at once, and the bytes
/// before a shorter segment are shifted out.
#[inline(always)]
fn ends(bytes: &[u8], start: usize, end: usize) -> Option<Ends> {
    let word = |at: usize| {
        let word = bytes.get(at..end.max(8))?.first_chunk();
        word.map(|word| u64::from_le_bytes(*word))
    };
    if end < 8 {
        let after = (end as u32).wrapping_mul(8).wrapping_neg();
        let length = end.wrapping_sub(start) as u32;
        let before = length.wrapping_mul(8).wrapping_neg();
        let all = word(0)?.wrapping_shl(after).wrapping_shr(before);
        return Some(Ends { head: all, tail: all });
    }
    let last = end.wrapping_sub(8);
    let first = start.min(last);
    // The number of bits of the last eight bytes that precede the segment.
    let before = (start.wrapping_sub(first) as u32).wrapping_mul(8);
    Some(Ends { head: word(first)?.wrapping_shr(before), tail: word(last)?.wrapping_shr(before) })
}

/// Whether a segment consists only of dots.
#[cold]
#[inline(never)]
fn is_dots(segment: Option<&[u8]>) -> bool {
    segment.is_none_or(|segment| segment.iter().all(|byte| *byte == b'.'))
}

/// Looks up the template of a key.
#[inline(always)]
pub(crate) fn find_by(tables: &Tables, key: Key) -> Found<'_> {
    let template = match key.other_case {
        0 => tables.template(key.all.get()),
        _ => None,
    };
    template.map_or_else(|| find_in_tuples(tables, key), Found::Template)
}

/// The start of the first segment after the prefix. `None` if the path doesn't start with the prefix.
#[inline(always)]
fn below_prefix(tables: &Tables, bytes: &[u8]) -> Option<usize> {
    let prefix = &tables.prefix;
    let below = index(prefix.text.length);
    let head = u128::from_le_bytes(*bytes.first_chunk()?);
    let is_there = match below {
        0..16 => head & prefix.head_mask == prefix.head,
        // The first and the last 16 bytes cover the whole prefix.
        16..=32 => {
            let tail = bytes.get(below.wrapping_sub(16)..)?.first_chunk()?;
            (head ^ prefix.head) | (u128::from_le_bytes(*tail) ^ prefix.tail) == 0
        }
        _ => bytes.starts_with(tables.text.bytes(prefix.text)),
    };
    is_there.then_some(below)
}

/// The slashes of a block as bits, and whether the block has no reserved byte.
#[inline(always)]
fn slashes<V: Vector>(bytes: &[u8], base: usize) -> Option<(u64, bool)> {
    let mut all = V::splat(0);
    let slashes = positions_in_block(bytes, base, b'/', |bytes: V| {
        all = all.or(reserved(bytes));
        bytes
    });
    Some((slashes?, all.is_zero()))
}

/// The end of the path, for a target whose query starts in this block. `None` if another reserved byte comes before the
/// `?`, or if the query contains a byte that no target can have.
#[inline(never)]
fn before_query<V: Vector>(bytes: &[u8], base: usize, length: usize) -> Option<usize> {
    let usual = positions_in_block(bytes, base, 0, reserved::<V>)?;
    let end = base.wrapping_add(index(usual.trailing_ones()));
    if bytes.get(end) != Some(&b'?') || length > MAX_TARGET_BYTES {
        return None;
    }
    // Start one register before the end if the query is shorter: the path's bytes are valid in a target as well.
    let from = end.min(bytes.len().saturating_sub(V::BYTES));
    is_clear(bytes.get(from..)?, refused::<V>).then_some(end)
}

/// Whether a segment differs from a literal only in letter case, given that their ends match without case. `None`
/// unless the literal has exactly one spelling and no other literal has the same ends.
#[cold] // so that the walk keeps what it needs in registers
#[inline(never)]
fn has_other_case(tables: &Tables, literal: &Literal, segment: &[u8]) -> Option<bool> {
    let row = tables.literal_rows.get(index(literal.id))?;
    let [spelling] = slice(&tables.spellings, row.spellings) else {
        return None;
    };
    let text = tables.text.bytes(spelling.text);
    let is_it = row.alike == 1 && text.eq_ignore_ascii_case(segment);
    is_it.then_some(text != segment)
}

/// The most specific template that fits, if some of the path's literals are parameter values.
#[inline(never)]
fn find_in_tuples(tables: &Tables, key: Key) -> Found<'_> {
    let all = key.all.get();
    let count = (all & COUNT) as u32;
    if tables.tuples_of(count).is_empty() {
        return Found::Nothing;
    }
    let common = tables.prefix.segments;
    let mut literals = 1_u32.wrapping_shl(common).wrapping_sub(1);
    for (position, field) in (common..count).zip(tables.fields.iter().skip(index(common))) {
        literals |= u32::from(all & field != 0).wrapping_shl(position);
    }
    choose(tables, count, literals, |tuple, exactly| {
        let fits = tuple.fields & key.other_case == 0;
        // The tuple of all these literals was already looked up.
        let is_known = fits && tuple.literals == literals;
        if is_known || exactly && !fits {
            return None;
        }
        let template = tables.template(all & (tuple.fields | COUNT))?;
        Some((template, fits))
    })
}

/// The most specific template that fits (rule P20) among the tuples whose literals are all in `literals`. The path is
/// rejected if a more specific template would fit in a different letter case (P21). `fit` returns the template of a
/// tuple, and whether it fits exactly. Once a template fits except for letter case, the others count only if they fit
/// exactly.
#[inline(always)]
fn choose<'e>(
    tables: &'e Tables,
    count: u32,
    literals: u32,
    fit: impl Fn(&Tuple, bool) -> Option<(&'e Template, bool)>,
) -> Found<'e> {
    let mut is_ambiguous = false;
    let tuples = tables.tuples_of(count).iter();
    for tuple in tuples.filter(|tuple| tuple.literals & !literals == 0) {
        match fit(tuple, is_ambiguous) {
            Some((_, false)) => is_ambiguous = true,
            Some(_) if is_ambiguous => return Found::Refused(Detail::AmbiguousCase),
            Some((template, true)) => return Found::Template(template),
            None => {}
        }
    }
    Found::Nothing
}

impl Tables {
    /// Looks up the template of this key.
    #[inline(always)]
    fn template(&self, key: u64) -> Option<&Template> {
        #[cfg(test)]
        tests::LOOK_UPS.set(tests::LOOK_UPS.get().saturating_add(1));
        let template = self.templates.get(self.templates.seed.number(key))?;
        (template.key == key).then_some(template)
    }

    /// The tuples of templates with this number of segments, the most specific first (rule P20).
    fn tuples_of(&self, count: u32) -> &[Tuple] {
        let run = self.tuple_runs.get(index(count));
        slice(&self.tuples, run.copied().unwrap_or_default())
    }

    /// The literal at this position, in any letter case.
    fn literal(&self, position: u32, segment: &[u8]) -> Option<&LiteralRow> {
        let ends = Ends::of(segment);
        let length = u32::try_from(segment.len()).ok()?;
        let literals = self.positions.get(index(position))?;
        let literal = literals.get(literals.seed.literal(ends, length))?;
        if literal.ends.differ(ends) & SEEN != 0 || literal.length != length {
            return None;
        }
        let start = index(literal.id);
        let alike = index(self.literal_rows.get(start)?.alike);
        let rows = self.literal_rows.get(start..start.checked_add(alike)?)?;
        let text = |row: &LiteralRow| {
            let spelling = slice(&self.spellings, row.spellings).first();
            spelling.map_or(&[][..], |spelling| self.text.bytes(spelling.text))
        };
        if let [row] = rows {
            return text(row).eq_ignore_ascii_case(segment).then_some(row);
        }
        let at = rows.binary_search_by(|row| in_small_letters(text(row)).cmp(in_small_letters(segment)));
        rows.get(at.ok()?)
    }
}

fn in_small_letters(text: &[u8]) -> impl Iterator<Item = u8> {
    text.iter().map(u8::to_ascii_lowercase)
}

/// The most specific template that fits an accepted path (rule P20), or the rule that the path and this policy break
/// together (P19, P21).
pub(crate) fn find_exactly<'e>(tables: &'e Tables, path: &Path<'_>) -> Found<'e> {
    let count = u32::try_from(path.segments().len()).unwrap_or(NONE);
    let this_length = 1_u32.wrapping_shl(count.wrapping_sub(1));
    let mut parts = [0_u64; MAX_SEGMENTS];
    let mut literals = 0_u32;
    for ((position, segment), part) in (0..).zip(path.segments()).zip(&mut parts) {
        let decoded = path.decoded(segment);
        let text = decoded.as_ref().map_or(segment, Decoded::as_bytes);
        let Some(row) = tables.literal(position, text) else {
            continue;
        };
        let mut spellings = slice(&tables.spellings, row.spellings).iter();
        let is_spelt_so =
            |spelling: &Spelling| spelling.lengths & this_length != 0 && tables.text.bytes(spelling.text) == text;
        if decoded.is_some() && spellings.any(is_spelt_so) {
            return Found::Refused(Detail::NonCanonicalLiteral);
        }
        *part = row.part;
        literals |= 1_u32.wrapping_shl(position);
    }
    choose(tables, count, literals, |tuple, exactly| {
        let own = |position: u32| tuple.literals.wrapping_shr(position) & 1 == 1;
        let parts = (0..count).zip(&parts).filter(|(position, _)| own(*position));
        let key = parts.fold(u64::from(count), |key, (_, part)| key.wrapping_add(*part));
        let template = tables.template(key)?;
        let is_exact = fit(tables, template, tuple, path, exactly)?;
        Some((template, is_exact))
    })
}

/// Whether the template with this tuple fits a path exactly or, if it doesn't, whether it fits after decoding escapes
/// and ignoring letter case. `None` if it fits neither way. A comparison stops at the first difference.
fn fit(tables: &Tables, template: &Template, tuple: &Tuple, path: &Path<'_>, exactly: bool) -> Option<bool> {
    let own = tables.template_text(template.first_route);
    let own = own.map_or(&[][..], |own| tables.text.bytes(own));
    // The root has a slash and no segment.
    let own = own.split(|byte| *byte == b'/').skip(1);
    let mut own = own.filter(|own| !own.is_empty());
    let mut is_exact = true;
    for (position, segment) in (0..).zip(path.segments()) {
        let own = own.next()?;
        let is_literal = tuple.literals.wrapping_shr(position) & 1 == 1;
        if is_literal && own == segment || !is_literal && own.starts_with(b"{") {
            continue;
        }
        let decoded = path.decoded(segment);
        let text = decoded.as_ref().map_or(segment, Decoded::as_bytes);
        if exactly || !is_literal || !own.eq_ignore_ascii_case(text) {
            return None;
        }
        is_exact = false;
    }
    own.next().is_none().then_some(is_exact)
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::{Found, find_by, key};
    #[cfg(not(orbgate_portable))]
    use crate::decide::vector::Plain;
    use crate::decide::vector::{Native, Vector};
    use crate::engine::Engine;

    thread_local! {
        /// The number of template lookups by key.
        pub(super) static LOOK_UPS: Cell<u32> = const { Cell::new(0) };
    }

    /// A policy with 63 tuples for paths of eight segments, and a path of literals that fits none of them. The caller
    /// also chooses the method.
    #[cfg(feature = "yaml")]
    #[test]
    fn no_method_doubles_the_look_ups() {
        let mut policy = String::from(
            "orbgate: 1\napis:\n  a:\n    base_path: \"\"\n    scopes:\n      s:\n        orbs: false\n        routes:\n          - GET /z/z/z/z/z/z/y/y/y\n",
        );
        for mixture in 0..63_u32 {
            let segment = |at| match mixture & 1_u32.wrapping_shl(at) {
                0 => format!("/{{p{at}}}"),
                _ => "/z".to_owned(),
            };
            let path: String = (0..6).map(segment).collect();
            policy.push_str(&format!("          - GET {path}/x{mixture}/{{q}}\n"));
        }
        let engine = Engine::new(&crate::policy::Policy::from_yaml(&policy).unwrap());
        let look_ups = |method: &str, target: &str| {
            LOOK_UPS.set(0);
            let token = Some(crate::decide::token::Token::user("s"));
            let decision = engine.decide(&crate::decide::request::Request {
                method: method.as_bytes(),
                target: target.as_bytes(),
                token,
                allow_bonus_orbs_use: false,
            });
            assert_eq!(decision.reason(), crate::tables::reason::Reason::NoRoute);
            LOOK_UPS.get()
        };
        // A method that the policy lacks, and one that no policy has a column for.
        for method in ["GET", "PUT", "PROPPATCHES"] {
            assert_eq!(look_ups(method, "/z/z/z/z/z/z/y/y"), 64, "{method}");
            assert_eq!(look_ups(method, "/z/z/z/z/z/z/y/y?a=b"), 64, "{method}");
            assert_eq!(look_ups(method, "/z/z/z/z/z/z/y/~"), 63, "{method}");
        }
    }

    /// The template that the fast path finds without help from the slow path.
    fn found<V: Vector>(path: &str) -> Option<u64> {
        let tables = &Engine::external().tables;
        match find_by(tables, key::<V, false>(tables, path.as_bytes())?) {
            Found::Template(template) => Some(template.key),
            _ => None,
        }
    }

    /// Tests of decisions can't see whether a target took the slow path needlessly.
    #[test]
    fn simple_targets_take_the_fast_path() {
        let tables = &Engine::external().tables;
        for path in "/x /favicon.ico /x?y /api/v1/external /.well-known/.hidden?/.. /Api/v1/external/orbs".split(' ') {
            let key = key::<Native, false>(tables, path.as_bytes());
            assert_eq!(key, super::NO_TEMPLATE, "{path}");
        }
        let long = "x".repeat(256);
        for route in Engine::external().routes() {
            assert!(tables.methods.column(route.method().as_bytes()).is_some());
            for value in ["7", ".7", "12345678", "b9c1-1111_2222.3333-444455556666", &long] {
                let segment = |segment| match str::starts_with(segment, '{') {
                    true => value,
                    false => segment,
                };
                let path: Vec<_> = route.template().split('/').map(segment).collect();
                let path = path.join("/");
                for query in ["?", "?page=2&per_page=100", "?a=\"/../b!?%zz;[]|~", &format!("?{long}")] {
                    let with_query = format!("{path}{query}");
                    assert_eq!(found::<Native>(&with_query), found::<Native>(&path), "{with_query}");
                    #[cfg(not(orbgate_portable))]
                    assert_eq!(found::<Plain>(&with_query), found::<Native>(&path));
                }
                assert!(found::<Native>(&path).is_some(), "{path}");
                #[cfg(not(orbgate_portable))]
                assert_eq!(found::<Plain>(&path), found::<Native>(&path));
            }
        }
    }
}
