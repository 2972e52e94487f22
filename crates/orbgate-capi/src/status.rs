//! The status of a call, and the boundary that panics don't cross.

use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

mod codes;

pub use self::codes::OrbgateStatus;

/// The result of a call, or the status that ends it early.
pub(crate) type OrStatus<T = ()> = Result<T, OrbgateStatus>;

/// Runs a call. Only this function turns panics into a status. It doesn't change the application's
/// panic hook, and stores nothing.
#[inline(always)]
pub(crate) fn guard(call: impl FnOnce() -> OrStatus) -> OrbgateStatus {
    match caught(call) {
        Ok(()) => OrbgateStatus::Ok,
        Err(status) => status,
    }
}

/// The same for a call that returns a value.
#[inline(always)]
pub(crate) fn caught<T>(call: impl FnOnce() -> OrStatus<T>) -> OrStatus<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(outcome) => outcome,
        Err(payload) => {
            // The payload's destructor might also panic.
            if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                core::mem::forget(second);
            }
            Err(OrbgateStatus::Panic)
        }
    }
}

/// Panics within the boundary.
/// cbindgen:ignore
#[cfg(feature = "test-panic")]
#[unsafe(no_mangle)]
pub extern "C" fn orbgate__test_panic() -> OrbgateStatus {
    #[expect(clippy::panic, reason = "a test asks for it")]
    guard(|| panic!("a panic that a test asked for"))
}
