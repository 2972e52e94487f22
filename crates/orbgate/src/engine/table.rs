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
    let mut apis: Vec<_> = apis.filter_map(Api::new).collect();
    for closed in engine.closed() {
        match apis.iter_mut().find(|api| api.name == closed.api()) {
            Some(api) => api.closed.push(closed),
            // It has no scope.
            None => apis.push(Api {
                name: closed.api(),
                token: None,
                organisation: None,
                closed: vec![closed],
                scopes: Vec::new(),
            }),
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
    /// The api of these scopes.
    fn new(scopes: &[ScopeInApi<'e>]) -> Option<Self> {
        let first = scopes.first()?;
        let rule = first.scope().organisation();
        Some(Self {
            name: first.api(),
            token: rule.map(|_| "user"),
            organisation: rule.map(OrganisationRule::as_str),
            closed: Vec::new(),
            scopes: scopes.to_vec(),
        })
    }
}
