//! Base64url without padding (RFC 4648 §5, RFC 7515 §2), in its one spelling.

/// The value of a byte that is no character: it has a bit that no value has.
const NONE: u8 = 0x80;

/// The bytes of a text; `None` where it has padding, another character or stray bits: no two texts have the same bytes.
///
/// Written by hand for WebAssembly, where the crate `base64` takes an eighth of what a token costs: 16 characters at a time, without a
/// branch and without a table, so that compilers make vectors of them.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let (blocks, rest) = text.as_chunks::<16>();
    // One character more than a multiple of four has no byte.
    if rest.len() & 3 == 1 {
        return None;
    }
    let (whole, part) = (blocks.len().checked_mul(12)?, bytes_of(rest.len()));
    let mut bytes = vec![0; whole.checked_add(part)?];
    let (places, end) = bytes.as_chunks_mut::<12>();
    let mut seen = [0; 16];
    for (place, block) in places.iter_mut().zip(blocks) {
        read(block, place, &mut seen);
    }
    // What the last block lacks is 0, and so must be the bits that its characters have beyond their bytes.
    let (mut last, mut found) = ([b'A'; 16], [0; 12]);
    for (place, byte) in last.iter_mut().zip(rest) {
        *place = *byte;
    }
    read(&last, &mut found, &mut seen);
    let (found, stray) = found.split_at_checked(part)?;
    end.copy_from_slice(found);
    let none = u128::from_le_bytes([NONE; 16]);
    let is_right = u128::from_le_bytes(seen) & none == 0 && stray.iter().all(|byte| *byte == 0);
    is_right.then_some(bytes)
}

/// How many bytes the characters of a block have.
const fn bytes_of(characters: usize) -> usize {
    characters.saturating_mul(3) >> 2
}

/// Reads a block. What its characters are is added to what was seen.
#[inline(always)]
fn read(block: &[u8; 16], place: &mut [u8; 12], seen: &mut [u8; 16]) {
    let values = block.map(value);
    for (seen, value) in seen.iter_mut().zip(values) {
        *seen |= value;
    }
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = values;
    let first = pack(u64::from_le_bytes([a, b, c, d, e, f, g, h]));
    let second = pack(u64::from_le_bytes([i, j, k, l, m, n, o, p]));
    // Stored as three numbers, not as twelve bytes.
    let front = first | second << 48;
    let (words, _) = place.as_chunks_mut::<4>();
    for (word, number) in words.iter_mut().zip([front, front >> 32, second >> 16]) {
        let [a, b, c, d, ..] = number.to_le_bytes();
        *word = u32::from_le_bytes([a, b, c, d]).to_le_bytes();
    }
}

/// What a byte stands for.
#[inline(always)]
const fn value(byte: u8) -> u8 {
    let (upper, lower) = (byte.wrapping_sub(b'A'), byte.wrapping_sub(b'a'));
    let digit = byte.wrapping_sub(b'0');
    let mut value = NONE;
    value = if upper < 26 { upper } else { value };
    value = if lower < 26 {
        lower.wrapping_add(26)
    } else {
        value
    };
    value = if digit < 10 {
        digit.wrapping_add(52)
    } else {
        value
    };
    value = if byte == b'-' { 62 } else { value };
    if byte == b'_' { 63 } else { value }
}

/// Eight values of six bits, the first in the lowest byte, as six bytes, the first in the lowest.
#[inline(always)]
const fn pack(values: u64) -> u64 {
    // Of each four the bits of the three bytes: those of a value above those that the next one has for it.
    let bytes = (values << 2 & 0xfc_0000_00fc)
        | (values >> 12 & 0x03_0000_0003)
        | (values << 4 & 0xf000_0000_f000)
        | (values >> 10 & 0x0f00_0000_0f00)
        | (values << 6 & 0x00c0_0000_00c0_0000)
        | (values >> 8 & 0x003f_0000_003f_0000);
    (bytes & 0xff_ffff) | (bytes >> 8 & 0xffff_ff00_0000)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use proptest::prelude::*;

    use super::decode;

    /// Texts of two blocks and all ends, with each byte at each place.
    #[test]
    fn each_byte_at_each_place_is_read_as_the_crate_reads_it() {
        for length in 0..=26 {
            let text = URL_SAFE_NO_PAD.encode(vec![0x5a; length]);
            for place in 0..text.len() {
                for byte in 0..=u8::MAX {
                    let mut text = text.clone().into_bytes();
                    text[place] = byte;
                    assert_eq!(
                        decode(&text),
                        URL_SAFE_NO_PAD.decode(&text).ok(),
                        "{text:?}"
                    );
                    text.truncate(place);
                    assert_eq!(
                        decode(&text),
                        URL_SAFE_NO_PAD.decode(&text).ok(),
                        "{text:?}"
                    );
                }
            }
        }
    }

    proptest! {
        #[test]
        fn texts_and_bytes_are_read_as_the_crate_reads_them(
            text in "[A-Za-z0-9_-]{0,200}|[A-Za-z0-9_+/=-]{0,100}", bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            prop_assert_eq!(decode(text.as_bytes()), URL_SAFE_NO_PAD.decode(&text).ok());
            prop_assert_eq!(decode(URL_SAFE_NO_PAD.encode(&bytes).as_bytes()), Some(bytes));
        }
    }
}
