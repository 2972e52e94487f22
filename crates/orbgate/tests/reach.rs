//! The random policies and requests are worth something only if they reach everything: each reason, and each
//! position where code that reads in steps, in tables or up to a limit can go wrong.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::support::model::{Model, is_parameter};
use crate::support::policies::{MOST_MIXTURES, policies};
use crate::support::reference::{self, Answer, Ask};
use crate::support::requests::asks;
use crate::support::strategies::SIZES;
use orbgate::{Detail, Reason};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Policies, and requests of each.
const POLICIES: usize = 2_000;
const REQUESTS: usize = 64;

#[test]
fn the_random_requests_reach_everything() {
    let mut missing = everything();
    let mut runner = TestRunner::deterministic();
    let strategy = policies().prop_flat_map(|model| {
        let asks = vec(asks(&model), REQUESTS);
        (Just(model), asks)
    });
    for _ in 0..POLICIES {
        let (model, asks) = strategy.new_tree(&mut runner).unwrap().current();
        let table = Table::of(&model);
        for ask in asks {
            let answer = reference::decide(&model, &ask);
            table.reached(&ask, &answer, &mut |mark| {
                missing.remove(&mark);
            });
        }
    }
    assert_eq!(missing, BTreeSet::new());
}

/// What has to be reached, each at least once.
fn everything() -> BTreeSet<String> {
    let reasons = Reason::ALL.iter().filter(|reason| reason.is_of_engines());
    let reasons = reasons.map(|reason| reason.as_str().to_owned());
    let details = Detail::ALL.iter().filter(|detail| detail.is_of_target());
    let details = details.map(|detail| detail.as_str().to_owned());
    let sizes = SIZES.iter().filter(|size| **size <= 8_192);
    let sizes = sizes.map(|size| format!("a target of {size} bytes that has a route"));
    let mixtures = [2, 15, 16, 17, 31, 32, 33, 62, 63];
    let mixtures = mixtures.map(|count| format!("a route among {count} mixtures of its length"));
    let deep = (1..=32).map(|count| format!("a route {count} segments deep"));
    let literals = [17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256];
    let literals = literals.map(|length| format!("a value nearly as the literal of {length} bytes"));
    let prefixes = [1_024, 4_096, 8_000].map(|bytes| format!("a route behind {bytes} bytes of prefix"));
    let offsets = 0..64;
    let dots = offsets.clone().map(|at| format!("a dot segment {at} bytes behind a border"));
    let bytes = offsets.clone().map(|at| format!("a reserved byte {at} bytes behind a border"));
    let held = offsets.clone().map(|at| format!("a scope {at} bytes behind a border"));
    let inside = offsets.map(|at| format!("a scope in a word {at} bytes behind a border"));
    let rest = [
        "a target of 8193 bytes",
        "a value that is a literal elsewhere",
        "a value of 256 bytes",
        "a segment of 257 bytes",
        "33 segments",
        "33 segments behind a long prefix",
        "a route of a scope that several apis have",
        "a closed template",
        "scope_held, where one scope isn't all",
        "scope_missing, where one scope isn't all",
        "scope_not_applicable, where one scope isn't all",
        "user_token_required, where one scope isn't all",
    ];
    let rest = rest.map(str::to_owned);
    let all = reasons.chain(details).chain(sizes).chain(mixtures).chain(deep).chain(literals);
    let all = all.chain(prefixes).chain(dots).chain(bytes).chain(held).chain(inside);
    all.chain(rest).collect()
}

/// What has to be known of a policy to see what a request reaches.
struct Table {
    templates: HashMap<String, (Vec<String>, usize)>,
    mixtures: HashMap<usize, usize>,
    literals: HashSet<String>,
    /// The scopes that several apis have.
    shared: HashSet<String>,
}

impl Table {
    fn of(model: &Model) -> Self {
        let mut templates = HashMap::new();
        let mut mixtures: HashMap<_, HashSet<_>> = HashMap::new();
        let mut literals = HashSet::new();
        let (mut names, mut shared) = (HashSet::new(), HashSet::new());
        for scope in model.apis.iter().flat_map(|api| &api.scopes) {
            if !names.insert(&scope.name) {
                shared.insert(scope.name.clone());
            }
        }
        for (api, _, route, full) in model.routes() {
            let mixture: Vec<_> = full.iter().map(|segment| is_parameter(segment)).collect();
            mixtures.entry(full.len()).or_default().insert(mixture);
            literals.extend(full.iter().filter(|segment| !is_parameter(segment)).map(|segment| (*segment).to_owned()));
            let template = model.path(&full);
            let full: Vec<_> = full.into_iter().map(str::to_owned).collect();
            templates.insert(template.clone(), (full.clone(), api.base_path.len()));
            templates.insert(format!("{} {template}", route.method), (full, api.base_path.len()));
        }
        let mixtures = mixtures.into_iter().map(|(length, all)| (length, all.len()));
        let mixtures: HashMap<_, _> = mixtures.collect();
        assert!(mixtures.values().all(|count| *count <= MOST_MIXTURES));
        Self { templates, mixtures, literals, shared }
    }

    fn reached(&self, ask: &Ask, answer: &Answer, mark: &mut impl FnMut(String)) {
        mark(answer.reason.to_owned());
        if answer.scope.as_ref().is_some_and(|scope| self.shared.contains(scope)) {
            mark("a route of a scope that several apis have".to_owned());
        }
        let target = &ask.target;
        let segments: Vec<_> = target.split(|byte| *byte == b'/').skip(1).collect();
        if let Some(detail) = answer.detail {
            mark(detail.to_owned());
            self.refused(target, &segments, detail, mark);
        }
        if answer.scopes.is_some() {
            mark(format!("{}, where one scope isn't all", answer.reason));
        }
        let Some(route) = &answer.route else { return };
        let Some((template, base)) = self.templates.get(route) else {
            return mark("a closed template".to_owned());
        };
        mark(format!("a target of {} bytes that has a route", target.len()));
        mark(format!("a route among {} mixtures of its length", self.mixtures[&template.len()]));
        let below = template.len() - segments_of_base(template, *base);
        mark(format!("a route {below} segments deep"));
        for bytes in [1_024, 4_096, 8_000] {
            if *base >= bytes {
                mark(format!("a route behind {bytes} bytes of prefix"));
            }
        }
        for (segment, value) in template.iter().zip(&segments) {
            if is_parameter(segment) {
                self.value(str::from_utf8(value).unwrap(), mark);
            }
        }
        if let (Some((_, held)), Some(scope)) = (&ask.token, &answer.scope) {
            let position = held.windows(scope.len()).position(|text| text == scope.as_bytes());
            if let Some(at) = position.filter(|at| *at >= 64) {
                match answer.reason {
                    "scope_held" => mark(format!("a scope {} bytes behind a border", at % 64)),
                    "scope_missing" => mark(format!("a scope in a word {} bytes behind a border", at % 64)),
                    _ => {}
                }
            }
        }
    }

    /// A value that was taken for a parameter.
    fn value(&self, value: &str, mark: &mut impl FnMut(String)) {
        if self.literals.contains(value) {
            mark("a value that is a literal elsewhere".to_owned());
        }
        if value.len() == 256 {
            mark("a value of 256 bytes".to_owned());
        }
        let is_near = |literal: &&String| {
            let ends = |text: &str| (text.len(), text[..8].to_owned(), text[text.len() - 8..].to_owned());
            literal.len() > 16 && literal.len() == value.len() && *literal != value && ends(literal) == ends(value)
        };
        if self.literals.iter().any(|literal| is_near(&literal)) {
            mark(format!("a value nearly as the literal of {} bytes", value.len()));
        }
    }

    /// A target that was refused.
    fn refused(&self, target: &[u8], segments: &[&[u8]], detail: &str, mark: &mut impl FnMut(String)) {
        match detail {
            "dot_segment" => {
                let starts = (64..target.len()).filter(|at| target[at - 1] == b'/' && target[*at] == b'.');
                starts.for_each(|at| mark(format!("a dot segment {} bytes behind a border", at % 64)));
            }
            "byte" | "path_char" | "backslash" | "matrix_param" | "percent" => {
                let is_usual = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(byte);
                if let Some(at) = target.iter().position(|byte| !is_usual(byte)) {
                    mark(format!("a reserved byte {} bytes behind a border", at % 64));
                }
            }
            "length" => {
                if target.len() == 8_193 {
                    mark("a target of 8193 bytes".to_owned());
                }
                if target.len() <= 8_192 && segments.iter().any(|segment| segment.len() == 257) {
                    mark("a segment of 257 bytes".to_owned());
                }
                if target.len() <= 8_192 && segments.len() == 33 {
                    mark("33 segments".to_owned());
                    if target.len() > 1_024 {
                        mark("33 segments behind a long prefix".to_owned());
                    }
                }
            }
            _ => {}
        }
    }
}

/// How many segments of a template are those of a base path of this many bytes.
fn segments_of_base(template: &[String], base: usize) -> usize {
    let mut bytes = 0;
    let fits = |segment: &&String| {
        bytes += segment.len() + 1;
        bytes <= base
    };
    template.iter().take_while(fits).count()
}
