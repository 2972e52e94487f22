//! The recipe of the README for a token is real: its token is valid under its keys.

use std::fs;
use std::process::Command;
use std::time::SystemTime;

use orbgate_token::{Issuer, KeySet, Keys, KindRules, Verifier};

#[test]
fn the_readme_makes_a_valid_token() {
    let readme = include_str!("../README.md");
    let (_, recipe) = readme.split_once("```sh\nb64()").unwrap();
    let (recipe, _) = recipe.split_once("```").unwrap();
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/token-of-the-readme");
    fs::create_dir_all(folder).unwrap();
    let recipe = format!("set -e\nopenssl version\nb64(){recipe}");
    let mut shell = Command::new("sh");
    let output = shell
        .args(["-c", &recipe])
        .current_dir(folder)
        .output()
        .unwrap();
    if output.status.code() == Some(127) {
        assert!(std::env::var_os("CI").is_none(), "openssl is not here");
        return eprintln!("skipped: openssl is not here");
    }
    assert!(output.status.success(), "{output:?}");

    let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).unwrap();
    let (issuer, audience) = ("https://id.example.com", "https://api.example.com");
    assert!(
        readme.contains(&format!("let issuer = {issuer:?};"))
            && readme.contains(&format!("{audience:?}, kind)"))
    );
    let kind = KindRules::named_by("token_kind", "user", "organisation");
    let verifier = Verifier::new([Issuer::new(issuer, audience, kind)]).unwrap();
    let keys = Keys::new().with(
        issuer,
        KeySet::from_jwks(read("jwks.json").as_bytes()).unwrap(),
    );
    let verified = verifier.verify(read("token").trim(), &keys, SystemTime::now());
    assert!(verified.is_ok(), "{verified:?}");
}
