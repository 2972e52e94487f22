//! `orbgate check`.

use crate::{BAD, SHOP, file, orbgate};

#[test]
fn a_fine_file_is_0_and_overlaps_are_warnings() {
    let shop = file("check-shop.yaml", SHOP);
    let ran = orbgate(&["check", &shop]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let (last, warnings) = ran
        .out
        .lines()
        .collect::<Vec<_>>()
        .split_last()
        .map_or_else(
            || panic!("nothing printed"),
            |(last, rest)| {
                (
                    (*last).to_owned(),
                    rest.iter()
                        .map(|line| (*line).to_owned())
                        .collect::<Vec<_>>(),
                )
            },
        );
    assert!(
        last.starts_with(&format!("{shop}: ok: 4 scopes, 5 routes, sha256:")),
        "{last}"
    );
    assert_eq!(
        last.rsplit(':').next().map(str::len),
        Some(64),
        "the whole digest"
    );
    assert_eq!(warnings.len(), 1, "{}", ran.out);
    assert!(
        warnings[0].starts_with(&format!("warning: {shop}:21:18: ")),
        "{}",
        ran.out
    );
}

#[test]
fn the_built_in_policy_is_fine() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy/external.yaml");
    let ran = orbgate(&["check", path]);
    assert_eq!(ran.code, 0);
    let end = format!("{path}: ok: 24 scopes, 37 routes, {}\n", crate::digest());
    assert!(ran.out.ends_with(&end), "{}", ran.out);
}

#[test]
fn faults_are_1_and_stand_on_standard_output() {
    let (bad, shop) = (file("check-bad.yaml", BAD), file("check-good.yaml", SHOP));
    for files in [[&bad, &shop], [&shop, &bad]] {
        let ran = orbgate(&["check", files[0], files[1]]);
        assert_eq!((ran.code, &*ran.err), (1, ""));
        assert!(ran.out.contains(&format!("{bad}:7:15: ")), "{}", ran.out);
        assert!(ran.out.contains(&format!("{bad}:9:")), "{}", ran.out);
        assert!(ran.out.contains(&format!("{shop}: ok: ")), "{}", ran.out);
    }
}

#[test]
fn bytes_that_are_no_text_are_a_fault() {
    let bad = file("check-bytes.yaml", b"\xef\xbb\xbforbgate: \x80\n");
    let ran = orbgate(&["check", &bad]);
    assert_eq!((ran.code, ran.out), (1, format!("{bad}:1:10: not UTF-8\n")));
}

#[test]
fn a_file_that_cannot_be_read_is_2_and_the_others_are_checked() {
    let (bad, shop) = (file("check-worse.yaml", BAD), file("check-fine.yaml", SHOP));
    let ran = orbgate(&["check", &bad, "/nowhere.yaml", &shop]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.starts_with("error: cannot read `/nowhere.yaml`: "),
        "{}",
        ran.err
    );
    assert!(ran.out.contains(&format!("{bad}:7:15: ")), "{}", ran.out);
    assert!(ran.out.contains(&format!("{shop}: ok: ")), "{}", ran.out);
}

#[test]
fn no_file_is_a_usage_error() {
    assert_eq!(orbgate(&["check"]).code, 2);
}
