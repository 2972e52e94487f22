//! Where a document and a policy differ, both ways.

use orbgate::{Orbs, Policy};
use orbgate_openapi::{Options, check, export};

use super::nothing;

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
    let location = |location: Option<orbgate::Location>| {
        location.map_or("-".to_owned(), |location| location.to_string())
    };
    let line = |drift: &orbgate_openapi::Drift| {
        let (document, policy) = (location(drift.document), location(drift.policy));
        format!(
            "{document} {policy} {}: {}: {}",
            drift.kind, drift.operation, drift.message
        )
    };
    drift.iter().map(line).collect()
}

#[test]
fn every_difference_is_found_both_ways() {
    let expected = [
        "5:45 7:49 unequal: DELETE /v1/a: the policy says scope `write`, and no policy can say what the document does: `security: []`: anyone can call it [open]",
        "6:16 6:47 scope: GET /v1/a/{name}: the document says scope `write`, the policy says `read`",
        "6:16 6:47 orbs: GET /v1/a/{name}: the document says `orbs: 7`, the policy says `orbs: false`",
        "7:11 - missing: GET /v1/new: the policy has no such route; the document says scope `read`",
        "- 6:62 extra: GET /v1/gone: the document has no such operation; the policy says scope `read`",
    ];
    assert_eq!(lines(DOCUMENT, &nothing(), POLICY), expected);
}

#[test]
fn orbs_are_compared_where_somebody_says_them() {
    let options = Options {
        orbs: Some(Orbs::Free),
        ..nothing()
    };
    let lines = lines(DOCUMENT, &options, POLICY);
    let orbs: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("orbs: PUT"))
        .collect();
    assert_eq!(
        orbs,
        [
            "6:64 7:34 orbs: PUT /v1/a/{name}: the document says `orbs: false`, the policy says `orbs: 5`"
        ]
    );
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
    assert!(drift[0].ends_with(
        "organisation: GET /a: the document says `organisation: deny`, the policy says `organisation: allow_without_scope`"
    ));
    let any = lines(&document, &nothing(), &policy(""));
    assert!(
        any[0].ends_with(
            "the document says `organisation: deny`, the policy says that any token will do"
        ),
        "{any:?}"
    );
}
