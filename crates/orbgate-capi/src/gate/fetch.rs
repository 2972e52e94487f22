//! The fetches that a gate needs, and their results.

use core::ffi::c_char;
use core::time::Duration;

use orbgate_token::{AttemptId, Fetch, FetchError, Post, Response};

use super::object::OrbgateGate;
use super::request::milliseconds;
use super::step::{OrbgateStep, State};
use crate::arguments::{Out, Sized32, bytes, first_size, shared, struct_size, write_sized};
use crate::owners::{drop_owned, into_owned};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// Why a fetch failed: no connection, an untrusted certificate, or a response that isn't HTTP or is
/// incomplete.
pub const ORBGATE_FETCH_UNREACHABLE: u32 = 1;
/// Why a fetch failed: the response didn't arrive within `timeout_ms`.
pub const ORBGATE_FETCH_TIMEOUT: u32 = 2;
/// Why a fetch failed: the body is larger than `max_bytes`.
pub const ORBGATE_FETCH_TOO_LARGE: u32 = 3;
/// Why a fetch failed: the host doesn't allow this URL.
pub const ORBGATE_FETCH_BAD_URL: u32 = 4;

/// A URL to fetch. Immutable; the caller owns it.
#[derive(Debug)]
pub struct OrbgateFetch {
    fetch: Fetch,
}

/// A URL to fetch without following redirects: with `GET` and without credentials if it has no `body`, and otherwise with
/// `POST`. In any case, report the result with `orbgate_gate_fetched` or `orbgate_gate_fetch_failed`.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateFetchInfo {
    /// Set it to `sizeof(OrbgateFetchInfo)`, or use `orbgate_fetch_info_init()`.
    pub struct_size: u32,
    /// If the response hasn't arrived after this time, report `ORBGATE_FETCH_TIMEOUT`.
    pub timeout_ms: u32,
    /// The attempt that needs it.
    pub attempt: u64,
    /// If the body is longer, stop reading and report `ORBGATE_FETCH_TOO_LARGE`.
    pub max_bytes: u64,
    /// `https`, or a loopback address.
    pub url: OrbgateStr,
    /// No string: `GET`. Otherwise a question about an opaque token, for a `POST` with
    /// `Content-Type: application/x-www-form-urlencoded`. It contains the token, so don't log it.
    pub body: OrbgateStr,
    /// The value of `Authorization` of a fetch with a body; otherwise no string. It contains a secret, so don't log it.
    pub authorization: OrbgateStr,
}

/// Up to and including `authorization`.
const WITH_BODY: usize = first_size(72, 48);

// SAFETY: integers and a string, the u32 first.
unsafe impl Sized32 for OrbgateFetchInfo {
    const FIRST_SIZE: usize = first_size(40, 32);
}

/// Returns the next fetch; `*out` is null if there isn't one. Call it after each other call until it returns
/// null.
///
/// Ownership: the caller owns `*out` and frees it with `orbgate_fetch_free`.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_next_fetch(
    gate: *const OrbgateGate,
    monotonic_ms: u64,
    out: *mut *mut OrbgateFetch,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, out) = unsafe { (shared(gate)?, Out::new(out)?) };
        let next = gate.gate.next_fetch(Duration::from_millis(monotonic_ms));
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { hand_over(out, next) }
        Ok(())
    })
}

/// Reports the result of a fetch: the status, the value of `Cache-Control` (several values joined by commas), and the
/// body, which can be omitted if the status isn't 200. `*out` is the next fetch of the same attempt (the keys, after
/// their address was discovered), or null if the attempt is over. Then resume the requests that wait for it. A report
/// for an attempt that is already over has no effect.
///
/// Ownership: the caller owns `*out` and frees it with `orbgate_fetch_free`. Everything else is only read.
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
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, cache_control, body, out) = unsafe {
            (shared(gate)?, bytes(cache_control, cache_control_len)?, bytes(body, body_len)?, Out::new(out)?)
        };
        let status = u16::try_from(http_status).map_err(|_| OrbgateStatus::InvalidArgument)?;
        let response = Response {
            status,
            // A value that isn't a string is ignored.
            cache_control: str::from_utf8(cache_control).ok(),
            body,
        };
        let now = Duration::from_millis(monotonic_ms);
        let next = gate.gate.fetched(AttemptId::of(attempt), Ok(response), now);
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { hand_over(out, next) }
        Ok(())
    })
}

/// Reports that a fetch failed, for the reason of an `ORBGATE_FETCH_*` number. Its attempt is over; resume the requests
/// that wait for it.
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
        // SAFETY: the caller guarantees it, see the preamble.
        let gate = unsafe { shared(gate) }?;
        let failure = self::failure(failure)?;
        let now = Duration::from_millis(monotonic_ms);
        // A failure ends its attempt, so no fetch follows.
        let _ = gate.gate.fetched(AttemptId::of(attempt), Err(failure), now);
        Ok(())
    })
}

/// Why a fetch failed, by its number.
pub(super) const fn failure(number: u32) -> OrStatus<FetchError> {
    match number {
        ORBGATE_FETCH_UNREACHABLE => Ok(FetchError::Unreachable),
        ORBGATE_FETCH_TIMEOUT => Ok(FetchError::Timeout),
        ORBGATE_FETCH_TOO_LARGE => Ok(FetchError::TooLarge),
        ORBGATE_FETCH_BAD_URL => Ok(FetchError::BadUrl),
        _ => Err(OrbgateStatus::InvalidArgument),
    }
}

/// Whether the wait of a step is over, so that you can call `orbgate_gate_resume`: `*out` is 1 or 0. Call it after each
/// report of a fetch, and when `until_ms` is reached. Any step other than `ORBGATE_STEP_WAIT` is an invalid argument.
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
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, step, out) = unsafe { (shared(gate)?, shared(step)?, Out::new(out)?) };
        let State::Wait(waiting) = &step.state else {
            return Err(OrbgateStatus::InvalidArgument);
        };
        let now = Duration::from_millis(monotonic_ms);
        let is_over = gate.gate.is_over(waiting.wait(), now);
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(is_over.into()) }
        Ok(())
    })
}

/// Requests every issuer's keys, as far as the options allow, so that the first token needn't wait. Afterwards,
/// fetch what `orbgate_gate_next_fetch` returns. `orbgate_gate_status` reports the results.
///
/// Ownership: nothing.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_warm(gate: *const OrbgateGate, monotonic_ms: u64) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let gate = unsafe { shared(gate) }?;
        // The first tokens wait for the keys themselves.
        let _ = gate.gate.warm(Duration::from_millis(monotonic_ms));
        Ok(())
    })
}

/// Returns the properties of a fetch. If it has a body, `out` must have room for it.
///
/// Ownership: the fetch owns the strings in `out`, which are valid as long as the fetch.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_fetch_info(fetch: *const OrbgateFetch, out: *mut OrbgateFetchInfo) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let OrbgateFetch { fetch } = unsafe { shared(fetch) }?;
        let post = fetch.post.as_ref();
        // Without its body, it would be a question about nothing.
        // SAFETY: the caller guarantees it, see the preamble.
        if post.is_some() && unsafe { struct_size(out) }? < WITH_BODY {
            return Err(OrbgateStatus::InvalidArgument);
        }
        let info = OrbgateFetchInfo {
            struct_size: 0,
            timeout_ms: u32::try_from(milliseconds(fetch.timeout)).unwrap_or(u32::MAX),
            attempt: fetch.attempt.number(),
            max_bytes: u64::try_from(fetch.max_bytes).unwrap_or(u64::MAX),
            url: OrbgateStr::new(&fetch.url),
            body: OrbgateStr::optional(post.map(Post::body)),
            authorization: OrbgateStr::optional(post.map(Post::authorization)),
        };
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &info) }
    })
}

/// Frees a fetch. Null is fine.
///
/// Ownership: takes `fetch`, and frees it with its strings.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_fetch_free(fetch: *mut OrbgateFetch) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { drop_owned(fetch) }
}

/// Writes a fetch, or null.
unsafe fn hand_over(out: Out<*mut OrbgateFetch>, fetch: Option<Fetch>) {
    let fetch = fetch.map_or(core::ptr::null_mut(), |fetch| into_owned(OrbgateFetch { fetch }));
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { out.write(fetch) }
}
