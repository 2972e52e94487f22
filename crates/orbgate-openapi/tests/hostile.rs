//! Hostile documents: an error that says where, in bounded time and memory, and never a panic.

use orbgate::Policy;
use orbgate_openapi::{MAX_BYTES, import};
use proptest::prelude::*;

use super::free;
use crate::support::expected::Expected;

fn diagnostic(document: impl AsRef<[u8]>) -> String {
    let diagnostics = import(document.as_ref(), &free()).unwrap_err();
    assert!(!diagnostics.is_empty() && diagnostics.len() <= 1_001);
    diagnostics[0].to_string()
}

#[test]
fn what_is_no_document_says_so() {
    let mut expected = Expected::default();
    for document in [
        "",
        " \n# nothing\n",
        "hello",
        "[]",
        "{}",
        "swagger: '2.0'",
        "openapi: 3.2.0",
        "openapi: 3.1",
        "openapi: 3.0.0\n---\nopenapi: 3.0.0",
        "openapi: 3.0.0\npaths: []",
        "openapi: 3.0.0\nopenapi: 3.0.0",
        "openapi: 3.0.0\n<<: { paths: {} }",
        "openapi: 3.0.0\npaths: { /a: { <<: *a } }",
        "openapi: 3.0.0\n? [a]\n: b",
        "a: [",
        "{\"a\": ",
        "{a: b}",
        "{\"openapi\":\n\"\\ud800\"}",
        "{\"openapi\": \"3.0.0\", \"paths\": {\"/a\": {\"get\": {}, \"\\u0067et\": {}}}}",
    ] {
        expected.add(document, [diagnostic(document)]);
    }
    expected.add("openapi: \\xff", [diagnostic(b"openapi: \xff")]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "hostile: no documents");
}

#[test]
fn what_is_deep_or_large_is_bounded() {
    let depth = 200_000;
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(depth), close.repeat(depth));
    // In values that are skipped, JSON may be deep.
    let aside = format!("{{\"openapi\": \"3.0.0\", \"x\": {}}}", deep("[", "]"));
    assert!(import(aside.as_bytes(), &free()).is_ok());
    let within = format!("{{\"openapi\": \"3.0.0\", \"security\": {}}}", deep("[", "]"));
    let mut expected = Expected::default();
    expected.add("lists in `security`", [diagnostic(within)]);
    let flow = format!("openapi: 3.0.0\nsecurity: {}", deep("[", "]"));
    assert!(diagnostic(flow).contains("recursion limit"));
    let block = format!("openapi: 3.0.0\nsecurity:\n  {}a", "- ".repeat(10_000));
    expected.add("indented lists in `security`", [diagnostic(block)]);
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
    expected.add("blanks", [diagnostic(large)]);
    let many: String = (0..200_001).map(|number| format!("  /a{number}: {{ get: {{}} }}\n")).collect();
    let many = diagnostic(format!("openapi: 3.0.0\npaths:\n{many}"));
    expected.add("operations", [many]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "hostile: deep or large");
}

#[test]
fn thousands_of_operations_that_have_no_equal_take_seconds_at_most() {
    let mut document =
        "openapi: 3.0.0\ncomponents: { securitySchemes: { l: { type: oauth2 } } }\nsecurity: [{ l: [s] }]\npaths:\n"
            .to_owned();
    for number in 0..2_000 {
        document += &format!("  /a/{{id}}/b{number}: {{ get: {{}}, put: {{ security: [] }} }}\n");
        document += &format!("  /a/c{number}/{{id}}.json: {{ get: {{}} }}\n");
    }
    let begun = std::time::Instant::now();
    let imported = import(document.as_bytes(), &free()).unwrap();
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert_eq!(imported.operations, 0);
    assert_eq!(imported.left_out.len(), 6_000);
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
