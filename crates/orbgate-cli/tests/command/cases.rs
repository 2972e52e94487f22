//! `orbgate test`.

use std::fs;

use serde_json::{Value, json};

use crate::{SHOP, file, of_the_repository, orbgate, orbgate_reading};

const CASES: &str = include_str!("../../testdata/shop.test.yaml");

/// A folder of its own with the shop's policy and its cases, these instead of some.
fn cases(name: &str, replace: &[(&str, &str)]) -> String {
    fs::create_dir_all(format!("{}/cases-{name}", env!("CARGO_TARGET_TMPDIR"))).unwrap();
    file(&format!("cases-{name}/shop.yaml"), SHOP);
    let mut text = CASES.to_owned();
    for (from, to) in replace {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    file(&format!("cases-{name}/shop.test.yaml"), text)
}

#[test]
fn the_shipped_policy_is_covered_fully() {
    let Some(path) = of_the_repository("policy/external.test.yaml") else {
        return;
    };
    let path = path.to_str().unwrap();
    let ran = orbgate(&["test", path, "--threshold", "100"]);
    assert_eq!((ran.code, &*ran.err), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("external.yaml: covered: 39 of 39 rows, 99 of 99 outcomes (100.0 %)"), "{}", ran.out);
    // The policy in the command is the same.
    let built_in = fs::read_to_string(path).unwrap().replace("policy: external.yaml\n", "");
    let ran = orbgate_reading(&["test", "-", "--threshold", "100"], built_in.as_bytes());
    assert_eq!((ran.code, &*ran.err), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("external.yaml (built in): covered: 39 of 39 rows"), "{}", ran.out);
}

#[test]
fn cases_that_pass_are_0_and_their_policy_is_beside_them() {
    let path = cases("pass", &[]);
    let ran = orbgate(&["test", &path]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let shop = path.replace("shop.test.yaml", "shop.yaml");
    let expected = format!("{path}: ok: 7 cases\n{shop}: covered: 5 of 6 rows, 8 of 22 outcomes (36.3 %)\n");
    assert_eq!(ran.out, expected);
}

#[test]
fn a_case_that_fails_is_1_with_a_diff_and_the_location_of_the_rule() {
    let path =
        cases("fail", &[("allow 5 bonus", "allow 6 bonus"), ("user write:items | scope_missing", "user | allow")]);
    let ran = orbgate(&["test", &path]);
    let shop = path.replace("shop.test.yaml", "shop.yaml");
    assert_eq!((ran.code, &*ran.err), (1, ""));
    let expected = format!(
        "FAIL {path}:7:5: GET /v1/items/7 | user | allow\n  decision: expected allow, found deny\n  reason scope_missing, by {shop}:12:13\n\
         FAIL {path}:8:5: POST /v1/items/7 bonus | user write:items | allow 6 bonus\n  orbs: expected 6, found 5\n  reason scope_held, by {shop}:17:20\n\
         {path}: 2 of 7 cases failed\n"
    );
    assert!(ran.out.starts_with(&expected), "{}", ran.out);
    // Without a rule there is a reason all the same.
    let ran = orbgate_reading(&["test", "-"], b"orbgate_test: 1\ncases: [GET /api/ | user | allow]\n");
    let expected = "FAIL -:2:9: GET /api/ | user | allow\n  decision: expected allow, found deny\n  \
                    reason malformed_request (empty_segment)\n";
    assert!(ran.out.starts_with(expected), "{}", ran.out);
}

#[test]
fn what_is_not_covered_is_listed_by_line_and_outcome() {
    let path = cases("coverage", &[]);
    let shop = path.replace("shop.test.yaml", "shop.yaml");
    let ran = orbgate(&["test", &path, "--coverage"]);
    assert_eq!(ran.code, 0);
    for line in [
        format!("not covered: {shop}:11:13: GET /v1/items: scope_missing\n"),
        format!("not covered: {shop}:16:13: POST /v1/items: scope_held, bonus, scope_missing\n"),
        format!("not covered: {shop}:26:7: read:talk: scope_held, bonus, scope_missing\n"),
        format!(
            "not covered: {shop}: the policy as a whole: malformed_request, invalid_token, no_route, method_not_declared\n"
        ),
    ] {
        assert!(ran.out.contains(&line), "{line} in {}", ran.out);
    }
    for sign in ["36%", "36 %"] {
        assert_eq!(orbgate(&["test", &path, "--threshold", sign]).code, 0);
    }
    for (threshold, code) in [("0", 0), ("36", 0), ("37", 1), ("100", 1)] {
        let ran = orbgate(&["test", &path, "--threshold", threshold]);
        assert_eq!(ran.code, code, "{threshold}");
        assert_eq!(ran.out.contains("not covered: "), code == 1);
        assert_eq!(ran.out.contains(&format!("less than {threshold} % is covered")), code == 1);
        let ran = orbgate(&["test", &path, "--json", "--threshold", threshold]);
        assert_eq!(ran.code, code, "{threshold}");
    }
    for wrong in ["101", "-1", "x", "90%%", "", "%"] {
        let ran = orbgate(&["test", &path, &format!("--threshold={wrong}")]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(" 0 to 100, "), "{}", ran.err);
    }
}

#[test]
fn json_has_every_case_with_its_decision() {
    let path = cases("json", &[("allow 5 bonus", "allow 6")]);
    let ran = orbgate(&["test", &path, "--json"]);
    assert_eq!((ran.code, &*ran.err), (1, ""));
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let file = &json["files"][0];
    assert_eq!((&file["passed"], &file["failed"]), (&json!(6), &json!(1)));
    let case = &file["cases"][3];
    assert_eq!(case["name"], "POST /v1/items/7 bonus | user write:items | allow 6");
    assert_eq!((&case["passed"], &case["location"]), (&json!(false), &json!({"line": 8, "column": 5})));
    assert_eq!(case["differences"], json!([{"field": "orbs", "expected": "6", "found": "5"}]));
    assert_eq!(case["decision"]["route"], "POST /v1/items/{id}");
    assert_eq!(file["policy"], case["decision"]["policy"]);
    let coverage = &json["coverage"][0];
    assert_eq!(coverage["rows"], json!({"covered": 4, "total": 6}));
    assert_eq!(coverage["outcomes"], json!({"covered": 6, "total": 22}));
    assert_eq!(
        coverage["lacking"][0],
        json!({"row": "GET /v1/items", "location": {"line": 11, "column": 13}, "outcomes": ["scope_missing"]})
    );
    assert_eq!(coverage["lacking"].as_array().unwrap().last().unwrap()["row"], Value::Null);
}

#[test]
fn lcov_has_a_line_for_each_row_and_a_branch_for_each_outcome() {
    let path = cases("lcov", &[]);
    let lcov = format!("{path}.info");
    assert_eq!(orbgate(&["test", &path, "--lcov", &lcov]).code, 0);
    let text = fs::read_to_string(&lcov).unwrap();
    let shop = path.replace("shop.test.yaml", "shop.yaml");
    assert!(text.starts_with(&format!("TN:\nSF:{shop}\nBRDA:11,0,0,1\nBRDA:11,0,1,0\n")), "{text}");
    for line in ["BRDA:16,2,0,-", "DA:16,0", "DA:17,2", "BRF:17", "BRH:7", "LF:6", "LH:5", "end_of_record"] {
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
    // What the totals say is what the lines say.
    let count = |start: &str, covered: fn(&str) -> bool| {
        text.lines().filter(|line| line.starts_with(start) && covered(line.rsplit(',').next().unwrap())).count()
    };
    assert_eq!((count("BRDA:", |_| true), count("BRDA:", |times| times != "0" && times != "-")), (17, 7));
    assert_eq!((count("DA:", |_| true), count("DA:", |times| times != "0")), (6, 5));
    // Rows on one line are told apart by their block.
    let flow = file(
        "cases-lcov/flow.yaml",
        "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: [GET /x, GET /y] } } } }\n",
    );
    let ran = orbgate_reading(
        &["test", "-", "--policy", &flow, "--lcov", &lcov],
        b"orbgate_test: 1\ncases: [GET /x | user s | allow]\n",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = fs::read_to_string(&lcov).unwrap();
    for line in ["BRDA:2,0,0,1", "BRDA:2,1,0,-", "DA:2,1", "LF:1", "BRF:4", "BRH:1"] {
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
}

#[test]
fn a_property_that_does_not_hold_is_1_and_has_its_witnesses() {
    let properties = "properties:\n  - never | organisation * | POST /v1/items/*\n  - only | user read:items | GET /v1/*\n  - never | any * | /v2/*\ncases:";
    let path = cases("properties", &[("cases:", properties)]);
    let shop = path.replace("shop.test.yaml", "shop.yaml");
    let ran = orbgate(&["test", &path, "--junit", &format!("{path}.xml")]);
    assert_eq!((ran.code, &*ran.err), (1, ""));
    let expected = format!(
        "FAIL {path}:4:5: never | organisation * | POST /v1/items/*\n  \
         organisation with `write:items` may call POST /v1/items/1: `POST /v1/items/{{id}}` for `write:items`, 5 orbs, by {shop}:17:20\n  \
         organisation with `order:items` may call POST /v1/items/order: `POST /v1/items/order` for `order:items`, 3 orbs, by {shop}:21:18\n\
         FAIL {path}:6:5: never | any * | /v2/*\n  \
         no route of the policy decides `/v2/*`\n\
         {path}: 0 of 7 cases and 2 of 3 properties failed\n"
    );
    assert!(ran.out.starts_with(&expected), "{}", ran.out);
    let junit = fs::read_to_string(format!("{path}.xml")).unwrap();
    for part in [
        "tests=\"10\" skipped=\"0\" failures=\"2\"",
        "`/v2/*`</failure>",
        "<testcase name=\"5:5: only | user read:items | GET /v1/*\"",
    ] {
        assert!(junit.contains(part), "{part} in {junit}");
    }
    let ran = orbgate(&["test", &path, "--json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let [never, only, nothing] = [0, 1, 2].map(|at| &json["files"][0]["properties"][at]);
    assert_eq!((&never["holds"], &never["rules"]), (&json!(false), &json!(2)));
    let witness = &never["witnesses"][0];
    assert_eq!(witness["caller"], json!({ "kind": "organisation", "scopes": "write:items" }));
    assert_eq!(witness["requests"][0]["asked"], json!({ "method": "POST", "target": "/v1/items/1" }));
    assert_eq!(witness["requests"][0]["rule"]["route"], "POST /v1/items/{id}");
    assert_eq!((&only["holds"], &only["error"]), (&json!(true), &json!(null)));
    assert!(nothing["error"].as_str().unwrap().contains("`/v2/*`"));
    // The page of a review has them, too.
    let ran = orbgate(&["review", &shop, &shop, "--tests", &path, "--markdown"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("\n0 of 7 cases and 2 of 3 properties failed\n"), "{}", ran.out);
    assert!(ran.out.contains("line 6: `never | any * | /v2/*`: `` "), "{}", ran.out);
}

#[test]
fn a_scope_that_the_policy_lacks_is_a_warning() {
    let path = cases("slip", &[("user write:items | scope_missing", "user raed:items | scope_missing")]);
    let ran = orbgate(&["test", &path]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let warning = ran.out.strip_prefix(&format!("{path}:7:5: warning: "));
    let warning = warning.unwrap().lines().next().unwrap();
    assert!(warning.contains("`raed:items`; ") && warning.ends_with("`read:items`?"));
}

#[test]
fn warnings_are_in_every_output() {
    let properties = "properties:\n  - at most 5 orbs | user read:items | POST /v1/*\ncases:";
    let path = cases(
        "warnings",
        &[("user write:items | scope_missing", "user raed:items | scope_missing"), ("cases:", properties)],
    );
    let (shop, junit) = (path.replace("shop.test.yaml", "shop.yaml"), format!("{path}.xml"));
    let ran = orbgate(&["test", &path, "--junit", &junit]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let warning = |start: &str| {
        let line = ran.out.lines().find_map(|line| line.split_once(start));
        line.unwrap().1.to_owned()
    };
    let slip = warning(":9:5: warning: ");
    let little = warning("4:5: warning: at most 5 orbs | user read:items | POST /v1/*: ");
    assert!(slip.ends_with("`raed:items`; did you mean `read:items`?"), "{slip}");
    let text = fs::read_to_string(&junit).unwrap();
    let text = text.replace("&apos;", "'").replace("&quot;", "\"");
    for warning in [slip, little] {
        let part = format!("<system-out>warning: {warning}</system-out>");
        assert!(text.contains(&part), "{part} in {text}");
    }
    assert!(text.contains("failures=\"0\""), "{text}");
    let ran = orbgate(&["review", &shop, &shop, "--tests", &path, "--markdown"]);
    assert_eq!(ran.err, "");
    for part in [
        "\n0 of 7 cases and 0 of 1 property failed\n\n- warning: `",
        "`raed:items`; did you mean `read:items`? ``\n",
        "line 4: `at most 5 orbs | user read:items | POST /v1/*: ",
    ] {
        assert!(ran.out.contains(part), "{part} in {}", ran.out);
    }
}

#[test]
fn junit_names_every_case_and_says_why_it_fails() {
    let path = cases("junit", &[("allow 5 bonus", "allow 6"), ("name: an", "name: \"<an> & ]]>\"\n    # an")]);
    let junit = format!("{path}.xml");
    assert_eq!(orbgate(&["test", &path, "--junit", &junit]).code, 1);
    let text = fs::read_to_string(&junit).unwrap();
    for part in [
        "<testsuites name=\"orbgate test\" tests=\"7\" skipped=\"0\" failures=\"1\" errors=\"0\">",
        "<testcase name=\"8:5: POST /v1/items/7 bonus | user write:items | allow 6\"",
        "<failure message=\"orbs: expected 6, found 5\">orbs: expected 6, found 5\nreason scope_held, by ",
        "shop.yaml:17:20</failure>",
        "&lt;an&gt; &amp;",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let ran = orbgate(&["test", &path, "--junit", "/nowhere/junit.xml"]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
    assert!(ran.err.starts_with("error: cannot write `/nowhere/junit.xml`: "), "{}", ran.err);
}

#[test]
fn files_of_one_policy_are_covered_together() {
    let one = cases("together", &[]);
    let two = file(
        "cases-together/two.test.yaml",
        "orbgate_test: 1\npolicy: shop.yaml\ncases:\n  - POST /v1/items | user write:items | allow\n",
    );
    let ran = orbgate(&["test", &one, &two]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.out.lines().count(), 3, "{}", ran.out);
    assert!(ran.out.contains("covered: 6 of 6 rows, 9 of 22 outcomes (40.9 %)"), "{}", ran.out);
    // However the policy is spelt.
    fs::create_dir_all(format!("{}/cases-together/sub", env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let other = file(
        "cases-together/other.test.yaml",
        fs::read_to_string(&two).unwrap().replace("shop.yaml", "sub/../shop.yaml"),
    );
    assert_eq!(orbgate(&["test", &one, &other]).out.lines().count(), 3);
    // And against another policy, all of them.
    let next = file("cases-together/next.yaml", SHOP.replace("orbs: 5", "orbs: 6"));
    let ran = orbgate(&["test", &one, &two, "--policy", &next]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("  orbs: expected 5, found 6\n"), "{}", ran.out);
}

#[test]
fn a_policy_that_is_not_there_or_has_diagnostics_is_2() {
    let path = cases("no-policy", &[("policy: shop.yaml", "policy: nowhere.yaml")]);
    let ran = orbgate(&["test", &path]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
    assert!(
        ran.err.starts_with(&format!("{path}:2:9: cannot read `"))
            && ran.err.contains("cases-no-policy/nowhere.yaml`: "),
        "{}",
        ran.err
    );
    assert_eq!(orbgate(&["test"]).code, 2);
    let ran = orbgate_reading(&["test", "-"], b"orbgate_test: 1\ncases: []\n");
    assert_eq!((ran.code, &*ran.out, &ran.err[..7]), (2, "", "-:2:8: "));
    assert_eq!(orbgate(&["test", "/nowhere.test.yaml"]).code, 2);
    for arguments in [&["test", "-", "-"][..], &["test", "-", "--policy", "-"]] {
        let ran = orbgate_reading(arguments, CASES.as_bytes());
        assert!(ran.err.starts_with("error: standard input "), "{}", ran.err);
    }
}
