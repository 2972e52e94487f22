//! The flags of a request.

use crate::status::{OrStatus, OrbgateStatus};

/// The request says `allowBonusOrbsUse: true`. A bit that no flag has is an invalid argument.
pub const ORBGATE_ALLOW_BONUS_ORBS: u32 = 1;
/// A packed decision without a valid token carries the route that the request is about in the bits of `route`, which
/// are 0 without this flag. Changes nothing else: an `OrbgateDecision` has a field for it.
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

    /// These, of a row that says so of bonus orbs.
    #[inline(always)]
    pub(crate) const fn with_bonus_orbs(self, allow_bonus_orbs: bool) -> Self {
        Self {
            allow_bonus_orbs,
            ..self
        }
    }
}
