//! The values of `Allow` headers of 405 responses.

use std::collections::HashSet;
use std::sync::Arc;

use orbgate::{Engine, Route};

/// The methods that each route's template declares, for example `GET, POST`. Only a few such strings differ,
/// and each is stored once.
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

    /// The value for a route.
    pub(crate) fn of(&self, route: &Route<'_>) -> Option<&str> {
        let index = usize::try_from(route.index()).ok()?;
        self.0.get(index).map(|text| &**text)
    }
}
