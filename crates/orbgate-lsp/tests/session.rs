//! Sessions with a client that has rust-analyzer's reading and writing of messages.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::panic_in_result_fn,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on fails"
)]

use std::io::{self, BufReader, PipeReader, PipeWriter, Write};
use std::thread::{self, JoinHandle};

use lsp_server::{Message, Notification, Request, RequestId};
use orbgate_lsp::{End, serve};
use serde_json::{Value, json};

/// A client, and the server that it talks to.
struct Client {
    input: Option<PipeWriter>,
    output: BufReader<PipeReader>,
    server: JoinHandle<io::Result<End>>,
    next: i32,
    /// What the server told, and nobody has looked at.
    told: Vec<Notification>,
}

impl Client {
    fn new() -> Self {
        let (input, to_server) = io::pipe().unwrap();
        let (from_server, mut output) = io::pipe().unwrap();
        let server = move || serve(BufReader::new(input), &mut output);
        Self {
            input: Some(to_server.try_clone().unwrap()),
            output: BufReader::new(from_server),
            server: {
                drop(to_server);
                thread::spawn(server)
            },
            next: 0,
            told: Vec::new(),
        }
    }

    /// A client that has initialized the server.
    fn ready(params: Value) -> Self {
        let mut client = Self::new();
        client.ask("initialize", params).unwrap();
        client.tell("initialized", json!({}));
        client
    }

    fn send(&mut self, message: &Message) {
        message.write(self.input.as_mut().unwrap()).unwrap();
    }

    fn raw(&mut self, body: &str) {
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        let method = method.to_owned();
        self.send(&Message::Notification(Notification { method, params }));
    }

    /// Sends a request, and does not wait.
    fn request(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let (id, method) = (RequestId::from(self.next), method.to_owned());
        self.send(&Message::Request(Request {
            id: id.clone(),
            method,
            params,
        }));
        id
    }

    /// The answer, or the code of the error with its message.
    fn answer(&mut self, id: &RequestId) -> Result<Value, (i32, String)> {
        loop {
            match Message::read(&mut self.output)
                .unwrap()
                .expect("the server has gone")
            {
                Message::Response(response) if response.id == *id => {
                    let answer = response.response_result;
                    return answer.map_err(|error| (error.code, error.message));
                }
                Message::Notification(told) => self.told.push(told),
                message => panic!("{message:?}"),
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.request(method, params);
        self.answer(&id)
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, uri: &str, version: i32, text: &str) {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        self.tell("textDocument/didChange", params);
    }

    /// What the server tells next with this method.
    fn heard(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.told.iter().position(|told| told.method == method) {
                return self.told.remove(at).params;
            }
            match Message::read(&mut self.output)
                .unwrap()
                .expect("the server has gone")
            {
                Message::Notification(told) => self.told.push(told),
                message => panic!("{message:?}"),
            }
        }
    }

    fn diagnostics(&mut self) -> Value {
        self.heard("textDocument/publishDiagnostics")
    }

    /// The client goes without a word, or after `exit`.
    fn end(mut self) -> io::Result<End> {
        drop(self.input.take());
        self.server.join().unwrap()
    }
}

const URI: &str = "file:///a/policy.yaml";

const SHOP: &str = "\
orbgate: 1
apis:
  items:
    base_path: /v1
    scopes:
      read:items:
        permits: reads ![it](https://example.com/x.png) \u{1d11e}
        orbs: false
        routes: [GET /items, 'GET /items/{id}']
      order:items:
        permits: orders
        orbs: 3
        routes:
          - POST /items/order
          - route: GET /items/latest   # the newest
            orbs: 5
...
";

/// Where a text stands in SHOP, in UTF-16.
fn place_of(text: &str) -> Value {
    let at = SHOP.find(text).unwrap_or_else(|| panic!("{text}"));
    let before = &SHOP[..at];
    let line = before.matches('\n').count();
    let character = before.rsplit('\n').next().unwrap().encode_utf16().count();
    json!({ "line": line, "character": character })
}

fn at(text: &str) -> Value {
    json!({ "textDocument": { "uri": URI }, "position": place_of(text) })
}

fn range_of(text: &str) -> Value {
    let start = place_of(text);
    let end =
        start["character"].as_u64().unwrap() + u64::try_from(text.encode_utf16().count()).unwrap();
    json!({ "start": start, "end": { "line": start["line"], "character": end } })
}

#[test]
fn a_session_begins_and_ends_as_the_protocol_says() {
    let mut client = Client::new();
    let (code, _) = client
        .ask("textDocument/hover", at("GET /items"))
        .unwrap_err();
    assert_eq!(code, -32002, "server not initialized");
    client.open(URI, SHOP); // nobody hears it
    let capabilities = client
        .ask("initialize", json!({ "capabilities": {} }))
        .unwrap();
    assert_eq!(capabilities["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(
        capabilities["capabilities"]["textDocumentSync"]["change"],
        1
    );
    assert_eq!(capabilities["serverInfo"]["name"], "orbgate");
    client.tell("initialized", json!({}));
    assert_eq!(client.ask("initialize", json!({})).unwrap_err().0, -32600);
    assert_eq!(
        client.ask("textDocument/rename", json!({})).unwrap_err().0,
        -32601
    );
    assert_eq!(client.ask("$/whatever", json!({})).unwrap_err().0, -32601);
    client.tell("$/whatever", json!({}));
    client.tell("textDocument/didSave", json!({}));
    assert_eq!(client.ask("shutdown", Value::Null).unwrap(), Value::Null);
    assert_eq!(
        client
            .ask("textDocument/hover", at("GET /items"))
            .unwrap_err()
            .0,
        -32600
    );
    assert_eq!(client.told.len(), 0);
    client.tell("exit", Value::Null);
    assert_eq!(client.end().unwrap(), End::Orderly);

    for exit in [true, false] {
        let mut client = Client::ready(json!({}));
        if exit {
            client.tell("exit", Value::Null);
        }
        assert_eq!(client.end().unwrap(), End::Abrupt);
    }
    // Whoever shuts it down and hangs up has said goodbye.
    let mut client = Client::ready(json!({}));
    client.ask("shutdown", Value::Null).unwrap();
    assert_eq!(client.end().unwrap(), End::Orderly);
}

#[test]
fn faults_and_findings_come_as_you_type() {
    let mut client = Client::ready(json!({}));
    client.open(URI, SHOP);
    let told = client.diagnostics();
    assert_eq!((&told["uri"], &told["version"]), (&json!(URI), &json!(1)));
    let found = told["diagnostics"].as_array().unwrap();
    let codes: Vec<_> = found
        .iter()
        .map(|found| found["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["shadowed_route", "overlap"], "{found:#?}");
    let overlap = &found[1];
    assert_eq!(overlap["range"], range_of("GET /items/latest"));
    assert_eq!(overlap["severity"], 2);
    assert_eq!(overlap["source"], "orbgate");
    let page = overlap["codeDescription"]["href"].as_str().unwrap();
    assert!(page.ends_with("/docs/lint/overlap.md"));
    let other = &overlap["relatedInformation"][0]["location"];
    assert_eq!(other["uri"], URI);
    assert_eq!(other["range"], range_of("'GET /items/{id}'"));

    client.change(URI, 2, &SHOP.replace("orbs: 3", "orbs: 0"));
    let told = client.diagnostics();
    assert_eq!(told["version"], 2);
    let found = told["diagnostics"].as_array().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["severity"], 1);
    let mut range = range_of("orbs: 3");
    range["start"]["character"] = json!(14);
    assert_eq!(found[0]["range"], range);
    assert!(
        found[0]["message"]
            .as_str()
            .unwrap()
            .starts_with("`orbs` must be")
    );

    client.tell(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": URI } }),
    );
    let told = client.diagnostics();
    assert_eq!(told["diagnostics"], json!([]));
    let (code, _) = client
        .ask("textDocument/hover", at("GET /items"))
        .unwrap_err();
    assert_eq!(code, -32602);
    client.end().unwrap();
}

#[test]
fn the_settings_give_levels() {
    let levels = json!({ "shadowed_route": "off", "overlap": "error" });
    let mut client = Client::ready(json!({ "initializationOptions": { "levels": levels } }));
    client.open(URI, SHOP);
    let told = client.diagnostics();
    let found = told["diagnostics"].as_array().unwrap();
    assert_eq!((found.len(), &found[0]["severity"]), (1, &json!(1)));
    client.end().unwrap();

    let mut client = Client::new();
    let options = json!({ "initializationOptions": { "levels": { "no": "off" } } });
    let (code, message) = client.ask("initialize", options).unwrap_err();
    assert_eq!(code, -32602);
    assert!(message.starts_with("`initializationOptions`: `levels`: there is no code `no`"));
    // It may try again.
    client.ask("initialize", json!({})).unwrap();
    client.end().unwrap();
}

#[test]
fn other_documents_are_left_alone_and_cases_are_read() {
    let mut client = Client::ready(json!({}));
    client.open("file:///a/compose.yaml", "services: {}\n");
    assert_eq!(client.diagnostics()["diagnostics"], json!([]));
    client.open(
        "file:///a/shop.test.yaml",
        "orbgate_test: 1\ncases:\n  - GET /a | user | maybe\n",
    );
    let told = client.diagnostics();
    let found = &told["diagnostics"][0];
    assert_eq!(
        found["range"]["start"],
        json!({ "line": 2, "character": 4 }),
        "{told:#}"
    );
    for uri in ["file:///a/compose.yaml", "file:///a/shop.test.yaml"] {
        let params =
            json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 1 } });
        assert_eq!(
            client.ask("textDocument/hover", params.clone()).unwrap(),
            Value::Null
        );
        assert_eq!(
            client.ask("textDocument/documentSymbol", params).unwrap(),
            Value::Null
        );
    }
    client.end().unwrap();
}

#[test]
fn hover_says_what_a_route_needs_and_what_overlaps_it() {
    let mut client = Client::ready(
        json!({ "capabilities": { "general": { "positionEncodings": ["utf-16", "utf-8"] } } }),
    );
    client.open(URI, SHOP);
    let hover = client
        .ask("textDocument/hover", at("GET /items/latest"))
        .unwrap();
    assert_eq!(hover["range"], range_of("GET /items/latest"));
    assert_eq!(hover["contents"]["kind"], "markdown");
    assert_eq!(
        hover["contents"]["value"],
        "`GET /v1/items/latest`\n\n\
         - needs `order:items`: orders\n\
         - orbs: 5\n\
         - any token may carry the scope\n\
         - declared on this path: `GET`\n\
         - overlaps `GET /v1/items/{id}` (line 9): `/v1/items/latest` is decided by this route\n"
    );
    let hover = client
        .ask("textDocument/hover", at("/items/{id}'"))
        .unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("- overlaps `POST /v1/items/order` (line 14): `/v1/items/order` is decided by nobody: a 405\n"), "{text}");
    assert!(
        text.contains("needs `read:items`: reads !\\[it\\]\\(https\\:"),
        "{text}"
    );
    let hover = client
        .ask("textDocument/hover", at("order:items:"))
        .unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.starts_with("`order:items` of api `items`\n"), "{text}");
    assert!(
        text.ends_with("- `POST /v1/items/order` (line 14)\n- `GET /v1/items/latest` (line 15)\n"),
        "{text}"
    );
    assert_eq!(
        client
            .ask("textDocument/hover", at("permits: orders"))
            .unwrap(),
        Value::Null
    );

    // While another line has a fault, and the route has moved.
    client.change(
        URI,
        2,
        &SHOP.replace("      order:items:\n", "      order items:\n\n"),
    );
    let mut params = at("GET /items/latest");
    params["position"]["line"] = json!(15);
    let hover = client.ask("textDocument/hover", params).unwrap();
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .starts_with("`GET /v1/items/latest`")
    );
    assert_eq!(hover["range"]["start"]["line"], 15);
    client.end().unwrap();
}

#[test]
fn positions_are_counted_as_agreed() {
    let scope = "      read:items: { permits: \u{1d11e}, orbs: false, routes: [GET /a] }\n";
    let text =
        format!("orbgate: 1\r\napis:\r\n  a:\r\n    base_path: ''\r\n    scopes:\r\n{scope}");
    for (encoding, start) in [("utf-16", 55), ("utf-8", 57), ("utf-32", 54)] {
        let general = json!({ "positionEncodings": [encoding, "utf-16"] });
        let mut client = Client::ready(json!({ "capabilities": { "general": general } }));
        client.open(URI, &text);
        let position = json!({ "line": 5, "character": start + 2 });
        let params = json!({ "textDocument": { "uri": URI }, "position": position });
        let hover = client.ask("textDocument/hover", params).unwrap();
        let end = json!({ "line": 5, "character": start + 6 });
        assert_eq!(hover["range"]["end"], end, "{encoding}");
        client.end().unwrap();
    }
}

#[test]
fn a_route_leads_to_its_scope_and_a_scope_to_its_routes() {
    let mut client = Client::ready(json!({}));
    client.open(URI, SHOP);
    let to = client
        .ask("textDocument/definition", at("GET /items/latest"))
        .unwrap();
    assert_eq!(to, json!({ "uri": URI, "range": range_of("order:items") }));
    let references = |client: &mut Client, with_scope: bool| {
        let mut params = at("order:items:");
        params["context"] = json!({ "includeDeclaration": with_scope });
        let found = client.ask("textDocument/references", params).unwrap();
        let found = found.as_array().unwrap().iter();
        found
            .map(|found| found["range"].clone())
            .collect::<Vec<_>>()
    };
    let routes = [range_of("POST /items/order"), range_of("GET /items/latest")];
    assert_eq!(references(&mut client, false), routes);
    assert_eq!(references(&mut client, true)[0], range_of("order:items"));
    assert_eq!(
        client
            .ask("textDocument/definition", at("orbs: 3"))
            .unwrap(),
        Value::Null
    );

    let outline = client
        .ask("textDocument/documentSymbol", at("orbs: 3"))
        .unwrap();
    let names: Vec<_> = outline
        .as_array()
        .unwrap()
        .iter()
        .map(|scope| &scope["name"])
        .collect();
    assert_eq!(names, ["read:items", "order:items"]);
    assert_eq!(outline[1]["detail"], "items");
    assert_eq!(outline[1]["children"][1]["name"], "GET /v1/items/latest");
    assert_eq!(
        outline[1]["range"]["end"],
        range_of("GET /items/latest")["end"]
    );
    client.end().unwrap();
}

#[test]
fn a_policy_is_laid_out_and_one_with_faults_is_left_alone() {
    let format = |client: &mut Client| {
        let options = json!({ "tabSize": 8, "insertSpaces": false });
        let params = json!({ "textDocument": { "uri": URI }, "options": options });
        client.ask("textDocument/formatting", params)
    };
    let mut client = Client::ready(json!({}));
    client.open(URI, SHOP);
    assert_eq!(format(&mut client).unwrap(), json!([]));
    client.change(URI, 2, &SHOP.replace("orbs: 3", "orbs:   3"));
    let edits = format(&mut client).unwrap();
    let line =
        json!({ "start": { "line": 11, "character": 0 }, "end": { "line": 12, "character": 0 } });
    assert_eq!(
        edits,
        json!([{ "range": line, "newText": "        orbs: 3\n" }])
    );
    client.change(URI, 3, &SHOP.replace("orbs: 3", "orbs:   0"));
    assert_eq!(format(&mut client).unwrap(), Value::Null);
    client.end().unwrap();
}

#[test]
fn a_finding_that_can_be_mended_without_a_thought_has_a_fix() {
    let mut client = Client::ready(json!({}));
    client.open(URI, SHOP.trim_end_matches("...\n"));
    let start = json!({ "line": 0, "character": 0 });
    let mut params = json!({ "textDocument": { "uri": URI }, "range": { "start": start, "end": start }, "context": { "diagnostics": [] } });
    let actions = client
        .ask("textDocument/codeAction", params.clone())
        .unwrap();
    let action = &actions[0];
    assert_eq!(action["title"], "End the file in `...`");
    assert_eq!(action["kind"], "quickfix");
    assert_eq!(action["diagnostics"][0]["code"], "no_end_marker");
    let edit = &action["edit"]["changes"][URI][0];
    assert_eq!(edit["newText"], "\n...");
    assert_eq!(edit["range"]["start"], place_of("\n...\n"));
    params["context"]["only"] = json!(["refactor"]);
    assert_eq!(
        client.ask("textDocument/codeAction", params).unwrap(),
        Value::Null
    );
    client.end().unwrap();
}

#[test]
fn what_is_no_message_is_answered_and_the_session_goes_on() {
    let mut client = Client::ready(json!({}));
    client.open(URI, SHOP);
    client.raw("{\"jsonrpc\":\"2.0\",");
    client.raw("[]");
    client.raw("");
    client.raw(r#"{"jsonrpc":"2.0","method":7,"id":1}"#);
    client.raw(r#"{"jsonrpc":"2.0","id":99,"result":null}"#); // an answer to nothing
    for params in [
        json!(null),
        json!({}),
        json!([1]),
        json!({ "textDocument": 7 }),
    ] {
        assert_eq!(
            read_error(&mut client, "textDocument/hover", &params),
            -32602
        );
    }
    for method in ["didOpen", "didChange", "didClose"] {
        client.tell(
            &format!("textDocument/{method}"),
            json!({ "textDocument": 7 }),
        );
        let message = client.heard("window/showMessage")["message"].to_string();
        assert!(message.contains(method), "{message}");
    }
    client.change("file:///not-open", 1, "");
    let message = client.heard("window/showMessage")["message"].to_string();
    assert!(message.contains("not open"), "{message}");
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
    let document = json!({ "uri": URI, "version": 2 });
    let part =
        json!({ "textDocument": document, "contentChanges": [{ "range": range, "text": "x" }] });
    client.tell("textDocument/didChange", part);
    let message = client.heard("window/showMessage")["message"].to_string();
    assert!(message.contains("a part of a text"), "{message}");
    let far = json!({ "line": u32::MAX, "character": u32::MAX });
    let params = json!({ "textDocument": { "uri": URI }, "position": far });
    assert_eq!(
        client.ask("textDocument/hover", params).unwrap(),
        Value::Null
    );
    client.end().unwrap();

    // A header that does not say where the message ends is the end.
    let mut client = Client::ready(json!({}));
    client
        .input
        .as_mut()
        .unwrap()
        .write_all(b"Content-Length: x\r\n\r\n")
        .unwrap();
    assert_eq!(client.end().unwrap_err().kind(), io::ErrorKind::InvalidData);
}

/// The code of the error, past the answers with a null id, which this client does not know.
fn read_error(client: &mut Client, method: &str, params: &Value) -> i32 {
    use std::io::{BufRead as _, Read as _};
    client.next += 1;
    let id = client.next;
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    client.raw(&request.to_string());
    loop {
        let mut header = String::new();
        client.output.read_line(&mut header).unwrap();
        let length = header.trim().rsplit(' ').next().unwrap().parse().unwrap();
        client.output.read_line(&mut header).unwrap();
        let mut body = vec![0; length];
        client.output.read_exact(&mut body).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        if body["id"] == json!(id) {
            return body["error"]["code"].as_i64().unwrap().try_into().unwrap();
        }
        if body.get("method").is_none() {
            assert_eq!(body["error"]["code"], -32700, "{body}");
            assert_eq!(body["id"], Value::Null);
        }
    }
}

#[test]
fn a_huge_document_is_refused() {
    let mut client = Client::ready(json!({}));
    client.open(URI, &"# \u{e9}\n".repeat(2_000_000));
    let told = client.diagnostics();
    let message = told["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("more than 8388608 bytes"), "{message}");
    client.raw(&" ".repeat(65 * 1024 * 1024));
    let message = client.heard("window/showMessage")["message"].to_string();
    assert!(message.contains("67108864 are the limit"), "{message}");
    client.open(URI, SHOP);
    assert_eq!(
        client.diagnostics()["diagnostics"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    client.end().unwrap();
}

#[test]
fn fast_typing_does_not_queue_up() {
    let routes: String = (0..3_000)
        .map(|at| format!("          - GET /r{at}/{{id}}\n"))
        .collect();
    let text = SHOP.replace("          - POST", &format!("{routes}          - POST"));
    let mut client = Client::ready(json!({}));
    client.open(URI, &text);
    let mut ids = Vec::new();
    for version in 2..=60 {
        client.change(URI, version, &format!("{text}# {version}\n"));
        ids.push(client.request("textDocument/hover", at("GET /items")));
    }
    let last = ids.pop().unwrap();
    let cancelled = client.request("textDocument/hover", at("GET /items"));
    client.tell(
        "$/cancelRequest",
        json!({ "id": serde_json::to_value(&cancelled).unwrap() }),
    );
    let mut outdated = 0;
    for id in &ids {
        match client.answer(id) {
            Ok(hover) => assert!(hover["contents"].is_object()),
            Err((code, _)) => {
                assert_eq!(code, -32801);
                outdated += 1;
            }
        }
    }
    assert!(client.answer(&last).unwrap()["contents"].is_object());
    // It may have been answered before the cancellation came.
    if let Err((code, _)) = client.answer(&cancelled) {
        assert_eq!(code, -32800);
    }
    let versions = client
        .told
        .iter()
        .map(|told| told.params["version"].as_i64().unwrap());
    let versions: Vec<_> = versions.collect();
    assert_eq!(versions.last(), Some(&60));
    assert!(versions.is_sorted(), "{versions:?}");
    assert!(
        versions.len() < 60 && outdated > 0,
        "{versions:?}, {outdated} outdated"
    );
    client.end().unwrap();
}
