//! A gate as an object of the C ABI.

use std::sync::Arc;

use arc_swap::ArcSwap;
use orbgate_gate::{Gate, TemplateStyle};
use orbgate_token::{KeyCache, Verifier};

use super::options::{Options, invalid};
use super::verifier::with_secrets;
use crate::error::OrbgateError;
use crate::owners::drop_owned;
use crate::status::{OrStatus, OrbgateStatus};

/// Rules and keys. A gate turns a request as received into a result: see `orbgate_gate_call`. It does no I/O, reads no
/// clock and has no thread. The caller makes its calls and passes the time on two clocks: since 1970, for tokens, and
/// since any moment, on a monotonic clock that is never set, for fetching keys.
#[derive(Debug)]
pub struct OrbgateGate {
    pub(super) gate: Gate,
    pub(super) templates: TemplateStyle,
    /// The routes of the service, if it has stated them.
    served: ArcSwap<Vec<(String, String)>>,
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
        Ok(Self { gate: Gate::new(options.rules, keys), templates: options.templates, served: ArcSwap::default() })
    }

    pub(super) fn serves(&self, routes: Vec<(String, String)>) {
        self.served.store(Arc::new(routes));
    }

    pub(super) fn served(&self) -> Arc<Vec<(String, String)>> {
        self.served.load_full()
    }

    /// A configured issuer with this name.
    pub(super) fn issuer<'i>(&self, name: &'i [u8]) -> OrStatus<&'i str> {
        let name = str::from_utf8(name).map_err(|_| OrbgateStatus::NotFound)?;
        let is_known = self.gate.keys().issuers().any(|known| known == name);
        is_known.then_some(name).ok_or(OrbgateStatus::NotFound)
    }
}

/// The remaining steps of the gate can only be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_free(gate: *mut OrbgateGate) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { drop_owned(gate) }
}
