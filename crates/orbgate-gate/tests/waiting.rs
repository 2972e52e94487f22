//! Which tokens wait for keys, and for how long: a slow issuer must not stall callers whose keys are there.

use core::time::Duration;

use orbgate::Engine;
use orbgate_gate::{Answer, Gate, Request, Rules, Step, Waiting};
use orbgate_testing::signer::{Signer, claims, header, now, with};
use orbgate_token::{Fetch, FetchError, FetchSettings, KeyCache, Now};

use crate::exchange::{serve, verifier};

const TIMEOUT: u64 = 5_000;
const MOST: usize = 1_024;

struct World {
    gate: Gate,
    signer: Signer,
    ms: u64,
}

impl World {
    fn new() -> Self {
        let keys = KeyCache::new(verifier(), FetchSettings::default()).unwrap();
        let world = Self { gate: Gate::new(Rules::new(), keys), signer: Signer::p256(), ms: 0 };
        assert_eq!(world.gate.warm(Duration::ZERO).len(), 1);
        let fetch = world.fetch().unwrap();
        world.serve(fetch, &["key-1"]);
        world
    }

    fn now(&self) -> Now {
        Now { time: now(), monotonic: Duration::from_millis(self.ms) }
    }

    fn fetch(&self) -> Option<Fetch> {
        self.gate.next_fetch(self.now().monotonic)
    }

    /// The issuer answers an attempt with these keys.
    fn serve(&self, first: Fetch, kids: &[&str]) {
        let keys: Vec<_> = kids.iter().map(|kid| self.signer.jwk(kid)).collect();
        serve(&self.gate, Some(first), &keys, self.now().monotonic);
    }

    fn ask(&self, kid: &str, holds_thread: bool) -> Step<'static> {
        let claims = with(claims(), "scope", "read:orbs");
        let token = self.signer.token(&with(header(), "kid", kid), &claims);
        let bearer = format!("Bearer {token}");
        let request = Request {
            method: b"GET",
            target: b"/api/v1/external/orbs",
            authorization: &[bearer.as_bytes()],
            holds_thread,
            ..Request::default()
        };
        let engine = Engine::external();
        self.gate.ask(engine, &request, self.now())
    }

    fn resume(&self, waiting: Waiting) -> Step<'static> {
        let engine = Engine::external();
        self.gate.resume(engine, waiting, self.now())
    }

    /// Asks with as many tokens of unknown keys; those that wait, each with when its wait is over at the latest, and the number of
    /// those that are refused at once.
    fn flood(&self, count: usize, holds_thread: bool) -> (Vec<(u64, Waiting)>, usize) {
        let steps = (0..count).map(|at| self.ask(&format!("forged-{}-{at}", self.ms), holds_thread));
        let (mut waiting, mut refused) = (Vec::new(), 0);
        for step in steps {
            match step {
                Step::Wait(wait) => waiting.push((until(&wait), wait)),
                answer => {
                    assert_eq!(answered(answer).refused(), Some("key_unknown"));
                    refused += 1;
                }
            }
        }
        (waiting, refused)
    }

    fn is_served(&self) -> bool {
        answered(self.ask("key-1", true)).denial.is_none()
    }
}

fn answered(step: Step<'static>) -> Answer<'static> {
    match step {
        Step::Answer(answer) => answer,
        other => panic!("{other:?}"),
    }
}

fn waits(step: Step<'static>) -> Waiting {
    match step {
        Step::Wait(waiting) => waiting,
        other => panic!("{other:?}"),
    }
}

fn until(waiting: &Waiting) -> u64 {
    u64::try_from(waiting.wait().until.as_millis()).unwrap()
}

#[test]
fn a_slow_issuer_holds_a_bounded_share_and_stalls_nobody_else() {
    let mut world = World::new();
    world.ms = 10;
    let (waiting, refused) = world.flood(MOST + 100, false);
    assert_eq!((waiting.len(), refused), (MOST, 100));
    assert_eq!(world.gate.keys().waiting(), 1_024);
    assert!(world.fetch().is_some(), "the issuer is asked, and says nothing");
    let (long, brief): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(until, _)| *until == 10 + TIMEOUT);
    assert_eq!((long.len(), brief.len()), (MOST / 2, MOST / 2));
    assert!(world.is_served());
    // After a second, half of them are refused, and nothing else waits for as short.
    world.ms = 1_010;
    for (until, waiting) in brief {
        assert_eq!(until, 1_010);
        assert!(world.gate.is_over(waiting.wait(), world.now().monotonic));
        assert_eq!(answered(world.resume(waiting)).refused(), Some("key_unknown"));
    }
    let (waiting, refused) = world.flood(10, false);
    assert_eq!((waiting.len(), refused), (0, 10), "past the share, at once");
    assert!(world.is_served());
    // No token waits for longer than one fetch may take.
    world.ms = 10 + TIMEOUT;
    for (_, waiting) in long {
        assert!(world.gate.is_over(waiting.wait(), world.now().monotonic));
        assert_eq!(answered(world.resume(waiting)).refused(), Some("key_unknown"));
    }
    assert_eq!(world.gate.keys().waiting(), 0);
    // The issuer fails, so only the share waits for the next attempt.
    let (waiting, refused) = world.flood(MOST, false);
    assert_eq!((waiting.len(), refused), (MOST / 2, MOST / 2));
    assert!(world.is_served());
    // Whoever goes away gives the place back.
    drop(waiting);
    assert_eq!(world.gate.keys().waiting(), 0);
}

#[test]
fn one_request_holds_a_thread_for_long() {
    let mut world = World::new();
    world.ms = 10;
    let (waiting, refused) = world.flood(12, true);
    let waits: Vec<_> = waiting.iter().map(|(until, _)| until - 10).collect();
    assert_eq!(refused, 0);
    assert_eq!(waits[0], TIMEOUT);
    assert_eq!(waits[1..], [1_000; 11]);
    // Tasks are not counted among threads.
    let (tasks, _) = world.flood(1, false);
    assert_eq!(tasks[0].0, 10 + TIMEOUT);
    world.ms = 10 + TIMEOUT;
    drop(waiting);
    let fetch = world.fetch();
    let late = fetch.map(|fetch| {
        let failed = Err(FetchError::Timeout);
        world.gate.fetched(fetch.attempt, failed, world.now().monotonic)
    });
    assert_eq!(late.flatten(), None);
    let (waiting, refused) = world.flood(12, true);
    assert_eq!((waiting.len(), refused), (1, 11), "the issuer fails");
}

/// Honest callers wait together, and none is refused.
#[test]
fn a_thousand_callers_with_a_new_key_are_all_served() {
    for holds_thread in [false, true] {
        for is_under_way in [false, true] {
            let mut world = World::new();
            world.ms = 100_000;
            // An attempt that began before the issuer had the new key does not have it.
            let earlier = is_under_way.then(|| (world.ask("forged", false), world.fetch().unwrap()));
            world.ms += 100;
            let mut waiting: Vec<_> = (0..1_000).map(|_| waits(world.ask("key-2", holds_thread))).collect();
            if let Some((forged, fetch)) = earlier {
                world.ms += 100;
                world.serve(fetch, &["key-1"]);
                let resumed = waiting.into_iter().map(|it| waits(world.resume(it)));
                waiting = resumed.collect();
                drop(forged);
            }
            world.ms += 500;
            let fetch = world.fetch().unwrap();
            world.serve(fetch, &["key-1", "key-2"]);
            for waiting in waiting {
                assert!(world.gate.is_over(waiting.wait(), world.now().monotonic));
                let answer = answered(world.resume(waiting));
                assert_eq!(answer.denial, None, "{holds_thread} {is_under_way}");
            }
            assert!(world.fetch().is_none());
        }
    }
}

/// An issuer that is restarted with a new key fails at once, and then has it: honest callers wait for that, as they do without a failure. One
/// that failed slowly is waited for by the share only.
#[test]
fn a_thousand_callers_with_a_new_key_are_served_right_after_failures() {
    for holds_thread in [false, true] {
        for (took, refused) in [(20, 0), (999, 0), (1_000, if holds_thread { 999 } else { 488 })] {
            let mut world = World::new();
            world.ms = 100_000;
            for at in 0..2 {
                let forged = world.ask(&format!("forged-{at}"), false);
                let fetch = world.fetch().unwrap();
                world.ms += took;
                let failed = Err(FetchError::Status(503));
                let now = world.now().monotonic;
                assert_eq!(world.gate.fetched(fetch.attempt, failed, now), None);
                drop(forged);
            }
            world.ms += 1;
            let steps = (0..1_000).map(|_| world.ask("key-2", holds_thread));
            let (waiting, others): (Vec<_>, Vec<_>) = steps.partition(|step| matches!(step, Step::Wait(_)));
            assert_eq!(others.len(), refused, "{holds_thread} {took}");
            world.ms += 500;
            let fetch = world.fetch().unwrap();
            world.serve(fetch, &["key-1", "key-2"]);
            for waiting in waiting.into_iter().map(waits) {
                assert!(world.gate.is_over(waiting.wait(), world.now().monotonic));
                assert_eq!(answered(world.resume(waiting)).denial, None);
            }
        }
    }
}

/// A token that waited for an attempt of before does not wait for another as long again.
#[test]
fn two_attempts_take_no_longer_than_one_may() {
    let mut world = World::new();
    world.ms = 1_000;
    let forged = waits(world.ask("forged", false));
    let fetch = world.fetch().unwrap();
    world.ms = 4_000;
    let waiting = waits(world.ask("key-2", false));
    assert_eq!((until(&forged), until(&waiting)), (6_000, 6_000));
    world.ms = 5_000;
    world.serve(fetch, &["key-1"]);
    let waiting = waits(world.resume(waiting));
    assert_eq!(until(&waiting), 4_000 + TIMEOUT);
    assert!(world.fetch().is_some());
    world.ms = 4_000 + TIMEOUT;
    assert!(world.gate.is_over(waiting.wait(), world.now().monotonic));
    assert_eq!(answered(world.resume(waiting)).refused(), Some("key_unknown"));
}
