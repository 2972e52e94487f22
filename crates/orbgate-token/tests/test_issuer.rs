//! The issuer for tests: its options, and what it answers.

use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orbgate::{Token, TokenKind};
use orbgate_token::{
    Presented, Replays, Scheme, TestClaims, TestHolder, TestIssuer, TestIssuerError, TestRequest, TestResponse,
    TestServer, TokenError, VerifiedToken, Verifier,
};
use serde_json::{Value, json};

const URL: &str = "http://127.0.0.1:9000";

const THUMBPRINT: &str = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn server(claims: TestClaims) -> TestServer {
    TestServer::new(TestIssuer::new(URL).unwrap().claims(claims))
}

fn get(server: &TestServer, target: &str) -> TestResponse {
    let headers = [("Host", "127.0.0.1:9000")];
    server.answer(&TestRequest { method: "GET", target, headers: &headers, body: b"" }, now())
}

fn verified(server: &TestServer, token: &str) -> Result<VerifiedToken, TokenError> {
    let issuer = server.issuer();
    issuer.verifier().unwrap().verify(token, &issuer.keys().unwrap(), now())
}

fn claims_of(token: &str) -> Value {
    let claims = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
}

/// Each option, of the issuer and of one token, is in the token and passes verification.
#[test]
fn the_options_are_in_the_tokens() {
    let options = [
        ("audience", "http://127.0.0.1:8000/mcp", "aud", json!("http://127.0.0.1:8000/mcp")),
        ("subject", "ada", "sub", json!("ada")),
        ("client", "app", "client_id", json!("app")),
        ("kind", "organisation", "token_kind", json!("organisation")),
        ("expires_in", "60", "exp", json!(1_800_000_060)),
        ("expires_in", "-600", "exp", json!(1_799_999_400)),
        ("jkt", THUMBPRINT, "cnf", json!({ "jkt": THUMBPRINT })),
        ("x5t", THUMBPRINT, "cnf", json!({ "x5t#S256": THUMBPRINT })),
        ("claim", "tenant=a=b", "tenant", json!("a=b")),
        ("claim", "roles:=[\"a\",1]", "roles", json!(["a", 1])),
        ("claim", "level:=null", "level", Value::Null),
    ];
    assert!(TestClaims::OPTIONS.iter().all(|option| options.iter().any(|(tried, ..)| tried == option)));
    for (option, value, claim, expected) in options {
        let by_issuer = server(TestClaims::default().set(option, value).unwrap());
        let of_issuer = get(&by_issuer, "/token?scope=read:orbs").body;
        assert_eq!(claims_of(&of_issuer)[claim], expected, "{option}");
        let usual = server(TestClaims::default());
        let escaped: String = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let of_token = get(&usual, &format!("/token?{option}={escaped}&scope=read:orbs")).body;
        assert_eq!(claims_of(&of_token)[claim], expected, "{option}");
        // The configuration trusts the issuer's audience, not that of one token.
        let is_refused = value == "-600" || claim == "cnf";
        assert_eq!(verified(&by_issuer, &of_issuer).is_ok(), !is_refused, "{option}={value}");
        assert_eq!(verified(&usual, &of_token).is_ok(), !is_refused && option != "audience", "{option}={value}");
    }
    let both = get(&server(TestClaims::default()), "/token?claim=a=1&scope=a+b%20c&claim=b=2").body;
    assert_eq!((&claims_of(&both)["a"], &claims_of(&both)["b"]), (&json!("1"), &json!("2")));
    assert_eq!(claims_of(&both)["scope"], "a b c");
}

/// A token that is bound to the key of a client, which proves it.
#[test]
fn a_holder_proves_its_tokens() {
    let holder = TestHolder::new().unwrap();
    let again = TestHolder::from_pem(&holder.to_pem().unwrap()).unwrap();
    assert_eq!(again.thumbprint(), holder.thumbprint());
    assert!(TestHolder::from_pem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").is_err());
    let issuer = server(TestClaims::default().set("jkt", &holder.thumbprint()).unwrap());
    let token = get(&issuer, "/token?scope=read:orbs").body;
    let issuer = issuer.issuer();
    let rules = issuer.tokens_yaml().replace("\"account\"", "\"proof\":\"dpop\",\"account\"");
    let verifier = Verifier::from_yaml(&rules.replacen('{', "{\"public_urls\":[\"https://api.test\"],", 1)).unwrap();
    let verify = |holder: &TestHolder, method: &str, url: &str, token: &str, of: Option<&str>| {
        let proof = holder.proof(method, url, of, Some("nonce"), now()).unwrap();
        let dpop = [proof.as_bytes()];
        let presented = Presented {
            scheme: Scheme::Dpop,
            dpop: &dpop,
            method: b"GET",
            target: b"/orbs?a=b",
            ..Presented::default()
        };
        verifier.verify_presented(token, &presented, &issuer.keys().unwrap(), &Replays::new(), now()).err()
    };
    let url = "https://api.test/orbs?a=b#c";
    assert_eq!(verify(&again, "GET", url, &token, Some(&token)), None);
    assert_eq!(verify(&again, "POST", url, &token, Some(&token)), Some(TokenError::ProofMethod));
    assert_eq!(verify(&again, "GET", "https://api.test/", &token, Some(&token)), Some(TokenError::ProofUrl));
    assert_eq!(verify(&again, "GET", url, &token, None), Some(TokenError::ProofToken));
    let other = TestHolder::new().unwrap();
    assert_eq!(verify(&other, "GET", url, &token, Some(&token)), Some(TokenError::ProofBinding));
    assert!(!format!("{holder:?}").contains("PRIVATE"));
    // The two ways to set `cnf` exclude each other.
    let bound = || TestClaims::default().set("x5t", THUMBPRINT).unwrap();
    assert!(bound().set("claim", "cnf:={}").is_err());
    assert!(TestClaims::default().set("claim", "cnf:={}").unwrap().set("jkt", THUMBPRINT).is_err());
}

#[test]
fn a_wrong_option_is_named() {
    let long = "9".repeat(30);
    for (option, value) in [
        ("audience", ""),
        ("subject", ""),
        ("subject", "a\nb"),
        ("client", "\u{7f}"),
        ("jkt", "x"),
        ("x5t", "AAAA"),
        ("kind", "robot"),
        ("kind", "unknown"),
        ("kind", ""),
        ("expires_in", "10m"),
        ("expires_in", "1.5"),
        ("expires_in", ""),
        ("expires_in", "31536001"),
        ("expires_in", &long),
        ("claim", "tenant"),
        ("claim", "=a"),
        ("claim", ":=1"),
        ("claim", "roles:=[1"),
        ("claim", "iss=https://evil.test"),
        ("claim", "sub:=\"ada\""),
        ("audiance", "a"),
        ("scopes", "a"),
        ("", "a"),
    ] {
        let error = TestClaims::default().set(option, value).unwrap_err();
        assert!(matches!(&error, TestIssuerError::Option { option: named, .. } if named == option), "{option}={value}");
        let escaped: String = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer = get(&server(TestClaims::default()), &format!("/token?{option}={escaped}"));
        assert_eq!((answer.status, answer.body), (400, format!("{error}\n")), "{option}={value}");
    }
    for query in ["scope=a&scope=b", "subject=a&subject=b", "scope=%ff", "scope=%2", "scope=%zz", "%"] {
        assert_eq!(get(&server(TestClaims::default()), &format!("/token?{query}")).status, 400, "{query}");
    }
}

#[test]
fn only_its_own_name_reaches_it() {
    let server = server(TestClaims::default());
    let answer = |headers: &[(&str, &str)]| {
        let request = TestRequest { method: "GET", target: "/token", headers, body: b"" };
        server.answer(&request, now()).status
    };
    for host in ["127.0.0.1:9000", "localhost:9000"] {
        assert_eq!(answer(&[("hOST", host)]), 200);
    }
    for host in ["evil.test", "evil.test:9000", "127.0.0.1", "127.0.0.1:9001", "127.0.0.1:9000.evil.test", ""] {
        assert_eq!(answer(&[("host", host)]), 421, "{host}");
    }
    assert_eq!(answer(&[]), 421);
    assert_eq!(answer(&[("host", "127.0.0.1:9000"), ("host", "evil.test")]), 421);
}

#[test]
fn a_key_can_have_another_name() {
    let issuer = TestIssuer::new(URL).unwrap().key_id("new");
    let token = issuer.token(TokenKind::User, "a", now());
    let verified = issuer.verifier().unwrap().verify(token, &issuer.keys().unwrap(), now()).unwrap();
    assert_eq!(verified.token(), Token::user("a"));
    assert!(issuer.jwks().contains("\"kid\":\"new\""));
}
