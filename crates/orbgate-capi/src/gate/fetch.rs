//! What a gate has to fetch, and what came of it.

use core::ffi::c_char;
use core::time::Duration;

use orbgate_token::{AttemptId, Fetch, FetchError, Response};

use super::question::OrbgateGate;
use super::request::milliseconds;
use super::step::{OrbgateStep, State};
use crate::arguments::{Out, Sized32, bytes, first_size, shared, write_sized};
use crate::owners::{drop_owned, into_owned};
use crate::status::{OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// Why a fetch failed: no connection, an untrusted certificate, or an answer that is not HTTP or broke off.
pub const ORBGATE_FETCH_UNREACHABLE: u32 = 1;
/// Why a fetch failed: it was not there within `timeout_ms`.
pub const ORBGATE_FETCH_TIMEOUT: u32 = 2;
/// Why a fetch failed: the body has more than `max_bytes`.
pub const ORBGATE_FETCH_TOO_LARGE: u32 = 3;
/// Why a fetch failed: the host does not fetch from there.
pub const ORBGATE_FETCH_BAD_URL: u32 = 4;

/// A URL to fetch. Immutable; the caller owns it.
#[derive(Debug)]
pub struct OrbgateFetch {
    fetch: Fetch,
}

/// A URL to fetch, by `GET`, without following a redirect and without credentials. Report what came of it in any case, by
/// `orbgate_gate_fetched` or `orbgate_gate_fetch_failed`.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateFetchInfo {
    /// Set it to `sizeof(OrbgateFetchInfo)`, or use `orbgate_fetch_info_init()`.
    pub struct_size: u32,
    /// What is not there after this time is `ORBGATE_FETCH_TIMEOUT`.
    pub timeout_ms: u32,
    /// The attempt that needs it.
    pub attempt: u64,
    /// A longer body is `ORBGATE_FETCH_TOO_LARGE`; stop reading there.
    pub max_bytes: u64,
    /// `https`, or an address of this very machine.
    pub url: OrbgateStr,
}

// SAFETY: integers and a string, the u32 first.
unsafe impl Sized32 for OrbgateFetchInfo {
    const FIRST_SIZE: usize = first_size(40, 32);
}

/// What to fetch next; `*out` is null where there is nothing. Ask after each call, until there is nothing.
///
/// Ownership: `*out` is the caller's, to free with `orbgate_fetch_free`.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_next_fetch(
    gate: *const OrbgateGate,
    monotonic_ms: u64,
    out: *mut *mut OrbgateFetch,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (gate, out) = unsafe { (shared(gate)?, Out::new(out)?) };
        let next = gate.gate.next_fetch(Duration::from_millis(monotonic_ms));
        // SAFETY: the caller's, see the preamble.
        unsafe { hand_over(out, next) }
        Ok(())
    })
}

/// What a fetch has brought: the status, the value of `Cache-Control` (several joined by commas) and the body, which may be left out
/// where the status is not 200. `*out` is what to fetch next for the same attempt, the keys after their address, or null: then the
/// attempt is over, and those who wait for it ask again. A report of an attempt that is over already changes nothing.
///
/// Ownership: `*out` is the caller's, to free with `orbgate_fetch_free`. Everything else is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: keys.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_fetched(
    gate: *const OrbgateGate,
    attempt: u64,
    http_status: u32,
    cache_control: *const c_char,
    cache_control_len: usize,
    body: *const c_char,
    body_len: usize,
    monotonic_ms: u64,
    out: *mut *mut OrbgateFetch,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (gate, cache_control, body, out) = unsafe {
            (
                shared(gate)?,
                bytes(cache_control, cache_control_len)?,
                bytes(body, body_len)?,
                Out::new(out)?,
            )
        };
        let status = u16::try_from(http_status).map_err(|_| OrbgateStatus::InvalidArgument)?;
        let response = Response {
            status,
            // What is not a string says nothing.
            cache_control: str::from_utf8(cache_control).ok(),
            body,
        };
        let now = Duration::from_millis(monotonic_ms);
        let next = gate.gate.fetched(AttemptId::of(attempt), Ok(response), now);
        // SAFETY: the caller's, see the preamble.
        unsafe { hand_over(out, next) }
        Ok(())
    })
}

/// A fetch has failed, for the reason of an `ORBGATE_FETCH_*` number. Its attempt is over, and those who wait for it ask again.
///
/// Ownership: nothing.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_fetch_failed(
    gate: *const OrbgateGate,
    attempt: u64,
    failure: u32,
    monotonic_ms: u64,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let gate = unsafe { shared(gate) }?;
        let failure = match failure {
            ORBGATE_FETCH_UNREACHABLE => FetchError::Unreachable,
            ORBGATE_FETCH_TIMEOUT => FetchError::Timeout,
            ORBGATE_FETCH_TOO_LARGE => FetchError::TooLarge,
            ORBGATE_FETCH_BAD_URL => FetchError::BadUrl,
            _ => return Err(OrbgateStatus::InvalidArgument),
        };
        let now = Duration::from_millis(monotonic_ms);
        // A failure ends its attempt: there is nothing to fetch after it.
        let _ = gate.gate.fetched(AttemptId::of(attempt), Err(failure), now);
        Ok(())
    })
}

/// Whether what a step waits for is over, so that `orbgate_gate_resume` goes on: `*out` is 1 or 0. Ask after each report of a fetch,
/// and when `until_ms` has come. Any step other than `ORBGATE_STEP_WAIT` is an invalid argument.
///
/// Ownership: nothing.
/// Thread-safe: yes. Allocates: no. Blocks: yes. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_is_over(
    gate: *const OrbgateGate,
    step: *const OrbgateStep,
    monotonic_ms: u64,
    out: *mut u8,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (gate, step, out) = unsafe { (shared(gate)?, shared(step)?, Out::new(out)?) };
        let State::Wait(waiting) = &step.state else {
            return Err(OrbgateStatus::InvalidArgument);
        };
        let now = Duration::from_millis(monotonic_ms);
        let is_over = gate.gate.is_over(waiting.wait(), now);
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(is_over.into()) }
        Ok(())
    })
}

/// Asks for every issuer's keys, as far as the options allow, so that the first token need not wait: fetch what
/// `orbgate_gate_next_fetch` has then. `orbgate_gate_status` says what came.
///
/// Ownership: nothing.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_warm(
    gate: *const OrbgateGate,
    monotonic_ms: u64,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let gate = unsafe { shared(gate) }?;
        // Who waits for it asks by the first tokens.
        let _ = gate.gate.warm(Duration::from_millis(monotonic_ms));
        Ok(())
    })
}

/// What a fetch is.
///
/// Ownership: the string in `out` is the fetch's and lives as long as it.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_fetch_info(
    fetch: *const OrbgateFetch,
    out: *mut OrbgateFetchInfo,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let OrbgateFetch { fetch } = unsafe { shared(fetch) }?;
        let info = OrbgateFetchInfo {
            struct_size: 0,
            timeout_ms: u32::try_from(milliseconds(fetch.timeout)).unwrap_or(u32::MAX),
            attempt: fetch.attempt.number(),
            max_bytes: u64::try_from(fetch.max_bytes).unwrap_or(u64::MAX),
            url: OrbgateStr::new(&fetch.url),
        };
        // SAFETY: the caller's, see the preamble.
        unsafe { write_sized(out, &info) }
    })
}

/// Frees a fetch. Null is fine.
///
/// Ownership: takes `fetch`; its string is gone.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_fetch_free(fetch: *mut OrbgateFetch) {
    // SAFETY: the caller's, see the preamble.
    unsafe { drop_owned(fetch) }
}

/// Writes what is to be fetched, or null.
unsafe fn hand_over(out: Out<*mut OrbgateFetch>, fetch: Option<Fetch>) {
    let fetch = fetch.map_or(core::ptr::null_mut(), |fetch| {
        into_owned(OrbgateFetch { fetch })
    });
    // SAFETY: the caller's, see the preamble.
    unsafe { out.write(fetch) }
}
