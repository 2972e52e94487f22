//! Another implementation's opinion: jose accepts all that this crate accepts, and where this crate is
//! stricter, it says why.

use orbgate_testing::provider::Provider;
use orbgate_testing::signer::{AUDIENCE, ISSUER, NOW, Signer, World, claims, header, with, without};
use orbgate_token::TokenError;
use serde_json::{Value, json};

#[test]
fn no_token_is_accepted_that_jose_refuses() {
    use TokenError::{Audience, BadEncoding, BadTime, Bound, Claim, DuplicateMember, Extension, NotYetValid, Scopes};
    let Some(mut provider) = Provider::start(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let world = World::new();
    let tokens = tokens(&world.signer);
    let rules = json!({
        "jwks": {"keys": [world.signer.jwk("key-1")]}, "issuer": ISSUER, "audience": AUDIENCE,
        "algorithms": ["ES256"], "now": NOW,
    });
    let accepted = provider.judge(&tokens, &rules);
    assert_eq!(accepted.len(), tokens.len());
    let (mut both, mut neither, mut stricter) = (0, 0, 0);
    for (token, jose) in tokens.iter().zip(accepted) {
        match (world.verify(token), jose) {
            (Ok(_), true) => both += 1,
            (Err(_), false) => neither += 1,
            (Ok(_), false) => panic!("accepted, and jose refuses it: {token}"),
            (Err(error), true) => {
                let meant = [
                    Audience,    // a list with something other than text in it
                    BadEncoding, // bits of a last character that belong to no byte
                    BadTime,     // beyond where whole seconds are exact
                    Bound,
                    Claim,
                    DuplicateMember,
                    Extension,
                    NotYetValid, // issued in the future
                    Scopes,
                ];
                assert!(meant.contains(&error), "{error}: {token}");
                stricter += 1;
            }
        }
    }
    // Each of the three is tried.
    assert!(both > 50 && neither > 1_000 && stricter > 100, "{both} {neither} {stricter}");
}

/// Every header with every set of claims.
fn tokens(signer: &Signer) -> Vec<String> {
    let mut tokens = Vec::new();
    for header in variants(&header(), HEADERS) {
        for claims in variants(&claims(), CLAIMS) {
            tokens.push(signer.token_of(&header, &claims));
        }
    }
    // The valid token, once with each of its bytes changed.
    let honest = signer.token(&header(), &claims());
    for position in 0..honest.len() {
        let mut changed = honest.clone();
        changed.replace_range(position..=position, "-");
        tokens.push(changed);
    }
    // Four of the last character's bits belong to no byte of the signature; fifteen changes of them spell
    // the same signature another way.
    let (start, _) = honest.split_at(honest.len() - 1);
    tokens.extend(BASE64URL.chars().map(|last| format!("{start}{last}")));
    tokens
}

const BASE64URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The object as it is; without each member; and with each of these values, once instead of the member
/// and once as a second member of the same name.
fn variants(object: &Value, values: &[(&str, &[&str])]) -> Vec<String> {
    let mut variants = vec![object.to_string()];
    for (name, values) in values {
        variants.push(without(object.clone(), name).to_string());
        for value in *values {
            let value: Value = serde_json::from_str(value).unwrap();
            variants.push(with(object.clone(), name, value.clone()).to_string());
            let text = object.to_string();
            let text = text.strip_suffix('}').unwrap();
            variants.push(format!("{text},\"{name}\":{value}}}"));
        }
    }
    variants
}

const HEADERS: &[(&str, &[&str])] = &[
    ("alg", &[r#""none""#, r#""HS256""#, r#""ES384""#, r#""es256""#, "7"]),
    ("typ", &[r#""JWT""#, r#""AT+JWT""#, r#""application/at+jwt""#, "null"]),
    ("kid", &[r#""key-2""#, r#""""#, "1"]),
    ("crit", &["[]", r#"["x"]"#, r#"["b64"]"#]),
    ("b64", &["true", "false"]),
];

const CLAIMS: &[(&str, &[&str])] = &[
    ("iss", &[r#""https://evil.example""#, r#"["https://id.example.com"]"#, "null"]),
    ("aud", &[r#""x""#, r#"["x","https://api.example.com"]"#, r#"["https://api.example.com",7]"#, "7"]),
    ("exp", &["0", "1799999940", "1799999941", "-1", "1e18", r#""never""#, "null"]),
    ("nbf", &["1800000060", "1800000061", "true"]),
    ("iat", &["1900000000", r#""now""#]),
    ("scope", &["[]", r#""a  b""#]),
    ("cnf", &["{}"]),
    ("sub", &["7"]),
];
