//! Tokens that only their holder can use: which proof each rule wants, with every header as a client can send it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Result, ensure};
use orbgate_token::TokenError;
use serde_json::{Value, json};

use crate::exchange::expected::{Expected, Sent};
use crate::exchange::program::Gated;
use crate::exchange::recipe::Recipe;
use crate::exchange::suite::Suite;
use crate::exchange::world::{now, policy};
use crate::holder::{Holder, sha256};
use crate::signer::Signer;

const PATH: &str = "/api/v1/external/orbs";
const BASE: &str = "https://api.example.com";
const ALGORITHMS: &str = r#"algs="PS256 ES256 EdDSA Ed25519""#;

/// No request here fills the memory of proofs.
const NOT_OF_A_REQUEST: TokenError = TokenError::ProofsFull;

/// Whether a token is refused so for what it is bound to, or for its proof.
pub(super) fn is_about_proofs(code: &str) -> bool {
    TokenError::from_code(code).is_some_and(|error| error.is_of_proof() || error == TokenError::Confirmation)
}

pub(crate) fn run(suite: &Suite) -> Result<()> {
    let issuers = [("main", json!({"when_bound": ["dpop", "mtls"]})), ("asked", json!("dpop"))].map(|(name, proof)| {
        let mut issuer = suite.world.configuration(name);
        issuer["proof"] = proof;
        issuer
    });
    let tokens = suite.world.file("proof.yaml");
    fs::write(&tokens, json!({"orbgate_token": 1, "public_urls": [BASE], "issuers": issuers}).to_string())?;
    let running = suite.program.start(&policy("external"), &tokens, Gated::Yes)?;
    let open = suite.opened(running, &policy("external"))?;
    let mut group = Group { suite, holder: Holder::new(Signer::p256()), rows: Vec::new() };
    group.tokens()?;
    group.lines()?;
    group.proofs()?;
    let mut expected = BTreeMap::<String, u64>::new();
    for (sent, answer, refused) in &group.rows {
        let came = open.exchange(sent, answer);
        if let Some(code) = refused.filter(|_| came.status == answer.status) {
            *expected.entry(code.to_owned()).or_default() += 1;
        }
    }
    let counted = open.close("proof")?.0.refused.unwrap_or_default();
    if counted != expected {
        suite.fail(format!("proof\n  refused: {counted:?}, expected: {expected:?}"));
    }
    let seen: BTreeSet<_> = group.rows.iter().filter_map(|(_, _, refused)| *refused).collect();
    let all = TokenError::ALL.into_iter().filter(|error| is_about_proofs(error.as_str()));
    let missing = all.map(TokenError::as_str).find(|code| *code != NOT_OF_A_REQUEST.as_str() && !seen.contains(code));
    ensure!(missing.is_none(), "no exchange is refused as {missing:?}");
    Ok(())
}

/// A request, its answer, and the code of a refused token.
type Row = (Sent, Expected, Option<&'static str>);

struct Group<'s> {
    suite: &'s Suite,
    holder: Holder,
    rows: Vec<Row>,
}

impl Group<'_> {
    /// What a token is bound to, and its scheme.
    fn tokens(&mut self) -> Result<()> {
        let unbound = self.suite.world.token(&orbs())?;
        self.add("an unbound token", &[&format!("Authorization: Bearer {unbound}")], None);
        self.add("an unbound token as DPoP", &[&format!("Authorization: DPoP {unbound}")], Some("scheme"));
        let proof = self.proof(&unbound, &json!({}));
        let lines = [format!("Authorization: DPoP {unbound}"), format!("DPoP: {proof}")];
        self.add("an unbound token as DPoP, with a proof", &lines, Some("scheme"));
        let wanted = self.suite.world.token(&orbs().from("asked"))?;
        self.add("an unbound token that must be bound", &[format!("Authorization: Bearer {wanted}")], Some("unbound"));
        for (what, cnf) in [
            ("a key that is named", json!({"kid": "a"})),
            ("a key that can be proved and another", json!({"jkt": self.holder.jkt(), "kid": "a"})),
            ("nothing", json!({})),
            ("a list", json!([])),
        ] {
            let token = self.suite.world.token(&orbs().claim("cnf", cnf))?;
            let name = format!("a token that is bound to {what}");
            self.add(&name, &[format!("Authorization: DPoP {token}")], Some("confirmation"));
        }
        let certified = self.suite.world.token(&orbs().claim("cnf", json!({"x5t#S256": sha256("der")})))?;
        let lines = [format!("Authorization: Bearer {certified}")];
        self.add("a certificate that the connection hasn't", &lines, Some("certificate"));
        for header in ["Client-Cert: :ZGVy:", "X-Forwarded-Client-Cert: Hash=00", "X-SSL-Client-Cert: der"] {
            let name = format!("a certificate that only `{header}` states");
            self.add(&name, &[lines[0].clone(), header.to_owned()], Some("certificate"));
        }
        Ok(())
    }

    /// How often and under which names the two headers come.
    fn lines(&mut self) -> Result<()> {
        let (bound, token) = self.bound()?;
        let plain = format!("Authorization: Bearer {token}");
        let [one, two] = ["one", "two"].map(|id| format!("DPoP: {}", self.proof(&token, &json!({"jti": id}))));
        self.add("a bound token as Bearer", &[plain.as_str()], Some("scheme"));
        self.add("a bound token as Bearer, with a proof", &[plain.clone(), one.clone()], Some("scheme"));
        self.add("both schemes", &[plain, bound.clone(), one.clone()], Some("authorization_header"));
        let joined = format!("Authorization: DPoP {token}, Bearer {token}");
        self.add("both schemes in one line", &[joined, one.clone()], Some("authorization_header"));
        self.add("no proof", &[bound.as_str()], Some("proof_missing"));
        self.add("two proofs", &[bound.clone(), one.clone(), two.clone()], Some("proof_missing"));
        self.add("a proof twice", &[bound.clone(), one.clone(), one.clone()], Some("proof_missing"));
        let joined = format!("{one}, {}", two.trim_start_matches("DPoP: "));
        self.add("two proofs in one line", &[bound.clone(), joined], Some("proof_missing"));
        let unbound = self.suite.world.token(&orbs())?;
        let lines = [format!("Authorization: Bearer {unbound}"), one.clone(), two];
        self.add("two proofs for an unbound token", &lines, Some("proof_missing"));
        // None of the refused requests has used it.
        self.add("a bound token with its proof", &[bound.clone(), one.clone()], None);
        self.add("its proof again", &[bound, one], Some("proof_replayed"));
        let lines = |name: &str, scheme: &str, proof: &str| {
            [format!("authorization: {scheme} {token}"), format!("{name}: {proof}")]
        };
        for (name, scheme) in [("dpop", "dpop"), ("DPOP", "DPOP")] {
            let proof = self.proof(&token, &json!({"jti": name}));
            self.add(&format!("letters of the names: {name}"), &lines(name, scheme, &proof), None);
        }
        Ok(())
    }

    /// What a proof contains.
    fn proofs(&mut self) -> Result<()> {
        let (bound, token) = self.bound()?;
        let other = Holder::new(Signer::p256());
        let good = |claims: &Value| self.proof(&token, claims);
        let header = |changes: &Value| self.holder.proof_of(changes, &self.claims(&token, &json!({})));
        let mut private = self.holder.jwk();
        private["d"] = "AAAA".into();
        let signed = good(&json!({"jti": "unsigned"}));
        let (signed, _) = signed.rsplit_once('.').unwrap_or_default();
        let another = good(&json!({"jti": "another"}));
        let (_, signature) = another.rsplit_once('.').unwrap_or_default();
        let rows = [
            ("another form", "a.b".to_owned(), "proof_form"),
            ("the token itself", token.clone(), "proof_form"),
            ("another key", other.proof_of(&json!({}), &self.claims(&token, &json!({}))), "proof_binding"),
            ("a private key", header(&json!({"jwk": private})), "proof_key"),
            ("the type of a token", header(&json!({"typ": "at+jwt"})), "proof_type"),
            ("another algorithm", header(&json!({"alg": "RS256"})), "proof_algorithm"),
            ("no algorithm", header(&json!({"alg": "none"})), "proof_algorithm"),
            ("another method", good(&json!({"htm": "POST"})), "proof_method"),
            ("another host", good(&json!({"htu": format!("https://localhost{PATH}")})), "proof_url"),
            ("another path", good(&json!({"htu": format!("{BASE}/")})), "proof_url"),
            ("a time that is over", good(&json!({"iat": now() - 300})), "proof_time"),
            ("a time to come", good(&json!({"iat": now() + 300})), "proof_time"),
            ("no id", good(&json!({"jti": null})), "proof_id"),
            ("another token", good(&json!({"ath": sha256("another")})), "proof_token"),
            ("no token", good(&json!({"ath": null})), "proof_token"),
            ("another signature", format!("{signed}.{signature}"), "proof_signature"),
        ];
        for (name, proof, code) in rows {
            let lines = [bound.clone(), format!("DPoP: {proof}")];
            self.add(&format!("a proof with {name}"), &lines, Some(code));
        }
        let with_query = self.proof(&token, &json!({"jti": "query"}));
        let mut lines = vec![bound, format!("DPoP: {with_query}")];
        self.add_to(&format!("{PATH}?a=b"), "a query", &lines, None);
        lines.remove(1);
        self.add_to("/api/v1/external/none", "a target that no token can call", &lines, Some("proof_missing"));
        Ok(())
    }

    /// A token that is bound to the holder's key, and the line with it.
    fn bound(&self) -> Result<(String, String)> {
        let token = self.suite.world.token(&orbs().claim("cnf", json!({"jkt": self.holder.jkt()})))?;
        Ok((format!("Authorization: DPoP {token}"), token))
    }

    fn claims(&self, token: &str, changes: &Value) -> Value {
        let mut claims = self.holder.claims(token, now());
        claims["htu"] = format!("{BASE}{PATH}").into();
        crate::holder::changed(claims, changes)
    }

    /// A proof of the holder, with these changes to its claims.
    fn proof(&self, token: &str, changes: &Value) -> String {
        let proof = self.holder.proof_of(&json!({}), &self.claims(token, changes));
        // No output may show it.
        self.suite.world.hide(proof.rsplit_once('.').map_or("", |(_, signature)| signature));
        proof
    }

    fn add<L: AsRef<str>>(&mut self, name: &str, lines: &[L], refused: Option<&'static str>) {
        self.add_to(PATH, name, lines, refused);
    }

    fn add_to<L: AsRef<str>>(&mut self, target: &str, name: &str, lines: &[L], refused: Option<&'static str>) {
        let lines: String = lines.iter().map(|line| format!("{}\r\n", line.as_ref())).collect();
        let bytes = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}\r\n");
        let sent = Sent {
            location: format!("proof: {name}"),
            bytes: bytes.into_bytes(),
            method: b"GET".to_vec(),
            target: target.as_bytes().to_vec(),
            token: refused.is_none().then(|| orbs().named()),
        };
        let error = refused.and_then(TokenError::from_code).map_or(String::new(), |error| {
            let error = if error.is_of_dpop_proof() { "invalid_dpop_proof" } else { "invalid_token" };
            format!("error=\"{error}\", ")
        });
        let denied = Expected {
            status: 401,
            www_authenticate: Some(format!("Bearer, DPoP {error}{ALGORITHMS}")),
            ..Expected::default()
        };
        let answer = if refused.is_some() { denied } else { Expected { status: 200, ..Expected::default() } };
        self.rows.push((sent, answer, refused));
    }
}

/// What calls need.
fn orbs() -> Recipe {
    Recipe::of("user", "read:orbs")
}
