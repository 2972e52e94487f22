//! Cedar, with all policies in one set or a set for each scope.

use std::collections::HashSet;
use std::hint::black_box;

use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid, PolicySet, Request,
};

use crate::contest::{Answer, Contestant, pass};
use crate::stream::{Ask, Stream};
use crate::table::Table;

/// Cedar, as its best practices have it: scopes and routes in the policy's scope rather than in conditions,
/// tokens in groups (one group a scope), routes as actions in groups. Policies and entities are parsed
/// once, requests built beforehand; only `is_authorized` is timed. [`Sets::Sliced`] goes further than its
/// documentation: of all policies only the one of the action's group is evaluated, picked for nothing.
pub(super) struct Cedar {
    table: &'static Table,
    authorizer: Authorizer,
    /// All policies in one set, or a set for each scope, and an empty one for requests without a route.
    policies: Vec<PolicySet>,
    sets: Sets,
    entities: Entities,
    requests: Vec<(Request, usize)>,
}

#[derive(Clone, Copy)]
pub(super) enum Sets {
    /// All policies in one.
    One,
    /// One for each scope.
    Sliced,
}

/// The policy of a scope.
fn policy(scope: &str) -> String {
    format!("permit(principal in Scope::\"{scope}\", action in Action::\"{scope}\", resource);\n")
}

/// All policies of a table.
pub fn text(table: &Table) -> String {
    table.scopes.iter().map(|scope| policy(scope)).collect()
}

/// Its actions and scopes; tokens come with the requests.
fn entities(table: &Table) -> Vec<Entity> {
    let scopes = table
        .scopes
        .iter()
        .flat_map(|scope| ["Scope", "Action"].map(|kind| Entity::new_no_attrs(uid(kind, scope), HashSet::new())));
    let routes = table.rows.iter().map(|row| {
        let group = uid("Action", table.scopes[row.scope]);
        Entity::new_no_attrs(uid("Action", row.name), HashSet::from([group]))
    });
    scopes.chain(routes).collect()
}

/// What an application does at its start: parses the policies, and makes the entities of the routes.
pub fn load(table: &Table, text: &str) -> (PolicySet, Entities) {
    let policies = text.parse().expect("valid policies");
    (policies, Entities::from_entities(entities(table), None).expect("valid entities"))
}

fn uid(kind: &str, id: &str) -> EntityUid {
    let kind: EntityTypeName = kind.parse().expect("a type");
    EntityUid::from_type_name_and_id(kind, EntityId::new(id))
}

impl Cedar {
    pub(super) fn new(table: &'static Table, sets: Sets) -> Self {
        let policies = match sets {
            Sets::One => vec![text(table).parse().expect("valid policies")],
            Sets::Sliced => {
                let one = |scope: &&str| policy(scope).parse().expect("a valid policy");
                table.scopes.iter().map(one).chain([PolicySet::new()]).collect()
            }
        };
        Self { table, authorizer: Authorizer::new(), policies, sets, entities: Entities::empty(), requests: Vec::new() }
    }

    #[inline(always)]
    fn allows(&self, ask: &Ask) -> bool {
        let (request, policies) = &self.requests[ask.id as usize];
        let policies = &self.policies[*policies];
        let response = self.authorizer.is_authorized(request, policies, &self.entities);
        response.decision() == Decision::Allow
    }
}

impl Contestant for Cedar {
    fn name(&self) -> String {
        match self.sets {
            Sets::One => "cedar-routed",
            Sets::Sliced => "cedar-sliced",
        }
        .to_owned()
    }

    fn prepare(&mut self, stream: &Stream) {
        let tokens = stream.tokens.iter().enumerate().map(|(id, token)| {
            let scopes = token.ids.iter().map(|scope| uid("Scope", self.table.scopes[*scope]));
            Entity::new_no_attrs(uid("Token", &id.to_string()), scopes.collect())
        });
        let entities = entities(self.table).into_iter().chain(tokens);
        self.entities = Entities::from_entities(entities, None).expect("valid entities");
        let api = uid("Api", "api");
        let requests = stream.facts.iter().map(|(token, route)| {
            let principal = uid("Token", &token.to_string());
            let row = route.map(|route| &self.table.rows[route]);
            let action = uid("Action", row.map_or("none", |row| row.name));
            let request = Request::new(principal, action, api.clone(), Context::empty(), None);
            let policies = match self.sets {
                Sets::One => 0,
                Sets::Sliced => row.map_or(self.table.scopes.len(), |row| row.scope),
            };
            (request.expect("a valid request"), policies)
        });
        self.requests = requests.collect();
    }

    fn answer(&self, ask: &Ask) -> Answer {
        Answer::Allowed(self.allows(ask))
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        pass(asks, |ask| black_box(self.allows(ask)))
    }
}
