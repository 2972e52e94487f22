//! The settings of a layer, as set with its builder.

use core::fmt;
use core::sync::atomic::AtomicUsize;
use std::sync::Arc;

use orbgate_gate::{ChargedBy, Mcp, Rules};

#[cfg(feature = "audit")]
use crate::audit::AuditLog;
use crate::engines::Engines;
use crate::target::WireUri;
use crate::verify::VerifyToken;

pub(crate) struct Settings<V> {
    pub(crate) source: WireUri,
    pub(crate) engines: Engines,
    pub(crate) verifier: Arc<V>,
    pub(crate) rules: Rules,
    /// The number of bytes to read for `allowBonusOrbsUse`, by route.
    pub(crate) bonus: Vec<(String, u64)>,
    /// How many more bytes of messages can be held.
    pub(crate) room: Arc<AtomicUsize>,
    pub(crate) shadow: Option<Engines>,
    /// Whether the log explains denials.
    pub(crate) debug: bool,
    #[cfg(feature = "audit")]
    pub(crate) audit: Option<AuditLog>,
}

impl<V> Settings<V> {
    pub(crate) fn new(source: WireUri, engines: Engines, verifier: V) -> Self {
        let mut rules = Rules::new();
        rules.public = engines.public().cloned();
        Self {
            source,
            engines,
            verifier: Arc::new(verifier),
            rules,
            bonus: Vec::new(),
            room: Arc::new(AtomicUsize::new(Mcp::MOST_HELD)),
            shadow: None,
            debug: false,
            #[cfg(feature = "audit")]
            audit: None,
        }
    }
}

impl<V: VerifyToken> Settings<V> {
    /// A layer that charges nothing, and so denies no call for its charge, begins to serve.
    pub(crate) fn state_charging(&self) {
        let _ = self.engines.charged(&self.verifier.charges(ChargedBy::Handlers));
    }
}

// Written by hand: a derive would require that the verifier is `Clone`.
impl<V> Clone for Settings<V> {
    fn clone(&self) -> Self {
        Self {
            source: self.source,
            engines: self.engines.clone(),
            verifier: Arc::clone(&self.verifier),
            rules: self.rules.clone(),
            bonus: self.bonus.clone(),
            room: Arc::clone(&self.room),
            shadow: self.shadow.clone(),
            debug: self.debug,
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
            .field("rules", &self.rules)
            .field("bonus", &self.bonus)
            .field("shadow", &self.shadow)
            .field("debug", &self.debug);
        #[cfg(feature = "audit")]
        fields.field("audit", &self.audit);
        fields.finish_non_exhaustive()
    }
}
