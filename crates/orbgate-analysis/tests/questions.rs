//! Every answer of this crate equals brute force over `decide`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::diff as small;
use crate::support::model::{Model, is_parameter};
use crate::support::policies::policies;
use crate::support::reference::{self, Ask};
use crate::support::requests::asks;
use crate::support::strategies::{SCOPES, scopes};
use orbgate::{Decision, Engine, Grant, Policy, Request, Scopes, Token, TokenKind};
use orbgate_analysis::{self as analysis, Asked, LeastScopes, ScopeUsage, ScopeUse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};

/// The text of a token that holds every scope.
static EVERY_SCOPE: LazyLock<String> = LazyLock::new(|| SCOPES.join(" "));
const KINDS: [TokenKind; 3] = [TokenKind::Unknown, TokenKind::User, TokenKind::Organisation];

fn engine(model: &Model) -> Engine {
    let yaml = model.to_yaml();
    Engine::new(&Policy::from_yaml(&yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}")))
}

const fn token(kind: TokenKind, scopes: &[u8]) -> Token<'_> {
    let scopes = Scopes::Text(scopes);
    Token { kind, scopes }
}

fn decide<'e>(engine: &'e Engine, ask: &Ask, token: Token<'_>) -> Decision<'e> {
    engine.decide(&Request {
        method: &ask.method,
        target: &ask.target,
        token: Some(token),
        allow_bonus_orbs_use: false,
    })
}

/// A target that reaches a template: none of its values is a literal.
fn instance(template: &str) -> String {
    let value = |segment| match is_parameter(segment) {
        true => "no-literal-is-called-so",
        false => segment,
    };
    template.split('/').map(value).collect::<Vec<_>>().join("/")
}

fn call<'e>(engine: &'e Engine, route: &str, token: Token<'_>) -> Decision<'e> {
    let (method, template) = route.split_once(' ').unwrap();
    let ask = Ask { method: method.into(), target: instance(template).into(), token: None, bonus: false };
    decide(engine, &ask, token)
}

fn policy_and_asks(count: usize) -> impl Strategy<Value = (Model, Vec<Ask>)> {
    policies().prop_flat_map(move |model| {
        let asks = vec(asks(&model), count);
        (Just(model), asks)
    })
}

/// The calls that a token with these scopes may make.
fn allowed(engine: &Engine, kind: TokenKind, calls: &[Ask], scopes: &[&str]) -> Vec<bool> {
    let text = scopes.join(" ");
    let allow = |ask| decide(engine, ask, token(kind, text.as_bytes())).is_allow();
    calls.iter().map(allow).collect()
}

/// No client requests a scope that must be earned, so it is neither needed from an issuer nor unused.
#[test]
fn scopes_that_must_be_earned_are_neither_needed_nor_unused() {
    let policy = "orbgate: 1
apis:
  a:
    base_path: ''
    scopes:
      earned:any: { orbs: false, routes: [GET /any] }
      earned:mfa: { orbs: false, or: [earned:any read], routes: [GET /mfa, { route: GET /either, or: [write] }] }
      read: { orbs: false, and: earned:mfa, routes: [GET /both] }
      write: { orbs: false, routes: [] }
";
    let engine = Engine::new(&Policy::from_yaml(policy).unwrap());
    let needs = |targets: &[&str]| {
        let calls = targets.iter().map(|target| ("GET", *target));
        let least = analysis::least_scopes(&engine, TokenKind::User, calls);
        assert_eq!(least.refusals, []);
        [least.needs, least.earned]
            .map(|needs| needs.iter().map(|need| (need.scope.name(), need.evidence, need.calls)).collect::<Vec<_>>())
    };
    assert_eq!(needs(&["/any"]), [vec![], vec![("earned:any", 0, 1)]]);
    // With the second factor, nothing is needed.
    assert_eq!(needs(&["/mfa"]), [vec![], vec![("earned:mfa", 0, 1)]]);
    // The alternative without it is one that a client can request.
    assert_eq!(needs(&["/any", "/either"]), [vec![("write", 1, 1)], vec![("earned:any", 0, 1)]]);
    let both = needs(&["/both", "/both", "/either", "/mfa"]);
    assert_eq!(both, [vec![("read", 0, 2), ("write", 2, 1)], vec![("earned:mfa", 0, 3)]]);
    let mut usage = ScopeUsage::new(&engine);
    usage.count("GET", "/both", TokenKind::User, "read earned:mfa earned:any write", 1);
    let used: Vec<_> = usage.scopes().into_iter().map(|scope| (scope.scope, scope.used)).collect();
    assert_eq!(used, [(b"read".to_vec(), 1), (b"write".to_vec(), 0)]);
}

proptest! {
    #[test]
    fn the_route_of_a_target_is_the_one_that_decides((model, asks) in policy_and_asks(64)) {
        let engine = engine(&model);
        for ask in &asks {
            let decision = decide(&engine, ask, token(TokenKind::User, EVERY_SCOPE.as_bytes()));
            match analysis::route_of(&engine, &ask.method, &ask.target) {
                Ok(route) => {
                    prop_assert!(decision.is_allow());
                    prop_assert_eq!(decision.route_name(), Some(route.as_str()));
                    prop_assert_eq!(decision.scope(), Some(route.scope()));
                }
                Err(denial) => {
                    prop_assert!(!denial.is_allow());
                    prop_assert_eq!(denial, decision);
                }
            }
        }
    }

    #[test]
    fn the_routes_of_a_scope_are_those_that_it_owns(model in policies()) {
        let engine = engine(&model);
        for name in EVERY_SCOPE.split(' ') {
            let listed: BTreeSet<_> = engine.find_scope(name)
                .unwrap()
                .routes()
                .map(|route| route.as_str().to_owned())
                .collect();
            let owned: BTreeSet<_> = model.routes().iter().filter(|(_, scope, ..)| scope.name == name).map(|(_, _, route, full)| {
                format!("{} {}", route.method, model.path(full))
            }).collect();
            prop_assert_eq!(listed, owned);
        }
        // Each alternative opens its route, and none of its scopes can be spared. A token without any lacks all.
        for route in engine.routes() {
            for scopes in route.requirement().alternatives() {
                let text = scopes.to_string();
                prop_assert!(call(&engine, route.as_str(), Token::user(&text)).is_allow());
                for left_out in scopes.clone() {
                    let fewer: Vec<_> = scopes.clone().filter(|scope| *scope != left_out).map(|scope| scope.name()).collect();
                    prop_assert!(!call(&engine, route.as_str(), Token::user(&fewer.join(" "))).is_allow());
                    let tried = analysis::alternatives(&route.requirement(), &fewer.join(" "));
                    prop_assert!(tried.iter().all(|tried| !tried.lacking.is_empty()));
                }
                let tried = analysis::alternatives(&route.requirement(), &text);
                let whole: Vec<_> = tried.iter().filter(|tried| tried.lacking.is_empty()).collect();
                prop_assert!(whole.len() == 1 && whole[0].scopes.join(" ") == text);
            }
        }
        prop_assert!(engine.find_scope("no-such-scope").is_none());
        prop_assert!(engine.find_scope("").is_none());
    }

    #[test]
    fn reach_is_every_call_that_is_allowed(model in policies(), text in scopes()) {
        let engine = engine(&model);
        for kind in KINDS {
            let token = token(kind, &text);
            let reach: Vec<_> = analysis::reach(&engine, token).map(Decision::Allow).collect();
            let mut expected = Vec::new();
            for (api, scope, route, full) in model.routes() {
                let _ = (api, scope);
                let target = model.path(&full);
                expected.push(call(&engine, &format!("{} {target}", route.method), token));
            }
            // Asked by scope, it is one scope, whatever apis have it.
            let scopes = || model.apis.iter().flat_map(|api| &api.scopes);
            let names: BTreeSet<_> = scopes().map(|scope| &scope.name).collect();
            let with_routes: BTreeSet<_> = scopes().filter(|scope| !scope.routes.is_empty()).map(|scope| &scope.name).collect();
            for name in names.difference(&with_routes) {
                expected.push(engine.decide_scope(name, Some(token), false));
            }
            expected.retain(Decision::is_allow);
            prop_assert_eq!(reach.len(), expected.len());
            prop_assert!(reach.iter().all(|allow| expected.contains(allow)));
        }
    }

    #[test]
    fn the_least_scopes_allow_what_all_do_and_not_one_is_too_many((model, asks) in policy_and_asks(32)) {
        let engine = engine(&model);
        for kind in KINDS {
            let calls = asks.iter().map(|ask| (&ask.method, &ask.target));
            let LeastScopes { needs, refusals, .. } = analysis::least_scopes(&engine, kind, calls);
            let names: Vec<_> = needs.iter().map(|need| need.scope.name()).collect();
            let all = allowed(&engine, kind, &asks, &[EVERY_SCOPE.as_str()]);
            prop_assert_eq!(&allowed(&engine, kind, &asks, &names), &all);
            let refused: Vec<_> = (0..asks.len()).filter(|at| !all[*at]).collect();
            // Grouped by their denials, in the order of the first of each.
            let mut expected: Vec<(Decision<'_>, usize, usize)> = Vec::new();
            for at in refused {
                let denial = decide(&engine, &asks[at], token(kind, b""));
                match expected.iter_mut().find(|(other, ..)| *other == denial) {
                    Some((_, _, calls)) => *calls += 1,
                    None => expected.push((denial, at, 1)),
                }
            }
            let actual: Vec<_> = refusals.iter().map(|refusal| (Decision::Deny(refusal.deny), refusal.call, refusal.calls)).collect();
            prop_assert_eq!(actual, expected);
            for (at, need) in needs.iter().enumerate() {
                let mut fewer = names.clone();
                fewer.remove(at);
                let without = allowed(&engine, kind, &asks, &fewer);
                prop_assert!(!without[need.evidence]);
                let lost: Vec<_> = (0..asks.len()).filter(|at| all[*at] && !without[*at]).collect();
                prop_assert_eq!((lost[0], lost.len()), (need.evidence, need.calls));
            }
            for refusal in refusals {
                let decision = decide(&engine, &asks[refusal.call], token(kind, EVERY_SCOPE.as_bytes()));
                prop_assert_eq!(decision.reason(), refusal.deny.reason());
            }
        }
    }

    #[test]
    fn the_usage_of_scopes_is_what_a_count_by_hand_finds((model, asks) in policy_and_asks(64), times in 1..5_u64) {
        let engine = engine(&model);
        let mut usage = ScopeUsage::new(&engine);
        let mut expected: BTreeMap<Vec<u8>, (u64, u64, u64)> = BTreeMap::new();
        for ask in &asks {
            let Some((kind, text)) = &ask.token else { continue };
            let kind = TokenKind::from_name(kind);
            usage.count(&ask.method, &ask.target, kind, text, times);
            if kind == TokenKind::Unknown {
                continue;
            }
            let pieces: BTreeSet<_> = text.split(|byte| *byte == b' ').filter(|piece| !piece.is_empty()).collect();
            let answer = reference::decide(&model, ask);
            let scopes = answer.scopes.or_else(|| Some(vec![vec![answer.scope?]])).unwrap_or_default();
            let is_held = |scopes: &&Vec<String>| scopes.iter().all(|scope| pieces.contains(scope.as_bytes()));
            let whole: Vec<_> = scopes.iter().filter(is_held).filter(|_| answer.reason == "scope_held").collect();
            for piece in pieces {
                let (granted, used, needed) = expected.entry(piece.to_vec()).or_default();
                *granted += times;
                let have_it = whole.iter().filter(|scopes| scopes.iter().any(|scope| scope.as_bytes() == piece)).count();
                *used += if have_it > 0 { times } else { 0 };
                *needed += if have_it > 0 && have_it == whole.len() { times } else { 0 };
            }
        }
        let scopes = usage.scopes();
        prop_assert!(scopes.iter().all(|scope| scope.in_policy == EVERY_SCOPE.split(' ').any(|name| name.as_bytes() == scope.scope)));
        let scopes: BTreeMap<_, _> = scopes.into_iter().map(|use_of| (use_of.scope, (use_of.granted, use_of.used, use_of.needed))).collect();
        prop_assert_eq!(scopes, expected);
    }

    #[test]
    fn who_may_call_is_everyone_whom_decide_allows((model, asks) in policy_and_asks(16), texts in vec(scopes(), 0..8)) {
        let engine = engine(&model);
        let tokens: Vec<_> = texts.iter().zip(KINDS.iter().cycle()).map(|(text, kind)| token(*kind, text)).collect();
        for ask in &asks {
            let allowed = analysis::who_may(&engine, &ask.method, &ask.target, tokens.iter().copied());
            let allowed: Vec<_> = allowed.into_iter().map(|(at, allow)| (at, Decision::Allow(allow))).collect();
            let decisions = tokens.iter().map(|token| decide(&engine, ask, *token)).enumerate();
            prop_assert_eq!(allowed, decisions.filter(|(_, decision)| decision.is_allow()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_records_are_the_table(model in policies()) {
        let engine = engine(&model);
        let records: Vec<_> = analysis::table_rows(&engine)
            .map(|record| (record.scope.name().to_owned(), record.route.map(|route| route.as_str().to_owned())))
            .collect();
        let mut expected = Vec::new();
        for api in &model.apis {
            for scope in &api.scopes {
                let route = |route: &crate::support::model::Route| format!("{} {}", route.method, model.path(&api.full(route)));
                let mut routes: Vec<_> = scope.routes.iter().map(|one| Some(route(one))).collect();
                if routes.is_empty() {
                    routes.push(None);
                }
                expected.extend(routes.into_iter().map(|route| (scope.name.clone(), route)));
            }
        }
        prop_assert_eq!(records, expected);
    }
}

/// The calls of a small policy: each of its routes and scopes, and each set of scopes.
fn small_calls(engine: &Engine) -> Vec<(Asked, (TokenKind, String))> {
    let routes = engine.routes().map(|route| {
        let (method, target) = (route.method().to_owned(), instance(route.template()));
        Asked::Call { method, target }
    });
    let scopes = small::SCOPES.iter().map(|scope| Asked::Scope((*scope).to_owned()));
    let calls = routes.chain(scopes);
    calls.flat_map(|call| small::tokens().into_iter().map(move |token| (call.clone(), token))).collect()
}

fn ask_small<'e>(engine: &'e Engine, asked: &Asked, token: &(TokenKind, String)) -> Decision<'e> {
    match asked {
        Asked::Call { method, target } => small::decide(engine, method, target, token),
        Asked::Scope(name) => small::decide_scope(engine, name, token),
    }
}

/// A token without these scopes.
fn without(token: &(TokenKind, String), scopes: &BTreeSet<String>) -> (TokenKind, String) {
    let left: Vec<_> = token.1.split(' ').filter(|scope| !scopes.contains(*scope)).collect();
    (token.0, left.join(" "))
}

/// The scopes of a route: its owner, what it needs as well, and what is enough instead.
type Weighed = (usize, Vec<usize>, Vec<Vec<usize>>);

/// Which scopes a random policy's routes need.
fn weighed() -> impl Strategy<Value = Vec<Weighed>> {
    let scopes = |count| subsequence((0..WEIGHED.len()).collect::<Vec<_>>(), count);
    vec((0..WEIGHED.len(), scopes(0..=2), vec(scopes(1..=3), 0..4)), 1..9)
}

const WEIGHED: [&str; 7] = ["a", "B", "b", "c:d", "e", "f", "g"];

/// A policy whose routes `GET /0`, `GET /1` and so on need these scopes; alternatives that may not stand beside the others
/// are left out.
fn weighed_policy(routes: &[Weighed]) -> Engine {
    let mut of_owner: BTreeMap<usize, String> = BTreeMap::new();
    for (at, (owner, and, or)) in routes.iter().enumerate() {
        let and: Vec<_> = and.iter().filter(|scope| *scope != owner).copied().collect();
        let mut kept = vec![[vec![*owner], and.clone()].concat()];
        for scopes in or {
            let is_in = |part: &[usize], whole: &[usize]| part.iter().all(|scope| whole.contains(scope));
            if !kept.iter().any(|other| is_in(other, scopes) || is_in(scopes, other)) {
                kept.push(scopes.clone());
            }
        }
        let names = |scopes: &[usize]| scopes.iter().map(|scope| WEIGHED[*scope]).collect::<Vec<_>>().join(" ");
        let or: Vec<_> = kept[1..].iter().map(|scopes| format!("\"{}\"", names(scopes))).collect();
        let mut keys = String::new();
        if !or.is_empty() {
            keys = format!(", or: [{}]", or.join(", "));
        }
        if !and.is_empty() {
            keys += &format!(", and: \"{}\"", names(&and));
        }
        *of_owner.entry(*owner).or_default() += &format!("{{ route: GET /{at}{keys} }}, ");
    }
    let scope = |(at, name): (usize, &&str)| {
        let routes = of_owner.get(&at).cloned().unwrap_or_default();
        format!("        \"{name}\": {{ orbs: false, routes: [{routes}] }}\n")
    };
    let scopes: String = WEIGHED.iter().enumerate().map(scope).collect();
    small::engine(&format!("orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n{scopes}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Scopes that no call used can be removed from all tokens together, and one that no call needed by itself. A scope that
    /// calls needed is lacking in just these.
    #[test]
    fn unused_scopes_can_be_removed_and_used_ones_cannot(model in small::policies(), some in vec(any::<Index>(), 0..12)) {
        let engine = engine(&model);
        let all = small_calls(&engine);
        let calls: Vec<_> = some.iter().map(|at| at.get(&all)).collect();
        let mut usage = ScopeUsage::new(&engine);
        for (asked, token) in &calls {
            let decision = ask_small(&engine, asked, token);
            usage.count_decision(&decision, token.1.as_bytes(), 1);
        }
        let usage = usage.scopes();
        let name = |scope: &ScopeUse| String::from_utf8(scope.scope.clone()).unwrap();
        let unused: BTreeSet<_> = usage.iter().filter(|scope| scope.used == 0).map(name).collect();
        for (asked, token) in &calls {
            prop_assert_eq!(ask_small(&engine, asked, token), ask_small(&engine, asked, &without(token, &unused)));
        }
        for scope in &usage {
            let one = BTreeSet::from([name(scope)]);
            let lost = calls.iter().filter(|(asked, token)| {
                ask_small(&engine, asked, token) != ask_small(&engine, asked, &without(token, &one))
            });
            prop_assert_eq!(lost.count(), usize::try_from(scope.needed).unwrap());
            prop_assert!(scope.needed <= scope.used);
        }
    }

    /// What a denied call would consume is what a user with every scope pays, also if the owner alone isn't enough.
    #[test]
    fn a_denial_shows_the_charge_of_an_allow(model in small::policies()) {
        let engine = engine(&model);
        let every = small::SCOPES.join(" ");
        for route in engine.routes() {
            let decide = |kind, scopes: &str| engine.decide_route(route.id(), Some(token(kind, scopes.as_bytes())), false);
            let charge = decide(TokenKind::User, &every).charge();
            prop_assert!(charge.is_some());
            for (kind, scopes) in small::tokens() {
                let token = Some(token(kind, scopes.as_bytes()));
                let explained = analysis::explain_route(&engine, route.id(), token, false, &Grant::default());
                prop_assert_eq!(explained.decision, decide(kind, &scopes));
                prop_assert_eq!(explained.orbs_if_allowed, charge.filter(|_| !explained.decision.is_allow()));
            }
        }
    }

    /// The least set of scopes is the first by bytes of all smallest ones.
    #[test]
    fn the_least_scopes_are_the_smallest_that_brute_force_finds(routes in weighed()) {
        let engine = weighed_policy(&routes);
        let targets: Vec<_> = (0..routes.len()).map(|at| format!("/{at}")).collect();
        let all_allowed = |scopes: &[&str]| {
            let token = (TokenKind::User, scopes.join(" "));
            targets.iter().all(|target| small::decide(&engine, "GET", target, &token).is_allow())
        };
        let sets = (0..1 << WEIGHED.len()).map(|set: usize| {
            let held = WEIGHED.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
            held.map(|(_, scope)| *scope).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        });
        let enough = sets.filter(|scopes| all_allowed(scopes));
        let expected = enough.min_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
        let least = analysis::least_scopes(&engine, TokenKind::User, targets.iter().map(|target| ("GET", target)));
        prop_assert!(least.is_smallest && least.refusals.is_empty());
        let mut names: Vec<_> = least.needs.iter().map(|need| need.scope.name()).collect();
        names.sort_unstable();
        prop_assert_eq!(Some(names), expected);
    }
}
