//! A program that turns on what would change or stop others' verifiers: both crypto providers of
//! jsonwebtoken, and another way of reading JSON's numbers.

use std::time::{Duration, UNIX_EPOCH};

use orbgate_token::{KeySet, Keys, Verifier};

const JWKS: &[u8] = include_bytes!("../jwks.json");
const TOKEN: &str = include_str!("../token.jwt");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Its panic is expected, and no error to be printed.
    std::panic::set_hook(Box::new(|_| ()));
    let theirs = std::panic::catch_unwind(|| {
        let jwks: jsonwebtoken::jwk::JwkSet = serde_json::from_slice(JWKS).unwrap();
        let key = jsonwebtoken::DecodingKey::from_jwk(&jwks.keys[0]).unwrap();
        let mut validation = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::ES256);
        validation.set_audience(&["https://api.example.com"]);
        jsonwebtoken::decode::<serde_json::Value>(TOKEN, &key, &validation).is_ok()
    });
    drop(std::panic::take_hook());
    let number: serde_json::Value = serde_json::from_str("1.000000000000000000001")?;
    assert_eq!(number.to_string(), "1.000000000000000000001");

    let verifier = Verifier::from_yaml(include_str!("../token.yaml"))?;
    let keys = Keys::new().with("https://id.example.com", KeySet::from_jwks(JWKS)?);
    let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let verified = verifier.verify(TOKEN, &keys, now)?;
    println!("theirs: {}", if theirs.is_err() { "panicked" } else { "answered" });
    println!("ours: {} {}", verified.kind().as_str(), verified.scopes());
    Ok(())
}
