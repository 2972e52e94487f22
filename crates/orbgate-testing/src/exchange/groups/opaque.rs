//! Opaque tokens: active, inactive and revoked ones, of issuers with and without a prefix, and endpoints that fail.

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};

use crate::exchange::expected::Sent;
use crate::exchange::introspection::Endpoints;
use crate::exchange::issuer::Conduct;
use crate::exchange::program::{Gated, SECRET_VARIABLE};
use crate::exchange::recipe::Recipe;
use crate::exchange::suite::{Open, Suite};
use crate::exchange::wire;
use crate::exchange::world::{now, policy};
use crate::exchange::written::file;
use crate::signer::AUDIENCE;

const CALL: (&[u8], &[u8]) = (b"GET", b"/api/v1/external/orbs");

/// On the busiest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The secret in a file, and the credentials: `my api:p:a s+%é`, each part as in a form.
const IN_FILE: (&str, &str) = ("p:a s+%é\n", "Basic bXklMjBhcGk6cCUzQWElMjBzJTJCJTI1JUMzJUE5");

/// The secret in the environment is `hunter2`; `my api:hunter2`.
const OF_ENVIRONMENT: &str = "Basic bXklMjBhcGk6aHVudGVyMg==";

/// The issuers with a prefix, which is the name and an underscore, and what their tokens are refused as.
const ISSUERS: [(&str, Conduct, Option<&str>); 9] = [
    ("prefixed", Conduct::Right, None),
    ("turns", Conduct::Right, None),
    ("closes", Conduct::Closes, Some("unanswered")),
    ("drips", Conduct::Drips, Some("unanswered")),
    ("endless", Conduct::Endless, Some("unanswered")),
    ("fails", Conduct::Fails, Some("unanswered")),
    ("redirects", Conduct::Redirects, Some("unanswered")),
    ("page", Conduct::Page, Some("unanswered")),
    // It knows another secret.
    ("stranger", Conduct::Right, Some("unanswered")),
];

pub(crate) fn run(suite: &Suite) -> Result<()> {
    let endpoints = Endpoints::serve()?;
    let secret = suite.world.file("secret");
    fs::write(&secret, IN_FILE.0)?;
    let mut issuers = vec![suite.world.configuration("main")];
    let mut add = |name: &str, opaque: Value| {
        let mut issuer = suite.world.configuration("main");
        issuer["issuer"] = endpoints.url(&format!("{name}/issuer")).into();
        issuer["opaque"] = opaque;
        issuer.as_object_mut().unwrap().remove("algorithms");
        issuer["opaque"]["endpoint"] = endpoints.url(name).into();
        issuer["opaque"]["client_id"] = "my api".into();
        issuers.push(issuer);
    };
    add("rest", json!({"client_secret_file": secret, "max_cache_seconds": 2}));
    endpoints.add("rest", Conduct::Right, IN_FILE.1);
    for (name, conduct, _) in ISSUERS {
        let (prefix, variable) = (format!("{name}_"), SECRET_VARIABLE);
        add(name, json!({"client_secret_env": variable, "prefix": prefix}));
        let knows = match name {
            "stranger" => "Basic bXklMjBhcGk6b3RoZXI=",
            _ => OF_ENVIRONMENT,
        };
        endpoints.add(name, conduct, knows);
    }
    let tokens = suite.world.file("opaque.yaml");
    fs::write(&tokens, json!({"orbgate_token": 1, "issuers": issuers}).to_string())?;
    let running = suite.program.start(&policy("external"), &tokens, Gated::Yes)?;
    let open = suite.opened(running, &policy("external"))?;
    let mut group = Opaque { suite, open: &open, endpoints: &endpoints, refused: BTreeMap::new() };
    // No output may show a secret or a token.
    for secret in [IN_FILE.0.trim_end(), IN_FILE.1, OF_ENVIRONMENT, "hunter2"] {
        suite.world.hide(secret);
    }
    group.answers()?;
    group.caches();
    group.fails();
    group.many()?;
    group.reload(&secret)?;
    let expected = group.refused;
    for wrong in endpoints.wrong() {
        suite.fail(format!("opaque: an endpoint got {wrong}"));
    }
    let counted = open.close("opaque")?.0.refused.unwrap_or_default();
    if counted != expected {
        suite.fail(format!("opaque\n  refused: {counted:?}, expected: {expected:?}"));
    }
    // In a program of its own: a request whose client has left isn't counted.
    fs::write(&secret, IN_FILE.0)?;
    let running = suite.program.start(&policy("external"), &tokens, Gated::Yes)?;
    turns(suite, &suite.opened(running, &policy("external"))?, &endpoints)?;
    derived(suite, &endpoints)
}

/// The exchanges about scopes that a token earns, with tokens about which an endpoint answers their claims.
fn derived(suite: &Suite, endpoints: &Endpoints) -> Result<()> {
    const FILE: &str = "derive.yaml";
    let of = |name: &str| format!("of-{name}");
    let issuers = ["main", "directory"].map(|name| {
        let mut issuer = suite.world.configuration(name);
        let name = of(name);
        issuer["issuer"] = endpoints.url(&format!("{name}/issuer")).into();
        issuer["opaque"] = json!({
            "endpoint": endpoints.url(&name), "client_id": "my api", "client_secret_env": SECRET_VARIABLE,
            "prefix": format!("{name}_"),
        });
        issuer.as_object_mut().unwrap().remove("algorithms");
        endpoints.add(&name, Conduct::Right, OF_ENVIRONMENT);
        issuer
    });
    let tokens = suite.world.file("derived.yaml");
    fs::write(&tokens, json!({"orbgate_token": 1, "issuers": issuers}).to_string())?;
    let exchanges = file(FILE)?;
    let policy = policy(&exchanges.policy);
    let open = suite.opened(suite.program.start(&policy, &tokens, Gated::Yes)?, &policy)?;
    for (number, exchange) in exchanges.exchanges(&format!("opaque {FILE}"))?.into_iter().enumerate() {
        let sent = exchange.sent_with(|recipe| {
            let name = of(recipe.issuer.as_deref().unwrap_or("main"));
            let bearer = format!("{name}_5e1f-{number}");
            suite.world.hide(&bearer);
            let claims = recipe.clone().claim("active", true);
            endpoints.says(&name, &bearer, &claims.claims_at(&endpoints.url(&format!("{name}/issuer")), now())?);
            Ok(bearer)
        })?;
        open.exchange(&sent, &exchange.expected);
    }
    for wrong in endpoints.wrong() {
        suite.fail(format!("opaque: an endpoint got {wrong}"));
    }
    open.close(FILE).map(drop)
}

/// An endpoint is asked about 32 tokens at once. The next one gets its turn when they are answered, even if their clients have
/// left.
fn turns(suite: &Suite, open: &Open<'_>, endpoints: &Endpoints) -> Result<()> {
    const AT_ONCE: usize = 32;
    let address = &open.running.address;
    let before = endpoints.asked_in_all("turns");
    endpoints.turns("turns", Conduct::Holds);
    let mut leaving = Vec::new();
    for number in 0..AT_ONCE {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(&wire::request(CALL.0, CALL.1, Some(&format!("turns_5e1f-left-{number}"))))?;
        leaving.push(stream);
    }
    // Some servers have fewer threads.
    let start = Instant::now();
    while endpoints.asked_in_all("turns") < before + AT_ONCE && start.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    leaving.clear();
    let bearer = "turns_5e1f-next";
    suite.world.hide(bearer);
    endpoints.says("turns", bearer, &active("user", "read:orbs", json!({})));
    let sent = Sent::new("opaque: a token whose turn comes later", CALL, Some(bearer), Some(("user", "read:orbs")));
    let start = Instant::now();
    let first = std::thread::scope(|scope| {
        let client = scope.spawn(|| wire::ask(address, &sent.bytes));
        std::thread::sleep(Duration::from_millis(300));
        endpoints.turns("turns", Conduct::Right);
        client.join().unwrap()
    })?;
    // A request that holds a thread waits for a second only.
    let gave_up = first.status == 401 && start.elapsed() < Duration::from_secs(3);
    let answer = if gave_up { wire::ask(address, &sent.bytes)? } else { first };
    open.judge(&sent, &open.expects(&sent), &answer);
    Ok(())
}

struct Opaque<'s> {
    suite: &'s Suite,
    open: &'s Open<'s>,
    endpoints: &'s Endpoints,
    /// The tokens that are refused, by the reason.
    refused: BTreeMap<String, u64>,
}

/// The answer about a token that is active, with these members replaced.
fn active(kind: &str, scopes: &str, changes: Value) -> String {
    let mut answer = json!({
        "active": true, "aud": AUDIENCE, "sub": "user-7", "client_id": "app-1", "jti": "token-1",
        "iat": now() - 10, "exp": now() + 600, "token_kind": kind, "scope": scopes,
    });
    if let (Value::Object(answer), Value::Object(changes)) = (&mut answer, changes) {
        answer.extend(changes);
    }
    answer.to_string()
}

impl Opaque<'_> {
    /// Sends a token, which is one of this kind with these scopes, or is refused.
    fn put(&self, what: &str, bearer: &str, of: Option<(&str, &str)>) {
        self.suite.world.hide(bearer);
        self.open.put(&Sent::new(format!("opaque: {what}"), CALL, Some(bearer), of));
    }

    fn allowed(&self, what: &str, bearer: &str) {
        self.put(what, bearer, Some(("user", "read:orbs")));
    }

    fn refused(&mut self, what: &str, bearer: &str, reason: &str) {
        self.put(what, bearer, None);
        *self.refused.entry(reason.to_owned()).or_default() += 1;
    }

    fn says(&self, token: &str, answer: &str) {
        self.endpoints.says("rest", token, answer);
    }

    fn was_asked(&self, name: &str, token: &str, times: usize) {
        let count = self.endpoints.asked(name, token);
        if count != times {
            self.suite.fail(format!(
                "opaque: the endpoint `{name}` was asked {count} times about a token, not {times} times"
            ));
        }
    }

    /// Each kind of answer, and which endpoint is asked.
    fn answers(&mut self) -> Result<()> {
        let orbs = active("user", "read:orbs", json!({}));
        self.says("good-token-5e1f", &orbs);
        self.allowed("an active token", "good-token-5e1f");
        let every = "letters.and-signs_~+/==";
        self.says(every, &orbs);
        self.allowed("every sign that a token may have", every);
        for (bearer, kind, scopes) in
            [("organisation", "organisation", "read:orbs"), ("poor", "user", "read:account"), ("poorest", "user", "")]
        {
            let bearer = format!("{bearer}-5e1f");
            self.says(&bearer, &active(kind, scopes, json!({})));
            self.put("scopes", &bearer, Some((kind, scopes)));
        }
        self.refused("a token that nobody knows", "unknown-5e1f", "inactive");
        let past = now() - 120;
        for (bearer, changes, reason) in [
            ("expired", json!({"exp": past}), "expired"),
            ("other-audience", json!({"aud": "https://other.example.com"}), "audience"),
            ("no-kind", json!({"token_kind": "robot"}), "unknown_kind"),
            ("not-active", json!({"active": "true"}), "inactive"),
        ] {
            let bearer = format!("{bearer}-5e1f");
            self.says(&bearer, &active("user", "read:orbs", changes));
            self.refused("an answer that is no reason to allow", &bearer, reason);
        }
        self.endpoints.says("prefixed", "prefixed_5e1f", &orbs);
        self.allowed("a token with a prefix", "prefixed_5e1f");
        self.was_asked("rest", "prefixed_5e1f", 0);
        let jwt = self.suite.world.token(&Recipe::of("user", "read:orbs"))?;
        self.allowed("a JWT of another issuer", &jwt);
        self.was_asked("rest", &jwt, 0);
        // The endpoint knows whether it is right.
        let recipe = Recipe::of("user", "read:orbs");
        let recipe = recipe.claim("iss", self.endpoints.url("rest/issuer"));
        let own = self.suite.world.token(&recipe)?;
        self.says(&own, &orbs);
        self.allowed("a JWT of an issuer that is asked", &own);
        self.was_asked("rest", &own, 1);
        Ok(())
    }

    /// An answer is used again, and no longer than `max_cache_seconds`.
    fn caches(&mut self) {
        let orbs = active("user", "read:orbs", json!({}));
        self.says("revoked-later-5e1f", &orbs);
        let start = Instant::now();
        self.allowed("a token", "revoked-later-5e1f");
        self.says("revoked-later-5e1f", r#"{"active":false}"#);
        let before = self.endpoints.asked("rest", "revoked-later-5e1f");
        // On a busy machine it may have been two seconds.
        if start.elapsed() < Duration::from_secs(1) {
            self.allowed("a token that was revoked just now", "revoked-later-5e1f");
            self.was_asked("rest", "revoked-later-5e1f", before);
        }
        std::thread::sleep(Duration::from_millis(2100));
        self.refused("a token that was revoked", "revoked-later-5e1f", "inactive");
        // That it is inactive is known, too.
        let before = self.endpoints.asked("rest", "revoked-later-5e1f");
        self.refused("a token that was revoked", "revoked-later-5e1f", "inactive");
        self.was_asked("rest", "revoked-later-5e1f", before);
    }

    /// Endpoints that fail deny, quickly, and the next question is answered when they work again.
    fn fails(&mut self) {
        let orbs = active("user", "read:orbs", json!({}));
        for (name, _, reason) in ISSUERS {
            let bearer = format!("{name}_5e1f-2");
            self.endpoints.says(name, &bearer, &orbs);
            match reason {
                Some(reason) => self.refused(&format!("an endpoint that {name}"), &bearer, reason),
                None => self.allowed("an endpoint that answers", &bearer),
            }
            self.was_asked(name, &bearer, 1);
        }
        for (name, ..) in ISSUERS.iter().filter(|(.., reason)| reason.is_some()) {
            let issuer = self.endpoints.url(&format!("{name}/issuer"));
            self.is_said(&format!("opaque tokens of `{issuer}` cannot be asked about: "), 1);
        }
        self.endpoints.turns("fails", Conduct::Right);
        // Without an answer, the endpoint is asked again after a second.
        std::thread::sleep(Duration::from_millis(1500));
        self.allowed("an endpoint that works again", "fails_5e1f-2");
    }

    /// A reload reads the secret again. One that can't be read keeps the previous one, and isn't shown.
    fn reload(&mut self, secret: &Path) -> Result<()> {
        self.suite.world.hide("another5e1f");
        self.endpoints.knows("rest", "Basic bXklMjBhcGk6YW5vdGhlcjVlMWY=");
        fs::write(secret, "another5e1f\n")?;
        self.says("former-secret-5e1f", &active("user", "read:orbs", json!({})));
        self.refused("an endpoint that knows another secret", "former-secret-5e1f", "unanswered");
        self.reloads("reloaded", "new-secret-5e1f")?;
        fs::write(secret, "")?;
        self.reloads("kept", "empty-secret-5e1f")?;
        fs::write(secret, b"another5e1f\xff")?;
        self.reloads("kept", "unreadable-secret-5e1f")?;
        fs::remove_file(secret)?;
        self.reloads("kept", "no-secret-5e1f")?;
        self.is_said(&format!("`client_secret_file` {}: ", secret.display()), 3);
        // The words are those of the host that reads it.
        let output = self.open.running.output().to_lowercase();
        if !output.contains("no such file") {
            self.suite.fail("opaque: a secret that isn't there is refused for another reason");
        }
        Ok(())
    }

    /// Waits for a notice of the log, which comes at least this often: another cause of a busy machine is another notice.
    fn is_said(&self, words: &str, times: usize) {
        let (count, start) = (|| self.open.running.output().matches(words).count(), Instant::now());
        while count() < times && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        if count() < times {
            self.suite.fail(format!("opaque: `{words}` is logged {} times, and not {times} times", count()));
        }
    }

    fn reloads(&self, told: &str, token: &str) -> Result<()> {
        let response = self.open.running.tell("reload")?;
        if response != told {
            self.suite.fail(format!("opaque: `{response}` was said of a reload, not `{told}`"));
        }
        self.says(token, &active("user", "read:orbs", json!({})));
        self.allowed("after a reload", token);
        Ok(())
    }

    /// Many at once, each with its own answer.
    fn many(&self) -> Result<()> {
        let name = |number: usize| format!("one-of-many-5e1f-{number}");
        for number in 0..12 {
            let scopes = ["read:orbs", "read:account"][number % 2];
            self.says(&name(number), &active("user", scopes, json!({})));
        }
        std::thread::scope(|scope| {
            let clients = (0..12).map(|number| {
                scope.spawn(move || {
                    let scopes = ["read:orbs", "read:account"][number % 2];
                    self.put("one of many", &name(number), Some(("user", scopes)));
                })
            });
            let clients: Vec<_> = clients.collect();
            clients.into_iter().for_each(|client| client.join().unwrap());
        });
        for number in 0..12 {
            self.was_asked("rest", &name(number), 1);
        }
        Ok(())
    }
}
