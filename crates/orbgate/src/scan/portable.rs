//! A block on any processor: eight bytes at a time in ordinary words, each byte's answer in its top bit. Four blocks
//! are enough that the compiler takes them in whatever wide registers the processor has.

use super::{BLOCK, Marks, is_usual};

/// What is where.
#[inline(always)]
pub(super) fn marks(block: &[u8; BLOCK]) -> Marks {
    let [low, high] = words(block).map(marks_of);
    Marks {
        slashes: low.slashes | high.slashes << 8,
        dots: low.dots | high.dots << 8,
        unusual: low.unusual | high.unusual << 8,
    }
}

/// Marks of eight bytes, in the low 8 bits.
#[inline(always)]
fn marks_of(word: u64) -> Marks {
    // The top bit of each byte says whether its lower seven bits are at least `limit`; the sums stay
    // within their bytes.
    let at_least = |limit: u8, word: u64| {
        let distance = each(0x80_u8.wrapping_sub(limit));
        (word & !TOPS).wrapping_add(distance)
    };
    // Who reaches the one limit and not the other, which is higher.
    let within = |first: u8, after: u8, word| at_least(first, word) ^ at_least(after, word);
    let ascii = !word & TOPS;
    let letters = within(b'a', b'z' + 1, word | each(0x20));
    let usual = letters | within(b'-', b'9' + 1, word) | within(b'_', b'_' + 1, word);
    Marks {
        slashes: gather_tops(within(b'/', b'/' + 1, word) & ascii),
        dots: gather_tops(within(b'.', b'.' + 1, word) & ascii),
        unusual: gather_tops((!usual | word) & TOPS),
    }
}

/// What is where in four blocks.
#[inline(always)]
pub(super) fn marks_of_four(blocks: &[[u8; BLOCK]; 4]) -> [Marks; 4] {
    let slashes = masks(blocks, |byte| byte == b'/');
    let dots = masks(blocks, |byte| byte == b'.');
    let unusual = masks(blocks, |byte| !is_usual(byte));
    let marks = slashes.into_iter().zip(dots).zip(unusual);
    let mut four = [Marks {
        slashes: 0,
        dots: 0,
        unusual: 0,
    }; 4];
    for (block, ((slashes, dots), unusual)) in four.iter_mut().zip(marks) {
        *block = Marks {
            slashes,
            dots,
            unusual,
        };
    }
    four
}

/// Which bytes something is true of.
#[inline(always)]
fn masks(blocks: &[[u8; BLOCK]; 4], is: impl Fn(u8) -> bool) -> [u64; 4] {
    let mut ones = [[0; BLOCK]; 4];
    let bytes = blocks.as_flattened();
    // One loop over all: the compiler would take one of 16 steps apart, and read single bytes.
    for (one, byte) in ones.as_flattened_mut().iter_mut().zip(bytes) {
        *one = u8::from(is(*byte));
    }
    ones.map(|block| {
        let [low, high] = words(&block);
        gather(low) | gather(high) << 8
    })
}

/// Where the spaces are.
#[inline(always)]
pub(super) fn spaces(block: &[u8; BLOCK]) -> u64 {
    let spaces = |word: u64| {
        let others = word ^ each(b' ');
        // What is not zero reaches the top bit of its byte, or has it.
        gather_tops(!((others & !TOPS).wrapping_add(!TOPS) | others) & TOPS)
    };
    let [low, high] = words(block);
    spaces(low) | spaces(high) << 8
}

/// The two words of a block.
#[inline(always)]
fn words(block: &[u8; BLOCK]) -> [u64; 2] {
    let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    [word(block.first_chunk()), word(block.last_chunk())]
}

/// The top bit of each byte of a word.
const TOPS: u64 = each(0x80);

/// A byte in each place of a word.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The top bits of a word's bytes, side by side; the word has no other.
#[inline(always)]
const fn gather_tops(word: u64) -> u64 {
    gather(word >> 7)
}

/// The lowest bits of a word's bytes, side by side; the word has no other.
#[inline(always)]
const fn gather(word: u64) -> u64 {
    // They meet at the top of the product.
    word.wrapping_mul(0x0102_0408_1020_4080) >> 56
}
