//! Compares each architecture's primitives with a loop over the bytes.

use proptest::prelude::*;

use super::{Native, Vector};

/// Compares the primitives with the bytes at `at`, byte by byte.
fn check<V: Vector>(bytes: &[u8], at: usize, low: u8, high: u8) -> Result<(), TestCaseError> {
    let loaded = V::load(bytes, at);
    let Some(own) = bytes.get(at..at.saturating_add(V::BYTES)) else {
        prop_assert!(loaded.is_none());
        return Ok(());
    };
    let vector = loaded.unwrap();
    for byte in [low, high, own[0], 0, 0x80, 0xff] {
        let positions = (0..V::BYTES).filter(|i| own[*i] == byte);
        let expected = positions.fold(0_u64, |bits, i| bits | 1 << i);
        prop_assert_eq!(vector.positions(byte), expected);
    }
    let within = |low: u8, high: u8| move |byte: &u8| (low..=high).contains(byte);
    let is_zero = |vector: V| vector.is_zero();
    let one = vector.outside(low, high);
    prop_assert_eq!(is_zero(one), own.iter().all(within(low, high)));
    let other = vector.outside(b'a', b'z');
    let either = |byte: &u8| within(low, high)(byte) || within(b'a', b'z')(byte);
    prop_assert_eq!(is_zero(one.and(other)), own.iter().all(either));
    let both = |byte: &u8| within(low, high)(byte) && within(b'a', b'z')(byte);
    prop_assert_eq!(is_zero(one.or(other)), own.iter().all(both));
    let folded = vector.or(V::splat(0x20));
    let folded = folded.outside(low, high);
    let folded_within = |byte: &u8| within(low, high)(&(byte | 0x20));
    prop_assert_eq!(is_zero(folded), own.iter().all(folded_within));
    Ok(())
}

proptest! {
    /// Each architecture's primitives agree with a loop over the bytes, and so with each other.
    #[test]
    fn primitives_do_what_they_say(
        bytes in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..80),
            proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'/'), b'`'..=b'{'], 0..80),
        ],
        at in 0_usize..80,
        low: u8,
        span: u8,
    ) {
        let high = low.saturating_add(span);
        check::<Native>(&bytes, at, low, high)?;
        #[cfg(not(orbgate_portable))]
        check::<super::Plain>(&bytes, at, low, high)?;
    }
}
