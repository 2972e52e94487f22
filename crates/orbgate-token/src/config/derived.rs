//! The scopes that issuers derive, compared with those of policies.

use std::collections::BTreeSet;

use orbgate::{Location, is_earned};
use orbgate_yaml::quoted;

use super::error::ConfigError;
use crate::derive::Derived;
use crate::verifier::Verifier;

/// The scopes that the issuers of a configuration derive, and which of them policies use.
#[doc(hidden)] // for Orbgate's own crates
#[derive(Debug)]
pub struct DerivedScopes {
    file: String,
    verifier: Verifier,
    /// Each name in the file, and where it is.
    names: Vec<(String, Location)>,
    used: BTreeSet<String>,
}

impl DerivedScopes {
    /// Those of a configuration. Messages name its file.
    ///
    /// # Errors
    ///
    /// As [`Verifier::from_yaml`].
    pub fn from_yaml(text: &str, file: &str) -> Result<Self, ConfigError> {
        let (verifier, names) = Verifier::from_yaml_with_derived(text)?;
        Ok(Self { file: file.to_owned(), verifier, names, used: BTreeSet::new() })
    }

    /// The scopes of a policy that must be earned and that no issuer derives, or only some do: where each is, and a
    /// message. One that an earlier policy also has is reported once.
    pub fn lacking<'p>(&mut self, scopes: impl IntoIterator<Item = (&'p str, Location)>) -> Vec<(Location, String)> {
        let mut lacking = Vec::new();
        for (name, location) in scopes.into_iter().filter(|(name, _)| is_earned(name)) {
            let derives = |derived: &[Derived]| derived.iter().any(|derived| derived.name() == name);
            let others = self.verifier.derived().filter(|(_, derived)| !derives(derived));
            let others: Vec<_> = others.map(|(issuer, _)| quoted(issuer)).collect();
            if !self.used.insert(name.to_owned()) || others.is_empty() {
                continue;
            }
            let (name, file) = (quoted(name), quoted(&self.file));
            let message = match others.len() == self.verifier.issuers().count() {
                true => format!("no issuer in {file} derives {name}, so no token has it"),
                false => {
                    format!("no token of {} has {name}: the issuer doesn't derive it in {file}", others.join(", "))
                }
            };
            lacking.push((location, message));
        }
        lacking
    }

    /// The derived scopes that none of the policies has: where each is in the configuration, and a message.
    #[must_use]
    pub fn unused(&self) -> Vec<(Location, String)> {
        let unused = self.names.iter().filter(|(name, _)| !self.used.contains(name));
        unused.map(|(name, location)| (*location, format!("no policy uses {}", quoted(name)))).collect()
    }
}
