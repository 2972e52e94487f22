//! What routes need, as scope strings.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use orbgate::{Engine, Route};

/// The alternatives of each route that needs more or other than one scope, by the route's index. Routes can share them,
/// and each list is stored once.
#[derive(Debug)]
pub(crate) struct Alternatives(HashMap<u32, Arc<[String]>>);

impl Alternatives {
    pub(crate) fn new(engine: &Engine) -> Self {
        let mut lists: HashSet<Arc<[String]>> = HashSet::new();
        let routes = engine.routes().filter(|route| !route.requirement().is_one_scope());
        let texts = routes.map(|route| {
            let list: Arc<[_]> = route.requirement().alternatives().map(|scopes| scopes.to_string()).collect();
            let known = lists.get(&list).cloned();
            let list = known.unwrap_or_else(|| {
                lists.insert(Arc::clone(&list));
                list
            });
            (route.index(), list)
        });
        Self(texts.collect())
    }

    /// An alternative of a route.
    pub(crate) fn of<'a>(&'a self, route: &Route<'a>, index: usize) -> Option<&'a str> {
        match self.0.get(&route.index()) {
            Some(list) => list.get(index).map(String::as_str),
            None => (index == 0).then_some(route.scope().name()),
        }
    }
}
