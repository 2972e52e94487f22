//! A real Keycloak as the issuer: its discovery document, keys and tokens, with a protocol mapper each for the audience and the kind.

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::wire::{Answer, ask, request};
use crate::support::{Gateway, Running, folder, free_port};

const VERSION: &str = "26.7.3";

/// It compiles its classes once more when it starts.
const PATIENCE: Duration = Duration::from_secs(300);

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

struct Keycloak {
    address: String,
    _running: Running,
}

impl Keycloak {
    /// Takes it from Maven Central, and starts it with its database in memory.
    fn start() -> Self {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("keycloak");
        fs::create_dir_all(&home).unwrap();
        let unpack = Command::new("mvn")
            .args(["--quiet", "--batch-mode", "dependency:unpack"])
            .arg(format!("-Dartifact=org.keycloak:keycloak-quarkus-dist:{VERSION}:zip"))
            .arg(format!("-DoutputDirectory={}", home.display()))
            .current_dir(&home) // where it notes what it has unpacked
            .status();
        assert!(unpack.unwrap().success(), "Maven couldn't get Keycloak");
        let (port, program) = (free_port(), format!("keycloak-{VERSION}/bin/kc.sh"));
        let mut command = Command::new("bash");
        command
            .arg(home.join(program))
            .args(["start-dev", "--db=dev-mem", "--http-host=127.0.0.1"])
            .arg(format!("--http-port={port}"))
            .arg(format!("--hostname=http://127.0.0.1:{port}"))
            .env("KC_BOOTSTRAP_ADMIN_USERNAME", "admin")
            .env("KC_BOOTSTRAP_ADMIN_PASSWORD", "admin");
        let address = format!("127.0.0.1:{port}");
        let mut running = Running::start(&mut command);
        let realm = request(b"GET", b"/realms/master", &[]);
        running.within(PATIENCE, "Keycloak is ready", |_| ask(&address, &realm).status == 200);
        Self { address, _running: running }
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        ask(&self.address, &request(b"GET", path.as_bytes(), headers))
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let length = body.len().to_string();
        let own = [("Content-Length", length.as_str())];
        let head = request(b"POST", path.as_bytes(), &[&own, headers].concat());
        ask(&self.address, &[&head, body.as_bytes()].concat())
    }

    fn token(&self, realm: &str, form: &str) -> String {
        self.token_of_kind("access_token", realm, form)
    }

    fn token_of_kind(&self, name: &str, realm: &str, form: &str) -> String {
        let path = format!("/realms/{realm}/protocol/openid-connect/token");
        let answer = self.post(&path, &[FORM], form);
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        let token = body[name].as_str();
        format!("Bearer {}", token.unwrap_or_else(|| panic!("{body}")))
    }

    /// Creates something by the REST API for administrators.
    fn create(&self, path: &str, what: &Value) {
        let form = "grant_type=password&client_id=admin-cli&username=admin&password=admin";
        let bearer = self.token("master", form);
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        let answer = self.post(path, &headers, &what.to_string());
        assert_eq!(answer.status, 201, "{answer:?}");
    }
}

/// A realm with a client for each kind of token.
fn realm() -> Value {
    let client = |kind: &str| {
        json!({
            "clientId": kind, "secret": "secret", "serviceAccountsEnabled": true,
            "defaultClientScopes": ["basic"], "optionalClientScopes": ["read:orbs"],
            "protocolMappers": [{
                "name": "audience", "protocol": "openid-connect", "protocolMapper": "oidc-audience-mapper",
                "config": { "included.custom.audience": "https://api.example.com", "access.token.claim": "true", "id.token.claim": "true" },
            }, {
                "name": "kind", "protocol": "openid-connect", "protocolMapper": "oidc-hardcoded-claim-mapper",
                "config": { "claim.name": "token_kind", "claim.value": kind, "jsonType.label": "String", "access.token.claim": "true" },
            }],
        })
    };
    json!({
        "realm": "orbgate", "enabled": true,
        "clientScopes": [{ "name": "read:orbs", "protocol": "openid-connect" }],
        // Who asks about tokens must be in their audience.
        "clients": [client("user"), client("organisation"), { "clientId": "https://api.example.com", "secret": "secret" }],
    })
}

/// A block of a page after this line.
fn block<'p>(page: &'p str, line: &str) -> &'p str {
    let (_, rest) = page.split_once(line).unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    text
}

/// The page's own, with another address.
fn configuration(address: &str) -> String {
    let page = include_str!("../../../docs/issuers.md");
    let (_, section) = page.split_once("\n## Keycloak\n").unwrap();
    let text = block(section, "```yaml\n");
    let issuer = "https://id.example.com/realms/shop";
    assert_eq!(text.matches(issuer).count(), 1);
    text.replace(issuer, &format!("http://{address}/realms/orbgate"))
}

#[test]
#[ignore = "starts Keycloak: cargo xtask test keycloak"]
fn the_gateway_decides_with_the_tokens_of_keycloak() {
    let keycloak = Keycloak::start();
    keycloak.create("/admin/realms", &realm());
    let tokens = configuration(&keycloak.address);
    let address = format!("127.0.0.1:{}", free_port());
    let config = format!("listeners: [{{ mode: nginx, listen: {address}, trusted_proxies: [127.0.0.1] }}]\n");
    let home = folder("keycloak");
    let secret = home.join("secret");
    fs::write(&secret, "secret\n").unwrap();
    let gateway = Gateway::start_with(home, &tokens, &config);
    let check = |bearer: &str| {
        let own = [("X-Original-Method", "GET"), ("X-Original-URI", "/api/v1/external/orbs")];
        let token = [("Authorization", bearer)];
        let token = if bearer.is_empty() { &[][..] } else { &token };
        ask(&address, &request(b"GET", b"/", &[&own, token].concat()))
    };
    let token = |kind: &str, scope: &str| {
        let form = format!("grant_type=client_credentials&client_id={kind}&client_secret=secret{scope}");
        keycloak.token("orbgate", &form)
    };
    let scope = "&scope=read:orbs";
    assert_eq!(check("").status, 401);
    for kind in ["user", "organisation"] {
        let answer = check(&token(kind, ""));
        assert_eq!(answer.status, 403, "{}", gateway.running.said());
        let answer = check(&token(kind, scope));
        assert_eq!(answer.status, 200, "{}", gateway.running.said());
        assert_eq!(answer.header("x-orb-token-kind"), kind);
    }
    // An ID token for the same audience, signed with the same key.
    let form = "grant_type=client_credentials&client_id=user&client_secret=secret&scope=openid%20read:orbs";
    assert_eq!(check(&keycloak.token("orbgate", form)).status, 200);
    let id = keycloak.token_of_kind("id_token", "orbgate", form);
    assert_eq!(check(&id).status, 401);
    // Another realm's keys sign this one.
    let form = "grant_type=password&client_id=admin-cli&username=admin&password=admin";
    assert_eq!(check(&keycloak.token("master", form)).status, 401);
    // A key that the gateway hasn't seen: it asks for the keys again.
    let before = token("user", scope);
    let key = json!({
        "name": "newer", "providerId": "rsa-generated", "providerType": "org.keycloak.keys.KeyProvider",
        "config": { "priority": ["200"] },
    });
    keycloak.create("/admin/realms/orbgate/components", &key);
    let after = token("user", scope);
    let header = |token: &str| token.split('.').next().map(str::to_owned);
    assert_ne!(header(&before), header(&after));
    assert_eq!(check(&after).status, 200);
    assert_eq!(check(&before).status, 200);

    // The same tokens with introspection instead of keys: Keycloak knows what is revoked.
    let tokens = format!(
        "orbgate_token: 1\nissuers:\n  - issuer: http://{0}/realms/orbgate\n    audience: https://api.example.com\n    opaque:\n      \
         endpoint: http://{0}/realms/orbgate/protocol/openid-connect/token/introspect\n      client_id: https://api.example.com\n      \
         client_secret_file: {1}\n      max_cache_seconds: 1\n    kind:\n      user: [{{ claim: token_kind, equals: user }}]\n      \
         organisation: [{{ claim: token_kind, equals: organisation }}]\n",
        keycloak.address,
        secret.display(),
    );
    drop(gateway);
    let gateway = Gateway::start_with(folder("keycloak-opaque"), &tokens, &config);
    assert_eq!(check(&token("user", "")).status, 403);
    let revoked = token("user", scope);
    let answer = check(&revoked);
    assert_eq!(answer.status, 200, "{}", gateway.running.said());
    assert_eq!(answer.header("x-orb-token-kind"), "user");
    let path = "/realms/orbgate/protocol/openid-connect/revoke";
    let form = format!("client_id=user&client_secret=secret&token={}", revoked.trim_start_matches("Bearer "));
    assert_eq!(keycloak.post(path, &[FORM], &form).status, 200);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(check(&revoked).status, 401);
    assert_eq!(check("Bearer no-such-token").status, 401);
    drop(gateway);
    roles_and_logins(&keycloak);
}

/// A browser, whose user logs in when Keycloak asks.
struct Browser<'k> {
    keycloak: &'k Keycloak,
    user: &'k str,
    cookies: BTreeMap<String, String>,
    logins: u32,
}

impl<'k> Browser<'k> {
    const CALLBACK: &'static str = "http://localhost/callback";

    const fn new(keycloak: &'k Keycloak, user: &'k str) -> Self {
        Self { keycloak, user, cookies: BTreeMap::new(), logins: 0 }
    }

    /// Sends a form, or asks for a page.
    fn send(&mut self, path: &str, form: Option<&str>) -> Answer {
        let cookies = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let cookies = cookies.collect::<Vec<_>>().join("; ");
        let cookie = ("Cookie", cookies.as_str());
        let answer = match form {
            Some(form) => self.keycloak.post(path, &[FORM, cookie], form),
            None => self.keycloak.get(path, &[cookie]),
        };
        for (_, value) in answer.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            let (name, rest) = value.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        answer
    }

    /// The tokens that the code flow gives, with these parameters in the authorization request.
    fn tokens(&mut self, more: &str) -> Value {
        let path = "/realms/accounts/protocol/openid-connect";
        let callback = Self::CALLBACK;
        let query = format!("client_id=web&response_type=code&scope=write:account&redirect_uri={callback}{more}");
        let mut answer = self.send(&format!("{path}/auth?{query}"), None);
        if answer.status == 200 {
            self.logins += 1;
            let page = answer.body.as_str();
            let action = page.split('"').find(|text| text.contains("/login-actions/authenticate"));
            let action = action.unwrap_or_else(|| panic!("{page}")).replace("&amp;", "&");
            let action = action.split_once(&self.keycloak.address).unwrap().1.to_owned();
            answer = self.send(&action, Some(&format!("username={}&password=secret", self.user)));
        }
        let location = answer.header("location").to_owned();
        let code =
            location.strip_prefix(callback).and_then(|rest| rest.split(['?', '&']).find(|it| it.starts_with("code=")));
        let code = code.unwrap_or_else(|| panic!("{answer:?}"));
        let form =
            format!("grant_type=authorization_code&{code}&redirect_uri={callback}&client_id=web&client_secret=secret");
        self.exchange(&form)
    }

    fn exchange(&self, form: &str) -> Value {
        let answer = self.keycloak.post("/realms/accounts/protocol/openid-connect/token", &[FORM], form);
        let tokens: Value = serde_json::from_str(&answer.body).unwrap();
        assert!(tokens["access_token"].is_string(), "{tokens}");
        tokens
    }
}

/// The page's example: any signed-in user, a role of the realm, and a login that isn't long ago. Keycloak's default scopes put the
/// date of the login and the roles into access tokens.
fn roles_and_logins(keycloak: &Keycloak) {
    let user = |name: &str, roles: &[&str]| {
        json!({
            "username": name, "enabled": true, "email": format!("{name}@example.com"), "emailVerified": true, "firstName": name,
            "lastName": name, "credentials": [{ "type": "password", "value": "secret" }], "realmRoles": roles,
        })
    };
    keycloak.create(
        "/admin/realms",
        &json!({
            "realm": "accounts", "enabled": true, "roles": { "realm": [{ "name": "admin" }] },
            "users": [user("alice", &["admin"]), user("bob", &[])],
        }),
    );
    let scope = json!({ "name": "write:account", "protocol": "openid-connect" });
    keycloak.create("/admin/realms/accounts/client-scopes", &scope);
    keycloak.create(
        "/admin/realms/accounts/clients",
        &json!({
            "clientId": "web", "secret": "secret", "redirectUris": [Browser::CALLBACK],
            "defaultClientScopes": ["basic", "roles"], "optionalClientScopes": ["write:account"],
            "protocolMappers": [{
                "name": "audience", "protocol": "openid-connect", "protocolMapper": "oidc-audience-mapper",
                "config": { "included.custom.audience": "https://api.example.com", "access.token.claim": "true" },
            }],
        }),
    );

    let page = include_str!("../../../docs/earned.md");
    let tokens = block(page, "# tokens.yaml\n");
    let own = [
        ("https://id.example.com/realms/shop", format!("http://{}/realms/accounts", keycloak.address)),
        // A test doesn't wait for minutes.
        ("within_seconds: 300", "within_seconds: 15".to_owned()),
        ("    kind: user\n", "    kind: user\n    skew_seconds: 0\n".to_owned()),
    ];
    let tokens = own.iter().fold(tokens.to_owned(), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text.replace(from, to)
    });
    let (home, address) = (folder("keycloak-login"), format!("127.0.0.1:{}", free_port()));
    fs::write(home.join("policy.yaml"), block(page, "# policy.yaml\n")).unwrap();
    let config = format!(
        "policy: policy.yaml\nlisteners: [{{ mode: nginx, listen: {address}, trusted_proxies: [127.0.0.1] }}]\n"
    );
    let gateway = Gateway::start_with(home, &tokens, &config);
    let check = |method: &str, target: &str, tokens: &Value| {
        let bearer = format!("Bearer {}", tokens["access_token"].as_str().unwrap());
        let own = [("X-Original-Method", method), ("X-Original-URI", target), ("Authorization", bearer.as_str())];
        let answer = ask(&address, &request(b"GET", b"/", &own));
        (answer.status, answer.header("www-authenticate").to_owned())
    };
    let allowed = (200, String::new());

    let (mut alice, mut bob) = (Browser::new(keycloak, "alice"), Browser::new(keycloak, "bob"));
    let first = alice.tokens("");
    assert_eq!(check("DELETE", "/me", &first), allowed, "{}", gateway.running.said());
    assert_eq!(check("GET", "/me", &first), allowed);
    assert_eq!(check("GET", "/users", &first), allowed);
    let of_bob = bob.tokens("");
    assert_eq!(check("GET", "/me", &of_bob), allowed);
    assert_eq!(check("GET", "/users", &of_bob), (403, "Bearer".to_owned()));

    std::thread::sleep(Duration::from_secs(16));
    let login = "Bearer error=\"insufficient_user_authentication\", max_age=\"15\"".to_owned();
    assert_eq!(check("DELETE", "/me", &first), (401, login.clone()));
    assert_eq!(check("PATCH", "/me", &first), allowed);
    // Neither a refreshed token nor another one of the same session has a later login.
    let refresh = first["refresh_token"].as_str().unwrap();
    let form = format!("grant_type=refresh_token&client_id=web&client_secret=secret&refresh_token={refresh}");
    assert_eq!(check("DELETE", "/me", &alice.exchange(&form)), (401, login.clone()));
    let again = alice.tokens("");
    assert_eq!((alice.logins, check("DELETE", "/me", &again)), (1, (401, login)));
    // What the answer says.
    let fresh = alice.tokens("&max_age=15");
    assert_eq!((alice.logins, check("DELETE", "/me", &fresh)), (2, allowed));
}
