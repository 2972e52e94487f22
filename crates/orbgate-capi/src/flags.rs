//! The flags of a request.

use crate::status::{OrStatus, OrbgateStatus};

/// The request contains `allowBonusOrbsUse: true`. Unknown bits are an invalid argument.
pub const ORBGATE_ALLOW_BONUS_ORBS: u32 = 1;
/// If a request has no valid token, the packed decision has the route that the request matches in the bits of
/// `route`, which are otherwise 0. Changes nothing else: `OrbgateDecision` has a separate field for it.
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
