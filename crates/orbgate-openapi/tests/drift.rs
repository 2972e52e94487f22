//! Where a document and a policy differ, both ways.

use orbgate::{Orbs, Policy};
use orbgate_openapi::{Options, check, export, import};

use super::nothing;
use crate::support::expected::Expected;

const POLICY: &str = "\
orbgate: 1
apis:
  a:
    base_path: /v1
    scopes:
      read: { orbs: false, routes: ['GET /a', 'GET /a/{id}', GET /gone] }
      write: { orbs: 5, routes: ['PUT /a/{id}', DELETE /a] }
";

const DOCUMENT: &str = "\
openapi: 3.0.0
info: { title: A, version: '1' }
servers: [{ url: /v1 }]
paths:
  /a: { get: { security: [{ l: [read] }] }, delete: { security: [] } }
  /a/{name}: { get: { security: [{ l: [write] }], x-orbs: 7 }, put: { security: [{ l: [write] }] } }
  /new: { get: { security: [{ l: [read] }] } }
components: { securitySchemes: { l: { type: oauth2 } } }
";

fn lines(document: &str, options: &Options, policy: &str) -> Vec<String> {
    let policy = Policy::from_yaml(policy).unwrap();
    let drift = check(document.as_bytes(), options, &policy).unwrap();
    let location =
        |location: Option<orbgate::Location>| location.map_or("-".to_owned(), |location| location.to_string());
    let line = |drift: &orbgate_openapi::Drift| {
        let (document, policy) = (location(drift.document), location(drift.policy));
        format!("{document} {policy} {}: {}: {}", drift.kind, drift.operation, drift.message)
    };
    drift.iter().map(line).collect()
}

#[test]
fn every_difference_is_found_both_ways() {
    let differences = lines(DOCUMENT, &nothing(), POLICY);
    let kinds = differences.iter().map(|line| line.split(": ").next().unwrap());
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        ["5:45 7:49 unequal", "6:16 6:47 scope", "6:16 6:47 orbs", "7:11 - missing", "- 6:62 extra"]
    );
    let mut expected = Expected::default();
    expected.add("a document and a policy", differences);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "drift: both ways");
}

#[test]
fn orbs_are_compared_where_somebody_says_them() {
    let options = Options { orbs: Some(Orbs::Free), ..nothing() };
    let lines = lines(DOCUMENT, &options, POLICY);
    let orbs: Vec<_> = lines.iter().filter(|line| line.contains("orbs: PUT")).collect();
    assert_eq!(orbs.len(), 1, "{orbs:?}");
    assert!(orbs[0].starts_with("6:64 7:34 orbs: PUT /v1/a/{name}: "));
    assert!(orbs[0].contains("`orbs: false`") && orbs[0].ends_with("`orbs: 5`"));
}

/// A scope in several apis has a default in all of them or in none, with routes or without.
#[test]
fn an_exported_policy_with_prices_of_routes_alone_is_no_difference() {
    for own in ["", "orbs: true, "] {
        let policy = format!(
            "orbgate: 1\napis:\n  a: {{ base_path: /a, scopes: {{ s: {{ {own}routes: [] }} }} }}\n  \
             b: {{ base_path: /b, scopes: {{ s: {{ {own}routes: [{{ route: GET /b, orbs: 2 }}] }} }} }}\n"
        );
        let document = export(&Policy::from_yaml(&policy).unwrap()).to_yaml();
        assert_eq!(lines(&document, &nothing(), &policy), [""; 0], "{policy}");
    }
}

#[test]
fn the_rule_for_organisations_is_compared() {
    let policy = |rule: &str| {
        format!(
            "orbgate: 1\napis: {{ a: {{ base_path: '', {rule} scopes: {{ s: {{ orbs: false, routes: [GET /a] }} }} }} }}"
        )
    };
    let closed = policy("token: user, organisation: deny,");
    let document = export(&Policy::from_yaml(&closed).unwrap()).to_yaml();
    assert_eq!(lines(&document, &nothing(), &closed), [""; 0]);
    let open = policy("token: user, organisation: allow_without_scope,");
    let drift = lines(&document, &nothing(), &open);
    assert_eq!(drift.len(), 1);
    let any = lines(&document, &nothing(), &policy(""));
    for (drift, policy) in [(drift, "`organisation: allow_without_scope`"), (any, "")] {
        assert!(drift[0].contains("organisation: GET /a: "), "{drift:?}");
        assert!(drift[0].contains("`organisation: deny`"), "{drift:?}");
        assert!(drift[0].ends_with(policy), "{drift:?}");
    }
}

/// No client requests such a scope, and yet nothing of the policy is lost.
#[test]
fn scopes_that_must_be_earned_are_in_an_extension() {
    let policy = "\
orbgate: 1
apis:
  a:
    base_path: ''
    scopes:
      earned:any: { orbs: false, routes: [GET /any] }
      earned:mfa: { orbs: false, or: [earned:any read], routes: [GET /mfa] }
      read: { orbs: false, routes: [GET /read, { route: GET /more, and: earned:mfa, or: [write] }] }
      write: { orbs: false, routes: [] }
";
    let document = export(&Policy::from_yaml(policy).unwrap()).to_json();
    let json: serde_json::Value = serde_json::from_str(&document).unwrap();
    let of = |path: &str, key: &str| json["paths"][path]["get"][key].to_string();
    for (path, ordinary, full) in [
        ("/any", r#"[{"a":[]}]"#, r#"[{"a":["earned:any"]}]"#),
        ("/mfa", r#"[{"a":[]},{"a":["read"]}]"#, r#"[{"a":["earned:mfa"]},{"a":["earned:any","read"]}]"#),
        ("/read", r#"[{"a":["read"]}]"#, "null"),
        ("/more", r#"[{"a":["read"]},{"a":["write"]}]"#, r#"[{"a":["read","earned:mfa"]},{"a":["write"]}]"#),
    ] {
        assert_eq!((&*of(path, "security"), &*of(path, "x-orbs-security")), (ordinary, full), "{path}");
    }
    let imported = import(document.as_bytes(), &nothing()).unwrap();
    assert_eq!((imported.operations, imported.left_out), (4, vec![]));
    assert_eq!(Policy::from_yaml(&imported.policy).unwrap().digest(), Policy::from_yaml(policy).unwrap().digest());
    // It can't take an ordinary scope away, nor add one.
    for wrong in [r#"[{"a":["earned:any"]}]"#, r#"[{"a":["read","write","earned:any"]}]"#, "7", r#"[{"b":["read"]}]"#] {
        let mut json = json.clone();
        json["paths"]["/read"]["get"]["x-orbs-security"] = serde_json::from_str(wrong).unwrap();
        let imported = import(json.to_string().as_bytes(), &nothing()).unwrap();
        let kinds: Vec<_> = imported.left_out.iter().map(|left| (left.kind.as_str(), &*left.operation)).collect();
        assert_eq!(kinds, [("malformed", "GET /read")], "{wrong}");
    }
}

#[test]
fn requirements_and_closed_templates_are_exported_and_compared() {
    let policy = "\
orbgate: 1
apis:
  a:
    base_path: /v1
    closed: [/a/top]
    scopes:
      read: { orbs: false, or: [admin], routes: ['GET /a/{id}', { route: GET /b, and: more }] }
      admin: { orbs: false, routes: [] }
      more: { orbs: false, routes: [] }
";
    let document = export(&Policy::from_yaml(policy).unwrap()).to_json();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let security = |path: &str| document["paths"][path]["get"]["security"].to_string();
    assert_eq!(security("/v1/a/{id}"), r#"[{"a":["read"]},{"a":["admin"]}]"#);
    assert_eq!(security("/v1/b"), r#"[{"a":["read","more"]}]"#);
    assert_eq!(document["paths"]["/v1/a/top"].to_string(), "{}");

    let one_scope = "\
openapi: 3.0.0
info: { title: A, version: '1' }
servers: [{ url: /v1 }]
paths:
  /a/{id}: { get: { security: [{ l: [read] }] } }
  /b: { get: { security: [{ l: [read] }] } }
components: { securitySchemes: { l: { type: oauth2 } } }
";
    let drift = lines(one_scope, &nothing(), policy);
    assert_eq!(drift.len(), 3, "{drift:?}");
    assert!(drift[0].ends_with("the policy says `read` or `admin`"), "{drift:?}");
    assert!(drift[1].ends_with("the policy says `read more`"), "{drift:?}");
    assert!(drift[2].starts_with("- 5:14 closed: /v1/a/top: "), "{drift:?}");
}
