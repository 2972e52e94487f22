//! Words that are likely the same: they differ only in case or plural, or in one character.

use core::hash::{BuildHasher, BuildHasherDefault};
use core::ops::ControlFlow;
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;

/// Longer words aren't compared, because people don't type or read them letter by letter.
const LONGEST: usize = 64;
/// In shorter words, one letter is a large difference.
const SHORTEST: usize = 5;

/// Maps words that differ only in case or plural to the same string.
pub(super) fn alike(name: &str) -> String {
    let words = name.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric());
    words.map(alike_word).collect()
}

fn alike_word(word: &str) -> String {
    let word = word.to_ascii_lowercase();
    let letters = word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let rest = word.get(letters.len()..).unwrap_or_default();
    let singular = match letters.strip_suffix("ies") {
        Some(stem) if stem.len() > 1 => format!("{stem}y"),
        _ => {
            let sibilant = ["ses", "xes", "zes", "ches", "shes"];
            let strip = |plural: &str| letters.strip_suffix(plural);
            let without_es = sibilant.iter().any(|end| letters.ends_with(end));
            let stem = if without_es { strip("es") } else { strip("s") };
            let stem = stem.filter(|stem| stem.len() > 1 && !stem.ends_with('s') || without_es);
            stem.unwrap_or(letters).to_owned()
        }
    };
    singular + rest
}

/// Visits each pair of words that differ in one character (changed, missing, added or swapped with the next), but not
/// only in case or plural, by their positions in the list.
pub(super) fn similar(words: &[&str], mut visit: impl FnMut(usize, usize) -> ControlFlow<()>) -> ControlFlow<()> {
    // Two such words contain the same digits, and become equal if at most one character of each is removed. There are
    // up to 65 such strings for each word, so only their hashes are kept.
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut texts: Vec<(u64, usize)> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if !(SHORTEST..=LONGEST).contains(&word.len()) {
            continue;
        }
        let digits = digits(word);
        let hash = |text: &[u8]| (hasher.hash_one((&digits, text)), at);
        texts.extend((0..word.len()).map(|left_out| hash(&without(word, left_out))));
        texts.push(hash(word.as_bytes()));
    }
    texts.sort_unstable();
    texts.dedup();
    let mut seen = HashSet::new();
    for mut alike in texts.chunk_by(|(one, _), (two, _)| one == two) {
        while let [(_, at), others @ ..] = alike {
            alike = others;
            for (_, other) in others {
                let (Some(one), Some(two)) = (words.get(*at), words.get(*other)) else {
                    continue;
                };
                if is_similar(one, two) && seen.insert((*at, *other)) {
                    visit(*at, *other)?;
                }
            }
        }
    }
    ControlFlow::Continue(())
}

/// The word without one of its characters. Scopes and literals are ASCII.
fn without(word: &str, left_out: usize) -> Vec<u8> {
    let bytes = word.bytes().enumerate();
    bytes.filter_map(|(at, byte)| (at != left_out).then_some(byte)).collect()
}

/// The digits of a word. Numbers differ on purpose, as in `read:v1` and `read:v2`.
fn digits(word: &str) -> Vec<u8> {
    word.bytes().filter(u8::is_ascii_digit).collect()
}

fn is_similar(one: &str, two: &str) -> bool {
    digits(one) == digits(two) && strsim::osa_distance(one, two) == 1 && alike(one) != alike(two)
}

/// Whether two words differ only in two swapped neighbours, which is rare for real words.
pub(super) fn is_exchange(one: &str, two: &str) -> bool {
    let differing = one.bytes().zip(two.bytes()).filter(|(a, b)| a != b);
    one.len() == two.len() && differing.count() == 2
}
