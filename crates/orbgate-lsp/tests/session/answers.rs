//! What is asked about a policy.

use serde_json::{Value, json};

use crate::client::{Client, SHOP, URI, at, location_of, range_of};

#[test]
fn hover_says_what_a_route_needs_and_what_overlaps_it() {
    let mut client =
        Client::ready(json!({ "capabilities": { "general": { "positionEncodings": ["utf-16", "utf-8"] } } }));
    client.open(URI, SHOP);
    let hover = client.ask("textDocument/hover", at("GET /items/latest")).unwrap();
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
    let hover = client.ask("textDocument/hover", at("/items/{id}'")).unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("- overlaps `POST /v1/items/order` (line 14): `/v1/items/order` is decided by nobody: a 405\n"),
        "{text}"
    );
    assert!(text.contains("needs `read:items`: `reads ![it](https://example.com/x.png) 𝄞`\n"), "{text}");
    let hover = client.ask("textDocument/hover", at("order:items:")).unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.starts_with("`order:items` of api `items`\n"), "{text}");
    assert!(text.ends_with("- `POST /v1/items/order` (line 14)\n- `GET /v1/items/latest` (line 15)\n"), "{text}");
    assert_eq!(client.ask("textDocument/hover", at("permits: orders")).unwrap(), Value::Null);

    // While another line has an error, and the route has moved.
    client.change(URI, 2, &SHOP.replace("      order:items:\n", "      order items:\n\n"));
    let mut params = at("GET /items/latest");
    params["position"]["line"] = json!(15);
    let hover = client.ask("textDocument/hover", params).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().starts_with("`GET /v1/items/latest`"));
    assert_eq!(hover["range"]["start"]["line"], 15);
    client.end().unwrap();
}

#[test]
fn a_policy_whose_paths_end_in_a_slash_is_shown_with_it() {
    let mut client = Client::ready(json!({ "capabilities": {} }));
    let text = SHOP.replace("orbgate: 1\n", "orbgate: 1\ntrailing_slash: always\n");
    client.open(URI, &text);
    let mut params = at("GET /items/latest");
    params["position"]["line"] = json!(params["position"]["line"].as_u64().unwrap() + 1);
    let hover = client.ask("textDocument/hover", params).unwrap();
    assert_eq!(
        hover["contents"]["value"],
        "`GET /v1/items/latest/`\n\n\
         - needs `order:items`: orders\n\
         - orbs: 5\n\
         - any token may carry the scope\n\
         - declared on this path: `GET`\n\
         - overlaps `GET /v1/items/{id}/` (line 10): `/v1/items/latest/` is decided by this route\n"
    );
    let ragged = text.replace("trailing_slash: always", "trailing_slash:   always");
    client.change(URI, 2, &ragged);
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let edits = client.ask("textDocument/formatting", json!({ "textDocument": { "uri": URI }, "options": options }));
    let edits = edits.unwrap().to_string();
    assert!(!edits.contains("trailing_slash:   "), "{edits}");
    assert_ne!(edits, "[]");
    client.end().unwrap();
}

#[test]
fn positions_are_counted_as_agreed() {
    let scope = "      read:items: { permits: \u{1d11e}, orbs: false, routes: [GET /a] }\n";
    let text = format!("orbgate: 1\r\napis:\r\n  a:\r\n    base_path: ''\r\n    scopes:\r\n{scope}");
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
    let to = client.ask("textDocument/definition", at("GET /items/latest")).unwrap();
    assert_eq!(to, json!({ "uri": URI, "range": range_of("order:items") }));
    let references = |client: &mut Client, with_scope: bool| {
        let mut params = at("order:items:");
        params["context"] = json!({ "includeDeclaration": with_scope });
        let references = client.ask("textDocument/references", params).unwrap();
        let references = references.as_array().unwrap().iter();
        references.map(|reference| reference["range"].clone()).collect::<Vec<_>>()
    };
    let routes = [range_of("POST /items/order"), range_of("GET /items/latest")];
    assert_eq!(references(&mut client, false), routes);
    assert_eq!(references(&mut client, true)[0], range_of("order:items"));
    assert_eq!(client.ask("textDocument/definition", at("orbs: 3")).unwrap(), Value::Null);

    let outline = client.ask("textDocument/documentSymbol", at("orbs: 3")).unwrap();
    let names: Vec<_> = outline.as_array().unwrap().iter().map(|scope| &scope["name"]).collect();
    assert_eq!(names, ["read:items", "order:items"]);
    assert_eq!(outline[1]["detail"], "items");
    assert_eq!(outline[1]["children"][1]["name"], "GET /v1/items/latest");
    assert_eq!(outline[1]["range"]["end"], range_of("GET /items/latest")["end"]);
    client.end().unwrap();
}

/// Two apis with one scope, whose first is the second by name.
const TWO: &str = "orbgate: 1
apis:
  b:
    base_path: /b
    scopes:
      read:x: { orbs: false, routes: [GET /x] }
  a:
    base_path: /a
    scopes:
      read:x: { orbs: false, routes: [GET /x, GET /y] }
";

#[test]
fn a_scope_of_two_apis_is_found_in_both() {
    let mut client = Client::ready(json!({}));
    client.open(URI, TWO);
    let at = |line: usize, text: &str| {
        let character = TWO.lines().nth(line).unwrap().find(text).unwrap();
        let position = json!({ "line": line, "character": character });
        json!({ "textDocument": { "uri": URI }, "position": position })
    };
    let hover = client.ask("textDocument/hover", at(9, "read:x")).unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.starts_with("`read:x` of apis `a`, `b`\n"), "{text}");
    let to = client.ask("textDocument/definition", at(9, "GET /y"));
    assert_eq!(to.unwrap()["range"]["start"], json!({ "line": 5, "character": 6 }));
    let mut params = at(9, "read:x");
    params["context"] = json!({ "includeDeclaration": true });
    let references = client.ask("textDocument/references", params).unwrap();
    let references = references.as_array().unwrap().iter();
    let lines: Vec<_> = references.map(|reference| &reference["range"]["start"]["line"]).collect();
    assert_eq!(lines, [9, 5, 9, 9, 5]);
    let outline = client.ask("textDocument/documentSymbol", at(0, "orbgate")).unwrap();
    let scopes = outline.as_array().unwrap().iter().map(|scope| {
        let routes = scope["children"].as_array().unwrap().len();
        (&scope["name"], &scope["detail"], routes)
    });
    let expected = [("read:x", "b", 1), ("read:x", "a", 2)];
    assert_eq!(scopes.len(), expected.len());
    for (scope, (name, api, routes)) in scopes.zip(expected) {
        assert_eq!((scope.0, scope.1, scope.2), (&json!(name), &json!(api), routes));
    }
    client.end().unwrap();
}

/// A route that accepts another scope, and one that needs a second one as well.
const ANY: &str = "orbgate: 1
apis:
  a:
    base_path: /a
    scopes:
      read:x:
        permits: reads x
        orbs: false
        or: [admin:x]
        routes:
          - GET /x
          - { route: GET /x/all, and: export:x }
      admin:x: { routes: [] }
      export:x: { routes: [] }
";

#[test]
fn alternatives_are_shown_and_lead_from_each_scope_to_the_route() {
    let mut client = Client::ready(json!({}));
    client.open(URI, ANY);
    let at = |line: usize, text: &str| {
        let character = ANY.lines().nth(line).unwrap().find(text).unwrap();
        json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } })
    };
    let mut hover = |at: Value| {
        let hover = client.ask("textDocument/hover", at).unwrap();
        hover["contents"]["value"].as_str().unwrap().to_owned()
    };
    let text = hover(at(10, "GET /x"));
    assert!(text.contains("- needs `read:x` or `admin:x`\n- listed under `read:x`: reads x\n"), "{text}");
    let text = hover(at(11, "GET /x/all"));
    assert!(text.contains("- needs `read:x export:x`\n"), "{text}");
    let text = hover(at(12, "admin:x"));
    assert!(text.ends_with("- also for `GET /a/x` (line 11)\n"), "{text}");
    // In the list of alternatives, too.
    assert_eq!(hover(at(8, "admin:x")), text);
    let mut params = at(13, "export:x");
    params["context"] = json!({ "includeDeclaration": false });
    let references = client.ask("textDocument/references", params).unwrap();
    assert_eq!(references[0]["range"]["start"], json!({ "line": 11, "character": 21 }));
    assert_eq!(references.as_array().unwrap().len(), 1);
    client.end().unwrap();
}

#[test]
fn a_policy_is_laid_out_and_one_with_diagnostics_is_left_alone() {
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
    let line = json!({ "start": { "line": 11, "character": 0 }, "end": { "line": 12, "character": 0 } });
    assert_eq!(edits, json!([{ "range": line, "newText": "        orbs: 3\n" }]));
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
    let actions = client.ask("textDocument/codeAction", params.clone()).unwrap();
    let action = &actions[0];
    assert_eq!(action["title"], "End the file in `...`");
    assert_eq!(action["kind"], "quickfix");
    assert_eq!(action["diagnostics"][0]["code"], "no_end_marker");
    let edit = &action["edit"]["changes"][URI][0];
    assert_eq!(edit["newText"], "\n...");
    assert_eq!(edit["range"]["start"], location_of("\n...\n"));
    params["context"]["only"] = json!(["refactor"]);
    assert_eq!(client.ask("textDocument/codeAction", params).unwrap(), Value::Null);
    client.end().unwrap();
}
