//! A decision in one integer, for languages in which an output pointer costs an allocation or an
//! additional call.
//!
//! No field crosses the middle of the 64 bits, and all fields are below bit 53, so that both two
//! 32-bit halves and a double represent the value exactly.

use crate::decision::OrbgateDecision;
use crate::status::{OrStatus, OrbgateStatus, caught};

/// A field: its lowest bit and its number of bits. The header's preamble shows the same layout.
pub(crate) struct Field(pub(crate) u32, pub(crate) u32);

const EFFECT: Field = Field(0, 2);
const CHARGE: Field = Field(2, 4);
const DETAIL: Field = Field(6, 8);
const ROUTE: Field = Field(14, 18);
const SCOPE: Field = Field(32, 16);
/// With effect 0, it is the status.
const REASON: Field = Field(48, 5);

/// The fields by name, the lowest first.
#[cfg(test)]
pub(crate) const FIELDS: [(&str, Field); 6] = [
    ("effect", EFFECT),
    ("charge", CHARGE),
    ("detail", DETAIL),
    ("route", ROUTE),
    ("scope", SCOPE),
    ("reason", REASON),
];

impl Field {
    const fn mask(&self) -> u64 {
        (1_u64 << self.1).wrapping_sub(1)
    }

    #[inline(always)]
    const fn put(&self, value: u64) -> u64 {
        (value & self.mask()) << self.0
    }

    #[inline(always)]
    const fn of(&self, packed: u64) -> u64 {
        packed >> self.0 & self.mask()
    }

    fn read<T: TryFrom<u64>>(&self, packed: u64) -> OrStatus<T> {
        T::try_from(self.of(packed)).map_err(|_| OrbgateStatus::InvalidArgument)
    }
}

impl OrbgateDecision {
    /// The decision without its amount and policy, which the engine knows.
    #[inline(always)]
    pub(crate) fn pack(&self) -> u64 {
        EFFECT.put(u64::from(self.effect))
            | CHARGE.put(u64::from(self.charge))
            | DETAIL.put(u64::from(self.detail))
            | ROUTE.put(u64::from(self.route))
            | SCOPE.put(u64::from(self.scope))
            | REASON.put(u64::from(self.reason))
    }

    /// The same, with the route that the request matches if the decision names none.
    pub(crate) fn pack_with_about(&self) -> u64 {
        match self.route {
            0 => self.pack() | ROUTE.put(u64::from(self.about)),
            _ => self.pack(),
        }
    }

    /// Unpacks a decision, which can be forged; the status, if it has effect 0.
    pub(crate) fn of_packed(packed: u64) -> OrStatus<Self> {
        let effect = EFFECT.read(packed)?;
        if effect == 0 {
            return Err(status(packed));
        }
        Ok(Self {
            effect,
            reason: REASON.read(packed)?,
            detail: DETAIL.read(packed)?,
            charge: CHARGE.read(packed)?,
            scope: SCOPE.read(packed)?,
            route: ROUTE.read(packed)?,
            ..Self::default()
        })
    }
}

/// Runs a call that returns a packed decision. A failure has effect 0 and the status.
#[inline(always)]
pub(crate) fn packed(call: impl FnOnce() -> OrStatus<u64>) -> u64 {
    #[expect(clippy::as_conversions, reason = "statuses are small and positive")]
    match caught(call) {
        Ok(packed) => packed,
        Err(status) => REASON.put(status as u64),
    }
}

/// The status in a packed value that isn't a decision.
fn status(packed: u64) -> OrbgateStatus {
    let number = REASON.of(packed);
    #[expect(clippy::as_conversions, reason = "statuses are small and positive")]
    let status = OrbgateStatus::ALL.into_iter().find(|it| *it as u64 == number && *it != OrbgateStatus::Ok);
    status.unwrap_or(OrbgateStatus::InvalidArgument)
}
