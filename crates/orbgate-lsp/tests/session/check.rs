//! What the server sends by itself: errors and findings.

use serde_json::{Value, json};

use crate::client::{Client, SHOP, URI, at, range_of};

#[test]
fn diagnostics_and_findings_come_as_you_type() {
    let mut client = Client::ready(json!({}));
    client.open(URI, SHOP);
    let told = client.diagnostics();
    assert_eq!((&told["uri"], &told["version"]), (&json!(URI), &json!(1)));
    let diagnostics = told["diagnostics"].as_array().unwrap();
    let codes: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["shadowed_route", "overlap"], "{diagnostics:#?}");
    let overlap = &diagnostics[1];
    assert_eq!(overlap["range"], range_of("GET /items/latest"));
    assert_eq!(overlap["severity"], 2);
    assert_eq!(overlap["source"], "orbgate");
    let page = overlap["codeDescription"]["href"].as_str().unwrap();
    assert!(page.ends_with("/docs/lint.md#overlap"));
    let other = &overlap["relatedInformation"][0]["location"];
    assert_eq!(other["uri"], URI);
    assert_eq!(other["range"], range_of("'GET /items/{id}'"));

    client.change(URI, 2, &SHOP.replace("orbs: 3", "orbs: 0"));
    let told = client.diagnostics();
    assert_eq!(told["version"], 2);
    let diagnostics = told["diagnostics"].as_array().unwrap();
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0]["severity"], 1);
    let mut range = range_of("orbs: 3");
    range["start"]["character"] = json!(14);
    assert_eq!(diagnostics[0]["range"], range);
    assert!(diagnostics[0]["message"].as_str().unwrap().starts_with("`orbs` must be"));

    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    let told = client.diagnostics();
    assert_eq!(told["diagnostics"], json!([]));
    let (code, _) = client.ask("textDocument/hover", at("GET /items")).unwrap_err();
    assert_eq!(code, -32602);
    client.end().unwrap();
}

#[test]
fn the_settings_give_levels() {
    let levels = json!({ "shadowed_route": "off", "overlap": "error" });
    let mut client = Client::ready(json!({ "initializationOptions": { "levels": levels } }));
    client.open(URI, SHOP);
    let told = client.diagnostics();
    let diagnostics = told["diagnostics"].as_array().unwrap();
    assert_eq!((diagnostics.len(), &diagnostics[0]["severity"]), (1, &json!(1)));
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
    client.open("file:///a/shop.test.yaml", "orbgate_test: 1\ncases:\n  - GET /a | user | maybe\n");
    let told = client.diagnostics();
    let diagnostic = &told["diagnostics"][0];
    assert_eq!(diagnostic["range"]["start"], json!({ "line": 2, "character": 4 }), "{told:#}");
    for uri in ["file:///a/compose.yaml", "file:///a/shop.test.yaml"] {
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 1 } });
        assert_eq!(client.ask("textDocument/hover", params.clone()).unwrap(), Value::Null);
        assert_eq!(client.ask("textDocument/documentSymbol", params).unwrap(), Value::Null);
    }
    client.end().unwrap();
}
