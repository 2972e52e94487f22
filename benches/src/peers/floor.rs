//! The floor: what any decision has to do at least, and no answer. It looks at every byte of the target, hashes once, reads one row, and
//! tests one bit of the token's scopes. Who takes no more time than this does not look at the request.

use std::hint::black_box;

use crate::contest::{Add, Answer, Contestant, pass};
use crate::stream::Ask;
use crate::table::Table;

/// As many bytes as the processors of the comparison take at once.
const BYTES: usize = 16;

/// Odd numbers without a pattern: the golden ratio's and pi's digits.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0x2436_a8d3_13d1_29e5 | 1];

pub(super) fn add(table: &'static Table, add: &mut Add<'_>) {
    add("floor", &|| Box::new(Floor::new(table)));
}

/// Half a line of a cache, as the row of a template in orbgate.
#[derive(Clone)]
#[repr(align(32))]
struct Row {
    scopes: [u16; 8],
}

struct Floor {
    /// A power of two of them, at least as many as there are templates.
    rows: Vec<Row>,
    /// A token's scopes, one bit each.
    held: Vec<u64>,
}

impl Floor {
    fn new(table: &Table) -> Self {
        let row = |number: usize| Row {
            scopes: std::array::from_fn(|method| ((number + method) % table.scopes.len()) as u16),
        };
        let count = table.templates.len().next_power_of_two();
        Self { rows: (0..count).map(row).collect(), held: vec![0x5555_5555_5555_5555; table.scopes.len().div_ceil(64)] }
    }

    #[inline(always)]
    fn touch(&self, ask: &Ask) -> bool {
        let bytes = ask.target.as_bytes();
        let Some(last) = bytes.last_chunk::<BYTES>() else {
            return bytes.iter().all(u8::is_ascii_graphic);
        };
        let (mut others, mut slashes) = ([0_u8; BYTES], [0_u8; BYTES]);
        // As many steps for most targets: no processor can predict how long one is.
        for base in (0..bytes.len()).step_by(4 * BYTES) {
            for offset in [0, 1, 2, 3] {
                let at = (base + offset * BYTES).min(bytes.len() - BYTES);
                let chunk: &[u8; BYTES] = bytes[at..].first_chunk().expect("a chunk");
                for (at, byte) in chunk.iter().enumerate() {
                    others[at] |= byte.wrapping_sub(b'!').saturating_sub(b'~' - b'!');
                    slashes[at] |= u8::from(*byte == b'/');
                }
            }
        }
        let word = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().expect("8 bytes"));
        let is_graphic = word(&others) | word(&others[8..]) == 0;
        let marks = word(&slashes) ^ word(&slashes[8..]).rotate_left(1);
        let [first, second] = FACTORS;
        let hash =
            (word(&last[8..]) ^ marks).wrapping_mul(first) ^ (word(last) ^ bytes.len() as u64).wrapping_mul(second);
        let row = &self.rows[(hash >> 32) as usize & (self.rows.len() - 1)];
        let scope = usize::from(row.scopes[usize::from(ask.method_id & 7)]);
        let is_held = self.held[scope / 64] >> (scope % 64) & 1 == 1;
        is_graphic & is_held
    }
}

impl Contestant for Floor {
    fn name(&self) -> String {
        "floor".to_owned()
    }

    fn answer(&self, _ask: &Ask) -> Answer {
        Answer::None
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        pass(asks, |ask| black_box(self.touch(ask)))
    }
}
