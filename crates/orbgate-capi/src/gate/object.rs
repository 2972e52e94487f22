//! A gate as an object of the C ABI.

use orbgate_gate::{Gate, TemplateStyle};
use orbgate_token::{KeyCache, Verifier};

use super::options::{Options, invalid};
use super::secrets::with_secrets;
use crate::error::OrbgateError;

/// Rules and keys. A gate turns a request as received into a result. It does no I/O, reads no clock and has no thread.
/// The caller performs the fetches of `orbgate_gate_next_fetch`, and passes the time on two clocks: `unix_ms` since
/// 1970, which determines whether tokens are valid, and `monotonic_ms` since any moment, on a clock that is never set,
/// which determines when keys are fetched.
#[derive(Debug)]
pub struct OrbgateGate {
    pub(super) gate: Gate,
    pub(super) templates: TemplateStyle,
}

impl OrbgateGate {
    pub(super) fn new(verifier: &Verifier, options: Options) -> Result<Self, OrbgateError> {
        let verifier = with_secrets(verifier, &options)?;
        let keys = KeyCache::new(verifier, options.settings);
        let keys = keys.map_err(|error| invalid(&error))?;
        let keys = match options.signatures_outside {
            true => keys.signatures_outside(),
            false => keys,
        };
        Ok(Self { gate: Gate::new(options.rules, keys), templates: options.templates })
    }
}
