//! The digest of a policy: everything but order, comments and layout counts.

use std::collections::HashMap;

use orbgate::policy::Policy;
use sha2::{Digest as _, Sha256};

use crate::support::valid;

const POLICY: &str = "\
orbgate: 1
name: external
target: strict
apis:
  external:
    base_path: /api
    scopes:
      read:keys:
        permits: reads API keys
        orbs: false
        routes:
          - GET /keys
          - GET /keys/{keyId}
      write:keys:
        permits: creates API keys
        orbs: true
        routes:
          - POST /keys/agent
          - route: POST /keys/model
            orbs: 5
  inference:
    token: user
    organisation: deny
    scopes:
      read:inference: { routes: [] }
      write:inference: { orbs: 7, routes: [] }
headings: [Sessions, Organisations]
";

const SAME_POLICY: &str = "\
# The same policy, written by somebody else.
---
headings:
- \"Organisations\"
- Sessions
apis:
  inference:
    scopes: {'write:inference': {routes: [], orbs: 7}, 'read:inference': {routes: []}}
    organisation: 'deny'
    token: user
  external:
    scopes:
      write:keys:
        routes: [{orbs: 5, route: POST /keys/model}, {route: POST /keys/agent}]
        orbs: true
        permits: creates
          API keys
      read:keys:
        routes: ['GET /keys/{keyId}', GET /keys]
        orbs: false
        permits: >-
          reads API keys
    base_path: /api # literal
name: 'external'
orbgate: 1
...
";

/// The form is documented in `policy/digest.rs`, so that others can compute a digest.
#[test]
fn a_digest_is_the_hash_of_the_documented_form() {
    let policy = r#"
orbgate: 1
name: café
headings: [b, "a a"]
apis:
  users:
    token: user
    organisation: deny
    scopes:
      read:user: { permits: "", routes: [] }
  external:
    base_path: ""
    scopes:
      write:keys:
        orbs: true
        or: [admin]
        routes:
          - { route: "POST /keys/{id}", orbs: 5 }
          - GET /keys
          - { route: "PUT /keys/{id}", or: [admin zone], and: read:keys }
      read:keys: { orbs: 7, routes: [GET /all] }
      prices: { routes: [{ route: GET /free, orbs: false }, { route: GET /paid, orbs: true }] }
      admin: { routes: [] }
      zone: { routes: [] }
    closed: [/keys/new, "/{id}"]
"#;
    let form = "\
orbgate 1
name 5:café
target strict
heading 1:b
heading 3:a a
api 5:users - deny
scope 9:read:user 0: -
api 8:external 0: -
closed 5:/{id}
closed 9:/keys/new
scope 10:write:keys - true
route 3:GET 5:/keys -
need 10:write:keys
need 5:admin
route 3:PUT 10:/keys/{id} -
need 10:admin zone
need 20:read:keys write:keys
route 4:POST 10:/keys/{id} 5
need 10:write:keys
need 5:admin
scope 4:zone - -
scope 5:admin - -
scope 6:prices - -
route 3:GET 5:/free false
route 3:GET 5:/paid true
scope 9:read:keys - 7
route 3:GET 4:/all -
";
    let hash: [u8; 32] = Sha256::digest(form).into();
    assert_eq!(Policy::from_yaml(policy).unwrap().digest().as_bytes(), &hash);
}

#[test]
fn order_comments_and_layout_do_not_count() {
    assert_eq!(digest(POLICY), digest(SAME_POLICY));
}

#[test]
fn the_default_target_is_strict() {
    assert_eq!(digest(POLICY), digest(&POLICY.replace("target: strict\n", "")));
}

#[test]
fn everything_else_counts() {
    let changes = [
        ("name: external\n", ""),
        ("name: external\n", "name: External\n"),
        ("target: strict", "target: encoded_params"),
        ("target: strict", "target: strict\ntrailing_slash: always"),
        ("  external:\n", "  other:\n"),
        ("base_path: /api", "base_path: /api2"),
        ("base_path: /api", "base_path: ''"),
        ("read:keys", "read:key"),
        ("permits: reads API keys", "permits: reads  API keys"),
        ("        permits: reads API keys\n", ""),
        ("permits: reads API keys", "permits: ''"),
        ("orbs: false", "orbs: true"),
        ("orbs: false", "orbs: 1"),
        ("orbs: true", "orbs: 5"),
        ("orbs: true", "orbs: 50"),
        ("            orbs: 5\n", ""),
        ("            orbs: 5\n", "            orbs: true\n"),
        ("            orbs: 5\n", "            orbs: false\n"),
        ("orbs: 5", "orbs: 6"),
        ("orbs: 7", "orbs: 8"),
        ("orbs: 7, ", ""),
        ("orbs: 7", "orbs: false"),
        ("          - GET /keys\n", ""),
        ("- GET /keys\n", "- HEAD /keys\n"),
        ("- GET /keys\n", "- GET /key\n"),
        ("- GET /keys\n", "- GET /\n"),
        ("{keyId}", "{id}"),
        ("organisation: deny", "organisation: allow_without_scope"),
        ("    token: user\n    organisation: deny\n", ""),
        ("      read:inference: { routes: [] }\n", ""),
        ("[Sessions, Organisations]", "[Sessions]"),
        ("[Sessions, Organisations]", "[Sessions, Organisation]"),
        ("headings: [Sessions, Organisations]\n", ""),
    ];
    let mut seen = HashMap::from([(digest(POLICY), "nothing changed".to_owned())]);
    for (from, to) in changes {
        let changed = POLICY.replacen(from, to, 1);
        assert_ne!(changed, POLICY, "{from:?} is in the policy");
        let change = format!("{from:?} became {to:?}");
        if let Some(other) = seen.insert(digest(&changed), change.clone()) {
            assert_eq!(other, change, "two changes with one digest");
        }
    }
}

#[test]
fn a_route_that_moves_to_another_scope_changes_the_digest() {
    let moved = POLICY
        .replace("          - GET /keys\n", "")
        .replace("          - POST /keys/agent\n", "          - POST /keys/agent\n          - GET /keys\n");
    assert_ne!(digest(POLICY), digest(&moved));
}

#[test]
fn a_digest_names_its_algorithm() {
    let shown = digest(POLICY);
    let hex = shown.strip_prefix("sha256:").unwrap();
    assert!(hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
}

fn digest(text: &str) -> String {
    Policy::from_yaml(text).unwrap().digest().to_string()
}

#[test]
fn no_orbs_at_the_top_is_no_orbs_on_every_scope() {
    let short = valid::policy("no-orbs");
    let long = short.replace("orbs: none\n", "");
    let long = long.replace("        routes:\n", "        orbs: false\n        routes:\n");
    let long = long.replace("{ routes: [] }", "{ orbs: false, routes: [] }");
    let [short, long] = [&short, &long].map(|text| Policy::from_yaml(text).unwrap());
    assert_eq!(short.digest(), long.digest());
    let engine = orbgate::Engine::new(&short);
    assert!(engine.routes().all(|route| route.orbs() == orbgate::Orbs::Free));
}

#[test]
fn sensitive_counts_only_where_it_is_written() {
    let digest = |text: &str| Policy::from_yaml(text).unwrap().digest();
    let with = |key: &str| {
        POLICY.replace("        permits: reads API keys\n", &format!("        permits: reads API keys\n{key}"))
    };
    assert_eq!(digest(POLICY), digest(&with("        sensitive: false\n")));
    assert_ne!(digest(POLICY), digest(&with("        sensitive: true\n")));
}
