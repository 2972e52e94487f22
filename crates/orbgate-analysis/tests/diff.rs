//! `diff` finds between two policies what brute force over `decide` finds.

use core::fmt::Write as _;
use core::time::Duration;
use std::collections::BTreeSet;
use std::time::Instant;

use crate::support::expected::Expected;
use crate::support::model::{Api, Keys, Model, Orbs as ModelOrbs, Route, Scope};
use orbgate::{Decision, Engine, Policy, Request, Token, TokenKind};
use orbgate_analysis::{Asked, Caller, Change, Cost, Verdict, diff};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};

pub fn engine(yaml: &str) -> Engine {
    Engine::new(&Policy::from_yaml(yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}")))
}

/// A policy of one api without a base path.
fn policy(scopes: &str) -> Engine {
    engine(&format!("orbgate: 1\napis: {{ a: {{ base_path: '', scopes: {{ {scopes} }} }} }}"))
}

fn lines(old: &Engine, new: &Engine) -> Vec<String> {
    let diff = diff(old, new);
    assert!(diff.complete);
    diff.changes.iter().map(ToString::to_string).collect()
}

#[test]
fn each_change_has_a_line() {
    let read = "read: { orbs: 5, routes: ['GET /users/{id}'] }";
    let admin = "admin: { orbs: 500, routes: [GET /users/admin] }";
    let both = policy(&format!("{read}, {admin}"));
    let table = [
        (policy(read), policy("read: { orbs: 5, routes: ['GET /users/{name}'] }")),
        (both, policy(read)),
        (policy(read), policy("read: { orbs: true, routes: ['GET /users/{id}'] }")),
        (policy(read), policy("read: { orbs: 5, routes: ['GET /users/{id}', 'PUT /users/{id}'] }")),
        (
            policy("read: { orbs: 1, routes: ['GET /users/{id}'] }"),
            policy("read: { orbs: 2, routes: ['GET /users/{id}'] }"),
        ),
        (
            policy("read: { orbs: false, routes: [GET /a, GET /b] }"),
            policy("read: { orbs: false, routes: [GET /a, { route: GET /b, orbs: true }] }"),
        ),
        (
            policy("read: { orbs: 2, routes: [GET /a, GET /b] }"),
            policy("read: { orbs: 2, routes: [GET /a, { route: GET /b, orbs: false }] }"),
        ),
    ];
    let mut expected = Expected::default();
    for (number, (old, new)) in table.iter().enumerate() {
        expected.add(&format!("case {}", number + 1), lines(old, new));
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "diff: changes");
}

#[test]
fn whom_a_change_opens_the_call_is_named() {
    let api = |rule: &str| {
        engine(&format!(
            "orbgate: 1\napis: {{ a: {{ base_path: '', token: user, organisation: {rule}, scopes: {{ s: {{ orbs: false, routes: [GET /x] }} }} }} }}"
        ))
    };
    let (closed, open) = (api("deny"), api("allow_without_scope"));
    let wider = diff(&closed, &open);
    let caller = wider.changes[0].wider.as_ref().unwrap();
    assert_eq!((caller.kind, caller.scopes.as_str()), (TokenKind::Organisation, ""));
    assert!(wider.widens());
    let narrower = diff(&open, &closed);
    assert!(!narrower.widens() && narrower.changes.iter().all(|change| change.narrower.is_some()));
}

#[test]
fn ten_thousand_routes_take_well_under_a_second() {
    let routes = |skip: usize| {
        let mut text =
            "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        orbs: false\n        routes:\n"
                .to_owned();
        for number in (0..10_000).filter(|number| *number != skip) {
            let tail = if number % 2 == 0 { "all" } else { "{id}" };
            writeln!(text, "          - GET /x{}/y{number}/{tail}", number % 100).unwrap();
        }
        text.push_str("          - GET /{a}/{b}/{c}\n");
        engine(&text)
    };
    let (old, new) = (routes(usize::MAX), routes(5_000));
    let begun = Instant::now();
    let lines = lines(&old, &new);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(lines[0].starts_with("removed: GET /x0/y5000/all: "), "{lines:?}");
}

#[test]
fn a_search_that_is_too_large_says_so() {
    // Every template of one policy overlaps every one of the other.
    let routes = |template: fn(usize) -> String| {
        let mut text =
            "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        orbs: false\n        routes:\n"
                .to_owned();
        for number in 0..2_000 {
            writeln!(text, "          - GET {}", template(number)).unwrap();
        }
        engine(&text)
    };
    let old = routes(|number| format!("/{{a}}/x{number}"));
    let new = routes(|number| format!("/y{number}/{{b}}"));
    let result = diff(&old, &new);
    assert!(!result.complete && result.widens());
    // One route fits all these paths, in both policies: no change that is found is wider, but one that was not
    // found may be.
    let routes = |template: fn(usize) -> String| {
        let all = core::iter::once("GET /{a}/{b}".to_owned());
        let some = (0..2_000).map(|number| format!("GET {}", template(number)));
        self::routes("", all.chain(some))
    };
    // Literals without letters have no other case that would be refused.
    let old = routes(|number| format!("/{{a}}/{number}"));
    let new = routes(|number| format!("/{number}/{{b}}"));
    let result = diff(&old, &new);
    assert!(!result.changes.iter().any(Change::widens));
    assert!(!result.complete && result.widens() && result.verdict().is_none());
}

/// A short file, whose base path is in every change: the list is bounded, but the verdict is that of all
/// changes.
#[test]
fn a_long_base_path_makes_no_list_without_bounds() {
    let base = format!("/{}", "b".repeat(249)).repeat(30);
    let policy = |routes: &[&str]| {
        let mut text = format!(
            "orbgate: 1\napis:\n  a:\n    base_path: {base}\n    scopes:\n      s:\n        orbs: false\n        routes:\n"
        );
        for (prefix, number) in routes.iter().flat_map(|prefix| (0..4_000).map(move |n| (prefix, n))) {
            writeln!(text, "          - GET /{prefix}{number}").unwrap();
        }
        engine(&text)
    };
    let (old, new) = (policy(&["a", "c"]), policy(&["b", "c"]));
    let result = diff(&old, &new);
    assert_eq!(result.verdict(), Some(Verdict::Incomparable));
    assert_eq!(result.changes.len() + result.left_out, 8_000);
    let text = |widens: bool| -> usize {
        let changes = result.changes.iter().filter(|change| change.widens() == widens);
        changes.map(|change| change.to_string().len()).sum()
    };
    for widens in [false, true] {
        assert!((4 << 20..16 << 20).contains(&text(widens)), "{}", text(widens));
    }
    // What is left out counts, too.
    let counts = result.counts();
    let counted = [counts.widening, counts.narrowing, counts.removed];
    assert_eq!(counted, [4_000; 3]);
    let (old, new) = (policy(&["a", "b"]), policy(&["a"]));
    let result = diff(&old, &new);
    assert_eq!((result.verdict(), result.widens()), (Some(Verdict::Narrower), false));
    assert!(result.left_out > 0);
}

/// Each template of one policy overlaps each of the other.
#[test]
fn five_hundred_routes_that_all_overlap_are_compared() {
    let policy = |template: fn(usize) -> String| {
        let some = (0..250).map(|number| format!("GET {}", template(number)));
        routes("", some.chain(["GET /{a}/{b}".to_owned()]))
    };
    let old = policy(|number| format!("/{{a}}/{number}"));
    let new = policy(|number| format!("/{number}/{{b}}"));
    assert_eq!(diff(&old, &new).verdict(), Some(Verdict::Equivalent));
}

/// A policy of one scope with these routes.
fn routes(profile: &str, routes: impl IntoIterator<Item = String>) -> Engine {
    let mut text = format!(
        "orbgate: 1\n{profile}apis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        orbs: false\n        routes:\n"
    );
    for route in routes {
        writeln!(text, "          - {route}").unwrap();
    }
    engine(&text)
}

/// Each literal that may be escaped is asked of each template with a parameter in its place.
#[test]
fn escapes_are_asked_within_the_bounds_of_the_search() {
    let literals = |word: &str| {
        let literal = |number| format!("GET /{word}+{number}/z");
        (0..1_500).map(literal).collect::<Vec<_>>()
    };
    let parameters = || (0..1_500).map(|number| format!("GET /{{x}}/y{number}"));
    for (profile, complete) in [("target: encoded_params\n", false), ("", true)] {
        let old = routes(profile, literals("a").into_iter().chain(parameters()));
        let new = routes(profile, parameters());
        assert_eq!(diff(&old, &new).complete, complete, "{profile}");
        // Templates without a parameter there cost nothing.
        let old = routes(profile, literals("a"));
        let new = routes(profile, literals("b"));
        assert!(diff(&old, &new).complete, "{profile}");
    }
}

/// The method of a number: `X` and three letters.
fn method(number: usize) -> String {
    const LETTERS: &[u8; 26] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let letter = |power: u32| char::from(LETTERS[number / 26_usize.pow(power) % 26]);
    format!("X{}{}{}", letter(2), letter(1), letter(0))
}

#[test]
fn methods_are_within_the_bounds_of_the_search() {
    let policy = |template: fn(usize) -> String| {
        let methods = |template: usize| (0..50).map(move |number| (number, template));
        let route = |(number, at)| format!("{} {}", method(number), template(at));
        routes("", (0..100).flat_map(methods).map(route))
    };
    let old = policy(|number| format!("/x{number}/{{a}}"));
    let new = policy(|number| format!("/{{a}}/y{number}"));
    let diff = diff(&old, &new);
    assert!(!diff.complete && diff.widens());
}

/// Few words: with case variants, without letters, with characters that may be escaped.
pub const WORDS: [&str; 6] = ["a", "A", "b", "x:y", "X:y", "1:2"];
pub const SCOPES: [&str; 3] = ["r", "w", "z"];
pub const METHODS: [&str; 2] = ["GET", "PUT"];

/// A small policy, most of whose templates overlap.
pub fn policies() -> impl Strategy<Value = Model> {
    let segment = prop_oneof![3 => select(&WORDS[..]), 2 => Just("{}")];
    let what = prop_oneof![
        1 => Just(Drafted::Closed),
        6 => Just(Drafted::Route(None)),
        6 => keys().prop_map(|keys| Drafted::Route(Some(keys))),
    ];
    let route = (select(&METHODS[..]), vec(segment, 0..4), 0..SCOPES.len(), prices(), what);
    let of_scopes = vec(proptest::option::weighted(0.3, keys()), SCOPES.len());
    let rule = select(&[None, None, Some("deny"), Some("allow_without_scope")][..]);
    let orbs = vec(select(&[ModelOrbs::No, ModelOrbs::Yes, ModelOrbs::Amount(2), ModelOrbs::Absent][..]), SCOPES.len());
    (any::<bool>(), rule, orbs, vec(route, 0..10), of_scopes).prop_map(|(encoded_params, rule, orbs, routes, keys)| {
        let scope =
            |(name, orbs): (&&str, ModelOrbs)| Scope { name: (*name).to_owned(), orbs, keys: None, routes: Vec::new() };
        let scopes: Vec<_> = SCOPES.iter().zip(orbs).map(scope).collect();
        let api = |name: &str, organisation, scopes: &[Scope]| Api {
            name: name.to_owned(),
            base_path: String::new(),
            organisation,
            scopes: scopes.to_vec(),
            closed: Vec::new(),
        };
        let apis = vec![api("one", None, &scopes[..2]), api("two", rule, &scopes[2..])];
        let mut model = Model { encoded_params, trailing_slash: false, apis };
        for (method, segments, scope, orbs, what) in routes {
            let name = |(at, segment): (usize, &str)| {
                if segment == "{}" { format!("{{p{at}}}") } else { segment.to_owned() }
            };
            let segments = segments.into_iter().enumerate().map(name).collect();
            let mut with = model.clone();
            let (api, scope) = PLACES[scope];
            match what {
                Drafted::Closed => with.apis[api].closed.push(segments),
                Drafted::Route(keys) => {
                    with.apis[api].scopes[scope].routes.push(Route { method: method.to_owned(), segments, orbs, keys });
                }
            }
            // What conflicts with the others is left out.
            keep_valid(&mut model, with);
        }
        for ((api, scope), keys) in PLACES.into_iter().zip(keys) {
            let mut with = model.clone();
            with.apis[api].scopes[scope].keys = keys;
            keep_valid(&mut model, with);
        }
        model
    })
}

/// A route's own `orbs`, which it has as often as not.
fn prices() -> impl Strategy<Value = ModelOrbs> {
    use ModelOrbs::{Absent, Amount, No, Yes};
    select(&[Absent, Absent, Absent, Absent, Amount(1), Amount(2), No, Yes][..])
}

/// The positions of the scopes: api, and scope in it.
const PLACES: [(usize, usize); 3] = [(0, 0), (0, 1), (1, 0)];

/// A line of a policy before it is known whether it may stand there.
#[derive(Clone, Debug)]
enum Drafted {
    Route(Option<Keys>),
    Closed,
}

/// Any `or` and `and`, few of which may stand anywhere.
fn keys() -> impl Strategy<Value = Keys> {
    let names = |count| {
        let some = subsequence(&SCOPES[..], count);
        some.prop_map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    (vec(names(1..=2), 0..3), names(0..=1)).prop_map(|(or, and)| Keys { or, and })
}

/// Replaces a policy if the new one is valid.
fn keep_valid(model: &mut Model, with: Model) {
    if Policy::from_yaml(&with.to_yaml()).is_ok() {
        *model = with;
    }
}

/// A policy and one that differs in a few routes, or in all.
fn pairs() -> impl Strategy<Value = (Model, Model)> {
    let near = (
        policies(),
        vec((any::<Index>(), select(&[Edit::Remove, Edit::Add, Edit::Restate][..]), keys()), 0..3),
        policies(),
        proptest::bool::weighted(0.2),
        proptest::bool::weighted(0.1),
        select(&[[false; 2], [false; 2], [false; 2], [true; 2], [false, true], [true, false]][..]),
    )
        .prop_map(|(mut old, edits, other, other_target, without_scope, slash)| {
            let mut new = old.clone();
            [old.trailing_slash, new.trailing_slash] = slash;
            new.encoded_params ^= other_target;
            for (at, edit, keys) in edits {
                let (api, scope) = PLACES[at.index(SCOPES.len())];
                let mut with = new.clone();
                let routes = &mut with.apis[api].scopes[scope].routes;
                match edit {
                    Edit::Add => {
                        let mut more = other.apis[api].scopes[scope].routes.clone();
                        more.iter_mut().for_each(|route| route.orbs = ModelOrbs::Absent);
                        routes.extend(more);
                        with.apis[api].closed.extend(other.apis[api].closed.iter().cloned());
                    }
                    _ if routes.is_empty() => with.apis[api].closed.clear(),
                    Edit::Remove => drop(routes.remove(at.index(routes.len()))),
                    Edit::Restate => {
                        let at = at.index(routes.len());
                        routes[at].keys = Some(keys);
                    }
                }
                keep_valid(&mut new, with);
            }
            if without_scope {
                let mut with = new.clone();
                with.apis[0].scopes.remove(0);
                keep_valid(&mut new, with);
            }
            (old, new)
        });
    prop_oneof![4 => near, 1 => (policies(), policies())]
}

/// How a policy differs from another.
#[derive(Clone, Copy, Debug)]
enum Edit {
    Remove,
    Add,
    Restate,
}

/// Every path of up to three segments that can mean something else than the others.
pub fn targets() -> Vec<String> {
    let mut values: Vec<String> = WORDS.iter().map(|word| (*word).to_owned()).collect();
    values.extend(["B", "x:Y", "X:Y", "q", "x%3Ay", "X%3Ay", "x%3AY", "1%3A2", "q%20q"].map(str::to_owned));
    let mut paths = vec![String::new()];
    let mut all = vec!["/".to_owned()];
    for _ in 0..3 {
        paths = paths.iter().flat_map(|path| values.iter().map(move |value| format!("{path}/{value}"))).collect();
        all.extend_from_slice(&paths);
    }
    all
}

/// Tokens of each kind with each set of scopes.
pub fn tokens() -> Vec<(TokenKind, String)> {
    let sets = (0..1 << SCOPES.len()).map(|set: usize| {
        let held = SCOPES.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        held.map(|(_, scope)| *scope).collect::<Vec<_>>().join(" ")
    });
    let kinds = |set: String| [TokenKind::User, TokenKind::Organisation].map(|kind| (kind, set.clone()));
    sets.flat_map(kinds).collect()
}

pub fn decide<'e>(engine: &'e Engine, method: &str, target: &str, token: &(TokenKind, String)) -> Decision<'e> {
    let token = Token { kind: token.0, scopes: token.1.as_str().into() };
    engine.decide(&Request {
        method: method.as_bytes(),
        target: target.as_bytes(),
        token: Some(token),
        allow_bonus_orbs_use: false,
    })
}

/// What changes: the routes before and after, and whether it is wider, narrower, cheaper or costlier.
type Found = (Option<String>, Option<String>, bool, bool, Option<Cost>);

fn cost(old: &Decision<'_>, new: &Decision<'_>) -> Option<Cost> {
    if !old.is_allow() || !new.is_allow() {
        return None;
    }
    let orbs = |decision: &Decision<'_>| decision.charge().map(|charge| (charge.consumes, charge.amount));
    match (orbs(old), orbs(new)) {
        (old, new) if old == new => None,
        (Some((false, _)), _) => Some(Cost::More),
        (_, Some((false, _))) => Some(Cost::Less),
        (Some((_, Some(old))), Some((_, Some(new)))) => Some(if new < old { Cost::Less } else { Cost::More }),
        _ => Some(Cost::Unknown),
    }
}

/// What brute force finds: changes of calls, and of scopes that are asked for without a route.
fn brute_force<'e>(old: &'e Engine, new: &'e Engine) -> BTreeSet<String> {
    let mut changes = BTreeSet::new();
    let (tokens, nobody) = (tokens(), (TokenKind::User, String::new()));
    let engines = [old, new];
    let mut note = |mut change: Found, answers: &dyn Fn(&(TokenKind, String)) -> [Decision<'e>; 2]| {
        for token in &tokens {
            let [old, new] = answers(token);
            change.2 |= !old.is_allow() && new.is_allow();
            change.3 |= old.is_allow() && !new.is_allow();
            change.4 = change.4.or(cost(&old, &new));
        }
        if change.2 || change.3 || change.4.is_some() {
            changes.insert(format!("{change:?}"));
        }
    };
    let mut targets = targets();
    if engines.iter().any(|engine| engine.trailing_slash()) {
        let slashed = targets.iter().filter(|target| *target != "/");
        targets.extend(slashed.map(|target| format!("{target}/")).collect::<Vec<_>>());
    }
    for target in targets {
        for method in METHODS {
            let answers = engines.map(|engine| decide(engine, method, &target, &nobody));
            let [before, after] = answers.map(|answer| answer.scope().and(answer.route_name()).map(str::to_owned));
            if before.is_none() && after.is_none() {
                continue;
            }
            note((before, after, false, false, None), &|token| {
                engines.map(|engine| decide(engine, method, &target, token))
            });
        }
    }
    for scope in SCOPES {
        let asked = Some(scope.to_owned());
        note((asked, None, false, false, None), &|token| engines.map(|engine| decide_scope(engine, scope, token)));
    }
    changes
}

pub fn decide_scope<'e>(engine: &'e Engine, scope: &str, token: &(TokenKind, String)) -> Decision<'e> {
    let token = Token { kind: token.0, scopes: token.1.as_str().into() };
    engine.decide_scope(scope, Some(token), false)
}

/// Holds a diff to brute force, and each witness to both engines.
fn judge(old: &Engine, new: &Engine) {
    let diff = diff(old, new);
    assert!(diff.complete);
    let mut shown_changes = BTreeSet::new();
    let (mut wider, mut narrower) = (false, false);
    for change in &diff.changes {
        let answers = |caller: &Caller| {
            let token = (caller.kind, caller.scopes.clone());
            [old, new].map(|engine| match &change.asked {
                Asked::Call { method, target } => decide(engine, method, target, &token),
                Asked::Scope(name) => decide_scope(engine, name, &token),
            })
        };
        // The request shows the change that is claimed.
        for (caller, expected) in
            [(&change.wider, [false, true]), (&change.narrower, [true, false]), (&change.payer, [true, true])]
        {
            if let Some(caller) = caller {
                assert_eq!(answers(caller).map(|answer| answer.is_allow()), expected);
            }
        }
        let paid = change.payer.as_ref().map(answers);
        assert_eq!(paid.and_then(|[old, new]| cost(&old, &new)), change.cost);
        let route = |rule: Option<orbgate_analysis::Rule<'_>>| {
            rule.and_then(|rule| rule.route).map(|route| route.as_str().to_owned())
        };
        let (before, after) = match &change.asked {
            Asked::Call { .. } => (route(change.before), route(change.after)),
            Asked::Scope(name) => (Some(name.clone()), None),
        };
        let is = (change.wider.is_some(), change.narrower.is_some());
        (wider, narrower) = (wider || is.0, narrower || is.1);
        let shown: Found = (before, after, is.0, is.1, change.cost);
        // A route may be removed without a change for callers.
        if shown.2 || shown.3 || shown.4.is_some() {
            let first = shown_changes.insert(format!("{shown:?}"));
            assert!(first, "two requests show one change");
        } else {
            assert!(change.removed);
        }
    }
    assert_eq!(shown_changes, brute_force(old, new));
    let verdict = match (wider, narrower) {
        (false, false) => Verdict::Equivalent,
        (true, false) => Verdict::Wider,
        (false, true) => Verdict::Narrower,
        (true, true) => Verdict::Incomparable,
    };
    assert_eq!(diff.verdict(), Some(verdict));
}

/// How many random pairs are compared. 10,000 take minutes:
/// `ORBGATE_DIFF_PAIRS=10000 cargo test --release -p orbgate-analysis --test all diff::every_change`.
fn pairs_to_compare() -> u32 {
    let pairs = std::env::var("ORBGATE_DIFF_PAIRS");
    pairs.map_or(300, |pairs| pairs.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: pairs_to_compare(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_change_of_random_policies_is_found_and_shown((old, new) in pairs()) {
        let (old, new) = (engine(&old.to_yaml()), engine(&new.to_yaml()));
        judge(&old, &new);
        let same = diff(&old, &old);
        prop_assert_eq!((same.verdict(), same.changes), (Some(Verdict::Equivalent), vec![]));
    }
}
