//! What is read of a document: its operations, each with its requirements, or with the reason why no policy can express them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use orbgate::{Location, Orbs};

use crate::node::Problem;
use crate::scheme::{Scheme, Schemes};
use crate::security::{Needed, Remark};
use crate::template;

/// The parts of a document that determine which call needs which scope.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) policy: PolicyFacts,
    pub(super) schemes: Schemes,
    /// The path of the servers.
    pub(super) base_path: String,
    pub(super) operations: Vec<Operation>,
    /// The paths without operations.
    pub(super) empty: Vec<EmptyPath>,
    /// The templates that declare no method, so that other routes don't decide their calls.
    pub(super) closed: Vec<Closed>,
    /// The shapes of paths that can't be closed templates.
    pub(super) unclosable: HashSet<String>,
}

/// A path without operations: its operations, if it has some, aren't to be seen.
#[derive(Debug)]
pub(super) struct EmptyPath {
    pub(super) location: Location,
    pub(super) path: String,
    /// The name of the api whose closed template it is: `x-orbs-api`.
    pub(super) api: Option<String>,
    /// Why it isn't a closed template.
    pub(super) problem: Option<String>,
}

/// A closed template of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Closed {
    pub(super) scheme: usize,
    /// The template, relative to the api's base path.
    pub(super) template: String,
    /// The path, including the servers' path.
    pub(super) path: String,
    pub(super) location: Location,
    /// The route that would decide its calls, with its line. `None` for a path without operations.
    pub(super) against: Option<(String, u32)>,
}

/// The settings of a policy other than its apis: `x-orbs-policy` or, without it, the document's
/// title as the name.
#[derive(Debug, Default)]
pub(super) struct PolicyFacts {
    /// Whether the document has `x-orbs-policy`.
    pub(super) is_stated: bool,
    pub(super) name: Option<String>,
    pub(super) target: Option<String>,
    /// Whether all paths end in a slash. Without `x-orbs-policy`, whether most of the document's paths do.
    pub(super) trailing_slash: bool,
    pub(super) headings: Vec<String>,
    pub(super) comments: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Operation {
    pub(super) location: Location,
    /// `None` for a whole path item that couldn't be read, because its methods are unknown.
    pub(super) method: Option<String>,
    /// The path, including the servers' path.
    pub(super) path: String,
    /// What the document has after the path, which never reaches a server: `#` and what follows it.
    pub(super) fragment: String,
    pub(super) need: Result<Need, Problem>,
    /// Whether its `security`, or the document's, names scopes.
    pub(super) names_scopes: bool,
    /// The number of the operation whose route decides its calls, with the same requirement.
    pub(super) same_call_as: Option<usize>,
    /// What users should know if it is imported.
    pub(super) remarks: Vec<Remark>,
    /// Further human-readable information in the document, on one line.
    pub(super) note: Option<String>,
}

/// The requirements of an operation.
#[derive(Clone, Debug)]
pub(super) struct Need {
    pub(super) needed: Rc<Needed>,
    pub(super) method: String,
    /// The template, relative to the api's base path.
    pub(super) template: String,
    /// The orbs that a call consumes, if stated.
    pub(super) orbs: Option<Orbs>,
    /// Whether the route states its own orbs even if they equal the scope's.
    pub(super) own: bool,
}

impl Document {
    /// Whether an operation needs just one scope.
    pub(super) fn needs_one_scope(&self, operation: usize) -> bool {
        let need = self.operations.get(operation).and_then(|operation| operation.need.as_ref().ok());
        need.is_none_or(|need| need.needed.is_one_scope())
    }

    pub(super) fn name(&self, scope: &str) -> Vec<usize> {
        // Operations can share a long requirement.
        let mut known: HashMap<*const Needed, bool> = HashMap::new();
        let operations = self.operations.iter().enumerate();
        let named = operations.filter(|(_, operation)| {
            operation.need.as_ref().is_ok_and(|need| {
                let names = || need.needed.scopes().any(|name| name == scope);
                *known.entry(Rc::as_ptr(&need.needed)).or_insert_with(names)
            })
        });
        named.map(|(number, _)| number).collect()
    }

    /// The shapes of the paths for which the policy has a route.
    pub(super) fn served(&self) -> HashSet<String> {
        let kept = self.operations.iter().filter(|operation| operation.need.is_ok());
        kept.map(|operation| template::shape(&operation.path)).collect()
    }

    /// The base path of a scheme's api.
    pub(super) fn base_path_of<'d>(&'d self, scheme: &'d Scheme) -> Option<&'d str> {
        match &scheme.api {
            Some(facts) => facts.base_path.as_deref(),
            None => Some(&self.base_path),
        }
    }

    /// Whether the route of another operation, which is imported, decides the operation's calls.
    pub(super) fn shares_a_route(&self, operation: &Operation) -> bool {
        let route = operation.same_call_as.and_then(|route| self.operations.get(route));
        route.is_some_and(|route| route.need.is_ok())
    }
}

impl Need {
    /// Whether a call needs the same and consumes the same.
    pub(super) fn requires_what(&self, other: &Self) -> bool {
        (Rc::ptr_eq(&self.needed, &other.needed) || self.needed.is_met_with(&other.needed)) && self.orbs == other.orbs
    }
}

impl Operation {
    pub(super) fn name(&self) -> String {
        let Self { path, fragment, .. } = self;
        match &self.method {
            Some(method) => format!("{method} {path}{fragment}"),
            None => format!("{path}{fragment}"),
        }
    }
}

/// The part of a full path after a base path.
pub(super) fn below<'p>(base: &str, full: &'p str) -> Option<&'p str> {
    match full.strip_prefix(base)? {
        // The base path itself.
        "" => Some("/"),
        template if template == "/" && !base.is_empty() => None,
        template => template.starts_with('/').then_some(template),
    }
}
