//! Keys that rotate, forged keys, and issuers that are down, slow, send huge responses, or lie.

use core::time::Duration;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::exchange::expected::Sent;
use crate::exchange::issuer::{Conduct, Issuer};
use crate::exchange::recipe::Recipe;
use crate::exchange::suite::{Open, Suite};
use crate::exchange::wire::{self, Connection};
use crate::exchange::world::{ISSUERS, now};
use crate::unsound;

const CALL: (&[u8], &[u8]) = (b"GET", b"/api/v1/external/orbs");
const SCOPE: &str = "read:orbs";

/// The number of forged signatures.
const STORM: usize = 10_000;

/// How long a fetch that nothing waits for can take on a busy machine.
const LONGEST: Duration = Duration::from_secs(20);

pub(crate) fn run(suite: &Suite) -> Result<()> {
    let open = suite.open("external")?;
    let group = Keys { suite, open: &open };
    group.of("main", true)?;
    group.unsound()?;
    let bad = ISSUERS
        .iter()
        .filter(|(name, conduct)| *conduct != Conduct::Right && !["twins", "crowded", "holds"].contains(name));
    std::thread::scope(|scope| {
        let bad = bad.map(|(name, _)| scope.spawn(|| group.refuses(name)));
        let mut threads: Vec<_> = bad.collect();
        threads.push(scope.spawn(|| group.others_go_on()));
        threads.push(scope.spawn(|| group.forged()));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })?;
    // Runs by itself: while tokens wait for a slow issuer, a server with a thread per request lets no other token
    // wait for long.
    group.crowd()?;
    group.rotation()?;
    group.renewal()?;
    group.storm()?;
    group.down()?;
    group.log()?;
    group.hangs_up();
    open.close("keys")?;
    Ok(())
}

struct Keys<'s> {
    suite: &'s Suite,
    open: &'s Open<'s>,
}

impl Keys<'_> {
    /// Sends a token of an issuer, which is valid or rejected. Returns the response time.
    fn put(&self, recipe: Recipe, is_right: bool, what: &str) -> Result<Duration> {
        let bearer = self.suite.world.token(&recipe)?;
        let token = is_right.then_some(("user", SCOPE));
        Ok(self.open.put(&Sent::new(what, CALL, Some(&bearer), token)))
    }

    fn of(&self, issuer: &str, is_right: bool) -> Result<Duration> {
        let recipe = Recipe::of("user", SCOPE).from(issuer);
        self.put(recipe, is_right, &format!("keys: the issuer `{issuer}`"))
    }

    /// No key with which anyone can make signatures accepts a token, and the others of its set do. Each that is left out is logged.
    fn unsound(&self) -> Result<()> {
        self.of("unsound", true)?;
        let issuer = self.suite.world.issuers.name("unsound");
        let claims = Recipe::of("user", SCOPE).claims_of(&issuer, now());
        let keys = unsound::keys();
        for key in &keys {
            let location = format!("keys: a signature of the unsound key `{}`", key.kid);
            self.open.put(&Sent::new(location, CALL, Some(&key.token(&claims)), None));
        }
        self.of("unsound", true)?;
        let start = Instant::now();
        // The issuer's own key is the first.
        for (index, key) in (1..).zip(&keys).filter(|(_, key)| !key.left_out.is_empty()) {
            let words = format!("of the keys of `{issuer}`, key {index} is left out: ");
            let is_logged = |line: &str| line.split_once(&*words).is_some_and(|(_, why)| why.contains(key.left_out));
            while !self.open.running.output().lines().any(is_logged) {
                ensure!(start.elapsed() < LONGEST, "keys: the log doesn't have `{words}` and `{}`", key.left_out);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    }

    /// The first token waits and is rejected. Later tokens are also rejected, as long as that is
    /// quick.
    fn refuses(&self, issuer: &str) -> Result<()> {
        let start = Instant::now();
        for _ in 0..3 {
            if start.elapsed() < Duration::from_secs(2) {
                self.of(issuer, false)?;
            }
        }
        Ok(())
    }

    /// Tokens of other issuers don't wait while one issuer is slow.
    fn others_go_on(&self) -> Result<()> {
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(200));
            let took = self.of("main", true)?;
            if took > Duration::from_secs(2) {
                self.suite.fail(format!("keys: a token of `main` waited {took:?}"));
            }
        }
        Ok(())
    }

    /// A token whose keys are available gets its response while 12 clients wait for a slow issuer, even if the server
    /// has fewer threads and each request blocks one.
    fn crowd(&self) -> Result<()> {
        std::thread::scope(|scope| {
            let clients = (0..12).map(|_| scope.spawn(|| self.of("crowded", false)));
            let clients: Vec<_> = clients.collect();
            std::thread::sleep(Duration::from_millis(200));
            while !clients.iter().all(|client| client.is_finished()) {
                let took = self.of("main", true)?;
                if took > Duration::from_secs(3) {
                    self.suite
                        .fail(format!("keys: a token of `main` waited {took:?} behind 12 clients of a slow issuer"));
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            let waited: Result<Vec<_>> = clients.into_iter().map(|client| client.join().unwrap()).collect();
            let long = waited?.into_iter().filter(|waited| *waited >= Duration::from_secs(3)).count();
            // A gate that holds a thread of the server for each lets one wait for the whole fetch.
            if long == 0 || self.suite.program.holds_threads && long > 6 {
                self.suite.fail(format!("keys: {long} of 12 clients of a slow issuer waited for long"));
            }
            Ok(())
        })
    }

    /// A new key is found with its first token, and the previous key is gone.
    fn rotation(&self) -> Result<()> {
        let old = Recipe::of("user", SCOPE).from("rotating");
        self.put(old.clone(), true, "keys: before a rotation")?;
        let former = self.suite.world.token(&old)?;
        let issuers = &self.suite.world.issuers;
        issuers.add("rotating", Issuer::new("rotating-2", Conduct::Right));
        self.put(old.clone(), true, "keys: the first token after a rotation")?;
        let sent = Sent::new("keys: a token of the former key", CALL, Some(&former), None);
        self.open.exchange(&sent, &self.open.expects(&sent));
        self.put(old, true, "keys: later")?;
        Ok(())
    }

    /// Forged key names don't make the gate fetch too often: four attempts at once, and then one every 7.5 seconds.
    fn forged(&self) -> Result<()> {
        self.of("asked", true)?;
        let hits = || self.suite.world.issuers.with("asked", |issuer| issuer.hits);
        let (before, start) = (hits(), Instant::now());
        for number in 0..60 {
            let mut recipe = Recipe::of("user", SCOPE).from("asked");
            recipe = recipe.header("kid", format!("forged-{number}"));
            self.put(recipe, false, "keys: a forged `kid`")?;
            self.of("asked", true)?;
        }
        let most = 5 + start.elapsed().as_secs() / 7;
        let attempts = hits() - before;
        if attempts == 0 || u64::try_from(attempts)? > most {
            self.suite
                .fail(format!("keys: forged names of keys\n  the issuer was asked {attempts} times, not 1 to {most}"));
        }
        Ok(())
    }

    /// An issuer that puts a new key under the name of an older one: the first token is rejected at once and starts a fetch, and
    /// soon the new key's tokens are accepted.
    fn renewal(&self) -> Result<()> {
        let right = Recipe::of("user", SCOPE).from("renewed");
        self.put(right.clone(), true, "keys: before a key is replaced")?;
        let issuers = &self.suite.world.issuers;
        issuers.add("renewed", Issuer::new("renewed-1", Conduct::Right));
        self.put(right.clone(), false, "keys: the first token of a key that is new under its name")?;
        // No other request starts the fetch.
        let begun = Instant::now();
        while issuers.with("renewed", |issuer| issuer.hits) == 0 && begun.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_millis(5));
        }
        ensure!(begun.elapsed() < LONGEST, "keys: a wrong signature fetches no new keys");
        let bearer = self.suite.world.token(&right)?;
        let bytes = wire::request(CALL.0, CALL.1, Some(&bearer));
        let start = Instant::now();
        let answer = loop {
            let answer = wire::ask(&self.open.running.address, &bytes)?;
            if answer.status != 401 || start.elapsed() > LONGEST {
                break answer;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let sent = Sent::new("keys: a key that is new under its name", CALL, Some(&bearer), Some(("user", SCOPE)));
        self.open.judge(&sent, &self.open.expects(&sent), &answer);
        let hits = issuers.with("renewed", |issuer| issuer.hits);
        ensure!(hits == 1, "keys: an issuer was asked {hits} times for a key that is new under its name");
        Ok(())
    }

    /// A body that is too long, or that takes too long, isn't read to its end.
    fn hangs_up(&self) {
        let (issuers, start) = (&self.suite.world.issuers, Instant::now());
        for name in ["drips", "crowded", "endless"] {
            let open = || issuers.with(name, |issuer| issuer.open);
            while open() > 0 && start.elapsed() < LONGEST {
                std::thread::sleep(Duration::from_millis(20));
            }
            if open() > 0 {
                self.suite.fail(format!("keys: a body of the issuer `{name}` was read for too long"));
            }
        }
    }

    /// Forged signatures start one fetch in 30 seconds, wait for nothing, even while that fetch hangs, and delay no new key.
    fn storm(&self) -> Result<()> {
        let (issuers, right) = (&self.suite.world.issuers, Recipe::of("user", SCOPE).from("stormed"));
        self.put(right.clone(), true, "keys: before a storm")?;
        let forged = self.suite.world.token(&right.clone().forged())?;
        let bytes = format!(
            "GET {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {forged}\r\n\r\n",
            str::from_utf8(CALL.1)?
        );
        let hits = || issuers.with("stormed", |issuer| (issuer.conduct = Conduct::Holds, issuer.hits).1);
        let (before, start) = (hits(), Instant::now());
        std::thread::scope(|scope| {
            let clients = (0..4).map(|_| scope.spawn(|| self.forge(bytes.as_bytes(), STORM / 4)));
            let clients: Vec<_> = clients.collect();
            clients.into_iter().try_for_each(|client| client.join().unwrap())
        })?;
        let attempts = hits() - before;
        let most = 1 + start.elapsed().as_secs() / 30;
        if attempts == 0 || u64::try_from(attempts)? > most {
            self.suite.fail(format!(
                "keys: after {STORM} forged signatures, the issuer was asked {attempts} times, not 1 to {most}"
            ));
        }
        issuers.add("stormed", Issuer::new("stormed-2", Conduct::Right));
        self.put(right, true, "keys: the first token of a new key, after a storm")?;
        Ok(())
    }

    /// Sends the same request again and again, and is denied at once each time.
    fn forge(&self, bytes: &[u8], times: usize) -> Result<()> {
        let mut connection = Connection::open(&self.open.running.address)?;
        let mut done = 0;
        while done < times {
            let start = Instant::now();
            let answer = connection.ask(bytes)?;
            let took = start.elapsed();
            // Some servers close a connection after some requests.
            if answer.status == 0 || answer.header("connection").is_some_and(|it| it.eq_ignore_ascii_case("close")) {
                connection = Connection::open(&self.open.running.address)?;
            }
            if answer.status == 0 {
                continue;
            }
            ensure!(answer.status == 401, "keys: a forged signature got {answer:?}");
            ensure!(took < Duration::from_secs(2), "keys: a forged signature waited {took:?}");
            done += 1;
        }
        Ok(())
    }

    /// The log names issuers that fail, and keys that are left out of a set.
    fn log(&self) -> Result<()> {
        self.of("twins", false)?;
        let (issuers, start) = (&self.suite.world.issuers, Instant::now());
        let quoted = |name| format!("`{}`", issuers.name(name));
        let failing = format!("keys of {} cannot be fetched, it has 0: ", quoted("fails"));
        let left_out = format!("of the keys of {}, key 0 is left out: ", quoted("twins"));
        for (words, levels) in [(failing, ["error", "severe"]), (left_out, ["warn", "warning"])] {
            let count = || self.open.running.output().matches(&words).count();
            while count() == 0 && start.elapsed() < LONGEST {
                std::thread::sleep(Duration::from_millis(20));
            }
            // Another cause, such as a timeout of a busy machine, is another notice.
            let output = self.open.running.output();
            let (before, causes): (Vec<_>, Vec<_>) = output.lines().filter_map(|line| line.split_once(&*words)).unzip();
            self.has_level(&words, &before, &levels);
            if causes.is_empty() || causes.windows(2).any(|two| matches!(two, [one, next] if one == next)) {
                self.suite.fail(format!("keys: the log should have each cause once: {words}{causes:?}"));
            }
        }
        // The host knows the cause; Rust's has no log of its own.
        let url = format!("{}/.well-known/openid-configuration", issuers.name("closes"));
        let output = self.open.running.output();
        let before: Vec<_> = output.lines().filter_map(|line| Some(line.split_once(&*url)?.0)).collect();
        if !self.suite.program.opens_ledger {
            self.has_level(&url, &before, &["warn"]);
        }
        Ok(())
    }

    /// Each line of the log has one of these levels before these words.
    fn has_level(&self, words: &str, before: &[&str], levels: &[&str]) {
        let is_it = |line: &&str| levels.iter().any(|level| line.to_lowercase().contains(level));
        if before.is_empty() || !before.iter().all(is_it) {
            self.suite.fail(format!("keys: each line with `{words}` should have a level of {levels:?}: {before:?}"));
        }
    }

    /// No server listens at first; later, one does, which the log says as no failure.
    fn down(&self) -> Result<()> {
        self.refuses("down")?;
        let world = &self.suite.world;
        world.start_down()?;
        // Without keys, the issuer is asked every second.
        std::thread::sleep(Duration::from_millis(1500));
        self.of("down", true)?;
        let words = format!("keys of `{}` are fetched again, it has 1", world.issuers.name("down"));
        let start = Instant::now();
        while !self.open.running.output().contains(&words) && start.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = self.open.running.output();
        let before: Vec<_> = output.lines().filter_map(|line| Some(line.split_once(&*words)?.0)).collect();
        self.has_level(&words, &before, &["info"]);
        Ok(())
    }
}
