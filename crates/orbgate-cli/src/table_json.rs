//! The table as one JSON document.
//!
//! `{"policy","name","target","apis":[{"name","token","organisation","scopes":[{"scope","permits","orbs",
//! "place","routes":[{"route","method","template","orbs","place"}]}]}],"headings"}`: `orbs` is null where
//! it is not stated, else `{"consumes","amount"}` as in a decision; `place` is `{"line","column"}`.

use orbgate::Place;
use orbgate::{Digest, Engine, Orbs, Route, Scope};
use serde::Serialize;

use crate::output::Stop;
use crate::table::apis;

/// The document, on one line.
pub(crate) fn document(engine: &Engine) -> Result<Vec<u8>, Stop> {
    let table = Table {
        policy: engine.digest(),
        name: engine.name(),
        target: engine.target().as_str(),
        apis: apis(engine).into_iter().map(ApiJson::new).collect(),
        headings: engine.headings().collect(),
    };
    let mut document = serde_json::to_vec(&table)
        .map_err(|error| Stop::Error(format!("cannot write JSON: {error}")))?;
    document.push(b'\n');
    Ok(document)
}

#[derive(Serialize)]
struct Table<'e> {
    policy: Digest,
    name: Option<&'e str>,
    target: &'static str,
    apis: Vec<ApiJson<'e>>,
    headings: Vec<&'e str>,
}

#[derive(Serialize)]
struct ApiJson<'e> {
    name: &'e str,
    /// `user` where the scopes apply only to a user's token.
    token: Option<&'static str>,
    organisation: Option<&'static str>,
    scopes: Vec<ScopeJson<'e>>,
}

impl<'e> ApiJson<'e> {
    fn new((name, scopes): (&'e str, Vec<Scope<'e>>)) -> Self {
        let rule = scopes.first().and_then(Scope::organisation);
        Self {
            name,
            token: rule.map(|_| "user"),
            organisation: rule.map(orbgate::OrganisationRule::as_str),
            scopes: scopes.into_iter().map(ScopeJson::new).collect(),
        }
    }
}

#[derive(Serialize)]
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

#[derive(Serialize)]
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

#[derive(Serialize)]
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

#[derive(Serialize)]
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
