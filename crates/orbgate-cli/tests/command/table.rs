//! `orbgate table`.

use orbgate_testing::valid::policy;
use serde_json::{Value, json};

use crate::{SHOP, digest, file, orbgate};

fn shop(format: &str) -> String {
    let policy = file(&format!("table-{format}.yaml"), SHOP);
    let ran = orbgate(&["table", "--format", format, "--policy", &policy]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    ran.out
}

#[test]
fn text_shows_scopes_routes_and_headings_in_order() {
    let table = shop("text");
    let body = table.split_once('\n').unwrap().1;
    assert!(table.starts_with("policy shop: 4 scopes, 5 routes, target strict, sha256:"));
    let expected = "
api items, token: any
  SCOPE        ORBS        PERMITS, ROUTES
  read:items   no          reads | lists \"items\", all
               no          GET /v1/items
               no          GET /v1/items/{id}
  write:items  yes         -
               yes         POST /v1/items
               5           POST /v1/items/{id}
  order:items  3           -
               3           POST /v1/items/order

api talk, token: user (organisation: allow_without_scope)
  SCOPE        ORBS        PERMITS, ROUTES
  read:talk    yes         -
                           no route

headings with no route: Later
";
    assert_eq!(body, expected);
}

#[test]
fn text_of_the_built_in_policy_fits_100_columns() {
    let ran = orbgate(&["table"]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{}", ran.out);
    assert!(!ran.out.contains('\x1b'));
    for part in ["read:inference   not stated", "headings with no route: Sessions, Organisations\n"] {
        assert!(ran.out.contains(part), "{part}");
    }
}

#[test]
fn markdown_escapes_bars() {
    let table = shop("markdown");
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "| API | Scope | Orbs | Token | Permits | Route | Orbs of the route |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            "| items | `read:items` | no | any | reads \\| lists \"items\", all | `GET /v1/items` | no |",
        ]
    );
    assert_eq!(lines[5], "| items | `write:items` | yes | any |  | `POST /v1/items/{id}` | 5 |");
    assert_eq!(lines[7], "| talk | `read:talk` | yes | user (organisation: allow_without_scope) |  |  |  |",);
    assert!(lines.contains(&"Headings with no route: Later"), "{table}");
}

#[test]
fn csv_quotes_what_must_be_quoted() {
    let table = shop("csv");
    let lines: Vec<_> = table.split("\r\n").collect();
    assert_eq!(
        lines,
        [
            "api,scope,orbs,token,permits,route,route_orbs,heading,scopes,closed",
            "items,read:items,no,any,\"reads | lists \"\"items\"\", all\",GET /v1/items,no,,,",
            "items,read:items,no,any,\"reads | lists \"\"items\"\", all\",GET /v1/items/{id},no,,,",
            "items,write:items,yes,any,,POST /v1/items,yes,,,",
            "items,write:items,yes,any,,POST /v1/items/{id},5,,,",
            "items,order:items,3,any,,POST /v1/items/order,3,,,",
            "talk,read:talk,yes,user (organisation: allow_without_scope),,,,,,",
            ",,,,,,,Later,,",
            "",
        ]
    );
}

#[test]
fn json_has_the_documented_shape() {
    let table: Value = serde_json::from_str(&shop("json")).unwrap();
    let keys: Vec<_> = table.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["apis", "headings", "name", "policy", "target"]);
    assert_eq!(table["name"], "shop");
    assert_eq!(table["target"], "strict");
    assert_eq!(table["headings"], json!(["Later"]));
    assert_eq!(table["apis"][0]["token"], Value::Null);
    assert_eq!(table["apis"][0]["organisation"], Value::Null);
    assert_eq!(
        table["apis"][0]["scopes"][1],
        json!({
            "scope": "write:items",
            "permits": null,
            "orbs": {"consumes": true, "amount": null},
            "location": {"line": 13, "column": 7},
            "routes": [
                {"route": "POST /v1/items", "method": "POST", "template": "/v1/items",
                    "orbs": {"consumes": true, "amount": null}, "location": {"line": 16, "column": 13}},
                {"route": "POST /v1/items/{id}", "method": "POST", "template": "/v1/items/{id}",
                    "orbs": {"consumes": true, "amount": 5}, "location": {"line": 17, "column": 20}},
            ],
        })
    );
    assert_eq!(
        table["apis"][1],
        json!({
            "name": "talk",
            "token": "user",
            "organisation": "allow_without_scope",
            "scopes": [{
                "scope": "read:talk",
                "permits": null,
                "orbs": {"consumes": true, "amount": null},
                "location": {"line": 26, "column": 7},
                "routes": [],
            }],
        })
    );
}

#[test]
fn json_of_the_built_in_policy_is_complete() {
    let ran = orbgate(&["table", "--format", "json"]);
    assert_eq!(ran.out.matches('\n').count(), 1, "one line");
    let table: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(table["policy"], digest());
    let scopes: Vec<_> =
        table["apis"].as_array().unwrap().iter().flat_map(|api| api["scopes"].as_array().unwrap()).collect();
    let routes: usize = scopes.iter().map(|scope| scope["routes"].as_array().unwrap().len()).sum();
    assert_eq!((scopes.len(), routes), (24, 37));
    assert_eq!(scopes[23]["orbs"], Value::Null);
}

#[test]
fn an_unknown_format_is_2() {
    assert_eq!(orbgate(&["table", "--format", "xml"]).code, 2);
}

/// What a spreadsheet, a terminal or a page would obey is shown.
const HOSTILE: &str = "
orbgate: 1
apis:
  '=api':
    base_path: ''
    scopes:
      '=cmd|/c':
        permits: \"@SUM(1+1)*cmd|' /C calc'!A0\"
        orbs: false
        routes: [GET /a]
      'a```b``':
        permits: \"\\t=1+1\\nmore\"
        orbs: false
        routes: []
headings: ['-1+1', '+1', 'fine = text']
";

#[test]
fn csv_has_no_formulas() {
    let policy = file("table-formulas.yaml", HOSTILE);
    let ran = orbgate(&["table", "--format", "csv", "--policy", &policy]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let lines: Vec<_> = ran.out.split("\r\n").skip(1).collect();
    assert_eq!(
        lines,
        [
            "'=api,'=cmd|/c,no,any,'@SUM(1+1)*cmd|' /C calc'!A0,GET /a,no,,,",
            "'=api,a```b``,no,any,' =1+1 more,,,,,",
            ",,,,,,,'-1+1,,",
            ",,,,,,,'+1,,",
            ",,,,,,,fine = text,,",
            "",
        ]
    );
}

#[test]
fn markdown_code_ends_where_it_should() {
    let policy = file("table-backticks.yaml", HOSTILE);
    let ran = orbgate(&["table", "--format", "markdown", "--policy", &policy]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let lines: Vec<_> = ran.out.lines().skip(2).collect();
    assert!(lines[0].starts_with("| `=api` | `=cmd\\|/c` | no |"), "{}", lines[0]);
    assert!(lines[1].starts_with("| `=api` | ```` a```b`` ```` | no |"), "{}", lines[1]);
}

/// GitHub makes links and calls of these, whatever is escaped: within code it does not.
#[test]
fn markdown_calls_nobody() {
    let policy = SHOP
        .replace("headings: [Later]", "headings: ['#12 @later', Soon]")
        .replace("name: shop", "name: see https://example.com")
        .replace("permits: reads | lists \"items\", all", "permits: ask @org/team | www.example.com");
    assert_ne!(policy, SHOP);
    let policy = file("table-calls.yaml", policy);
    let ran = orbgate(&["table", "--format", "markdown", "--policy", &policy]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    for word in ["@later", "https://", "@org/team", "www."] {
        let mut outside = ran.out.lines().flat_map(|line| line.split('`').step_by(2));
        assert!(!outside.any(|text| text.contains(word)), "{word}: {}", ran.out);
    }
    assert!(ran.out.contains("`#12 @later`, Soon"), "{}", ran.out);
}

/// What a scope permits is repeated for each route: 30 MB of rows from a policy of half a MB. Keeping them would show.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_rows() {
    use std::io::Read as _;

    const ROUTES: usize = 30_000;
    const MOST_KIB: usize = 48 * 1024;
    let routes: Vec<_> = (0..ROUTES).map(|number| format!("GET /r{number}")).collect();
    let (permits, routes) = ("p".repeat(1_000), routes.join(", "));
    let policy = format!(
        "orbgate: 1\napis: {{ a: {{ base_path: '', scopes: {{ s: {{ permits: {permits}, orbs: false, routes: [{routes}] }} }} }} }}\n"
    );
    let policy = file("table-long.yaml", policy);
    for format in ["csv", "markdown"] {
        let arguments = ["table", "--format", format, "--policy", &policy];
        let mut child = crate::command(&arguments).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let (mut read, mut piece) = (0, vec![0; 1 << 16]);
        while read < ROUTES * 1_000 {
            let length = stdout.read(&mut piece).unwrap();
            assert!(length > 0, "{format} ends after {read} bytes");
            read += length;
        }
        // More is written than the pipe takes, so the command is still there.
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak: usize = peak.unwrap().trim().trim_end_matches(" kB").parse().unwrap();
        std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert!(peak < MOST_KIB, "{format}: {peak} KiB at the peak");
    }
}

/// Two versions and another api; `read:items` is in three apis, and says what it permits in one of them.
#[test]
fn a_scope_of_several_apis_is_shown_in_each_with_the_routes_there() {
    let policy = file("table-several.yaml", policy("scope-in-several-apis"));
    let ran = orbgate(&["check", &policy]);
    assert!(ran.out.contains(": ok: 3 scopes, 7 routes, "), "{}", ran.out);
    let table = |format| orbgate(&["table", "--format", format, "--policy", &policy]).out;
    let csv = table("csv");
    let rows = csv.lines().filter(|line| line.contains("read:items"));
    let permits = "\"reads items, in every api\"";
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            format!("v2,read:items,no,any,{permits},GET /api/v2/items,no,,,"),
            format!("v2,read:items,no,any,{permits},GET /api/v2/items/{{itemId}},no,,,"),
            format!("v1,read:items,no,any,{permits},GET /api/v1/items,no,,,"),
            format!("photos,read:items,no,any,{permits},GET /api/v1/photos,no,,,"),
        ]
    );
    let text = table("text");
    assert!(text.starts_with("policy scope-in-several-apis: 3 scopes, 7 routes, "));
    let json: Value = serde_json::from_str(&table("json")).unwrap();
    let routes = |api: usize| json["apis"][api]["scopes"][0]["routes"].as_array().unwrap().len();
    assert_eq!([routes(0), routes(1), routes(2)], [2, 1, 1]);
    assert_eq!(json["apis"][3]["scopes"][0]["routes"], json!([]));
    assert_eq!(json["apis"][4]["scopes"][0]["routes"][0]["route"], "GET /speech/voices");
    // What can be called: each route, and no scope by its name, because each has a route in some api.
    let scopes = "read:items write:items read:inference";
    let ran = orbgate(&["reach", "--token", "user", "--scopes", scopes, "--policy", &policy]);
    assert!(ran.out.contains("7 of 7 rows, "), "{}", ran.out);
}
