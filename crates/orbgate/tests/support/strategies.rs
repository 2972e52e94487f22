//! Words, scopes and sizes of random policies and requests: few, so that they collide often.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Few words, so that templates share them: short and long, with equal ends, with case variants, with
/// characters that need care.
pub const WORDS: &[&str] = &[
    "a",
    "b",
    "A",
    "run",
    "Run",
    "store",
    "STORE",
    "prompt",
    "prompts",
    "@me",
    "@ME",
    "@meet",
    "a+b",
    "A+b",
    "a:b",
    "x.y",
    "v1",
    "~_",
    "starter-sentences",
    "starter-Sentences",
    "aaaaaaaaXbbbbbbbb",
    "aaaaaaaaYbbbbbbbb",
    "aaaaaaaaxbbbbbbbb",
    "aaaaaaaabbbbbbbb",
    "aaaaaaaa",
    "a-very-long-literal-that-takes-more-than-two-words-1",
    "a-very-long-literal-that-takes-more-than-two-words-2",
    "a-very-long-literal-thaT-takes-more-than-two-words-2",
];

/// The scopes of every policy.
pub const SCOPES: &[&str] = &[
    "read:x",
    "write:x",
    "READ:x",
    "read:x2",
    "read",
    "x",
    "a-scope-of-more-than-16-bytes",
    "read:*",
    "read/",
    "https://a.example/auth/read:x//",
    "https://a.example/auth/a-scope-of-more-than-64-bytes/and-one-place-x/read",
    "https://a.example/auth/a-scope-of-more-than-64-bytes/and-one-place-y/read",
];

pub const METHODS: &[&str] =
    &["GET", "POST", "OPTIONS", "TRACE", "MOVE", "COPY", "PUT", "PATCH", "DELETE", "HEAD", "M", "ABCDEFGHIJKLMNOP"];

/// Bytes of a template or a target, at and around each power of two and each limit.
pub const SIZES: &[usize] = &[
    7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1_023, 1_024, 1_025,
    2_047, 2_048, 2_049, 4_095, 4_096, 4_097, 8_191, 8_192, 8_193,
];

/// A word of this many bytes. Two of one length differ in one byte, which is neither one of the first eight nor
/// one of the last eight.
pub fn long_word(length: usize, position: usize, mark: char) -> String {
    let middle = length - 16;
    let mut word = format!("headhead{}tailtail", "m".repeat(middle));
    let at = 8 + position % middle;
    word.replace_range(at..=at, &mark.to_string());
    word
}

/// Words that are alike in length, in the first eight bytes and in the last eight.
pub fn long_words() -> impl Strategy<Value = Vec<String>> {
    let lengths = &[17, 18, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 255, 256][..];
    let marks = vec((any::<Index>(), select(&['x', 'y', 'X', '.'][..])), 1..5);
    (select(lengths), marks).prop_map(|(length, marks)| {
        let word = |(position, mark): (Index, char)| long_word(length, position.index(length - 16), mark);
        marks.into_iter().map(word).collect()
    })
}

/// Scope texts: subsets with stray spaces and strangers, and one scope at every position of a text.
pub fn scopes() -> impl Strategy<Value = Vec<u8>> {
    let changed = (select(SCOPES), any::<Index>(), any::<u8>()).prop_map(|(scope, at, byte)| {
        let mut bytes = scope.as_bytes().to_vec();
        *at.get_mut(&mut bytes) = byte;
        bytes
    });
    let piece = prop_oneof![
        8 => select(SCOPES).prop_map(|scope| scope.as_bytes().to_vec()),
        1 => select(&["", " ", "read:x,write:x", "read:x\t", "rea", "ead:x", "unknown", "/", "//"][..])
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => vec(32..127_u8, 0..6),
        1 => changed,
    ];
    let list = vec(piece, 0..8).prop_map(|scopes| scopes.join(&b' '));
    prop_oneof![3 => list, 1 => placed(select(SCOPES))]
}

/// One scope at any position of a text, alone or inside a word.
pub fn placed(scope: impl Strategy<Value = &'static str>) -> impl Strategy<Value = Vec<u8>> {
    let around = &["", "", " ", " ", "x", "/", ":", "\0", "\u{a0}"][..];
    let filler = select(&["x", " ", "/", "read:y ", "a scope", "ead:x r"][..]);
    let parts = (filler, 0..200_usize, select(around), scope, select(around));
    parts.prop_map(|(filler, length, before, scope, after)| {
        let mut text: String = filler.chars().cycle().take(length).collect();
        for part in [before, scope, after] {
            text.push_str(part);
        }
        text.into_bytes()
    })
}
