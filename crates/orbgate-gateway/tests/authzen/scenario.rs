//! The Core levels of the certification scenario, and its level Discovery, by the numbers of its sections:
//! `certification/authorization-api-1_0-scenario.md` in github.com/openid/authzen at e287920.

use serde_json::{Value, json};

use super::{EVALUATION, EVALUATIONS, Point, with};

const SUBJECTS: &str = "/access/v1/search/subject";
const RESOURCES: &str = "/access/v1/search/resource";
const ACTIONS: &str = "/access/v1/search/action";

/// The fixture's rules 1 to 4 (§1.4), and S1 to S3 (§1.5).
const POLICY: &str = "\
orbgate: 1
apis:
  records:
    base_path: ''
    scopes:
      read:records: { orbs: false, routes: [GET /records/record-1, GET /records/record-2] }
      write:records: { orbs: false, routes: [PUT /records/record-1, PUT /records/record-2] }
";

const FIXTURE: &str = "\
authzen:
  url: https://pdp.example.com
  subjects:
    - { type: user, id: alice, token_kind: user, scopes: 'read:records write:records' }
    - { type: user, id: bob, token_kind: user, scopes: 'read:records' }
  actions:
    - { name: read, method: GET }
    - { name: write, method: PUT }
    - { name: delete, method: DELETE }
  resources:
    - { type: record, path: '/records/{id}' }
";

fn user(id: &str) -> Value {
    json!({ "type": "user", "id": id })
}

fn record(id: &str) -> Value {
    json!({ "type": "record", "id": id })
}

fn action(name: &str) -> Value {
    json!({ "name": name })
}

fn fixture(subject: &str, name: &str) -> Value {
    json!({ "subject": user(subject), "action": action(name), "resource": record("record-1") })
}

fn without(mut body: Value, members: &[&str]) -> Value {
    let (last, path) = members.split_last().unwrap();
    let at = path.iter().fold(&mut body, |body, member| &mut body[member]);
    at.as_object_mut().unwrap().remove(*last).unwrap();
    body
}

fn decisions(answer: &Value) -> Vec<bool> {
    let answers = answer["evaluations"].as_array().unwrap();
    answers.iter().map(|it| it["decision"].as_bool().unwrap()).collect()
}

fn basic(point: &Point) {
    let context = json!({ "time": "2025-06-27T18:03-07:00", "ip": "192.168.1.1" });
    let alice = fixture("alice", "read");
    let mut more = alice.clone();
    more["subject"]["properties"] = json!({ "department": "Sales", "role": "manager" });
    more["action"]["properties"] = json!({ "method": "GET" });
    more["resource"]["properties"] = json!({ "status": "active", "owner": "bob" });
    let unknown = with(with(alice.clone(), "foo", json!("bar")), "futureField", json!({ "nested": true }));
    let table = [
        ("2.2.1, rule 1", alice.clone(), true),
        ("rule 2", fixture("alice", "write"), true),
        ("rule 3", fixture("bob", "read"), true),
        ("2.2.2, rule 4", fixture("bob", "write"), false),
        ("2.2.3", with(alice.clone(), "context", context), true),
        ("2.2.8", more, true),
        ("2.2.9", unknown, true),
        ("2.6", alice.clone(), true),
        ("2.6", alice.clone(), true),
    ];
    for (section, body, expected) in table {
        let answer = point.answer(EVALUATION, &body);
        assert_eq!(answer["decision"], expected, "{section}");
        assert!(answer["context"].is_object(), "2.3.2");
    }
    for members in [
        &["subject"][..],
        &["action"],
        &["resource"],
        &["subject", "type"],
        &["subject", "id"],
        &["action", "name"],
        &["resource", "type"],
        &["resource", "id"],
    ] {
        let answer = point.post(EVALUATION, &without(alice.clone(), members).to_string());
        assert_eq!(answer.status, 400, "2.4.1, 2.4.2: {members:?}");
        assert!(!answer.body.is_empty());
    }
    let text = alice.to_string();
    for kind in ["text/plain", "application/jsonp", "application/x-www-form-urlencoded"] {
        let answer = point.send("POST", EVALUATION, &[("Content-Type", kind)], &text);
        assert_eq!(answer.status, 400, "2.4.3");
    }
    assert_eq!(point.send("POST", EVALUATION, &[], &text).status, 400, "2.4.3");
    for body in ["{\"subject\":", "", "[]"] {
        assert_eq!(point.post(EVALUATION, body).status, 400, "2.4.4, 2.4.5: {body}");
    }
    for (member, value) in [("subject", json!("alice")), ("action", json!({ "name": 123 }))] {
        let body = with(alice.clone(), member, value).to_string();
        assert_eq!(point.post(EVALUATION, &body).status, 400, "2.4.6");
    }
    let headers = [("Content-Type", "application/json; charset=utf-8"), ("X-Request-ID", "bfe9eb29")];
    for (path, status) in [(EVALUATION, 200), (ACTIONS, 200), ("/access", 404)] {
        let answer = point.send("POST", path, &headers, &text);
        assert_eq!((answer.status, answer.header("x-request-id")), (status, "bfe9eb29"), "2.5.1");
    }
    assert_eq!(point.post(EVALUATION, &text).header("x-request-id"), "", "2.5.2");
    let other = point.send("GET", EVALUATION, &[], "");
    assert_eq!((other.status, other.header("allow")), (405, "POST"));
}

fn batch(point: &Point) {
    let (alice, bob) = (fixture("alice", "read"), fixture("bob", "write"));
    let items = json!([{ "resource": record("record-1") }, { "resource": record("record-2") }]);
    let usual = json!({ "subject": user("alice"), "action": action("read") });
    let context = json!([{ "resource": record("record-1") }, { "resource": record("record-2"), "context": { "source": "batch-override" } }]);
    let of_bob = json!({ "subject": user("bob"), "resource": record("record-1"), "evaluations": [{ "action": action("read") }, { "action": action("write") }] });
    let invalid = json!([{ "resource": record("record-1") }, {}]);
    let all = with(usual.clone(), "options", json!({ "evaluations_semantic": "execute_all" }));
    let table = [
        ("3.2.1", with(usual.clone(), "evaluations", items), vec![true, true]),
        ("3.2.2", of_bob, vec![true, false]),
        ("3.2.5", json!({ "evaluations": [alice, bob] }), vec![true, false]),
        ("3.2.6", with(with(usual, "context", json!({ "time": "x" })), "evaluations", context), vec![true, true]),
        ("3.4.1", with(all, "evaluations", invalid), vec![true, false]),
    ];
    for (section, body, expected) in table {
        assert_eq!(decisions(&point.answer(EVALUATIONS, &body)), expected, "{section}");
    }
    for body in [alice.clone(), with(alice, "evaluations", json!([]))] {
        assert_eq!(point.answer(EVALUATIONS, &body)["decision"], true, "3.4.2, 3.4.3");
    }
}

fn search(point: &Point) {
    let context = json!({ "time": "2025-06-27T18:03-07:00", "ip": "192.168.1.1" });
    let subjects = json!({ "subject": { "type": "user" }, "action": action("read"), "resource": record("record-1") });
    let resources = json!({ "subject": user("alice"), "action": action("read"), "resource": { "type": "record" } });
    let actions = json!({ "subject": user("alice"), "resource": record("record-1") });
    let table = [
        ("4.2.1", SUBJECTS, &subjects, vec![user("alice"), user("bob")]),
        ("4.3.1", RESOURCES, &resources, vec![record("record-1"), record("record-2")]),
        ("4.4.1", ACTIONS, &actions, vec![action("read"), action("write")]),
    ];
    for (section, path, body, expected) in &table {
        let id = |member, value| with((*body).clone(), member, value);
        for body in [
            (*body).clone(),
            id("context", context.clone()),
            id("page", json!({ "limit": 1 })),
            id("page", json!({ "token": "x" })),
        ] {
            let answer = point.answer(path, &body);
            let results = answer["results"].as_array().unwrap();
            assert!(expected.iter().all(|it| results.contains(it)), "{section} {answer}");
            assert!(answer.get("page").is_none(), "4.5.4");
        }
        assert_eq!(point.post(path, &id("page", json!(1)).to_string()).status, 400);
    }
    let reply = |path, body: &Value| point.answer(path, body);
    assert_eq!(reply(SUBJECTS, &with(subjects.clone(), "subject", user("alice"))), reply(SUBJECTS, &subjects), "4.2.3");
    assert_eq!(
        reply(RESOURCES, &with(resources.clone(), "resource", record("record-1"))),
        reply(RESOURCES, &resources),
        "4.3.3"
    );
    let writers = with(subjects.clone(), "action", action("write"));
    assert_eq!(reply(SUBJECTS, &writers)["results"], json!([user("alice")]), "rule 4");
    for (path, body) in [
        (ACTIONS, with(actions.clone(), "subject", user("nonexistent-user"))),
        (ACTIONS, with(actions.clone(), "resource", record("record-9"))),
        (ACTIONS, with(actions.clone(), "resource", json!({ "type": "spaceship", "id": "1" }))),
        (SUBJECTS, with(subjects.clone(), "subject", json!({ "type": "spaceship" }))),
        (SUBJECTS, with(subjects.clone(), "resource", record("record-9"))),
        (RESOURCES, with(resources.clone(), "subject", user("nonexistent-user"))),
        (RESOURCES, with(resources.clone(), "resource", json!({ "type": "spaceship" }))),
    ] {
        assert_eq!(reply(path, &body), json!({ "results": [] }), "4.6: {body}");
    }
    for (path, body) in [
        (SUBJECTS, without(subjects.clone(), &["action"])),
        (RESOURCES, without(resources.clone(), &["subject"])),
        (ACTIONS, without(actions.clone(), &["resource"])),
        (SUBJECTS, without(subjects, &["resource", "id"])),
        (RESOURCES, without(resources, &["subject", "id"])),
        (ACTIONS, without(actions, &["subject", "id"])),
    ] {
        assert_eq!(point.post(path, &body.to_string()).status, 400, "4.7: {body}");
    }
}

fn discovery(point: &Point) {
    let answer = point.send("GET", "/.well-known/authzen-configuration", &[], "");
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let actual: Value = serde_json::from_str(&answer.body).unwrap();
    let expected = json!({
        "policy_decision_point": "https://pdp.example.com",
        "access_evaluation_endpoint": "https://pdp.example.com/access/v1/evaluation",
        "access_evaluations_endpoint": "https://pdp.example.com/access/v1/evaluations",
        "search_subject_endpoint": "https://pdp.example.com/access/v1/search/subject",
        "search_resource_endpoint": "https://pdp.example.com/access/v1/search/resource",
        "search_action_endpoint": "https://pdp.example.com/access/v1/search/action",
    });
    assert_eq!(actual, expected, "6.3, 6.4");
}

#[test]
fn the_core_levels_of_the_certification_scenario_hold() {
    let point = Point::start("scenario", Some(POLICY), FIXTURE);
    basic(&point);
    batch(&point);
    search(&point);
    discovery(&point);
    let unnamed = Point::start("unnamed", None, "");
    let answer = unnamed.send("GET", "/.well-known/authzen-configuration", &[], "");
    assert_eq!(answer.status, 404, "6.6");
}
