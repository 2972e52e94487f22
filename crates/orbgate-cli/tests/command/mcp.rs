//! `orbgate mcp`: drafts are policies, and a probe tells servers apart without running a tool.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};

use crate::{file, orbgate, orbgate_reading};

#[test]
fn a_draft_is_a_policy_in_which_a_client_can_connect() {
    let tools = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [
        { "name": "list_orders", "annotations": { "readOnlyHint": true } },
        { "name": "refund", "inputSchema": {} },
        { "name": "Refund" },
        { "name": "a b" },
        { "name": "true" },
    ] } });
    let ran = orbgate_reading(&["mcp", "import", "-", "--base-path", "/v1/mcp"], tools.to_string().as_bytes());
    assert_eq!(ran.code, 1);
    let left_out = "left out: `Refund` differs only in case from `refund`\nleft out: `a b` is no name of SEP-986\n";
    assert_eq!(ran.err, left_out);
    assert!(ran.out.contains("# TODO"));
    let policy = file("mcp-draft.yaml", &ran.out);
    assert_eq!(orbgate(&["check", &policy]).code, 0);
    for (route, scope) in [
        ("/tools/call/list_orders", "tools:read"),
        ("/tools/call/refund", "tools:write"),
        ("/tools/call/true", "tools:write"),
        ("/initialize", "mcp:connect"),
        ("/server/discover", "mcp:connect"),
        ("/tools/list", "mcp:connect"),
    ] {
        let target = format!("/v1/mcp{route}");
        let decided = |scopes: &str| {
            orbgate(&["decide", "--policy", &policy, "MCP", &target, "--token", "user", "--scopes", scopes]).code
        };
        assert_eq!((decided(scope), decided("other")), (0, 1), "{route}");
    }
    let bare = orbgate_reading(&["mcp", "import", "-"], br#"{"tools":[{"name":"a"}]}"#);
    assert_eq!((bare.code, &*bare.err), (0, ""));
    let none = orbgate_reading(&["mcp", "import", "-"], br#"{"result":{}}"#);
    assert_eq!((none.code, &*none.out), (2, ""));
}

#[test]
fn templates_of_resources_become_routes() {
    let templates = r#"{"result":{"resourceTemplates":[
        {"uriTemplate":"orders://{id}","name":"order"}, {"uriTemplate":"orders://{number}","name":"the same"},
        {"uriTemplate":"file:///{+path}","name":"a file"}, {"uriTemplate":"wiki://pages{/page*}","name":"a page"},
        {"uriTemplate":"orders://{id}/items/{item}","name":"an item"},
        {"uriTemplate":"orders://list{?page}","name":"a list"}, {"uriTemplate":"orders://o-{id}","name":"a part"},
        {"uriTemplate":"https://API.example/{id}","name":"a rewritten host"}, {"uriTemplate":"{+uri}","name":"everything"},
        {"uriTemplate":"a://{+b}/{+c}","name":"two"}, {"uriTemplate":"a://{b","name":"half"}, {"uriTemplate":"a://x y/{b}","name":"a space"}
    ]}}"#;
    let [tools, templates] = [file("tools.json", r#"{"tools":[{"name":"a"}]}"#), file("templates.json", templates)];
    let ran = orbgate(&["mcp", "import", &tools, &templates, "--depth", "3"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 7, "{}", ran.err);
    assert!(ran.err.starts_with("left out: `orders://list{?page}` has a query"), "{}", ran.err);
    let policy = file("mcp-resources.yaml", &ran.out);
    for (target, is_declared) in [
        ("resources/templates/list", true),
        ("tools/call/a", true),
        ("resources/read/orders:/7", true),
        ("resources/read/orders:/7/items/8", true),
        ("resources/read/file:/~/a", true),
        ("resources/read/file:/~/a/b/c", true),
        ("resources/read/file:/~/a/b/c/d", false),
        ("resources/read/wiki:/pages/a/b", true),
        ("resources/read/wiki:/pages", false),
    ] {
        let target = format!("/mcp/{target}");
        let scopes = "mcp:connect resources:read tools:write";
        let ran = orbgate(&["decide", "--policy", &policy, "MCP", &target, "--token", "user", "--scopes", scopes]);
        assert_eq!(ran.code == 0, is_declared, "{target}");
    }
    let none = orbgate_reading(&["mcp", "import", "-"], br#"{"result":{"prompts":[]}}"#);
    assert_eq!((none.code, &*none.out), (2, ""));
    assert!(none.err.contains("no `tools` or `resourceTemplates`"), "{}", none.err);
}

/// The answers of the SDKs' own example servers; Python's tests connect clients with these drafts.
#[test]
fn the_lists_of_real_servers_become_whole_policies() {
    for (language, count) in [("go", 9), ("python", 26), ("typescript", 13)] {
        let list = format!("{}/tests/command/tools/{language}.json", env!("CARGO_MANIFEST_DIR"));
        let ran = orbgate(&["mcp", "import", &list]);
        assert_eq!((ran.code, &*ran.err), (0, ""), "{language}");
        let draft = file(&format!("mcp-{language}.yaml"), &ran.out);
        let lint = orbgate(&["lint", &draft]);
        assert_eq!((lint.code, &*lint.err), (0, ""), "{language}: {}", lint.out);
        let table = orbgate(&["table", "--policy", &draft, "--format", "csv"]);
        let tools = table.out.lines().filter(|line| line.contains("/mcp/tools/call/"));
        assert_eq!((table.code, tools.count()), (0, count), "{language}: {}", table.out);
    }
}

/// A server with one answer for each request, which it gives by the request's head and body.
fn server(answer: fn(&str, &str) -> (u16, String)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert_ne!(reader.read_line(&mut head).unwrap(), 0);
            }
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            let (status, rest) = answer(&head, str::from_utf8(&body).unwrap());
            let mut stream = reader.into_inner();
            stream.write_all(format!("HTTP/1.1 {status} X\r\nConnection: close\r\n{rest}").as_bytes()).unwrap();
        }
    });
    url
}

fn verdicts(ran: &crate::Ran) -> Vec<(String, String)> {
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    let checks = answer["checks"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    checks.map(|check| (text(&check["check"]), text(&check["verdict"]))).collect()
}

#[test]
fn a_server_that_believes_everything_has_faults() {
    // It takes any case, the last of two names and any header, and answers 200.
    let url = server(|_, body| (200, format!("\r\n{{\"result\":{{\"isError\":true,\"content\":{body:?}}}}}")));
    let ran = orbgate(&["mcp", "probe", &url, "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let metadata = url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
    assert!(ran.out.contains(&format!("there is no metadata at `{metadata}`")), "{}", ran.out);
    let faults: Vec<_> =
        verdicts(&ran).into_iter().filter(|(_, verdict)| verdict == "fault").map(|(check, _)| check).collect();
    let expected = [
        "no token",
        "a token of nobody",
        "no token, lying method",
        "a lying method",
        "a lying name",
        "no name",
        "a lying base64 name",
        "Name instead of name",
    ];
    assert_eq!(faults, expected);
}

#[test]
fn a_server_that_denies_what_it_must_has_none() {
    let url = server(|head, body| {
        if head.starts_with("GET /.well-known/oauth-protected-resource/mcp ") {
            return (200, "\r\n{\"resource\":\"x\",\"authorization_servers\":[]}".to_owned());
        }
        if !head.contains("Authorization: Bearer good\r\n") {
            return (401, "WWW-Authenticate: Bearer resource_metadata=\"x\"\r\n\r\n".to_owned());
        }
        // The names are random, so the server must compare those that it gets.
        let named =
            head.split_once("Mcp-Method: tools/call\r\nMcp-Name: ").and_then(|(_, rest)| rest.split_once("\r\n"));
        let name = named.map_or("", |(name, _)| name);
        let is_one = body.matches("\"name\":\"orbgate-probe-").count() == 1;
        if is_one && body.contains(&format!("\"name\":\"{name}\"")) && name.len() > 40 {
            return (404, format!("\r\n{{\"error\":{{\"code\":-32602,\"message\":\"{name}\"}}}}"));
        }
        (400, "\r\n{\"error\":{\"code\":-32020}}".to_owned())
    });
    let ran = crate::finish(
        {
            let mut command = crate::command(&["mcp", "probe", &url, "--json", "--token-env", "PROBE_TOKEN"]);
            command.env("PROBE_TOKEN", "good");
            command
        },
        b"",
    );
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let rows = verdicts(&ran);
    assert_eq!(rows.len(), 13);
    assert!(rows.iter().all(|(_, verdict)| verdict == "fine"), "{rows:?}");
    // Without a token, nothing but credentials can be tried.
    let ran = orbgate(&["mcp", "probe", &url, "--json"]);
    assert_eq!(verdicts(&ran).last().unwrap(), &("messages".to_owned(), "skipped".to_owned()));
    let table = orbgate(&["mcp", "probe", &url]);
    assert!(table.out.lines().any(|line| line.starts_with("fine    401  no token")), "{}", table.out);
}

#[test]
fn an_endpoint_that_cant_be_asked_is_an_error() {
    for url in ["https://127.0.0.1/mcp", "127.0.0.1", "http://127.0.0.1:1/mcp", "http://127.0.0.1:1/m cp"] {
        assert_eq!(orbgate(&["mcp", "probe", url]).code, 2, "{url}");
    }
    assert_eq!(orbgate(&["mcp", "probe", "http://127.0.0.1:1/", "--token-env", "NOT_SET_ANYWHERE"]).code, 2);
}
