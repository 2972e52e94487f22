//! How the routes of a service differ from those of its policy, and one flag of a body.

use core::ffi::c_char;

use orbgate_gate::allows_bonus_orbs;

use crate::arguments::{Out, bytes};
use crate::status::{OrbgateStatus, guard};

/// How the routes of a service and of its policy differ.
///
/// The service has a route that the policy lacks: no gate protects it.
pub const ORBGATE_DIFFERENCE_UNDECLARED: u32 = 1;
/// The policy has a route that the service lacks. Harmless if several services share a policy.
pub const ORBGATE_DIFFERENCE_UNSERVED: u32 = 2;

/// Sets `*out` to 1 if a whole body is a JSON object with `"allowBonusOrbsUse": true` exactly once, otherwise to 0.
/// Allocates: yes. Cost: keys.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_allows_bonus_orbs(
    body: *const c_char,
    body_len: usize,
    out: *mut u8,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (body, out) = unsafe { (bytes(body, body_len)?, Out::new(out)?) };
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(allows_bonus_orbs(body).into()) }
        Ok(())
    })
}
