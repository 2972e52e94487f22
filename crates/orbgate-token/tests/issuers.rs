//! The page about issuers: each configuration is read, and each token is what the page says.

use orbgate_testing::signer::{NOW, Signer, at, key_set};
use orbgate_token::{Keys, TokenError, VerifiedToken, Verifier};
use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/issuers.md");

/// The blocks of a section: what follows the three marks, and the text.
fn blocks(section: &str) -> Vec<(&str, &str)> {
    let parts = section.split("\n```").skip(1).step_by(2);
    parts.map(|block| block.split_once('\n').unwrap()).collect()
}

#[test]
fn every_token_on_the_page_is_what_the_page_says() {
    let signer = Signer::rsa();
    let (mut configurations, mut tokens, mut answers) = (0, 0, 0);
    for section in PAGE.split("\n## ").skip(1) {
        let (name, _) = section.split_once('\n').unwrap();
        let mut verifier = None;
        for (about, text) in blocks(section) {
            if about == "yaml" {
                let read = Verifier::from_yaml(text);
                verifier = Some(read.unwrap_or_else(|error| panic!("{name}: {error}")));
                configurations += 1;
            }
            let Some(expected) = about.strip_prefix("json ") else {
                continue;
            };
            let verifier = verifier.as_ref().expect(name);
            if let Some(expected) = expected.strip_prefix("answer ") {
                let verified = verifier.verify_introspected("opaque", text, at(NOW));
                let explained = verifier.explain_introspected("opaque", text, at(NOW));
                assert_eq!(shown(&verified), expected, "{name}: {text}");
                assert_eq!(explained.refused, verified.err(), "{name}");
                answers += 1;
                continue;
            }
            let sample: Value = serde_json::from_str(text).unwrap();
            let token = signer.token(&sample["header"], &sample["claims"]);
            let mut keys = Keys::new();
            for issuer in verifier.issuers() {
                keys = keys.with(issuer, key_set(&[signer.jwk("key-1")]));
            }
            let verified = verifier.verify(&token, &keys, at(NOW));
            let explained = verifier.explain(&token, Some(&keys), at(NOW));
            assert_eq!(shown(&verified), expected, "{name}: {sample}");
            assert_eq!(
                explained.refused,
                verified.as_ref().err().copied(),
                "{name}"
            );
            assert_eq!(explained.hint.is_some(), verified.is_err(), "{name}");
            // What a token is for and from is all that makes it ours.
            for claim in ["iss", "exp"] {
                let mut claims = sample["claims"].clone();
                claims.as_object_mut().unwrap().remove(claim);
                let token = signer.token(&sample["header"], &claims);
                verifier.verify(token, &keys, at(NOW)).unwrap_err();
            }
            tokens += 1;
        }
    }
    assert_eq!((configurations, tokens, answers), (7, 13, 2));
}

/// As the page has it.
fn shown(verified: &Result<VerifiedToken, TokenError>) -> String {
    let shown = match verified {
        Ok(verified) => format!("{} {}", verified.kind().as_str(), verified.scopes()),
        Err(error) => format!("refused {}", error.as_str()),
    };
    shown.trim_end().to_owned()
}
