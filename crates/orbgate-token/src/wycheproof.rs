//! The JOSE vectors of Project Wycheproof. They aren't part of the repository. The tests look for them
//! in the directory `WYCHEPROOF_JOSE`, or in `../shared/wycheproof` next to the repository, and are
//! skipped if neither exists.
#![allow(
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    reason = "a test reads its vectors and says when there are none"
)]

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use orbgate_testing::skipped::skipped;
use serde_json::Value;

use crate::algorithm::{Algorithm, can_be};
use crate::compact::Compact;
use crate::keys::{Chosen, KeySet, KeySetError};

/// Cases of the signature file for which this crate's result differs from the label.
const DIFFERENCES: [(u64, &str); 8] = [
    (346, "the key says PS256, the token PS384"),
    (350, "the key says PS256, the token PS384"),
    (347, "the key's `ES521` is not an algorithm"),
    (351, "the key's `ES521` is not an algorithm"),
    (367, "labelled invalid, and byte for byte the valid case 357"),
    (370, "labelled invalid, and byte for byte the valid case 357"),
    (372, "labelled valid, with a `?` in its base64url"),
    (373, "labelled valid, with a `?` in its base64url"),
];

#[test]
fn every_signature_is_judged_as_labelled() {
    check("json_web_signature_test.json", 401, &DIFFERENCES);
}

#[test]
fn every_key_is_judged_as_labelled() {
    check("json_web_key_test.json", 26, &[]);
}

#[test]
fn every_jws_of_the_mixed_file_is_judged_as_labelled() {
    check("json_web_crypto_test.json", 48, &[]);
}

/// Runs every case with a JWS, and checks that there are `count`.
fn check(file: &str, count: usize, differences: &[(u64, &str)]) {
    let Some(directory) = directory() else {
        skipped("no Wycheproof vectors; WYCHEPROOF_JOSE may name their directory");
        return;
    };
    let text = std::fs::read_to_string(directory.join(file)).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let (mut run, mut wrong) = (0, Vec::new());
    for group in file["testGroups"].as_array().unwrap() {
        let keys = keys(group);
        for case in group["tests"].as_array().unwrap() {
            let Some(jws) = case["jws"].as_str() else {
                continue;
            };
            run += 1;
            let id = case["tcId"].as_u64().unwrap();
            let labelled = case["result"] == "valid";
            let differs = differences.iter().any(|(known, _)| *known == id);
            if accepts(&keys, jws) != (labelled != differs) {
                wrong.push(format!("{id} {} {}", group["comment"], case["comment"]));
            }
        }
    }
    assert_eq!(run, count);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn directory() -> Option<PathBuf> {
    if let Some(directory) = std::env::var_os("WYCHEPROOF_JOSE") {
        return Some(directory.into());
    }
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/wycheproof");
    beside.is_dir().then_some(beside)
}

fn accepts(keys: &Result<KeySet, KeySetError>, jws: &str) -> bool {
    let (Ok(keys), Ok(jws)) = (keys, Compact::parse(jws.as_bytes())) else {
        return false;
    };
    let Ok(Chosen { usage, .. }) = keys.choose(&jws, &Algorithm::ALL, None) else {
        return false;
    };
    let is_right = usage.material.verify(jws.signed, &jws.signature);
    // A program that checks signatures itself is asked about each signature that could be valid.
    let is_asked = can_be(usage.algorithm, &jws.signature, usage.signature_bytes);
    assert!(is_asked || !is_right);
    is_right
}

/// A group's keys as a service would have them: shared secrets if all are secrets; otherwise, keys
/// that an issuer publishes.
fn keys(group: &Value) -> Result<KeySet, KeySetError> {
    let group = group.get("public").unwrap_or(&group["private"]);
    let single = [group.clone()];
    let jwks = group["keys"].as_array().map_or(&single[..], Vec::as_slice);
    if !jwks.iter().all(|jwk| jwk["kty"] == "oct") {
        return KeySet::from_jwks(serde_json::json!({ "keys": jwks }).to_string().as_bytes());
    }
    let secrets: Vec<_> = jwks.iter().filter_map(secret).collect();
    KeySet::from_secrets(secrets.iter().map(|(kid, algorithm, secret)| (*kid, *algorithm, secret.as_slice())))
}

/// Case 4 of the keys has a secret with stray bits, but does not test how the secret is encoded.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

fn secret(jwk: &Value) -> Option<(&str, Algorithm, Vec<u8>)> {
    let algorithm = Algorithm::from_name(jwk["alg"].as_str()?)?;
    let secret = LENIENT.decode(jwk["k"].as_str()?).ok()?;
    Some((jwk["kid"].as_str()?, algorithm, secret))
}
