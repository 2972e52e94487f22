//! Searches for actions, resources and subjects that are allowed, by deciding each candidate.

use std::collections::BTreeSet;

use orbgate::Token;
use orbgate_analysis::reach;
use serde_json::{Value, json};

use super::evaluate::{Evaluator, USE};
use super::message::{Action, ActionSearch, Resource, ResourceSearch, SubjectSearch};
use crate::config::authzen::{ROUTE, SCOPE, TARGET};

impl Evaluator<'_> {
    /// The listed subjects of a type that may perform the action.
    pub(super) fn subjects(&self, search: &SubjectSearch) -> Value {
        let (action, resource) = (&search.action.0.name, &search.resource.0);
        let listed = self.config().subjects_of(&search.subject.0.kind);
        let may = listed.filter(|(_, listed)| self.allows(Some(listed.token()), action, resource));
        results(may.map(|(id, _)| json!({ "type": search.subject.0.kind, "id": id })))
    }

    /// The resources of a type that a subject may use in the given way. Ids that stand for clients' values aren't known
    /// here.
    pub(super) async fn resources(&self, search: &ResourceSearch) -> Value {
        let known = self.known(&search.subject.0).await;
        let (Action { name, .. }, kind) = (&search.action.0, &search.resource.0.kind);
        let Some(token) = known.token() else {
            return results([]);
        };
        let method = self.config().method(name);
        let allowed = reach(&self.engine, token);
        let ids: BTreeSet<String> = allowed
            .filter_map(|allow| match (allow.route(), kind.as_str()) {
                (None, SCOPE) if name == USE => Some(allow.scope()?.name().to_owned()),
                (Some(route), kind) if route.method() == method => {
                    let template = route.template();
                    match kind {
                        ROUTE => Some(template.to_owned()),
                        SCOPE => None,
                        _ if template.contains('{') => None,
                        TARGET => Some(template.to_owned()),
                        kind => self.config().resource(kind)?.id(template).map(str::to_owned),
                    }
                }
                _ => None,
            })
            .collect();
        results(ids.iter().map(|id| json!({ "type": kind, "id": id })))
    }

    /// The actions that a subject may perform on a resource.
    pub(super) async fn actions(&self, search: &ActionSearch) -> Value {
        let known = self.known(&search.subject.0).await;
        let token = known.token();
        let named = self.config().action_names();
        let methods = self.engine.routes().map(|route| route.method());
        let names: BTreeSet<&str> = named.chain(methods).chain([USE]).collect();
        let may = names.into_iter();
        let may = may.filter(|name| self.allows(token, name, &search.resource.0));
        results(may.map(|name| json!({ "name": name })))
    }

    fn allows(&self, token: Option<Token<'_>>, action: &str, resource: &Resource) -> bool {
        let decision = self.decide(token, action, resource);
        decision.is_ok_and(|decision| decision.is_allow())
    }
}

fn results(items: impl IntoIterator<Item = Value>) -> Value {
    json!({ "results": items.into_iter().collect::<Vec<_>>() })
}
