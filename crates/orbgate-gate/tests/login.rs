//! What a gate answers if a token lacks scopes that it must earn (RFC 9470).

use std::sync::Arc;

use orbgate::{Decision, Engine, Policy, Reason};
use orbgate_gate::{
    Answer, Challenge, Credentials, FullChallenge, Gate, Matched, Mcp, McpRequest, Next, Request, Rules,
};
use orbgate_testing::signer::{AUDIENCE, ISSUER, NOW, Signer, claims, header, key_set, now, with};
use orbgate_token::{ClaimPath, ClaimTest, Derived, Issuer, Keys, KindRules, VerifiedToken, Verifier};
use serde_json::{Value, json};

use crate::answered;

const POLICY: &str = include_str!("../../../policy/cases/policies/step-up.yaml");

/// A token of this issuer with these scopes and claims.
fn token(derives: bool, scopes: &str, own: &Value) -> VerifiedToken {
    let issuer = Issuer::new(ISSUER, AUDIENCE, KindRules::named_by("token_kind", "user", "organisation"));
    let issuer = issuer.algorithms(orbgate_token::Algorithm::ALL).derive(if derives { derived() } else { vec![] });
    let signer = Signer::p256();
    let keys = Keys::new().with(ISSUER, key_set(&[signer.jwk("key-1")]));
    let mut claims = with(claims(), "scope", scopes);
    for (name, value) in own.as_object().unwrap() {
        claims = with(claims, name, value.clone());
    }
    let verifier = Verifier::new([issuer]).unwrap();
    verifier.verify(signer.token(&header(), &claims), &keys, now()).unwrap()
}

fn derived() -> Vec<Derived> {
    let roles = ClaimPath::nested(["realm_access", "roles"]);
    vec![
        Derived::always("earned:any-token"),
        Derived::new("earned:admin", [ClaimTest::contains(roles, "admin")]),
        Derived::new("earned:mfa", [ClaimTest::one_of("acr", ["phr", "phrh"])]),
        Derived::new("earned:strong", [ClaimTest::equals("acr", "phrh")]),
        Derived::new("earned:recent", [ClaimTest::within_seconds("auth_time", 300)]),
        Derived::new("earned:other", [ClaimTest::equals("acr", "other")]),
    ]
}

fn ask<'e>(rules: &Rules, engine: &'e Engine, line: &str, token: VerifiedToken) -> Answer<'e> {
    let (method, target) = line.split_once(' ').unwrap();
    let request = Request { method: method.as_bytes(), target: target.as_bytes(), ..Request::default() };
    answered(Gate::new(rules, ()).decide(engine, &request, Credentials::Token(token)))
}

fn engine(policy: &str) -> Engine {
    Engine::new(&Policy::from_yaml(policy).unwrap())
}

/// Reason, status and challenge.
fn told(answer: &Answer<'_>) -> (Reason, u16, Option<String>) {
    let denial = answer.denial.clone().unwrap();
    (answer.decision.reason(), denial.status, denial.www_authenticate.map(Into::into))
}

/// First the scopes that a client can request, then what no login gives, then the login.
#[test]
fn a_challenge_says_what_helps() {
    let engine = engine(POLICY);
    let mut rules = Rules::new();
    rules.challenge = Challenge::Full(FullChallenge::new().realm("orbs").unwrap());
    let (old, recent) = (json!(NOW - 4_000), json!(NOW - 10));
    let scope = (403, "insufficient_scope\", scope=\"write:account");
    let earned = (403, "insufficient_scope");
    let login = |text| (401, text);
    let table: [(&str, &str, Value, (u16, &str)); 17] = [
        ("DELETE /s/me", "", json!({ "auth_time": recent }), scope),
        ("DELETE /s/me", "", json!({}), scope),
        ("DELETE /s/me", "write:account", json!({}), login("max_age=\"300\"")),
        ("DELETE /s/me", "write:account", json!({ "auth_time": old }), login("max_age=\"300\"")),
        // A login replaces what the last one gave.
        ("POST /s/export", "write:account", json!({}), login("acr_values=\"phr phrh\", max_age=\"300\"")),
        ("POST /s/export", "write:account", json!({ "acr": "phr" }), login("acr_values=\"phr phrh\", max_age=\"300\"")),
        (
            "POST /s/export",
            "write:account",
            json!({ "acr": "low", "auth_time": recent }),
            login("acr_values=\"phr phrh\", max_age=\"300\""),
        ),
        // One value that is enough for both.
        ("PUT /s/export", "write:account", json!({}), login("acr_values=\"phrh\"")),
        ("PUT /s/export", "write:account", json!({ "acr": "phr" }), login("acr_values=\"phrh\"")),
        // No login gives both.
        ("PATCH /s/export", "write:account", json!({}), earned),
        ("PATCH /s/export", "write:account", json!({ "acr": "phr" }), earned),
        // A role comes from no login.
        ("GET /s/users", "write:account", json!({ "acr": "phrh", "auth_time": recent }), earned),
        ("DELETE /s/users", "", json!({}), earned),
        ("DELETE /s/users", "", json!({ "acr": "phr" }), earned),
        ("DELETE /s/users", "", json!({ "realm_access": { "roles": ["admin"] } }), login("acr_values=\"phr phrh\"")),
        // The owner's alternative, whatever the token has of another.
        ("GET /s/log", "root", json!({}), (403, "insufficient_scope\", scope=\"read:log")),
        ("GET /s/log", "read:log", json!({}), login("acr_values=\"phrh\"")),
    ];
    for (line, scopes, claims, (status, text)) in table {
        let (reason, error) = match status {
            401 => (Reason::InsufficientUserAuthentication, format!("insufficient_user_authentication\", {text}")),
            _ => (Reason::ScopeMissing, format!("{text}\"")),
        };
        let expected = Some(format!("Bearer realm=\"orbs\", error=\"{error}"));
        let answer = ask(&rules, &engine, line, token(true, scopes, &claims));
        assert_eq!(told(&answer), (reason, status, expected), "{line} {scopes} {claims}");
        // It names what `scope_missing` names.
        let (method, target) = line.split_once(' ').unwrap();
        let (method, target) = (method.as_bytes(), target.as_bytes());
        let token = answer.credentials.token();
        let own = engine.decide(&orbgate::Request { method, target, token, allow_bonus_orbs_use: false });
        let names = |decision: &Decision<'_>| {
            let scope = decision.scope().map(|scope| scope.name().to_owned());
            (decision.route_name().map(str::to_owned), scope, decision.about().map(|route| route.index()))
        };
        assert_eq!((own.reason(), names(&own)), (Reason::ScopeMissing, names(&answer.decision)));
    }
}

#[test]
fn an_issuer_that_derives_nothing_has_no_login_that_helps() {
    let engine = engine(POLICY);
    for line in ["DELETE /s/me", "POST /s/export"] {
        let answer = ask(&Rules::new(), &engine, line, token(false, "write:account", &json!({ "acr": "phr" })));
        assert_eq!(told(&answer), (Reason::ScopeMissing, 403, Some("Bearer".to_owned())));
    }
}

/// An organisation can't log in, so its token lacks what no login gives.
#[test]
fn an_organisation_is_never_sent_to_a_login() {
    let engine = engine(POLICY);
    let mut full = Rules::new();
    full.challenge = Challenge::Full(FullChallenge::new());
    for line in ["DELETE /s/me", "POST /s/export", "PUT /s/export"] {
        let held = |kind: &str| token(true, "write:account", &json!({ "token_kind": kind }));
        let answer = ask(&Rules::new(), &engine, line, held("organisation"));
        assert_eq!(told(&answer), (Reason::ScopeMissing, 403, Some("Bearer".to_owned())), "{line}");
        let answer = ask(&full, &engine, line, held("organisation"));
        assert_eq!(told(&answer).2.unwrap(), "Bearer error=\"insufficient_scope\"", "{line}");
        assert_eq!(ask(&full, &engine, line, held("user")).decision.reason(), Reason::InsufficientUserAuthentication);
    }
    // A scope that it can request comes first, and what its issuer states of it counts.
    let answer = ask(&full, &engine, "DELETE /s/me", token(true, "", &json!({ "token_kind": "organisation" })));
    assert_eq!(told(&answer).2.unwrap(), "Bearer error=\"insufficient_scope\", scope=\"write:account\"");
    let recent = json!({ "token_kind": "organisation", "auth_time": NOW - 10 });
    assert!(ask(&full, &engine, "DELETE /s/me", token(true, "write:account", &recent)).denial.is_none());
}

/// nginx reads the headers of a response into 4,096 bytes.
#[test]
fn a_challenge_fits_into_the_buffer_of_a_proxy() {
    const MOST: usize = 1_024;
    let names: Vec<_> = (0..40).map(|number| format!("{number:0>30}")).collect();
    let policy = |most: usize| {
        let and = names[..most].join(" ");
        let scopes: String = names[..most].iter().map(|name| format!("'{name}': {{ routes: [] }}, ")).collect();
        let own = "a".repeat(MOST);
        format!(
            "orbgate: 1\norbs: none\napis: {{ a: {{ base_path: '', scopes: {{ {scopes} {own}: {{ routes: [GET /a] }}, \
             b: {{ and: '{and}', routes: [GET /b] }} }} }} }}\n"
        )
    };
    let url = format!("https://a.example/{}", "a".repeat(MOST - 18));
    let full = FullChallenge::new().realm(&"r".repeat(MOST)).unwrap().resource_metadata(&url).unwrap();
    assert!(FullChallenge::new().realm(&"r".repeat(MOST + 1)).is_err());
    assert!(FullChallenge::new().resource_metadata(&format!("{url}a")).is_err());
    assert!(Mcp::new("/mcp").unwrap().initial_scopes(&"s".repeat(MOST + 1)).is_err());
    for (scopes, kept) in [("a  earned:b ", "a"), (" a  b", "a b"), ("earned:b", ""), ("", "")] {
        assert_eq!(Mcp::new("/mcp").unwrap().initial_scopes(scopes).unwrap().scopes(), kept, "{scopes}");
    }
    let mut rules = Rules::new();
    rules.challenge = Challenge::Full(full);
    // 33 names of 30 characters and the owner's fit, 34 don't.
    for (most, target, is_named) in [(1, "GET /a", true), (32, "GET /b", true), (34, "GET /b", false)] {
        let engine = engine(&policy(most));
        let told = told(&ask(&rules, &engine, target, token(true, "", &json!({}))));
        let challenge = told.2.unwrap();
        assert_eq!((told.0, told.1), (Reason::ScopeMissing, 403));
        assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
        assert_eq!(challenge.contains("scope=\""), is_named, "{challenge}");
        assert!(challenge.len() < 3_300, "{}", challenge.len());
    }
    let issuer = |values: &[String]| {
        let kind = KindRules::named_by("token_kind", "user", "organisation");
        let strong = ClaimTest::one_of("acr", values.to_vec());
        Verifier::new([Issuer::new(ISSUER, AUDIENCE, kind).derive([Derived::new("earned:mfa", [strong])])])
    };
    assert!(issuer(&names[..33]).is_ok());
    let error = issuer(&names[..34]).unwrap_err().to_string();
    assert!(error.contains("the values of `acr` have 1053 bytes"), "{error}");
}

#[test]
fn only_a_challenge_that_is_hidden_hides_a_login() {
    let engine = engine(POLICY);
    let told = |change: fn(&mut Rules)| {
        let mut rules = Rules::new();
        change(&mut rules);
        told(&ask(&rules, &engine, "DELETE /s/me", token(true, "write:account", &json!({}))))
    };
    let login = "Bearer error=\"insufficient_user_authentication\", max_age=\"300\"";
    let reason = Reason::InsufficientUserAuthentication;
    assert_eq!(told(|_| {}), (reason, 401, Some(login.to_owned())));
    assert_eq!(told(|rules| rules.flat_403 = true), (reason, 403, Some("Bearer".to_owned())));
    assert_eq!(told(|rules| rules.challenge = Challenge::None), (reason, 403, None));
    let none = told(|rules| (rules.flat_403, rules.challenge) = (true, Challenge::None));
    assert_eq!(none, (reason, 403, None));
    let url = "https://api.example.com/.well-known/oauth-protected-resource";
    let full = told(|rules| {
        let url = "https://api.example.com/.well-known/oauth-protected-resource";
        rules.challenge = Challenge::Full(FullChallenge::new().resource_metadata(url).unwrap());
    });
    assert_eq!(full, (reason, 401, Some(format!("{login}, resource_metadata=\"{url}\""))));
}

/// An organisation can't log in, and no client requests earned scopes.
#[test]
fn a_token_of_the_wrong_kind_is_asked_for_no_earned_scope() {
    let policy = "orbgate: 1\napis: { a: { base_path: '', token: user, organisation: deny, scopes: { \
        earned:recent: { orbs: false, routes: [GET /a] }, \
        write:a: { orbs: false, routes: [{ route: PUT /a, and: earned:recent }] } } } }\n";
    let engine = engine(policy);
    let mut rules = Rules::new();
    rules.challenge = Challenge::Full(FullChallenge::new());
    for (line, scope) in [("GET /a", ""), ("PUT /a", ", scope=\"write:a\"")] {
        let answer = ask(&rules, &engine, line, token(true, "", &json!({ "token_kind": "organisation" })));
        let challenge = format!("Bearer error=\"insufficient_scope\"{scope}");
        assert_eq!(told(&answer), (Reason::UserTokenRequired, 403, Some(challenge)));
    }
}

#[test]
fn mcp_clients_get_initial_scopes_only_to_start_with() {
    let policy = "orbgate: 1\napis: { a: { base_path: /mcp, scopes: { mcp:connect: { orbs: false, routes: [MCP /tools/list] }, \
        write:a: { orbs: false, routes: [MCP /tools/call/write, { route: MCP /tools/call/delete, and: earned:recent }, \
        { route: MCP /tools/call/wipe, and: earned:admin }] }, earned:recent: { routes: [] }, earned:admin: { routes: [] } } } }\n";
    let engine = engine(policy);
    let mut rules = Rules::new();
    rules.mcp = Some(Arc::new(Mcp::new("/mcp").unwrap().initial_scopes("mcp:connect").unwrap()));
    let request =
        Request { method: b"POST", target: b"/mcp", matched: Matched::Template("/mcp"), ..Request::default() };
    let call = |tool: &str, credentials: Credentials<VerifiedToken>| {
        let next = Gate::new(&rules, ()).decide(&engine, &request, credentials);
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": {} } });
        let body = body.to_string();
        let message = McpRequest { headers: &[(b"content-type", b"application/json")], body: Ok(body.as_bytes()) };
        match next {
            Next::ReadBody(reading) => told(&rules.decide_body(&engine, reading, message)),
            Next::Answer(answer) => told(&answer),
        }
    };
    let held = || Credentials::Token(token(true, "write:a", &json!({})));
    let none = || Credentials::Token(token(true, "mcp:connect", &json!({})));
    let bearer = |rest: &str| Some(format!("Bearer {rest}"));
    let login = "error=\"insufficient_user_authentication\", max_age=\"300\"";
    assert_eq!(call("delete", held()), (Reason::InsufficientUserAuthentication, 401, bearer(login)));
    let scope = "error=\"insufficient_scope\", scope=\"write:a\"";
    assert_eq!(call("delete", none()), (Reason::ScopeMissing, 403, bearer(scope)));
    assert_eq!(call("wipe", held()), (Reason::ScopeMissing, 403, bearer("error=\"insufficient_scope\"")));
    assert_eq!(call("write", Credentials::None), (Reason::NoToken, 401, bearer("scope=\"mcp:connect\"")));
    let invalid = "error=\"invalid_token\", scope=\"mcp:connect\"";
    assert_eq!(call("write", Credentials::Refused("expired")), (Reason::InvalidToken, 401, bearer(invalid)));
    let unreadable = "error=\"invalid_request\", scope=\"mcp:connect\"";
    assert_eq!(call("write", Credentials::Unreadable), (Reason::InvalidToken, 401, bearer(unreadable)));
}

/// The page's policy and issuer, with the claims that Keycloak writes.
#[test]
fn the_pages_example_does_what_it_says() {
    let page = include_str!("../../../docs/earned.md");
    let block = |name: &str| page.split_once(&format!("```yaml\n# {name}\n")).unwrap().1.split_once("```").unwrap().0;
    let (engine, verifier) = (engine(block("policy.yaml")), Verifier::from_yaml(block("tokens.yaml")).unwrap());
    let issuer = "https://id.example.com/realms/shop";
    let signer = Signer::rsa();
    let keys = Keys::new().with(issuer, key_set(&[signer.jwk("key-1")]));
    let header = json!({ "alg": "RS256", "typ": "JWT", "kid": "key-1" });
    let told = |line: &str, own: &Value| {
        let mut claims =
            json!({ "iss": issuer, "aud": AUDIENCE, "sub": "8b0c", "azp": "web", "typ": "Bearer", "exp": NOW + 600 });
        claims.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let token = verifier.verify(signer.token(&header, &claims), &keys, now()).unwrap();
        let answer = ask(&Rules::new(), &engine, line, token);
        let denial = answer.denial.map(|denial| (denial.status, denial.www_authenticate.unwrap().into_owned()));
        denial.unwrap_or((200, String::new()))
    };
    let (any, allowed, refused) = (json!({}), (200, String::new()), (403, "Bearer".to_owned()));
    assert_eq!(told("GET /me", &any), allowed);
    assert_eq!(told("GET /users", &any), refused);
    assert_eq!(told("GET /users", &json!({ "realm_access": { "roles": ["user", "admin"] } })), allowed);
    let with_login = |ago: u64| json!({ "scope": "write:account", "auth_time": NOW - ago });
    assert_eq!(told("DELETE /me", &with_login(20)), allowed);
    let shown = page.split_once("\nWWW-Authenticate: ").unwrap().1.lines().next().unwrap();
    assert_eq!(told("DELETE /me", &with_login(900)), (401, shown.to_owned()));
    assert_eq!(told("DELETE /me", &json!({ "scope": "openid", "auth_time": NOW })), refused);
}
