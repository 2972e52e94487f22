//! Several security schemes in one alternative, schemes that something in front checks, and lists that mean any scope.

use orbgate::policy::Diagnostic;
use orbgate::{Engine, Policy, Request, Token};
use orbgate_openapi::{Imported, Options, check, export, import};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::{free, nothing};
use crate::support::expected::Expected;

const HEAD: &str = "\
openapi: 3.0.0
components:
  securitySchemes:
    a: { type: oauth2, flows: { password: { scopes: { r: reads, w: writes } } } }
    b: { type: openIdConnect }
    h: { type: http, scheme: bearer }
    key: { type: apiKey }
    m: { $ref: other }
paths:
";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn options(schemes: &[&str], elsewhere: &[&str]) -> Options {
    Options { schemes: names(schemes), elsewhere: names(elsewhere), ..free() }
}

/// The policy, after a check that it is laid out, that it passes `check`, and that it is the same after an export.
fn imported(document: &str, options: &Options) -> Imported {
    let imported = import(document.as_bytes(), options).unwrap_or_else(|errors| panic!("{errors:?}\n{document}"));
    assert_eq!(orbgate_analysis::format(&imported.policy).unwrap(), imported.policy);
    let policy = Policy::from_yaml(&imported.policy).unwrap();
    let drift = check(document.as_bytes(), options, &policy).unwrap();
    assert_eq!(drift.len(), imported.left_out.len(), "{drift:?}");
    let again = import(export(&policy).to_yaml().as_bytes(), &nothing()).unwrap();
    assert_eq!(Policy::from_yaml(&again.policy).unwrap().digest(), policy.digest());
    assert_eq!((again.left_out, again.notes), (vec![], vec![]));
    imported
}

fn lines(imported: &Imported) -> (Vec<String>, Vec<String>) {
    let left = imported.left_out.iter().map(|left| format!("{} {}: {}", left.kind, left.operation, left.message));
    let notes = imported.notes.iter().map(|note| format!("{} {}: {}", note.kind, note.operation, note.message));
    (left.collect(), notes.collect())
}

#[test]
fn schemes_that_are_one_token_join_their_scopes() {
    let paths = "  /a: { get: { security: [{ a: [r, w], b: [w, x] }, { b: [s] }, { h: [z], a: [] }] } }
  /b: { get: { security: [{ a: [r], key: [] }] }, put: { security: [{ key: [] }] }, post: { security: [{ a: [], b: [] }] } }
";
    let imported = imported(&format!("{HEAD}{paths}"), &options(&["b", "a", "h"], &[]));
    let expected = "# Imported with several `--scheme`: one token stands for `b`, `a`, `h`, and scopes of one name are one scope. They must be of one issuer.
orbgate: 1
apis:
  b:
    base_path: \"\"
    scopes:
      r:
        permits: reads
        or: [s, z]
        and: w x
        orbs: false
        routes:
          - GET /a
      w:
        permits: writes
        routes: []
      x:
        routes: []
      s:
        routes: []
      z:
        routes: []
...
";
    assert_eq!(imported.policy, expected, "{imported:?}");
    let (left, notes) = lines(&imported);
    assert_eq!(
        left,
        [
            "several_schemes GET /b: all of these schemes are needed: `a` and `key`; with `--scheme b --scheme a --scheme h --elsewhere key`, `b` and `a` and `h` are one token, and something in front must check `key`",
            "other_scheme PUT /b: no way to be allowed is by `b` or `a` or `h`, only by `key`",
            "no_scope POST /b: `a` and `b` are needed without a scope; with `--default-scope earned:any-token`, any valid token is enough for an operation without a scope, if `tokens.yaml` has `derive: { earned:any-token: always }`",
        ]
    );
    assert_eq!(
        notes,
        [
            "all_of GET /a: all of `r`, `w`, `x` are needed at once; if the document means any of them, use `--all-of-as-any`"
        ]
    );
}

#[test]
fn what_is_checked_elsewhere_is_dropped() {
    let paths = "  /a: { get: { security: [{ key: [] }, { a: [r], key: [] }, { a: [w], h: [] }] } }
  /b: { get: { security: [{ key: [] }] }, put: { security: [{ a: [r], h: [admin] }, { h: [admin] }] } }
  /c: { get: { security: [{ a: [r], key: [admin] }] }, put: { security: [{}, { key: [] }] } }
";
    let document = format!("{}{paths}", HEAD.replace("    b: { type: openIdConnect }\n", ""));
    let imported = imported(&document, &options(&[], &["key", "h"]));
    let start = "# Imported with `--elsewhere`: something in front of this policy must check `key`, `h`, as routes say.\norbgate: 1\n";
    assert!(imported.policy.starts_with(start), "{}", imported.policy);
    assert!(imported.policy.contains("      r:\n        permits: reads\n        or: [w]\n"), "{}", imported.policy);
    let (left, notes) = lines(&imported);
    assert_eq!(
        left,
        [
            "other_scheme GET /b: the policy has nothing to check: `key` is checked elsewhere; list it in the gates' setting `public`, unless a route of the policy fits its path",
            "several_schemes PUT /b: all of these schemes are needed: `a` and `h`",
            "several_schemes GET /c: all of these schemes are needed: `a` and `key`",
            "optional PUT /c: one way to be allowed is `{}`: security is optional; with `--optional require`, the policy requires it",
        ]
    );
    assert_eq!(
        notes,
        [
            "dropped_alternative GET /a: callers with only `key` are denied: the policy has nothing to check",
            "checked_elsewhere GET /a: something in front must check `h` or `key`, depending on the alternative"
        ]
    );
    let route = "- GET /a # something in front must check `h` or `key`, depending on the alternative\n";
    assert!(imported.policy.contains(route), "{}", imported.policy);
}

#[test]
fn a_list_can_mean_any_of_its_scopes() {
    let paths = "  /a: { get: { security: [{ a: [r, w, r] }, { a: [w, x] }] }, put: { security: [{ a: [r, w], key: [] }] } }
  /b: { get: { security: [{ a: [r, w], b: [] }] }, put: { security: [{ a: [r], b: [r] }] }, post: { security: [{ a: [r], b: [w] }] } }
";
    let document = format!("{HEAD}{paths}");
    let chosen = options(&["a", "b"], &["key"]);
    let all = imported(&document, &chosen);
    let (left, notes) = lines(&all);
    assert_eq!((left, notes.len()), (vec![], 2), "{notes:?}");
    let note = "all_of GET /a: all of `r`, `w` are needed at once; if the document means any of them, use `--all-of-as-any` (in 4 operations)";
    assert!(notes.iter().any(|own| own == note), "{notes:?}");
    let any = imported(&document, &Options { all_of_as_any: true, ..chosen });
    let (left, notes) = lines(&any);
    let refused =
        "several_schemes POST /b: `--all-of-as-any` can't be applied, because several schemes have scopes: `a` and `b`";
    let elsewhere = "checked_elsewhere PUT /a: something in front must check `key`";
    assert_eq!((left, notes), (names(&[refused]), names(&[elsewhere])));
    let start = "# Imported with several `--scheme`: one token stands for `a`, `b`, and scopes of one name are one scope. They must be of one issuer.\n";
    assert!(any.policy.starts_with(start), "{}", any.policy);
    assert!(any.policy.contains("\n# Imported with `--all-of-as-any`: "), "{}", any.policy);
    assert!(any.policy.contains("          - route: GET /a\n            or: [w, x]\n"), "{}", any.policy);
    assert!(
        any.policy.contains("          - route: PUT /a # something in front must check `key`\n            or: [w]\n"),
        "{}",
        any.policy
    );
    assert!(any.policy.contains("          - route: GET /b\n            or: [w]\n"), "{}", any.policy);
    assert!(any.policy.contains("          - PUT /b\n"), "{}", any.policy);
}

/// A name in a document can't end the comment, or be one that `lint` obeys.
#[test]
fn a_comment_is_only_a_comment() {
    let name = "k\\norbgate: 2 orbgate-lint: allow all";
    let document = format!(
        "{{\"openapi\": \"3.0.0\", \"components\": {{\"securitySchemes\": {{\"{name}\": {{\"type\": \"apiKey\"}}}}}}, \"paths\": {{}}}}"
    );
    let elsewhere = vec![name.replace("\\n", "\n")];
    let imported = imported(&document, &Options { elsewhere, ..free() });
    assert!(imported.policy.lines().nth(1) == Some("orbgate: 1"), "{}", imported.policy);
    assert!(!imported.policy.contains("orbgate-lint:"), "{}", imported.policy);
}

#[test]
fn every_wrong_name_is_reported_at_its_scheme() {
    let document = format!(
        "servers: [{{ url: 'https://a.example/{{x}}' }}]\n{HEAD}  /a: {{ get: {{ security: [{{ a: [r] }}] }} }}\n"
    );
    let api =
        document.replace("b: { type: openIdConnect }", "b: { type: oauth2, x-orbs-api: { name: b, scopes: {} } }");
    let mut expected = Expected::default();
    for (document, schemes, elsewhere) in [
        (&document, &["x", "key", "m", "a", "a"][..], &["a", "nothing", "key", "h", "h", "m"][..]),
        (&document, &["h", "b"], &["h"]),
        (&document, &[], &["key"]),
        (&api, &["a", "b"], &[]),
    ] {
        let errors = import(document.as_bytes(), &options(schemes, elsewhere)).unwrap_err();
        expected
            .add(&format!("--scheme {schemes:?} --elsewhere {elsewhere:?}"), errors.iter().map(Diagnostic::to_string));
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "schemes: wrong names");
}

/// Adds the options that messages name.
fn advised<'m>(messages: impl Iterator<Item = &'m str>, options: &mut Options) {
    for message in messages {
        for advice in message.split('`').filter(|part| part.starts_with("--")) {
            let words: Vec<_> = advice.split(' ').collect();
            for option in words.chunks(2) {
                let value = option[1].trim_matches('\'').to_owned();
                let add = |list: &mut Vec<String>| list.extend((!list.contains(&value)).then(|| value.clone()));
                match option[0] {
                    "--scheme" => add(&mut options.schemes),
                    "--elsewhere" => add(&mut options.elsewhere),
                    "--optional" => options.require_optional = true,
                    "--base-path" => options.base_path = Some(value.replace("PATH", "/base")),
                    "--default-scope" => options.default_scope = Some("any".to_owned()),
                    other => panic!("{other}"),
                }
            }
        }
    }
}

/// Follows the advice until no message names another option. Each round imports more, or nothing less.
fn followed(document: &str) -> (Options, Imported) {
    let mut options = free();
    let mut before: Option<Imported> = None;
    for _ in 0..8 {
        let given = options.clone();
        let result = import(document.as_bytes(), &options);
        match &result {
            Ok(imported) => advised(imported.left_out.iter().map(|left| &*left.message), &mut options),
            Err(errors) => advised(errors.iter().map(|error| &*error.message), &mut options),
        }
        let is_last = format!("{given:?}") == format!("{options:?}");
        match result {
            Ok(imported) => {
                let less =
                    before.as_ref().is_some_and(|before| imported.with_scopes_imported < before.with_scopes_imported);
                assert!(!less, "{options:?}\n{document}");
                if is_last {
                    return (options, imported);
                }
                before = Some(imported);
            }
            Err(errors) => assert!(!is_last && before.is_none(), "{errors:?}\n{document}"),
        }
    }
    panic!("the advice has no end: {options:?}\n{document}");
}

/// Each document of a folder, with the options that its messages name, and what is imported with them.
#[test]
fn following_the_advice_never_ends_where_it_began() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/documents");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    let mut expected = Expected::default();
    for file in &files {
        let document = std::fs::read_to_string(file).unwrap();
        let (options, last) = followed(&document);
        let (left, notes) = lines(&imported(&document, &options));
        let Options { schemes, elsewhere, base_path, default_scope, require_optional, .. } = options;
        let named = format!(
            "--scheme {schemes:?} --elsewhere {elsewhere:?} {base_path:?} {default_scope:?} {require_optional}"
        );
        let count = format!(
            "{} of {} with scopes, {} operations",
            last.with_scopes_imported, last.with_scopes, last.operations
        );
        let first = match import(document.as_bytes(), &free()) {
            Ok(imported) => vec![format!("{} of {} with scopes", imported.with_scopes_imported, imported.with_scopes)],
            Err(errors) => errors.iter().map(Diagnostic::to_string).collect(),
        };
        let name = file.file_name().unwrap().to_string_lossy();
        expected.add(&name, first.into_iter().chain([named, count]).chain(left).chain(notes));
    }
    assert!(files.len() >= 9);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "schemes: advice");
}

type Way = Vec<(&'static str, Vec<&'static str>)>;

const SCHEMES: [&str; 4] = ["a", "b", "h", "key"];
const SCOPES: [&str; 3] = ["r", "w", "x"];

fn ways() -> impl Strategy<Value = Vec<Way>> {
    let scheme = (select(&SCHEMES[..]), prop_oneof![1 => Just(vec![]), 2 => subsequence(&SCOPES[..], 1..3)]);
    let way = vec(scheme, 0..4).prop_map(|mut way| {
        way.sort_unstable();
        way.dedup_by_key(|(scheme, _)| *scheme);
        way
    });
    vec(way, 1..4)
}

fn document(operations: &[Vec<Way>]) -> String {
    let mut text = HEAD.to_owned();
    for (number, ways) in operations.iter().enumerate() {
        let way = |way: &Way| {
            let schemes: Vec<_> =
                way.iter().map(|(scheme, scopes)| format!("{scheme}: [{}]", scopes.join(", "))).collect();
            format!("{{ {} }}", schemes.join(", "))
        };
        let ways: Vec<_> = ways.iter().map(way).collect();
        text += &format!("  /o{number}: {{ get: {{ security: [{}] }} }}\n", ways.join(", "));
    }
    text
}

/// A plain reading of the document: whether a token with these scopes is enough, if the schemes of `options` are one token,
/// and the others are checked elsewhere.
fn is_enough(way: &Way, scopes: &[&str], options: &Options) -> bool {
    let is_in = |names: &[String], scheme: &str| names.iter().any(|name| name == scheme);
    let lists = way.iter().filter(|(_, own)| !own.is_empty()).count();
    let has = |own: &&str| scopes.contains(own);
    way.iter().all(|(scheme, own)| match options.all_of_as_any && lists == 1 && !own.is_empty() {
        _ if is_in(&options.elsewhere, scheme) => own.is_empty(),
        _ if !is_in(&options.schemes, scheme) => false,
        true => own.iter().any(has),
        false => own.iter().all(has),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_call_is_never_allowed_for_less_than_the_options_and_the_document_require(
        operations in vec(ways(), 1..6),
        schemes in subsequence(&SCHEMES[..3], 1..=3),
        key in any::<bool>(),
        bearer in any::<bool>(),
        [all_of_as_any, require_optional, default_scope] in any::<[bool; 3]>(),
    ) {
        let bearer = (bearer && !schemes.contains(&"h")).then_some("h");
        let elsewhere: Vec<_> = key.then_some("key").into_iter().chain(bearer).collect();
        let default_scope = default_scope.then(|| "any".to_owned());
        let options = Options { all_of_as_any, require_optional, default_scope, ..options(&schemes, &elsewhere) };
        let document = document(&operations);
        let imported = imported(&document, &options);
        let engine = Engine::new(&Policy::from_yaml(&imported.policy).unwrap());
        prop_assert_eq!(imported.operations + imported.left_out.len(), operations.len());
        for (number, ways) in operations.iter().enumerate() {
            let target = format!("/o{number}");
            let is_left_out = imported.left_out.iter().any(|left| left.operation == format!("GET {target}"));
            for held in 0..8_u8 {
                let scopes: Vec<_> = SCOPES.iter().enumerate().filter(|(bit, _)| held & 1 << bit > 0).map(|(_, s)| *s).collect();
                let joined = scopes.join(" ");
                let request = Request { method: b"GET", target: target.as_bytes(), token: Some(Token::user(&joined)), allow_bonus_orbs_use: false };
                let is_allowed = engine.decide(&request).is_allow();
                // Without the default scope, a token without scopes is never enough.
                let is_enough = ways.iter().any(|way| is_enough(way, &scopes, &options));
                prop_assert!(!is_allowed || is_enough, "{}\n{:?}\n{}", document, options, imported.policy);
                // What is imported is imported exactly, except for ways that only the default scope opens.
                let needs_scopes = |way: &&Way| way.iter().any(|(_, scopes)| !scopes.is_empty());
                let is_refused = |way: &&Way| {
                    let mut own: Vec<_> = way.iter().flat_map(|(_, scopes)| scopes).collect();
                    own.sort_unstable();
                    own.dedup();
                    all_of_as_any && own.len() > 1 && way.iter().filter(|(_, scopes)| !scopes.is_empty()).count() > 1
                };
                let mut exact = ways.iter().filter(needs_scopes).filter(|way| !is_refused(way));
                let must = !is_left_out && exact.any(|way| self::is_enough(way, &scopes, &options));
                prop_assert!(!must || is_allowed, "{} {}\n{}\n{:?}\n{}", target, joined, document, options, imported.policy);
            }
            // Nobody without a token.
            let request = Request { method: b"GET", target: target.as_bytes(), token: None, allow_bonus_orbs_use: false };
            prop_assert!(!engine.decide(&request).is_allow());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Of all choices of schemes, none imports more.
    #[test]
    fn the_advice_brings_the_most_operations(operations in vec(ways(), 1..6)) {
        let document = document(&operations);
        let (options, last) = followed(&document);
        for bits in 0..32_u8 {
            let pick = |names: &[&'static str], shift: u8| -> Vec<String> {
                let names = names.iter().enumerate().filter(|(bit, _)| bits >> shift & 1 << bit > 0);
                names.map(|(_, name)| (*name).to_owned()).collect()
            };
            let tried = Options { schemes: pick(&SCHEMES[..3], 0), elsewhere: pick(&["key", "h"], 3), default_scope: Some("any".to_owned()), ..options.clone() };
            if let Ok(imported) = import(document.as_bytes(), &tried) {
                prop_assert!(imported.with_scopes_imported <= last.with_scopes_imported, "{tried:?}\n{options:?}\n{document}");
            }
        }
    }
}
