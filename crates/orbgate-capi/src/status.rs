//! The status of a call, and the boundary that panics don't cross.

use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

orbgate::codes! {
    /// The status of a call. Outputs are written only with `ORBGATE_STATUS_OK`.
    pub enum OrbgateStatus: i32 {
        Ok = 0: "ok", "done; the outputs are written";
        InvalidArgument = 1: "invalid_argument",
            "a pointer is null or misaligned, or a length, offset, number, flag or size is out of range";
        InvalidPolicy = 2: "invalid_policy", "the policy has errors; the error lists each with its line and column";
        Io = 3: "io", "the file can't be read; the error states the reason";
        NotFound = 4: "not_found", "the policy has nothing with that name or number";
        Panic = 5: "panic", "a bug in the library was caught: the call had no effect, and later calls work";
        InvalidConfiguration = 6: "invalid_configuration",
            "the token configuration, or an option of a gate, has errors; the error lists each";
        TooSmall = 7: "too_small", "the answer needs more room; the step keeps it";
        Full = 8: "full", "too many steps are open, so none has begun; end those that no request needs";
    }
}

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
