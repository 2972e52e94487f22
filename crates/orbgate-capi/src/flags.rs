//! The flags of a request.

use crate::status::{OrStatus, OrbgateStatus};

/// Flags of a request. Unknown bits are an invalid argument.
///
/// The request contains `allowBonusOrbsUse: true`.
pub const ORBGATE_ALLOW_BONUS_ORBS: u32 = 1;
/// Without a valid token, the route of a packed decision is `OrbgateDecision.about` instead of 0.
pub const ORBGATE_PACK_ABOUT: u32 = 2;

/// The flags of a request.
#[derive(Clone, Copy)]
pub(crate) struct Flags {
    pub(crate) allow_bonus_orbs: bool,
    pub(crate) pack_about: bool,
}

impl Flags {
    #[inline(always)]
    pub(crate) const fn read(flags: u32) -> OrStatus<Self> {
        if flags & !(ORBGATE_ALLOW_BONUS_ORBS | ORBGATE_PACK_ABOUT) != 0 {
            return Err(OrbgateStatus::InvalidArgument);
        }
        Ok(Self {
            allow_bonus_orbs: flags & ORBGATE_ALLOW_BONUS_ORBS != 0,
            pack_about: flags & ORBGATE_PACK_ABOUT != 0,
        })
    }

    /// These flags, for a row that has its own value for bonus orbs.
    #[inline(always)]
    pub(crate) const fn with_bonus_orbs(self, allow_bonus_orbs: bool) -> Self {
        Self { allow_bonus_orbs, ..self }
    }
}
