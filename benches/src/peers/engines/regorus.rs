//! regorus: the route given, a rule for each route, or the route from matchit.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::sync::{Arc, Mutex};

use regorus::Value;
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::program::Program;
use regorus::rvm::vm::RegoVM;

use crate::contest::{Answer, Contestant};
use crate::stream::{Ask, Stream};
use crate::table::Table;

/// regorus, its RVM as its own benches run it hot: policy compiled once, a virtual machine reused, inputs
/// built beforehand; `set_input` and `execute` are timed.
pub(super) struct Regorus {
    table: &'static Table,
    rego: Rego,
    machine: Mutex<RegoVM>,
    inputs: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rego {
    /// The route comes with the request; one look-up in an object, one in a set, both of the kind that
    /// Open Policy Agent's documentation advises for speed.
    Routed,
    /// The path comes as an array of segments, and each route is a rule, as in Open Policy Agent's tutorial on HTTP APIs.
    Paths,
}

const ENTRY: &str = "data.api.allow";

/// The policy of a table in Rego.
fn text_of(table: &Table, rego: Rego) -> String {
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

/// The text and the data of a table in Rego, as [`load`] takes them.
pub fn routed(table: &Table) -> (String, String) {
    let rows = table.rows.iter().map(|row| format!("{:?}:{:?}", row.name, table.scopes[row.scope]));
    let data = format!("{{\"needed\":{{{}}}}}", rows.collect::<Vec<_>>().join(","));
    (text_of(table, Rego::Routed), data)
}

/// The text of a table in Rego, one rule a route.
pub fn paths(table: &Table) -> String {
    text_of(table, Rego::Paths)
}

/// What an application does at its start: parses, compiles, and loads the virtual machine.
pub fn load(text: &str, data: &str) -> RegoVM {
    let mut engine = regorus::Engine::new();
    engine.add_policy("api.rego".to_owned(), text.to_owned()).expect("a valid policy");
    let data = Value::from_json_str(data).expect("valid data");
    engine.add_data(data.clone()).expect("valid data");
    let compiled = engine.compile_with_entrypoint(&ENTRY.into()).expect("it compiles");
    let program: Arc<Program> = Compiler::compile_from_policy(&compiled, &[ENTRY]).expect("it compiles");
    let mut machine = RegoVM::new();
    machine.load_program(program);
    machine.set_data(data).expect("valid data");
    machine.set_max_instructions(usize::MAX);
    machine
}

impl Regorus {
    pub(super) fn new(table: &'static Table, rego: Rego) -> Self {
        let machine = match rego {
            Rego::Routed => {
                let (text, data) = routed(table);
                load(&text, &data)
            }
            Rego::Paths => load(&text_of(table, rego), "{}"),
        };
        Self { table, rego, machine: Mutex::new(machine), inputs: Vec::new() }
    }

    #[inline(always)]
    fn allows(&self, machine: &mut RegoVM, ask: &Ask) -> bool {
        allows(machine, self.inputs[ask.id as usize].clone())
    }
}

#[inline(always)]
fn allows(machine: &mut RegoVM, input: Value) -> bool {
    machine.set_input(input);
    machine.execute().is_ok_and(|value| value == Value::from(true))
}

/// The scopes of each token, made once.
fn scopes_of(stream: &Stream) -> Vec<Value> {
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
        let scopes = scopes_of(stream);
        let inputs = stream.asks.iter().zip(&stream.facts).map(|(ask, (token, route))| {
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
        asks.iter().filter(|ask| black_box(self.allows(&mut machine, black_box(ask)))).count()
    }
}

/// `regorus-routed` as a service asks it: matchit finds the route, one router for each method, and the input is made of
/// it and of the token's scopes. Those, the routes' names and the keys are values already, and only shared.
#[cfg(feature = "routers")]
pub(super) struct RegorusMatchit {
    routers: Vec<matchit::Router<Value>>,
    machine: Mutex<RegoVM>,
    keys: [Value; 2],
    scopes: Vec<Value>,
    /// The token of each request.
    tokens: Vec<usize>,
}

#[cfg(feature = "routers")]
impl RegorusMatchit {
    pub(super) fn new(table: &'static Table) -> Self {
        let mut routers: Vec<_> = table.methods.iter().map(|_| matchit::Router::new()).collect();
        for row in &table.rows {
            routers[row.method]
                .insert(table.templates[row.template_id].as_str(), Value::from(row.name))
                .expect("a template");
        }
        let (text, data) = routed(table);
        Self {
            routers,
            machine: Mutex::new(load(&text, &data)),
            keys: ["route".into(), "scopes".into()],
            scopes: Vec::new(),
            tokens: Vec::new(),
        }
    }

    #[inline(always)]
    fn allows(&self, machine: &mut RegoVM, ask: &Ask) -> bool {
        let Ok(matched) = self.routers[usize::from(ask.method_id)].at(ask.target) else {
            return false;
        };
        let scopes = &self.scopes[self.tokens[ask.id as usize]];
        let [route, held] = &self.keys;
        let input = [(route.clone(), matched.value.clone()), (held.clone(), scopes.clone())];
        allows(machine, BTreeMap::from(input).into())
    }
}

#[cfg(feature = "routers")]
impl Contestant for RegorusMatchit {
    fn name(&self) -> String {
        "regorus-matchit".to_owned()
    }

    fn prepare(&mut self, stream: &Stream) {
        self.scopes = scopes_of(stream);
        self.tokens = stream.facts.iter().map(|(token, _)| *token).collect();
    }

    fn answer(&self, ask: &Ask) -> Answer {
        Answer::Allowed(self.allows(&mut self.machine.lock().expect("one user"), ask))
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        let mut machine = self.machine.lock().expect("one user");
        asks.iter().filter(|ask| black_box(self.allows(&mut machine, black_box(ask)))).count()
    }
}
