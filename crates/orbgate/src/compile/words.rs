//! The literals of all templates, by position, and what stands for each in a shape's key.

use std::collections::{BTreeMap, HashMap};

use super::perfect::perfect_hash;
use super::templates::{Template, Templates};
use super::{TextPool, id};
use crate::hash::{self, Ends, PerfectHash};
use crate::tables::{CLOSER, OtherWord, Prefix, Run, Word, WordRow};
use crate::terms::MAX_SEGMENTS;

/// The literals by position, and what stands for each.
pub(super) struct Words {
    pub(super) hash: PerfectHash<Word>,
    pub(super) rows: Vec<WordRow>,
    pub(super) others: Vec<OtherWord>,
    /// By position and literal in lower case: symbol, and share of a shape's key.
    pub(super) symbols: HashMap<(usize, String), (u32, u64)>,
    /// Whether the shares of all positions fit side by side into a key.
    pub(super) keys_fit: bool,
}

/// What the lookup's hash sees of a word: tag and folded ends.
pub(super) type Slot = (u32, u64, u64);

impl Words {
    pub(super) fn of(templates: &Templates<'_>, common: usize, text: &mut TextPool) -> Self {
        // By position and folded literal: its spellings, each with the lengths of its templates.
        let mut places: BTreeMap<(usize, String), BTreeMap<&str, u32>> = BTreeMap::new();
        for template in &templates.routes {
            let length = 1_u32.wrapping_shl(id(template.segments.len().saturating_sub(1)));
            for (position, literal) in template.literals().enumerate() {
                let Some(literal) = literal else { continue };
                let spellings = places
                    .entry((position, literal.to_ascii_lowercase()))
                    .or_default();
                *spellings.entry(literal).or_default() |= length;
            }
        }
        let (shares, keys_fit) = shares(&places, common);
        let mut symbols = HashMap::with_capacity(places.len());
        let mut slots: BTreeMap<Slot, Vec<OtherWord>> = BTreeMap::new();
        for (symbol, ((place, spellings), share)) in (1..).zip(places.iter().zip(shares)) {
            symbols.insert(place.clone(), (symbol, share));
            for (literal, lengths) in spellings {
                let ends = Ends::of(literal.as_bytes()).folded();
                let tag = hash::tag(literal.len(), place.0);
                let text = text.span(literal);
                let slot = slots.entry((tag, ends.first, ends.last)).or_default();
                slot.push(OtherWord {
                    text,
                    lengths: *lengths,
                    symbol,
                });
            }
        }
        let mut words = Vec::with_capacity(slots.len());
        let mut rows = vec![WordRow::default(); places.len().saturating_add(1)];
        let mut others = Vec::new();
        let by_symbol: HashMap<u32, u64> = symbols.values().copied().collect();
        for ((tag, _, _), spellings) in slots {
            let Some((word, more)) = spellings.split_first() else {
                continue;
            };
            let Ends { first, last } = Ends::of(text.get(word.text).as_bytes());
            let share = by_symbol.get(&word.symbol).copied().unwrap_or_default();
            let ends_are_all = more.is_empty() && word.text.length <= 16;
            words.push(Word {
                first,
                last,
                key: share,
                tag: if ends_are_all { tag } else { tag | CLOSER },
                symbol: word.symbol,
            });
            if let Some(row) = rows.get_mut(hash::index(word.symbol)) {
                *row = WordRow {
                    text: word.text,
                    lengths: word.lengths,
                    others: Run {
                        start: id(others.len()),
                        length: id(more.len()),
                    },
                };
            }
            others.extend_from_slice(more);
        }
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
            symbols,
            keys_fit,
        }
    }

    /// A template's symbols, 0 for each parameter, and the key of its shape.
    pub(super) fn symbols(&self, template: &Template<'_>, common: usize) -> (Vec<u32>, u64) {
        let mut key = u64::from(id(template.segments.len().saturating_sub(common)));
        let mut symbols = Vec::with_capacity(template.segments.len());
        for (position, literal) in template.literals().enumerate() {
            let place = literal.map(|literal| (position, literal.to_ascii_lowercase()));
            let found = place.and_then(|place| self.symbols.get(&place).copied());
            let (symbol, share) = found.unwrap_or_default();
            symbols.push(symbol);
            key |= share;
        }
        (symbols, key)
    }
}

/// Each word's share of a shape's key: its number among the words of its position, each position with
/// bits of its own above the six that count the segments. So a key says exactly which words it has.
/// Words of the common prefix need no share.
pub(super) fn shares(
    places: &BTreeMap<(usize, String), BTreeMap<&str, u32>>,
    common: usize,
) -> (Vec<u64>, bool) {
    let mut counts = [0_u64; 64];
    let count_of = |counts: &mut [u64; 64], position: usize| {
        let count = counts.get_mut(position).filter(|_| position >= common);
        count.map_or(0, |count| {
            *count = count.saturating_add(1);
            *count
        })
    };
    let numbers: Vec<_> = places
        .keys()
        .map(|(at, _)| (*at, count_of(&mut counts, *at)))
        .collect();
    let mut offsets = [0_u32; 64];
    let mut offset = 6_u32;
    for (slot, count) in offsets.iter_mut().zip(counts) {
        *slot = offset;
        offset = offset.saturating_add(u64::BITS.saturating_sub(count.leading_zeros()));
    }
    let share = |(at, number): (usize, u64)| {
        let offset = offsets.get(at).copied().unwrap_or(u64::BITS);
        number.checked_shl(offset).unwrap_or(0)
    };
    (
        numbers.into_iter().map(share).collect(),
        offset <= u64::BITS,
    )
}

pub(super) fn prefix(
    templates: &Templates<'_>,
    common: usize,
    words: &HashMap<(usize, String), (u32, u64)>,
    text: &mut TextPool,
) -> Prefix {
    let Some(first) = templates.routes.first() else {
        return Prefix::default();
    };
    let end = common
        .checked_sub(1)
        .and_then(|last| first.segments.get(last));
    let literal = first
        .full
        .get(..end.map_or(0, |segment| segment.end))
        .unwrap_or_default();
    let ends = Ends::of(literal.as_bytes());
    let mut next = templates
        .routes
        .iter()
        .filter_map(|route| route.segments.get(common));
    let only_words = next.all(|segment| segment.is_literal);
    let at_first = words
        .iter()
        .filter(|((position, _), _)| *position == common);
    Prefix {
        text: text.span(literal),
        first: ends.first,
        last: ends.last,
        segments: id(common),
        first_share: match only_words {
            true => at_first.fold(0, |bits, (_, (_, share))| bits | share),
            false => u64::MAX,
        },
    }
}

/// By position, the shares of all words there.
pub(super) fn position_shares(words: &HashMap<(usize, String), (u32, u64)>) -> Vec<u64> {
    let mut at_position = vec![0; MAX_SEGMENTS];
    for ((position, _), (_, share)) in words {
        if let Some(shares) = at_position.get_mut(*position) {
            *shares |= share;
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
        let literals = template.literals().zip(at_position);
        let parameters = literals.filter(|(literal, _)| literal.is_none());
        let shares = parameters.fold(0, |shares, (_, share)| shares | share);
        let count = template.segments.len().saturating_sub(common);
        if let Some(of_count) = by_count.get_mut(count) {
            *of_count |= shares;
        }
    }
    by_count
}
