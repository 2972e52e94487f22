//! The tables of routes, each as orbgate's engine, as rows for the peers, and as a slow, obvious
//! reference that says what the right answer is.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use orbgate::{Engine, Policy};

use crate::support;

/// Routes, and who answers for them.
pub struct Table {
    pub name: String,
    /// The policy as people write it.
    pub yaml: String,
    pub engine: &'static Engine,
    pub rows: Vec<Row>,
    /// The different path templates, parameters named by their place: `/voxies/{p1}/run`.
    pub templates: Vec<String>,
    pub methods: Vec<&'static str>,
    pub scopes: Vec<&'static str>,
    oracle: Oracle,
}

/// One route.
pub struct Row {
    /// Its number in [`Table::methods`].
    pub method: usize,
    /// Its number in [`Table::templates`].
    pub template_id: usize,
    /// Its number in [`Table::scopes`].
    pub scope: usize,
    /// `METHOD /template`, as orbgate names it.
    pub name: &'static str,
    pub template: &'static str,
}

impl Table {
    /// The table of this name: `external`, `github` or a number of synthetic routes. With `-slash` at the end, it has
    /// `trailing_slash: always`.
    pub fn named(name: &str) -> Self {
        let yaml = match name.strip_suffix("-slash").unwrap_or(name) {
            "external" => include_str!("../../policy/external.yaml").to_owned(),
            "github" => github(),
            routes => support::policy(routes.parse().expect("a number of synthetic routes")),
        };
        match name {
            "external" => Self::new(name, yaml, Engine::external()),
            _ if name.ends_with("-slash") => Self::compiled(name, format!("trailing_slash: always\n{yaml}")),
            _ => Self::compiled(name, yaml),
        }
    }

    fn compiled(name: &str, yaml: String) -> Self {
        let policy = Policy::from_yaml(&yaml).expect("the policy is valid");
        Self::new(name, yaml, Box::leak(Box::new(Engine::new(&policy))))
    }

    fn new(name: &str, yaml: String, engine: &'static Engine) -> Self {
        let mut methods = Vec::new();
        let mut scopes = Vec::new();
        let mut templates = Vec::new();
        let mut method_ids = HashMap::new();
        let mut scope_ids = HashMap::new();
        let mut template_ids = HashMap::new();
        let mut rows = Vec::new();
        for route in engine.routes() {
            // The streams' paths are without the slash until they are asked.
            let written = without_slash(route.template());
            let template = with_places(written);
            rows.push(Row {
                method: number(&mut method_ids, &mut methods, route.method()),
                template_id: number(&mut template_ids, &mut templates, template),
                scope: number(&mut scope_ids, &mut scopes, route.scope().name()),
                name: route.as_str(),
                template: written,
            });
        }
        let oracle = Oracle::new(&rows, &templates, methods.len());
        Self { name: name.to_owned(), yaml, engine, rows, templates, methods, scopes, oracle }
    }

    /// Another engine of the same policy, elsewhere in memory; the built-in one is there only once.
    pub fn second_engine(&self) -> &'static Engine {
        if self.name == "external" {
            return self.engine;
        }
        let policy = Policy::from_yaml(&self.yaml).expect("the policy is valid");
        Box::leak(Box::new(Engine::new(&policy)))
    }

    /// The template that a path has, by the obvious way.
    pub fn template_of(&self, path: &str) -> Option<usize> {
        let path = match self.engine.trailing_slash() {
            true => without_slash(path),
            false => path,
        };
        self.oracle.paths.find(path)
    }

    /// The route of a method and path, where each method has a router of its own.
    pub fn route_of(&self, method: usize, path: &str) -> Option<usize> {
        self.oracle.methods[method].find(path)
    }

    /// The route that a template declares for a method.
    pub fn declared(&self, template: usize, method: usize) -> Option<usize> {
        self.oracle.routes.get(&(template, method)).copied()
    }

    /// The literals of all templates.
    pub fn literals(&self) -> Vec<&str> {
        let segments = self.templates.iter().flat_map(|template| template.split('/'));
        let words: BTreeSet<_> = segments.filter(|s| !s.is_empty() && !s.starts_with('{')).collect();
        words.into_iter().collect()
    }
}

/// A path without the slash at its end; `/` is the root's whole path.
fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(path)
}

/// The number of a thing, a new one where it is new.
fn number<T: Clone + Eq + std::hash::Hash>(ids: &mut HashMap<T, usize>, all: &mut Vec<T>, one: T) -> usize {
    *ids.entry(one.clone()).or_insert_with(|| {
        all.push(one);
        all.len() - 1
    })
}

/// A template with its parameters named by place: some routers want one name at one place.
fn with_places(template: &str) -> String {
    let segments = template.split('/').enumerate();
    let named = segments.map(|(place, segment)| match segment.starts_with('{') {
        true => format!("{{p{place}}}"),
        false => segment.to_owned(),
    });
    named.collect::<Vec<_>>().join("/")
}

/// GitHub's public REST API as a policy: one scope for reading and one for writing a first segment.
fn github() -> String {
    let mut scopes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let rows = include_str!("../testdata/github-routes.tsv").lines();
    for row in rows.filter(|row| !row.starts_with('#')) {
        let (methods, template) = row.split_once('\t').expect("METHODS TAB template");
        let family = template.split('/').nth(1).filter(|first| !first.is_empty()).unwrap_or("root");
        for method in methods.split(' ') {
            let verb = if method == "GET" { "read" } else { "write" };
            scopes.entry(format!("{verb}:{family}")).or_default().push(format!("{method} {template}"));
        }
    }
    let mut yaml = String::from("orbgate: 1\nname: github\napis:\n  github:\n    base_path: \"\"\n    scopes:\n");
    for (scope, routes) in scopes {
        let orbs = scope.starts_with("write:");
        writeln!(yaml, "      {scope}:\n        orbs: {orbs}\n        routes:").unwrap();
        for route in routes {
            writeln!(yaml, "          - {route}").unwrap();
        }
    }
    yaml
}

/// The slow, obvious reference: a tree of hash maps that tries the literal before the parameter.
struct Oracle {
    /// Template numbers.
    paths: Tree,
    /// Route numbers, a tree for each method.
    methods: Vec<Tree>,
    /// Template and method to route.
    routes: HashMap<(usize, usize), usize>,
}

impl Oracle {
    fn new(rows: &[Row], templates: &[String], methods: usize) -> Self {
        let mut oracle = Self {
            paths: Tree::default(),
            methods: (0..methods).map(|_| Tree::default()).collect(),
            routes: HashMap::new(),
        };
        for (id, template) in templates.iter().enumerate() {
            oracle.paths.insert(template, id);
        }
        for (id, row) in rows.iter().enumerate() {
            oracle.methods[row.method].insert(&templates[row.template_id], id);
            oracle.routes.insert((row.template_id, row.method), id);
        }
        oracle
    }
}

#[derive(Default)]
struct Tree {
    end: Option<usize>,
    literals: HashMap<String, Tree>,
    parameter: Option<Box<Tree>>,
}

impl Tree {
    fn insert(&mut self, template: &str, value: usize) {
        let mut node = self;
        for segment in segments(template) {
            node = match segment.starts_with('{') {
                true => node.parameter.get_or_insert_default(),
                false => node.literals.entry(segment.to_owned()).or_default(),
            };
        }
        node.end = Some(value);
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.walk(&segments(path).collect::<Vec<_>>())
    }

    fn walk(&self, path: &[&str]) -> Option<usize> {
        let Some((first, rest)) = path.split_first() else {
            return self.end;
        };
        let literal = self.literals.get(*first).and_then(|node| node.walk(rest));
        let parameter = || self.parameter.as_ref().filter(|_| !first.is_empty())?.walk(rest);
        literal.or_else(parameter)
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    // `/` alone has no segments.
    let rest = if path == "/" { None } else { Some(path.strip_prefix('/').unwrap_or(path)) };
    rest.into_iter().flat_map(|rest| rest.split('/'))
}
