//! A policy file that is replaced under load, half-written, or wider.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::path::Path;
use std::time::Instant;
use std::{fs, thread};

use anyhow::{Result, ensure};
use orbgate::{Engine, Policy};
use serde_json::json;

use crate::exchange::expected::{Expected, Sent, token};
use crate::exchange::issuer::{Conduct, Issuer};
use crate::exchange::program::Gated;
use crate::exchange::recipe::Recipe;
use crate::exchange::suite::{Open, Suite};
use crate::exchange::wire::{self, Connection};

/// The same routes, needing these scopes.
fn text(one: &str, export: &str) -> String {
    format!(
        "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      {one}:\n        orbs: false\n        routes: [\"GET /users/{{id}}\"]\n      \
         {export}:\n        orbs: true\n        routes: [GET /users/export]\n...\n"
    )
}

/// Both routes under one scope.
const WIDER: &str = "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      read:a:\n        orbs: false\n        \
    routes: [\"GET /users/{id}\", GET /users/export]\n...\n";

const TARGETS: [&str; 2] = ["/users/7", "/users/export"];
const SCOPES: &str = "read:a";
const ROUNDS: usize = 20;

/// What the clients under load ask for.
const CLIENTS: [&str; 3] = [TARGETS[0], TARGETS[1], TARGETS[0]];

/// A client that gets no response for this long has failed.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn run(suite: &Suite) -> Result<()> {
    let versions = [text("read:a", "read:b"), text("read:b", "read:a")];
    let file = suite.world.file("reloaded.yaml");
    fs::write(&file, &versions[0])?;
    let mut open = suite.open_file(&file)?;
    let engines: Result<Vec<_>> = versions.iter().map(|text| Ok(Engine::new(&Policy::from_yaml(text)?))).collect();
    let (offered, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let load =
        Load { suite, engines: engines?, offered, taken, seen: Default::default(), done: AtomicBool::new(false) };
    let address = open.running.address.clone();
    let bodies = thread::scope(|scope| {
        let (load, address) = (&load, &address);
        let clients = [0, 1, 2].map(|client| (CLIENTS[client], &load.seen[client]));
        let threads = clients.map(|(target, seen)| {
            scope.spawn(move || {
                let bodies = load.put(address, target, seen);
                // Nothing waits for it any longer.
                seen.store(usize::MAX, Ordering::SeqCst);
                bodies
            })
        });
        let replaced = load.replace(&mut open, &file, &versions);
        load.done.store(true, Ordering::SeqCst);
        let bodies = threads.map(|thread| thread.join().unwrap());
        replaced?;
        bodies.into_iter().collect::<Result<Vec<_>>>()
    })?;
    open.saw(bodies.into_iter().flatten());
    half_written(suite, &mut open, &file, &versions[0])?;
    waiting(suite, &mut open, &file, [WIDER, &versions[0]])?;
    said(&mut open, suite, &file, &versions[0])?;
    if open.running.output().contains("explanation") {
        suite.fail("reload: a denial is explained that nobody wants to see");
    }
    open.close("reload")?;
    followed(suite, &file)?;
    diagnostics(suite, &file)
}

/// Requests on one connection while versions change.
struct Load<'s> {
    suite: &'s Suite,
    engines: Vec<Engine>,
    /// The number of the version that might already be active.
    offered: AtomicUsize,
    /// The number of the version that decides every new call.
    taken: AtomicUsize,
    /// For each client, the number of the version that decided before its last finished request began.
    seen: [AtomicUsize; CLIENTS.len()],
    done: AtomicBool,
}

impl Load<'_> {
    /// Each response comes from a version that was active while the request was running. Returns the calls that
    /// the service saw.
    fn put(&self, address: &str, target: &str, seen: &AtomicUsize) -> Result<Vec<String>> {
        let bearer = self.suite.world.token(&Recipe::of("user", SCOPES))?;
        let bytes = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {bearer}\r\n\r\n");
        let mut connection = Connection::open(address)?;
        let (mut bodies, mut changes, mut last) = (Vec::new(), 0, 0);
        while !self.done.load(Ordering::SeqCst) {
            let earliest = self.taken.load(Ordering::SeqCst);
            let answer = connection.ask(bytes.as_bytes())?;
            let latest = self.offered.load(Ordering::SeqCst);
            if answer.status == 0 || answer.header("connection").is_some_and(|it| it.eq_ignore_ascii_case("close")) {
                connection = Connection::open(address)?;
            }
            if answer.status == 200 {
                bodies.push(answer.text().to_owned());
            }
            let mut versions = (earliest..=latest).map(|version| &self.engines[version % 2]);
            let one = versions
                .any(|engine| Expected::of(engine, b"GET", target.as_bytes(), Some(token("user", SCOPES))).is(&answer));
            if answer.status != 0 && !one {
                self.suite.fail(format!("reload: GET {target}\n  versions {earliest} to {latest}: {answer:?}"));
            }
            if answer.status != 0 {
                changes += usize::from(answer.status != last);
                last = answer.status;
                seen.store(earliest, Ordering::SeqCst);
            }
        }
        ensure!(changes >= ROUNDS, "reload: {target} changed {changes} times under load, in {ROUNDS} versions");
        Ok(bodies)
    }

    fn replace(&self, open: &mut Open<'_>, file: &Path, versions: &[String]) -> Result<()> {
        for round in 1..=ROUNDS {
            let new = file.with_extension("new");
            fs::write(&new, &versions[round % 2])?;
            fs::rename(&new, file)?;
            self.offered.store(round, Ordering::SeqCst);
            let response = open.running.tell("reload")?;
            ensure!(response == "reloaded", "reload: a right policy was answered by `{response}`");
            self.taken.store(round, Ordering::SeqCst);
            self.wait_for_all(round)?;
        }
        Ok(())
    }

    /// Waits until every client has a response to a request that began after this version was taken.
    fn wait_for_all(&self, version: usize) -> Result<()> {
        let start = Instant::now();
        while self.seen.iter().any(|seen| seen.load(Ordering::SeqCst) < version) {
            ensure!(start.elapsed() < LIMIT, "reload: a client got no response of version {version} within {LIMIT:?}");
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// A file that is cut short isn't loaded, even if it is a valid policy. A wider one is.
fn half_written(suite: &Suite, open: &mut Open<'_>, file: &Path, now: &str) -> Result<()> {
    let without_export = now.split("      read:b:").next().unwrap_or_default();
    ensure!(Policy::from_yaml(without_export).is_ok(), "half of it is a policy, and a weaker one");
    for text in [without_export, &now[..now.len() - 4], &now[..now.len() / 2], "", "orbgate: 1\n...\n", "\0"] {
        fs::write(file, text)?;
        let response = open.running.tell("reload")?;
        if response != "kept" {
            suite.fail(format!("reload: `{response}` was said of {text:?}"));
        }
        both(suite, open, [200, 403])?;
    }
    for (text, statuses) in [(WIDER, [200, 200]), (now, [200, 403])] {
        fs::write(file, text)?;
        open.engine = Engine::new(&Policy::from_yaml(text)?);
        let response = open.running.tell("reload")?;
        ensure!(response == "reloaded", "reload: a right policy was answered by `{response}`");
        both(suite, open, statuses)?;
    }
    Ok(())
}

/// A request that waits for keys is decided by the policy that is active when they come.
fn waiting(suite: &Suite, open: &mut Open<'_>, file: &Path, versions: [&str; 2]) -> Result<()> {
    let (issuers, target) = (&suite.world.issuers, TARGETS[1]);
    for (text, kid) in versions.into_iter().zip(["holds-2", "holds-3"]) {
        issuers.add("holds", Issuer::new(kid, Conduct::Holds));
        let bearer = suite.world.token(&Recipe::of("user", SCOPES).from("holds"))?;
        let call: (&[u8], _) = (b"GET", target.as_bytes());
        let sent = Sent::new(format!("reload: {target} waits for keys"), call, Some(&bearer), Some(("user", SCOPES)));
        let address = open.running.address.clone();
        let answer = thread::scope(|scope| {
            let client = scope.spawn(|| wire::ask(&address, &sent.bytes));
            let start = Instant::now();
            while issuers.with("holds", |issuer| issuer.hits) == 0 && !client.is_finished() && start.elapsed() < LIMIT {
                thread::sleep(Duration::from_millis(1));
            }
            let response = fs::write(file, text).map_err(Into::into).and_then(|()| open.running.tell("reload"));
            issuers.with("holds", |issuer| issuer.conduct = Conduct::Right);
            ensure!(response? == "reloaded", "reload: a right policy was refused while a request waits");
            Ok(client.join().unwrap()?)
        })?;
        open.engine = Engine::new(&Policy::from_yaml(text)?);
        open.judge(&sent, &open.expects(&sent), &answer);
    }
    Ok(())
}

/// What a program logs of each version as a warning or an error: what changes, also if everything is closed, or why the previous one stays. It
/// counts each. For `None`, the file is missing.
fn said(open: &mut Open<'_>, suite: &Suite, file: &Path, now: &str) -> Result<()> {
    const CLOSED: &str = "orbgate: 1\napis: {}\n...\n";
    let without_end = now.trim_end_matches("...\n");
    for (text, statuses, result, logged) in [
        (Some(now), [200, 403], "loaded", ""),
        (Some("orbgate: 2\napis: {}\n...\n"), [200, 403], "refused", "1:10: "),
        (Some(without_end), [200, 403], "unfinished", "does not end in a line"),
        (None, [200, 403], "unreadable", ""),
        (Some(WIDER), [200, 200], "loaded", "the policy changes answers: 1 wider"),
        (Some(CLOSED), [404, 404], "loaded", "every request that needs a token is denied"),
        (Some(now), [200, 403], "loaded", "the policy changes answers: "),
    ] {
        let before = open.running.output().matches(logged).count();
        let mut loads = open.running.count()?.loads;
        match text {
            Some(text) => fs::write(file, text)?,
            None => fs::remove_file(file)?,
        }
        let response = open.running.tell("reload")?;
        let told = if result == "loaded" { "reloaded" } else { "kept" };
        ensure!(response == told, "reload: `{response}` was said of {text:?}");
        *loads.entry(result.to_owned()).or_default() += 1;
        let counted = open.running.count()?.loads;
        // Rust's program reads the file itself.
        if counted != loads && !suite.program.opens_ledger {
            suite.fail(format!("reload: {text:?}\n  {counted:?} are counted, and not {loads:?}"));
        }
        let active = text.filter(|_| told == "reloaded").unwrap_or(now);
        open.engine = Engine::new(&Policy::from_yaml(active)?);
        both(suite, open, statuses)?;
        let start = Instant::now();
        while !logged.is_empty() && open.running.output().matches(logged).count() == before {
            ensure!(
                start.elapsed() < LIMIT,
                "reload: `{logged}` wasn't logged of {text:?}:\n{}",
                open.running.output()
            );
            thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}

/// A file that is followed, by a gate that refuses a wider policy: each version that has rested is loaded, or refused and reported. Each
/// denial is explained in the log.
fn followed(suite: &Suite, file: &Path) -> Result<()> {
    const CLOSED: &str = "orbgate: 1\napis: {}\n...\n";
    let now = text("read:a", "read:b");
    fs::write(file, &now)?;
    let more = ["--watch", "20", "--refuse-wider", "--debug", "--public", "GET /docs/{page}"];
    let running = suite.program.start_in(&[], file, &suite.world.tokens(), Gated::Yes, &more)?;
    let mut open = suite.opened(running, file)?;
    // Some gates follow it from the first request on.
    both(suite, &open, [200, 403])?;
    let named = now.replacen("apis", "name: renamed\napis", 1);
    let digest = Engine::new(&Policy::from_yaml(&named)?).digest().to_string();
    let overlapping = named.replacen("\"GET /users/{id}\"", "\"GET /users/{id}\", GET /docs/a", 1);
    explained(suite, &open)?;
    for (text, statuses, result, logged) in [
        (Some(&*named), [200, 403], "loaded", &*digest),
        (Some("orbgate: 2\napis: {}\n...\n"), [200, 403], "refused", "1:10: "),
        (Some(WIDER), [200, 403], "wider", ": 1 wider"),
        (Some(&*overlapping), [200, 403], "refused", "same paths"),
        (None, [200, 403], "unreadable", ""),
        (Some(named.trim_end_matches("...\n")), [200, 403], "unfinished", "does not end in a line"),
        (Some(CLOSED), [404, 404], "loaded", "every request that needs a token is denied"),
        (Some(&*now), [404, 404], "wider", " wider"),
    ] {
        let before = open.running.output().matches(logged).count();
        let loads = |open: &Open<'_>| open.running.count().map(|counted| counted.loads);
        let earlier = loads(&open)?;
        let new = file.with_extension("new");
        match text {
            Some(text) => fs::write(&new, text).and_then(|()| fs::rename(&new, file))?,
            None => fs::remove_file(file)?,
        }
        let start = Instant::now();
        while earlier == loads(&open)? || open.running.output().matches(logged).count() == before && !logged.is_empty()
        {
            let output = open.running.output();
            ensure!(start.elapsed() < LIMIT, "reload: {text:?} was followed without `{logged}`:\n{output}");
            thread::sleep(Duration::from_millis(5));
        }
        let (mut expected, counted) = (earlier, loads(&open)?);
        *expected.entry(result.to_owned()).or_default() += 1;
        if counted != expected {
            suite.fail(format!("reload: {text:?}\n  {counted:?} are counted, and not {expected:?}"));
        }
        if let Some(text) = text.filter(|_| result == "loaded") {
            open.engine = Engine::new(&Policy::from_yaml(text)?);
        }
        both(suite, &open, statuses)?;
    }
    open.close("reload")?;
    Ok(())
}

/// The log of a gate explains each denial: not the query, which can have secrets in it. If a header or the query is the cause, it has only the
/// decision, without rules.
fn explained(suite: &Suite, open: &Open<'_>) -> Result<()> {
    let bearer = suite.world.token(&Recipe::of("user", SCOPES))?;
    let (poor, wrong) =
        (suite.world.token(&Recipe::of("user", ""))?, suite.world.token(&Recipe::of("user", SCOPES).forged())?);
    for (at, (bearer, header, status, reason)) in [
        (None, "", 401, "no_token"),
        (Some(&poor), "", 403, "scope_missing"),
        (Some(&wrong), "", 401, "invalid_token"),
        (Some(&bearer), "X-HTTP-Method-Override: PUT\r\n", 400, "malformed_request"),
        (Some(&bearer), "Connection: Upgrade\r\nUpgrade: h2c\r\n", 400, "malformed_request"),
    ]
    .into_iter()
    .enumerate()
    {
        let (path, target) = (format!("/users/explained-{at}"), format!("/users/explained-{at}?s3cr3t"));
        let mut sent = Sent::new(
            format!("reload: {path} is explained"),
            (b"GET", target.as_bytes()),
            bearer.map(|it| &**it),
            None,
        );
        let end = sent.bytes.len() - 2;
        sent.bytes.splice(end..end, header.bytes());
        let challenge = matches!(status, 401 | 403).then(|| "Bearer".to_owned());
        open.exchange(&sent, &Expected { status, www_authenticate: challenge, ..Expected::default() });
        let start = Instant::now();
        let line = loop {
            let output = open.running.output();
            let mut lines = output.lines().filter(|line| !line.starts_with("audited ") && line.contains(&path));
            if let Some(line) = lines.next() {
                break line.to_owned();
            }
            ensure!(start.elapsed() < LIMIT, "reload: {reason} of {path} isn't logged:\n{output}");
            thread::sleep(Duration::from_millis(1));
        };
        if !line.contains(reason) || line.contains("s3cr3t") || line.contains("rules") != header.is_empty() {
            suite.fail(format!("reload: {reason} is explained by:\n{line}"));
        }
    }
    Ok(())
}

/// A program doesn't start with invalid files, with a secret that it can't read, with an issuer whose keys can't be fetched, or with an invalid public route.
fn diagnostics(suite: &Suite, file: &Path) -> Result<()> {
    let tokens = suite.world.tokens();
    let bad = file.with_extension("bad");
    fs::write(&bad, "orbgate: 2\n")?;
    secrets(suite, file)?;
    let unfetchable = file.with_extension("unfetchable");
    let mut issuer = suite.world.configuration("main");
    issuer["issuer"] = "http://keycloak.ns.svc/realms/a".into();
    fs::write(&unfetchable, json!({"orbgate_token": 1, "issuers": [issuer]}).to_string())?;
    let refuses = |policy, tokens, public| suite.program.refuses(policy, tokens, public);
    let started = [
        refuses(&bad, &tokens, None),
        refuses(file, &bad, None),
        refuses(file, &unfetchable, None),
        refuses(file, &tokens, Some("GET healthz")),
        refuses(file, &tokens, Some("GET /users/{any}")),
    ];
    for error in started.into_iter().filter_map(Result::err) {
        suite.fail(format!("start: {error}"));
    }
    Ok(())
}

/// A secret that can't be read is named, and not shown.
fn secrets(suite: &Suite, file: &Path) -> Result<()> {
    let [none, empty, bytes, tokens] = ["none", "empty", "bytes", "tokens"].map(|name| file.with_extension(name));
    fs::write(&empty, "")?;
    fs::write(&bytes, b"hunter\xff")?;
    for (source, place, why) in [
        ("client_secret_env", "ORBGATE_NO_SUCH_VARIABLE".into(), "the variable is not set"),
        ("client_secret_file", none.display().to_string(), "no such file"),
        ("client_secret_file", empty.display().to_string(), "empty"),
        ("client_secret_file", bytes.display().to_string(), ""),
    ] {
        let mut opaque = suite.world.configuration("main");
        opaque.as_object_mut().unwrap().remove("algorithms");
        opaque["opaque"] = json!({"endpoint": "http://127.0.0.1:1/", "client_id": "c", source: place});
        fs::write(&tokens, json!({"orbgate_token": 1, "issuers": [opaque]}).to_string())?;
        let message = match suite.program.refuses(file, &tokens, None) {
            Ok(message) => message,
            Err(error) => error.to_string(),
        };
        suite.saw_one();
        let is_named = message.contains(&format!("`{source}` {place}: ")) && message.to_lowercase().contains(why);
        if !is_named || message.contains("hunter") {
            suite.fail(format!("start: {source} {place}\n  {message}"));
        }
    }
    Ok(())
}

fn both(suite: &Suite, open: &Open<'_>, statuses: [u16; 2]) -> Result<()> {
    for (target, status) in TARGETS.iter().zip(statuses) {
        let bearer = suite.world.token(&Recipe::of("user", SCOPES))?;
        let call: (&[u8], _) = (b"GET", target.as_bytes());
        let sent = Sent::new(format!("reload: GET {target}"), call, Some(&bearer), Some(("user", SCOPES)));
        let expected = open.expects(&sent);
        ensure!(expected.status == status, "reload: {expected:?}");
        open.exchange(&sent, &expected);
    }
    Ok(())
}
