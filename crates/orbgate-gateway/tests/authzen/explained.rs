//! Denials that the log explains.

use orbgate::{Engine, Grant, Request, Scopes, Token, TokenKind};
use orbgate_analysis::{explain, explain_route, explain_scope};
use serde_json::{Value, json};

use super::{EVALUATION, EVALUATIONS, Point, asks, with};
use crate::support::Running;

#[test]
fn a_denial_is_explained_in_the_log_on_request() {
    let resources = "authzen: { resources: [{ type: file, path: '/api/v1/external/file/{id}' }] }\n";
    let point = Point::start("quiet", None, resources);
    let mut debug = Point::start("debug", None, &format!("debug: true\n{resources}"));
    let engine = Engine::external();
    let has = |point: &Point| json!({ "type": "user", "id": "a", "properties": { "token": point.issuer.token("user", "read:files") } });
    let forged = json!({ "type": "user", "id": "a", "properties": { "token": "eyJub.nonsense.secret" } });
    let user = Some(Token::user("read:files"));
    let unknown = Some(Token { kind: TokenKind::Unknown, scopes: Scopes::Text(b"") });
    let call = |target: &str, token| {
        let call = Request { method: b"GET", target: target.as_bytes(), token, allow_bonus_orbs_use: false };
        explain(engine, &call, &Grant::default())
    };
    let scope = |scope: &str, token| explain_scope(engine, scope, token, false, &Grant::default());
    let (keys, orb) = ("/api/v1/external/keys", "/api/v1/external/orb");
    let route = engine.find_route("GET", keys).unwrap().id();
    let route = explain_route(engine, route, user, false, &<_>::default());
    let table = [
        (has(&debug), "GET", "target", "/api/v1/external/orb?secret=1", orb, call(orb, user)),
        (forged, "GET", "target", keys, keys, call(keys, unknown)),
        (json!({ "type": "user", "id": "a" }), "GET", "target", keys, keys, call(keys, None)),
        (has(&debug), "GET", "file", "1", "/api/v1/external/file/1", call("/api/v1/external/file/1", user)),
        (has(&debug), "GET", "route", keys, keys, route),
        (has(&debug), "GET", "route", orb, orb, scope("", user)),
        (has(&debug), "use", "scope", "read:keys", "read:keys", scope("read:keys", user)),
    ];
    let explained = |running: &Running| {
        let log = running.said();
        assert!(!["secret", "nonsense", "eyJ"].iter().any(|it| log.contains(it)), "{log}");
        let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let lines = lines.filter(|line| line["fields"]["message"] == "a call is denied");
        lines.map(|line| line["fields"].clone()).collect::<Vec<_>>()
    };
    // None of these is explained: a denial without `debug`, an allow, an invalid question, a search.
    point.answer(EVALUATION, &asks(has(&point), "GET", "target", keys));
    let allowed = asks(has(&debug), "GET", "target", "/api/v1/external/files/1");
    assert_eq!(debug.answer(EVALUATION, &allowed)["decision"], true);
    debug.answer(EVALUATION, &asks(has(&debug), "GET", "other", "1"));
    let search = json!({ "subject": has(&debug), "resource": { "type": "target", "id": keys } });
    debug.answer("/access/v1/search/action", &search);
    for (at, (subject, action, kind, id, path, explanation)) in table.iter().enumerate() {
        let question = asks(subject.clone(), action, kind, id);
        // In a list of several, a denial is explained as well.
        let (endpoint, body) = match at % 2 {
            0 => (EVALUATION, question),
            _ => (EVALUATIONS, json!({ "evaluations": [question] })),
        };
        debug.answer(endpoint, &body);
        let wanted = json!({ "message": "a call is denied", "method": action, "path": path });
        let text = serde_json::to_string(explanation).unwrap();
        assert!(text.contains(r#""decision":"deny""#), "{text}");
        let running = &mut debug.gateway.running;
        running.until("the denial is explained", |it| explained(it).len() > at);
        let lines = explained(running);
        assert_eq!(lines.len(), at + 1, "{lines:?}");
        assert_eq!(lines[at], with(wanted, "explanation", text.into()));
    }
    // `explain` gets no query, so it would answer `allow`.
    let malformed = asks(has(&debug), "GET", "target", "/api/v1/external/files/1?secret#");
    let decision = debug.answer(EVALUATION, &malformed)["context"].take();
    assert_eq!(decision["detail"], "fragment");
    let running = &mut debug.gateway.running;
    running.until("it is explained", |it| explained(it).len() > table.len());
    let explanation = explained(running).pop().unwrap()["explanation"].take();
    let explanation: Value = serde_json::from_str(explanation.as_str().unwrap()).unwrap();
    assert_eq!(explanation, decision);
    assert!(explained(&point.gateway.running).is_empty());
}
