//! The time to verify a token, by algorithm, and to refuse one before its signature.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "criterion's macros document nothing, and a bench fails by panicking"
)]

use core::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use orbgate_testing::signer::{Signer, claims, header, issuer, keys, now, verifier, with};
use orbgate_token::{Algorithm, TokenError};

fn verify(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("verify");
    let signers = [
        ("RS256", Signer::rsa()),
        ("PS256", Signer::rsa()),
        ("ES256", Signer::p256()),
        ("ES384", Signer::p384()),
        ("EdDSA", Signer::ed25519()),
    ];
    for (name, signer) in signers {
        let algorithm = Algorithm::from_name(name).unwrap();
        let verifier = verifier(issuer().algorithms([algorithm]));
        let keys = keys(&[signer.jwk("key-1")]);
        let token = signer.token(&with(header(), "alg", name), &claims());
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let verified = verifier.verify(black_box(&token), &keys, now());
                assert_eq!(verified.unwrap().scopes(), "read:account write:voxies");
            });
        });
        let unknown = with(with(header(), "alg", name), "kid", "key-2");
        let unknown = signer.token(&unknown, &claims());
        group.bench_function(format!("{name}/unknown kid"), |bencher| {
            bencher.iter(|| {
                let refused = verifier.verify(black_box(&unknown), &keys, now());
                assert_eq!(refused.err(), Some(TokenError::KeyUnknown));
            });
        });
    }
}

criterion_group!(benches, verify);
criterion_main!(benches);
