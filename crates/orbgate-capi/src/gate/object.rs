//! A gate, which the library keeps by its handle.

use std::sync::Arc;

use arc_swap::ArcSwap;
use orbgate_gate::{ChargedBy, Gate, GateCharges, TemplateStyle};
use orbgate_token::{KeyCache, Verifier};

use super::options::{Options, invalid};
use super::verifier::with_secrets;
use crate::error::OrbgateError;
use crate::status::{OrStatus, OrbgateStatus};

/// Rules and keys.
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
        let verifier = if options.proofs { verifier.taking_proofs() } else { verifier };
        let keys = KeyCache::new(verifier, options.settings);
        let keys = keys.map_err(|error| invalid(&error))?;
        let keys = match options.signatures_outside {
            true => keys.signatures_outside(),
            false => keys,
        };
        Ok(Self { gate: Gate::new(options.rules, keys), templates: options.templates, served: ArcSwap::default() })
    }

    /// How it charges. Functions state the amounts of these routes.
    pub(super) fn charges(&self, has_ledger: bool, amounts: &[&str]) -> GateCharges {
        let amounts = || amounts.iter().map(|route| (*route).to_owned()).collect();
        let by = if has_ledger { ChargedBy::Ledger(amounts()) } else { ChargedBy::Handlers };
        GateCharges::new(by).with_accounts(self.gate.keys().accounts())
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
