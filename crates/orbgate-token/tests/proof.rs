//! Tokens that only their holder can use: DPoP and mTLS.

use core::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use orbgate_testing::holder::{Holder, URL, changed, sha256};
use orbgate_testing::signer::{NOW, Signer, World, at, base64url, claims, header, issuer, now, with, without};
use orbgate_token::{
    Algorithm, Certificate, Checked, ClaimTest, Derived, FetchSettings, Issuer, Judged, KeyCache, Now, Presented,
    ProofMethod, ProofRules, Replays, Scheme, TokenError, Verifier,
};
use serde_json::{Value, json};

pub(crate) const TARGET: &[u8] = b"/orders?a=b";
pub(crate) fn presented<'a>(dpop: &'a [&'a [u8]]) -> Presented<'a> {
    Presented { scheme: Scheme::Dpop, dpop, method: b"GET", target: TARGET, certificate: None, repeats: false }
}

fn by(rules: ProofRules) -> Issuer {
    issuer().proof(rules)
}

fn dpop() -> ProofRules {
    ProofRules::required([ProofMethod::Dpop])
}

fn verifier(issuer: Issuer) -> Verifier {
    Verifier::new([issuer]).unwrap().public_urls(["https://api.example.com"]).unwrap().taking_proofs()
}

fn verify(world: &World, issuer: Issuer, token: &str, presented: &Presented<'_>) -> Option<TokenError> {
    verifier(issuer).verify_presented(token, presented, &world.keys, &Replays::new(), now()).err()
}

#[test]
fn each_rule_of_a_proof_is_checked() {
    use TokenError::{
        ProofAlgorithm, ProofBinding, ProofForm, ProofId, ProofKey, ProofMethod, ProofSignature, ProofTime, ProofToken,
        ProofType, ProofUrl,
    };
    let world = World::new();
    let holder = Holder::new(Signer::p256());
    let other = Holder::new(Signer::p256());
    let token = holder.bound(&world.signer);
    let good = holder.claims(&token, NOW);
    let check = |proof: &str| verify(&world, by(dpop()), &token, &presented(&[proof.as_bytes()]));
    let of = |claims: Value| check(&holder.proof_of(&json!({}), &changed(good.clone(), &claims)));
    let headed = |header: Value| check(&holder.proof_of(&header, &good));

    assert_eq!(of(json!({})), None);
    // Members that don't matter don't matter.
    assert_eq!(headed(json!({"kid": "k", "jku": "https://x"})), None);
    assert_eq!(of(json!({"nbf": 0, "exp": 1, "sub": 7, "nonce": "n"})), None);

    let with_jwk = |member: &str, value: Value| headed(json!({"jwk": with(holder.jwk(), member, value)}));
    let table = [
        (check(""), ProofForm),
        (check("a.b"), ProofForm),
        (check("a.b.c"), ProofForm),
        (check("a.b.c.d"), ProofForm),
        (headed(json!({"jwk": null})), ProofForm),
        (headed(json!({"jwk": "key"})), ProofForm),
        (headed(json!({"jwk": other.jwk()})), ProofBinding),
        (headed(json!({"jwk": {"kty": "oct", "k": "AAAA"}})), ProofKey),
        (headed(json!({"jwk": without(holder.jwk(), "y")})), ProofKey),
        (with_jwk("crv", json!("P-384")), ProofBinding),
        (with_jwk("d", json!("AAAA")), ProofKey),
        (with_jwk("use", json!("enc")), ProofKey),
        (with_jwk("key_ops", json!(["sign"])), ProofKey),
        (with_jwk("alg", json!("ES384")), ProofKey),
        (with_jwk("key_ops", json!(["verify"])), ProofKey),
        (headed(json!({"typ": null})), ProofType),
        (headed(json!({"typ": "JWT"})), ProofType),
        (headed(json!({"typ": "DPOP+JWT"})), ProofType),
        (headed(json!({"crit": ["exp"]})), ProofType),
        (headed(json!({"b64": true})), ProofType),
        (headed(json!({"alg": "none"})), ProofAlgorithm),
        (headed(json!({"alg": "HS256"})), ProofAlgorithm),
        (headed(json!({"alg": "RS256"})), ProofAlgorithm),
        (headed(json!({"alg": null})), ProofAlgorithm),
        (headed(json!({"alg": "PS256"})), ProofKey),
        (of(json!({"htm": "POST"})), ProofMethod),
        (of(json!({"htm": "get"})), ProofMethod),
        (of(json!({"htm": "MCP"})), ProofMethod),
        (of(json!({"htm": null})), ProofMethod),
        (of(json!({"htu": "https://api.example.com/order"})), ProofUrl),
        (of(json!({"htu": "/orders"})), ProofUrl),
        (of(json!({"htu": null})), ProofUrl),
        (of(json!({"htu": [URL]})), ProofUrl),
        (of(json!({"iat": NOW + 61})), ProofTime),
        (of(json!({"iat": NOW - 121})), ProofTime),
        (of(json!({"iat": NOW.to_string()})), ProofTime),
        (of(json!({"iat": -1})), ProofTime),
        (of(json!({"iat": null})), ProofTime),
        (of(json!({"jti": null})), ProofId),
        (of(json!({"jti": ""})), ProofId),
        (of(json!({"jti": 7})), ProofId),
        (of(json!({"jti": "j".repeat(257)})), ProofId),
        (of(json!({"ath": null})), ProofToken),
        (of(json!({"ath": sha256("another token")})), ProofToken),
        (of(json!({"ath": format!("{}=", sha256(&token))})), ProofToken),
    ];
    for (index, (refused, expected)) in table.into_iter().enumerate() {
        let expected = if index == 14 { None } else { Some(expected) };
        assert_eq!(refused, expected, "row {index}");
    }
    for accepted in [
        json!({"iat": NOW + 60}),
        json!({"iat": NOW - 120}),
        json!({"iat": 1_799_999_999.5}),
        json!({"jti": "j".repeat(256)}),
        json!({"htu": format!("{URL}?other=query#fragment")}),
        json!({"htu": "HTTPS://API.example.com:443/x/../%6Frders"}),
    ] {
        assert_eq!(of(accepted.clone()), None, "{accepted}");
    }
    // Another key's signature, with the key of the token in the header.
    let signed = other.signer.token(&json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": holder.jwk()}), &good);
    assert_eq!(check(&signed), Some(ProofSignature));
    let right = holder.proof_of(&json!({}), &good);
    let (body, _) = right.rsplit_once('.').unwrap();
    for signature in [base64url([0; 64]), base64url([1; 63]), base64url([1; 65])] {
        assert_eq!(check(&format!("{body}.{signature}")), Some(ProofSignature));
    }
    assert_eq!(check(&format!("{right}=")), Some(ProofForm));
    let long = holder.proof_of(&json!({}), &with(good.clone(), "x", "x".repeat(8_192)));
    assert_eq!(check(&long), Some(ProofForm));
    let twice = good.to_string().replacen('{', r#"{"htm":"POST","#, 1);
    let twice =
        holder.signer.token_of(&json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": holder.jwk()}).to_string(), &twice);
    assert_eq!(check(&twice), Some(ProofForm));
}

/// The key is the caller's choice, so it is compared with the token's before anything is done with it.
#[test]
fn rules_are_checked_in_one_order() {
    use TokenError::{
        Expired, ProofAlgorithm, ProofBinding, ProofId, ProofKey, ProofMethod, ProofSignature, ProofTime, ProofToken,
        ProofType, ProofUrl,
    };
    let world = World::new();
    let (holder, other) = (Holder::new(Signer::p256()), Holder::new(Signer::p256()));
    let token = holder.bound(&world.signer);
    let (usual_header, usual_claims) = (header, claims);
    let mut header = json!({"typ": "no", "alg": "none", "jwk": with(other.jwk(), "d", "AAAA")});
    let mut claims = json!({"htm": "X", "htu": "x", "iat": 0, "jti": "", "ath": "x"});
    let check = |header: &Value, claims: &Value| {
        let proof = other.signer.token(header, claims);
        verify(&world, by(dpop()), &token, &presented(&[proof.as_bytes()]))
    };
    let good = holder.claims(&token, NOW);
    assert_eq!(check(&header, &claims), Some(ProofBinding));
    header["jwk"] = with(holder.jwk(), "d", "AAAA");
    assert_eq!(check(&header, &claims), Some(ProofKey));
    header["jwk"] = holder.jwk();
    assert_eq!(check(&header, &claims), Some(ProofType));
    header["typ"] = "dpop+jwt".into();
    assert_eq!(check(&header, &claims), Some(ProofAlgorithm));
    header["alg"] = "ES256".into();
    let order = [("htm", ProofMethod), ("htu", ProofUrl), ("iat", ProofTime), ("jti", ProofId), ("ath", ProofToken)];
    for (name, error) in order {
        assert_eq!(check(&header, &claims), Some(error));
        claims[name] = good[name].clone();
    }
    assert_eq!(check(&header, &claims), Some(ProofSignature));
    // A token that isn't valid is refused before its proof is read.
    let expired = world.signer.token(&usual_header(), &with(usual_claims(), "exp", NOW - 600));
    assert_eq!(verify(&world, by(dpop()), &expired, &presented(&[b"x"])), Some(Expired));
}

#[test]
fn every_algorithm_of_the_list_proves() {
    let world = World::new();
    let all = [
        (Signer::rsa(), "RS256", Algorithm::Rs256),
        (Signer::rsa(), "PS256", Algorithm::Ps256),
        (Signer::rsa(), "PS512", Algorithm::Ps512),
        (Signer::p256(), "ES256", Algorithm::Es256),
        (Signer::p384(), "ES384", Algorithm::Es384),
        (Signer::p521(), "ES512", Algorithm::Es512),
        (Signer::ed25519(), "EdDSA", Algorithm::EdDsa),
        (Signer::ed25519(), "Ed25519", Algorithm::Ed25519),
    ];
    let usual = ["ES256", "PS256", "EdDSA", "Ed25519"];
    for (signer, algorithm, named) in all {
        let holder = Holder { signer, algorithm };
        let token = holder.bound(&world.signer);
        let proof = holder.proof_at(&token, NOW, &json!({}));
        let check = |rules| verify(&world, by(rules), &token, &presented(&[proof.as_bytes()]));
        assert_eq!(check(dpop().algorithms([named])), None, "{algorithm}");
        let expected = (!usual.contains(&algorithm)).then_some(TokenError::ProofAlgorithm);
        assert_eq!(check(dpop()), expected, "{algorithm}");
    }
}

#[test]
fn a_large_rsa_key_is_refused_before_it_costs_anything() {
    let world = World::new();
    let holder = Holder { signer: Signer::rsa(), algorithm: "PS256" };
    let mut jwk = json!({"kty": "RSA", "e": "AQAB", "n": base64url([0xff; 513])});
    let jkt = sha256(jwk.to_string());
    let token = world.signer.token(&header(), &with(claims(), "cnf", json!({ "jkt": jkt })));
    let proof = holder.proof_of(&json!({ "jwk": jwk }), &holder.claims(&token, NOW));
    let check = |token: &str, proof: &str| verify(&world, by(dpop()), token, &presented(&[proof.as_bytes()]));
    assert_eq!(check(&token, &proof), Some(TokenError::ProofKey));
    // Another spelling of a number has another thumbprint, and is refused even if the issuer took it.
    jwk = with(holder.jwk(), "e", "AAEAAQ");
    let token = world.signer.token(&header(), &with(claims(), "cnf", json!({"jkt": sha256(jwk.to_string())})));
    let proof = holder.proof_of(&json!({ "jwk": jwk }), &holder.claims(&token, NOW));
    assert_eq!(check(&token, &proof), Some(TokenError::ProofKey));
}

#[test]
fn a_bound_token_is_never_a_plain_one() {
    use TokenError::{Bound, Confirmation, ProofMissing, Scheme as Mixed, Unbound};
    let world = World::new();
    let holder = Holder::new(Signer::p256());
    let (token, plain) = (holder.bound(&world.signer), world.signer.token(&header(), &claims()));
    let proof = holder.proof_at(&token, NOW, &json!({}));
    let proof = proof.as_bytes();
    // As a server can join two lines.
    let in_one = [proof, b", ", proof].concat();
    let [one, two, joined]: [&[&[u8]]; 3] = [&[proof], &[proof, proof], &[&in_one]];
    let when_bound = || ProofRules::when_bound([ProofMethod::Dpop]);
    let bearer = |dpop| Presented { scheme: Scheme::Bearer, ..presented(dpop) };
    let table: &[(&str, ProofRules, Presented<'_>, Option<TokenError>)] = &[
        (&token, dpop(), presented(one), None),
        (&token, when_bound(), presented(one), None),
        (&token, when_bound(), bearer(one), Some(Mixed)),
        (&token, when_bound(), bearer(&[]), Some(Mixed)),
        (&token, when_bound(), Presented::default(), Some(Mixed)),
        (&token, dpop(), presented(&[]), Some(ProofMissing)),
        (&token, dpop(), presented(two), Some(ProofMissing)),
        (&token, dpop(), presented(joined), Some(ProofMissing)),
        (&plain, when_bound(), bearer(joined), Some(ProofMissing)),
        (&token, ProofRules::required([ProofMethod::Mtls]), presented(one), Some(Confirmation)),
        (&plain, when_bound(), bearer(&[]), None),
        (&plain, when_bound(), bearer(one), None),
        (&plain, when_bound(), bearer(two), Some(ProofMissing)),
        (&plain, when_bound(), presented(one), Some(Mixed)),
        (&plain, dpop(), presented(one), Some(Mixed)),
        (&plain, dpop(), bearer(&[]), Some(Unbound)),
    ];
    for (index, (token, rules, presented, expected)) in table.iter().enumerate() {
        assert_eq!(verify(&world, by(rules.clone()), token, presented), *expected, "row {index}");
    }
    // Without rules, nothing is proved.
    assert_eq!(verify(&world, issuer(), &token, &presented(one)), Some(Bound));
    assert_eq!(verify(&world, issuer(), &plain, &presented(one)), Some(Mixed));
    // Whoever asks without what a request presents gets no bound token.
    let verifier = verifier(by(when_bound()));
    assert_eq!(verifier.verify(&token, &world.keys, now()), Err(Mixed));
    assert_eq!(verifier.verify(&plain, &world.keys, now()).err(), None);
}

#[test]
fn every_member_of_cnf_must_be_proved() {
    let world = World::new();
    let holder = Holder::new(Signer::p256());
    let certificate = b"any bytes: only their hash counts".as_slice();
    let x5t = sha256(certificate);
    let both = || ProofRules::required([ProofMethod::Dpop, ProofMethod::Mtls]);
    let check = |cnf: Value, rules: ProofRules, dpop: bool, certificate: Option<Certificate<'_>>| {
        let token = world.signer.token(&header(), &with(claims(), "cnf", cnf));
        let proof = holder.proof_at(&token, NOW, &json!({}));
        let proofs = [proof.as_bytes()];
        let presented = match dpop {
            true => Presented { certificate, ..presented(&proofs) },
            false => Presented { certificate, ..Presented::default() },
        };
        verify(&world, by(rules), &token, &presented)
    };
    let (der, other) = (Some(Certificate::Der(certificate)), Some(Certificate::Der(b"other")));
    let hash: [u8; 32] = digest(&SHA256, certificate).as_ref().try_into().unwrap();
    let jkt = holder.jkt();
    let mtls = json!({ "x5t#S256": x5t });
    assert_eq!(check(mtls.clone(), both(), false, der), None);
    assert_eq!(check(mtls.clone(), both(), false, Some(Certificate::Sha256(hash))), None);
    assert_eq!(check(mtls.clone(), both(), false, other), Some(TokenError::Certificate));
    assert_eq!(check(mtls.clone(), both(), false, None), Some(TokenError::Certificate));
    assert_eq!(check(mtls.clone(), both(), true, der), Some(TokenError::Scheme));
    assert_eq!(check(mtls, dpop(), false, der), Some(TokenError::Confirmation));
    let two = json!({"jkt": jkt, "x5t#S256": x5t});
    assert_eq!(check(two.clone(), both(), true, der), None);
    assert_eq!(check(two.clone(), both(), true, None), Some(TokenError::Certificate));
    assert_eq!(check(two.clone(), both(), false, der), Some(TokenError::Scheme));
    assert_eq!(check(two, dpop(), true, der), Some(TokenError::Confirmation));
    for cnf in [
        json!({}),
        json!(null),
        json!("x"),
        json!([]),
        json!({"jkt": "x"}),
        json!({"jkt": 7}),
        json!({"jkt": null}),
        json!({"jkt": format!("{jkt}=")}),
        json!({"jkt": jkt, "jwk": {}}),
        json!({"jkt": jkt, "kid": "k"}),
        json!({"JKT": jkt}),
        json!({"x5t#s256": x5t}),
        json!({"x5t": x5t}),
    ] {
        assert_eq!(check(cnf.clone(), both(), true, der), Some(TokenError::Confirmation), "{cnf}");
    }
}

fn cache(world: &World, issuer: Issuer) -> KeyCache {
    let jwks = json!({"keys": [world.signer.jwk("key-1")]}).to_string().into_bytes();
    let verifier = verifier(issuer.jwks_file("/keys.json")).remember_signatures(10);
    let verifier = verifier.with_secrets(|_| Ok(jwks.clone())).unwrap();
    KeyCache::new(verifier, FetchSettings::default()).unwrap()
}

const fn time(second: u64) -> Now {
    Now { time: std::time::UNIX_EPOCH, monotonic: Duration::from_secs(second) }
}

fn judge(cache: &KeyCache, token: &str, presented: &Presented<'_>, second: u64) -> Option<TokenError> {
    let now = Now { time: at(NOW + second), ..time(second) };
    match cache.judge_presented(token, presented, &mut cache.ask(now.monotonic), now) {
        Judged::Verdict(verdict) => verdict.err(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_proof_counts_once_even_after_a_reload() {
    let world = World::new();
    let holder = Holder::new(Signer::p256());
    let token = holder.bound(&world.signer);
    let proof = holder.proof_at(&token, NOW, &json!({}));
    let first = cache(&world, by(dpop()));
    let one = |cache: &KeyCache, second| judge(cache, &token, &presented(&[proof.as_bytes()]), second);
    // What is refused for another reason isn't used up.
    let elsewhere = Presented { method: b"POST", ..presented(&[]) };
    let used = [proof.as_bytes()];
    let elsewhere = Presented { dpop: &used, ..elsewhere };
    assert_eq!(judge(&first, &token, &elsewhere, 0), Some(TokenError::ProofMethod));
    assert_eq!(first.replays().len(), 0);
    assert_eq!(one(&first, 0), None);
    assert_eq!(one(&first, 1), Some(TokenError::ProofReplayed));
    // The same request can be decided again; another one can't pass for it.
    let repeats = |cache: &KeyCache, proof: &str, second| {
        judge(cache, &token, &Presented { repeats: true, ..presented(&[proof.as_bytes()]) }, second)
    };
    assert_eq!(repeats(&first, &proof, 1), None);
    assert_eq!(first.replays().len(), 1);
    let unused = holder.proof_at(&token, NOW, &json!({"jti": "unused"}));
    assert_eq!(repeats(&first, &unused, 1), Some(TokenError::ProofReplayed));
    assert_eq!(repeats(&first, &proof, 121), Some(TokenError::ProofTime));
    assert_eq!(one(&first, 1), Some(TokenError::ProofReplayed));
    // Another proof for the same token, whose signature is remembered.
    let next = holder.proof_at(&token, NOW, &json!({"jti": "other"}));
    assert_eq!(judge(&first, &token, &presented(&[next.as_bytes()]), 1), None);
    let second = cache(&world, by(dpop())).taking_over(&first);
    assert_eq!(one(&second, 2), Some(TokenError::ProofReplayed));
    assert_eq!(second.replays().len(), 2);
    assert_eq!(one(&second, 120), Some(TokenError::ProofReplayed));
    assert_eq!(one(&second, 121), Some(TokenError::ProofTime));
    let stranger = cache(&world, by(dpop()));
    assert_eq!(one(&stranger, 2), None);
}

/// A reload that accepts proofs for longer accepts none that was used, in whatever order the times come.
#[test]
fn a_reload_that_allows_more_reopens_no_proof() {
    let world = World::new();
    let holder = Holder::new(Signer::p256());
    let token = holder.bound(&world.signer);
    let proof = |id: &str, issued: u64| holder.proof_at(&token, issued, &json!({"jti": id}));
    let skewed = |seconds| cache(&world, by(dpop()).skew(Duration::from_secs(seconds)));
    let one = |cache: &KeyCache, proof: &str, second| judge(cache, &token, &presented(&[proof.as_bytes()]), second);
    let (used, unused) = (proof("used", NOW), proof("unused", NOW + 50));
    let first = skewed(0);
    assert_eq!(one(&first, &used, 0), None);
    // It is forgotten by the next use.
    assert_eq!(one(&first, &proof("next", NOW + 100), 100), None);
    assert_eq!(first.replays().len(), 1);
    let wider = skewed(300).taking_over(&first);
    assert_eq!(one(&wider, &used, 101), Some(TokenError::ProofTime));
    assert_eq!(one(&wider, &unused, 101), None);
    // Those that are remembered still are.
    let narrow = skewed(0).taking_over(&wider);
    assert_eq!(one(&narrow, &proof("later", NOW + 420), 420), None);
    let again = skewed(300).taking_over(&narrow);
    assert_eq!(one(&again, &proof("next", NOW + 100), 421), Some(TokenError::ProofTime));
}

#[test]
fn a_host_that_checks_signatures_checks_two() {
    let world = World::new();
    let holder = Holder::new(Signer::p256());
    let token = holder.bound(&world.signer);
    let cache = cache(&world, by(dpop())).signatures_outside();
    let now = Now { time: now(), monotonic: Duration::ZERO };
    let check = |proof: &str| {
        let dpop = [proof.as_bytes()];
        match cache.judge_presented(&token, &presented(&dpop), &mut cache.ask(Duration::ZERO), now) {
            Judged::CheckSignature(check) => check,
            other => panic!("{other:?}"),
        }
    };
    let proof = holder.proof_at(&token, NOW, &json!({}));
    let of_token = check(&proof);
    assert_eq!(of_token.token(), token.as_bytes());
    let Checked::CheckSignature(of_proof) = of_token.hashed(&[1; 32]).proceed(true, now.time) else {
        panic!("the proof has a signature, too");
    };
    let (message, signature) = proof.rsplit_once('.').unwrap();
    assert_eq!((of_proof.message(), of_proof.token()), (message.as_bytes(), message.as_bytes()));
    assert_eq!(base64url(of_proof.signature()), signature);
    assert_eq!(of_proof.key(), holder.jwk().to_string());
    assert_eq!(of_proof.algorithm(), Algorithm::Es256);
    let Checked::Verdict(verdict) = of_proof.proceed(true, now.time) else { panic!("that is all") };
    assert_eq!(verdict.unwrap().fingerprint().to_string(), "0101010101010101");
    // Each answer of the host counts.
    let verdict = |checked: Checked| match checked {
        Checked::Verdict(verdict) => verdict.err(),
        Checked::CheckSignature(check) => panic!("{check:?}"),
    };
    let again = || match check(&proof).proceed(true, now.time) {
        Checked::CheckSignature(check) => check,
        other => panic!("{other:?}"),
    };
    assert_eq!(verdict(again().proceed(true, now.time)), Some(TokenError::ProofReplayed));
    assert_eq!(verdict(again().proceed(false, now.time)), Some(TokenError::ProofSignature));
    assert_eq!(verdict(check(&proof).proceed(false, now.time)), Some(TokenError::Signature));
    let wrong = holder.proof_at(&token, NOW, &json!({"htm": "POST"}));
    assert_eq!(verdict(check(&wrong).proceed(true, now.time)), Some(TokenError::ProofMethod));
    // A host that doesn't know of proofs gets no token.
    let fresh = holder.proof_at(&token, NOW, &json!({"jti": "fresh"}));
    assert_eq!(check(&fresh).finish(true, now.time), Err(TokenError::ProofMissing));
}

#[test]
fn an_introspected_token_is_proved_each_time() {
    let holder = Holder::new(Signer::p256());
    let verifier = verifier(by(ProofRules::when_bound([ProofMethod::Dpop])));
    let verify = |changes: Value| {
        let answer = changed(with(claims(), "active", true), &changes);
        verifier.verify_introspected("opaque", answer.to_string(), now()).err()
    };
    assert_eq!(verify(json!({})), None);
    assert_eq!(verify(json!({"token_type": "Bearer"})), None);
    assert_eq!(verify(json!({"token_type": "DPoP"})), Some(TokenError::Confirmation));
    assert_eq!(verify(json!({"token_type": "DPoP", "cnf": {"kid": "k"}})), Some(TokenError::Confirmation));
    assert_eq!(verify(json!({"token_type": "DPoP", "cnf": {"jkt": "x"}})), Some(TokenError::Confirmation));
    assert_eq!(verify(json!({"token_type": "DPoP", "cnf": {"jkt": holder.jkt()}})), Some(TokenError::Scheme));
    assert_eq!(verify(json!({"cnf": {"jkt": holder.jkt()}})), Some(TokenError::Scheme));
}

#[test]
fn a_gate_that_passes_no_proofs_on_does_not_start() {
    let issuer = || by(dpop()).jwks_uri("https://id.example.com/keys");
    let start = |verifier: Verifier| {
        let cache = KeyCache::new(verifier, FetchSettings::default());
        cache.map(drop).map_err(|error| error.to_string())
    };
    let urls = |verifier: Verifier| verifier.public_urls(["https://api.example.com"]).unwrap();
    let verifier = || Verifier::new([issuer()]).unwrap();
    assert_eq!(start(urls(verifier()).taking_proofs()), Ok(()));
    let refused =
        "the tokens of `https://id.example.com` need `proof`, and this gate passes no proofs on: it would refuse them";
    assert_eq!(start(urls(verifier())), Err(refused.to_owned()));
    // One that sees no certificate.
    let mtls = |rules: ProofRules| Verifier::new([by(rules).jwks_uri("https://id.example.com/keys")]).unwrap();
    let refused = "the `proof` of `https://id.example.com` names `mtls`, and this gate sees no certificate of a client: it would \
                   refuse each token that is bound to one";
    for rules in [
        ProofRules::required([ProofMethod::Mtls]),
        ProofRules::when_bound([ProofMethod::Mtls]),
        ProofRules::required([ProofMethod::Dpop, ProofMethod::Mtls]),
    ] {
        assert_eq!(start(urls(mtls(rules.clone())).taking_dpop()), Err(refused.to_owned()));
        assert_eq!(start(urls(mtls(rules)).taking_proofs()), Ok(()));
    }
    assert_eq!(start(urls(verifier()).taking_dpop()), Ok(()));
    let without = "`public_urls` is missing: no proof could fit";
    assert_eq!(start(verifier().taking_proofs()), Err(without.to_owned()));
    let refused = verifier().public_urls(["https://a", "http://a", "https://a/"]).unwrap_err();
    assert_eq!(refused.diagnostics().len(), 2, "{refused}");
}

#[test]
fn a_proof_earns_a_scope() {
    let world = World::new();
    let holder = Holder::new(Signer::p256());
    let derive = || {
        let proved =
            |name: &str, methods: &[ProofMethod]| Derived::new(name, methods.iter().copied().map(ClaimTest::proof));
        let (dpop, mtls) = (ProofMethod::Dpop, ProofMethod::Mtls);
        [proved("earned:dpop", &[dpop]), proved("earned:mtls", &[mtls]), proved("earned:both", &[dpop, mtls])]
    };
    let rules = ProofRules::when_bound([ProofMethod::Dpop, ProofMethod::Mtls]);
    let verifier = verifier(by(rules).derive(derive()));
    let (jkt, x5t) = (holder.jkt(), sha256("der"));
    for (cnf, scopes) in [
        (None, ""),
        (Some(json!({"jkt": jkt})), "earned:dpop"),
        (Some(json!({"x5t#S256": x5t})), "earned:mtls"),
        (Some(json!({"jkt": jkt, "x5t#S256": x5t})), "earned:dpop earned:mtls earned:both"),
    ] {
        let is_dpop = cnf.as_ref().is_some_and(|cnf| cnf.get("jkt").is_some());
        let claims = with(claims(), "scope", "earned:both");
        let claims = cnf.iter().fold(claims, |claims, cnf| with(claims, "cnf", cnf.clone()));
        let token = world.signer.token(&header(), &claims);
        let proof = holder.proof_at(&token, NOW, &json!({}));
        let proofs = [proof.as_bytes()];
        let certificate = Some(Certificate::Der(b"der"));
        let presented = match is_dpop {
            true => Presented { certificate, ..presented(&proofs) },
            false => Presented { certificate, ..Presented::default() },
        };
        let verified = verifier.verify_presented(&token, &presented, &world.keys, &Replays::new(), now()).unwrap();
        assert_eq!(verified.scopes(), scopes);
        assert!(verified.lacks_proof(["earned:dpop", "earned:both"]) && !verified.lacks_proof(["earned:other"]));
        assert!(!verified.lacks_proof([]));
    }
    // Nothing would have been proved.
    for issuer in [issuer(), issuer().allow_unverified_cnf(), by(ProofRules::when_bound([ProofMethod::Dpop]))] {
        let refused = Verifier::new([issuer.derive(derive())]).unwrap_err().to_string();
        assert!(refused.contains("nothing proves `mtls`: name it in the issuer's `proof`"), "{refused}");
    }
    let required = by(dpop()).require_tests([ClaimTest::proof(ProofMethod::Dpop)]);
    assert!(Verifier::new([required]).unwrap_err().to_string().contains("`proof` is a test for `derive`"));
}
