//! Random valid policies.

use std::collections::{HashMap, HashSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::model::{Api, Keys, Model, Orbs, Route, Scope, is_parameter};
use super::strategies::{METHODS, SCOPES, SIZES, WORDS, long_word, long_words};

/// A random valid policy. Routes that the format refuses beside another are dropped.
pub fn policies() -> impl Strategy<Value = Model> {
    let rules = select(&[None, None, Some("deny"), Some("allow_without_scope")][..]);
    let apis = vec((bases(), rules), 1..4);
    let orbs = prop_oneof![
        Just(Orbs::No),
        Just(Orbs::Yes),
        (1..=i64::MAX.unsigned_abs()).prop_map(Orbs::Amount),
        Just(Orbs::Absent),
    ];
    let others = prop_oneof![2 => Just([false; 3]), 1 => any::<[bool; 3]>()];
    let scopes = vec((orbs, any::<Index>(), others, keys()), SCOPES.len());
    (any::<[bool; 2]>(), apis, scopes, words(), drafts()).prop_map(
        |([encoded_params, trailing_slash], apis, scopes, words, drafts)| {
            let api = |(at, (base_path, organisation))| Api {
                // In the file, the last by name comes first.
                name: format!("api{}", 9 - at),
                base_path,
                organisation,
                scopes: Vec::new(),
                closed: Vec::new(),
            };
            let mut model =
                Model { encoded_params, trailing_slash, apis: apis.into_iter().enumerate().map(api).collect() };
            let keys: Vec<_> = scopes.iter().map(|(_, _, _, keys)| keys.clone()).collect();
            for (name, (orbs, api, others, _)) in SCOPES.iter().zip(scopes) {
                let first = api.index(model.apis.len());
                let rule = model.apis[first].organisation;
                for (at, api) in model.apis.iter_mut().enumerate() {
                    // Apis that share a scope say the same of tokens.
                    if at == first || others[at] && api.organisation == rule {
                        api.scopes.push(Scope { name: (*name).to_owned(), orbs, keys: None, routes: Vec::new() });
                    }
                }
            }
            let mut positions = Locations::default();
            for draft in drafts {
                draft.add(&mut model, &words, &mut positions);
            }
            state_keys(&mut model, &keys);
            model
        },
    )
}

/// The same, where each route needs just its scope, and nothing is closed.
pub fn policies_of_single_scopes() -> impl Strategy<Value = Model> {
    policies().prop_map(|mut model| {
        for api in &mut model.apis {
            api.closed.clear();
            for scope in &mut api.scopes {
                scope.keys = None;
                scope.routes.iter_mut().for_each(|route| route.keys = None);
            }
        }
        model
    })
}

/// Keys before their policy: any scopes, of which those are kept that may stand there.
fn keys() -> impl Strategy<Value = Option<Keys>> + Clone {
    let scope = || select(SCOPES).prop_map(str::to_owned);
    let keys = (vec(vec(scope(), 1..4), 0..5), vec(scope(), 0..3));
    proptest::option::weighted(0.3, keys.prop_map(|(or, and)| Keys { or, and }))
}

/// Gives the scopes their keys, by the order of [`SCOPES`], and keeps of all keys what the format accepts.
fn state_keys(model: &mut Model, of_scopes: &[Option<Keys>]) {
    let rules = model.apis.iter().flat_map(|api| api.scopes.iter().map(|scope| (scope.name.clone(), api.organisation)));
    let rules: HashMap<_, _> = rules.collect();
    let accepted = |owner: &str, keys: &Keys| {
        let fits = |scope: &String| rules.get(scope) == rules.get(owner);
        let sorted = |scopes: &[String]| {
            let mut scopes: Vec<_> = scopes.iter().filter(|scope| fits(scope)).cloned().collect();
            scopes.sort();
            scopes.dedup();
            scopes
        };
        let and: Vec<_> = sorted(&keys.and).into_iter().filter(|scope| scope != owner).collect();
        let mut kept = vec![[vec![owner.to_owned()], and.clone()].concat()];
        for scopes in keys.or.iter().map(|scopes| sorted(scopes)) {
            let is_in = |part: &[String], whole: &[String]| part.iter().all(|scope| whole.contains(scope));
            if !scopes.is_empty() && !kept.iter().any(|other| is_in(other, &scopes) || is_in(&scopes, other)) {
                kept.push(scopes);
            }
        }
        Keys { or: kept.split_off(1), and }
    };
    for (name, keys) in SCOPES.iter().zip(of_scopes) {
        let mut own: Vec<_> = model.apis.iter_mut().flat_map(|api| &mut api.scopes).collect();
        own.retain(|scope| scope.name == *name);
        let is_used = own.iter().any(|scope| scope.routes.iter().any(|route| route.keys.is_none()));
        let keys = keys.as_ref().map(|keys| accepted(name, keys)).filter(|keys| is_used && *keys != Keys::default());
        for scope in own {
            scope.keys = keys.clone().filter(|_| !scope.routes.is_empty());
            let of_scope = scope.keys.is_some();
            for route in &mut scope.routes {
                let own = route.keys.take().map(|keys| accepted(name, &keys));
                route.keys = own.filter(|keys| of_scope || *keys != Keys::default());
            }
        }
    }
}

/// Base paths: none, usual ones, and ones that leave a path hardly room for more.
fn bases() -> impl Strategy<Value = String> {
    let usual = &["", "", "/a", "/api/v1", "/store/a", "/api/v1/external", "/api/v1/external"][..];
    let long = |length: usize, count| format!("/{}", "c".repeat(length)).repeat(count);
    prop_oneof![
        24 => select(usual).prop_map(str::to_owned),
        1 => (20..33_usize).prop_map(|count| "/b".repeat(count)),
        1 => (240..256_usize).prop_map(move |length| long(length, 28)),
        1 => (100..256_usize, 30..33_usize).prop_map(move |(length, count)| long(length, count)),
        2 => (select(SIZES), 0..40_usize).prop_map(|(size, room)| base_of(size.saturating_sub(room))),
    ]
}

/// A base path of this many bytes, as far as one can have them.
pub fn base_of(bytes: usize) -> String {
    let mut base = String::new();
    while base.len() + 2 <= bytes.min(8_192) {
        // A lone slash must not be left over.
        let left = bytes.min(8_192) - base.len();
        let segment = if left == 258 { 255 } else { (left - 1).min(256) };
        base.push('/');
        base.extend(core::iter::repeat_n('c', segment));
    }
    base
}

/// The literals of a policy: usual ones, and long ones that are alike.
fn words() -> impl Strategy<Value = Vec<String>> {
    let usual = vec(select(WORDS).prop_map(str::to_owned), 3..12);
    (usual, vec(long_words(), 0..3)).prop_map(|(mut words, long)| {
        words.extend(long.into_iter().flatten());
        words
    })
}

/// A route before its policy: which words, at which scope.
#[derive(Clone, Debug)]
struct Draft {
    method: &'static str,
    /// A word, or none for a parameter.
    segments: Vec<Option<Index>>,
    scope: Index,
    orbs: Orbs,
    /// How many bytes the whole template is to have: one more literal fills it up.
    size: Option<usize>,
    keys: Option<Keys>,
    is_closed: bool,
}

/// The routes of a policy: usual ones, deep ones, or many mixtures of literals and parameters in one length.
fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let segment = || proptest::option::weighted(0.6, any::<Index>());
    let orbs = || {
        prop_oneof![
            4 => Just(Orbs::Absent),
            3 => (1..9_u64).prop_map(Orbs::Amount),
            1 => select(&[Orbs::No, Orbs::Yes][..]),
        ]
    };
    let size = proptest::option::weighted(0.1, select(SIZES));
    let draft = |method, segments, scope, orbs, size| Draft {
        method,
        segments,
        scope,
        orbs,
        size,
        keys: None,
        is_closed: false,
    };
    let closed = proptest::bool::weighted(0.1);
    let usual = (select(METHODS), vec(segment(), 0..5), any::<Index>(), orbs(), size, keys(), closed);
    let usual = usual.prop_map(move |(m, segments, s, orbs, size, keys, is_closed)| Draft {
        keys,
        is_closed,
        ..draft(m, segments, s, orbs, size)
    });
    let deep = (select(METHODS), vec(segment(), 5..33), any::<Index>(), orbs());
    let deep = deep.prop_map(move |(m, segments, s, orbs)| draft(m, segments, s, orbs, None));
    let deep = prop_oneof![1 => usual.clone(), 2 => deep];
    let counts = select(&[2, 15, 16, 17, 31, 32, 33, 62, 63][..]);
    let crowded = (7..17_usize, counts, any::<(u32, u32)>(), any::<Index>());
    let crowded = crowded.prop_flat_map(move |(length, count, (start, step), scope)| {
        let words = vec((vec(any::<Index>(), length), select(&METHODS[..2]), orbs()), count);
        words.prop_map(move |words| {
            let one = |(number, (words, method, orbs)): (u32, (Vec<Index>, _, _))| {
                // An odd step passes by every number: all mixtures differ.
                let mixture = start.wrapping_add(number.wrapping_mul(step | 1));
                let literal = |(at, word)| (mixture >> at & 1 == 1).then_some(word);
                let segments = words.into_iter().enumerate().map(literal).collect();
                draft(method, segments, scope, orbs, None)
            };
            (0..).zip(words).map(one).collect::<Vec<_>>()
        })
    });
    prop_oneof![4 => vec(usual, 0..40), 1 => vec(deep, 1..24), 1 => crowded]
}

impl Draft {
    /// Adds the route to a policy, where it may stand.
    fn add(self, model: &mut Model, words: &[String], positions: &mut Locations) {
        let slash = usize::from(model.trailing_slash);
        let scopes = |api: &Api| api.scopes.len();
        let mut scope = self.scope.index(model.apis.iter().map(scopes).sum());
        let mut apis = model.apis.iter_mut();
        let api = apis.find(|api| match scope.checked_sub(api.scopes.len()) {
            Some(left) => {
                scope = left;
                false
            }
            None => true,
        });
        let api = api.unwrap();
        let name = |at| ["{id", "{b_2", "{c.d-e"][at % 3];
        let segment = |(at, word): (usize, Option<Index>)| match word {
            Some(word) => word.get(words).clone(),
            None => format!("{}{at}}}", name(at)),
        };
        let mut segments: Vec<_> = self.segments.into_iter().enumerate().map(segment).collect();
        if let Some(size) = self.size {
            let taken: usize = segments.iter().map(|segment| segment.len() + 1).sum();
            let left = size.saturating_sub(api.base_path.len() + taken + 1);
            match left {
                1..=16 => segments.push("f".repeat(left)),
                17..=256 => segments.push(long_word(left, size, 'x')),
                _ => {}
            }
        }
        let route = Route { method: self.method.to_owned(), segments, orbs: self.orbs, keys: self.keys };
        let method = if self.is_closed { "" } else { self.method };
        if !positions.take(method, &api.full(&route), slash) {
            return;
        }
        if self.is_closed {
            return api.closed.push(route.segments);
        }
        let scope = &mut api.scopes[scope];
        let needs_default = route.orbs == Orbs::Absent;
        scope.routes.push(route);
        if scope.orbs == Orbs::Absent && needs_default {
            // In every api that has it.
            let name = scope.name.clone();
            let scopes = model.apis.iter_mut().flat_map(|api| &mut api.scopes);
            for scope in scopes.filter(|scope| scope.name == name) {
                scope.orbs = Orbs::Yes;
            }
        }
    }
}

/// Which templates are taken.
#[derive(Default)]
struct Locations {
    /// Methods and templates, parameters without their names.
    taken: HashSet<(String, String)>,
    spellings: HashMap<(String, String), String>,
    /// By number of segments: which of them are literals, over all templates.
    mixtures: HashMap<usize, HashSet<Vec<bool>>>,
}

/// How many sets of literal positions the templates of one number of segments may have.
pub const MOST_MIXTURES: usize = 63;

impl Locations {
    /// Takes a template's position, unless the policy format refuses it beside those already there.
    fn take(&mut self, method: &str, full: &[&str], slash: usize) -> bool {
        let bytes: usize = full.iter().map(|segment| segment.len() + 1).sum();
        if full.len() > 32 || bytes + slash > 8_192 {
            return false;
        }
        let mixture: Vec<_> = full.iter().map(|segment| is_parameter(segment)).collect();
        let mixtures = self.mixtures.entry(full.len()).or_default();
        if mixtures.len() == MOST_MIXTURES && !mixtures.contains(&mixture) {
            return false;
        }
        let mut prefix = String::new();
        let mut new = Vec::new();
        for &segment in full {
            let literal = !is_parameter(segment);
            if literal {
                let position = (prefix.clone(), segment.to_ascii_lowercase());
                let other = self.spellings.get(&position);
                if other.is_some_and(|other| other != segment) {
                    return false;
                }
                new.push((position, segment.to_owned()));
            }
            prefix = format!("{prefix}/{}", if literal { segment } else { "{}" });
        }
        // A template is closed or has routes.
        let clashes =
            |(other, template): &(String, String)| *template == prefix && other.is_empty() != method.is_empty();
        if self.taken.iter().any(clashes) {
            return false;
        }
        let fresh = self.taken.insert((method.to_owned(), prefix));
        if fresh {
            self.spellings.extend(new);
            mixtures.insert(mixture);
        }
        fresh
    }
}
