//! The policy engines. They are general languages: any attribute, relation or condition, where orbgate
//! knows one rule. None of them routes a request, so most get the route for nothing (`-routed`): their
//! figures are without the finding of it, and without reading a token, both of which orbgate does.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hint::black_box;
use std::sync::{Arc, Mutex};

use casbin::rhai::Dynamic;
use casbin::{CoreApi, DefaultModel, Enforcer, MemoryAdapter, MgmtApi};
use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid,
    PolicySet, Request,
};
use regorus::Value;
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::program::Program;
use regorus::rvm::vm::RegoVM;

use super::{Add, pass};
use crate::contest::{Answer, Contestant};
use crate::stream::{Ask, Stream};
use crate::table::Table;

/// Beyond this many routes they take too long to be waited for.
pub const MOST_ROUTES: usize = 10_000;

pub(super) fn add(table: &'static Table, add: &mut Add<'_>) {
    if table.rows.len() >= MOST_ROUTES {
        return;
    }
    add("cedar-routed", &|| Box::new(Cedar::new(table, false)));
    add("cedar-sliced", &|| Box::new(Cedar::new(table, true)));
    add("regorus-routed", &|| {
        Box::new(Regorus::new(table, Rego::Routed))
    });
    #[cfg(feature = "routers")]
    add("regorus-matchit", &|| Box::new(RegorusMatchit::new(table)));
    add("regorus-paths", &|| {
        Box::new(Regorus::new(table, Rego::Paths))
    });
    add("casbin-routed", &|| Box::new(Casbin::new(table, false)));
    // A regular expression a rule: 10 ms a request with 1,000 rules.
    if table.rows.len() < 100 {
        add("casbin-paths", &|| Box::new(Casbin::new(table, true)));
    }
}

/// Cedar, as its best practices have it: scopes and routes in the policy's scope rather than in conditions,
/// tokens in groups (one group a scope), routes as actions in groups. Policies and entities are parsed
/// once, requests built beforehand; only `is_authorized` is timed. `sliced` goes further than its
/// documentation: of all policies only the one of the action's group is evaluated, picked for nothing.
struct Cedar {
    table: &'static Table,
    authorizer: Authorizer,
    /// All policies in one set, or a set for each scope, and an empty one for requests without a route.
    policies: Vec<PolicySet>,
    sliced: bool,
    entities: Entities,
    requests: Vec<(Request, usize)>,
}

/// The policy of a scope in Cedar.
fn cedar_policy(scope: &str) -> String {
    format!("permit(principal in Scope::\"{scope}\", action in Action::\"{scope}\", resource);\n")
}

/// All policies of a table in Cedar.
pub fn cedar_text(table: &Table) -> String {
    table
        .scopes
        .iter()
        .map(|scope| cedar_policy(scope))
        .collect()
}

/// Its actions and scopes; tokens come with the requests.
fn cedar_entities(table: &Table) -> Vec<Entity> {
    let scopes = table.scopes.iter().flat_map(|scope| {
        ["Scope", "Action"].map(|kind| Entity::new_no_attrs(uid(kind, scope), HashSet::new()))
    });
    let routes = table.rows.iter().map(|row| {
        let group = uid("Action", table.scopes[row.scope]);
        Entity::new_no_attrs(uid("Action", row.name), HashSet::from([group]))
    });
    scopes.chain(routes).collect()
}

/// What an application does at its start: parses the policies, and makes the entities of the routes.
pub fn cedar_load(table: &Table, text: &str) -> (PolicySet, Entities) {
    let policies = text.parse().expect("valid policies");
    (
        policies,
        Entities::from_entities(cedar_entities(table), None).expect("valid entities"),
    )
}

fn uid(kind: &str, id: &str) -> EntityUid {
    let kind: EntityTypeName = kind.parse().expect("a type");
    EntityUid::from_type_name_and_id(kind, EntityId::new(id))
}

impl Cedar {
    fn new(table: &'static Table, sliced: bool) -> Self {
        let policies = match sliced {
            false => vec![cedar_text(table).parse().expect("valid policies")],
            true => {
                let one = |scope: &&str| cedar_policy(scope).parse().expect("a valid policy");
                table
                    .scopes
                    .iter()
                    .map(one)
                    .chain([PolicySet::new()])
                    .collect()
            }
        };
        Self {
            table,
            authorizer: Authorizer::new(),
            policies,
            sliced,
            entities: Entities::empty(),
            requests: Vec::new(),
        }
    }

    #[inline(always)]
    fn allows(&self, ask: &Ask) -> bool {
        let (request, policies) = &self.requests[ask.id as usize];
        let policies = &self.policies[*policies];
        let response = self
            .authorizer
            .is_authorized(request, policies, &self.entities);
        response.decision() == Decision::Allow
    }
}

impl Contestant for Cedar {
    fn name(&self) -> String {
        if self.sliced {
            "cedar-sliced"
        } else {
            "cedar-routed"
        }
        .to_owned()
    }

    fn prepare(&mut self, stream: &Stream) {
        let tokens = stream.tokens.iter().enumerate().map(|(id, token)| {
            let scopes = token
                .ids
                .iter()
                .map(|scope| uid("Scope", self.table.scopes[*scope]));
            Entity::new_no_attrs(uid("Token", &id.to_string()), scopes.collect())
        });
        let entities = cedar_entities(self.table).into_iter().chain(tokens);
        self.entities = Entities::from_entities(entities, None).expect("valid entities");
        let api = uid("Api", "api");
        let requests = stream.facts.iter().map(|(token, route)| {
            let principal = uid("Token", &token.to_string());
            let row = route.map(|route| &self.table.rows[route]);
            let action = uid("Action", row.map_or("none", |row| row.name));
            let request = Request::new(principal, action, api.clone(), Context::empty(), None);
            let policies = match self.sliced {
                false => 0,
                true => row.map_or(self.table.scopes.len(), |row| row.scope),
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

/// regorus, its RVM as its own benches run it hot: policy compiled once, a virtual machine reused, inputs
/// built beforehand; `set_input` and `execute` are timed.
struct Regorus {
    table: &'static Table,
    rego: Rego,
    machine: Mutex<RegoVM>,
    inputs: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rego {
    /// The route comes with the request; one look-up in an object, one in a set, both of the kind that
    /// Open Policy Agent's documentation advises for speed.
    Routed,
    /// The path comes as an array of segments, and each route is a rule, as in Open Policy Agent's tutorial on HTTP APIs.
    Paths,
}

const ENTRY: &str = "data.api.allow";

/// The policy of a table in Rego.
fn rego_text(table: &Table, rego: Rego) -> String {
    let mut text = String::from("package api\n\nimport rego.v1\n\ndefault allow := false\n\n");
    match rego {
        Rego::Routed => text.push_str("allow if data.needed[input.route] in input.scopes\n"),
        Rego::Paths => {
            for row in &table.rows {
                let segments = table.templates[row.template_id].split('/').skip(1);
                let pattern = segments.map(|segment| match segment.starts_with('{') {
                    true => "_".to_owned(),
                    false => format!("{segment:?}"),
                });
                let pattern = pattern.collect::<Vec<_>>().join(", ");
                let (method, scope) = (table.methods[row.method], table.scopes[row.scope]);
                text.push_str(&format!(
                    "allow if {{\n  input.method == {method:?}\n  [{pattern}] = input.path\n  {scope:?} in input.scopes\n}}\n\n"
                ));
            }
        }
    }
    text
}

/// The text and the data of a table in Rego, as [`rego_load`] takes them.
pub fn rego_routed(table: &Table) -> (String, String) {
    let rows = table
        .rows
        .iter()
        .map(|row| format!("{:?}:{:?}", row.name, table.scopes[row.scope]));
    let data = format!("{{\"needed\":{{{}}}}}", rows.collect::<Vec<_>>().join(","));
    (rego_text(table, Rego::Routed), data)
}

/// The text of a table in Rego, one rule a route.
pub fn rego_paths(table: &Table) -> String {
    rego_text(table, Rego::Paths)
}

/// What an application does at its start: parses, compiles, and loads the virtual machine.
pub fn rego_load(text: &str, data: &str) -> RegoVM {
    let mut engine = regorus::Engine::new();
    engine
        .add_policy("api.rego".to_owned(), text.to_owned())
        .expect("a valid policy");
    let data = Value::from_json_str(data).expect("valid data");
    engine.add_data(data.clone()).expect("valid data");
    let compiled = engine
        .compile_with_entrypoint(&ENTRY.into())
        .expect("it compiles");
    let program: Arc<Program> =
        Compiler::compile_from_policy(&compiled, &[ENTRY]).expect("it compiles");
    let mut machine = RegoVM::new();
    machine.load_program(program);
    machine.set_data(data).expect("valid data");
    machine.set_max_instructions(usize::MAX);
    machine
}

impl Regorus {
    fn new(table: &'static Table, rego: Rego) -> Self {
        let machine = match rego {
            Rego::Routed => {
                let (text, data) = rego_routed(table);
                rego_load(&text, &data)
            }
            Rego::Paths => rego_load(&rego_text(table, rego), "{}"),
        };
        Self {
            table,
            rego,
            machine: Mutex::new(machine),
            inputs: Vec::new(),
        }
    }

    #[inline(always)]
    fn allows(&self, machine: &mut RegoVM, ask: &Ask) -> bool {
        rego_allows(machine, self.inputs[ask.id as usize].clone())
    }
}

#[inline(always)]
fn rego_allows(machine: &mut RegoVM, input: Value) -> bool {
    machine.set_input(input);
    machine
        .execute()
        .is_ok_and(|value| value == Value::from(true))
}

/// The scopes of each token, made once.
fn rego_scopes(stream: &Stream) -> Vec<Value> {
    let scopes = stream.tokens.iter().map(|token| {
        let scopes = token.text.split(' ').map(Value::from);
        Value::from(scopes.collect::<BTreeSet<_>>())
    });
    scopes.collect()
}

impl Contestant for Regorus {
    fn name(&self) -> String {
        match self.rego {
            Rego::Routed => "regorus-routed",
            Rego::Paths => "regorus-paths",
        }
        .to_owned()
    }

    fn prepare(&mut self, stream: &Stream) {
        let scopes = rego_scopes(stream);
        let inputs = stream
            .asks
            .iter()
            .zip(&stream.facts)
            .map(|(ask, (token, route))| {
                let mut input = BTreeMap::from([("scopes".into(), scopes[*token].clone())]);
                match self.rego {
                    Rego::Routed => {
                        let name = route.map_or("none", |route| self.table.rows[route].name);
                        input.insert("route".into(), name.into());
                    }
                    Rego::Paths => {
                        let path = ask.target.split('/').skip(1).map(Value::from);
                        input.insert("method".into(), ask.method.into());
                        input.insert("path".into(), path.collect::<Vec<_>>().into());
                    }
                }
                Value::from(input)
            });
        self.inputs = inputs.collect();
    }

    fn answer(&self, ask: &Ask) -> Answer {
        Answer::Allowed(self.allows(&mut self.machine.lock().expect("one user"), ask))
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        let mut machine = self.machine.lock().expect("one user");
        asks.iter()
            .filter(|ask| black_box(self.allows(&mut machine, black_box(ask))))
            .count()
    }
}

/// `regorus-routed` as a service asks it: matchit finds the route, one router for each method, and the input is made of
/// it and of the token's scopes. Those, the routes' names and the keys are values already, and only shared.
#[cfg(feature = "routers")]
struct RegorusMatchit {
    routers: Vec<matchit::Router<Value>>,
    machine: Mutex<RegoVM>,
    keys: [Value; 2],
    scopes: Vec<Value>,
    /// The token of each request.
    tokens: Vec<usize>,
}

#[cfg(feature = "routers")]
impl RegorusMatchit {
    fn new(table: &'static Table) -> Self {
        let mut routers: Vec<_> = table
            .methods
            .iter()
            .map(|_| matchit::Router::new())
            .collect();
        for row in &table.rows {
            routers[row.method]
                .insert(
                    table.templates[row.template_id].as_str(),
                    Value::from(row.name),
                )
                .expect("a template");
        }
        let (text, data) = rego_routed(table);
        Self {
            routers,
            machine: Mutex::new(rego_load(&text, &data)),
            keys: ["route".into(), "scopes".into()],
            scopes: Vec::new(),
            tokens: Vec::new(),
        }
    }

    #[inline(always)]
    fn allows(&self, machine: &mut RegoVM, ask: &Ask) -> bool {
        let Ok(found) = self.routers[usize::from(ask.method_id)].at(ask.target) else {
            return false;
        };
        let scopes = &self.scopes[self.tokens[ask.id as usize]];
        let [route, held] = &self.keys;
        let input = [
            (route.clone(), found.value.clone()),
            (held.clone(), scopes.clone()),
        ];
        rego_allows(machine, BTreeMap::from(input).into())
    }
}

#[cfg(feature = "routers")]
impl Contestant for RegorusMatchit {
    fn name(&self) -> String {
        "regorus-matchit".to_owned()
    }

    fn prepare(&mut self, stream: &Stream) {
        self.scopes = rego_scopes(stream);
        self.tokens = stream.facts.iter().map(|(token, _)| *token).collect();
    }

    fn answer(&self, ask: &Ask) -> Answer {
        Answer::Allowed(self.allows(&mut self.machine.lock().expect("one user"), ask))
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        let mut machine = self.machine.lock().expect("one user");
        asks.iter()
            .filter(|ask| black_box(self.allows(&mut machine, black_box(ask))))
            .count()
    }
}

/// casbin, the RBAC model of its documentation (tokens are users, scopes are roles) with the cheap comparisons
/// first; model and policy loaded once, arguments converted beforehand, the synchronous `enforce` timed.
/// `paths` matches templates with `keyMatch2`, its matcher for REST.
struct Casbin {
    table: &'static Table,
    paths: bool,
    runtime: tokio::runtime::Runtime,
    enforcer: Enforcer,
    requests: Vec<Vec<Dynamic>>,
}

impl Casbin {
    fn new(table: &'static Table, paths: bool) -> Self {
        let fits = if paths {
            "keyMatch2(r.obj, p.obj)"
        } else {
            "r.obj == p.obj"
        };
        let model = format!(
            "[request_definition]\nr = sub, obj, act\n[policy_definition]\np = sub, obj, act\n\
             [role_definition]\ng = _, _\n[policy_effect]\ne = some(where (p.eft == allow))\n\
             [matchers]\nm = r.act == p.act && {fits} && g(r.sub, p.sub)\n"
        );
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let enforcer = runtime.block_on(async {
            let model = DefaultModel::from_str(&model).await.expect("a valid model");
            let mut enforcer = Enforcer::new(model, MemoryAdapter::default())
                .await
                .expect("an enforcer");
            let rules = table.rows.iter().map(|row| {
                let object = if paths {
                    keys(&table.templates[row.template_id])
                } else {
                    row.name.to_owned()
                };
                vec![
                    table.scopes[row.scope].to_owned(),
                    object,
                    table.methods[row.method].to_owned(),
                ]
            });
            enforcer
                .add_policies(rules.collect())
                .await
                .expect("valid rules");
            enforcer
        });
        Self {
            table,
            paths,
            runtime,
            enforcer,
            requests: Vec::new(),
        }
    }

    #[inline(always)]
    fn allows(&self, ask: &Ask) -> bool {
        self.enforcer
            .enforce(self.requests[ask.id as usize].clone())
            .expect("a verdict")
    }
}

/// A template with its parameters as `keyMatch2` writes them: `/voxies/:p1/run`.
fn keys(template: &str) -> String {
    let template = if template.is_empty() { "/" } else { template };
    template.replace('{', ":").replace('}', "")
}

impl Contestant for Casbin {
    fn name(&self) -> String {
        if self.paths {
            "casbin-paths"
        } else {
            "casbin-routed"
        }
        .to_owned()
    }

    fn prepare(&mut self, stream: &Stream) {
        let table = self.table;
        let tokens = stream.tokens.iter().enumerate();
        let links = tokens.flat_map(|(id, token)| {
            let scopes = token.ids.iter().map(|scope| table.scopes[*scope]);
            scopes.map(move |scope| vec![format!("token-{id}"), scope.to_owned()])
        });
        let links: Vec<Vec<String>> = links.collect();
        self.runtime.block_on(async {
            let old = self.enforcer.get_grouping_policy();
            if !old.is_empty() {
                self.enforcer
                    .remove_grouping_policies(old)
                    .await
                    .expect("known links");
            }
            self.enforcer
                .add_grouping_policies(links)
                .await
                .expect("valid links");
        });
        let requests = stream
            .asks
            .iter()
            .zip(&stream.facts)
            .map(|(ask, (token, route))| {
                let object = match self.paths {
                    true => ask.target,
                    false => route.map_or("none", |route| self.table.rows[route].name),
                };
                let words = [
                    format!("token-{token}"),
                    object.to_owned(),
                    ask.method.to_owned(),
                ];
                words.map(Dynamic::from).to_vec()
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
