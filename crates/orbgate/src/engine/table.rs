//! The table as one document, for `serde`.

use serde::Serialize;

use super::Engine;
use crate::listing::{Closed, ScopeInApi};
use crate::tables::terms::{Digest, OrganisationRule};

impl Engine {
    /// The whole table, in the order of the policy file. Serialises as
    /// `{"policy","name","target","apis":[{"name","token","organisation","closed":[{"template","location"}],"scopes":[{"scope","permits", "orbs","location","routes":[{"route","method","template","scopes","orbs","location"}]}]}],"headings"}`.
    /// `scopes` is absent on a route that needs just its scope, and `closed` in an api without closed templates. `orbs` is null if the policy doesn't state it; otherwise it is `{"consumes","amount"}`, as in a
    /// decision. `location` is `{"line","column"}`.
    #[must_use]
    pub fn table(&self) -> Table<'_> {
        Table {
            policy: self.digest(),
            name: self.name(),
            target: self.target().as_str(),
            apis: apis(self),
            headings: self.headings().collect(),
        }
    }
}

/// Groups the scopes by api. Scopes of the same api are neighbours.
fn apis(engine: &Engine) -> Vec<Api<'_>> {
    let scopes: Vec<_> = engine.scopes_in_apis().collect();
    let apis = scopes.chunk_by(|a, b| a.api() == b.api());
    let mut apis: Vec<_> = apis.filter_map(|scopes| Some(Api::new(scopes.first()?.api(), scopes))).collect();
    for closed in engine.closed() {
        match apis.iter_mut().find(|api| api.name == closed.api()) {
            Some(api) => api.closed.push(closed),
            None => apis.push(Api { closed: vec![closed], ..Api::new(closed.api(), &[]) }),
        }
    }
    apis
}

/// An engine's whole table, for `serde`: [`Engine::table`].
#[derive(Debug, Serialize)]
pub struct Table<'e> {
    policy: Digest,
    name: Option<&'e str>,
    target: &'static str,
    apis: Vec<Api<'e>>,
    headings: Vec<&'e str>,
}

#[derive(Debug, Serialize)]
struct Api<'e> {
    name: &'e str,
    /// `user` if the scopes apply only to a user's token.
    token: Option<&'static str>,
    organisation: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    closed: Vec<Closed<'e>>,
    scopes: Vec<ScopeInApi<'e>>,
}

impl<'e> Api<'e> {
    fn new(name: &'e str, scopes: &[ScopeInApi<'e>]) -> Self {
        let rule = scopes.first().and_then(|first| first.scope().organisation());
        let (token, organisation) = (rule.map(|_| "user"), rule.map(OrganisationRule::as_str));
        Self { name, token, organisation, closed: Vec::new(), scopes: scopes.to_vec() }
    }
}
