//! The issuers' servers: what they are asked for, and what comes of it.

use core::time::Duration;

use orbgate_token::{Fetch, FetchError, Response};
use serde_json::json;

use super::{Held, Known, MS, World};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Server {
    Good,
    Refusing,
    Lying,
    /// Nobody ever hears of it again.
    Lost,
}

/// An attempt that a server has to answer.
pub(super) struct Flight {
    pub(super) fetch: Fetch,
    pub(super) began: Duration,
    /// It is reported then; `None`: never.
    pub(super) due: Option<Duration>,
    pub(super) server: Server,
    pub(super) kids: Vec<u64>,
    pub(super) max_age: u64,
    pub(super) discarded: bool,
    /// A wrong signature has started it.
    pub(super) aside: bool,
}

impl World {
    pub(super) fn jwks(&self, kids: &[u64]) -> Vec<u8> {
        let keys = kids.iter().map(|kid| {
            let mut jwk = self.jwks[usize::try_from(*kid).unwrap()].clone();
            jwk["kid"] = kid.to_string().into();
            jwk
        });
        json!({ "keys": keys.collect::<Vec<_>>() }).to_string().into_bytes()
    }

    /// Takes what there is to fetch, and judges whether it may be fetched.
    pub(super) fn start_fetches(&mut self, asker: usize, kid: u64) {
        while let Some(fetch) = self.gate.next_fetch(self.monotonic) {
            assert!(fetch.attempt.number() > self.latest, "attempts are numbered");
            self.latest = fetch.attempt.number();
            let of = |known: &Known| fetch.url.starts_with(&format!("{}/", known.name));
            let issuer = self.issuers.iter().position(of).unwrap();
            assert_eq!(issuer, asker, "nobody has asked for another issuer's keys");
            self.judge_attempt(issuer, kid);
            let known = &mut self.issuers[issuer];
            assert!(known.flight.is_none(), "two attempts at once");
            let path = if known.discovers { "/.well-known/openid-configuration" } else { "/jwks" };
            assert_eq!(fetch.url, format!("{}{path}", known.name));
            assert_eq!((fetch.max_bytes, fetch.timeout), (262_144, self.settings.timeout));
            self.take_off(issuer, fetch, false);
        }
    }

    /// Takes what there is to fetch after a wrong signature: one attempt in a cooldown, unless one is under way.
    pub(super) fn start_aside(&mut self, issuer: usize) {
        let known = &self.issuers[issuer];
        let rested = known.refused.is_none_or(|at| self.monotonic >= at + self.settings.cooldown);
        let may = rested && known.flight.is_none() && known.aside.is_none();
        let fetch = self.gate.next_fetch(self.monotonic);
        assert_eq!(fetch.is_some(), may, "{:?} after {:?}", self.monotonic, known.refused);
        if let Some(fetch) = fetch {
            assert!(fetch.attempt.number() > self.latest, "attempts are numbered");
            self.latest = fetch.attempt.number();
            assert!(fetch.url.starts_with(&format!("{}/", known.name)));
            assert_eq!(self.gate.next_fetch(self.monotonic), None);
            self.issuers[issuer].refused = Some(self.monotonic);
            self.take_off(issuer, fetch, true);
            self.meet("for a wrong signature");
        }
    }

    fn take_off(&mut self, issuer: usize, fetch: Fetch, aside: bool) {
        let known = &mut self.issuers[issuer];
        let delay = MS(self.random.below(3_000));
        let flight = Flight {
            due: (known.server != Server::Lost).then_some(self.monotonic + delay),
            fetch,
            began: self.monotonic,
            server: known.server,
            kids: known.published.clone(),
            max_age: known.max_age,
            discarded: false,
            aside,
        };
        known.put(flight);
    }

    /// An attempt that nobody reports is over when its time is.
    pub(super) fn see_expiry(&mut self, issuer: usize) {
        let known = &mut self.issuers[issuer];
        let is_over = |flight: &Flight| self.monotonic >= flight.began + self.settings.timeout;
        let is_aside_over = known.aside.as_ref().is_some_and(is_over);
        if is_aside_over {
            known.aside = None;
        }
        if known.flight.as_ref().is_some_and(is_over) {
            known.flight = None;
            self.meet("expired");
        }
    }

    /// Hands over what servers have answered by now.
    pub(super) fn deliver(&mut self) {
        for issuer in 0..self.issuers.len() {
            let is_due = |flight: &mut Flight| flight.due.is_some_and(|due| due <= self.monotonic);
            let known = &mut self.issuers[issuer];
            let due = [known.flight.take_if(is_due), known.aside.take_if(is_due)];
            for flight in due.into_iter().flatten() {
                self.answer(issuer, flight);
            }
        }
    }

    pub(super) fn answer(&mut self, issuer: usize, mut flight: Flight) {
        let now = self.monotonic;
        let name = self.issuers[issuer].name.clone();
        let before = self.gate.keys().status()[issuer].clone();
        let until = flight.began + self.settings.timeout;
        if flight.fetch.url.ends_with("/openid-configuration") && flight.server == Server::Good {
            let document = json!({"issuer": name, "jwks_uri": format!("{name}/keys")}).to_string();
            let response = ok(document.as_bytes(), None);
            let next = self.gate.fetched(flight.fetch.attempt, Ok(response), now);
            assert_eq!(next.is_some(), now < until, "the keys come after their address, in time");
            if let Some(next) = next {
                assert_eq!(next.url, format!("{name}/keys"));
                assert_eq!(next.timeout, until - now);
                flight.fetch = next;
                flight.due = Some(now + MS(self.random.below(3_000)));
                self.issuers[issuer].put(flight);
            }
            return;
        }
        let body = self.jwks(&flight.kids);
        let cache_control = format!("max-age={}", flight.max_age);
        let lie = json!({"issuer": "https://evil.example", "jwks_uri": "https://evil.example/"}).to_string();
        let result = match flight.server {
            Server::Good => Ok(ok(&body, Some(&cache_control))),
            Server::Refusing => Err(FetchError::Unreachable),
            _ => Ok(ok(lie.as_bytes(), None)),
        };
        assert_eq!(self.gate.fetched(flight.fetch.attempt, result, now), None);
        let after = self.gate.keys().status()[issuer].clone();
        let known = &mut self.issuers[issuer];
        if flight.discarded || now < until && known.brought > flight.fetch.attempt.number() {
            assert_eq!(after, before, "what is discarded, or older than the keys, changes nothing");
            if !flight.discarded {
                self.meet("older than the keys");
            }
        } else if flight.server != Server::Good {
            assert!(after.failure.is_some());
            assert_eq!((after.keys, after.fetched), (before.keys, before.fetched));
        } else if now >= until {
            assert_eq!(after.fetched, before.fetched, "what comes too late does not count");
        } else {
            assert_eq!((after.failure, after.fetched), (None, Some(now)));
            known.brought = flight.fetch.attempt.number();
            known.held =
                Some(Held { kids: flight.kids, since: now, ttl: Duration::from_secs(flight.max_age.clamp(60, 3600)) });
        }
        self.meet("fetched");
    }
}

impl Known {
    fn put(&mut self, flight: Flight) {
        match flight.aside {
            true => self.aside = Some(flight),
            false => self.flight = Some(flight),
        }
    }
}

pub(super) const fn ok<'a>(body: &'a [u8], cache_control: Option<&'a str>) -> Response<'a> {
    Response { status: 200, cache_control, body }
}
