//! The table as one document, for `serde`.

use serde::Serialize;

use crate::engine::Engine;
use crate::listing::{Route, Scope};
use crate::terms::{Digest, Orbs, OrganisationRule, Place};

impl Engine {
    /// The whole table, in the order of the policy file. Serialises as
    /// `{"policy","name","target","apis":[{"name","token","organisation","scopes":[{"scope","permits",
    /// "orbs","place","routes":[{"route","method","template","orbs","place"}]}]}],"headings"}`: `orbs` is
    /// null where it is not stated, else `{"consumes","amount"}` as in a decision; `place` is
    /// `{"line","column"}`.
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

/// The scopes of each api: those of one api stand together.
fn apis(engine: &Engine) -> Vec<ApiJson<'_>> {
    let mut apis: Vec<ApiJson<'_>> = Vec::new();
    for scope in engine.scope_table() {
        match apis.last_mut() {
            Some(api) if api.name == scope.api() => api.scopes.push(ScopeJson::new(scope)),
            _ => apis.push(ApiJson::new(scope)),
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
    apis: Vec<ApiJson<'e>>,
    headings: Vec<&'e str>,
}

#[derive(Debug, Serialize)]
struct ApiJson<'e> {
    name: &'e str,
    /// `user` where the scopes apply only to a user's token.
    token: Option<&'static str>,
    organisation: Option<&'static str>,
    scopes: Vec<ScopeJson<'e>>,
}

impl<'e> ApiJson<'e> {
    /// The api of its first scope.
    fn new(first: Scope<'e>) -> Self {
        let rule = first.organisation();
        Self {
            name: first.api(),
            token: rule.map(|_| "user"),
            organisation: rule.map(OrganisationRule::as_str),
            scopes: vec![ScopeJson::new(first)],
        }
    }
}

#[derive(Debug, Serialize)]
struct ScopeJson<'e> {
    scope: &'e str,
    permits: Option<&'e str>,
    orbs: Option<OrbsJson>,
    place: PlaceJson,
    routes: Vec<RouteJson<'e>>,
}

impl<'e> ScopeJson<'e> {
    fn new(scope: Scope<'e>) -> Self {
        Self {
            scope: scope.name(),
            permits: scope.permits(),
            orbs: scope.orbs().map(OrbsJson::new),
            place: PlaceJson::new(scope.place()),
            routes: scope.routes().map(RouteJson::new).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct RouteJson<'e> {
    route: &'e str,
    method: &'e str,
    template: &'e str,
    orbs: OrbsJson,
    place: PlaceJson,
}

impl<'e> RouteJson<'e> {
    fn new(route: Route<'e>) -> Self {
        Self {
            route: route.as_str(),
            method: route.method(),
            template: route.template(),
            orbs: OrbsJson::new(route.orbs()),
            place: PlaceJson::new(route.place()),
        }
    }
}

#[derive(Debug, Serialize)]
struct OrbsJson {
    consumes: bool,
    amount: Option<u64>,
}

impl OrbsJson {
    const fn new(orbs: Orbs) -> Self {
        match orbs {
            Orbs::Free => Self {
                consumes: false,
                amount: Some(0),
            },
            Orbs::Unstated => Self {
                consumes: true,
                amount: None,
            },
            Orbs::Amount(amount) => Self {
                consumes: true,
                amount: Some(amount),
            },
        }
    }
}

#[derive(Debug, Serialize)]
struct PlaceJson {
    line: u32,
    column: u32,
}

impl PlaceJson {
    const fn new(place: Place) -> Self {
        Self {
            line: place.line,
            column: place.column,
        }
    }
}
