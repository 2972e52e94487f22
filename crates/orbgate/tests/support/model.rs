//! A policy as the tests think of it, which knows nothing of the engine's types, and its YAML.

use core::fmt::Write;

/// A policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub encoded_params: bool,
    pub trailing_slash: bool,
    pub apis: Vec<Api>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Api {
    pub name: String,
    pub base_path: String,
    /// `deny` or `allow_without_scope`, on an api for users' tokens.
    pub organisation: Option<&'static str>,
    pub scopes: Vec<Scope>,
    /// The segments of templates that declare no method, below the base path.
    pub closed: Vec<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    pub name: String,
    pub orbs: Orbs,
    pub keys: Option<Keys>,
    pub routes: Vec<Route>,
}

/// What is stated by `or` and `and`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys {
    pub or: Vec<Vec<String>>,
    pub and: Vec<String>,
}

impl Keys {
    /// The keys as YAML, each behind this indent. Those of a route include an empty `or` if there is nothing else.
    fn to_yaml(&self, indent: &str) -> String {
        let mut out = String::new();
        if !self.or.is_empty() || self.and.is_empty() {
            let or: Vec<_> = self.or.iter().map(|scopes| format!("\"{}\"", scopes.join(" "))).collect();
            writeln!(out, "{indent}or: [{}]", or.join(", ")).unwrap();
        }
        if !self.and.is_empty() {
            writeln!(out, "{indent}and: \"{}\"", self.and.join(" ")).unwrap();
        }
        out
    }
}

/// The key `orbs` of a scope or of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Orbs {
    #[default]
    Absent,
    No,
    Yes,
    Amount(u64),
}

impl Orbs {
    /// The key as YAML, behind this indent.
    fn to_yaml(self, indent: &str) -> String {
        match self {
            Self::Absent => String::new(),
            Self::No => format!("{indent}orbs: false\n"),
            Self::Yes => format!("{indent}orbs: true\n"),
            Self::Amount(amount) => format!("{indent}orbs: {amount}\n"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    pub method: String,
    /// Below the base path: literals as they are, parameters in braces.
    pub segments: Vec<String>,
    /// Instead of the scope's, like the keys.
    pub orbs: Orbs,
    pub keys: Option<Keys>,
}

impl Route {
    /// The template below the base path.
    pub fn template(&self) -> String {
        format!("/{}", self.segments.join("/"))
    }
}

impl Api {
    /// The segments of a route's whole template.
    pub fn full<'a>(&'a self, route: &'a Route) -> Vec<&'a str> {
        self.below_base(&route.segments)
    }

    /// These segments below those of the base path.
    pub fn below_base<'a>(&'a self, segments: &'a [String]) -> Vec<&'a str> {
        let base = self.base_path.split('/').filter(|segment| !segment.is_empty());
        base.chain(segments.iter().map(String::as_str)).collect()
    }
}

/// A route with its api, scope and whole template.
pub type Full<'a> = (&'a Api, &'a Scope, &'a Route, Vec<&'a str>);

/// Whether a segment of a template is a parameter.
pub fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{')
}

impl Model {
    /// A path as the policy's paths are spelt.
    pub fn path(&self, segments: &[&str]) -> String {
        let path = format!("/{}", segments.join("/"));
        match self.trailing_slash && path != "/" {
            true => path + "/",
            false => path,
        }
    }

    /// Every route.
    pub fn routes(&self) -> Vec<Full<'_>> {
        let mut all = Vec::new();
        for api in &self.apis {
            for scope in &api.scopes {
                for route in &scope.routes {
                    all.push((api, scope, route, api.full(route)));
                }
            }
        }
        all
    }

    /// Every closed template with its api.
    pub fn closed(&self) -> Vec<(&Api, Vec<&str>)> {
        let mut all = Vec::new();
        for api in &self.apis {
            all.extend(api.closed.iter().map(|segments| (api, api.below_base(segments))));
        }
        all
    }

    /// The policy as YAML, every string quoted.
    pub fn to_yaml(&self) -> String {
        let mut out = String::from("orbgate: 1\n");
        if self.encoded_params {
            out.push_str("target: encoded_params\n");
        }
        if self.trailing_slash {
            out.push_str("trailing_slash: always\n");
        }
        out.push_str(if self.apis.is_empty() { "apis: {}\n" } else { "apis:\n" });
        for api in &self.apis {
            writeln!(out, "  \"{}\":", api.name).unwrap();
            writeln!(out, "    base_path: \"{}\"", api.base_path).unwrap();
            if let Some(rule) = api.organisation {
                writeln!(out, "    token: user\n    organisation: {rule}").unwrap();
            }
            if !api.closed.is_empty() {
                let closed = api.closed.iter().map(|segments| format!("\"/{}\"", segments.join("/")));
                writeln!(out, "    closed: [{}]", closed.collect::<Vec<_>>().join(", ")).unwrap();
            }
            out.push_str(if api.scopes.is_empty() { "    scopes: {}\n" } else { "    scopes:\n" });
            for scope in &api.scopes {
                writeln!(out, "      \"{}\":", scope.name).unwrap();
                out += &scope.orbs.to_yaml("        ");
                out.extend(scope.keys.iter().map(|keys| keys.to_yaml("        ")));
                let empty = scope.routes.is_empty();
                out.push_str(if empty { "        routes: []\n" } else { "        routes:\n" });
                for route in &scope.routes {
                    let text = format!("{} {}", route.method, route.template());
                    if route.orbs == Orbs::Absent && route.keys.is_none() {
                        writeln!(out, "          - \"{text}\"").unwrap();
                        continue;
                    }
                    writeln!(out, "          - route: \"{text}\"").unwrap();
                    out += &route.orbs.to_yaml("            ");
                    out.extend(route.keys.iter().map(|keys| keys.to_yaml("            ")));
                }
            }
        }
        out
    }
}
