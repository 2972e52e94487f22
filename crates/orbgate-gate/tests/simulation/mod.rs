//! A gate in virtual time, under requests, fetches, failures, rotations, forged keys and clocks in random orders. The
//! table of `orbgate-token`'s README, written a second time, judges what it does.

mod judge;
mod server;

use core::time::Duration;
use std::collections::{HashMap, HashSet};

use orbgate::Engine;
use orbgate::Reason;
use orbgate_gate::{Gate, Matched, Request, Rules, Step, Waiting};
use orbgate_testing::signer::{AUDIENCE, NOW, Signer, at, base64url};
use orbgate_token::{Algorithm, AttemptId, FetchSettings, Issuer, KeyCache, KindRules, Now, Verifier};
use serde_json::json;

use crate::answered;

use self::server::{Flight, Server, ok};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Numbers that look random, and are the same for the same seed.
struct Random(u64);

impl Random {
    const fn next(&mut self) -> u64 {
        // xorshift64*, Vigna 2016.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    const fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let position = self.below(u64::try_from(from.len()).unwrap());
        from[usize::try_from(position).unwrap()]
    }

    const fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// What the world and the judge know of an issuer.
struct Known {
    name: String,
    discovers: bool,
    server: Server,
    max_age: u64,
    /// The numbers of the keys that it publishes.
    published: Vec<u64>,
    /// What the gate must have: the keys, since when, and for how long.
    held: Option<Held>,
    revoked: HashSet<u64>,
    flight: Option<Flight>,
    /// The attempt that a wrong signature has started, and when the last one began.
    aside: Option<Flight>,
    refused: Option<Duration>,
    /// The latest attempt that brought keys.
    brought: u64,
    /// When attempts began, since the issuer was forgotten, with the `kid` that was unknown.
    begun: Vec<(Duration, Option<u64>)>,
    /// Keys that the issuer was asked for, and did not have, and when it said so.
    missing: HashMap<u64, Duration>,
}

#[derive(Clone)]
struct Held {
    kids: Vec<u64>,
    since: Duration,
    ttl: Duration,
}

struct Pending {
    waiting: Waiting,
    asking: Asking,
}

/// A request, and what it has waited for.
struct Asking {
    issuer: usize,
    kid: u64,
    /// The latest attempt when it asked.
    before: u64,
    since: Duration,
    waits: Vec<u64>,
    expires: u64,
    matched: Matched<'static>,
    bonus: bool,
    /// Signed with another key than the one it names.
    forged: bool,
}

const ROUTE: &str = "/api/v1/external/voxies";

struct World {
    random: Random,
    gate: Gate,
    settings: FetchSettings,
    /// A key for each number.
    jwks: &'static [serde_json::Value],
    monotonic: Duration,
    wall: u64,
    issuers: Vec<Known>,
    pending: Vec<Pending>,
    latest: u64,
    /// What a run has met, so that no seed tests nothing.
    met: HashMap<&'static str, u64>,
}

impl World {
    fn new(seed: u64, jwks: &'static [serde_json::Value]) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let settings =
            FetchSettings { max_stale: MS(random.pick(&[0, 30_000, 3_600_000])), ..FetchSettings::default() };
        let issuer = |number: usize| Known {
            name: format!("https://issuer-{number}.example"),
            discovers: number > 0,
            server: Server::Good,
            max_age: 600,
            published: vec![1],
            held: None,
            revoked: HashSet::new(),
            flight: None,
            aside: None,
            refused: None,
            brought: 0,
            begun: Vec::new(),
            missing: HashMap::new(),
        };
        let issuers: Vec<_> = (0..3).map(issuer).collect();
        let rules = issuers.iter().map(|known| {
            let kind = KindRules::named_by("token_kind", "user", "organisation");
            let issuer = Issuer::new(&known.name, AUDIENCE, kind).algorithms([Algorithm::Es256]);
            match known.discovers {
                true => issuer,
                false => issuer.jwks_uri(format!("{}/jwks", known.name)),
            }
        });
        let verifier = Verifier::new(rules).unwrap();
        let keys = KeyCache::new(verifier, settings).unwrap();
        Self {
            random,
            gate: Gate::new(Rules::new(), keys.signatures_outside()),
            settings,
            jwks,
            monotonic: Duration::ZERO,
            wall: NOW,
            issuers,
            pending: Vec::new(),
            latest: 0,
            met: HashMap::new(),
        }
    }

    fn now(&self) -> Now {
        Now { time: at(self.wall), monotonic: self.monotonic }
    }

    fn meet(&mut self, what: &'static str) {
        *self.met.entry(what).or_default() += 1;
    }

    fn step(&mut self) {
        match self.random.below(40) {
            0..16 => self.ask(),
            16..24 => self.resume(),
            24..33 => self.pass_time(),
            33..35 => self.change_issuer(),
            35 => self.wall = self.wall + self.random.below(7_200) - 3_600,
            36 if self.random.one_in(8) => self.forget(),
            37 if self.random.one_in(8) => self.revoke(),
            38 => self.report_something_old(),
            _ => self.pass_time(),
        }
        self.deliver();
    }

    fn pass_time(&mut self) {
        let span = self.random.pick(&[10, 300, 2_000, 9_000, 60_000, 900_000]);
        // Long pauses are rarer, because keys are over after them.
        let span = if span > 9_000 && !self.random.one_in(4) { 500 } else { span };
        let span = self.random.below(span) + 1;
        self.monotonic += MS(span);
        self.wall += span / 1000;
    }

    fn change_issuer(&mut self) {
        let which = self.random.pick(&[0, 1, 2]);
        let pick = self.random.below(8);
        let server = match self.random.below(6) {
            0..3 => Server::Good,
            3 => Server::Refusing,
            4 => Server::Lying,
            _ => Server::Lost,
        };
        let max_age = self.random.pick(&[0, 60, 600, 100_000]);
        let issuer = &mut self.issuers[which];
        if pick < 4 {
            issuer.server = server;
            issuer.max_age = max_age;
        } else {
            let next = issuer.published.iter().max().unwrap() + 1;
            issuer.published.push(next);
            if issuer.published.len() > 2 {
                issuer.published.remove(0);
            }
        }
    }

    fn forget(&mut self) {
        let issuer = self.random.pick(&[0, 1, 2]);
        self.gate.keys().forget(&self.issuers[issuer].name);
        let known = &mut self.issuers[issuer];
        if let Some(flight) = &mut known.flight {
            flight.discarded = true;
        }
        (known.aside, known.refused) = (None, None);
        known.held = None;
        known.begun.clear();
        known.missing.clear();
        self.meet("forgotten");
    }

    fn revoke(&mut self) {
        let which = self.random.pick(&[0, 1, 2]);
        let kid = self.issuers[which].published[0];
        self.gate.keys().revoke(&self.issuers[which].name, &kid.to_string());
        self.issuers[which].revoked.insert(kid);
    }

    /// A report of an attempt that is over, or never was, changes nothing.
    fn report_something_old(&mut self) {
        let flying = self.issuers.iter().flat_map(|known| known.flight.iter().chain(&known.aside));
        let flying: HashSet<_> = flying.map(|flight| flight.fetch.attempt).collect();
        let old = AttemptId::of(self.random.below(self.latest + 3));
        if !flying.contains(&old) {
            let keys = |world: &Self| {
                let status = world.gate.keys().status();
                status.into_iter().map(|status| (status.keys, status.fetched)).collect::<Vec<_>>()
            };
            let before = keys(self);
            let body = self.jwks(&[99]);
            let next = self.gate.fetched(old, Ok(ok(&body, None)), self.monotonic);
            assert_eq!(next, None);
            assert_eq!(keys(self), before);
        }
    }

    /// A request with a good or a forged token.
    fn ask(&mut self) {
        let issuer = self.random.pick(&[0, 1, 2]);
        let newest = *self.issuers[issuer].published.iter().max().unwrap();
        let kid = match self.random.below(8) {
            0 => 1_000 + self.random.below(3), // a forged one, again and again
            1 => 2_000 + self.random.below(1_000_000),
            2 => newest.saturating_sub(1).max(1),
            _ => newest,
        };
        let expires = self.wall + self.random.below(1_200);
        let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": kid.to_string()});
        let claims = json!({
            "iss": self.issuers[issuer].name, "aud": AUDIENCE, "exp": expires, "scope": "write:voxies", "token_kind": "user",
        });
        let parts = [header.to_string(), claims.to_string()].map(base64url);
        let bearer = format!("Bearer {}.{}.{}", parts[0], parts[1], base64url([1; 64]));
        let authorization: &[&[u8]] = &[bearer.as_bytes()];
        let names: [&[&[u8]]; 4] = [&[], &[], &[b"accept"], &[b"X-Method_Override"]];
        let upgrades: [&[&[u8]]; 4] = [&[], &[], &[b"websocket"], &[b"foo, h2c"]];
        let templates =
            [Matched::Nothing, Matched::Template(ROUTE), Matched::Template("/api/v1/external/{all}"), Matched::Unknown];
        let matched = self.random.pick(&templates);
        let request = Request {
            method: self.random.pick(&[b"POST", b"POST", b"POST", b"post"]),
            target: ROUTE.as_bytes(),
            authorization,
            upgrade: self.random.pick(&upgrades),
            header_names: self.random.pick(&names),
            matched,
            allow_bonus_orbs_use: self.random.one_in(2),
            ..Request::default()
        };
        let is_malformed =
            request.method != b"POST" || request.upgrade == upgrades[3] || request.header_names == names[3];
        let step = self.gate.ask(Engine::external(), &request, self.now());
        if is_malformed {
            return self.see_malformed(step);
        }
        let asking = Asking {
            issuer,
            kid,
            before: self.latest,
            since: self.monotonic,
            waits: Vec::new(),
            expires,
            matched,
            bonus: request.allow_bonus_orbs_use,
            forged: self.random.one_in(3),
        };
        self.follow(step, asking);
    }

    /// It is answered whatever keys there are, and no attempt begins for it.
    fn see_malformed(&mut self, step: Step<'static>) {
        let Step::Answer(answer) = step else {
            panic!("{step:?}");
        };
        assert_eq!(answer.decision.reason(), Reason::MalformedRequest);
        assert_eq!((answer.refused(), answer.token()), (None, None));
        assert_eq!(self.gate.next_fetch(self.monotonic), None);
        self.meet("malformed");
    }

    fn resume(&mut self) {
        let now = self.monotonic;
        let is_over = |pending: &Pending| self.gate.is_over(pending.waiting.wait(), now);
        let Some(position) = self.pending.iter().position(is_over) else {
            return;
        };
        let pending = self.pending.swap_remove(position);
        let step = self.gate.resume(Engine::external(), pending.waiting, self.now());
        self.follow(step, pending.asking);
    }

    fn follow(&mut self, step: Step<'static>, mut asking: Asking) {
        let Asking { issuer, kid, before, since, .. } = asking;
        let waits = &mut asking.waits;
        self.see_expiry(issuer);
        let rested = self.has_rested(issuer);
        self.start_fetches(issuer, kid);
        match step {
            Step::Wait(waiting) => {
                waits.push(waiting.wait().attempt.number());
                let own = waits.iter().filter(|attempt| **attempt > before).count();
                let distinct: HashSet<_> = waits.iter().collect();
                assert!(own <= 1, "waits twice: {waits:?} after {before}");
                assert!(waits.len() <= 2 && distinct.len() == waits.len(), "{waits:?}");
                let until = waiting.wait().until;
                assert!(self.monotonic < until && until <= since + self.settings.timeout);
                self.meet("waits");
                self.pending.push(Pending { waiting, asking });
            }
            Step::CheckSignature(checking) => {
                assert_eq!(checking.check().algorithm(), Algorithm::Es256);
                self.judge_key(issuer, kid);
                let is_right = !asking.forged;
                let answer = answered(self.gate.checked(Engine::external(), checking, is_right, self.now()));
                self.judge_answer(&answer, is_right, &asking);
                match is_right {
                    true => assert_eq!(self.gate.next_fetch(self.monotonic), None),
                    false => self.start_aside(issuer),
                }
            }
            Step::Answer(answer) => {
                assert!(answer.token().is_none(), "no token is right without its signature");
                let reason = answer.refused().unwrap();
                self.judge_refusal(&asking, reason, rested);
            }
            Step::ReadBody(reading) => panic!("{reading:?}"),
        }
    }
}

#[test]
fn the_table_holds_in_any_order_of_events() {
    let jwks: Vec<_> = (0..100).map(|_| Signer::p256().jwk("")).collect();
    let jwks = Vec::leak(jwks);
    let mut met: HashMap<&'static str, u64> = HashMap::new();
    for seed in 1..=200 {
        let mut world = World::new(seed, jwks);
        for _ in 0..1_500 {
            world.step();
        }
        for (what, count) in world.met {
            *met.entry(what).or_default() += count;
        }
    }
    let all = [
        "waits",
        "stale",
        "fresh",
        "allowed",
        "denied",
        "no keys",
        "unknown",
        "expired",
        "forgotten",
        "fetched",
        "without keys",
        "due",
        "for an unknown key",
        "for a wrong signature",
        "malformed",
        "misrouted",
        "bonus",
    ];
    for what in all {
        assert!(met.get(what).is_some_and(|count| *count > 50), "{what}: {met:?}");
    }
    // A race between two attempts, so it is rarer.
    assert!(met.get("older than the keys").is_some_and(|count| *count > 20), "{met:?}");
}
