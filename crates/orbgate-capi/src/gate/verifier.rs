//! Verifiers: which tokens count, from a configuration.

use core::ffi::c_char;

use orbgate_token::Verifier;

use crate::arguments::{Out, bytes};
use crate::error::{OrbgateError, handing_over};
use crate::owners::{drop_owned, into_owned};
use crate::status::OrbgateStatus;

/// Which tokens count: the issuers, and what their tokens must be. Immutable; a gate keeps a copy.
#[derive(Debug)]
pub struct OrbgateVerifier {
    pub(crate) verifier: Verifier,
}

/// Reads the text of a token configuration.
///
/// `error` may be null. If it isn't and the call fails, `*error` contains every error of the configuration. Otherwise it stays
/// unchanged.
///
/// Ownership: `*out` is the caller's, to free with `orbgate_verifier_free`; `*error`, if it is set, with
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
        // SAFETY: the caller's, see the preamble.
        let (yaml, out) = unsafe { (bytes(yaml, yaml_len)?, Out::new(out)?) };
        let text = str::from_utf8(yaml).map_err(|error| {
            let message = format!("the token configuration is not UTF-8: {error}");
            OrbgateError::new(OrbgateStatus::InvalidConfiguration, None, message)
        })?;
        let verifier = Verifier::from_yaml(text).map_err(|error| OrbgateError::tokens(&error))?;
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(into_owned(OrbgateVerifier { verifier })) }
        Ok(())
    };
    // SAFETY: the caller's, see the preamble.
    unsafe { handing_over(error, make) }
}

/// Frees a verifier. Null is fine.
///
/// Ownership: takes `verifier`; gates made with it do not need it.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_verifier_free(verifier: *mut OrbgateVerifier) {
    // SAFETY: the caller's, see the preamble.
    unsafe { drop_owned(verifier) }
}
