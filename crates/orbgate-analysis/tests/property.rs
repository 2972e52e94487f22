//! A property holds where brute force over `decide` finds no request against it.

use std::collections::BTreeSet;

use orbgate::{Decision, Engine, TokenKind};
use orbgate_analysis::{Asked, Callers, Claim, Property, Witness, callable_rows};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::diff::{METHODS, SCOPES, WORDS, decide, decide_scope, engine, policies, targets, tokens};
use crate::support::expected::Expected;

const POLICY: &str = "
orbgate: 1
apis:
  items:
    base_path: /v1
    scopes:
      read: { orbs: false, routes: ['GET /items/{id}', GET /items] }
      order: { orbs: true, routes: [{ route: POST /items/order, orbs: 5 }] }
      write: { orbs: true, routes: ['POST /items/{id}', PUT /items] }
  talk:
    base_path: /talk
    token: user
    organisation: deny
    scopes: { talk: { orbs: 3, routes: [PUT /, 'PUT /{id}/{to}'] }, quiet: { routes: [] } }
  open:
    token: user
    organisation: allow_without_scope
    base_path: /open
    scopes: { open: { orbs: false, routes: [GET /] } }
";

/// The witnesses against a property, or what is wrong with it.
fn against(engine: &Engine, property: &str) -> Vec<String> {
    let property: Result<Property, String> = property.parse();
    match property.and_then(|property| property.prove(engine)) {
        Ok(proof) => proof.witnesses.iter().map(ToString::to_string).collect(),
        Err(message) => vec![format!("error: {message}")],
    }
}

#[test]
fn what_holds_has_no_witness() {
    let engine = engine(POLICY);
    for property in [
        "never | organisation * | /talk/*",
        "never | organisation * | scope quiet, scope talk",
        "never | user read | POST /v1/*",
        "never | any read order | POST /v1/items/1",
        // The literal route decides it.
        "never | user write | POST /v1/items/order",
        "only | user read | GET /v1/items, GET /v1/items/{id}",
        "only | user read | /v1/*",
        "only | organisation order | /v1/items/order, /open",
        "only | user quiet | scope quiet",
        r#"only | user "" | /v1/items"#, // nothing at all
        "never | organisation | /talk/*",
        "at most 0 orbs | any * | GET /*",
        "at most 5 orbs | any read order talk | *",
        "apart | any * | GET /v1/*, POST /v1/*",
        "apart | any read order | GET /v1/*, PUT /v1/*",
        "apart | organisation * | /talk/*, /v1/*",
    ] {
        assert_eq!(against(&engine, property), [""; 0], "{property}");
    }
}

#[test]
fn what_does_not_hold_has_a_request_for_each_rule() {
    let engine = engine(POLICY);
    let mut expected = Expected::default();
    for property in [
        "never | organisation * | POST /v1/items/*",
        "never | any * | /open",
        "never | user talk | /talk/*",
        "only | organisation order | /v1/items/order",
        // Of a kind alone everybody is meant.
        "never | user | /talk",
        r#"never | organisation "" | /open"#,
        // One literal does not cover a parameter.
        "only | user read | GET /v1/items, GET /v1/items/1",
        "at most 4 orbs | user * | POST /v1/*",
        "apart | user * | PUT /talk, PUT /talk/1/2",
        "apart | organisation * | GET /open, PUT /v1/items",
    ] {
        expected.add(property, against(&engine, property));
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "property: witnesses");
}

#[test]
fn what_says_nothing_about_a_policy_is_an_error() {
    let engine = engine(POLICY);
    let mut expected = Expected::default();
    for property in [
        "never | any * | /v2/*",
        "never | any * | DELETE /v1/items",
        // The paths of this policy don't end in a slash.
        "never | any * | /v1/items/",
        // A literal in another case is refused, so nobody reaches it.
        "never | any * | POST /v1/items/Order",
        "only | user read | /v1/items, /v1/item",
        "never | user reed | *",
        "never | user read,write | *",
        "never | any * | scope tolk",
        "never | any *",
        "at most 05 orbs | any * | *",
        "apart | any * | *",
    ] {
        expected.add(property, against(&engine, property));
    }
    for calls in [
        "v1/items",
        "get /v1",
        "/v1/**/items",
        "/v1//items",
        "/v1/items//",
        "//",
        "/v1/%20",
        "GET  /v1",
        "scope a b",
        "",
        "/v1/{a}b",
    ] {
        let property = format!("never | any * | {calls}");
        expected.add(&property, against(&engine, &property));
    }
    for callers in ["unknown read", "none", "User", "any*"] {
        let property = format!("never | {callers} | *");
        expected.add(&property, against(&engine, &property));
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "property: errors");
}

#[test]
fn what_holds_and_says_little_is_said() {
    let engine = engine(POLICY);
    let warning = |property: &str| {
        let property: Property = property.parse().unwrap();
        let proof = property.prove(&engine).unwrap();
        assert!(proof.holds() || proof.warning.is_none());
        proof.warning.map(String::from)
    };
    let mut expected = Expected::default();
    for property in [
        r#"never | user "" | /talk"#,
        r#"only | user "" | /v1/items"#,
        r#"at most 0 orbs | user "" | *"#,
        r#"apart | user "" | /v1/items, /talk"#,
        "at most 5 orbs | user read | POST /v1/items/*",
        "at most 0 orbs | organisation | /talk/*",
        "apart | organisation | /talk/*, /v1/*",
        "apart | any read order | GET /v1/*, PUT /v1/*",
        "only | user read | *",
        "only | any | /v1/*, /talk, /talk/*, /open, scope quiet",
    ] {
        expected.add(property, [warning(property).expect(property)]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "property: warnings");
    for property in [
        r#"never | organisation "" | /talk/*"#, // who may call /open
        "never | user read | POST /v1/*",
        "only | user read | GET /v1/*",
        "only | any | /v1/*", // which does not hold
        "at most 5 orbs | any read order talk | *",
        "apart | any * | GET /v1/*, POST /v1/*",
    ] {
        assert_eq!(warning(property), None, "{property}");
    }
    // Without calls only `only` says something.
    let callers: Callers = r#"user """#.parse().unwrap();
    let prove = |claim| Property::new(claim, callers.clone()).prove(&engine);
    let only = prove(Claim::Only(Vec::new())).unwrap();
    assert!(only.holds() && only.warning.is_none());
    for claim in [Claim::Never(Vec::new()), Claim::OrbsAtMost(0, Vec::new())] {
        assert!(prove(claim).unwrap_err().ends_with(" no calls"));
    }
}

/// A route is named by its template, and paths by `*`: who writes the template of one doesn't mean another one's calls.
#[test]
fn a_template_means_its_own_calls_alone() {
    let engine = engine(POLICY);
    let prove = |property: &str| {
        let property: Property = property.parse().unwrap();
        property.prove(&engine)
    };
    // `POST /v1/items/order` is among these paths, and it isn't that route.
    let [against_it] = &against(&engine, "only | user order write | POST /v1/items/{item}, PUT /v1/items")[..] else {
        panic!("the order is allowed")
    };
    assert!(against_it.contains("POST /v1/items/order: "), "{against_it}");
    for property in ["never | any order | POST /v1/items/{id}", "at most 0 orbs | user read | /v1/items/{id}"] {
        let proof = prove(property).unwrap();
        assert!(proof.holds(), "{property}");
        assert!(proof.warning.unwrap().contains("`POST /v1/items/order`"), "{property}");
    }
    for property in
        ["never | any order | POST /v1/items/*", "never | any order | POST /v1/items/{id}, POST /v1/items/order"]
    {
        assert!(!prove(property).unwrap().holds(), "{property}");
    }
    // Nothing else fits the template, by this method.
    for property in [
        "never | any order | GET /v1/items/{id}",
        "only | user read | GET /v1/items/{id}, GET /v1/items",
        "never | any read | POST /v1/items/{id}, POST /v1/items/order",
    ] {
        let proof = prove(property).unwrap();
        assert!(proof.holds() && proof.warning.is_none(), "{property}");
    }
    let message = prove("never | any * | GET /v1/{id}").unwrap_err();
    assert!(message.contains("`GET /v1/{id}`"), "{message}");
    // With `*` in the same path, it is any segment.
    assert!(!prove("never | any * | GET /v1/{id}/*").unwrap().holds());
}

/// A property as it is written, in parts.
#[derive(Clone, Debug)]
struct Written {
    claim: &'static str,
    kind: &'static str,
    scopes: Option<Vec<&'static str>>,
    calls: Vec<String>,
}

impl Written {
    fn line(&self) -> String {
        let scopes = match &self.scopes {
            None => " *".to_owned(),
            Some(scopes) if scopes.is_empty() => r#" """#.to_owned(),
            Some(scopes) => scopes.iter().map(|scope| format!(" {scope}")).collect(),
        };
        format!("{} | {}{scopes} | {}", self.claim, self.kind, self.calls.join(", "))
    }

    fn is_of(&self, (kind, scopes): &(TokenKind, String)) -> bool {
        let is_kind = self.kind == "any" || self.kind == kind.as_str();
        is_kind && self.scopes.as_ref().is_none_or(|own| own.join(" ") == *scopes)
    }
}

fn written() -> impl Strategy<Value = Written> {
    let segment = prop_oneof![4 => select(&WORDS[..]), 2 => Just("*"), 1 => Just("{x}")];
    let path = vec(segment, 0..4).prop_map(|segments| format!("/{}", segments.join("/")));
    let method = select(&["", "GET ", "PUT "][..]);
    let call = prop_oneof![
        8 => (method, path).prop_map(|(method, path)| format!("{method}{path}")),
        1 => select(&SCOPES[..]).prop_map(|scope| format!("scope {scope}")),
        1 => Just("*".to_owned()),
    ];
    const CLAIMS: &[&str] = &["never", "only", "at most 1 orbs", "at most 2 orbs", "apart"];
    let scopes = proptest::option::of(subsequence(&SCOPES[..], 0..=SCOPES.len()));
    (select(CLAIMS), select(&["any", "user", "organisation"][..]), scopes, vec(call, 2..4)).prop_map(
        |(claim, kind, scopes, mut calls)| {
            calls.truncate(if claim == "apart" { 2 } else { 3 });
            Written { claim, kind, scopes, calls }
        },
    )
}

/// Whether a call, which this rule decides, is one of these, by the words of the format alone.
fn is_among(calls: &str, asked: &Asked, rule: &str) -> bool {
    let (own, target) = match asked {
        _ if calls == "*" => return true,
        Asked::Scope(name) => return calls == format!("scope {name}"),
        Asked::Call { method, target } => (method, target),
    };
    let (method, path) = calls.split_once(' ').unwrap_or(("", calls));
    if method == "scope" || !method.is_empty() && method != own {
        return false;
    }
    if path.contains('{') && !path.contains('*') {
        let (_, template) = rule.split_once(' ').unwrap();
        let segments = template.split('/');
        let segments = segments.map(|segment| if segment.starts_with('{') { "{x}" } else { segment });
        return path == segments.collect::<Vec<_>>().join("/");
    }
    let segments = |path: &str| -> Vec<String> {
        let segments = path[1..].split('/').map(str::to_owned);
        segments.filter(|segment| !segment.is_empty()).collect()
    };
    let (pattern, actual) = (segments(path), segments(target));
    let goes_on = pattern.last().is_some_and(|last| last == "*");
    let enough = match goes_on {
        true => actual.len() >= pattern.len() || path == "/*",
        false => actual.len() == pattern.len(),
    };
    let mut pairs = pattern.iter().zip(&actual);
    enough && pairs.all(|(pattern, actual)| pattern == "*" || pattern == "{x}" || pattern == actual)
}

/// All calls that can mean something else than the others, with the rule that decides each.
fn everything(engine: &Engine) -> Vec<(Asked, String)> {
    let nobody = (TokenKind::User, String::new());
    let mut all = Vec::new();
    for (target, method) in targets().into_iter().flat_map(|target| METHODS.map(|method| (target.clone(), method))) {
        let decision = decide(engine, method, &target, &nobody);
        if let Some(route) = decision.scope().and(decision.route_name()) {
            let method = method.to_owned();
            all.push((Asked::Call { method, target }, route.to_owned()));
        }
    }
    let scopes = callable_rows(engine).filter(|row| row.route.is_none());
    all.extend(scopes.map(|row| (Asked::Scope(row.scope.name().to_owned()), row.scope.name().to_owned())));
    all
}

fn ask<'e>(engine: &'e Engine, asked: &Asked, token: &(TokenKind, String)) -> Decision<'e> {
    match asked {
        Asked::Call { method, target } => decide(engine, method, target, token),
        Asked::Scope(name) => decide_scope(engine, name, token),
    }
}

/// Whether a request is allowed to a token with these scopes and not with one fewer.
fn is_smallest(engine: &Engine, asked: &Asked, token: &(TokenKind, String)) -> bool {
    let scopes: Vec<_> = token.1.split(' ').filter(|scope| !scope.is_empty()).collect();
    let mut fewer = scopes.iter().map(|left_out| {
        let fewer: Vec<_> = scopes.iter().filter(|scope| *scope != left_out).copied().collect();
        (token.0, fewer.join(" "))
    });
    ask(engine, asked, token).is_allow() && !fewer.any(|fewer| ask(engine, asked, &fewer).is_allow())
}

/// The rules by which requests are allowed against the property, each pair for `apart`; `None` where it says nothing.
fn brute_force(engine: &Engine, written: &Written) -> Option<BTreeSet<String>> {
    let mut all = everything(engine);
    for scope in SCOPES.iter().filter(|scope| written.calls.contains(&format!("scope {scope}"))) {
        engine.find_scope(scope)?;
        if !all.iter().any(|(asked, _)| *asked == Asked::Scope((*scope).to_owned())) && written.claim != "only" {
            all.push((Asked::Scope((*scope).to_owned()), (*scope).to_owned()));
        }
    }
    let reached =
        |calls: &str| calls.starts_with("scope ") || all.iter().any(|(asked, rule)| is_among(calls, asked, rule));
    if !written.calls.iter().all(|calls| reached(calls)) {
        return None;
    }
    // By a pattern nobody asks for a scope that has routes.
    let among = |calls: &str, asked: &Asked, rule: &str| {
        let has_routes = matches!(asked, Asked::Scope(_)) && engine.find_scope(rule).unwrap().routes().next().is_some();
        is_among(calls, asked, rule) && !(calls == "*" && has_routes)
    };
    let tokens = tokens().into_iter().filter(|token| written.is_of(token));
    let mut witnesses = BTreeSet::new();
    for token in tokens {
        let mut apart = [false; 2];
        // Of callers with any scopes, those count who have just what one of these calls needs.
        let mut counts = written.claim != "apart" || written.scopes.is_some();
        for (asked, rule) in &all {
            let decision = ask(engine, asked, &token);
            if !decision.is_allow() {
                continue;
            }
            let is_any = written.calls.iter().any(|calls| among(calls, asked, rule));
            let orbs = decision.charge().and_then(|charge| charge.amount);
            let is_wrong = match written.claim {
                "never" => is_any,
                "only" => !is_any,
                "apart" => {
                    for (met, calls) in apart.iter_mut().zip(&written.calls) {
                        *met |= among(calls, asked, rule);
                    }
                    counts = counts || is_any && is_smallest(engine, asked, &token);
                    false
                }
                most => {
                    let most: u64 = most.split(' ').nth(2).unwrap().parse().unwrap();
                    is_any && orbs.is_none_or(|orbs| orbs > most)
                }
            };
            if is_wrong {
                witnesses.insert(rule.clone());
            }
        }
        if apart == [true; 2] && counts {
            witnesses.insert("both".to_owned());
        }
    }
    Some(witnesses)
}

/// Holds a witness to the engine and to the words of the property.
fn judge(engine: &Engine, written: &Written, witness: &Witness<'_>) {
    let token = (witness.caller.kind, witness.caller.scopes.clone());
    assert!(written.is_of(&token), "{written:?} {witness}");
    let is_one_alternative = witness.requests.iter().any(|(asked, _)| is_smallest(engine, asked, &token));
    assert!(written.scopes.is_some() || is_one_alternative, "{written:?} {witness}");
    for (at, (asked, rule)) in witness.requests.iter().enumerate() {
        let decision = ask(engine, asked, &token);
        assert!(decision.is_allow(), "{witness}");
        assert_eq!(decision.route_name(), rule.route.map(|route| route.as_str()));
        let rule = decision.route_name().unwrap_or_default();
        let is_any = match written.claim {
            "apart" => is_among(&written.calls[at], asked, rule),
            _ => written.calls.iter().any(|calls| is_among(calls, asked, rule)),
        };
        assert_eq!(is_any, written.claim != "only", "{written:?} {witness}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_property_holds_where_brute_force_finds_nothing_against_it((policy, written) in (policies(), vec(written(), 3))) {
        let engine = engine(&policy.to_yaml());
        for written in written {
            let property: Property = written.line().parse().unwrap();
            let expected = brute_force(&engine, &written);
            let Ok(proof) = property.prove(&engine) else {
                prop_assert_eq!(None, expected, "{:?}", written);
                continue;
            };
            proof.witnesses.iter().for_each(|witness| judge(&engine, &written, witness));
            let rule = |witness: &Witness<'_>| match &witness.requests[..] {
                [(_, rule)] => rule.route.map_or_else(|| rule.scope.name(), |route| route.as_str()).to_owned(),
                _ => "both".to_owned(),
            };
            let witnesses: BTreeSet<_> = proof.witnesses.iter().map(rule).collect();
            prop_assert_eq!(Some(witnesses), expected, "{:?}", written);
        }
    }
}

/// A `*` within a literal is the literal of the policy, and never a pattern.
#[test]
fn a_property_can_name_a_literal_with_an_asterisk() {
    let engine = engine(
        "orbgate: 1\napis: { a: { base_path: '', scopes: { read: { orbs: false, routes: ['GET /a*b', 'GET /c/{id}'] } } } }\n",
    );
    let [against_it] = &against(&engine, "never | user read | GET /a*b")[..] else { panic!("nothing against it") };
    assert!(against_it.contains("GET /a*b"), "{against_it}");
    for pattern in ["/c/a*b", "/a*"] {
        let message = format!("error: no route of the policy decides `{pattern}`");
        let property = format!("never | user read | {pattern}");
        assert_eq!(against(&engine, &property), [message]);
    }
}
