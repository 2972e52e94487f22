//! Files of cases: how they are read, what fails, and what they cover.

use std::collections::{BTreeMap, BTreeSet};

use crate::diff as small;
use crate::support::expected::Expected;
use orbgate::{Engine, Orbs, OrganisationRule, Policy, Reason, Request, Token, TokenKind};
use orbgate_analysis::{Coverage, Suite, callable_rows};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const POLICY: &str = "
orbgate: 1
apis:
  items:
    base_path: /v1
    scopes:
      read: { orbs: false, routes: ['GET /items/{id}', GET /items/top] }
      write:
        orbs: true
        routes: [{ route: 'POST /items/{id}', orbs: 5 }, POST /items]
  talk:
    base_path: /v1
    token: user
    organisation: deny
    scopes: { talk: { orbs: true, routes: [PUT /talk] }, quiet: { routes: [] } }
  open:
    token: user
    organisation: allow_without_scope
    scopes: { open: { orbs: 3, routes: [] } }
";

fn engine() -> Engine {
    Engine::new(&Policy::from_yaml(POLICY).unwrap())
}

fn suite(cases: &str) -> Suite {
    let text = format!("orbgate_test: 1\ncases:\n{cases}");
    Suite::from_bytes(text.as_bytes()).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{text}"))
}

fn diagnostics(text: &str) -> Vec<String> {
    let diagnostics = Suite::from_bytes(text.as_bytes()).unwrap_err();
    diagnostics.iter().map(ToString::to_string).collect()
}

#[test]
fn a_case_passes_where_all_that_it_says_is_so() {
    let engine = engine();
    for case in [
        "GET /v1/items/7 | user read | allow",
        "GET /v1/items/7 | user write read | allow scope_held free no_bonus | GET /v1/items/{id}",
        "GET /v1/items/7?page=2 | organisation read | scope_held",
        "GET /v1/items/7 | user | deny",
        "GET /v1/items/7 | none | no_token",
        "GET /v1/items/7 | unknown read | invalid_token",
        "GET /v1/items/7/8 | user read | no_route",
        "DELETE /v1/items/7 | user read | method_not_declared | /v1/items/{id}",
        "{request: get /v1/items/7, token: user read, expect: malformed_request method}",
        "{request: 'GET  /v1/items/7', token: user read, expect: malformed_request}",
        "GET v1/items/7 | user read | deny form",
        "GET /v1//items | user read | empty_segment",
        "POST /v1/items/7 | user write | allow 5 no_bonus",
        "POST /v1/items/7 bonus | user write | allow 5 bonus",
        "POST /v1/items bonus | user write | unstated bonus",
        "PUT /v1/talk | organisation talk | user_token_required",
        "scope open | organisation | scope_not_applicable 3",
        "scope quiet | user quiet | allow unknown",
        // A status is a status, unless the cell says that it is an amount.
        "GET /v1/items/7 | user | 403",
        "GET /v1/items/7 | user | deny 403",
        "GET /v1/items/7 | user | scope_missing 403",
        "GET /v1/items/7 | none | 401",
        "GET /v1/items/7/8 | user read | 404",
        "DELETE /v1/items/7 | user read | 405",
        "GET v1/items/7 | user read | 400",
        "GET v1/items/7 | user read | 400 form",
        "scope nothing | user nothing | no_route",
    ] {
        let suite = suite(&format!("  - {case}\n"));
        let tried = suite.run(&engine, &mut Coverage::new(&engine));
        assert!(tried[0].passed(), "{case}: {:?}", tried[0].differences);
        assert!(case.contains(&tried[0].case.name), "{case}");
    }
}

#[test]
fn a_scope_that_the_policy_lacks_is_told_where_it_may_be_the_reason() {
    let engine = engine();
    let mut expected = Expected::default();
    for case in [
        "GET /v1/items/7 | user reed | scope_missing",
        "GET /v1/items/7 | user read,write | deny",
        "GET /v1/items/7 | user profile | deny",
        "GET /v1/items/7 | user write | deny",
        "GET /v1/items/7 | user openid read | allow",
        "GET /v1/nowhere | user reed | no_route",
    ] {
        let suite = suite(&format!("  - {case}\n"));
        let tried = suite.run(&engine, &mut Coverage::new(&engine));
        assert!(tried[0].passed(), "{case}");
        expected.add(case, &tried[0].slips);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "suite: scopes that the policy lacks");
    let many = "  - GET /v1/items/7 | user reed | deny\n".repeat(120);
    let suite = suite(&many);
    let tried = suite.run(&engine, &mut Coverage::new(&engine));
    assert_eq!(tried.iter().filter(|tried| !tried.slips.is_empty()).count(), 100);
}

#[test]
fn properties_are_read_as_strictly_as_cases() {
    let start = "orbgate_test: 1\nproperties:\n";
    let text = format!("{start}  - never | any * | /v1/*\n  - only | user read | '*'\n");
    let mut expected = Expected::default();
    for text in [text, "orbgate_test: 1\nproperties: []\n".to_owned(), format!("{start}  - 7\n")] {
        let errors = diagnostics(&text);
        assert_eq!(errors.len(), 1, "{text}");
        expected.add(&text, errors);
    }
    let suite = Suite::from_bytes(
        format!("{start}  - never | organisation * | /v1/talk\n  - never | user * | /v2\n").as_bytes(),
    );
    let suite = suite.unwrap();
    let engine = engine();
    let proved = suite.prove(&engine);
    assert!(suite.cases().is_empty() && proved[0].holds() && !proved[1].holds());
    assert_eq!(proved[1].why_not(), ["no route of the policy decides `/v2`"]);
}

#[test]
fn a_route_that_is_none_is_a_diagnostic() {
    let text = "orbgate_test: 1\ncases:\n  - GET /v1/items/7 | user | deny | 403\n";
    let mut expected = Expected::default();
    expected.add(text, diagnostics(text));
    expected.keep(env!("CARGO_MANIFEST_DIR"), "suite: routes");
}

#[test]
fn a_case_fails_where_anything_that_it_says_is_not_so() {
    let engine = engine();
    let mut expected = Expected::default();
    for case in [
        "GET /v1/items/7 | user read | scope_missing",
        "GET /v1/items/7 | user | allow free",
        "GET /v1/nowhere | user | scope_missing",
        // Misspelt, it is denied by every policy.
        "GET v1/items/7 | user | deny",
        "{request: Scope read, token: user, expect: deny}",
        "GET /v1/items/ | user | dot_segment",
        "POST /v1/items/7 | user write | allow 6",
        "POST /v1/items/7 | user write | allow 403",
        "GET /v1/items/7 | user read | 403",
        "GET /v1/items/7 | user | 404",
        "GET v1/items/7 | user | 403",
        "POST /v1/items | user write | allow 6",
        "POST /v1/items | user write | allow bonus",
        "GET /v1/items/top | user read | allow | GET /v1/items/{id}",
        "GET /v1 | none | no_token | GET /v1",
        "GET /nowhere | user | no_route | /nothing",
    ] {
        let suite = suite(&format!("  - {case}\n"));
        let tried = suite.run(&engine, &mut Coverage::new(&engine));
        assert!(!tried[0].passed(), "{case}");
        expected.add(case, &tried[0].differences);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "suite: differences");
}

#[test]
fn a_line_and_a_mapping_say_the_same_and_cover_the_same() {
    let engine = engine();
    let run = |cases: &str| {
        let suite = suite(cases);
        let mut coverage = Coverage::new(&engine);
        let tried = suite.run(&engine, &mut coverage);
        let results: Vec<_> = tried.iter().map(|tried| (tried.decision, tried.differences.clone())).collect();
        (results, coverage.rows().collect::<Vec<_>>(), coverage.of_the_policy().collect::<Vec<_>>())
    };
    let lines = "
  - POST /v1/items/7 bonus | user write | allow 5 bonus | POST /v1/items/{id}
  - GET /v1/items | none | no_token
  - GET /v1/items/7 | user | allow
";
    let mappings = "
  - name: one
    request: POST /v1/items/7 bonus
    token: user write
    expect: allow 5 bonus
    route: POST /v1/items/{id}
  - {request: GET /v1/items, expect: no_token}
  - expect: allow
    token: user
    request: GET /v1/items/7
";
    assert_eq!(run(lines), run(mappings));
}

#[test]
fn only_what_passes_covers() {
    let engine = engine();
    let mut coverage = Coverage::new(&engine);
    suite("  - GET /v1/items/7 | user read | scope_missing\n").run(&engine, &mut coverage);
    assert!(coverage.rows().all(|row| !row.is_touched()));
}

#[test]
fn diagnostics_have_locations_and_say_what_to_write() {
    let head = "orbgate_test: 1\ncases:\n";
    let mut expected = Expected::default();
    for text in [
        "",
        "orbgate_test: 2\ncases: [GET /v1 | user | allow]\n",
        "orbgate_test: 1\n",
        "orbgate_test: 1\ncases: x\n",
        "orbgate_test: 1\npolicy: \"-\"\ncases: [GET /v1 | user | allow]\n",
        "orbgate_test: 1\ncases: []\n",
        "  - GET /v1 | user\n",
        "  - /v1 | user | allow\n",
        "  - Scope read:account | user | deny\n",
        "  - scopes read:account bonus | user | deny\n",
        "  - GET  /api | user | deny\n",
        "  - get /api | user | malformed_request\n",
        "  - GET /api bonnus | user | deny\n",
        "  - GET /v1 | usr read | allow\n",
        "  - GET /v1 | user | 5x\n",
        "  - GET /v1 | user | 05\n",
        "  - GET /v1 | user | scope_mising\n",
        "  - GET /v1 | user | allow deny\n",
        "  - GET /v1 | user | scope_missing 5\n",
        "  - GET /v1 | user | scope_missing 404\n",
        "  - GET /v1 | user | 404 percent\n",
        "  - GET /v1 | user | 403 allow\n",
        "  - GET /v1 | user | 403 403\n",
        "  - GET /v1 | user | allow free 5\n",
        "  - GET /v1 | user | no_route length\n",
        "  - {request: GET /v1, expect: ''}\n",
        "  - {request: GET /v1, expects: allow}\n",
        "  - {expect: allow}\n",
        "  - [GET /v1]\n",
        "  - &a GET /v1 | user | allow\n",
    ] {
        let whole = if text.starts_with("  ") { format!("{head}{text}") } else { text.to_owned() };
        let errors = diagnostics(&whole);
        assert_eq!(errors.len(), 1, "{text}");
        expected.add(text, errors);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "suite: diagnostics");
    let all =
        diagnostics("orbgate_test: 1\ncases:\n  - x\n  - GET /v1 | user | alow\n  - GET /v1 | user | allow\n  - y\n");
    assert_eq!(all.len(), 3, "{all:?}");
}

const SCOPES: [&str; 6] = ["read", "write", "talk", "quiet", "open", "other"];
const TARGETS: [&str; 8] =
    ["/v1/items/7", "/v1/items/top", "/v1/items", "/v1/talk", "/v1", "/v1/items/", "/nowhere", "x"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Coverage counts what the engine decides, row by row.
    #[test]
    fn coverage_equals_a_count_of_the_decisions(
        drawn in vec((
            select(&["GET", "POST", "PUT", "XYZ"][..]), select(&TARGETS[..]), select(&["none", "user", "organisation", "unknown"][..]),
            vec(select(&SCOPES[..]), 0..3), any::<bool>(), any::<bool>(),
        ), 0..40),
    ) {
        let engine = engine();
        let mut coverage = Coverage::new(&engine);
        let mut counted: BTreeMap<(String, String), u64> = BTreeMap::new();
        for (method, target, kind, scopes, bonus, by_scope) in drawn {
            let (kind_of, held) = (TokenKind::from_name(kind), scopes.join(" "));
            let token = (kind != "none").then_some(Token { kind: kind_of, scopes: held.as_str().into() });
            let scope = scopes.first().copied().unwrap_or("read");
            let decision = if by_scope {
                engine.decide_scope(scope, token, bonus)
            } else {
                let (method, target) = (method.as_bytes(), target.as_bytes());
                engine.decide(&Request { method, target, token, allow_bonus_orbs_use: bonus })
            };
            let request = if by_scope { format!("scope {scope}") } else { format!("{method} {target}") };
            let bonus = if bonus { " bonus" } else { "" };
            let token = if kind == "none" { kind.to_owned() } else { format!("{kind} {held}") };
            let suite = suite(&format!("  - '{request}{bonus} | {} | {}'\n", token.trim(), decision.reason()));
            prop_assert!(suite.run(&engine, &mut coverage)[0].passed());
            let row = match (decision.route_name(), decision.scope()) {
                (Some(route), Some(_)) => route.to_owned(),
                (_, Some(scope)) => format!("scope {}", scope.name()),
                _ => String::new(),
            };
            *counted.entry((row.clone(), decision.reason().to_string())).or_default() += 1;
            if decision.charge().is_some_and(|charge| charge.bonus_allowed) {
                *counted.entry((row, "bonus".to_owned())).or_default() += 1;
            }
        }
        let mut expected = 5;
        for (row, record) in coverage.rows().zip(callable_rows(&engine)) {
            let name = record.route.map_or_else(|| format!("scope {}", row.name()), |route| route.as_str().to_owned());
            for outcome in &row.outcomes {
                let times = counted.get(&(name.clone(), outcome.name.to_owned())).copied();
                prop_assert_eq!(outcome.times, times.unwrap_or(0), "{} {}", &name, outcome.name);
            }
            let orbs = record.route.map_or(record.scope.orbs(), |route| Some(route.orbs()));
            let consumes = !matches!(orbs, None | Some(Orbs::Free));
            let organisation = record.scope.organisation().map(|rule| match rule {
                OrganisationRule::Deny => "user_token_required",
                OrganisationRule::AllowWithoutScope => "scope_not_applicable",
            });
            let names: Vec<_> = row.outcomes.iter().map(|outcome| outcome.name).collect();
            let all = [Some("scope_held"), consumes.then_some("bonus"), Some("scope_missing"), organisation];
            prop_assert_eq!(names, all.into_iter().flatten().collect::<Vec<_>>());
            expected += row.outcomes.len();
        }
        for outcome in coverage.of_the_policy() {
            let times = counted.get(&(String::new(), outcome.name.to_owned())).copied();
            prop_assert_eq!(outcome.times, times.unwrap_or(0), "{}", outcome.name);
        }
        let listed = coverage.rows().map(|row| row.outcomes.len()).sum::<usize>() + coverage.of_the_policy().count();
        prop_assert_eq!(listed, expected);
    }
}

/// The sets of scopes with which a user's token is allowed a call, and not with one scope fewer, by deciding all sets.
fn smallest_sets(engine: &Engine, method: &str, target: &str) -> Vec<BTreeSet<String>> {
    let sets = small::tokens().into_iter().filter(|(kind, _)| *kind == TokenKind::User);
    let allowed = sets.filter(|token| small::decide(engine, method, target, token).is_allow());
    let allowed: Vec<_> = allowed.map(|(_, scopes)| set_of(&scopes)).collect();
    let has_fewer = |set: &BTreeSet<String>| allowed.iter().any(|other| other != set && other.is_subset(set));
    allowed.iter().filter(|set| !has_fewer(set)).cloned().collect()
}

fn set_of(scopes: &str) -> BTreeSet<String> {
    scopes.split(' ').filter(|scope| !scope.is_empty()).map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// An alternative is covered by a token that has it and no other, and by one that lacks exactly one of its scopes.
    #[test]
    fn alternatives_are_covered_one_by_one(model in small::policies(), drawn in vec((any::<Index>(), any::<Index>()), 0..20)) {
        let engine = small::engine(&model.to_yaml());
        let routes: Vec<_> = engine.routes().collect();
        prop_assume!(!routes.is_empty());
        let tokens = small::tokens();
        let calls: Vec<_> = drawn.iter().map(|(route, token)| (*route.get(&routes), token.get(&tokens))).collect();
        let mut coverage = Coverage::new(&engine);
        for (route, (kind, scopes)) in &calls {
            // No literal of these policies is called so.
            let target: String = route.template().split('/').skip(1).map(|segment| match segment.starts_with('{') {
                true => "/q".to_owned(),
                false => format!("/{segment}"),
            }).collect();
            let decision = small::decide(&engine, route.method(), &target, &(*kind, scopes.clone()));
            prop_assert_eq!(decision.route(), Some(*route));
            let case = format!("  - '{} {target} | {} {scopes} | {}'\n", route.method(), kind.as_str(), decision.reason());
            prop_assert!(suite(&case.replace(" |  | ", " | ")).run(&engine, &mut coverage)[0].passed());
        }
        for row in coverage.rows() {
            let Some(route) = row.row.route else { continue };
            let target: String = route.template().split('/').skip(1).map(|segment| match segment.starts_with('{') {
                true => "/q".to_owned(),
                false => format!("/{segment}"),
            }).collect();
            let smallest = smallest_sets(&engine, route.method(), &target);
            let is_one_scope = smallest.len() == 1 && smallest[0].len() == 1;
            let mut expected = BTreeMap::new();
            for alternative in smallest.iter().filter(|_| !is_one_scope) {
                let own = calls.iter().filter(|(called, _)| *called == route);
                let own = own.map(|(_, token)| (set_of(&token.1), small::decide(&engine, route.method(), &target, token).reason()));
                let own: Vec<_> = own.collect();
                let has_only = |held: &BTreeSet<String>| smallest.iter().all(|other| other.is_subset(held) == (other == alternative));
                let held = own.iter().filter(|(held, reason)| *reason == Reason::ScopeHeld && has_only(held)).count();
                let lacks_one = |held: &BTreeSet<String>| alternative.difference(held).count() == 1;
                let missing = own.iter().filter(|(held, reason)| *reason == Reason::ScopeMissing && lacks_one(held)).count();
                expected.insert(("scope_held", alternative.clone()), u64::try_from(held).unwrap());
                expected.insert(("scope_missing", alternative.clone()), u64::try_from(missing).unwrap());
            }
            let actual = row.outcomes.iter().filter_map(|outcome| Some(((outcome.name, set_of(outcome.alternative.as_ref()?)), outcome.times)));
            prop_assert_eq!(actual.collect::<BTreeMap<_, _>>(), expected);
        }
    }
}
