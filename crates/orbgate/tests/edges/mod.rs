//! Sizes, positions and limits at which code that reads in steps, in tables or up to a limit can go wrong: each
//! position is tried, none is left to chance. The naive reference says what is right.

mod answers;
mod paths;
mod queries;
mod scopes;
mod templates;

use crate::support::engine::{answer, ask_engine, engine};
use crate::support::model::{Api, Model, Orbs, Route, Scope};
use crate::support::reference::{self, Answer, Ask};
use orbgate::Engine;

/// A policy of these templates below a base path, and its engine. Each route has a scope of its own.
struct Table {
    model: Model,
    engine: Engine,
}

impl Table {
    fn new<S: AsRef<str>>(base: &str, templates: impl IntoIterator<Item = S>) -> Self {
        Self::of(false, base, templates)
    }

    fn of<S: AsRef<str>>(encoded_params: bool, base: &str, templates: impl IntoIterator<Item = S>) -> Self {
        let routes = templates.into_iter().map(|template| Route {
            method: "GET".to_owned(),
            segments: segments(template.as_ref()),
            orbs: Orbs::Absent,
            keys: None,
        });
        let scope = |(at, route)| Scope { name: format!("r{at}"), orbs: Orbs::No, keys: None, routes: vec![route] };
        let api = Api {
            name: "edges".to_owned(),
            base_path: base.to_owned(),
            organisation: None,
            scopes: routes.enumerate().map(scope).collect(),
            closed: Vec::new(),
        };
        let model = Model { encoded_params, trailing_slash: false, apis: vec![api] };
        let engine = engine(&model);
        Self { model, engine }
    }

    /// The answer to a user who has every scope: the engine's and the reference's.
    fn get(&self, target: impl AsRef<[u8]>) -> Answer {
        let scopes = self.model.apis[0].scopes.iter();
        let scopes: Vec<_> = scopes.map(|scope| scope.name.as_str()).collect();
        self.ask(&Ask {
            method: b"GET".to_vec(),
            target: target.as_ref().to_vec(),
            token: Some(("user", scopes.join(" ").into_bytes())),
            bonus: false,
        })
    }

    fn ask(&self, ask: &Ask) -> Answer {
        let actual = answer(&ask_engine(&self.engine, ask));
        let right = reference::decide(&self.model, ask);
        assert_eq!(actual, right, "{ask:?} of {:?}", self.engine.routes().next());
        actual
    }

    /// The template that wins.
    fn winner(&self, target: impl AsRef<[u8]>) -> String {
        let answer = self.get(target);
        let route = answer.route.unwrap_or_else(|| panic!("{}", answer.reason));
        route.strip_prefix("GET ").unwrap().to_owned()
    }
}

/// The segments of a template.
fn segments(template: &str) -> Vec<String> {
    let segments = template.split('/').filter(|segment| !segment.is_empty());
    segments.map(str::to_owned).collect()
}
