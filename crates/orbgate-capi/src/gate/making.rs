//! Answers about a configuration: what it reads, and a gate from it.

use std::sync::Arc;

use orbgate_gate::Metadata;

use super::asking::{Asking, given};
use super::messages::*;
use super::object::OrbgateGate;
use super::options::{Options, invalid};
use super::verifier::{ORBGATE_SECRET_ENV, ORBGATE_SECRET_FILE, ORBGATE_SECRET_KEYS, read_verifier};
use crate::error::OrbgateError;
use crate::status::OrStatus;

impl Asking<'_> {
    pub(super) fn sources(&mut self, Sources { tokens }: &Sources<'_>) -> OrStatus {
        let verifier = match read_verifier(tokens) {
            Ok(verifier) => verifier,
            Err(error) => return self.failed(&error),
        };
        let sources = verifier.secrets().map(|source| {
            let (kind, name) = match source {
                orbgate_token::SecretSource::File(path) => (ORBGATE_SECRET_FILE, path),
                orbgate_token::SecretSource::Env(name) => (ORBGATE_SECRET_ENV, name),
                orbgate_token::SecretSource::Keys(path) => (ORBGATE_SECRET_KEYS, path),
            };
            SecretSource { kind: kind.into(), name }
        });
        SecretSources { sources: sources.collect() }.write(&mut self.to())
    }

    pub(super) fn make(&mut self, make: &Make<'_>) -> OrStatus {
        match made(make) {
            Ok(gate) => {
                self.made = Some(Box::new(gate));
                self.done()
            }
            Err(error) => self.failed(&error),
        }
    }
}

fn made(make: &Make<'_>) -> Result<OrbgateGate, OrbgateError> {
    let verifier = read_verifier(make.tokens)?;
    let mut options = Options::of(make, given(&make.secrets))?;
    if !make.metadata.is_empty() {
        let metadata = Metadata::new(make.metadata, &verifier, make.mcp_initial_scopes);
        options.rules.metadata = Some(Arc::new(metadata.map_err(|it| invalid(&it))?));
    }
    OrbgateGate::new(&verifier, options)
}
