//! Keys from outside: through the proxy of the environment, and from a file.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use anyhow::{Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::exchange::expected::Sent;
use crate::exchange::issuer::{Conduct, Issuer, accept, send};
use crate::exchange::program::Gated;
use crate::exchange::recipe::{Identity, Recipe};
use crate::exchange::suite::{Open, Suite};
use crate::exchange::world::{now, policy};
use crate::signer::Signer;

const CALL: (&[u8], &[u8]) = (b"GET", b"/api/v1/external/orbs");

/// The user and the password of the proxy.
const CREDENTIALS: &str = "orbgate:open-sesame-5e1f";

pub(crate) fn run(suite: &Suite) -> Result<()> {
    proxies(suite)?;
    file(suite)
}

/// What a proxy was asked: the request line, and `Proxy-Authorization`.
type Heard = Arc<Mutex<Vec<(String, String)>>>;

/// A proxy that refuses everything.
fn proxy() -> Result<(String, Heard)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let heard = Heard::default();
    let hears = Arc::clone(&heard);
    accept(listener, move |mut stream| {
        let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
        let line = lines.next()?.ok()?;
        let headers = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
        let headers: Vec<_> =
            headers.filter_map(|line| line.split_once(": ").map(|(n, v)| (n.to_lowercase(), v.to_owned()))).collect();
        let authorization = headers.into_iter().find(|(name, _)| name == "proxy-authorization");
        let authorization = authorization.map(|(_, value)| value);
        // The JDK sends credentials only to a proxy that asks for them.
        // First, because the gate can go on as soon as it has the answer.
        hears.lock().unwrap().push((line, authorization.clone().unwrap_or_default()));
        match authorization {
            None => send(&mut stream, "407 Who", "Proxy-Authenticate: Basic realm=\"proxy\"\r\n", ""),
            Some(_) => send(&mut stream, "502 Not here", "", ""),
        }
    });
    Ok((address, heard))
}

/// `HTTPS_PROXY` and `NO_PROXY` count, loopback never uses a proxy, and no output shows the proxy's password.
fn proxies(suite: &Suite) -> Result<()> {
    let (address, heard) = proxy()?;
    let world = &suite.world;
    let outside = |host: &str| {
        let mut issuer = world.configuration("main");
        issuer["issuer"] = format!("https://{host}").into();
        issuer["jwks_uri"] = format!("https://{host}/jwks").into();
        issuer
    };
    let issuers = [world.configuration("main"), outside("keys.invalid"), outside("direct.invalid")];
    let tokens = world.file("proxies.yaml");
    fs::write(&tokens, json!({"orbgate_token": 1, "issuers": issuers}).to_string())?;
    let url = format!("http://{CREDENTIALS}@{address}");
    let environment =
        ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"].map(|name| (name, url.as_str()));
    let direct = ["NO_PROXY", "no_proxy"].map(|name| (name, "direct.invalid"));
    let environment: Vec<_> = environment.into_iter().chain(direct).collect();
    let running = suite.program.start_in(&environment, &policy("external"), &tokens, Gated::Yes, &[])?;
    let open = suite.opened(running, &policy("external"))?;
    world.hide("open-sesame");
    world.hide(&STANDARD.encode(CREDENTIALS));
    put(suite, &open, &Recipe::of("user", "read:orbs"), "an issuer on this machine")?;
    ensure!(heard.lock().unwrap().is_empty(), "outside: a proxy was used for loopback: {heard:?}");
    let signer = Signer::p256();
    for host in ["direct.invalid", "keys.invalid"] {
        let name = format!("https://{host}");
        let identity = Identity { name: &name, signer: &signer, kid: "outside-1" };
        let token = Recipe::of("user", "read:orbs").sign(&identity, now())?;
        open.put(&Sent::new(format!("outside: {name}"), CALL, Some(&token), None));
        let is_direct = host == "direct.invalid";
        let heard = heard.lock().unwrap();
        let basic = format!("Basic {}", STANDARD.encode(CREDENTIALS));
        let is_it = |(line, authorization): &&(String, String)| {
            line.starts_with(&format!("CONNECT {host}:443 ")) && *authorization == basic
        };
        let count = heard.iter().filter(is_it).count();
        if (count == 0) != is_direct {
            suite.fail(format!("outside: a proxy was asked {count} times for {host}: {heard:?}"));
        }
    }
    open.close("outside: proxies")?;
    Ok(())
}

/// The keys of a file are read at the start and on reload. A bad version changes nothing, and nothing is fetched.
fn file(suite: &Suite) -> Result<()> {
    let world = &suite.world;
    let (path, served) = (world.file("jwks.json"), world.file("filed-policy.yaml"));
    fs::copy(policy("external"), &served)?;
    let mut issuer = world.configuration("filed");
    issuer["jwks_file"] = path.to_str().into();
    let tokens = world.file("filed.yaml");
    fs::write(&tokens, json!({"orbgate_token": 1, "issuers": [issuer]}).to_string())?;
    let write = || world.issuers.with("filed", |issuer| fs::write(&path, issuer.keys().to_string()));
    write()?;
    let open = suite.opened(suite.program.start(&served, &tokens, Gated::Yes)?, &served)?;
    let recipe = Recipe::of("user", "read:orbs").from("filed");
    put(suite, &open, &recipe, "a key in a file")?;
    let former = world.token(&recipe)?;
    fs::write(&path, "{\"keys\":[")?;
    let response = open.running.tell("reload")?;
    ensure!(response == "kept", "outside: half of a file with keys was answered by `{response}`");
    put(suite, &open, &recipe, "a key, while its file is cut short")?;
    world.issuers.add("filed", Issuer::new("filed-2", Conduct::Right));
    write()?;
    let response = open.running.tell("reload")?;
    ensure!(response == "reloaded", "outside: a file with keys was answered by `{response}`");
    put(suite, &open, &recipe, "a new key in a file")?;
    open.put(&Sent::new("outside: a key that left its file", CALL, Some(&former), None));
    let hits = world.issuers.with("filed", |issuer| issuer.hits);
    ensure!(hits == 0, "outside: an issuer with keys in a file was asked {hits} times");
    open.close("outside: a file")?;
    Ok(())
}

/// Sends a token that is right.
fn put(suite: &Suite, open: &Open<'_>, recipe: &Recipe, what: &str) -> Result<()> {
    let bearer = suite.world.token(recipe)?;
    open.put(&Sent::new(format!("outside: {what}"), CALL, Some(&bearer), Some(("user", "read:orbs"))));
    Ok(())
}
