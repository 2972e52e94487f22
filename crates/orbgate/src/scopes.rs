//! A token's scopes as text, searched for the one that a route needs.

#![allow(
    clippy::as_conversions,
    reason = "positions in a block, as the widths that shifts take"
)]

use crate::tables::{Tables, Terms};
use crate::token::Scopes;
use crate::vector::{BLOCK, Native, Vector, end_in_block, positions_in_block};

/// Whether a token's scopes include the scope of these terms, whose id this is (specification §5.3).
#[inline(always)]
pub(crate) fn hold(tables: &Tables, scopes: Scopes<'_>, scope: u16, terms: &Terms) -> bool {
    match scopes {
        Scopes::Set(set) => set.holds(tables.policy_id(), scope),
        Scopes::Text(text) => has_scope(text, tables.text.bytes(terms.scope)),
    }
}

/// Whether one of the scopes in a text, separated by spaces, is exactly this one (specification §5.3). A scope is not
/// empty and has no space.
#[inline(never)] // so that decisions on scope sets stay small
fn has_scope(text: &[u8], scope: &[u8]) -> bool {
    has_scope_on::<Native>(text, scope)
}

/// The same with vectors of any kind.
#[inline(always)]
fn has_scope_on<V: Vector>(text: &[u8], scope: &[u8]) -> bool {
    match text.len() {
        ..=32 => has_scope_in_blocks::<V>(text, scope, 32),
        _ => has_scope_in_blocks::<V>(text, scope, BLOCK),
    }
}

/// The same. In each block, only the first `in_block` bytes can be part of the text.
///
/// Bits mark where the scope can be: a space, or nothing, comes before it and after its length, and its middle byte is
/// right. So hardly more than one place is compared in full.
#[inline(always)]
fn has_scope_in_blocks<V: Vector>(text: &[u8], scope: &[u8], in_block: usize) -> bool {
    let length = scope.len();
    let half = length / 2;
    let (Some(middle), true) = (scope.get(half), text.len() >= V::BYTES) else {
        let mut scopes = text.split(|byte| *byte == b' ');
        return !scope.is_empty() && (is_same(text, scope) || scopes.any(|other| other == scope));
    };
    let shift = |bits: u64, by: usize| bits.checked_shr(by as u32).unwrap_or_default();
    let mut is_start = 1;
    let mut base = 0_usize;
    while base <= text.len() {
        let positions =
            |byte| positions_in_block(text, base, in_block, |bytes: V| bytes.positions(byte));
        let (Some(spaces), Some(middles)) = (positions(b' '), positions(*middle)) else {
            return false;
        };
        let end = end_in_block(text.len(), base);
        // The places whose end is in the next block.
        let unknown = if end == 0 {
            !shift(u64::MAX, length)
        } else {
            0
        };
        let spaces = spaces & end.wrapping_sub(1);
        let ends = spaces | end;
        let starts = spaces << 1 | is_start;
        let mut places = starts & (shift(ends, length) & shift(middles, half) | unknown);
        while places != 0 {
            let at = base.wrapping_add(places.trailing_zeros() as usize);
            if stands_at(text, at, scope) {
                return true;
            }
            places &= places.wrapping_sub(1);
        }
        is_start = spaces >> 63;
        base = base.wrapping_add(BLOCK);
    }
    false
}

/// Whether this scope is here, after a space or at the start, and before a space or at the end.
#[inline(always)]
fn stands_at(text: &[u8], at: usize, scope: &[u8]) -> bool {
    let Some((before, rest)) = text.split_at_checked(at) else {
        return false;
    };
    let Some((own, after)) = rest.split_at_checked(scope.len()) else {
        return false;
    };
    matches!(before.last(), None | Some(b' '))
        && is_same(own, scope)
        && matches!(after.first(), None | Some(b' '))
}

/// Whether two texts are equal. Most scopes have 8 to 16 bytes: their first and last eight are all of them.
#[inline(always)]
fn is_same(own: &[u8], other: &[u8]) -> bool {
    let ends = |text: &[u8]| {
        let (first, last) = (*text.first_chunk()?, *text.last_chunk()?);
        Some((u64::from_le_bytes(first), u64::from_le_bytes(last)))
    };
    match (own.len(), ends(own), ends(other)) {
        (8..=16, Some(own_ends), Some(ends)) => own.len() == other.len() && own_ends == ends,
        _ => own == other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::has_scope_on;
    use crate::vector::Native;
    #[cfg(not(orbgate_portable))]
    use crate::vector::Plain;

    proptest! {
        #[test]
        fn scopes_are_found_as_split_finds_them(
            scopes in proptest::collection::vec("[ab/ ]{0,3}|[a-c:/]{0,40}|[ab]{60,70}|scope:[0-9]{1,2}/?", 0..30),
            other in "[ab/]{0,2}|scope:[0-9]{1,2}|[a-c:]{28,70}",
            behind in "/{0,2}",
            which: proptest::sample::Index,
        ) {
            let text = scopes.join(" ");
            let mut asked = vec![other.as_bytes()];
            if !scopes.is_empty() {
                asked.push(scopes[which.index(scopes.len())].as_bytes());
            }
            asked.extend(text.as_bytes().split(|byte| *byte == b' '));
            let longer = format!("{text}{behind}");
            asked.extend(longer.as_bytes().rsplit(|byte| *byte == b' ').next());
            for scope in asked.into_iter().filter(|scope| !scope.contains(&b' ')) {
                let mut split = text.as_bytes().split(|byte| *byte == b' ');
                let expected = !scope.is_empty() && split.any(|other| other == scope);
                let found = has_scope_on::<Native>(text.as_bytes(), scope);
                prop_assert_eq!(found, expected, "{:?} in {:?}", scope, text);
                #[cfg(not(orbgate_portable))]
                prop_assert_eq!(has_scope_on::<Plain>(text.as_bytes(), scope), expected);
            }
        }
    }
}
