//! Keys that rotate, forged keys, and issuers that are down, slow, send huge responses, or lie.

use core::time::Duration;
use std::time::Instant;

use anyhow::Result;

use crate::exchange::issuer::{Conduct, Issuer};
use crate::exchange::recipe::Recipe;
use crate::exchange::suite::{Open, Sent, Suite};
use crate::exchange::world::ISSUERS;

const CALL: (&[u8], &[u8]) = (b"GET", b"/api/v1/external/orbs");
const SCOPE: &str = "read:orbs";

pub(crate) fn run(suite: &Suite) -> Result<()> {
    let open = suite.open("external")?;
    let group = Keys { suite, open: &open };
    group.of("main", true)?;
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
    group.down()?;
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
            let mut longest = Duration::ZERO;
            for client in clients {
                longest = longest.max(client.join().unwrap()?);
            }
            if longest < Duration::from_secs(2) {
                self.suite.fail(format!("keys: no client of a slow issuer waited: {longest:?}"));
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
        let asked = || self.suite.world.issuers.with("asked", |issuer| issuer.asked);
        let (before, start) = (asked(), Instant::now());
        for number in 0..60 {
            let mut recipe = Recipe::of("user", SCOPE).from("asked");
            recipe = recipe.header("kid", format!("forged-{number}"));
            self.put(recipe, false, "keys: a forged `kid`")?;
            self.of("asked", true)?;
        }
        let most = 5 + start.elapsed().as_secs() / 7;
        let attempts = asked() - before;
        if attempts == 0 || u64::try_from(attempts)? > most {
            self.suite
                .fail(format!("keys: forged names of keys\n  the issuer was asked {attempts} times, not 1 to {most}"));
        }
        Ok(())
    }

    /// No server listens at first; later, one does.
    fn down(&self) -> Result<()> {
        self.refuses("down")?;
        let world = &self.suite.world;
        world.start_down()?;
        // Without keys, the issuer is asked every second.
        std::thread::sleep(Duration::from_millis(1500));
        self.of("down", true)?;
        Ok(())
    }
}
