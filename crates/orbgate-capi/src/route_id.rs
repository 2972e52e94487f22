//! The id of a route in two halves, because C has no 128-bit integer.

use orbgate::RouteId;

/// Identifies a route of a policy. It is the same in every process, and never equals the id of another policy's route.
/// All zeros means no route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct OrbgateRouteId {
    /// The upper 64 bits.
    pub high: u64,
    /// The lower 64 bits.
    pub low: u64,
}

impl OrbgateRouteId {
    #[expect(clippy::as_conversions, reason = "an integer is cut into its halves on purpose")]
    pub(crate) const fn new(id: RouteId) -> Self {
        let bits = id.to_bits();
        Self { high: (bits >> 64) as u64, low: bits as u64 }
    }

    #[inline(always)]
    pub(crate) fn read(self) -> RouteId {
        RouteId::from_bits(u128::from(self.high) << 64 | u128::from(self.low))
    }
}

#[cfg(test)]
mod tests {
    use super::OrbgateRouteId;

    #[test]
    fn both_halves_are_kept() {
        let id = OrbgateRouteId { high: 1, low: 2 };
        assert_eq!(id.read().to_bits(), 1 << 64 | 2);
        assert_eq!(OrbgateRouteId::new(id.read()), id);
    }
}
