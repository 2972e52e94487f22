//! Any bytes as a token, and any header and claims signed by the issuer: what is verified says what was asked for.
#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use orbgate_token::{Algorithm, Issuer, KeySet, Keys, KindRules, Verifier, bearer};
use serde_json::Value;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    /// The values of `Authorization`.
    Raw(Vec<&'a [u8]>),
    /// Signed with the secret that the issuer shares.
    Signed { header: &'a str, claims: &'a str },
}

const TOKEN: &str = include_str!("../../crates/orbgate-token/testdata/token.jwt");
const JWKS: &[u8] = include_bytes!("../../crates/orbgate-token/testdata/jwks.json");
const NOW: u64 = 1_800_000_000;
const SECRET: &[u8] = b"a secret of thirty-two bytes ....";
const ISSUER: &str = "https://shared.example.com";
const AUDIENCE: &str = "https://api.example.com";
static WORLD: LazyLock<(Verifier, Keys)> = LazyLock::new(|| {
    let keys = Keys::new().with("https://id.example.com", KeySet::from_jwks(JWKS).unwrap());
    let secret = KeySet::from_secrets([("shared", Algorithm::Hs256, SECRET)]).unwrap();
    let issuers =
        [("https://id.example.com", Algorithm::Es256), (ISSUER, Algorithm::Hs256)].map(|(name, algorithm)| {
            let kind = KindRules::named_by("token_kind", "user", "organisation");
            Issuer::new(name, AUDIENCE, kind).algorithms([Algorithm::Rs256, algorithm])
        });
    (Verifier::new(issuers).unwrap(), keys.with(ISSUER, secret))
});

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

fuzz_target!(|input: Input<'_>| {
    let (verifier, keys) = &*WORLD;
    match input {
        Input::Raw(values) => {
            let Ok(Some(token)) = bearer(values.iter().copied()) else {
                return;
            };
            assert_eq!(values.len(), 1);
            // Nobody but the issuer makes a token that is verified.
            assert!(verifier.verify(token, keys, now()).is_err() || token == TOKEN.trim_end(), "{token}");
        }
        Input::Signed { header, claims } => {
            let token = signed(header, claims);
            let Ok(verified) = verifier.verify(&token, keys, now()) else {
                return;
            };
            let claims: Value = serde_json::from_str(claims).expect("claims that are verified are JSON");
            assert_eq!((verified.issuer(), &claims["iss"]), (ISSUER, &Value::from(ISSUER)));
            let audience = &claims["aud"];
            assert!(
                audience == AUDIENCE || audience.as_array().is_some_and(|all| all.iter().any(|one| one == AUDIENCE))
            );
            // A minute of skew is the default.
            assert!(claims["exp"].as_f64().is_some_and(|exp| exp + 60.0 > NOW as f64));
            assert_eq!(claims["token_kind"], verified.kind().as_str());
            assert_eq!(claims.get("scope").and_then(Value::as_str).unwrap_or_default(), verified.scopes());
        }
    }
});

fn signed(header: &str, claims: &str) -> String {
    let [header, claims] = [header, claims].map(|text| URL_SAFE_NO_PAD.encode(text));
    let text = format!("{header}.{claims}");
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET), text.as_bytes());
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}
