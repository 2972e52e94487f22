//! `orbgate token explain`: the verdict of the verifier, in words.

use std::time::{SystemTime, UNIX_EPOCH};

use orbgate_testing::signer::{Signer, claims, header, with};
use serde_json::{Value, json};

use crate::{file, orbgate, orbgate_reading};

const CONFIG: &str = "orbgate_token: 1
issuers:
  - issuer: https://id.example.com
    audience: https://api.example.com
    algorithms: [ES256]
    kind: { user: [{ claim: token_kind, equals: user }] }
    require: [{ claim: token_use, equals: access }]
";

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The claims of a token that is right for an hour.
fn right() -> Value {
    let claims = with(claims(), "iat", now() - 10);
    with(with(claims, "exp", now() + 3_600), "token_use", "access")
}

/// The first thing that somebody types.
#[test]
fn a_token_in_place_of_its_file_is_not_printed() {
    let config = file("explain-argument.yaml", CONFIG);
    let token = Signer::p256().token(&header(), &right());
    for token in [token.clone(), format!("Bearer {token}")] {
        for more in [&["--json"][..], &[]] {
            let ran = orbgate(&[&["token", "explain", &token, "--config", &config], more].concat());
            assert_eq!((ran.code, &*ran.out), (2, ""));
            assert!(ran.err.starts_with("error: this is a token"), "{}", ran.err);
            assert!(!ran.err.contains("eyJ"), "{}", ran.err);
        }
    }
}

/// As a gate does, in the same words.
#[test]
fn issuers_whose_keys_can_never_be_fetched_are_an_error() {
    let config = file("explain-ftp.yaml", CONFIG.replace("https://id", "ftp://id"));
    let token = file("explain-ftp.txt", Signer::p256().token(&header(), &right()));
    let ran = orbgate(&["token", "explain", &token, "--config", &config]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
    let expected = format!("{config}: the keys of `ftp://id.example.com` can never be fetched: ");
    assert!(ran.err.starts_with(&expected), "{}", ran.err);
}

#[test]
fn each_refusal_names_its_rule_and_what_the_configuration_asks_for() {
    let config = file("explain.yaml", CONFIG);
    let signer = Signer::p256();
    let keys = json!({ "keys": [signer.jwk("key-1")] });
    let keys = file("explain.json", keys.to_string());
    let typ = with(header(), "typ", "JWT");
    let table = [
        (header(), right(), None, "user with `read:account write:voxies`"),
        (typ, right(), Some("type"), "`typ` is `JWT`"),
        (header(), with(right(), "iss", "https://evil.example"), Some("issuer"), "`https://evil.example`"),
        (
            header(),
            with(right(), "aud", json!(["https://a", "https://b"])),
            Some("audience"),
            "`audience` is `https://api.example.com`",
        ),
        (header(), with(right(), "exp", now() - 100), Some("expired"), "`exp` is 10"),
        (header(), with(right(), "exp", "soon"), Some("bad_time"), "`exp` is `soon`"),
        (header(), with(right(), "nbf", now() + 1_000), Some("not_yet_valid"), "s ahead"),
        (
            header(),
            with(right(), "token_use", "id"),
            Some("claim"),
            "the test `equals: access` of `token_use` in `require` fails",
        ),
        (header(), with(right(), "scope", json!(["a"])), Some("scopes"), "format: array"),
        (header(), with(right(), "scp", "a"), Some("scopes"), "conflict: ignore"),
        (header(), with(right(), "cnf", json!({})), Some("bound"), "`cnf`"),
        (header(), with(right(), "token_kind", "robot"), Some("unknown_kind"), "`kind: user`"),
    ];
    for (header, claims, refused, part) in table {
        let token = signer.token(&header, &claims);
        let path = file("explain.txt", format!("Bearer {token}\n"));
        for keys in [&[][..], &["--keys", &keys]] {
            let arguments = [&["token", "explain", &path, "--config", &config], keys].concat();
            let ran = orbgate(&arguments);
            assert_eq!((ran.code, &*ran.err), (i32::from(refused.is_some()), ""), "{claims}");
            let first = match refused {
                Some(code) => format!("refused: {code}: "),
                None => "accepted: ".to_owned(),
            };
            assert!(ran.out.starts_with(&first) && ran.out.contains(part), "{claims}: {}", ran.out);
            assert!(keys.len() == 2 || ran.out.contains("--keys"), "{}", ran.out);
            let json = orbgate(&[&arguments[..], &["--json"]].concat());
            let json: Value = serde_json::from_str(&json.out).unwrap();
            assert_eq!(json["refused"].as_str(), refused, "{json}");
            // Neither the token nor whose it is.
            for secret in [token.rsplit('.').next().unwrap(), "user-7"] {
                assert!(!ran.out.contains(secret) && !json.to_string().contains(secret));
            }
        }
    }
}

/// A gate with a ledger would deny its calls that consume orbs, without a word to the caller.
#[test]
fn an_accepted_token_without_an_account_is_told() {
    let signer = Signer::p256();
    let account = |line: &str| {
        let config = file("account.yaml", format!("{CONFIG}{line}"));
        let claims = with(right(), "empty", "");
        let token = file("account.txt", signer.token(&header(), &claims));
        let arguments = ["token", "explain", &token, "--config", &config];
        let (ran, json) = (orbgate(&arguments), orbgate(&[&arguments[..], &["--json"]].concat()));
        assert!(ran.code == 0 && ran.out.starts_with("accepted: user "), "{}", ran.out);
        let line = ran.out.lines().find_map(|line| line.strip_prefix("  no account: ")).map(str::to_owned);
        let json: Value = serde_json::from_str(&json.out).unwrap();
        let end = "; gates with a ledger deny its calls that consume orbs (no_account)";
        let line = line.map(|line| line.strip_suffix(end).unwrap().to_owned());
        assert_eq!(json["no_account"].as_str(), line.as_deref());
        line.unwrap_or_default()
    };
    let lacks =
        |claim: &str| format!("its `{claim}`, the claim of `account`, is missing, empty, not a string, or too long");
    assert_eq!(account(""), "the configuration states no `account` for a user's tokens");
    assert_eq!(account("    account: subject\n"), "");
    assert_eq!(account("    account: { user: { claim: empty } }\n"), lacks("empty"));
    assert_eq!(account("    account: { user: { claim: payer } }\n"), lacks("payer"));
}

#[test]
fn scopes_that_a_token_does_not_get_are_told() {
    let signer = Signer::p256();
    let derive = "    derive:\n      earned:any: always\n      earned:mfa: { claim: acr, equals: phr }\n";
    let config = file("derive.yaml", format!("{CONFIG}{derive}"));
    let token = file("derive.txt", signer.token(&header(), &with(right(), "scope", "a earned:mfa")));
    let arguments = ["token", "explain", &token, "--config", &config];
    let (ran, json) = (orbgate(&arguments), orbgate(&[&arguments[..], &["--json"]].concat()));
    let why = "the test `equals: phr` of `acr` fails, and the claim is missing";
    for line in [
        "accepted: user with `a earned:any`".to_owned(),
        "  dropped: `earned:mfa`, because only `derive` gives such a scope".to_owned(),
        format!("  not earned: `earned:mfa`: {why}"),
    ] {
        assert!(ran.out.lines().any(|other| other == line), "{line}\n{}", ran.out);
    }
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["dropped"], json!(["earned:mfa"]));
    assert_eq!(json["unearned"], json!([{"scope": "earned:mfa", "why": why}]));
}

#[test]
fn keys_say_more() {
    let config = file("keys.yaml", CONFIG);
    let signer = Signer::p256();
    let token = file("keys.txt", signer.token(&header(), &right()));
    let explain = |jwks: Value| {
        let keys = file("keys.json", jwks.to_string());
        orbgate(&["token", "explain", &token, "--config", &config, "--keys", &keys])
    };
    let other = explain(json!({ "keys": [signer.jwk("key-2")] }));
    assert_eq!(other.code, 1);
    assert!(other.out.starts_with("refused: key_unknown: "), "{}", other.out);
    #[cfg(feature = "token")]
    {
        let forged = explain(json!({ "keys": [Signer::p256().jwk("key-1")] }));
        assert!(forged.out.starts_with("refused: signature: "), "{}", forged.out);
    }
    let none = explain(json!({}));
    assert_eq!((none.code, none.err.starts_with("error: ")), (2, true), "{}", none.err);
}

#[test]
fn what_is_no_token_says_what_it_is() {
    let config = file("form.yaml", CONFIG);
    for (token, part) in [
        ("ya29.a0AfH6SMBx", "refused: not_compact"),
        ("2YotnFZFEjr1zCsicMWpAA", "opaque"),
        ("a.b.c.d.e", "encrypted"),
        ("eyJhbGciOiJub25lIn0.e30.", "it has no signature"),
        ("", "refused: not_compact"),
        ("\"eyJhbGciOiJub25lIn0.e30.e30\"", "refused: bad_encoding"),
    ] {
        let ran = orbgate_reading(&["token", "explain", "--config", &config], token.as_bytes());
        assert_eq!(ran.code, 1, "{token}: {}", ran.err);
        assert!(ran.out.contains(part), "{token}: {}", ran.out);
    }
    let wrong = file("wrong.yaml", "orbgate_token: 1\nissuers: []\n");
    let ran = orbgate_reading(&["token", "explain", "--config", &wrong], b"");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("wrong.yaml:2:10: "), "{}", ran.err);
    let both = orbgate(&["token", "explain", "-", "--config", "-"]);
    assert_eq!(both.code, 2);
}

#[cfg(all(unix, feature = "token"))]
#[test]
fn the_issuer_for_tests_gives_tokens_that_its_configuration_trusts() {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpStream;

    let mut issuer =
        crate::command(&["token", "issue", "--port", "0"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(issuer.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("FOR TESTS ONLY"), "{first}");
    let second = lines.next().unwrap().unwrap();
    let address = second.split("http://").nth(1).unwrap();
    let (address, _) = address.split_once('/').unwrap();
    let get = |target: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].to_owned(), body.to_owned())
    };
    let config = file("issued.yaml", get("/tokens.yaml").1);
    let keys = file("issued.json", get("/jwks").1);
    let explain = |target: &str| {
        let (status, token) = get(target);
        assert_eq!(status, "200");
        let arguments = ["token", "explain", "--config", &config, "--keys", &keys];
        orbgate_reading(&arguments, token.as_bytes()).out
    };
    assert_eq!(explain("/token?scope=read:orbs+read%3Akeys"), "accepted: user with `read:orbs read:keys`\n");
    assert_eq!(explain("/token?kind=organisation"), "accepted: organisation without scopes\n");
    assert!(explain("/token?scope=a&expires_in=-600").starts_with("refused: expired: "));
    assert_eq!(get("/token?kind=robot").0, "400");
    assert_eq!(get("/other").0, "404");
    issuer.kill().unwrap();
    issuer.wait().unwrap();
}

#[cfg(feature = "token")]
#[test]
fn a_wrong_option_of_the_issuer_is_named() {
    for (option, value) in [
        ("--audience", ""),
        ("--subject", "a\nb"),
        ("--client", ""),
        ("--kind", "robot"),
        ("--expires-in", "1h"),
        ("--expires-in", "-31536001"),
        ("--claim", "tenant"),
        ("--claim", "sub=ada"),
        ("--claim", "roles:=[1"),
    ] {
        let ran = orbgate(&["token", "issue", "--port", "0", option, value]);
        assert_eq!(ran.code, 2, "{option} {value}: {}", ran.err);
        assert!(ran.err.starts_with(&format!("error: {option}: ")), "{option} {value}: {}", ran.err);
    }
}

/// What `prove` makes, `explain` accepts, and of each other request it names the rule.
#[cfg(feature = "token")]
#[test]
fn a_proof_is_made_and_explained() {
    let key = file("holder.pem", "");
    std::fs::remove_file(&key).unwrap();
    let thumbprint = || orbgate(&["token", "prove", "--key", &key, "--thumbprint"]);
    let made = thumbprint();
    assert_eq!((made.code, &*made.err, made.out.trim_end().len()), (0, "", 43));
    assert_eq!(thumbprint().out, made.out, "the key is kept");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&key).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    let proving = "public_urls: [https://api.example.com/v1]\n";
    let config = file("proved.yaml", format!("{CONFIG}    proof: dpop\n{proving}"));
    let signer = Signer::p256();
    let keys = file("proved.json", json!({ "keys": [signer.jwk("key-1")] }).to_string());
    let bound = |jkt: &str, more: &str| {
        let claims = with(with(right(), "cnf", json!({ "jkt": jkt })), "jti", more);
        file(&format!("bound-{more}.txt"), format!("DPoP {}\n", signer.token(&header(), &claims)))
    };
    let (token, other) = (bound(made.out.trim_end(), "own"), bound(&"A".repeat(43), "stranger"));
    let url = "https://api.example.com/v1/orders?page=2";
    let arguments = ["token", "prove", "--key", &key, "--method", "POST", "--url", url, "--token", &token];
    let proof = orbgate(&[&arguments[..], &["--nonce", "n"]].concat());
    assert_eq!((proof.code, &*proof.err), (0, ""));
    let proof = file("proof.txt", proof.out);
    let changed = std::fs::read_to_string(&proof).unwrap();
    let (start, end) = changed.trim().rsplit_once('.').unwrap();
    let end = if end.starts_with('A') { end.replacen('A', "B", 1) } else { format!("A{}", &end[1..]) };
    let changed = file("proof-changed.txt", format!("{start}.{end}"));
    for (token, proof, method, url, refused, part) in [
        (&token, &proof, "POST", url, None, "accepted: user"),
        (&token, &proof, "GET", url, Some("proof_method"), "its `htm` is `POST`, and the method is `GET`"),
        (
            &token,
            &proof,
            "POST",
            "https://api.example.com/v1/others",
            Some("proof_url"),
            "v1/orders`, and the URL is `https",
        ),
        (&token, &proof, "POST", "https://api.example.com/orders", Some("proof_url"), "no `public_urls` has `https"),
        (&token, &changed, "POST", url, Some("proof_signature"), ""),
        (&token, &key, "POST", url, Some("proof_form"), ""),
        (&other, &proof, "POST", url, Some("proof_binding"), "the thumbprint of its key is `"),
    ] {
        for keys in [&[][..], &["--keys", &keys]] {
            let own =
                ["token", "explain", token, "--config", &config, "--proof", proof, "--method", method, "--url", url];
            let ran = orbgate(&[&own[..], keys].concat());
            assert_eq!((ran.code, &*ran.err), (i32::from(refused.is_some()), ""), "{refused:?}: {}", ran.out);
            let first = refused.map_or("accepted: ".to_owned(), |code| format!("refused: {code}: "));
            assert!(ran.out.starts_with(&first) && ran.out.contains(part), "{}", ran.out);
        }
    }
    // Without a proof, it says what is missing.
    let ran = orbgate(&["token", "explain", &token, "--config", &config]);
    assert!(
        ran.out.starts_with("refused: scheme: ") && ran.out.contains("with a proof in the header `DPoP`"),
        "{}",
        ran.out
    );
    let ran = orbgate(&["token", "prove", "--key", &config, "--url", url]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
    assert!(ran.err.contains("not a private key on the curve P-256"), "{}", ran.err);
    let ran = orbgate(&["token", "explain", &token, "--config", &config, "--url", url]);
    assert_eq!(ran.code, 2, "a URL without a proof does nothing");
}
