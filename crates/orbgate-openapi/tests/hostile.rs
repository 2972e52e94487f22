//! Hostile documents: an error that says where, in bounded time and memory, and never a panic.

use orbgate::Policy;
use orbgate_openapi::{MAX_BYTES, import};
use proptest::prelude::*;

use super::free;

fn diagnostic(document: impl AsRef<[u8]>) -> String {
    let diagnostics = import(document.as_ref(), &free()).unwrap_err();
    assert!(!diagnostics.is_empty() && diagnostics.len() <= 1_001);
    diagnostics[0].to_string()
}

#[test]
fn what_is_no_document_says_so() {
    for (document, expected) in [
        ("", "1:1: the document is empty"),
        (" \n# nothing\n", "1:1: the document is empty"),
        ("hello", "1:1: an OpenAPI document is a mapping"),
        ("[]", "1:1: an OpenAPI document is a mapping"),
        (
            "{}",
            "1:1: no OpenAPI document: it has no `openapi: 3.…`; OpenAPI 3.0 and 3.1 are read",
        ),
        (
            "swagger: '2.0'",
            "1:1: OpenAPI 3.0 and 3.1 are read, not Swagger 2.0: convert the document first",
        ),
        (
            "openapi: 3.2.0",
            "1:10: OpenAPI 3.0 and 3.1 are read, not `3.2.0`",
        ),
        (
            "openapi: 3.1",
            "1:10: OpenAPI 3.0 and 3.1 are read, not `3.1`",
        ),
        (
            "openapi: 3.0.0\n---\nopenapi: 3.0.0",
            "2:1: a second document starts here: one is read",
        ),
        (
            "openapi: 3.0.0\npaths: []",
            "2:8: `paths` must be a mapping",
        ),
        (
            "openapi: 3.0.0\nopenapi: 3.0.0",
            "2:1: duplicate key `openapi` (first on line 1)",
        ),
        (
            "openapi: 3.0.0\n<<: { paths: {} }",
            "2:1: a merge key is not read: write the keys here",
        ),
        (
            "openapi: 3.0.0\npaths: { /a: { <<: *a } }",
            "2:16: a merge key is not read: write the keys here",
        ),
        ("openapi: 3.0.0\n? [a]\n: b", "2:3: a key must be a string"),
        (
            "a: [",
            "2:1: this is not valid YAML: while parsing a node, did not find expected node content",
        ),
        (
            "{\"a\": ",
            "1:6: a document that starts with `{` is JSON, and here: EOF while parsing a value",
        ),
        (
            "{a: b}",
            "1:2: a document that starts with `{` is JSON, and here: key must be a string",
        ),
        (
            "{\"openapi\":\n\"\\ud800\"}",
            "2:1: this is not valid JSON: unexpected end of hex escape",
        ),
        (
            "{\"openapi\": \"3.0.0\", \"paths\": {\"/a\": {\"get\": {}, \"\\u0067et\": {}}}}",
            "1:50: duplicate key `get` (first on line 1, column 39)",
        ),
    ] {
        assert_eq!(diagnostic(document), expected, "{document}");
    }
    assert_eq!(
        diagnostic(b"openapi: \xff"),
        "1:1: the document is not UTF-8"
    );
}

#[test]
fn what_is_deep_or_large_is_bounded() {
    let depth = 200_000;
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(depth), close.repeat(depth));
    // In values that are skipped, JSON may be deep.
    let aside = format!("{{\"openapi\": \"3.0.0\", \"x\": {}}}", deep("[", "]"));
    assert!(import(aside.as_bytes(), &free()).is_ok());
    let within = format!(
        "{{\"openapi\": \"3.0.0\", \"security\": {}}}",
        deep("[", "]")
    );
    assert_eq!(
        diagnostic(within),
        "1:50: nested too deeply: 16 levels are the limit"
    );
    let flow = format!("openapi: 3.0.0\nsecurity: {}", deep("[", "]"));
    assert!(diagnostic(flow).contains("recursion limit"));
    let block = format!("openapi: 3.0.0\nsecurity:\n  {}a", "- ".repeat(10_000));
    assert!(diagnostic(block).contains("nested too deeply"));
    let wide = format!("openapi: 3.0.0\nx: [{}]", "a,".repeat(100_000));
    assert!(import(wide.as_bytes(), &free()).is_ok());
    let key = format!("x: {{{}}}\nopenapi: 3.0.0", "a: [],".repeat(100_000));
    assert!(import(key.as_bytes(), &free()).is_ok());
    let unknown = "openapi: 3.0.0\nx: [a, *none, { b: *none }]\n";
    assert!(import(unknown.as_bytes(), &free()).is_ok());
    let mut bomb = "openapi: 3.0.0\nx0: &x0 [a]\n".to_owned();
    for level in 1..40 {
        bomb += &format!("x{level}: &x{level} [*x{0}, *x{0}]\n", level - 1);
    }
    bomb += "security: *x39\npaths: { /a: { get: {} } }\n";
    let imported = import(bomb.as_bytes(), &free()).unwrap();
    assert_eq!(imported.left_out[0].kind.as_str(), "malformed");
    let large = vec![b' '; MAX_BYTES + 1];
    assert_eq!(
        diagnostic(large),
        "1:1: the document is larger than the limit of 67108864 bytes"
    );
    let many: String = (0..200_001)
        .map(|number| format!("  /a{number}: {{ get: {{}} }}\n"))
        .collect();
    assert_eq!(
        diagnostic(format!("openapi: 3.0.0\npaths:\n{many}")),
        "200003:3: over 200000 operations, which is the limit"
    );
}

#[test]
fn thousands_of_operations_that_have_no_equal_take_seconds_at_most() {
    let mut document = "openapi: 3.0.0\ncomponents: { securitySchemes: { l: { type: oauth2 } } }\nsecurity: [{ l: [s] }]\npaths:\n".to_owned();
    for number in 0..5_000 {
        document += &format!("  /a/{{id}}/b{number}: {{ get: {{}}, put: {{ security: [] }} }}\n");
        document += &format!("  /a/c{number}/{{id}}.json: {{ get: {{}} }}\n");
    }
    let begun = std::time::Instant::now();
    let imported = import(document.as_bytes(), &free()).unwrap();
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert_eq!(imported.operations, 0);
    assert_eq!(imported.left_out.len(), 15_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// A document with changed bytes never makes a panic, and if it gives a policy, that policy is valid.
    #[test]
    fn changed_bytes_do_no_harm(
        json in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let policy = Policy::from_yaml(include_str!("../../orbgate-cli/testdata/shop.yaml")).unwrap();
        let document = orbgate_openapi::export(&policy);
        let text = if json { document.to_json() } else { document.to_yaml() };
        let mut bytes = text.into_bytes();
        for (at, byte) in changes {
            *at.get_mut(&mut bytes) = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        match import(&bytes, &free()) {
            Ok(imported) => { Policy::from_yaml(&imported.policy).unwrap(); }
            Err(diagnostics) => prop_assert!(!diagnostics.is_empty()),
        }
    }
}
