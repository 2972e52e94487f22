//! Why a call has no response.

use orbgate_token::FetchError;

use crate::status::{OrStatus, OrbgateStatus};

/// Why a fetch failed.
///
/// No connection, an untrusted certificate, or a response that isn't HTTP or is incomplete.
pub const ORBGATE_FETCH_UNREACHABLE: u32 = 1;
/// The response didn't arrive within `timeout_ms`.
pub const ORBGATE_FETCH_TIMEOUT: u32 = 2;
/// The body is larger than `max_bytes`.
pub const ORBGATE_FETCH_TOO_LARGE: u32 = 3;
/// The host doesn't allow this URL.
pub const ORBGATE_FETCH_BAD_URL: u32 = 4;

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
