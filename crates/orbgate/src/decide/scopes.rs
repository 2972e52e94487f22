//! Searches a token's scope string for the scope that a route needs.

#![allow(clippy::as_conversions, reason = "positions in a block, as the widths that shifts take")]

use super::token::Scopes;
use super::vector::{BLOCK, Native, Vector, end_in_block, positions_in_block};
use crate::listing::Scope;
use crate::tables::{NO_SCOPE, Tables, Terms};

/// Whether a token's scopes include what is needed under these terms: the scope with this id (specification §5.3), or what
/// a route needs instead. The latter has no name and no word in a set, so it is tried only after that lookup fails.
#[inline(always)]
pub(crate) fn hold(tables: &Tables, scopes: Scopes<'_>, needed: u32, terms: &Terms) -> bool {
    let otherwise = || meet(tables, scopes, terms);
    match scopes {
        Scopes::Set(set) => set.holds(tables.policy_id(), needed, otherwise),
        Scopes::Text(text) => has_scope::<Native>(text, tables.text.bytes(terms.scope), otherwise),
    }
}

/// Whether a token's scopes include all scopes of one alternative. Bounded: a requirement has at most 256 names. An empty
/// alternative doesn't count.
#[cold]
#[inline(never)]
fn meet(tables: &Tables, scopes: Scopes<'_>, terms: &Terms) -> bool {
    let has = |scope: &u16| includes(tables, scopes, *scope);
    let mut alternatives = tables.requirement(terms).split(|scope| *scope == NO_SCOPE);
    alternatives.any(|alternative| !alternative.is_empty() && alternative.iter().all(has))
}

/// Whether a token's scopes include the scope with this id.
fn includes(tables: &Tables, scopes: Scopes<'_>, scope: u16) -> bool {
    let row = tables.scopes.get(usize::from(scope));
    row.is_some_and(|row| match scopes {
        Scopes::Set(set) => set.holds(tables.policy_id(), u32::from(scope), || false),
        Scopes::Text(text) => has_scope::<Native>(text, tables.text.bytes(row.terms.scope), || false),
    })
}

impl Scope<'_> {
    /// Whether a token with these scopes has this one.
    #[doc(hidden)] // for gates
    #[must_use]
    pub fn is_among(&self, scopes: Scopes<'_>) -> bool {
        includes(self.tables, scopes, self.index())
    }
}

/// Whether one of the space-separated scopes in a string is exactly this one (specification §5.3). The scope contains no
/// space; if it is empty, the answer is `otherwise`.
///
/// Bits mark the scopes of a block that have the right length and middle byte, so rarely more than one is compared. The
/// scope that a route needs is the last thing that a decision finds out, so a mispredicted branch here costs the most.
#[inline(always)] // a call of its own would cost text an eighth
fn has_scope<V: Vector>(text: &[u8], scope: &[u8], otherwise: impl FnOnce() -> bool) -> bool {
    let length = scope.len();
    let half = length / 2;
    let Some(middle) = scope.get(half) else {
        return otherwise();
    };
    // Many tokens have one scope, and a short one.
    if text.len() <= length {
        return is_same(Some(text), scope);
    }
    let mut base = 0_usize;
    while text.len() >= V::BYTES && length < BLOCK {
        let positions = |byte| positions_in_block(text, base, byte, |bytes: V| bytes);
        let (Some(spaces), Some(middles)) = (positions(b' '), positions(*middle)) else {
            break;
        };
        let end = end_in_block(text.len(), base);
        let spaces = spaces & end.wrapping_sub(1);
        // Each block begins at the start of a scope.
        let starts = spaces << 1 | 1;
        let mut positions = starts & ((spaces | end) >> length) & (middles >> half);
        while positions != 0 {
            let at = base.wrapping_add(positions.trailing_zeros() as usize);
            if is_same(text.get(at..).and_then(|rest| rest.get(..length)), scope) {
                return true;
            }
            positions &= positions.wrapping_sub(1);
        }
        match spaces.checked_ilog2() {
            _ if end != 0 => return false,
            Some(last) => base = base.wrapping_add(last as usize).wrapping_add(1),
            // The scope is longer than a block.
            None => break,
        }
    }
    text.get(base..).unwrap_or_default().split(|byte| *byte == b' ').any(|other| other == scope)
}

/// Whether this string is the scope. Most scopes have 8 to 16 bytes, which the first and last eight bytes
/// cover completely.
#[inline(always)]
fn is_same(own: Option<&[u8]>, scope: &[u8]) -> bool {
    let Some(own) = own.filter(|own| own.len() == scope.len()) else {
        return false;
    };
    let ends = |text: &[u8]| {
        let (first, last) = (*text.first_chunk()?, *text.last_chunk()?);
        Some((u64::from_le_bytes(first), u64::from_le_bytes(last)))
    };
    match (scope.len(), ends(own), ends(scope)) {
        (8..=16, Some(own_ends), Some(ends)) => own_ends == ends,
        _ => own == scope,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::has_scope;
    use crate::decide::vector::Native;
    #[cfg(not(orbgate_portable))]
    use crate::decide::vector::Plain;

    proptest! {
        #[test]
        fn scopes_are_found_as_split_finds_them(
            scopes in proptest::collection::vec("[ab/ ]{0,3}|[a-c:/]{0,40}|[ab]{60,70}|scope:[0-9]{1,2}/?", 0..30),
            other in "[ab/]{0,2}|scope:[0-9]{1,2}|[a-c:]{28,70}",
            behind in "/{0,2}",
            which: proptest::sample::Index,
        ) {
            let text = scopes.join(" ");
            let mut wanted = vec![other.as_bytes()];
            if !scopes.is_empty() {
                wanted.push(scopes[which.index(scopes.len())].as_bytes());
            }
            wanted.extend(text.as_bytes().split(|byte| *byte == b' '));
            let longer = format!("{text}{behind}");
            wanted.extend(longer.as_bytes().rsplit(|byte| *byte == b' ').next());
            for scope in wanted.into_iter().filter(|scope| !scope.contains(&b' ')) {
                let mut split = text.as_bytes().split(|byte| *byte == b' ');
                let expected = !scope.is_empty() && split.any(|other| other == scope);
                let is_held = has_scope::<Native>(text.as_bytes(), scope, || false);
                prop_assert_eq!(is_held, expected, "{:?} in {:?}", scope, text);
                #[cfg(not(orbgate_portable))]
                prop_assert_eq!(has_scope::<Plain>(text.as_bytes(), scope, || false), expected);
            }
        }
    }
}
