//! A policy never allows what its document does not: compared with a plain reading of the document, call by call.

use orbgate::{Engine, Policy, Request, Token};
use orbgate_openapi::import;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::free;

const SEGMENTS: &[&str] =
    &["a", "b", "A", "x.json", "{p}", "{q}", "{p}.json", "{p}{q}", "{p:.*}", "{p+}", "a*", "a%20b", "%61"];
/// What does not belong in a path, but is found there: all calls of the path, or those with the query.
const QUERIES: &[&str] = &["", "", "", "", "", "?x=1", "?", "#f"];
const SECURITY: &[&str] = &[
    "",
    "security: [{ l: [r] }]",
    "security: [{ l: [w] }]",
    "security: [{ l: [r, w] }]",
    "security: [{ l: [r] }, { l: [w] }]",
    "security: [{ l: [] }]",
    "security: []",
    "security: [{ l: [w] }, {}]",
    "security: [{ k: [] }, { l: [w] }, { l: [r, w] }, { l: [r], k: [] }]",
    "$ref: x",
];
/// Segments of calls.
const WORDS: &[&str] = &["a", "b", "A", "x.json", "z", "a*", "y.json"];

#[derive(Clone, Debug)]
pub struct Operation {
    pub method: &'static str,
    pub segments: Vec<&'static str>,
    query: &'static str,
    security: &'static str,
}

impl Operation {
    /// The sets of scopes that are enough for a caller without a key; the operation states them, or the document does.
    fn needs(&self) -> &'static [&'static [&'static str]] {
        match self.security {
            "" | "security: [{ l: [r] }]" => &[&["r"]],
            "security: [{ l: [w] }]" | "security: [{ k: [] }, { l: [w] }, { l: [r, w] }, { l: [r], k: [] }]" => {
                &[&["w"]]
            }
            "security: [{ l: [r, w] }]" => &[&["r", "w"]],
            "security: [{ l: [r] }, { l: [w] }]" => &[&["r"], &["w"]],
            _ => &[],
        }
    }

    fn is_enough(&self, scopes: &str) -> bool {
        let has = |scope: &&str| scopes.split(' ').any(|own| own == *scope);
        self.needs().iter().any(|set| set.iter().all(has))
    }

    /// Whether it is another method's path of literals and whole parameters, which is matched before a less concrete one
    /// all the same.
    fn is_path_of_another_method(&self, other: &Self) -> bool {
        let is_whole =
            |segment: &&str| !segment.contains('*') && (!segment.contains('{') || matches!(*segment, "{p}" | "{q}"));
        self.method != other.method && !self.query.starts_with('?') && self.segments.iter().all(is_whole)
    }

    fn fits(&self, call: &[&str]) -> bool {
        let rest = self.segments.iter().position(|segment| segment.contains("+}") || segment.contains(".*"));
        let segments = match rest {
            Some(rest) if call.len() > rest => rest,
            Some(_) => return false,
            None if call.len() != self.segments.len() => return false,
            None => call.len(),
        };
        let fits = |(segment, word): (&&str, &&str)| match *segment {
            "{p}" | "{q}" => true,
            "{p}.json" => word.len() > 5 && word.ends_with(".json"),
            "{p}{q}" => word.len() > 1,
            "%61" => *word == "a",
            literal => literal == *word,
        };
        self.segments[..segments].iter().zip(&call[..segments]).all(fits)
    }

    /// Whether each of its segments is at least as concrete as the other's, and one more so.
    fn is_more_concrete(&self, other: &Self) -> bool {
        let rank = |segment: &&str| match *segment {
            "{p}" | "{q}" => 1,
            "{p:.*}" | "{p+}" => 0,
            partial if partial.contains('{') => 2,
            _ => 3,
        };
        let ranks = |operation: &Self| operation.segments.iter().map(rank).collect::<Vec<_>>();
        // A fragment never reaches a server, so it doesn't make a path a different one.
        if other.query.starts_with('?') {
            return false;
        }
        let (own, other) = (ranks(self), ranks(other));
        own.len() == other.len() && own != other && own.iter().zip(&other).all(|(own, other)| own >= other)
    }
}

pub fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let segments = vec(select(SEGMENTS), 1..4);
    let method = select(&["get", "put"][..]);
    let operation = (method, segments, select(QUERIES), select(SECURITY));
    let operation =
        operation.prop_map(|(method, segments, query, security)| Operation { method, segments, query, security });
    vec(operation, 1..10)
}

pub fn document(operations: &[Operation]) -> (String, Vec<Operation>) {
    let mut paths: std::collections::BTreeMap<String, Vec<&Operation>> = Default::default();
    let mut taken = Vec::new();
    for operation in operations {
        let item = paths.entry(format!("/{}{}", operation.segments.join("/"), operation.query)).or_default();
        if item.iter().all(|other| other.method != operation.method) {
            item.push(operation);
            taken.push(operation.clone());
        }
    }
    let mut text =
        "openapi: 3.0.0\ncomponents: { securitySchemes: { l: { type: oauth2 }, k: { type: apiKey } } }\nsecurity: [{ l: [r] }]\npaths:\n"
            .to_owned();
    for (path, item) in paths {
        text += &format!("  '{path}':\n");
        for operation in item {
            text += &format!("    {}: {{ {} }}\n", operation.method, operation.security);
        }
    }
    (text, taken)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn a_call_that_is_allowed_is_allowed_by_the_document(
        operations in operations(),
        calls in calls(),
    ) {
        let (text, operations) = document(&operations);
        let imported = import(text.as_bytes(), &free()).unwrap();
        let engine = Engine::new(&Policy::from_yaml(&imported.policy).unwrap());
        prop_assert_eq!(imported.operations + imported.left_out.len(), operations.len());
        for call in calls {
            prop_assert_eq!(for_less(&engine, &operations, &call), None, "{}\n{}", text, imported.policy);
        }
    }
}

/// `PUT /x.json/a` is a call of the first path, which has no `put`.
#[test]
fn a_literal_in_another_spelling_is_as_concrete() {
    let operation =
        |method, segments: &[&'static str]| Operation { method, segments: segments.to_vec(), query: "", security: "" };
    let (text, operations) = document(&[operation("get", &["x.json", "%61"]), operation("put", &["{p}", "a"])]);
    let imported = import(text.as_bytes(), &free()).unwrap();
    let engine = Engine::new(&Policy::from_yaml(&imported.policy).unwrap());
    assert_eq!(for_less(&engine, &operations, &["x.json", "a"]), None, "{}", imported.policy);
}

pub fn calls() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    vec(vec(select(WORDS), 1..4), 30)
}

/// How a call of this path is allowed for less than the document requires.
///
/// Each operation that the document may mean needs scopes, and the token has those of one of them.
pub fn for_less(engine: &Engine, operations: &[Operation], call: &[&str]) -> Option<String> {
    let tokens = ["r", "w", "r w", ""].map(|scopes| (scopes, Token::user(scopes)));
    let tokens = tokens.into_iter().chain([("", Token::organisation(""))]);
    for method in ["get", "put"] {
        for query in ["", "?x=1"] {
            let fits = |operation: &&Operation| {
                let is_asked = operation.query != "?x=1" || operation.query == query;
                is_asked && operation.fits(call)
            };
            let (fitting, others): (Vec<_>, Vec<_>) =
                operations.iter().filter(fits).partition(|one| one.method == method);
            let is_meant = |one: &&&Operation| {
                let mut others = others.iter().filter(|other| other.is_path_of_another_method(one));
                let is_less = |other: &&Operation| other.is_more_concrete(one);
                !fitting.iter().any(is_less) && !others.any(is_less)
            };
            let meant: Vec<_> = fitting.iter().filter(is_meant).collect();
            for (scopes, token) in tokens.clone() {
                let target = format!("/{}{query}", call.join("/"));
                let decision = engine.decide(&Request {
                    method: method.to_ascii_uppercase().as_bytes(),
                    target: target.as_bytes(),
                    token: Some(token),
                    allow_bonus_orbs_use: false,
                });
                let is_right = meant.iter().all(|operation| !operation.needs().is_empty())
                    && meant.iter().any(|operation| operation.is_enough(scopes));
                if decision.is_allow() && !is_right {
                    return Some(format!("{method} {target} with {token:?}"));
                }
            }
        }
    }
    None
}
