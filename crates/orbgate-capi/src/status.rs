//! How a call ended, and the boundary that no panic crosses.

use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

/// How a call ended. Outputs are written with `ORBGATE_STATUS_OK` only. Numbers are frozen; a later
/// release may add one: deny on every status that is not `OK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum OrbgateStatus {
    /// Done; the outputs are written.
    Ok = 0,
    /// A pointer is null or misaligned, a length, offset, number or flag is out of range, or a struct's
    /// size is unknown to the library.
    InvalidArgument = 1,
    /// The policy has faults; the error names each with its line and column.
    InvalidPolicy = 2,
    /// The file could not be read; the error says why.
    Io = 3,
    /// The policy has nothing of that name or number.
    NotFound = 4,
    /// A fault of the library was caught. The call had no effect and the library goes on working.
    Panic = 5,
}

impl OrbgateStatus {
    pub(crate) const ALL: [Self; 6] = [
        Self::Ok,
        Self::InvalidArgument,
        Self::InvalidPolicy,
        Self::Io,
        Self::NotFound,
        Self::Panic,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::InvalidArgument => "invalid_argument",
            Self::InvalidPolicy => "invalid_policy",
            Self::Io => "io",
            Self::NotFound => "not_found",
            Self::Panic => "panic",
        }
    }
}

/// What a call does, or the status that ends it early.
pub(crate) type OrStatus<T = ()> = Result<T, OrbgateStatus>;

/// Runs a call: a panic ends as a status, in this function and nowhere else. The application's panic
/// hook is left alone and nothing is remembered.
#[inline(always)]
pub(crate) fn guard(call: impl FnOnce() -> OrStatus) -> OrbgateStatus {
    match caught(call) {
        Ok(()) => OrbgateStatus::Ok,
        Err(status) => status,
    }
}

/// The same for a call that gives a value.
#[inline(always)]
pub(crate) fn caught<T>(call: impl FnOnce() -> OrStatus<T>) -> OrStatus<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(outcome) => outcome,
        Err(payload) => {
            // A payload whose own drop panics must not get away either.
            if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                core::mem::forget(second);
            }
            Err(OrbgateStatus::Panic)
        }
    }
}

/// Panics inside the boundary.
/// cbindgen:ignore
#[cfg(feature = "test-panic")]
#[unsafe(no_mangle)]
pub extern "C" fn orbgate__test_panic() -> OrbgateStatus {
    #[expect(clippy::panic, reason = "a test asks for it")]
    guard(|| panic!("a panic that a test asked for"))
}
