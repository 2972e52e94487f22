//! Tokens that only their holder can use, through the layer.

use core::convert::Infallible;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use orbgate_testing::holder::{Holder, sha256};
use orbgate_testing::signer::{AUDIENCE, ISSUER, Signer, claims, header, with};
use orbgate_token::{Algorithm, Issuer, KeyFetcher, KindRules, ProofMethod, ProofRules, Verifier};
use orbgate_tower::{ClientCertificate, Engines, GateLayer};
use serde_json::{Value, json};
use tower::{Layer as _, ServiceExt as _, service_fn};

const PATH: &str = "/api/v1/external/account";
const URL: &str = "https://api.example.com/api/v1/external/account";

struct World {
    gate: GateLayer<KeyFetcher>,
    signer: Signer,
    holder: Holder,
    now: u64,
}

impl World {
    fn new() -> Self {
        let signer = Signer::p256();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), json!({"keys": [signer.jwk("key-1")]}).to_string()).unwrap();
        let kind = KindRules::named_by("token_kind", "user", "organisation");
        let issuer = Issuer::new(ISSUER, AUDIENCE, kind)
            .algorithms([Algorithm::Es256])
            .jwks_file(file.path().to_str().unwrap())
            .proof(ProofRules::required([ProofMethod::Dpop, ProofMethod::Mtls]));
        let verifier = Verifier::new([issuer]).unwrap().public_urls(["https://api.example.com"]).unwrap();
        let refused = KeyFetcher::new(verifier.clone()).unwrap_err().to_string();
        assert!(refused.contains("passes no proofs on"), "{refused}");
        let fetcher = KeyFetcher::new(verifier.taking_proofs()).unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let gate = GateLayer::outermost(Engines::external(), fetcher);
        Self { gate, signer, holder: Holder::new(Signer::p256()), now }
    }

    fn token(&self, cnf: Value) -> String {
        let claims = with(with(claims(), "iat", self.now), "exp", self.now + 600);
        self.signer.token(&header(), &with(claims, "cnf", cnf))
    }

    /// The status and the challenge.
    async fn ask(&self, authorization: &str, proofs: &[&str], certificate: Option<&[u8]>) -> (u16, String) {
        let mut request = Request::get(PATH).header("authorization", authorization);
        for proof in proofs {
            request = request.header("DPoP", *proof);
        }
        let mut request = request.body(Empty::<Bytes>::new()).unwrap();
        if let Some(der) = certificate {
            request.extensions_mut().insert(ClientCertificate::new(der));
        }
        let service =
            self.gate.layer(service_fn(|_| async { Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new())) }));
        let response = service.oneshot(request).await.unwrap();
        let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
        (response.status().as_u16(), challenge.unwrap_or_default())
    }
}

#[tokio::test]
async fn a_bound_token_needs_its_proof() {
    let world = World::new();
    let token = world.token(json!({"jkt": world.holder.jkt()}));
    let (bound, bearer) = (format!("DPoP {token}"), format!("Bearer {token}"));
    let proof = world.holder.proof_at(&token, world.now, &json!({"htu": URL, "jti": "a"}));
    let challenge = |error: &str| (401, format!("Bearer, DPoP error=\"{error}\", algs=\"PS256 ES256 EdDSA Ed25519\""));
    assert_eq!(world.ask(&bearer, &[&proof], None).await, challenge("invalid_token"));
    assert_eq!(world.ask(&bound, &[], None).await, challenge("invalid_dpop_proof"));
    assert_eq!(world.ask(&bound, &[&proof, &proof], None).await, challenge("invalid_dpop_proof"));
    assert_eq!(world.ask(&bound, &[&proof], None).await, (200, String::new()));
    assert_eq!(world.ask(&bound, &[&proof], None).await, challenge("invalid_dpop_proof"));
    let elsewhere = world.holder.proof_at(&token, world.now, &json!({"htu": "https://api.example.com/", "jti": "b"}));
    assert_eq!(world.ask(&bound, &[&elsewhere], None).await, challenge("invalid_dpop_proof"));
}

#[tokio::test]
async fn a_certificate_is_that_of_the_connection() {
    let world = World::new();
    let bearer = format!("Bearer {}", world.token(json!({"x5t#S256": sha256("der")})));
    assert_eq!(world.ask(&bearer, &[], Some(b"der")).await, (200, String::new()));
    for wrong in [None, Some(&b"other"[..])] {
        let (status, challenge) = world.ask(&bearer, &[], wrong).await;
        assert_eq!(status, 401);
        assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
    }
}
