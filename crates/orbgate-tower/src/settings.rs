//! The settings of a layer, as its builder has made them.

use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

#[cfg(feature = "audit")]
use crate::audit::AuditLog;
use crate::challenge::Challenge;
use crate::engines::Engines;
use crate::target::WireUri;

pub(crate) struct Settings<V> {
    pub(crate) source: WireUri,
    pub(crate) engines: Engines,
    pub(crate) verifier: Arc<V>,
    pub(crate) challenge: Challenge,
    pub(crate) flat_403: bool,
    pub(crate) ignore_method_override: bool,
    /// How many bytes to read for `allowBonusOrbsUse`, by route.
    pub(crate) bonus: HashMap<String, u64>,
    pub(crate) shadow: Option<Engines>,
    #[cfg(feature = "audit")]
    pub(crate) audit: Option<AuditLog>,
}

impl<V> Settings<V> {
    pub(crate) fn new(source: WireUri, engines: Engines, verifier: V) -> Self {
        Self {
            source,
            engines,
            verifier: Arc::new(verifier),
            challenge: Challenge::default(),
            flat_403: false,
            ignore_method_override: false,
            bonus: HashMap::new(),
            shadow: None,
            #[cfg(feature = "audit")]
            audit: None,
        }
    }
}

// Written by hand: a derive would require that the verifier is `Clone`.
impl<V> Clone for Settings<V> {
    fn clone(&self) -> Self {
        Self {
            source: self.source,
            engines: self.engines.clone(),
            verifier: Arc::clone(&self.verifier),
            challenge: self.challenge.clone(),
            flat_403: self.flat_403,
            ignore_method_override: self.ignore_method_override,
            bonus: self.bonus.clone(),
            shadow: self.shadow.clone(),
            #[cfg(feature = "audit")]
            audit: self.audit.clone(),
        }
    }
}

impl<V> fmt::Debug for Settings<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("GateLayer");
        fields
            .field("source", &self.source)
            .field("engines", &self.engines)
            .field("challenge", &self.challenge)
            .field("flat_403", &self.flat_403)
            .field("ignore_method_override", &self.ignore_method_override)
            .field("bonus", &self.bonus)
            .field("shadow", &self.shadow);
        #[cfg(feature = "audit")]
        fields.field("audit", &self.audit);
        fields.finish_non_exhaustive()
    }
}
