//! What the `Allow` header of a 405 lists.

use std::collections::HashSet;
use std::sync::Arc;

use orbgate::{Engine, Reason, Route};

use crate::arguments::{Out, shared};
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngine;
use crate::found::Found;
use crate::status::{OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// The methods that each route's template declares, as `GET, POST`. Few such texts differ: each is kept once.
#[derive(Debug)]
pub(crate) struct Methods(Box<[Arc<str>]>);

impl Methods {
    pub(crate) fn new(engine: &Engine) -> Self {
        let mut texts: HashSet<Arc<str>> = HashSet::new();
        let mut text = String::new();
        let texts = engine.routes().map(|route| {
            text.clear();
            for method in route.methods() {
                text.push_str(if text.is_empty() { "" } else { ", " });
                text.push_str(method);
            }
            let known = texts.get(text.as_str()).cloned();
            known.unwrap_or_else(|| {
                let text: Arc<str> = text.as_str().into();
                texts.insert(Arc::clone(&text));
                text
            })
        });
        Self(texts.collect())
    }

    /// The text of a route.
    pub(crate) fn of(&self, route: &Route<'_>) -> Option<&str> {
        let index = usize::try_from(route.index()).ok()?;
        self.0.get(index).map(|text| &**text)
    }
}

/// What the `Allow` header of a 405 lists: the methods that the request's path declares, in alphabetical order, as in
/// `GET, POST`. No text where the reason is not `method_not_declared`: then the answer has no such header.
///
/// A decision that no engine of this policy can have made is an invalid argument.
///
/// Ownership: the text is the engine's and lives as long as it.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_declared_methods(
    engine: *const OrbgateEngine,
    decision: *const OrbgateDecision,
    out: *mut OrbgateStr,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (engine, decision, out) =
            unsafe { (shared(engine)?, shared(decision)?, Out::new(out)?) };
        let found = Found::of(engine, decision)?;
        let route = found
            .route
            .filter(|_| found.reason == Reason::MethodNotDeclared);
        let text = route.and_then(|route| engine.methods().of(&route));
        // SAFETY: the caller's, see the preamble.
        unsafe { out.write(OrbgateStr::optional(text)) }
        Ok(())
    })
}
