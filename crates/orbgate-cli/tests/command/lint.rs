//! `orbgate lint`.

use serde_json::{Value, json};

use crate::{BAD, SHOP, file, of_the_repository, orbgate, orbgate_reading};

const CLEAN: &str = "\
orbgate: 1
apis:
  a:
    base_path: /v1
    scopes:
      read:items:
        permits: reads items
        orbs: false
        routes: [GET /items]
...
";

#[test]
fn a_clean_file_is_0_and_says_so() {
    let clean = file("lint-clean.yaml", CLEAN);
    let ran = orbgate(&["lint", &clean]);
    assert_eq!((ran.code, ran.out, ran.err), (0, format!("{clean}: ok\n"), String::new()));
    let ran = orbgate(&["lint", &clean, "--json"]);
    assert_eq!(ran.code, 0);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["files"][0]["findings"], json!([]));
}

#[test]
fn notes_alone_are_0_and_warnings_are_1() {
    let noted = file("lint-noted.yaml", CLEAN.replace("        permits: reads items\n", "").replace("...\n", ""));
    let ran = orbgate(&["lint", &noted]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let starts = [
        format!("{noted}:1:1: note[no_end_marker]: "),
        format!("{noted}:6:7: note[no_permits]: scope `read:items` "),
        format!("{noted}: ok: 2 notes"),
    ];
    assert_eq!(ran.out.lines().count(), starts.len(), "{}", ran.out);
    for (line, start) in ran.out.lines().zip(&starts) {
        assert!(line.starts_with(start), "{line}");
    }
    for (levels, code) in [
        (&["--level", "no_permits=error"][..], 1),
        (&["--level", "no_permits=warning"], 1),
        (&["--level", "no_permits=off"], 0),
        (&["--level", "no_permits=error", "--level", "no_permits=note"], 0),
        (&["--level", "no_permits=error", "--level", "no_permits=off"], 0),
        (&["--level", "no_permit=off"], 2),
        (&["--level", "no_permits=loud"], 2),
        (&["--level", "no_permits"], 2),
    ] {
        let ran = orbgate(&[&["lint", &noted], levels].concat());
        assert_eq!(ran.code, code, "{levels:?}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_finding_has_its_location_and_code_and_can_be_suppressed() {
    let shop = file("lint-shop.yaml", SHOP);
    let ran = orbgate(&["lint", &shop]);
    assert_eq!((ran.code, &*ran.err), (1, ""));
    let overlap =
        format!("{shop}:21:18: warning[overlap]: `POST /v1/items/order` overlaps `POST /v1/items/{{id}}` (line 17), ");
    assert!(ran.out.contains(&overlap), "{}", ran.out);
    let reason = "routes: [POST /items/order] # orbgate-lint: allow overlap: an order is not an item";
    let suppressed = file("lint-suppressed.yaml", SHOP.replace("routes: [POST /items/order]", reason));
    let ran = orbgate(&["lint", &suppressed]);
    assert!(!ran.out.contains("[overlap]") && ran.out.contains("1 suppressed"), "{}", ran.out);
    let ran = orbgate(&["lint", &suppressed, "--json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let findings = json["files"][0]["findings"].as_array().unwrap();
    let overlap = findings.iter().find(|finding| finding["code"] == "overlap").unwrap();
    assert_eq!(overlap["suppressed"], "an order is not an item");
    assert_eq!(overlap["location"], json!({"line": 21, "column": 18}));
    assert_eq!(overlap["other"], json!({"line": 17, "column": 20}));
}

#[test]
fn the_shipped_policy_has_no_error() {
    let Some(path) = of_the_repository("policy/external.yaml") else {
        return;
    };
    let ran = orbgate(&["lint", path.to_str().unwrap(), "--json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let findings = json["files"][0]["findings"].as_array().unwrap();
    let codes: Vec<_> = findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect();
    for (code, times) in [("unstated_get", 6), ("scope_without_routes", 2), ("no_permits", 2)] {
        assert_eq!(codes.iter().filter(|other| **other == code).count(), times, "{code}");
    }
    assert!(findings.iter().all(|finding| finding["level"] != "error"));
}

#[test]
fn diagnostics_are_findings_and_the_other_files_are_looked_at() {
    let (bad, clean) = (file("lint-bad.yaml", BAD), file("lint-good.yaml", CLEAN));
    let ran = orbgate(&["lint", &bad, &clean]);
    assert_eq!((ran.code, &*ran.err), (1, ""));
    assert!(
        ran.out.starts_with(&format!("{bad}:7:15: `orbs` must be `true`, `false` or a plain whole number")),
        "{}",
        ran.out
    );
    assert!(ran.out.ends_with(&format!("{clean}: ok\n")), "{}", ran.out);
    let ran = orbgate(&["lint", "/nowhere.yaml", "--policy", &clean]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.ends_with(&format!("{clean}: ok\n")), "{}", ran.out);
    let ran = orbgate_reading(&["lint", "-"], CLEAN.as_bytes());
    assert_eq!((ran.code, &*ran.out), (0, "-: ok\n"));
    assert_eq!(orbgate(&["lint"]).code, 2);
    assert_eq!(orbgate(&["lint", &clean, "--json", "--sarif"]).code, 2);
}

#[test]
fn sarif_has_rules_results_and_suppressions() {
    let reason = "routes: [POST /items/order] # orbgate-lint: allow overlap: an order is not an item";
    let shop = file("lint sarif é.yaml", SHOP.replace("routes: [POST /items/order]", reason));
    let bad = file("lint-sarif-bad.yaml", BAD);
    let ran = orbgate(&["lint", &shop, &bad, "--sarif"]);
    assert_eq!((ran.code, &*ran.err), (1, ""));
    let sarif: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), orbgate_analysis::Code::ALL.len() + 1);
    let results = run["results"].as_array().unwrap();
    for result in results {
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]), "{result}");
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["startLine"].as_u64() >= Some(1) && region["startColumn"].as_u64() >= Some(1));
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let expected =
            if result["ruleId"] == "diagnostic" { "lint-sarif-bad.yaml" } else { "lint%20sarif%20%C3%A9.yaml" };
        assert!(uri.as_str().unwrap().ends_with(expected), "{uri}");
    }
    assert_eq!(results.iter().filter(|result| result["ruleId"] == "diagnostic").count(), 2);
    let overlap = results.iter().find(|result| result["ruleId"] == "overlap").unwrap();
    assert_eq!(overlap["suppressions"], json!([{"kind": "inSource", "justification": "an order is not an item"}]));
    let related = &overlap["relatedLocations"][0]["physicalLocation"]["region"];
    assert_eq!(related, &json!({"startLine": 17, "startColumn": 20}));
}

#[test]
fn every_code_is_in_the_help_with_its_level() {
    let help = orbgate(&["lint", "--help"]).out;
    let list = help.split("note     ").collect::<Vec<_>>();
    let (upper, notes) = (list[0], list[1].split("\nA comment").next().unwrap());
    let (errors, warnings) = upper.split_once("warning  ").unwrap();
    for code in orbgate_analysis::Code::ALL {
        let among = match code.level().as_str() {
            "error" => errors,
            "warning" => warnings,
            _ => notes,
        };
        assert!(among.contains(code.as_str()), "{code}");
    }
}

/// Notes change no exit code, however many there are.
#[test]
fn what_is_too_much_to_list_is_2_unless_it_is_notes() {
    let scopes: String = (0..1_500).map(|number| format!("      s:{number}: {{ permits: x, routes: [] }}\n")).collect();
    let text = format!("orbgate: 1\napis:\n  a:\n    scopes:\n{scopes}...\n");
    let many = file("lint-many.yaml", &text);
    for (level, code, complete) in [("warning", 2, false), ("error", 2, false), ("note", 0, false), ("off", 0, true)] {
        let level = format!("scope_without_routes={level}");
        let ran = orbgate(&["lint", &many, "--level", &level]);
        assert_eq!(ran.code, code, "{level}: {}", ran.err);
        let error = "error: ";
        assert_eq!(ran.err.starts_with(error), code == 2, "{}", ran.err);
        assert_eq!(ran.err.lines().count(), usize::from(code == 2));
        let summary = ran.out.lines().last().unwrap();
        assert_eq!(summary.ends_with(" listed"), !complete, "{summary}");
        let json = orbgate(&["lint", &many, "--json", "--level", &level]).out;
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["files"][0]["complete"], complete, "{level}");
    }
    let allow = "# orbgate-lint: allow-file scope_without_routes: asked for by name\n";
    let allowed = file("lint-many-allowed.yaml", format!("{allow}{text}"));
    let ran = orbgate(&["lint", &allowed, "--level", "scope_without_routes=error"]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
}
