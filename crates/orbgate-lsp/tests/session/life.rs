//! How a session begins and ends, and which errors it survives.

use std::io::{self, Write as _};

use orbgate_lsp::End;
use serde_json::{Value, json};

use crate::client::{Client, SHOP, URI, at};

#[test]
fn a_session_begins_and_ends_as_the_protocol_says() {
    let mut client = Client::new();
    let (code, _) = client.ask("textDocument/hover", at("GET /items")).unwrap_err();
    assert_eq!(code, -32002, "server not initialized");
    client.open(URI, SHOP); // the server ignores it
    let capabilities = client.ask("initialize", json!({ "capabilities": {} })).unwrap();
    assert_eq!(capabilities["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(capabilities["capabilities"]["textDocumentSync"]["change"], 1);
    assert_eq!(capabilities["serverInfo"]["name"], "orbgate");
    client.tell("initialized", json!({}));
    assert_eq!(client.ask("initialize", json!({})).unwrap_err().0, -32600);
    assert_eq!(client.ask("textDocument/rename", json!({})).unwrap_err().0, -32601);
    assert_eq!(client.ask("$/whatever", json!({})).unwrap_err().0, -32601);
    client.tell("$/whatever", json!({}));
    client.tell("textDocument/didSave", json!({}));
    assert_eq!(client.ask("shutdown", Value::Null).unwrap(), Value::Null);
    assert_eq!(client.ask("textDocument/hover", at("GET /items")).unwrap_err().0, -32600);
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
    // A client that asks to shut down and then hangs up ends in order, too.
    let mut client = Client::ready(json!({}));
    client.ask("shutdown", Value::Null).unwrap();
    assert_eq!(client.end().unwrap(), End::Orderly);
}

#[test]
fn what_is_no_message_is_answered_and_the_session_goes_on() {
    let mut client = Client::ready(json!({}));
    client.open(URI, SHOP);
    client.raw("{\"jsonrpc\":\"2.0\",");
    client.raw("[]");
    client.raw("");
    client.raw(r#"{"jsonrpc":"2.0","method":7,"id":1}"#);
    client.raw(r#"{"jsonrpc":"2.0","id":99,"result":null}"#); // an answer without a question
    for params in [json!(null), json!({}), json!([1]), json!({ "textDocument": 7 })] {
        assert_eq!(read_error(&mut client, "textDocument/hover", &params), -32602);
    }
    for method in ["didOpen", "didChange", "didClose"] {
        client.tell(&format!("textDocument/{method}"), json!({ "textDocument": 7 }));
        let message = client.heard("window/showMessage")["message"].to_string();
        assert!(message.contains(method), "{message}");
    }
    client.change("file:///not-open", 1, "");
    let message = client.heard("window/showMessage")["message"].to_string();
    assert!(message.contains("not open"), "{message}");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
    let document = json!({ "uri": URI, "version": 2 });
    let part = json!({ "textDocument": document, "contentChanges": [{ "range": range, "text": "x" }] });
    client.tell("textDocument/didChange", part);
    let message = client.heard("window/showMessage")["message"].to_string();
    assert!(message.contains("a part of a text"), "{message}");
    let far = json!({ "line": u32::MAX, "character": u32::MAX });
    let params = json!({ "textDocument": { "uri": URI }, "position": far });
    assert_eq!(client.ask("textDocument/hover", params).unwrap(), Value::Null);
    client.end().unwrap();

    // A header that does not say where the message ends is the end.
    let mut client = Client::ready(json!({}));
    client.input.as_mut().unwrap().write_all(b"Content-Length: x\r\n\r\n").unwrap();
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
    assert!(message.contains("limit of 8388608 bytes"), "{message}");
    client.raw(&" ".repeat(65 * 1024 * 1024));
    let message = client.heard("window/showMessage")["message"].to_string();
    assert!(message.contains("67108864 are the limit"), "{message}");
    client.open(URI, SHOP);
    assert_eq!(client.diagnostics()["diagnostics"].as_array().unwrap().len(), 2);
    client.end().unwrap();
}

#[test]
fn fast_typing_does_not_queue_up() {
    let routes: String = (0..3_000).map(|at| format!("          - GET /r{at}/{{id}}\n")).collect();
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
    client.tell("$/cancelRequest", json!({ "id": serde_json::to_value(&cancelled).unwrap() }));
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
    let versions = client.told.iter().map(|told| told.params["version"].as_i64().unwrap());
    let versions: Vec<_> = versions.collect();
    assert_eq!(versions.last(), Some(&60));
    assert!(versions.is_sorted(), "{versions:?}");
    assert!(versions.len() < 60 && outdated > 0, "{versions:?}, {outdated} outdated");
    client.end().unwrap();
}
