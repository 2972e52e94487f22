//! The test issuer as an authorization server: what clients get, and what no one gets.

use core::time::Duration;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use orbgate::Token;
use orbgate_testing::random::Random;
use orbgate_token::{TestClaims, TestIssuer, TestRequest, TestResponse, TestServer, Verifier};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const URL: &str = "http://127.0.0.1:9000";
const RESOURCE: &str = "http://127.0.0.1:8000/mcp";
const REDIRECT: &str = "http://127.0.0.1:1/callback";
const JSON: (&str, &str) = ("Content-Type", "application/json");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8");

type Pairs = Vec<(&'static str, String)>;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}

struct World {
    server: TestServer,
    now: SystemTime,
}

impl World {
    fn new() -> Self {
        let claims = TestClaims::default().set("audience", RESOURCE).unwrap().set("subject", "ada").unwrap();
        Self { server: TestServer::new(TestIssuer::new(URL).unwrap().claims(claims)), now: at(0) }
    }

    fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> TestResponse {
        let headers: Vec<_> = [("host", "127.0.0.1:9000")].iter().chain(headers).copied().collect();
        self.server.answer(&TestRequest { method, target, headers: &headers, body }, self.now)
    }

    fn register(&self, metadata: &Value) -> (u16, Value) {
        let response = self.send("POST", "/register", &[JSON], metadata.to_string().as_bytes());
        (response.status, serde_json::from_str(&response.body).unwrap())
    }

    /// The id of a public client.
    fn public(&self) -> String {
        let (status, client) = self.register(&json!({
            "redirect_uris": [REDIRECT, "app://callback?a=b"], "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token"],
        }));
        assert_eq!(status, 201, "{client}");
        client["client_id"].as_str().unwrap().to_owned()
    }

    /// The parameters of the redirect; `None`: there is no redirect.
    fn authorize(&self, query: &Pairs) -> Option<BTreeMap<String, String>> {
        let response = self.send("GET", &format!("/authorize?{}", form(query)), &[], b"");
        if response.status != 302 {
            assert_eq!(response.status, 400);
            return None;
        }
        let (_, location) = response.headers.iter().find(|(name, _)| *name == "location").unwrap();
        let (_, query) = location.split_once('?').unwrap();
        let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap());
        let decoded = |text| percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned();
        Some(pairs.map(|(name, value)| (name.to_owned(), decoded(value))).collect())
    }

    fn code(&self, query: &Pairs) -> String {
        self.authorize(query).unwrap().remove("code").unwrap()
    }

    fn token(&self, pairs: &Pairs, headers: &[(&str, &str)]) -> (u16, Value) {
        let headers: Vec<_> = [FORM].iter().chain(headers).copied().collect();
        let response = self.send("POST", "/token", &headers, form(pairs).as_bytes());
        (response.status, serde_json::from_str(&response.body).unwrap())
    }

    /// The claims of a token that a service accepts.
    fn accepted(&self, answer: &Value) -> Value {
        let token = answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let issuer = self.server.issuer();
        let verified = Verifier::from_yaml(&issuer.tokens_yaml()).unwrap();
        let verified = verified.verify(token, &issuer.keys().unwrap(), self.now).unwrap();
        assert_eq!(verified.token(), Token::user(answer["scope"].as_str().unwrap()));
        claims(token)
    }
}

fn claims(token: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

fn form(pairs: &Pairs) -> String {
    let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    pairs.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect::<Vec<_>>().join("&")
}

/// A PKCE verifier and its challenge.
fn pkce(seed: char) -> (String, String) {
    let verifier = seed.to_string().repeat(43);
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
    (verifier, challenge)
}

fn right_query(client: &str) -> Pairs {
    vec![
        ("response_type", "code".to_owned()),
        ("client_id", client.to_owned()),
        ("redirect_uri", REDIRECT.to_owned()),
        ("code_challenge", pkce('a').1),
        ("code_challenge_method", "S256".to_owned()),
        ("scope", "mcp:connect orders:read".to_owned()),
        ("state", "x y&z".to_owned()),
        ("resource", RESOURCE.to_owned()),
    ]
}

fn right_form(client: &str, code: &str) -> Pairs {
    vec![
        ("grant_type", "authorization_code".to_owned()),
        ("code", code.to_owned()),
        ("redirect_uri", REDIRECT.to_owned()),
        ("client_id", client.to_owned()),
        ("code_verifier", pkce('a').0),
        ("resource", RESOURCE.to_owned()),
    ]
}

fn refresh_form(client: &str, token: &str) -> Pairs {
    vec![
        ("grant_type", "refresh_token".to_owned()),
        ("client_id", client.to_owned()),
        ("refresh_token", token.to_owned()),
    ]
}

fn set(pairs: &Pairs, name: &'static str, value: &str) -> Pairs {
    let others = pairs.iter().filter(|(own, _)| *own != name).cloned();
    others.chain([(name, value.to_owned())]).collect()
}

/// The parameter is left out, empty, doubled, longer, shorter, or in a different letter case.
fn changed(pairs: &Pairs, name: &'static str) -> Vec<Pairs> {
    let (_, value) = pairs.iter().find(|(own, _)| *own == name).unwrap();
    let without: Pairs = pairs.iter().filter(|(own, _)| *own != name).cloned().collect();
    let doubled: Pairs = pairs.iter().cloned().chain([(name, value.clone())]).collect();
    let others =
        [String::new(), format!("{value}x"), value[1..].to_owned(), value.to_uppercase(), value.to_lowercase()];
    let others = others.into_iter().filter(|other| other != value);
    [without, doubled].into_iter().chain(others.map(|other| set(pairs, name, &other))).collect()
}

#[test]
fn a_client_gets_a_token_for_a_code() {
    let world = World::new();
    let client = world.public();
    let redirect = world.authorize(&right_query(&client)).unwrap();
    assert_eq!((&*redirect["state"], &*redirect["iss"]), ("x y&z", URL));
    let (status, answer) = world.token(&right_form(&client, &redirect["code"]), &[]);
    assert_eq!((status, &answer["expires_in"]), (200, &json!(600)));
    assert_eq!((&answer["token_type"], &answer["scope"]), (&json!("Bearer"), &json!("mcp:connect orders:read")));
    let claims = world.accepted(&answer);
    assert_eq!(
        (&claims["sub"], &claims["aud"], &claims["client_id"]),
        (&json!("ada"), &json!(RESOURCE), &json!(client))
    );
    // Without these, it is the usual audience, and an address with a query stays one.
    let query = set(&right_query(&client), "redirect_uri", "app://callback?a=b");
    let query: Pairs = query.into_iter().filter(|(name, _)| !["resource", "scope", "state"].contains(name)).collect();
    let code = world.code(&query);
    let form = set(&right_form(&client, &code), "redirect_uri", "app://callback?a=b");
    let form: Pairs = form.into_iter().filter(|(name, _)| *name != "resource").collect();
    let (_, answer) = world.token(&form, &[]);
    assert_eq!(world.accepted(&answer)["aud"], RESOURCE);
    // A token for another service is that service's.
    let query = set(&right_query(&client), "resource", "https://other.test");
    let form = set(&right_form(&client, &world.code(&query)), "resource", "https://other.test");
    let (_, answer) = world.token(&form, &[]);
    assert_eq!(crate::test_server::claims(answer["access_token"].as_str().unwrap())["aud"], "https://other.test");
}

/// Each parameter is changed in each way. Only the address of the client may get the error, and never a code.
#[test]
fn a_changed_request_gets_no_code() {
    let world = World::new();
    let (client, other) = (world.public(), world.public());
    let right = right_query(&client);
    let mut tried = 0;
    for (name, error) in [
        ("response_type", Some("unsupported_response_type")),
        ("client_id", None),
        ("redirect_uri", None),
        ("code_challenge", Some("invalid_request")),
        ("code_challenge_method", Some("invalid_request")),
    ] {
        let mut all = changed(&right, name);
        if name == "code_challenge" {
            // Another challenge is one of another verifier.
            all.retain(|pairs| pairs.iter().all(|(own, value)| *own != name || value.len() != 43));
        }
        for pairs in all {
            let redirect = world.authorize(&pairs);
            let found = redirect.as_ref().map(|redirect| &*redirect["error"]);
            let is_doubled = pairs.len() > right.len();
            assert_eq!(found, if is_doubled && error.is_some() { Some("invalid_request") } else { error }, "{pairs:?}");
            assert!(redirect.is_none_or(|redirect| !redirect.contains_key("code") && redirect["state"] == "x y&z"));
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
    for (name, value, error) in [
        ("code_challenge_method", "plain", "invalid_request"),
        ("scope", "a  b", "invalid_scope"),
        ("scope", "a\"", "invalid_scope"),
        ("resource", "shop", "invalid_target"),
        ("resource", "", "invalid_target"),
        ("resource", "https://other.test/#a", "invalid_target"),
        ("resource", "https://other.test/ü", "invalid_target"),
    ] {
        assert_eq!(world.authorize(&set(&right, name, value)).unwrap()["error"], error, "{name}={value}");
    }
    let twice: Pairs = right.iter().cloned().chain([("resource", "https://other.test".to_owned())]).collect();
    assert_eq!(world.authorize(&twice).unwrap()["error"], "invalid_target");
    for wrong in [
        "http://127.0.0.1:1/callback/",
        "http://127.0.0.1:2/callback",
        "http://localhost:1/callback",
        "http://127.0.0.1:1/callback?a=b",
        "https://evil.test",
    ] {
        assert!(world.authorize(&set(&right, "redirect_uri", wrong)).is_none(), "{wrong}");
    }
    let of_other = set(&right, "client_id", &other);
    assert!(world.authorize(&of_other).unwrap().contains_key("code"), "it has the same address");
    let machine = world.register(&json!({ "grant_types": ["client_credentials"], "redirect_uris": [REDIRECT] })).1;
    let pairs = set(&right, "client_id", machine["client_id"].as_str().unwrap());
    assert_eq!(world.authorize(&pairs).unwrap()["error"], "unauthorized_client");
    assert_eq!(world.send("POST", "/authorize", &[FORM], form(&right).as_bytes()).status, 404);
}

/// Each parameter is changed in each way. A code that was sent, right or wrong, is never worth anything again.
#[test]
fn a_changed_request_gets_no_token_and_ends_the_code() {
    let world = World::new();
    let (client, other) = (world.public(), world.public());
    let mut tried = 0;
    for name in ["grant_type", "code", "redirect_uri", "client_id", "code_verifier", "resource"] {
        let code = world.code(&right_query(&client));
        let count = changed(&right_form(&client, &code), name).len();
        for index in 0..count {
            let code = world.code(&right_query(&client));
            let right = right_form(&client, &code);
            let pairs = changed(&right, name).swap_remove(index);
            if name == "resource" && pairs.len() < right.len() {
                continue; // The code has it.
            }
            let (status, answer) = world.token(&pairs, &[]);
            let expected = if name == "client_id" { 401 } else { 400 };
            assert_eq!(
                status,
                if name == "client_id" && pairs.len() > right.len() { 400 } else { expected },
                "{pairs:?}"
            );
            assert!(answer.get("access_token").is_none(), "{pairs:?}");
            let was_found = !["grant_type", "code", "client_id"].contains(&name);
            assert_eq!(world.token(&right, &[]).0, if was_found { 400 } else { 200 }, "{pairs:?}");
            tried += 1;
        }
    }
    assert!(tried > 25, "{tried}");
    for (name, value) in
        [("client_id", &*other), ("code_verifier", &pkce('b').0), ("redirect_uri", "app://callback?a=b")]
    {
        let code = world.code(&right_query(&client));
        let (status, answer) = world.token(&set(&right_form(&client, &code), name, value), &[]);
        assert_eq!((status, &answer["error"]), (400, &json!("invalid_grant")), "{name}");
        assert_eq!(world.token(&right_form(&client, &code), &[]).1["error"], "invalid_grant", "{name}");
    }
    for kind in ["application/json", "text/plain", ""] {
        let code = world.code(&right_query(&client));
        let body = form(&right_form(&client, &code));
        assert_eq!(world.send("POST", "/token", &[("content-type", kind)], body.as_bytes()).status, 400);
        assert_eq!(world.send("POST", "/token", &[FORM, FORM], body.as_bytes()).status, 400);
    }
}

#[test]
fn a_code_works_once_and_for_a_minute() {
    let mut world = World::new();
    let client = world.public();
    for (later, status) in [(0, 200), (59, 200), (60, 400), (86_400, 400)] {
        world.now = at(0);
        let code = world.code(&right_query(&client));
        world.now = at(later);
        assert_eq!(world.token(&right_form(&client, &code), &[]).0, status, "{later}");
    }
    world.now = at(0);
    let code = world.code(&right_query(&client));
    let (_, first) = world.token(&right_form(&client, &code), &[]);
    assert_eq!(world.token(&right_form(&client, &code), &[]).1["error"], "invalid_grant");
    // Somebody has used the code, so what came from it ends.
    let refresh = refresh_form(&client, first["refresh_token"].as_str().unwrap());
    assert_eq!(world.token(&refresh, &[]).1["error"], "invalid_grant");
    // Of many at the same time, one gets a token.
    let code = world.code(&right_query(&client));
    let tokens = std::thread::scope(|scope| {
        let send = || world.token(&right_form(&client, &code), &[]).0;
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|status| *status == 200).count()
    });
    assert_eq!(tokens, 1);
}

#[test]
fn a_refresh_token_works_once_and_never_for_more() {
    let mut world = World::new();
    let (client, other) = (world.public(), world.public());
    let begin = |world: &World| {
        let code = world.code(&right_query(&client));
        world.token(&right_form(&client, &code), &[]).1["refresh_token"].as_str().unwrap().to_owned()
    };
    let first = begin(&world);
    let (status, answer) = world.token(&set(&refresh_form(&client, &first), "scope", "orders:read"), &[]);
    assert_eq!((status, &answer["scope"]), (200, &json!("orders:read")));
    world.accepted(&answer);
    let second = answer["refresh_token"].as_str().unwrap();
    // The next one has all scopes again.
    let (_, answer) = world.token(&refresh_form(&client, second), &[]);
    assert_eq!(answer["scope"], "mcp:connect orders:read");
    // The first is used again, so the newest ends.
    assert_eq!(world.token(&refresh_form(&client, &first), &[]).0, 400);
    assert_eq!(world.token(&refresh_form(&client, answer["refresh_token"].as_str().unwrap()), &[]).0, 400);
    for (name, value, error) in [
        ("scope", "orders:read orders:write", "invalid_scope"),
        ("scope", "a  b", "invalid_scope"),
        ("resource", "https://other.test", "invalid_target"),
        ("client_id", &*other, "invalid_grant"),
    ] {
        let token = begin(&world);
        assert_eq!(world.token(&set(&refresh_form(&client, &token), name, value), &[]).1["error"], error);
        assert_eq!(world.token(&refresh_form(&client, &token), &[]).1["error"], "invalid_grant", "{name}");
    }
    // A code isn't a refresh token, nor the reverse.
    let (code, token) = (world.code(&right_query(&client)), begin(&world));
    assert_eq!(world.token(&refresh_form(&client, &code), &[]).1["error"], "invalid_grant");
    assert_eq!(world.token(&right_form(&client, &token), &[]).1["error"], "invalid_grant");
    world.now = at(86_400);
    assert_eq!(world.token(&refresh_form(&client, &token), &[]).0, 400);
}

#[test]
fn a_client_without_a_user_has_its_own_tokens() {
    let world = World::new();
    for method in ["client_secret_basic", "client_secret_post"] {
        let (status, client) =
            world.register(&json!({ "grant_types": ["client_credentials"], "token_endpoint_auth_method": method }));
        assert_eq!((status, &client["response_types"]), (201, &json!([])));
        let [id, secret] = ["client_id", "client_secret"].map(|name| client[name].as_str().unwrap());
        let header = format!("bAsIc {}", STANDARD.encode(format!("{}:{secret}", id.replace('-', "%2d"))));
        let bare: Pairs = vec![("grant_type", "client_credentials".to_owned()), ("scope", "orders:read".to_owned())];
        let in_form = set(&set(&bare, "client_id", id), "client_secret", secret);
        let is_basic = method == "client_secret_basic";
        let (status, answer) = match is_basic {
            true => world.token(&bare, &[("Authorization", &header)]),
            false => world.token(&in_form, &[]),
        };
        assert_eq!((status, answer.get("refresh_token")), (200, None), "{answer}");
        let claims = claims(answer["access_token"].as_str().unwrap());
        assert_eq!((&claims["sub"], &claims["token_kind"]), (&json!(id), &json!("organisation")));
        // By the registered method, and no other.
        let wrong = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}x")));
        let mut tries = vec![
            (bare.clone(), vec![]),
            (set(&bare, "client_id", id), vec![]),
            (set(&in_form, "client_secret", ""), vec![]),
            (set(&in_form, "client_secret", "x"), vec![]),
            (bare.clone(), vec![("authorization", wrong.clone())]),
            (bare.clone(), vec![("authorization", "Basic x".to_owned())]),
            (bare.clone(), vec![("authorization", format!("Bearer {secret}"))]),
            (set(&bare, "client_id", "other"), vec![("authorization", header.clone())]),
            (in_form.clone(), vec![("authorization", header.clone())]),
            (bare.clone(), vec![("authorization", header.clone()), ("Authorization", header.clone())]),
        ];
        tries.push(if is_basic { (in_form, vec![]) } else { (bare, vec![("authorization", header)]) });
        for (pairs, headers) in tries {
            let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
            let (status, answer) = world.token(&pairs, &headers);
            assert!([400, 401].contains(&status) && answer.get("access_token").is_none(), "{pairs:?} {headers:?}");
        }
    }
    let public = world.public();
    let pairs = vec![("grant_type", "client_credentials".to_owned()), ("client_id", public)];
    assert_eq!(world.token(&pairs, &[]).1["error"], "unauthorized_client");
}

#[test]
fn a_registration_states_what_it_got() {
    let world = World::new();
    let uris = |uris: &[&str]| json!({ "redirect_uris": uris, "token_endpoint_auth_method": "none" });
    let asked = json!({
        "redirect_uris": ["https://app.example/cb"], "client_name": "app", "contacts": null, "token_endpoint_auth_method": null,
        "grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code", "implicit"],
    });
    let (status, client) = world.register(&asked);
    assert_eq!((status, &client["grant_types"]), (201, &json!(["authorization_code"])));
    assert_eq!((&client["client_name"], &client["client_secret_expires_at"]), (&json!("app"), &json!(0)));
    assert_eq!(client["token_endpoint_auth_method"], "client_secret_basic");
    for uri in
        ["http://127.0.0.1/", "http://[::1]:9/a?b", "http://localhost:33418", "vscode://a/b", "com.example.app://x"]
    {
        assert_eq!(world.register(&uris(&[uri])).0, 201, "{uri}");
    }
    let long = format!("https://app.example/{}", "a".repeat(2048));
    for uri in [
        "",
        "callback",
        "http://app.example/cb",
        "http://127.0.0.1.evil.test/",
        "http://localhost@evil.test/",
        "http://localhost:1@evil.test/",
        "http://localhost#/",
        "https://",
        "https://app.example/cb#a",
        "https://app.example/\r\nSet-Cookie: a",
        "https://app.example/ü",
        "HTTP://app.example/cb",
        "javascript://%0aalert(1)",
        "data://text/html",
        "file:///etc/passwd",
        &long,
    ] {
        let (status, answer) = world.register(&uris(&["https://app.example/cb", uri]));
        assert_eq!((status, &answer["error"]), (400, &json!("invalid_redirect_uri")), "{uri}");
    }
    assert_eq!(world.register(&uris(&[])).1["error"], "invalid_redirect_uri");
    for metadata in [
        json!([]),
        json!({ "redirect_uris": REDIRECT }),
        json!({ "redirect_uris": [7] }),
        json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "private_key_jwt" }),
        json!({ "redirect_uris": [REDIRECT], "grant_types": [] }),
        json!({ "redirect_uris": [REDIRECT], "grant_types": ["implicit", "refresh_token"] }),
        json!({ "grant_types": ["client_credentials"], "token_endpoint_auth_method": "none" }),
    ] {
        let (status, answer) = world.register(&metadata);
        assert_eq!((status, &answer["error"]), (400, &json!("invalid_client_metadata")), "{metadata}");
    }
    let body = uris(&[REDIRECT]).to_string();
    assert_eq!(world.send("POST", "/register", &[], body.as_bytes()).status, 400);
    assert_eq!(world.send("POST", "/register", &[("content-type", "text/plain")], body.as_bytes()).status, 400);
    assert_eq!(world.send("GET", "/register", &[JSON], body.as_bytes()).status, 404);
}

#[test]
fn discovery_names_what_is_there() {
    let world = World::new();
    for path in ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"] {
        let metadata: Value = serde_json::from_str(&world.send("GET", path, &[], b"").body).unwrap();
        assert_eq!(
            (&metadata["issuer"], &metadata["code_challenge_methods_supported"]),
            (&json!(URL), &json!(["S256"]))
        );
        for (name, method) in [
            ("jwks_uri", "GET"),
            ("authorization_endpoint", "GET"),
            ("token_endpoint", "POST"),
            ("registration_endpoint", "POST"),
        ] {
            let target = metadata[name].as_str().unwrap().strip_prefix(URL).unwrap();
            assert_ne!(world.send(method, target, &[], b"").status, 404, "{name}");
        }
    }
    // The oldest clients are forgotten.
    let first = world.public();
    assert!(world.authorize(&right_query(&first)).is_some());
    for _ in 0..1024 {
        world.public();
    }
    assert!(world.authorize(&right_query(&first)).is_none());
}

/// Two clients send codes of either, with any verifier and address, at any time: a model that shares no code knows which succeed.
#[test]
fn an_adversary_gets_nothing_that_it_may_not_have() {
    struct Known {
        code: String,
        client: usize,
        verifier: char,
        redirect: usize,
        expires: u64,
        is_used: bool,
    }
    const REDIRECTS: [&str; 2] = [REDIRECT, "app://callback?a=b"];
    let (mut succeeded, mut refused) = (0, 0);
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut below = |most: usize| random.index(most);
        let mut world = World::new();
        let clients = [world.public(), world.public()];
        let (mut known, mut clock): (Vec<Known>, u64) = (Vec::new(), 0);
        for _ in 0..60 {
            clock += [0, 1, 20][below(3)];
            world.now = at(clock);
            let (client, verifier, redirect) = (below(2), ['a', 'b'][below(2)], below(2));
            if known.is_empty() || below(3) == 0 {
                let query = set(&right_query(&clients[client]), "code_challenge", &pkce(verifier).1);
                let code = world.code(&set(&query, "redirect_uri", REDIRECTS[redirect]));
                known.push(Known { code, client, verifier, redirect, expires: clock + 60, is_used: false });
                continue;
            }
            let index = below(known.len());
            let one = &mut known[index];
            // Mostly all but one is right.
            let right = (one.client, one.verifier, one.redirect);
            let sent = match below(5) {
                0 => right,
                1 => (client, right.1, right.2),
                2 => (right.0, verifier, right.2),
                3 => (right.0, right.1, redirect),
                _ => (client, verifier, redirect),
            };
            let form = set(&right_form(&clients[sent.0], &one.code), "code_verifier", &pkce(sent.1).0);
            let (status, answer) = world.token(&set(&form, "redirect_uri", REDIRECTS[sent.2]), &[]);
            let is_right = !one.is_used && sent == right && clock < one.expires;
            one.is_used = true;
            assert_eq!((status == 200, answer.get("access_token").is_some()), (is_right, is_right), "seed {seed}");
            succeeded += usize::from(is_right);
            refused += usize::from(!is_right);
        }
    }
    assert!(succeeded > 500 && refused > 5000, "{succeeded} {refused}");
}

#[test]
fn only_pages_of_this_machine_may_send_requests() {
    let world = World::new();
    let stated = |response: &TestResponse| {
        let mut headers = response.headers.iter();
        headers.find(|(name, _)| *name == "access-control-allow-origin").map(|(_, value)| value.clone())
    };
    let metadata = "/.well-known/oauth-authorization-server";
    for origin in ["http://localhost:6274", "http://127.0.0.1:8000", "http://[::1]:1", "http://localhost"] {
        let asked = world.send("OPTIONS", "/token", &[("Origin", origin)], b"");
        assert_eq!((asked.status, stated(&asked).as_deref()), (204, Some(origin)));
        let answer = world.send("GET", metadata, &[("Origin", origin)], b"");
        assert_eq!((answer.status, stated(&answer).as_deref()), (200, Some(origin)));
    }
    for origin in [
        "https://evil.example",
        "https://localhost:1",
        "http://localhost.evil.example",
        "http://localhost:1@evil.example",
        "http://127.0.0.1.evil.example:80",
        "http://localhost:x",
        "null",
        "",
    ] {
        let asked = world.send("OPTIONS", "/token", &[("Origin", origin)], b"");
        assert_eq!((asked.status, stated(&asked)), (404, None), "{origin}");
        assert_eq!(stated(&world.send("GET", metadata, &[("Origin", origin)], b"")), None, "{origin}");
    }
}
