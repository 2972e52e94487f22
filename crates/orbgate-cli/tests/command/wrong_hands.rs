//! Files that are not what they should be: each command says so, and none panics.

use crate::{SHOP, file, orbgate};

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let huge = |line: &str| line.repeat(9_000_000 / line.len()).into_bytes();
    vec![
        ("empty", Vec::new()),
        ("blank", b" \n\n".to_vec()),
        ("binary", (0..=255).cycle().take(4_096).collect()),
        ("zeros", vec![0; 4_096]),
        ("utf16", b"\xff\xfeo\0r\0b\0".to_vec()),
        ("truncated", SHOP.as_bytes()[..200].to_vec()),
        ("huge", huge("# nothing\n")),
        ("huge-line", huge("x")),
        ("deep", b"[".repeat(100_000)),
        ("bomb", b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n".to_vec()),
        ("json", br#"{"orbgate": 1, "apis": null}"#.to_vec()),
        ("other", b"hello: world\n".to_vec()),
    ]
}

#[test]
fn a_file_that_is_no_such_file_is_a_clear_error() {
    let shop = file("wrong-hands-shop.yaml", SHOP);
    for (name, content) in files() {
        let bad = file(&format!("wrong-hands-{name}.yaml"), content);
        for arguments in [
            &["diff", &bad, &shop][..],
            &["diff", &shop, &bad],
            &["diff", &shop, &bad, "--json"],
            &["fmt", &bad],
            &["fmt", &bad, "--check"],
            &["test", &bad],
            &["reach", "--token", "user", "--policy", &bad],
            &["needs", "GET /x", "--policy", &bad],
            &["unused", "-", "--policy", &bad],
            &["who", "GET", "/x", "--tokens", "-", "--policy", &bad],
            &["test", &bad, "--policy", &shop, "--json"],
            &["openapi", "import", &bad, "--orbs", "true"],
            &["openapi", "check", &bad, &shop],
            &["openapi", "export", &bad],
            &["review", &shop, &shop, "--tests", &bad],
        ] {
            let ran = orbgate(arguments);
            assert_eq!((ran.code, &*ran.out), (2, ""), "{arguments:?}: {}", ran.err);
            assert!(ran.err.starts_with(&format!("{bad}:")), "{arguments:?}: {}", ran.err);
            assert!(!ran.err.contains("panicked"), "{}", ran.err);
            assert!(ran.err.lines().count() <= 1_001, "{arguments:?}");
        }
        // `check`, `lint` and `review` exist to find invalid policies.
        for arguments in [&["lint", &bad][..], &["check", &bad], &["review", &shop, &bad], &["review", &bad, &shop]] {
            let ran = orbgate(arguments);
            assert_eq!((ran.code, &*ran.err), (1, ""), "{arguments:?}: {}", ran.out);
            assert!(ran.out.starts_with(&format!("{bad}:")), "{arguments:?}: {}", ran.out);
        }
    }
}
