//! The keys of a gate: revoking and forgetting them, and their status.

use core::ffi::c_char;

use orbgate_token::KeyStatus;

use super::object::OrbgateGate;
use super::options::given;
use super::request::milliseconds;
use super::secrets::reader;
use crate::arguments::{Out, Sized32, bytes, first_size, shared, write_sized};
use crate::error::{OrbgateError, handing_over};
use crate::owners::{drop_owned, into_owned};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// The status of a gate's keys at one moment. Immutable; the caller owns it.
#[derive(Debug)]
pub struct OrbgateKeyStatus {
    issuers: Vec<Issuer>,
}

#[derive(Debug)]
struct Issuer {
    status: KeyStatus<core::time::Duration>,
    failure: Option<String>,
    warnings: String,
}

/// The status of one issuer's keys.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateIssuerStatus {
    /// Set it to `sizeof(OrbgateIssuerStatus)`, or use `orbgate_issuer_status_init()`.
    pub struct_size: u32,
    /// The number of usable keys. If it is 0 and `opaque` isn't 1, every token of the issuer is rejected.
    pub key_count: u32,
    /// When the keys were fetched, on the monotonic clock; 0 if there aren't any.
    pub fetched_ms: u64,
    /// The issuer.
    pub issuer: OrbgateStr,
    /// Why the last attempt failed; no string if it succeeded.
    pub failure: OrbgateStr,
    /// The keys that were left out, with the reasons: one line for each.
    pub warnings: OrbgateStr,
    /// 1 if the issuer's tokens are opaque: it has no keys, and `failure` is that of its introspection endpoint.
    pub opaque: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: integers and strings, the u32 first.
unsafe impl Sized32 for OrbgateIssuerStatus {
    const FIRST_SIZE: usize = first_size(64, 40);
}

/// Never uses the issuer's key with this `kid` again, even if the issuer still publishes it. Call it if a private key
/// was stolen. Tokens that name the key are rejected with `key_revoked`. Returns `ORBGATE_STATUS_NOT_FOUND` for an
/// unknown issuer.
///
/// Ownership: nothing; everything is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_revoke(
    gate: *const OrbgateGate,
    issuer: *const c_char,
    issuer_len: usize,
    kid: *const c_char,
    kid_len: usize,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, issuer, kid) = unsafe { (shared(gate)?, bytes(issuer, issuer_len)?, bytes(kid, kid_len)?) };
        let kid = str::from_utf8(kid).map_err(|_| OrbgateStatus::InvalidArgument)?;
        gate.gate.keys().revoke(gate.issuer(issuer)?, kid);
        Ok(())
    })
}

/// Forgets an issuer's keys. Call it if the issuer has withdrawn a key before it expired. The next token waits for a
/// fetch; until one succeeds, every token of the issuer is rejected. Returns `ORBGATE_STATUS_NOT_FOUND` for an unknown
/// issuer.
///
/// Ownership: nothing; everything is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_forget(
    gate: *const OrbgateGate,
    issuer: *const c_char,
    issuer_len: usize,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, issuer) = unsafe { (shared(gate)?, bytes(issuer, issuer_len)?) };
        // Nothing waits for a running attempt, because its result is discarded.
        let _ = gate.gate.keys().forget(gate.issuer(issuer)?);
        Ok(())
    })
}

impl OrbgateGate {
    /// A configured issuer with this name.
    pub(super) fn issuer<'i>(&self, name: &'i [u8]) -> OrStatus<&'i str> {
        let name = str::from_utf8(name).map_err(|_| OrbgateStatus::NotFound)?;
        let is_known = self.gate.keys().issuers().any(|known| known == name);
        is_known.then_some(name).ok_or(OrbgateStatus::NotFound)
    }
}

/// Reads the secrets of the clients that ask about opaque tokens again: call it after one of them has changed, for example
/// when you reload the policy. `secrets` and `secret_count` work as in `OrbgateGateOptions`. Answers to another secret are
/// forgotten. If a secret can't be read, all of them stay as they are.
///
/// `error` works as in `orbgate_verifier_from_yaml`. A secret that can't be read gives
/// `ORBGATE_STATUS_INVALID_CONFIGURATION`. No error contains a secret.
///
/// Ownership: if `*error` is set, the caller owns it and frees it with `orbgate_error_free`. Everything else is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_read_secrets(
    gate: *const OrbgateGate,
    secrets: *const OrbgateStr,
    secret_count: usize,
    error: *mut *mut OrbgateError,
) -> OrbgateStatus {
    let read = || {
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, given) = unsafe { (shared(gate)?, given(secrets, secret_count)?) };
        let keys = gate.gate.keys();
        let reader = reader(&given, keys.secrets().count())?;
        let done = keys.read_secrets(reader);
        done.map_err(|error| OrbgateError::tokens(&error))
    };
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { handing_over(error, read) }
}

/// Returns the status of each issuer's keys, for logs and health checks.
///
/// Ownership: the caller owns `*out` and frees it with `orbgate_key_status_free`.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_status(
    gate: *const OrbgateGate,
    out: *mut *mut OrbgateKeyStatus,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (gate, out) = unsafe { (shared(gate)?, Out::new(out)?) };
        let issuers = gate.gate.keys().status().into_iter().map(|status| {
            let warnings = status.warnings.iter().map(ToString::to_string);
            Issuer {
                failure: status.failure.as_ref().map(ToString::to_string),
                warnings: warnings.collect::<Vec<_>>().join("\n"),
                status,
            }
        });
        let issuers = issuers.collect();
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(into_owned(OrbgateKeyStatus { issuers })) }
        Ok(())
    })
}

/// Returns the status of one issuer's keys, in the order of the configuration. Returns `ORBGATE_STATUS_NOT_FOUND` if
/// there are at most `index` issuers.
///
/// Ownership: `status` owns the strings in `out`, which are valid as long as `status`.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_key_status_issuer(
    status: *const OrbgateKeyStatus,
    index: usize,
    out: *mut OrbgateIssuerStatus,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let status = unsafe { shared(status) }?;
        let issuer = status.issuers.get(index).ok_or(OrbgateStatus::NotFound)?;
        let issuer = OrbgateIssuerStatus {
            struct_size: 0,
            key_count: u32::try_from(issuer.status.keys).unwrap_or(u32::MAX),
            fetched_ms: issuer.status.fetched.map_or(0, milliseconds),
            issuer: OrbgateStr::new(&issuer.status.issuer),
            failure: OrbgateStr::optional(issuer.failure.as_deref()),
            warnings: OrbgateStr::new(&issuer.warnings),
            opaque: issuer.status.is_opaque.into(),
            reserved: 0,
        };
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &issuer) }
    })
}

/// Frees the result of `orbgate_gate_status`. Null is fine.
///
/// Ownership: takes `status`, and frees it with its strings.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_key_status_free(status: *mut OrbgateKeyStatus) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { drop_owned(status) }
}
