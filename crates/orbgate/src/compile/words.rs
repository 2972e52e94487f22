//! The literals of all templates, by position, and what stands for each in a shape's key.

use super::perfect::perfect_hash;
use super::templates::{Literal, PARAMETER, Templates};
use super::{TextPool, id};
use crate::hash::{self, Ends, PerfectHash};
use crate::list::Span;
use crate::tables::{CLOSER, OtherWord, Prefix, Run, Word, WordRow};
use crate::terms::MAX_SEGMENTS;

/// The literals by position, and what stands for each.
pub(super) struct Words {
    pub(super) hash: PerfectHash<Word>,
    pub(super) rows: Vec<WordRow>,
    pub(super) others: Vec<OtherWord>,
    /// By the number of a literal; first, for a parameter, nothing.
    signs: Vec<Sign>,
    /// Whether the shares of all positions fit side by side into a key.
    pub(super) keys_fit: bool,
}

/// What stands for a literal.
#[derive(Clone, Copy, Default)]
pub(super) struct Sign {
    pub(super) symbol: u32,
    /// Its share of the key of every shape that has it.
    pub(super) share: u64,
    pub(super) text: Span,
}

impl Words {
    pub(super) fn of<'t>(
        templates: &Templates<'t>,
        common: usize,
        text: &mut TextPool<'t>,
    ) -> Self {
        let literals = in_lower_case(&templates.literals);
        let (signs, keys_fit) = signs(&literals, common, text);
        let sign = |number| signs.get(hash::index(number)).copied().unwrap_or_default();
        let mut spellings: Vec<_> = literals
            .iter()
            .map(|(number, literal)| Spelling::of(literal, sign(*number)))
            .collect();
        // Stable: those of one slot stay in the order of their symbols.
        spellings.sort_by_key(|spelling| spelling.slot);
        let (words, rows, others) = lay_out(&spellings);
        let hash = perfect_hash(&words, &words, |word, seed| {
            hash::word_hash(
                seed,
                word.tag & !CLOSER,
                Ends {
                    first: word.first,
                    last: word.last,
                },
            )
        });
        Self {
            hash,
            rows,
            others,
            signs,
            keys_fit,
        }
    }

    /// What stands for the literal of this number; for a parameter nothing.
    pub(super) fn sign(&self, number: u32) -> Sign {
        let sign = self.signs.get(hash::index(number));
        sign.copied().unwrap_or_default()
    }

    /// The key of the shape that has these segments.
    pub(super) fn key(&self, segments: &[u32], common: usize) -> u64 {
        let count = u64::from(id(segments.len().saturating_sub(common)));
        let shares = segments.iter().map(|number| self.sign(*number).share);
        shares.fold(count, |key, share| key | share)
    }
}

/// The literals with their numbers; those of one position that differ only in case stand together.
fn in_lower_case<'l, 't>(literals: &'l [Literal<'t>]) -> Vec<(u32, &'l Literal<'t>)> {
    let folded = |text: &'l str| text.bytes().map(|byte| byte.to_ascii_lowercase());
    let mut literals: Vec<_> = (1..).zip(literals).collect();
    // Without capital letters this is the order in which they stand.
    literals.sort_by(|(_, a), (_, b)| {
        let positions = a.position.cmp(&b.position);
        positions.then_with(|| folded(a.text).cmp(folded(b.text)))
    });
    literals
}

/// What stands for each literal, by its number, and whether all shares of a key fit side by side.
///
/// A symbol stands for a word: all spellings that differ only in case. Its share of a key is its number
/// among the words of its position, each position with bits of its own above the six that count the
/// segments. So a key says exactly which words it has. Words of the common prefix need no share.
fn signs<'t>(
    literals: &[(u32, &Literal<'t>)],
    common: usize,
    text: &mut TextPool<'t>,
) -> (Vec<Sign>, bool) {
    let mut signs = vec![Sign::default(); literals.len().saturating_add(1)];
    let mut symbol = 0_u32;
    let mut counts = [0_u64; 64];
    let mut before: Option<&Literal<'_>> = None;
    for (number, literal) in literals {
        let count = counts.get_mut(literal.position);
        let count = count.filter(|_| literal.position >= common);
        let step = !before.is_some_and(|before| before.is_one_word_with(literal));
        symbol = symbol.saturating_add(step.into());
        let number_there = count.map_or(0, |count| {
            *count = count.saturating_add(step.into());
            *count
        });
        if let Some(sign) = signs.get_mut(hash::index(*number)) {
            *sign = Sign {
                symbol,
                share: number_there,
                text: text.span(literal.text),
            };
        }
        before = Some(literal);
    }
    let mut offsets = [0_u32; 64];
    let mut offset = 6_u32;
    for (slot, count) in offsets.iter_mut().zip(counts) {
        *slot = offset;
        offset = offset.saturating_add(u64::BITS.saturating_sub(count.leading_zeros()));
    }
    for (number, literal) in literals {
        if let Some(sign) = signs.get_mut(hash::index(*number)) {
            let offset = offsets.get(literal.position).copied();
            let share = sign.share.checked_shl(offset.unwrap_or(u64::BITS));
            sign.share = share.unwrap_or(0);
        }
    }
    (signs, offset <= u64::BITS)
}

/// A literal with what the lookup's hash sees of it: tag and folded ends.
struct Spelling<'l> {
    slot: (u32, u64, u64),
    text: &'l str,
    lengths: u32,
    sign: Sign,
}

impl<'l> Spelling<'l> {
    fn of(literal: &Literal<'l>, sign: Sign) -> Self {
        let text = literal.text;
        let ends = Ends::of(text.as_bytes()).folded();
        let tag = hash::tag(text.len(), literal.position);
        Self {
            slot: (tag, ends.first, ends.last),
            text,
            lengths: literal.lengths,
            sign,
        }
    }

    const fn other_word(&self) -> OtherWord {
        OtherWord {
            text: self.sign.text,
            lengths: self.lengths,
            symbol: self.sign.symbol,
        }
    }
}

/// From spellings sorted by slot: the words as they are looked up, the rest about them by symbol, and those
/// that share the slot of another.
fn lay_out(spellings: &[Spelling<'_>]) -> (Vec<Word>, Vec<WordRow>, Vec<OtherWord>) {
    let symbols = spellings.iter().map(|spelling| spelling.sign.symbol);
    let count = hash::index(symbols.max().unwrap_or_default());
    let mut rows = vec![WordRow::default(); count.saturating_add(1)];
    let mut words = Vec::with_capacity(spellings.len());
    let mut others = Vec::new();
    for of_slot in spellings.chunk_by(|a, b| a.slot == b.slot) {
        let Some((spelling, more)) = of_slot.split_first() else {
            continue;
        };
        let Sign {
            symbol,
            share,
            text,
        } = spelling.sign;
        let Ends { first, last } = Ends::of(spelling.text.as_bytes());
        let (tag, _, _) = spelling.slot;
        let ends_are_all = more.is_empty() && text.length <= 16;
        words.push(Word {
            first,
            last,
            key: share,
            tag: if ends_are_all { tag } else { tag | CLOSER },
            symbol,
        });
        if let Some(row) = rows.get_mut(hash::index(symbol)) {
            *row = WordRow {
                text,
                lengths: spelling.lengths,
                others: Run {
                    start: id(others.len()),
                    length: id(more.len()),
                },
            };
        }
        others.extend(more.iter().map(Spelling::other_word));
    }
    (words, rows, others)
}

/// What all templates start with; `by_position` has the shares of all words at each position.
pub(super) fn prefix<'t>(
    templates: &Templates<'t>,
    common: usize,
    by_position: &[u64],
    text: &mut TextPool<'t>,
) -> Prefix {
    let Some(first) = templates.routes.first() else {
        return Prefix::default();
    };
    let segments = templates.segments(first.segments).iter().take(common);
    let literals = segments.filter_map(|number| templates.literal(*number));
    // Each behind its slash.
    let length = literals.fold(0_usize, |length, literal| {
        length.saturating_add(1).saturating_add(literal.text.len())
    });
    let literal = first.full().get(..length).unwrap_or_default();
    let ends = Ends::of(literal.as_bytes());
    let mut next = templates
        .routes
        .iter()
        .filter_map(|route| templates.segments(route.segments).get(common));
    let only_words = next.all(|number| *number != PARAMETER);
    Prefix {
        text: text.span(literal),
        first: ends.first,
        last: ends.last,
        segments: id(common),
        first_share: match only_words {
            true => by_position.get(common).copied().unwrap_or_default(),
            false => u64::MAX,
        },
    }
}

/// By position, the shares of all words there.
pub(super) fn position_shares(templates: &Templates<'_>, words: &Words) -> Vec<u64> {
    let mut at_position = vec![0; MAX_SEGMENTS];
    for (number, literal) in (1..).zip(&templates.literals) {
        if let Some(shares) = at_position.get_mut(literal.position) {
            *shares |= words.sign(number).share;
        }
    }
    at_position
}

/// By the number of segments below the prefix, the shares of all words where a template of so many has
/// a parameter.
pub(super) fn parameter_shares(
    templates: &Templates<'_>,
    common: usize,
    at_position: &[u64],
) -> Vec<u64> {
    let mut by_count = vec![0; MAX_SEGMENTS.saturating_add(1)];
    for template in &templates.routes {
        let segments = templates.segments(template.segments);
        let parameters = segments.iter().zip(at_position);
        let parameters = parameters.filter(|(number, _)| **number == PARAMETER);
        let shares = parameters.fold(0, |shares, (_, share)| shares | share);
        let count = segments.len().saturating_sub(common);
        if let Some(of_count) = by_count.get_mut(count) {
            *of_count |= shares;
        }
    }
    by_count
}
