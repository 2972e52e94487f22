//! Requests that an adversary makes of what it has: tokens, proofs and certificates of several holders, paired and changed.
//! Whether one is right follows from how it was made, not from reading it.

use orbgate_testing::holder::{Holder, changed, sha256};
use orbgate_testing::random::Random;
use orbgate_testing::signer::{NOW, Signer, World, claims, header, issuer, now, with};
use orbgate_token::{Certificate, Presented, ProofMethod, ProofRules, Replays, Scheme, Verifier};
use serde_json::{Value, json};

/// Changes of a proof's header and of its claims, and whether the proof is still right.
fn changes() -> Vec<(Value, Value, bool)> {
    let of_claims = |claims: Value, is_right| (json!({}), claims, is_right);
    let of_header = |header: Value, is_right| (header, json!({}), is_right);
    let url = |url: &str, is_right| of_claims(json!({ "htu": url }), is_right);
    vec![
        of_claims(json!({}), true),
        url("https://api.example.com/orders?other#x", true),
        url("HTTPS://API.example.com:443/./orders", true),
        of_claims(json!({"iat": NOW - 120}), true),
        of_claims(json!({"iat": NOW + 60}), true),
        of_claims(json!({"nonce": "n", "nbf": 9e9, "htm2": "POST"}), true),
        of_header(json!({"kid": "other", "x5u": "https://x"}), true),
        url("https://api.example.com/orders/", false),
        url("https://api.example.com/Orders", false),
        url("https://api.example.com@x/orders", false),
        url("http://api.example.com/orders", false),
        url("https://api.example.com:8443/orders", false),
        url("https://api.example.com/orders%2f", false),
        of_claims(json!({"htu": null}), false),
        of_claims(json!({"htm": "POST"}), false),
        of_claims(json!({"htm": ["GET"]}), false),
        of_claims(json!({"iat": NOW - 121}), false),
        of_claims(json!({"iat": NOW + 61}), false),
        of_claims(json!({"iat": "now"}), false),
        of_claims(json!({"jti": ""}), false),
        of_claims(json!({"jti": {}}), false),
        of_claims(json!({"ath": null}), false),
        of_claims(json!({"ath": sha256("x")}), false),
        of_header(json!({"typ": "jwt"}), false),
        of_header(json!({"typ": "at+jwt"}), false),
        of_header(json!({"alg": "none"}), false),
        of_header(json!({"alg": "ES384"}), false),
        of_header(json!({"crit": []}), false),
        of_header(json!({"jwk": null}), false),
        of_header(json!({"jwk": {"kty": "EC", "crv": "P-256"}}), false),
    ]
}

/// Tries that many requests; returns how many were right.
fn tries(seed: u64, count: usize) -> usize {
    let world = World::new();
    let mut random = Random::new(seed);
    let changes = changes();
    let rules = ProofRules::when_bound([ProofMethod::Dpop, ProofMethod::Mtls]);
    let verifier = Verifier::new([issuer().proof(rules)]).unwrap();
    let verifier = verifier.public_urls(["https://api.example.com"]).unwrap().taking_proofs();
    let holders = [Holder::new(Signer::p256()), Holder::new(Signer::p256())];
    let certificates = ["first certificate", "second certificate"];
    // What each token is bound to: the key of a holder, the certificate of one, both or nothing.
    let bindings: Vec<(Option<usize>, Option<usize>)> = [None, Some(0), Some(1)]
        .into_iter()
        .flat_map(|key| [None, Some(0), Some(1)].map(|other| (key, other)))
        .collect();
    let tokens = bindings.iter().map(|(key, certificate)| {
        let mut cnf = json!({});
        if let Some(key) = key {
            cnf["jkt"] = holders[*key].jkt().into();
        }
        if let Some(certificate) = certificate {
            cnf["x5t#S256"] = sha256(certificates[*certificate]).into();
        }
        let claims = if cnf == json!({}) { claims() } else { with(claims(), "cnf", cnf) };
        world.signer.token(&header(), &claims)
    });
    let tokens: Vec<String> = tokens.collect();
    let replays = Replays::new();
    let mut last: Option<(String, usize)> = None;
    let mut right = 0;
    for number in 0..count {
        let mut index = random.index(tokens.len());
        let (of_proof, made_for) =
            (random.index(2), if random.index(8) == 0 { random.index(tokens.len()) } else { index });
        let (of_header, of_claims, mut is_right) =
            changes[random.index(changes.len()).min(random.index(changes.len()))].clone();
        let own = changed(holders[of_proof].claims(&tokens[made_for], NOW), &json!({"jti": number.to_string()}));
        let mut proof = holders[of_proof].proof_of(&of_header, &changed(own, &of_claims));
        is_right &= made_for == index;
        match random.index(16) {
            // One character is another.
            0 => {
                let at = random.index(proof.len());
                let other = if proof.as_bytes()[at] == b'A' { "B" } else { "A" };
                proof.replace_range(at..=at, other);
                is_right = false;
            }
            // Signed by the other key.
            1 => {
                let other = holders[1 - of_proof].proof_of(&json!({}), &json!({"a": number}));
                let (body, _) = proof.rsplit_once('.').unwrap();
                proof = format!("{body}.{}", other.rsplit_once('.').unwrap().1);
                is_right = false;
            }
            // Used before.
            2 => {
                if let Some((used, token)) = &last {
                    (proof, index, is_right) = (used.clone(), *token, false);
                }
            }
            _ => {}
        }
        let (key, certificate) = bindings[index];
        let is_dpop = random.index(4) > 0;
        let proofs = [proof.as_bytes(), proof.as_bytes()];
        let sent = [1, 1, 1, 1, 1, 0, 2][random.index(7)];
        let shown = [None, Some(0), Some(1)][random.index(3)];
        let presented = Presented {
            scheme: if is_dpop { Scheme::Dpop } else { Scheme::Bearer },
            dpop: &proofs[..sent],
            method: b"GET",
            target: b"/orders?a=b",
            certificate: shown.map(|shown: usize| Certificate::Der(certificates[shown].as_bytes())),
            repeats: false,
        };
        let by_key = match key {
            Some(key) => is_dpop && sent == 1 && is_right && key == of_proof,
            None => !is_dpop && sent < 2,
        };
        let expected = by_key && certificate.is_none_or(|of| shown == Some(of));
        let verdict = verifier.verify_presented(&tokens[index], &presented, &world.keys, &replays, now());
        assert_eq!(
            verdict.is_ok(),
            expected,
            "seed {seed}, request {number}: {:?} {:?} {of_header} {of_claims} {is_dpop} {sent} {shown:?} {:?}",
            bindings[index],
            of_proof,
            verdict.err()
        );
        if expected && key.is_some() {
            last = Some((proof, index));
        }
        right += usize::from(expected);
    }
    right
}

#[test]
fn only_requests_that_are_right_are_accepted() {
    assert!(tries(75, 3_000) > 100);
}

/// `cargo test -p orbgate-token --release --all-features --test all -- --ignored adversary`
#[test]
#[ignore = "takes half a minute"]
fn only_requests_that_are_right_are_accepted_of_many() {
    assert!(tries(9_449, 100_000) > 3_000);
}
