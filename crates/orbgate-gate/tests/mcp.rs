//! MCP endpoints: the shared requests, the order of answers, and an oracle that reads bodies in another way.

mod oracle;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orbgate::{Decision, Detail, Engine, Policy, Reason, Token, TokenKind};
use orbgate_gate::{
    Answer, Challenge, CorsPreflight, Credentials, FullChallenge, Gate, Legacy, Matched, Mcp, McpFault, McpRequest,
    Metadata, Next, PublicRoutes, Request, ResponseHeaders, Rules, Unpaid, Verified, check_routes,
};
use orbgate_token::Verifier;
use serde_json::{Value, json};

use crate::{answered, reading};

const POLICY: &str = include_str!("../../../policy/cases/mcp/policy.yaml");
const REQUESTS: &str = include_str!("../../../policy/cases/mcp/requests.jsonl");
const VISIBLE: &str = include_str!("../../../policy/cases/mcp/visible.jsonl");
const MCP: Matched<'_> = Matched::Template("/mcp");

#[derive(Clone, Debug, PartialEq, Eq)]
struct Holder(&'static str);

impl Verified for Holder {
    fn token(&self) -> Token<'_> {
        Token { kind: TokenKind::User, scopes: self.0.into() }
    }
}

fn engine(policy: &str) -> Engine {
    Engine::new(&Policy::from_yaml(policy).unwrap())
}

fn rules(mcp: Mcp) -> Rules {
    let mut rules = Rules::new();
    rules.mcp = Some(Arc::new(mcp));
    rules
}

fn mcp() -> Mcp {
    Mcp::new("/mcp").unwrap().initial_scopes("mcp:connect earned:any-token").unwrap()
}

fn open<'e>(rules: &Rules, engine: &'e Engine, method: &str, target: &str, scopes: &'static str) -> Answer<'e, Holder> {
    answered(from(rules, engine, (method, target), scopes, &[]))
}

/// The same from pages.
fn from<'e>(
    rules: &Rules,
    engine: &'e Engine,
    (method, target): (&str, &str),
    scopes: &'static str,
    origin: &[&[u8]],
) -> Next<'e, Holder> {
    let (method, target) = (method.as_bytes(), target.as_bytes());
    let request = Request { method, target, origin, matched: MCP, ..Request::default() };
    Gate::new(rules, ()).decide(engine, &request, Credentials::Token(Holder(scopes)))
}

type Line<'a> = (&'a [u8], &'a [u8]);

/// A POST to the endpoint, whose body is read.
fn post<'e>(
    rules: &Rules,
    engine: &'e Engine,
    scopes: &'static str,
    headers: &[Line<'_>],
    body: &[u8],
) -> Answer<'e, Holder> {
    let reading = reading(from(rules, engine, ("POST", "/mcp"), scopes, &[]));
    assert_eq!(reading.most_bytes(), 4 << 20);
    rules.decide_body(engine, reading, McpRequest { headers, body: Ok(body) })
}

const JSON: Line<'_> = (b"content-type", b"application/json");

fn call(name: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name } }).to_string()
}

fn error(answer: &Answer<'_, Holder>) -> Value {
    let body = answer.denial.as_ref().unwrap().body.as_deref().unwrap();
    serde_json::from_slice(body).unwrap()
}

#[test]
fn the_shared_requests_have_the_written_answers() {
    let (engine, rules) = (engine(POLICY), rules(mcp().origins(["https://app.example"]).unwrap()));
    let mut count = [0; 3];
    for line in REQUESTS.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let name = row["name"].as_str().unwrap();
        count[["fine", "hostile", "legacy"].iter().position(|it| *it == row["group"]).unwrap()] += 1;
        let headers = row["headers"].as_array().unwrap().iter();
        let headers: Vec<_> = headers.map(|line| line.as_str().unwrap().split_once(": ").unwrap()).collect();
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let body = match &row["body_base64"] {
            Value::String(encoded) => STANDARD.decode(encoded).unwrap(),
            _ => row["body"].as_str().unwrap().into(),
        };
        let scopes = "mcp:connect orders:read";
        let origin: Vec<_> = headers.iter().filter(|(name, _)| *name == b"Origin").map(|(_, value)| *value).collect();
        let answer = match from(&rules, &engine, ("POST", "/mcp"), scopes, &origin) {
            Next::ReadBody(reading) => {
                let request = McpRequest { headers: &headers, body: Ok(&body) };
                rules.decide_body(&engine, reading, request)
            }
            Next::Answer(answer) => answer,
        };
        let call = answer.mcp.as_ref().unwrap();
        let status = answer.denial.as_ref().map_or(200, |denial| u64::from(denial.status));
        assert_eq!(Some(status), row["status"].as_u64(), "{name}: {answer:?}");
        assert_eq!(answer.decision.is_allow(), status == 200, "{name}");
        assert_eq!(call.target(), row["target"].as_str(), "{name}");
        assert_eq!(call.fault().map(McpFault::as_str), row["fault"].as_str(), "{name}");
        let body = answer.denial.as_ref().and_then(|denial| denial.body.as_deref());
        assert_eq!(body.is_some(), matches!(status, 400 | 402 | 404), "{name}");
        if let Some(body) = body {
            let text = str::from_utf8(body).unwrap();
            assert!(serde_json::from_str::<Value>(text).unwrap()["error"]["code"].is_i64(), "{name}");
            let id = row["id"].as_str().map_or(String::new(), |id| format!("\"id\":{id},"));
            assert!(text.starts_with(&format!("{{\"jsonrpc\":\"2.0\",{id}\"error\":")), "{name}: {text}");
        }
        if let Some(scope) = row["scope"].as_str() {
            let challenge = answer.denial.as_ref().unwrap().www_authenticate.as_deref();
            assert_eq!(challenge.unwrap(), format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\""), "{name}");
        }
    }
    assert_eq!(count, [14, 116, 32]);
}

#[test]
fn no_request_has_the_virtual_method() {
    let engine = engine(POLICY);
    for rules in [Rules::new(), rules(mcp())] {
        for target in ["/mcp/tools/call/refund", "/mcp", "/mcp/initialize", "/x"] {
            let answer = open(&rules, &engine, "MCP", target, "mcp:connect orders:read orders:write");
            let actual = (answer.decision.reason(), answer.decision.detail());
            assert_eq!(actual, (Reason::MalformedRequest, Some(Detail::Method)), "{target}");
        }
        // Nor does a path below the endpoint belong to it, and no `Allow` shows the method.
        for method in ["POST", "GET"] {
            let answer = open(&rules, &engine, method, "/mcp/tools/call/refund", "orders:write");
            let denial = answer.denial.unwrap();
            assert_eq!((denial.status, denial.allow, answer.decision.reason()), (404, None, Reason::NoRoute));
        }
    }
    // A browser can't ask for it either.
    let mut rules = rules(mcp().origins(["https://app.example"]).unwrap());
    rules.cors_preflight = CorsPreflight::Pass;
    for (target, status) in [("/mcp", 204), ("/mcp/tools/call/refund", 401)] {
        let request = Request {
            method: b"OPTIONS",
            target: target.as_bytes(),
            origin: &[b"https://app.example"],
            access_control_request_method: &[b"MCP"],
            ..Request::default()
        };
        let denial = answered(Gate::new(&rules, ()).decide::<Holder>(&engine, &request, Credentials::None)).denial;
        let denial = denial.unwrap();
        let is_named = denial.headers.iter().any(|(_, value)| value.split(", ").any(|name| name == "MCP"));
        assert_eq!((denial.status, is_named), (status, false), "{target}");
    }
}

/// The names and values of a response's headers.
fn lines(headers: &ResponseHeaders) -> Vec<(&str, &str)> {
    headers.iter().map(|(name, value)| (*name, &**value)).collect()
}

#[test]
fn a_browser_s_question_is_answered_for_the_pages_of_the_endpoint() {
    let engine = engine(POLICY);
    let page: &[&[u8]] = &[b"https://app.example"];
    let ask = |rules: &Rules, origin: &[&[u8]], requested: &[&[u8]]| {
        let request = Request {
            method: b"OPTIONS",
            target: b"/mcp",
            origin,
            access_control_request_method: &[b"POST"],
            access_control_request_headers: requested,
            matched: Matched::Unknown,
            ..Request::default()
        };
        answered(Gate::new(rules, ()).decide::<Holder>(&engine, &request, Credentials::None))
    };
    let sent = "accept, authorization, content-type, dpop, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id";
    let mut rules = rules(mcp().origins(["https://app.example"]).unwrap());
    for flat in [false, true] {
        rules.flat_403 = flat;
        let asked: &[(&[&[u8]], &[&str])] = &[
            (&[], &[]),
            (&[b"authorization,content-type,x-other"], &[]),
            (&[b"mcp-param-region, x-other,MCP-PARAM-a.b"], &["mcp-param-region", "mcp-param-a.b"]),
            (&[b"mcp-param-a", b"mcp-param-b"], &["mcp-param-a", "mcp-param-b"]),
            (&[b"mcp-param-,mcp-params-a,mcp-param-\xc3\xa9,mcp-param-a b,mcp-param-a\r\nx: y"], &[]),
        ];
        for (requested, more) in asked {
            let answer = ask(&rules, page, requested);
            assert!(answer.decision.is_allow() && !answer.preflight && answer.mcp.is_none());
            let denial = answer.denial.unwrap();
            let allowed = [&[sent], *more].concat().join(", ");
            let expected = [
                ("vary", "Origin"),
                ("access-control-allow-origin", "https://app.example"),
                ("access-control-expose-headers", "WWW-Authenticate, Mcp-Session-Id"),
                ("access-control-allow-methods", "POST, GET, DELETE"),
                ("access-control-allow-headers", &*allowed),
                ("access-control-max-age", "3600"),
            ];
            assert_eq!((denial.status, denial.body.as_deref(), lines(&denial.headers)), (204, None, expected.to_vec()));
        }
        // Not for another page, for none, and for two.
        for origin in
            [&[][..], &[&b""[..]], &[b"https://evil.example"], &[page[0], page[0]], &[page[0], b"https://evil.example"]]
        {
            let denial = ask(&rules, origin, &[b"mcp-param-a"]).denial.unwrap();
            assert_ne!(denial.status, 204);
            assert_eq!(lines(&denial.headers), [("vary", "Origin")], "{origin:?}");
        }
    }
    // Without the setting, no page is known.
    let denial = ask(&self::rules(mcp()), page, &[]).denial.unwrap();
    assert_eq!((denial.status, denial.headers), (403, Vec::new()));
}

#[test]
fn every_response_of_the_endpoint_can_be_read_by_its_pages() {
    let engine = engine(POLICY);
    let mut rules = rules(mcp().origins(["https://app.example"]).unwrap());
    let page = [
        ("vary", "Origin"),
        ("access-control-allow-origin", "https://app.example"),
        ("access-control-expose-headers", "WWW-Authenticate, Mcp-Session-Id"),
    ];
    for (origin, expected) in [(&[&b"https://app.example"[..]][..], &page[..]), (&[], &page[..1]), (&[b""], &page[..1])]
    {
        for flat in [false, true] {
            rules.flat_403 = flat;
            for (scopes, body, is_allowed) in
                [("orders:read", call("list_orders"), true), ("", call("refund"), false), ("", "{".to_owned(), false)]
            {
                let Next::ReadBody(reading) = from(&rules, &engine, ("POST", "/mcp"), scopes, origin) else {
                    panic!("the body names the operation");
                };
                let answer =
                    rules.decide_body(&engine, reading, McpRequest { headers: &[JSON], body: Ok(body.as_bytes()) });
                assert_eq!(answer.denial.is_none(), is_allowed);
                assert_eq!(lines(answer.denial.as_ref().map_or(&answer.headers, |denial| &denial.headers)), expected);
                if is_allowed {
                    // A router has chosen another route, or the orbs aren't there.
                    let misrouted = rules.routed(&engine, answer.clone(), Matched::Template("/other"));
                    let unpaid = rules.unpaid(answer, Unpaid::Unavailable);
                    for answer in [misrouted, unpaid] {
                        assert_eq!(
                            (lines(&answer.denial.unwrap().headers), answer.headers),
                            (expected.to_vec(), vec![])
                        );
                    }
                }
            }
            // What isn't a message, and what has no token.
            let denied = answered(from(&rules, &engine, ("GET", "/mcp"), "", origin)).denial.unwrap();
            let request = Request { method: b"POST", target: b"/mcp", origin, ..Request::default() };
            let bare =
                answered(Gate::new(&rules, ()).decide::<Holder>(&engine, &request, Credentials::None)).denial.unwrap();
            for denial in [denied, bare] {
                assert_eq!(lines(&denial.headers), expected);
            }
        }
    }
}

const RESOURCES: &str = "orbgate: 1\ntarget: encoded_params\napis:\n  shop:\n    base_path: /mcp\n    scopes:\n      \
    listen: { orbs: false, routes: [MCP /subscriptions/listen, MCP /resources/subscribe, MCP /resources/unsubscribe] }\n      \
    read: { orbs: false, routes: ['MCP /resources/read/orders:/{id}', 'MCP /resources/read/file:/~/{a}', \
    'MCP /resources/read/file:/~/{a}/{b}', MCP /prompts/get/summary] }\n      \
    secret: { orbs: 5, routes: [MCP /resources/read/orders:/secret, 'MCP /resources/read/file:/~/{a}/secret', MCP /prompts/get/plan] }\n";

fn message(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

#[test]
fn resources_are_decided_by_their_declared_routes() {
    let (engine, rules) = (engine(RESOURCES), rules(mcp()));
    let read = |uri: &str| message("resources/read", &json!({ "uri": uri }));
    let subscribe = |uri: &str| message("resources/subscribe", &json!({ "uri": uri }));
    let listen =
        |uris: &[&str]| message("subscriptions/listen", &json!({ "notifications": { "resourceSubscriptions": uris } }));
    let of_template =
        |uri: &str| message("completion/complete", &json!({ "ref": { "type": "ref/resource", "uri": uri } }));
    let of_prompt =
        |name: &str| message("completion/complete", &json!({ "ref": { "type": "ref/prompt", "name": name } }));
    let (no, undeclared, malformed) = (403, 404, 400);
    for (body, scopes, status) in [
        (read("orders://a%20b"), "read", 200),
        (read("file:///a%20b/c%3Ad"), "read", 200),
        (read("orders://a%2fb"), "read", malformed),
        (read("file:///a%2Fb"), "read", malformed),
        (read("file:///%61"), "read", malformed),
        (read("file:///%2e%2e"), "read", malformed),
        (read("file:///a%"), "read", malformed),
        (read("file:///a%00"), "read", malformed),
        (read("file:///a/%73ecret"), "read", malformed),
        (read("file:///a/secret"), "read", no),
        (read("file:///a/b?c"), "read", undeclared),
        (read("file:///a/b/c"), "read", undeclared),
        (listen(&[]), "listen", 200),
        (listen(&[]), "read", no),
        (listen(&["orders://1", "file:///a/b"]), "listen read", 200),
        (listen(&["orders://1", "orders://secret"]), "listen read", no),
        (listen(&["orders://1", "orders://secret"]), "listen read secret", 200),
        (listen(&["orders://1"]), "listen", no),
        (listen(&["orders://1", "other://1"]), "listen read secret", undeclared),
        (listen(&["file:///a/../b"]), "listen read secret", malformed),
        (subscribe("orders://1"), "listen read", 200),
        (subscribe("orders://secret"), "listen read", no),
        (subscribe("other://1"), "listen read secret", undeclared),
        (message("resources/unsubscribe", &json!({ "uri": "other://1" })), "listen", 200),
        (of_template("orders://{number}"), "read", 200),
        (of_template("orders://{number}"), "secret", no),
        (of_template("orders://secret"), "read", no),
        (of_template("orders://secret"), "secret", 200),
        (of_template("file:///{x}/{y}"), "read", 200),
        (of_template("file:///{x}/secret"), "read", no),
        (of_template("orders://1"), "read", undeclared),
        (of_template("file:///{x}/{y}/{z}"), "read", undeclared),
        (of_template("file:///{+x}"), "read", undeclared),
        (of_prompt("summary"), "read", 200),
        (of_prompt("plan"), "read", no),
        (of_prompt("other"), "read", undeclared),
        (message("completion/complete", &json!({ "ref": { "type": "ref/tool", "name": "a" } })), "read", undeclared),
        (message("completion/complete", &json!({})), "read", undeclared),
    ] {
        let answer = post(&rules, &engine, scopes, &[JSON], body.as_bytes());
        let actual = answer.denial.as_ref().map_or(200, |denial| denial.status);
        assert_eq!(actual, status, "{scopes}: {body}");
        // The result stays when a router has chosen the endpoint.
        let (call, known) = (answer.mcp.clone().unwrap(), answer.credentials.clone());
        let again = rules.decide_operation(&engine, &call, known, MCP);
        assert_eq!(again.denial.map_or(200, |denial| denial.status), status, "{scopes}: {body}");
    }
    // A completion costs what its prompt or resource costs, a stream what its own route costs.
    for (body, amount) in
        [(of_prompt("plan"), 5), (of_template("orders://secret"), 5), (listen(&["orders://secret"]), 0)]
    {
        let answer = post(&rules, &engine, "listen read secret", &[JSON], body.as_bytes());
        let charge = answer.decision.charge().unwrap();
        assert_eq!((charge.consumes, charge.amount), (amount > 0, Some(amount)), "{body}");
    }
    // Without escapes in the policy, a resource has none.
    let strict = self::engine(&RESOURCES.replace("target: encoded_params\n", ""));
    let answer = post(&rules, &strict, "read", &[JSON], read("orders://a%20b").as_bytes());
    assert_eq!(answer.denial.unwrap().status, undeclared);
}

#[test]
fn visible_names_are_those_that_a_call_may_have() {
    for text in [POLICY.to_owned(), POLICY.replace("[MCP /tools/call/refund]", "['MCP /tools/call/{tool}']")] {
        let engine = engine(&text);
        let rules = rules(mcp());
        let names =
            ["list_orders", "refund", "other", "", "../x", "summary", "orders://42", "https://secret.example/a"];
        for method in ["tools/call", "prompts/get", "resources/read"] {
            for scopes in ["", "orders:read", "orders:write", "orders:read secrets:read"] {
                let token = Token { kind: TokenKind::User, scopes: scopes.into() };
                let visible = mcp().visible(&engine, token, method, names);
                let called = names.iter().copied().filter(|name| {
                    let params = json!({ "name": name, "uri": name });
                    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
                    post(&rules, &engine, scopes, &[JSON], body.as_bytes()).decision.is_allow()
                });
                assert_eq!(visible, called.collect::<Vec<_>>(), "{method} {scopes}");
            }
        }
        let token = Token { kind: TokenKind::User, scopes: "orders:read".into() };
        assert_eq!(mcp().visible(&engine, token, "tools/call", names), ["list_orders"]);
    }
    for line in VISIBLE.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let of =
            |name: &str| row[name].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>();
        let token = Token { kind: TokenKind::User, scopes: row["scopes"].as_str().unwrap().into() };
        let visible = mcp().visible(&engine(POLICY), token, row["method"].as_str().unwrap(), of("names"));
        assert_eq!(visible, of("visible"), "{row}");
    }
}

#[test]
fn the_origin_comes_before_the_token() {
    let engine = engine(POLICY);
    let mut rules = rules(mcp().origins(["https://app.example", "http://localhost:6274"]).unwrap());
    for passes in [CorsPreflight::Pass, CorsPreflight::Deny] {
        rules.cors_preflight = passes;
        for (origin, is_accepted) in [
            (&[][..], true),
            (&[&b""[..]], true),
            (&[b"https://app.example"], true),
            (&[b"http://localhost:6274"], true),
            (&[b"https://app.example", b"http://localhost:6274"], true),
            (&[b"http://localhost"], false),
            (&[b"http://app.example"], false),
            (&[b"https://APP.example"], false),
            (&[b"https://app.example:443"], false),
            (&[b"https://app.example.evil"], false),
            (&[b"https://app.example, https://app.example"], false),
            (&[b"null"], false),
            (&[b"https://app.example", b"https://evil.example"], false),
        ] {
            for method in ["POST", "GET", "DELETE", "OPTIONS"] {
                let next = from(&rules, &engine, (method, "/mcp"), "mcp:connect", origin);
                assert_eq!(matches!(next, Next::ReadBody(_)), is_accepted && method == "POST", "{method} {origin:?}");
                let answer = match next {
                    Next::Answer(answer) => Some(answer),
                    Next::ReadBody(_) => None,
                };
                let fault = answer.as_ref().and_then(|answer| answer.mcp.as_ref()?.fault());
                assert_eq!(fault == Some(McpFault::Origin), !is_accepted, "{method} {origin:?}");
                let request = Request {
                    method: method.as_bytes(),
                    target: b"/mcp",
                    origin,
                    access_control_request_method: &[b"POST"],
                    ..Request::default()
                };
                let bare = answered(Gate::new(&rules, ()).decide::<Holder>(&engine, &request, Credentials::None));
                if !is_accepted {
                    let denial = bare.denial.unwrap();
                    assert_eq!((denial.status, denial.www_authenticate, denial.body), (403, None, None));
                    assert_eq!(answer.unwrap().denial.unwrap().status, 403);
                    assert!(!bare.preflight);
                }
            }
            // Only the endpoint has origins.
            let other = answered(from(&rules, &engine, ("GET", "/x"), "mcp:connect", origin));
            assert_eq!(other.decision.reason(), Reason::NoRoute);
        }
    }
    for origin in [
        "",
        "app.example",
        "https://",
        "https://app.example/",
        "https://APP.example",
        "https://a:443",
        "http://a:80",
        "null",
        "*",
    ] {
        assert!(mcp().origins([origin]).is_err(), "{origin}");
    }
    assert!(mcp().origins(["http://[::1]:8080", "chrome-extension://abc", "https://a:80"]).is_ok());
}

#[test]
fn the_token_comes_before_the_body_and_shows_no_scope_of_the_policy() {
    let engine = engine(POLICY);
    let mut rules = rules(mcp());
    let verifier = Verifier::from_yaml(
        "orbgate_token: 1\nissuers: [{ issuer: https://id.example.com, audience: https://api.example.com/mcp, kind: user }]\n",
    );
    let verifier = verifier.unwrap();
    rules.metadata = Some(Arc::new(
        Metadata::new("https://api.example.com/mcp", &verifier, "earned:any-token mcp:connect").unwrap(),
    ));
    let request = Request { method: b"POST", target: b"/mcp", matched: MCP, ..Request::default() };
    let metadata = "resource_metadata=\"https://api.example.com/.well-known/oauth-protected-resource/mcp\"";
    for (credentials, error) in [
        (Credentials::None, ""),
        (Credentials::Refused("expired"), "error=\"invalid_token\", "),
        (Credentials::Unreadable, "error=\"invalid_request\", "),
    ] {
        let answer = answered(Gate::new(&rules, ()).decide::<Holder>(&engine, &request, credentials));
        assert!(answer.mcp.is_some());
        let denial = answer.denial.unwrap();
        let expected = format!("Bearer {error}scope=\"mcp:connect\", {metadata}");
        assert_eq!((denial.status, denial.body, denial.www_authenticate.as_deref()), (401, None, Some(&*expected)));
    }
    let answer = post(&rules, &engine, "", &[JSON], call("refund").as_bytes());
    let denial = answer.denial.unwrap();
    let expected = format!("Bearer error=\"insufficient_scope\", scope=\"orders:write\", {metadata}");
    assert_eq!((denial.status, denial.body, denial.www_authenticate.as_deref()), (403, None, Some(&*expected)));
    // The gate serves the metadata itself.
    for target in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp?x=1"] {
        let request = Request { method: b"GET", target: target.as_bytes(), ..Request::default() };
        let answer = answered(Gate::new(&rules, ()).decide::<Holder>(&engine, &request, Credentials::None));
        let served = answer.denial.unwrap();
        let document: Value = serde_json::from_slice(&served.body.unwrap()).unwrap();
        assert_eq!(served.status, 200);
        assert!(lines(&served.headers).contains(&("access-control-allow-origin", "*")));
        assert_eq!(
            document,
            json!({
                "resource": "https://api.example.com/mcp",
                "authorization_servers": ["https://id.example.com"],
                "scopes_supported": ["mcp:connect"],
                "bearer_methods_supported": ["header"],
            })
        );
    }
    for (method, target) in
        [("GET", "/.well-known/oauth-protected-resource/other"), ("POST", "/.well-known/oauth-protected-resource")]
    {
        let answer = open(&rules, &engine, method, target, "");
        assert_eq!(answer.denial.unwrap().status, 404);
    }
    for resource in [
        "https://api.example.com",
        "http://api.example.com/mcp",
        "https://api.example.com/mcp/",
        "/mcp",
        "https://api.example.com/mcp?x",
    ] {
        assert!(Metadata::new(resource, &verifier, "").is_err(), "{resource}");
    }
}

#[test]
fn denials_without_a_route_depend_on_the_era() {
    let (engine, rules) = (engine(POLICY), rules(mcp()));
    let scopes = "mcp:connect";
    let answer = open(&rules, &engine, "GET", "/mcp", scopes);
    assert!(answer.decision.is_allow() && answer.denial.is_none());
    assert_eq!(answer.mcp.unwrap().target(), Some("/mcp/stream"));
    for method in ["DELETE", "PUT", "OPTIONS"] {
        let denial = open(&rules, &engine, method, "/mcp", scopes).denial.unwrap();
        assert_eq!((denial.status, denial.allow.as_deref()), (405, Some("GET, POST")), "{method}");
    }
    let undeclared = |headers: &[Line<'_>]| {
        let answer = post(&rules, &engine, scopes, headers, br#"{"jsonrpc":"2.0","id":"\u00e9","method":"x/y"}"#);
        let id_is_as_it_came =
            answer.denial.as_ref().unwrap().body.as_ref().unwrap().starts_with(br#"{"jsonrpc":"2.0","id":"\u00e9","#);
        assert!(id_is_as_it_came);
        (answer.denial.as_ref().unwrap().status, error(&answer)["error"]["code"].as_i64().unwrap())
    };
    assert_eq!(undeclared(&[JSON]), (404, -32601));
    assert_eq!(undeclared(&[JSON, (b"mcp-session-id", b"s")]), (400, -32601));
    // A request without an id has nothing to echo.
    let answer = post(&rules, &engine, scopes, &[JSON], br#"{"jsonrpc":"2.0","method":"x/y"}"#);
    assert_eq!(error(&answer).get("id"), None);
}

#[test]
fn a_flat_gate_tells_nothing() {
    let engine = engine(POLICY);
    for challenge in [Challenge::Minimal, Challenge::Full(FullChallenge::new()), Challenge::None] {
        let mut rules = rules(mcp());
        rules.flat_403 = challenge != Challenge::None;
        rules.challenge = challenge;
        for body in [&*call("refund"), &*call("delete_all"), "[", "{}"] {
            let denial = post(&rules, &engine, "mcp:connect", &[JSON], body.as_bytes()).denial.unwrap();
            assert_eq!((denial.status, denial.body), (403, None), "{body}");
        }
        let denial = open(&rules, &engine, "DELETE", "/mcp", "").denial.unwrap();
        assert_eq!((denial.status, denial.allow), (403, None));
    }
}

#[test]
fn a_call_that_its_account_cant_pay_is_an_error_that_a_client_shows() {
    let (engine, rules) = (engine(POLICY), rules(mcp()));
    let answer = post(&rules, &engine, "orders:write", &[JSON], call("refund").as_bytes());
    let Decision::Allow(allow) = answer.decision else { panic!("{answer:?}") };
    assert_eq!(allow.charge().unwrap().amount, Some(5));
    let denied = rules.unpaid(answer, Unpaid::Insufficient { detail: Detail::Insufficient, retry_after: None });
    assert_eq!(denied.denial.as_ref().unwrap().status, 402);
    let expected = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32000,
        "message": "the account doesn't have the orbs that the call consumes",
        "data": { "reason": "insufficient_orbs", "retryable": false } } });
    assert_eq!(error(&denied), expected);
    let body = call("refund").replace("\"id\":1", "\"id\":1.0e0");
    let answer = post(&rules, &engine, "orders:write", &[JSON], body.as_bytes());
    assert!(answer.mcp.as_ref().unwrap().response().is_some());
    let denied = rules.unpaid(answer, Unpaid::Unavailable).denial.unwrap();
    assert_eq!((denied.status, denied.retry_after), (503, Some(1)));
    let expected = "{\"jsonrpc\":\"2.0\",\"id\":1.0e0,\"error\":{\"code\":-32000,\"data\":{\"reason\":\"ledger_unavailable\",\
                    \"retryable\":true},\"message\":\"the ledger of orbs doesn't answer\"}}";
    assert_eq!(str::from_utf8(&denied.body.unwrap()).unwrap(), expected);
}

#[test]
fn only_a_request_has_a_response() {
    let (engine, rules) = (engine(POLICY), rules(mcp()));
    let expects = |headers: &[Line<'_>], body: &str| {
        let answer = post(&rules, &engine, "orders:write mcp:connect", headers, body.as_bytes());
        let call = answer.mcp.unwrap();
        call.response().map(|_| (call.id().unwrap().to_owned(), call.is_legacy()))
    };
    assert_eq!(expects(&[JSON], &call("refund")), Some(("1".to_owned(), true)));
    let version = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    let params = json!({ "name": "refund", "_meta": version });
    let body = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params }).to_string();
    let version: [Line<'_>; 3] =
        [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", b"tools/call"), (b"mcp-name", b"refund")];
    assert_eq!(expects(&[&[JSON][..], &version].concat(), &body), Some(("\"a\"".to_owned(), false)));
    assert_eq!(expects(&[JSON], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None);
    assert_eq!(expects(&[JSON], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), None);
    assert_eq!(open(&rules, &engine, "GET", "/mcp", "mcp:connect").mcp.unwrap().response().map(|_| ()), None);
}

#[test]
fn the_settings_bound_bodies_and_versions() {
    let engine = engine(POLICY);
    let small = rules(mcp().most_bytes(64));
    let long = call("list_orders");
    for (body, fault) in [
        (Ok(long.as_bytes()), McpFault::TooLarge),
        (Err(McpFault::TooLarge), McpFault::TooLarge),
        (Err(McpFault::Unreadable), McpFault::Unreadable),
    ] {
        let reading = reading(from(&small, &engine, ("POST", "/mcp"), "orders:read", &[]));
        assert_eq!(reading.most_bytes(), 64);
        let answer = small.decide_body(&engine, reading, McpRequest { headers: &[JSON], body });
        assert_eq!(answer.mcp.as_ref().unwrap().fault(), Some(fault));
        let detail = if fault == McpFault::TooLarge { Detail::Length } else { Detail::Form };
        assert_eq!((answer.decision.detail(), answer.denial.unwrap().status), (Some(detail), 400));
    }
    let deny = rules(mcp().legacy(Legacy::Deny));
    let answer =
        post(&deny, &engine, "orders:read", &[JSON, (b"mcp-protocol-version", b"2025-11-25")], long.as_bytes());
    assert_eq!(answer.mcp.as_ref().unwrap().fault(), Some(McpFault::Version));
    let told = error(&answer);
    assert_eq!(told["error"]["code"], -32022);
    assert_eq!(told["error"]["data"], json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" }));
}

#[test]
fn a_body_is_only_decided_at_the_endpoint() {
    let (engine, rules) = (engine(POLICY), rules(mcp()));
    let body = call("list_orders");
    let message = McpRequest { headers: &[JSON], body: Ok(body.as_bytes()) };
    let elsewhere = open(&rules, &engine, "POST", "/mcp2", "orders:read");
    assert!(elsewhere.mcp.is_none() && !elsewhere.decision.is_allow());
    let decided = post(&rules, &engine, "orders:read", &[JSON], body.as_bytes());
    assert!(decided.decision.is_allow());
    // The router's template must be the endpoint's.
    for (matched, is_allowed) in [
        (Matched::Nothing, true),
        (MCP, true),
        (Matched::Template("/{any}"), false),
        (Matched::Template("/mcp/tools/call/list_orders"), false),
        (Matched::Unknown, false),
    ] {
        let request = Request { method: b"POST", target: b"/mcp?session=1", matched, ..Request::default() };
        let reading =
            reading(Gate::new(&rules, ()).decide(&engine, &request, Credentials::Token(Holder("orders:read"))));
        let answer = rules.decide_body(&engine, reading, message);
        assert_eq!(answer.decision.is_allow(), is_allowed, "{matched:?}");
        assert_eq!(answer.misrouted.is_some(), !is_allowed);
        if !is_allowed {
            assert_eq!((answer.denial.as_ref().unwrap().status, &error(&answer)["id"]), (404, &json!(1)));
        }
    }
}

#[test]
fn routes_of_operations_are_served_by_the_endpoint() {
    let engine = engine(POLICY);
    let mcp = mcp();
    let served = [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp")];
    assert_eq!(check_routes(&engine, None, &[&mcp], served), Ok(()));
    let differ = check_routes(&engine, None, &[], served).unwrap_err();
    assert_eq!((differ.undeclared().len(), differ.unserved().len()), (3, engine.routes().len()));
    let differ = check_routes(&engine, None, &[&mcp], [("PUT", "/mcp"), ("POST", "/mcp/{rest}")]).unwrap_err();
    assert_eq!(differ.undeclared().len(), 2);
}

#[test]
fn a_policy_has_nothing_else_at_and_below_the_endpoint() {
    let mcp = mcp();
    assert_eq!(mcp.check(&engine(POLICY)), Ok(()));
    for (routes, lines) in [
        ("POST /mcp", 1),
        ("GET /mcp/health", 1),
        ("MCP /mcp/completion/complete", 1),
        ("MCP /mcp/tools/call", 1),
        ("GET /{id}", 1),
        ("MCP /other/tools/call/a", 0),
        ("GET /mcp2", 0),
    ] {
        let policy = format!(
            "orbgate: 1\napis: {{ a: {{ base_path: '', scopes: {{ s: {{ orbs: false, routes: ['{routes}'] }} }} }} }}\n"
        );
        let error = mcp.check(&engine(&policy)).err();
        assert_eq!(error.map_or(0, |error| error.lines().len()), lines, "{routes}");
    }
    // The places are those of the file.
    let of = |routes: &str| POLICY.replace("[MCP /tools/call/refund]", routes);
    let priced = of("[{ route: MCP /notifications/a, orbs: 1 }, MCP /notifications/b, GET /c]");
    let error = mcp.check(&engine(&priced)).unwrap_err();
    let why = "a notification has no response, so it can't consume orbs: give it a scope with `orbs: false`";
    assert_eq!(
        error.lines(),
        [
            format!("32:27: route `MCP /mcp/notifications/a`: {why}"),
            format!("32:60: route `MCP /mcp/notifications/b`: {why}"),
            "32:82: route `GET /mcp/c`: only MCP operations can be at an MCP endpoint and below it".to_owned(),
        ]
    );
    let unstated = priced.replace("orbs: 5", "orbs: true");
    assert_eq!(mcp.check(&engine(&unstated)).unwrap_err().lines().len(), 3);
    for path in ["", "/", "mcp", "/{id}", "/a b", "/mcp/", "/a//b", "/a?b", "/.."] {
        assert!(Mcp::new(path).is_err(), "{path}");
    }
    assert!(Mcp::new("/mcp").unwrap().initial_scopes("a\"b").is_err());
}

#[test]
fn paths_end_in_a_slash_if_the_policys_do() {
    let text = POLICY.replace("name: shop", "name: shop\ntrailing_slash: always");
    let (engine, rules) = (engine(&text), rules(mcp()));
    let public = PublicRoutes::new(["GET /healthz"]).unwrap();
    assert_eq!(
        check_routes(
            &engine,
            Some(&public),
            rules.mcp.as_deref().as_slice(),
            [("POST", "/mcp/"), ("GET", "/healthz/")]
        ),
        Ok(())
    );
    let request =
        Request { method: b"POST", target: b"/mcp/", matched: Matched::Template("/mcp/"), ..Request::default() };
    let reading = reading(Gate::new(&rules, ()).decide(&engine, &request, Credentials::Token(Holder("orders:read"))));
    let body = call("list_orders");
    let message = McpRequest { headers: &[JSON], body: Ok(body.as_bytes()) };
    let answer = rules.decide_body(&engine, reading, message);
    assert!(answer.decision.is_allow());
    assert_eq!(answer.mcp.unwrap().target(), Some("/mcp/tools/call/list_orders/"));
    assert!(open(&rules, &engine, "POST", "/mcp", "orders:read").mcp.is_none());
}
