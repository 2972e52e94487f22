//! Each key of the file does something: for each, two files that differ in nothing else, and a token about which the two
//! differ in what they answer, read or send.

use core::cell::RefCell;
use core::time::Duration;
use std::collections::BTreeSet;

use orbgate_testing::holder::Holder;
use orbgate_testing::signer::{ISSUER, NOW, Signer, at, claims, header};
use orbgate_token::{FetchSettings, Judged, KeyCache, Now, Presented, Response, SecretSource, Verifier};
use serde_json::{Value, json};

use crate::proof::presented;

/// The table of keys, which a unit test makes of the code.
const PAGE: &str = include_str!("../../../docs/tokens.md");

struct Row {
    key: &'static str,
    /// What differs from [`issuer`], or from the whole file for its own keys. `null` leaves a key out.
    files: [Value; 2],
    token: Token,
}

enum Token {
    /// A signed one, with these changes to its header and its claims.
    Signed(Value, Value),
    /// One by an RSA key with the exponent 3.
    SmallExponent,
    Opaque(&'static str),
    /// One that is bound to a key, with a DPoP proof.
    Proved,
}

fn usual() -> Token {
    Token::Signed(json!({}), json!({}))
}

fn claiming(claims: Value) -> Token {
    Token::Signed(json!({}), claims)
}

fn issuer() -> Value {
    json!({
        "issuer": ISSUER, "audience": "https://api.example.com", "kind": "user", "algorithms": ["ES256"],
        "jwks_uri": "https://id.example.com/keys",
    })
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |key: &'static str, one: Value, other: Value, token: Token| {
        rows.push(Row { key, files: [one, other], token });
    };
    row("orbgate_token", json!({}), json!({"orbgate_token": 2}), usual());
    let other_issuer = json!([json!({"issuer": "https://b.example.com", "audience": "b", "kind": "user"})]);
    row("issuers", json!({}), json!({ "issuers": other_issuer }), usual());
    row("max_token_bytes", json!({}), json!({"max_token_bytes": 100}), usual());
    let url = |url: &str| json!({"issuers": [changed(issuer(), &json!({"proof": "dpop"}))], "public_urls": [url]});
    row("public_urls", url("https://api.example.com"), url("https://api.example.org"), Token::Proved);
    row("remember_signatures", json!({}), json!({"remember_signatures": 10}), usual());
    let mut row = |key: &'static str, one: Value, other: Value, token: Token| {
        rows.push(Row { key, files: [one, other], token });
    };
    let issuer = json!({"issuer": "https://b.example.com"});
    row("issuers.issuer", json!({}), issuer, usual());
    let tenants = |name: &str| json!({"issuer": "https://id.example.com/{tenant}", "tenants": [name]});
    let of_tenant = claiming(json!({"iss": "https://id.example.com/a"}));
    row("issuers.tenants", tenants("a"), tenants("b"), of_tenant);
    row("issuers.audience", json!({}), json!({"audience": ["b", "c"]}), usual());
    row("issuers.audience_claim", json!({}), json!({"audience_claim": "client_id"}), usual());
    kinds(&mut row);
    let keys = |key: &str, place: &str| json!({"jwks_uri": null, key: place});
    let (one, other) = ("https://id.example.com/a", "https://id.example.com/b");
    row("issuers.jwks_uri", keys("jwks_uri", one), keys("jwks_uri", other), usual());
    row("issuers.jwks_file", keys("jwks_file", "/a.json"), keys("jwks_file", "/b.json"), usual());
    row("issuers.algorithms", json!({}), json!({"algorithms": ["RS256"]}), usual());
    let jwt = Token::Signed(json!({"typ": "JWT"}), json!({}));
    row("issuers.extra_types", json!({}), json!({"extra_types": ["JWT"]}), jwt);
    scopes(&mut row);
    row("issuers.client_claim", json!({}), json!({"client_claim": "azp"}), claiming(json!({"azp": "app-2"})));
    accounts(&mut row);
    row("issuers.require", json!({}), json!({"require": ["tenant", {"claim": "sub", "present": true}]}), usual());
    row("issuers.derive", json!({}), json!({"derive": {"earned:any": "always"}}), usual());
    row("issuers.skew_seconds", json!({}), json!({"skew_seconds": 0}), claiming(json!({"exp": NOW - 30})));
    row("issuers.max_lifetime_seconds", json!({}), json!({"max_lifetime_seconds": 60}), usual());
    let bound = claiming(json!({"cnf": {"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}}));
    row("issuers.allow_unverified_cnf", json!({}), json!({"allow_unverified_cnf": true}), bound);
    proofs(&mut row);
    let exponent = |least: Value| json!({"algorithms": ["RS256"], "rsa_exponent_min": least});
    row("issuers.rsa_exponent_min", exponent(json!(null)), exponent(json!(3)), Token::SmallExponent);
    opaque(&mut row);
    rows
}

fn proofs(row: &mut Add<'_>) {
    let proof = |proof: Value| json!({ "proof": proof });
    row("issuers.proof", json!({}), proof(json!("mtls")), usual());
    for (path, key) in [("issuers.proof.required", "required"), ("issuers.proof.when_bound", "when_bound")] {
        let by = |methods: Value| proof(json!({ key: methods }));
        row(path, by(json!("mtls")), by(json!(["mtls", "dpop"])), Token::Proved);
    }
    // The table has the keys of a test once, where they come first; this one is only for derived scopes.
    let earned = |method: &str| json!({"proof": ["dpop", "mtls"], "derive": {"earned:proved": [{"proof": method}]}});
    row("issuers.kind.user.proof", earned("dpop"), earned("mtls"), Token::Proved);
    let other = json!({"proof": "dpop", "proof_algorithms": ["ES384"]});
    row("issuers.proof_algorithms", proof(json!("dpop")), other, Token::Proved);
}

type Add<'r> = dyn FnMut(&'static str, Value, Value, Token) + 'r;

fn kinds(row: &mut Add<'_>) {
    row("issuers.kind", json!({}), json!({"kind": "organisation"}), usual());
    let user = |test: Value| json!({"kind": {"user": [{"claim": "jti", "present": true}, test]}});
    let named = |claim: &str| user(json!({"claim": claim, "equals": "user"}));
    row(
        "issuers.kind.user",
        named("token_kind"),
        json!({"kind": {"organisation": [{"claim": "sub", "present": true}]}}),
        usual(),
    );
    row("issuers.kind.user.claim", named("token_kind"), named("sub"), usual());
    let [equal, one_of] =
        ["equals", "one_of"].map(|test| move |value: Value| user(json!({"claim": "token_kind", test: value})));
    row("issuers.kind.user.equals", equal(json!("user")), equal(json!("robot")), usual());
    row("issuers.kind.user.one_of", one_of(json!(["a", "user"])), one_of(json!(["a", "b"])), usual());
    let contains = |text: &str| user(json!({"claim": "groups", "contains": text}));
    let groups = claiming(json!({"groups": ["a", "b"]}));
    row("issuers.kind.user.contains", contains("b"), contains("c"), groups);
    let word = |word: &str| user(json!({"claim": "amr", "contains_word": word}));
    row("issuers.kind.user.contains_word", word("otp"), word("ot"), claiming(json!({"amr": "pwd otp"})));
    // The table has the keys of a test once, where they come first; this one isn't for kinds.
    let within = |seconds: u64| json!({"require": [{"claim": "auth_time", "within_seconds": seconds}]});
    let login = claiming(json!({"auth_time": NOW - 200}));
    row("issuers.kind.user.within_seconds", within(300), within(30), login);
    let present = |is: bool| user(json!({"claim": "sub", "present": is}));
    row("issuers.kind.user.present", present(true), present(false), usual());
    for key in ["equals_claim", "differs_from_claim"] {
        let path = if key == "equals_claim" {
            "issuers.kind.user.equals_claim"
        } else {
            "issuers.kind.user.differs_from_claim"
        };
        let compared = |with: &str| user(json!({"claim": "sub", key: with}));
        row(path, compared("client_id"), compared("name"), claiming(json!({"name": "user-7"})));
    }
    let organisation = |kind: &str| json!({"kind": {"organisation": [{"claim": "token_kind", "equals": kind}]}});
    row("issuers.kind.organisation", organisation("user"), organisation("robot"), usual());
}

fn scopes(row: &mut Add<'_>) {
    let text = || claiming(json!({"permissions": "a b"}));
    let scopes = |scopes: Value| json!({ "scopes": scopes });
    row("issuers.scopes", json!({}), scopes(json!({"claim": "permissions"})), text());
    row("issuers.scopes.claim", scopes(json!({"claim": "scope"})), scopes(json!({"claim": "permissions"})), text());
    let format = |format: &str| scopes(json!({"claim": "permissions", "format": format}));
    row(
        "issuers.scopes.format",
        format("string"),
        format("array"),
        claiming(json!({"permissions": ["a", "b"], "scope": null})),
    );
    let conflict = |conflict: &str| scopes(json!({"conflict": conflict}));
    row("issuers.scopes.conflict", conflict("deny"), conflict("ignore"), claiming(json!({"scp": ["a"]})));
    let both = |own: Value| {
        let is = |kind: &str| json!([{"claim": "token_kind", "equals": kind}]);
        json!({"kind": {"user": is("user"), "organisation": is("organisation")}, "organisation_scopes": own})
    };
    let token = claiming(json!({"token_kind": "organisation", "scope": null, "granted": "a b"}));
    row("issuers.organisation_scopes", both(json!(null)), both(json!({"claim": "granted"})), token);
}

fn accounts(row: &mut Add<'_>) {
    let account = |account: Value| json!({ "account": account });
    let token = || claiming(json!({"tenant": "t-1", "team": "t-2"}));
    row("issuers.account", account(json!("subject")), account(json!("client")), token());
    let claim = |claim: &str| account(json!({"claim": claim}));
    row("issuers.account.claim", claim("tenant"), claim("team"), token());
    let user = |user: Value| account(json!({"user": user}));
    row("issuers.account.user", user(json!("subject")), user(json!("client")), token());
    let claim = |claim: &str| user(json!({"claim": claim}));
    row("issuers.account.user.claim", claim("tenant"), claim("team"), token());
    let organisation = |of: &str| json!({"kind": "organisation", "account": {"organisation": of}});
    row("issuers.account.organisation", organisation("subject"), organisation("client"), token());
}

fn opaque(row: &mut Add<'_>) {
    let token = || Token::Opaque("a_1");
    let without = || json!({"jwks_uri": null, "algorithms": null});
    let with = |key: &str, value: Value| {
        let mut opaque = json!({
            "endpoint": "https://id.example.com/introspect", "client_id": "api", "client_secret_file": "/secret",
        });
        if key == "client_secret_env" {
            opaque["client_secret_file"] = json!(null);
        }
        opaque[key] = value;
        let mut issuer = without();
        issuer["opaque"] = without_null(opaque);
        issuer
    };
    row("issuers.opaque", without(), with("client_id", json!("api")), token());
    let mut each = |key: &'static str, one: Value, other: Value| {
        let (_, name) = key.rsplit_once('.').unwrap();
        row(key, with(name, one), with(name, other), token());
    };
    let [one, other] = ["https://id.example.com/a", "https://id.example.com/b"].map(Value::from);
    each("issuers.opaque.endpoint", one, other);
    each("issuers.opaque.client_id", json!("a"), json!("b"));
    each("issuers.opaque.client_secret_file", json!("/a"), json!("/b"));
    each("issuers.opaque.client_secret_env", json!("A"), json!("B"));
    each("issuers.opaque.prefix", json!("a_"), json!("b_"));
    each("issuers.opaque.max_cache_seconds", json!(60), json!(300));
}

fn without_null(mut object: Value) -> Value {
    object.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    object
}

fn changed(mut object: Value, changes: &Value) -> Value {
    for (key, value) in changes.as_object().unwrap() {
        object[key] = value.clone();
    }
    without_null(object)
}

/// The file with these changes to its issuer, or to itself.
fn file(key: &str, changes: &Value) -> String {
    let urls = ["https://api.example.com"];
    let of_file = |issuer: Value| json!({"orbgate_token": 1, "public_urls": urls, "issuers": [issuer]});
    let file = match key.starts_with("issuers.") {
        true => of_file(changed(issuer(), changes)),
        false => changed(of_file(issuer()), changes),
    };
    let keys = file.as_object().unwrap();
    let (start, rest): (Vec<_>, Vec<_>) = keys.iter().partition(|(key, _)| *key == "orbgate_token");
    start.into_iter().chain(rest).map(|(key, value)| format!("{key}: {value}\n")).collect()
}

struct Signers {
    own: Signer,
    rsa: Signer,
    holder: Holder,
}

impl Signers {
    fn token(&self, token: &Token) -> String {
        match token {
            Token::Signed(of_header, of_claims) => {
                self.own.token(&changed(header(), of_header), &changed(claims(), of_claims))
            }
            Token::SmallExponent => {
                let header = changed(header(), &json!({"alg": "RS256", "kid": "key-2"}));
                self.rsa.token(&header, &claims())
            }
            Token::Opaque(token) => (*token).to_owned(),
            Token::Proved => self.holder.bound(&self.own),
        }
    }

    fn jwks(&self) -> Value {
        let mut small = self.rsa.jwk("key-2");
        small["e"] = "Aw".into();
        json!({"keys": [self.own.jwk("key-1"), small]})
    }

    /// What the issuer answers at this URL.
    fn answer(&self, url: &str, is_question: bool) -> String {
        let body = match is_question {
            true => changed(claims(), &json!({"active": true, "token_type": "Bearer"})),
            false if url.contains(".well-known") => {
                json!({"issuer": ISSUER, "jwks_uri": "https://id.example.com/discovered"})
            }
            false => self.jwks(),
        };
        body.to_string()
    }

    /// All that shows from outside when a service with this file is asked about a token now and after 90 seconds: the
    /// secrets that it reads, the requests that it sends, and its answers. An error of the file if it has one.
    fn seen(&self, file: &str, token: &str, is_proved: bool) -> Result<Vec<String>, String> {
        let seen = RefCell::new(Vec::new());
        let note = |line: String| seen.borrow_mut().push(line);
        let verifier = Verifier::from_yaml(file).map_err(|error| error.to_string())?;
        note(format!("remembers {}", verifier.remembered_signatures()));
        let verifier = verifier.taking_proofs().with_secrets(|source| {
            note(format!("reads {source:?}"));
            Ok(match source {
                SecretSource::Keys(_) => self.jwks().to_string().into_bytes(),
                _ => b"s3cr3t".to_vec(),
            })
        });
        let cache = KeyCache::new(verifier.unwrap(), FetchSettings::default()).unwrap();
        for seconds in [0, 90] {
            let monotonic = Duration::from_secs(seconds);
            let now = Now { time: at(NOW + seconds), monotonic };
            let mut progress = cache.ask(monotonic);
            let proof = self.holder.proof_at(token, NOW + seconds, &json!({}));
            let dpop = [proof.as_bytes()];
            let presented = match is_proved {
                true => presented(&dpop),
                false => Presented::default(),
            };
            let verdict = loop {
                let judged = cache.judge_presented(token, &presented, &mut progress, now);
                let mut next = cache.next_fetch(monotonic);
                while let Some(fetch) = next {
                    let post =
                        fetch.post.as_ref().map(|post| (post.authorization().to_owned(), post.body().to_owned()));
                    note(format!("fetches {} {post:?}", fetch.url));
                    let body = self.answer(&fetch.url, post.is_some());
                    let response = Response { status: 200, cache_control: None, body: body.as_bytes() };
                    next = cache.fetched(fetch.attempt, Ok(response), monotonic);
                }
                match judged {
                    Judged::Verdict(verdict) => break verdict,
                    Judged::Wait(_) => {}
                    Judged::CheckSignature(_) => unreachable!("signatures are checked in place"),
                }
            };
            note(match verdict {
                Err(error) => format!("refuses: {error:?}"),
                Ok(token) => {
                    let (kind, names) = (token.kind(), [token.subject(), token.client(), token.account()]);
                    format!("accepts {kind:?} {names:?} {} {:?}", token.issuer(), token.scopes())
                }
            });
        }
        Ok(seen.into_inner())
    }
}

#[test]
fn each_key_changes_something_that_shows() {
    let signers = Signers { own: Signer::p256(), rsa: Signer::rsa(), holder: Holder::new(Signer::p256()) };
    let keys: BTreeSet<_> = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let rows = rows();
    let tried: BTreeSet<_> = rows.iter().map(|row| row.key).collect();
    assert_eq!(tried, keys, "each key has a row here");
    for Row { key, files, token } in rows {
        let is_proved = matches!(token, Token::Proved);
        let token = signers.token(&token);
        let [one, other] = files.map(|changes| file(key, &changes));
        let [seen, seen_by_other] = [&one, &other].map(|file| signers.seen(file, &token, is_proved));
        if key != "orbgate_token" {
            for (file, seen) in [(&one, &seen), (&other, &seen_by_other)] {
                assert!(seen.is_ok(), "{key}: {seen:?}\n{file}");
            }
        }
        assert_ne!(seen, seen_by_other, "{key}\n{one}\n{other}");
    }
}
