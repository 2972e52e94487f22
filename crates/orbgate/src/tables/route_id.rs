//! The id with which a server refers to a route that it already knows.
#![allow(clippy::as_conversions, reason = "an id is the low bits of wider integers, taken on purpose")]

/// Identifies a route of a policy. [`Route::id`](crate::Route::id) makes it, and
/// [`Engine::decide_route`](crate::Engine::decide_route) takes it.
///
/// To an engine of another policy, the id matches no route, so that engine denies instead of misreading it. The id
/// contains 110 bits of the policy's digest, so an attacker can't construct two policies that share an id. The same
/// policy gives the same ids in every process and release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RouteId(u128);

/// A policy has at most 200,000 routes. All other bits of an id come from the policy's digest.
const INDEX_BITS: u32 = 18;
const INDEX: u128 = (1 << INDEX_BITS) - 1;

impl RouteId {
    pub(crate) const fn new(policy: u128, index: u32) -> Self {
        // Indices start at 1, so that 0 is never an id.
        let index = (index as u128).wrapping_add(1) & INDEX;
        // The same for either byte order.
        Self(policy.to_le() << INDEX_BITS | index)
    }

    /// The id as an integer, never 0, for other languages.
    #[must_use]
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// The id for an integer. Any integer is accepted; one that no engine returned matches no route.
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The route's index, if the id belongs to this policy.
    pub(crate) const fn index_in(self, policy: u128) -> Option<u32> {
        let index = ((self.0 & INDEX) as u32).wrapping_sub(1);
        if Self::new(policy, index).0 == self.0 { Some(index) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::RouteId;

    #[test]
    fn an_id_is_of_its_policy_only() {
        let id = RouteId::new(7, 199_999);
        assert_eq!(id.index_in(7), Some(199_999));
        for bit in 0..110 {
            assert_eq!(id.index_in((7_u128.to_le() ^ 1 << bit).to_le()), None);
        }
    }

    #[test]
    fn what_nobody_gave_out_is_no_route() {
        for policy in [0, 7] {
            let none = RouteId::from_bits(0).index_in(policy);
            // Index `u32::MAX` isn't a route of any table.
            assert!(matches!(none, None | Some(u32::MAX)), "{none:?}");
            assert_eq!(RouteId::from_bits(1 << 127 | 1).index_in(policy), None);
        }
    }
}
