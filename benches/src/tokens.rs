//! From a JWT to the answer: verified and decided, beside jsonwebtoken, which only verifies, and the check of a signature alone.

use std::hint::black_box;
use std::time::Instant;

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256};
use aws_lc_rs::signature::{KeyPair as _, ParsedPublicKey, VerificationAlgorithm};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{DecodingKey, Validation, decode};
use orbgate::{Engine, Request};
use orbgate_testing::signer::{AUDIENCE, ISSUER, Signer, at, claims, header, issuer, keys, verifier, with};
use orbgate_token::Algorithm;
use serde::Deserialize;
use serde_json::Value;

use crate::contest::median;
use crate::measures::Verified;

/// Different tokens: more than a processor learns.
const TOKENS: usize = 512;
/// Tokens of a turn.
const TURN: usize = 64;

/// What a service takes out of a token.
#[derive(Deserialize)]
struct Claims {
    sub: String,
    scope: String,
    token_kind: String,
}

struct Token {
    text: String,
    /// The length of the part that is signed.
    signed: usize,
    signature: Vec<u8>,
}

type Contestant<'t> = (&'static str, Box<dyn Fn(&Token) -> bool + 't>);

/// Everybody in turn, for each algorithm.
pub fn run(rounds: usize) -> Vec<Verified> {
    let rsa: &'static dyn VerificationAlgorithm = &RSA_PKCS1_2048_8192_SHA256;
    let algorithms = [("RS256", Signer::rsa(), rsa), ("ES256", Signer::p256(), &ECDSA_P256_SHA256_FIXED)];
    let rows = algorithms.iter().flat_map(|(name, signer, algorithm)| {
        let public = match signer {
            Signer::Rsa(pair) => pair.public_key().as_ref(),
            Signer::P256(pair) => pair.public_key().as_ref(),
            _ => unreachable!("the two above"),
        };
        let key = ParsedPublicKey::new(*algorithm, public).expect("a key");
        contest(name, signer, &key, rounds)
    });
    rows.collect()
}

fn contest(name: &'static str, signer: &Signer, key: &ParsedPublicKey, rounds: usize) -> Vec<Verified> {
    let jwk = signer.jwk("key-1");
    let tokens: Vec<_> = (0..TOKENS).map(|number| token(name, signer, number)).collect();
    let algorithm = Algorithm::from_name(name).expect("its name");
    let verifier = verifier(issuer().algorithms([algorithm]));
    let keys = keys(std::slice::from_ref(&jwk));
    let engine = Engine::external();
    // The machine's clock, as jsonwebtoken reads it.
    let now = std::time::SystemTime::now;
    let verify = |token: &Token| verifier.verify(&token.text, &keys, now());
    let contestants: [Contestant<'_>; 4] = [
        (
            "orbgate",
            Box::new(|token| {
                verify(token).is_ok_and(|verified| {
                    let decision = engine.decide(&Request {
                        method: b"GET",
                        target: b"/api/v1/external/account",
                        token: Some(verified.token()),
                        allow_bonus_orbs_use: false,
                    });
                    decision.is_allow()
                })
            }),
        ),
        ("orbgate-verify", Box::new(|token| verify(token).is_ok())),
        ("jsonwebtoken", Box::new(peer(name, &jwk))),
        (
            "signature",
            Box::new(|token| {
                let signed = &token.text.as_bytes()[..token.signed];
                key.verify_sig(signed, &token.signature).is_ok()
            }),
        ),
    ];
    times(name, &tokens, &contestants, rounds)
}

/// A token as issuers make them, with a subject and an identifier of its own.
fn token(algorithm: &str, signer: &Signer, number: usize) -> Token {
    let now = std::time::SystemTime::now().duration_since(at(0));
    let now = now.expect("after 1970").as_secs();
    let claims = with(with(claims(), "iat", now - 10), "exp", now + 86_400);
    let claims = with(claims, "sub", format!("user-{number}"));
    let claims = with(claims, "jti", format!("token-{number}"));
    let text = signer.token(&with(header(), "alg", algorithm), &claims);
    let signed = text.rfind('.').expect("three parts");
    let signature = URL_SAFE_NO_PAD.decode(&text[signed + 1..]).expect("base64url");
    Token { text, signed, signature }
}

/// jsonwebtoken as its users call it: issuer, audience and expiry are checked, the claims read into a type. It is given the key; orbgate
/// looks it up by `kid`.
fn peer(algorithm: &str, jwk: &Value) -> impl Fn(&Token) -> bool {
    let mut validation = Validation::new(algorithm.parse().expect("its name"));
    validation.set_audience(&[AUDIENCE]);
    validation.set_issuer(&[ISSUER]);
    validation.set_required_spec_claims(&["exp", "iss", "aud"]);
    let jwk: Jwk = serde_json::from_value(jwk.clone()).expect("a JWK");
    let key = DecodingKey::from_jwk(&jwk).expect("a key");
    move |token| {
        let decoded = decode::<Claims>(&token.text, &key, &validation);
        decoded.is_ok_and(|decoded| {
            let Claims { sub, scope, token_kind } = decoded.claims;
            black_box(sub);
            token_kind == "user" && scope.split(' ').any(|scope| scope == "read:account")
        })
    }
}

/// Checks the answers, right and wrong ones, then takes the times.
fn times(algorithm: &'static str, tokens: &[Token], contestants: &[Contestant<'_>], rounds: usize) -> Vec<Verified> {
    for (name, is_right) in contestants {
        assert!(tokens.iter().all(is_right), "{name}: {algorithm} tokens are right");
        let forged = tokens.iter().zip(&tokens[1..]).map(|(token, other)| Token {
            text: format!("{}{}", &token.text[..token.signed], &other.text[other.signed..]),
            signed: token.signed,
            signature: other.signature.clone(),
        });
        assert!(!forged.into_iter().any(|forged| is_right(&forged)), "{name}: forged");
    }
    let turns: Vec<_> = tokens.chunks(TURN).collect();
    // Of each contestant, by turn and round.
    let mut times = vec![vec![Vec::with_capacity(rounds); turns.len()]; contestants.len()];
    for _ in 0..rounds {
        for (turn, tokens) in turns.iter().enumerate() {
            for ((_, is_right), times) in contestants.iter().zip(&mut times) {
                let start = Instant::now();
                black_box(tokens.iter().filter(|token| is_right(black_box(token))).count());
                times[turn].push(start.elapsed().as_secs_f64() * 1e6 / tokens.len() as f64);
            }
        }
    }
    let rows = contestants.iter().zip(&times).map(|((contestant, _), own)| {
        let of_turns =
            |pick: &dyn Fn(&[f64]) -> f64| own.iter().map(|times| pick(times)).sum::<f64>() / own.len() as f64;
        let ratios = times[0].iter().flatten().zip(own.iter().flatten());
        Verified {
            algorithm,
            contestant,
            min: of_turns(&|times| times.iter().copied().fold(f64::INFINITY, f64::min)),
            median: of_turns(&|times| median(times.iter().copied())),
            ratio: median(ratios.map(|(orbgate, other)| orbgate / other)),
        }
    });
    rows.collect()
}
