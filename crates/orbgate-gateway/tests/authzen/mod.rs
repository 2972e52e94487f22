//! AuthZEN 1.0: the Core levels of its certification scenario, its interop decisions, and what callers must show.

mod explained;
mod scenario;

use std::fs;

use serde_json::{Value, json};

use crate::support::wire::{Answer, ask};
use crate::support::{Gateway, Issuer, folder, free_port};

const EVALUATION: &str = "/access/v1/evaluation";
/// The most bytes of a message.
const LARGEST: usize = 256 * 1024;
const EVALUATIONS: &str = "/access/v1/evaluations";

/// A decision point with a policy, or the built-in one.
struct Point {
    gateway: Gateway,
    issuer: Issuer,
    address: String,
}

impl Point {
    fn start(name: &str, policy: Option<&str>, authzen: &str) -> Self {
        let (issuer, folder) = (Issuer::start(), folder(&format!("authzen-{name}")));
        let address = format!("127.0.0.1:{}", free_port());
        let mut config = format!("audit: audit.jsonl\nlisteners: [{{ mode: authzen, listen: {address} }}]\n{authzen}");
        if let Some(text) = policy {
            fs::write(folder.join("policy.yaml"), text).unwrap();
            config += "policy: policy.yaml\n";
        }
        let gateway = Gateway::start(folder, &issuer, &config);
        Self { gateway, issuer, address }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let length = body.len();
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {length}\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        ask(&self.address, (request + "\r\n" + body).as_bytes())
    }

    fn post(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, &[("Content-Type", "application/json")], body)
    }

    /// What a right message is answered.
    fn answer(&self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, &body.to_string());
        assert_eq!(answer.status, 200, "{body} {answer:?}");
        assert_eq!(answer.header("content-type"), "application/json");
        serde_json::from_str(&answer.body).unwrap()
    }
}

/// A question about a route of the built-in policy.
fn asks(subject: Value, method: &str, kind: &str, id: &str) -> Value {
    json!({ "subject": subject, "action": { "name": method }, "resource": { "type": kind, "id": id } })
}

/// With one more member, or another value of it.
fn with(mut body: Value, member: &str, value: Value) -> Value {
    body[member] = value;
    body
}

#[test]
fn the_interop_decisions_for_api_gateways_are_ours() {
    let rows: Vec<_> = include_str!("api-gateways.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .collect();
    let policy = "orbgate: 1\napis:\n  todos:\n    base_path: ''\n    scopes:\n      \
        view: { orbs: false, routes: ['GET /users/{userId}', 'GET /todos'] }\n      \
        edit: { orbs: false, routes: ['POST /todos', 'PUT /todos/{todoId}', 'DELETE /todos/{todoId}'] }\n";
    // Rick, Morty and Summer may edit, Beth and Jerry may not.
    let mut subjects: Vec<_> = rows.iter().map(|row| row[0]).collect();
    subjects.dedup();
    assert_eq!((rows.len(), subjects.len()), (25, 5));
    let listed = subjects.iter().enumerate().map(|(at, id)| {
        let scopes = if at < 3 { "view edit" } else { "view" };
        format!("    - {{ type: identity, id: {id}, token_kind: user, scopes: {scopes} }}\n")
    });
    let authzen = format!("authzen:\n  subjects:\n{}", listed.collect::<String>());
    let point = Point::start("interop", Some(policy), &authzen);
    let mut both = [0; 2];
    for row in rows {
        let subject = json!({ "type": "identity", "id": row[0] });
        let answer = point.answer(EVALUATION, &asks(subject, row[1], "route", row[2]));
        assert_eq!(answer["decision"].to_string(), row[3], "{row:?} {answer}");
        both[usize::from(row[3] == "true")] += 1;
    }
    assert_eq!(both, [6, 19]);
}

#[test]
fn a_subject_is_known_by_its_token_by_the_list_or_by_what_who_asks_says() {
    let listed = "authzen:\n  subjects: [{ type: user, id: ann, token_kind: user, scopes: read:orbs }]\n";
    let point = Point::start("subjects", None, listed);
    let orbs = "/api/v1/external/orbs";
    let subject = |kind: &str, id: &str, properties: Value| json!({ "type": kind, "id": id, "properties": properties });
    let token = |scopes| point.issuer.token("user", scopes);
    let expired = point.issuer.expiring("user", "read:orbs", -600);
    let scopes = json!({ "scopes": "read:orbs" });
    let table = [
        (subject("user", "ann", json!({})), "scope_held"),
        // Nobody adds to the list, and a token says more than the list.
        (subject("user", "ann", json!({ "scopes": "read:account" })), "scope_held"),
        (subject("user", "ann", json!({ "token": token("read:account") })), "scope_missing"),
        (subject("user", "ann", json!({ "token": expired, "scopes": "read:orbs" })), "invalid_token"),
        (subject("any", "", json!({ "token": token("read:orbs") })), "scope_held"),
        (subject("user", "bea", scopes.clone()), "scope_held"),
        (subject("organisation", "acme", scopes.clone()), "scope_held"),
        (subject("user", "bea", json!({ "scopes": "" })), "scope_missing"),
        (subject("identity", "bea", scopes), "invalid_token"),
        (subject("user", "bea", json!({})), "no_token"),
        (subject("organisation", "ann", json!({ "role": "admin" })), "no_token"),
    ];
    for (subject, reason) in &table {
        for kind in ["route", "target"] {
            let answer = point.answer(EVALUATION, &asks(subject.clone(), "GET", kind, orbs));
            let address = format!("{subject} {kind} {answer}");
            assert_eq!(answer["decision"], *reason == "scope_held", "{address}");
            assert_eq!(answer["context"]["reason"], *reason, "{address}");
        }
    }
    // Each is counted and audited as every decision.
    let held = table.iter().filter(|(_, reason)| *reason == "scope_held").count();
    let counted = point.gateway.counted(&["orbgate_decisions_total", "scope_held"]);
    assert_eq!(counted, u64::try_from(2 * held).unwrap());
    assert_eq!(point.gateway.counted(&["orbgate_tokens_refused_total", "expired"]), 2);
    let Gateway { mut running, folder, .. } = point.gateway;
    running.signal("TERM");
    assert!(running.child.wait().unwrap().success());
    let audit = fs::read_to_string(folder.join("audit.jsonl")).unwrap();
    assert_eq!(audit.lines().count(), 2 * table.len());
    assert!(!audit.contains("eyJ"), "{audit}");
    // A token is there by its fingerprint, and a subject of the list has none.
    let lines = audit.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let by_token = lines.filter_map(|line| line["token"].as_str().map(str::len));
    let by_token: Vec<_> = by_token.collect();
    assert!(!by_token.is_empty() && by_token.iter().all(|len| *len >= 16), "{audit}");
}

#[test]
fn a_resource_is_a_route_a_target_a_scope_or_one_segment() {
    let authzen = "authzen:\n  actions: [{ name: view, method: GET }]\n  \
        resources: [{ type: file, path: '/api/v1/external/files/{id}' }]\n";
    let point = Point::start("resources", None, authzen);
    let all: Vec<_> = orbgate::Engine::external().scope_table().map(|scope| scope.name()).collect();
    let subject = json!({ "type": "user", "id": "a", "properties": { "scopes": all.join(" ") } });
    let table = [
        ("GET", "route", "/api/v1/external/files/{fileId}", "scope_held"),
        ("view", "route", "/api/v1/external/files/{fileId}", "scope_held"),
        ("GET", "route", "/api/v1/external/files/1", "no_route"),
        ("PUT", "route", "/api/v1/external/files/{fileId}", "no_route"),
        ("PUT", "target", "/api/v1/external/files/1?x=1", "method_not_declared"),
        ("get", "target", "/api/v1/external/files/1", "malformed_request"),
        ("GET", "target", "/api/v1/external/files/../orbs", "malformed_request"),
        ("GET", "target", "/api/v1/external/orbs#x", "malformed_request"),
        ("use", "scope", "write:inference", "scope_held"),
        ("GET", "scope", "write:inference", "no_route"),
        ("use", "scope", "write:all", "no_route"),
        ("view", "file", "1", "scope_held"),
        ("view", "file", "", "malformed_request"),
        ("view", "file", "..", "malformed_request"),
        ("view", "file", "%31", "malformed_request"),
    ];
    for (method, kind, id, reason) in table {
        let answer = point.answer(EVALUATION, &asks(subject.clone(), method, kind, id));
        assert_eq!(answer["context"]["reason"], reason, "{method} {kind} {id} {answer}");
        assert_eq!(answer["decision"], reason == "scope_held", "{answer}");
    }
    for (kind, id, status) in [("file", "1/x", 400), ("file", "1?x", 400), ("book", "1", 404)] {
        let answer = point.answer(EVALUATION, &asks(subject.clone(), "GET", kind, id));
        assert_eq!(answer["decision"], false);
        assert_eq!(answer["context"]["error"]["status"], status, "{kind} {id}");
    }
    // An organisation on inference, by the rule of the policy.
    let organisation = json!({ "type": "organisation", "id": "o", "properties": { "scopes": "" } });
    let answer = point.answer(EVALUATION, &asks(organisation, "use", "scope", "write:inference"));
    let ours =
        orbgate::Engine::external().decide_scope("write:inference", Some(orbgate::Token::organisation("")), false);
    assert_eq!(answer["context"]["reason"], ours.reason().as_str());
}

#[test]
fn a_search_finds_what_an_evaluation_allows() {
    let point = Point::start("search", None, "");
    let engine = orbgate::Engine::external();
    let scopes = "read:orbs write:voxies read:inference";
    let subject = json!({ "type": "user", "id": "a", "properties": { "scopes": scopes } });
    let mut count = 0;
    for (kind, names) in
        [("route", &["GET", "POST", "PATCH", "DELETE"][..]), ("target", &["GET", "POST"]), ("scope", &["use"])]
    {
        for name in names {
            let search = json!({ "subject": subject, "action": { "name": name }, "resource": { "type": kind } });
            let answer = point.answer("/access/v1/search/resource", &search);
            for result in answer["results"].as_array().unwrap() {
                assert_eq!(result["type"], kind);
                let id = result["id"].as_str().unwrap();
                assert_eq!(point.answer(EVALUATION, &asks(subject.clone(), name, kind, id))["decision"], true, "{id}");
                let resource = json!({ "subject": subject, "resource": { "type": kind, "id": id } });
                let actions = point.answer("/access/v1/search/action", &resource);
                assert!(actions["results"].as_array().unwrap().contains(&json!({ "name": name })), "{id} {actions}");
                count += usize::from(kind != "target");
            }
        }
    }
    // Only `use` is an action for a scope, and a target has no parameter.
    let search = |kind: &str, name: &str| {
        let search = json!({ "subject": subject, "action": { "name": name }, "resource": { "type": kind } });
        let answer = point.answer("/access/v1/search/resource", &search);
        answer["results"].as_array().unwrap().len()
    };
    assert_eq!(search("scope", "GET"), 0);
    assert!(search("target", "GET") > 0);
    let reached = orbgate_analysis::reach(engine, orbgate::Token::user(scopes)).count();
    assert_eq!(count, reached);
}

#[test]
fn each_semantic_ends_where_it_says() {
    let point = Point::start("semantics", None, "");
    let subject = json!({ "type": "user", "id": "a", "properties": { "scopes": "read:orbs" } });
    let orbs = json!({ "resource": { "type": "route", "id": "/api/v1/external/orbs" } });
    let other = json!({ "resource": { "type": "route", "id": "/api/v1/external/account" } });
    let table = [
        (json!({}), vec![&orbs, &other, &orbs], vec![true, false, true]),
        (json!({ "evaluations_semantic": "execute_all", "more": 1 }), vec![&other, &orbs], vec![false, true]),
        (json!({ "evaluations_semantic": "deny_on_first_deny" }), vec![&orbs, &other, &orbs], vec![true, false]),
        (json!({ "evaluations_semantic": "permit_on_first_permit" }), vec![&other, &orbs, &other], vec![false, true]),
    ];
    for (options, evaluations, expected) in table {
        let body =
            json!({ "subject": subject, "action": { "name": "GET" }, "options": options, "evaluations": evaluations });
        let answer = point.answer(EVALUATIONS, &body);
        let answers = answer["evaluations"].as_array().unwrap();
        let decisions: Vec<_> = answers.iter().map(|it| it["decision"] == true).collect();
        assert_eq!(decisions, expected, "{body}");
        assert!(answer.get("decision").is_none());
    }
    // What one says itself counts, for it alone.
    let stranger = json!({ "type": "user", "id": "b" });
    let body = json!({
        "subject": stranger, "action": { "name": "PUT" }, "resource": other["resource"],
        "evaluations": [
            with(with(orbs.clone(), "subject", subject.clone()), "action", json!({ "name": "GET" })),
            with(orbs.clone(), "action", json!({ "name": "GET" })),
            with(orbs.clone(), "subject", subject.clone()),
        ],
    });
    let answers = point.answer(EVALUATIONS, &body);
    let reasons = [0, 1, 2].map(|at| answers["evaluations"][at]["context"]["reason"].clone());
    assert_eq!(reasons, ["scope_held", "no_token", "no_route"]);
    // An invalid one among several is a denial, also by its type; it ends what a denial ends.
    for invalid in [json!(5), json!({ "action": { "name": 5 } }), json!([]), json!({})] {
        let body = json!({ "subject": subject, "action": { "name": "GET" }, "evaluations": [invalid, orbs] });
        let answer = point.answer(EVALUATIONS, &body);
        assert_eq!(answer["evaluations"][0]["decision"], false, "{body}");
        assert_eq!(answer["evaluations"][0]["context"]["error"]["status"], 400);
        assert_eq!(answer["evaluations"][1]["decision"], true);
        let mut ends = body.clone();
        ends["options"] = json!({ "evaluations_semantic": "deny_on_first_deny" });
        assert_eq!(point.answer(EVALUATIONS, &ends)["evaluations"].as_array().unwrap().len(), 1);
    }
    for wrong in [
        json!({ "options": { "evaluations_semantic": "first" }, "evaluations": [orbs] }),
        json!({ "options": [], "evaluations": [orbs] }),
        json!({ "evaluations": {} }),
        json!({ "subject": [], "evaluations": [orbs] }),
        json!({ "evaluations": vec![&orbs; 1_001] }),
        json!({ "subject": subject }),
    ] {
        assert_eq!(point.post(EVALUATIONS, &wrong.to_string()).status, 400, "{wrong}");
    }
}

#[test]
fn callers_show_a_token_with_the_scope_that_lets_them_ask() {
    let authzen = "authzen: { caller_scope: 'ask:decisions', url: 'https://pdp.example.com' }\n";
    let point = Point::start("callers", None, authzen);
    let body = asks(json!({ "type": "user", "id": "a" }), "GET", "route", "/api/v1/external/orbs").to_string();
    let with = |token: String, path: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("Content-Type", "application/json"), ("Authorization", &*bearer), ("X-Request-ID", "one")];
        point.send("POST", path, &headers, &body)
    };
    let right = point.issuer.token("organisation", "ask:decisions");
    assert_eq!(with(right.clone(), EVALUATION).status, 200);
    for (token, path, status) in [
        (point.issuer.token("user", "read:orbs"), EVALUATION, 403),
        (point.issuer.expiring("user", "ask:decisions", -600), EVALUATION, 401),
        (point.issuer.of_unknown_key(), EVALUATIONS, 401),
        ("x".to_owned(), "/access/v1/search/action", 401),
        (right, "/access/v1/other", 404),
    ] {
        let answer = with(token, path);
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.header("www-authenticate").is_empty(), status == 404);
        assert_eq!(answer.header("x-request-id"), "one");
    }
    assert_eq!(point.post(EVALUATION, &body).status, 401);
    let bearer = format!("Bearer {}", point.issuer.token("user", "ask:decisions"));
    for refused in [("X-HTTP-Method-Override", "DELETE"), ("Upgrade", "h2c")] {
        let headers = [("Content-Type", "application/json"), ("Authorization", &*bearer), refused];
        let answer = point.send("POST", EVALUATION, &headers, &body);
        assert_eq!(answer.status, 400, "{refused:?} {answer:?}");
    }
    // Everybody may know what there is.
    assert_eq!(point.send("GET", "/.well-known/authzen-configuration", &[], "").status, 200);
}

#[test]
fn past_its_connections_it_says_so() {
    let point = Point::start("full", None, "limits: { connections: 2 }\n");
    let body = asks(json!({ "type": "user", "id": "a" }), "GET", "route", "/").to_string();
    let silent = [(); 2].map(|()| std::net::TcpStream::connect(&point.address).unwrap());
    assert_eq!(point.post(EVALUATION, &body).status, 503);
    drop(silent);
}

#[test]
fn a_message_has_a_size_and_an_end() {
    let authzen = "limits: { idle_seconds: 1 }\n";
    let point = Point::start("size", None, authzen);
    for (bytes, status) in [(LARGEST, 400), (LARGEST + 1, 413), (300_000, 413)] {
        let message = format!("{{\"a\":\"{}\"}}", "a".repeat(bytes - 8));
        assert_eq!(message.len(), bytes);
        assert_eq!(point.post(EVALUATION, &message).status, status, "{bytes}");
    }
    let request = format!(
        "POST {EVALUATION} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{{"
    );
    assert_eq!(ask(&point.address, request.as_bytes()).status, 408);
}
