//! Random policies that collide often, and requests that nearly fit them.

use std::collections::{HashMap, HashSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::model::{Api, Model, Orbs, Route, Scope, is_parameter};
use super::reference::Ask;

/// Few words, so that templates share them: short and long, with equal ends, with case variants, with
/// characters that need care.
const WORDS: &[&str] = &[
    "a",
    "b",
    "A",
    "run",
    "Run",
    "store",
    "STORE",
    "prompt",
    "prompts",
    "@me",
    "@ME",
    "@meet",
    "a+b",
    "A+b",
    "a:b",
    "x.y",
    "v1",
    "~_",
    "starter-sentences",
    "starter-Sentences",
    "aaaaaaaaXbbbbbbbb",
    "aaaaaaaaYbbbbbbbb",
    "aaaaaaaaxbbbbbbbb",
    "aaaaaaaabbbbbbbb",
    "aaaaaaaa",
    "a-very-long-literal-that-takes-more-than-two-words-1",
    "a-very-long-literal-that-takes-more-than-two-words-2",
    "a-very-long-literal-thaT-takes-more-than-two-words-2",
];

/// The scopes of every policy.
pub const SCOPES: &[&str] = &[
    "read:x",
    "write:x",
    "READ:x",
    "read:x2",
    "read",
    "x",
    "a-scope-of-more-than-16-bytes",
    "read:*",
    "read/",
    "https://a.example/auth/read:x//",
];

const METHODS: &[&str] = &[
    "GET",
    "POST",
    "OPTIONS",
    "TRACE",
    "MOVE",
    "COPY",
    "PUT",
    "PATCH",
    "DELETE",
    "HEAD",
    "M",
    "ABCDEFGHIJKLMNOP",
];

/// A random valid policy. Routes that the format refuses beside another are dropped.
pub fn policies() -> impl Strategy<Value = Model> {
    let segment = prop_oneof![
        3 => select(WORDS).prop_map(str::to_owned),
        2 => select(&["{id}", "{b_2}", "{c.d-e}"][..]).prop_map(str::to_owned),
    ];
    let route = (
        select(METHODS),
        vec(segment, 0..5),
        any::<Index>(),
        proptest::option::of(1..9_u64),
    );
    let orbs = prop_oneof![
        Just(Orbs::No),
        Just(Orbs::Yes),
        (1..=i64::MAX.unsigned_abs()).prop_map(Orbs::Amount),
        Just(Orbs::Absent),
    ];
    let bases = prop_oneof![
        16 => select(&["", "", "/a", "/api/v1", "/store/a", "/api/v1/external", "/api/v1/external"][..])
            .prop_map(str::to_owned),
        // So many segments, or so many bytes, that a path has hardly room for more.
        1 => (20..28_usize).prop_map(|count| "/b".repeat(count)),
        1 => (240..256_usize).prop_map(|length| format!("/{}", "c".repeat(length)).repeat(28)),
        1 => (100..256_usize, 30..32_usize)
            .prop_map(|(length, count)| format!("/{}", "c".repeat(length)).repeat(count)),
    ];
    let rules = select(&[None, None, Some("deny"), Some("allow_without_scope")][..]);
    let apis = vec((bases, rules), 1..4);
    let scopes = vec((orbs, any::<Index>()), SCOPES.len());
    (any::<bool>(), apis, scopes, vec(route, 0..40)).prop_map(
        |(encoded_params, apis, scopes, routes)| {
            let mut model = Model {
                encoded_params,
                apis: Vec::new(),
            };
            for (at, (base_path, organisation)) in apis.into_iter().enumerate() {
                let name = format!("api{at}");
                model.apis.push(Api {
                    name,
                    base_path,
                    organisation,
                    scopes: Vec::new(),
                });
            }
            for (name, (orbs, api)) in SCOPES.iter().zip(scopes) {
                let scope = Scope {
                    name: (*name).to_owned(),
                    orbs,
                    routes: Vec::new(),
                };
                let count = model.apis.len();
                model.apis[api.index(count)].scopes.push(scope);
            }
            let mut places = Places::default();
            for (method, mut segments, at, amount) in routes {
                name_parameters(&mut segments);
                let mut all: Vec<_> = model
                    .apis
                    .iter()
                    .flat_map(|api| 0..api.scopes.len())
                    .collect();
                let flat = at.index(all.len());
                all.clear();
                let (mut api, mut scope) = (0, flat);
                while scope >= model.apis[api].scopes.len() {
                    scope -= model.apis[api].scopes.len();
                    api += 1;
                }
                let mut route = Route {
                    method: method.to_owned(),
                    segments,
                    orbs: amount,
                };
                let consumes = matches!(
                    model.apis[api].scopes[scope].orbs,
                    Orbs::Yes | Orbs::Amount(_)
                );
                route.orbs = route.orbs.filter(|_| consumes);
                let full = model.apis[api].full(&route);
                if places.take(&route.method, &full) {
                    let scope = &mut model.apis[api].scopes[scope];
                    if scope.orbs == Orbs::Absent {
                        scope.orbs = Orbs::Yes;
                    }
                    scope.routes.push(route);
                }
            }
            model
        },
    )
}

/// Parameters of one route have different names.
fn name_parameters(segments: &mut [String]) {
    for (at, segment) in segments.iter_mut().enumerate() {
        if is_parameter(segment) {
            *segment = segment.replace('}', &format!("{at}}}"));
        }
    }
}

/// Which templates are taken.
#[derive(Default)]
struct Places {
    shapes: HashSet<(String, String)>,
    spellings: HashMap<(String, String), String>,
}

impl Places {
    /// Takes a template's place, unless the policy format refuses it beside those already there.
    fn take(&mut self, method: &str, full: &[String]) -> bool {
        let bytes: usize = full.iter().map(|segment| segment.len() + 1).sum();
        if full.len() > 32 || bytes > 8_192 {
            return false;
        }
        let mut prefix = String::new();
        let mut new = Vec::new();
        for segment in full {
            let literal = !is_parameter(segment);
            if literal {
                let place = (prefix.clone(), segment.to_ascii_lowercase());
                if self
                    .spellings
                    .get(&place)
                    .is_some_and(|other| other != segment)
                {
                    return false;
                }
                new.push((place, segment.clone()));
            }
            prefix = format!("{prefix}/{}", if literal { segment } else { "{}" });
        }
        let fresh = self.shapes.insert((method.to_owned(), prefix));
        if fresh {
            self.spellings.extend(new);
        }
        fresh
    }
}

/// Requests that nearly fit a policy, with a token that nearly suits them.
pub fn asks(model: &Model) -> impl Strategy<Value = Ask> + use<> {
    let routes: Vec<_> = model
        .routes()
        .into_iter()
        .map(|(_, _, route, full)| (route.method.clone(), full))
        .collect();
    let near = if routes.is_empty() {
        vec(select(WORDS), 0..4)
            .prop_map(|words| {
                (
                    "GET".to_owned(),
                    words.into_iter().map(str::to_owned).collect(),
                )
            })
            .boxed()
    } else {
        select(routes).boxed()
    };
    let target = near.prop_flat_map(|(method, template): (String, Vec<String>)| {
        let methods = prop_oneof![
            5 => Just(method.into_bytes()),
            2 => select(METHODS).prop_map(|method| method.as_bytes().to_vec()),
            1 => vec(any::<u8>(), 0..20),
            1 => select(&["get", "GET ", "", "GETT\0", "OPTIONS"][..]).prop_map(|m| m.as_bytes().to_vec()),
        ];
        let segments: Vec<_> = template.iter().map(|segment| values(segment)).collect();
        (methods, segments, vec(twists(), 0..3))
    });
    let target = target.prop_map(|(method, segments, twists)| {
        let mut target = format!("/{}", segments.join("/")).into_bytes();
        for (at, twist) in twists {
            twist.apply(&mut target, at);
        }
        (method, target)
    });
    let target = prop_oneof![
        20 => target,
        1 => (vec(select(METHODS), 1..2), vec(any::<u8>(), 0..60))
            .prop_map(|(method, target)| (method[0].as_bytes().to_vec(), target)),
        1 => (Just(b"GET".to_vec()), "/[!-~]{0,40}").prop_map(|(m, t)| (m, t.into_bytes())),
    ];
    let kind = select(&["user", "user", "organisation", "unknown", "root"][..]);
    let token = proptest::option::weighted(0.9, (kind, scopes()));
    (target, token, any::<bool>()).prop_map(|((method, target), token, bonus)| Ask {
        method,
        target,
        token,
        bonus,
    })
}

/// Scope texts: subsets with stray spaces and strangers.
pub fn scopes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => select(SCOPES).prop_map(str::to_owned),
        1 => select(&["", " ", "read:x,write:x", "read:x\t", "rea", "ead:x", "unknown"][..])
            .prop_map(str::to_owned),
        1 => "[ -~]{0,6}",
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.join(" ").into_bytes())
}

/// What a request may have where a template has this segment.
fn values(segment: &str) -> BoxedStrategy<String> {
    let any_value = prop_oneof![
        4 => select(WORDS).prop_map(str::to_owned),
        3 => "[a-zA-Z0-9._~!$&'()*+,=:@-]{1,20}",
        1 => "(%[0-9a-fA-F]{2}|%20|%40me|%40ME|%40mE|a%2Bb|A%2bb|a%3Ab|[a-z.]){1,4}",
        1 => select(&[".", "..", "...", "", "a..b", "%", "%2", "%u002e"][..]).prop_map(str::to_owned),
        1 => (250..260_usize).prop_map(|length| "x".repeat(length)),
        1 => "[a-z0-9-]{20,140}",
        // A word with so much in it that only its ends are left of it.
        1 => (select(WORDS), "[a-z]{60,70}").prop_map(|(word, middle)| {
            let (start, end) = word.split_at(word.len() / 2);
            format!("{start}{middle}{end}")
        }),
    ];
    if is_parameter(segment) {
        any_value.boxed()
    } else {
        prop_oneof![
            16 => Just(segment.to_owned()),
            1 => Just(segment.to_ascii_uppercase()),
            1 => Just(flip(segment)),
            1 => any_value,
        ]
        .boxed()
    }
}

/// The segment with its first letter in the other case.
fn flip(segment: &str) -> String {
    let mut bytes = segment.as_bytes().to_vec();
    if let Some(letter) = bytes.iter_mut().find(|byte| byte.is_ascii_alphabetic()) {
        *letter ^= 0x20;
    }
    String::from_utf8(bytes).unwrap()
}

/// One small change to a target.
#[derive(Clone, Debug)]
pub enum Twist {
    Insert(&'static str),
    Append(&'static str),
    AppendSegments(usize),
    EncodeByte,
    FlipCase,
    Delete,
}

fn twists() -> impl Strategy<Value = (Index, Twist)> {
    let inserts = &[
        "/", "./", "x/../", "../", ";p", "%00", "\\", "?", "#", "%2e", "\u{e9}", " ", "%20", "A",
    ];
    let twist = prop_oneof![
        select(&inserts[..]).prop_map(Twist::Insert),
        select(
            &[
                "/", "?", "?a=/../b", "#x", "%00", "/.", "/..", ";", "//", "?%00%2f;"
            ][..]
        )
        .prop_map(Twist::Append),
        (1..70_usize).prop_map(Twist::AppendSegments),
        Just(Twist::EncodeByte),
        Just(Twist::FlipCase),
        Just(Twist::Delete),
    ];
    // Most requests stay as they are.
    (
        any::<Index>(),
        prop_oneof![2 => Just(Twist::Append("")), 1 => twist],
    )
}

impl Twist {
    pub fn apply(&self, target: &mut Vec<u8>, at: Index) {
        let place = at.index(target.len().max(1)).min(target.len());
        match self {
            Self::Insert(text) => drop(target.splice(place..place, text.bytes())),
            Self::Append(text) => target.extend(text.bytes()),
            Self::AppendSegments(count) => target.extend("/x".repeat(*count).bytes()),
            Self::EncodeByte if place < target.len() => {
                let escape = format!("%{:02x}", target[place]);
                drop(target.splice(place..=place, escape.bytes()));
            }
            Self::FlipCase if place < target.len() && target[place].is_ascii_alphabetic() => {
                target[place] ^= 0x20;
            }
            Self::Delete if place < target.len() => drop(target.remove(place)),
            _ => {}
        }
    }
}
