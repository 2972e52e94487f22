//! Verifiers, made from a configuration of accepted tokens.

use core::ffi::c_char;

use orbgate_token::Verifier;

use crate::arguments::{Out, bytes};
use crate::error::{OrbgateError, handing_over};
use crate::owners::{drop_owned, into_owned};
use crate::status::OrbgateStatus;

/// The accepted tokens: their issuers and rules. Immutable; a gate keeps a copy.
#[derive(Debug)]
pub struct OrbgateVerifier {
    pub(crate) verifier: Verifier,
}

/// Reads a token configuration in YAML.
///
/// `error` may be null. If it isn't and the call fails, `*error` contains every error of the configuration. Otherwise,
/// it stays unchanged.
///
/// Ownership: the caller owns `*out` and frees it with `orbgate_verifier_free`; `*error`, if it is set, with
/// `orbgate_error_free`. `yaml` is only read.
/// Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_verifier_from_yaml(
    yaml: *const c_char,
    yaml_len: usize,
    out: *mut *mut OrbgateVerifier,
    error: *mut *mut OrbgateError,
) -> OrbgateStatus {
    let make = || {
        // SAFETY: the caller guarantees it, see the preamble.
        let (yaml, out) = unsafe { (bytes(yaml, yaml_len)?, Out::new(out)?) };
        let verifier = read_verifier(yaml)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(into_owned(OrbgateVerifier { verifier })) }
        Ok(())
    };
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { handing_over(error, make) }
}

/// The verifier of a token configuration.
pub(super) fn read_verifier(yaml: &[u8]) -> Result<Verifier, OrbgateError> {
    let text = str::from_utf8(yaml).map_err(|error| {
        let message = format!("the token configuration is not UTF-8: {error}");
        OrbgateError::new(OrbgateStatus::InvalidConfiguration, None, message)
    })?;
    Verifier::from_yaml(text).map_err(|error| OrbgateError::tokens(&error))
}

/// Frees a verifier. Null is fine.
///
/// Ownership: takes `verifier`. Gates made with it don't need it any more.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_verifier_free(verifier: *mut OrbgateVerifier) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { drop_owned(verifier) }
}
