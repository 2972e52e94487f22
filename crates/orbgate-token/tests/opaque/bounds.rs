//! Floods, silence and events in any order: what stays bounded, and what is never accepted.

use std::collections::{HashMap, VecDeque};

use orbgate_testing::signer::{Signer, claims, header, now, with};
use orbgate_token::{Asked, Fetch, FetchError, TokenError};
use proptest::prelude::*;

use super::{World, active, seconds};

#[test]
fn a_flood_waits_in_bounds_and_a_known_token_never_waits() {
    let mut world = World::new(60);
    assert!(world.says("good", &active()).is_ok());
    let mut waiting = VecDeque::new();
    for number in 0..5_000 {
        let (progress, verdict) = world.ask(&format!("junk-{number}"));
        match verdict {
            None => waiting.push_back((number, progress)),
            Some(verdict) => assert_eq!(verdict, Err(TokenError::Unanswered)),
        }
        assert!(world.known("good").unwrap().is_ok());
    }
    assert_eq!(waiting.len(), 512, "half of `max_waiting`");
    let mut fetches: VecDeque<_> = world.fetches().into();
    assert_eq!(fetches.len(), 32);
    // A token that needs keys has a place of its own. Here, no issuer has keys, which is known without waiting.
    let signed = Signer::p256().token(&header(), &with(claims(), "iss", "https://b.example"));
    assert_eq!(world.known(&signed), Some(Err(TokenError::Issuer)));
    // As fast as answers come, the next ones have their turn.
    let mut served = 0;
    while let Some(fetch) = fetches.pop_front() {
        world.report(&fetch, 200, br#"{"active":false}"#);
        served += 1;
        fetches.extend(world.fetches());
        assert!(fetches.len() <= 32);
    }
    assert_eq!(served, 512);
    for (number, mut progress) in waiting {
        let verdict = world.again(&format!("junk-{number}"), &mut progress);
        assert_eq!(verdict, Some(Err(TokenError::Inactive)));
    }
    // A flood of refused tokens pushes out no good one.
    for number in 0..200_000 {
        let token = format!("more-{number}");
        let (_progress, _) = world.ask(&token);
        for fetch in world.fetches() {
            world.report(&fetch, 200, br#"{"active":false}"#);
        }
    }
    world.ms = 59_999;
    assert!(world.known("good").unwrap().is_ok());
}

/// Threads read their clocks before they reach the cache, so a fetch may be taken at an earlier time than it was asked for.
#[test]
fn no_fetch_may_take_longer_than_the_setting() {
    let mut world = World::new(60);
    world.ms = 100;
    let (_progress, _) = world.ask("good");
    world.ms = 90;
    assert_eq!(world.fetch().unwrap().timeout.as_millis(), 5_000);
}

/// With a silent endpoint, no request waits for longer than 5 s, and half of them wait for a second.
#[test]
fn nobody_waits_for_long() {
    let mut world = World::new(60);
    let waiting: Vec<_> = (0..512).map(|number| (number, world.ask(&number.to_string()).0)).collect();
    assert_eq!(world.fetches().len(), 32);
    let still = |world: &World, waiting: Vec<(i32, Asked)>| {
        let mut still = Vec::new();
        for (number, mut progress) in waiting {
            if world.again(&number.to_string(), &mut progress).is_none() {
                still.push((number, progress));
            }
        }
        still
    };
    world.ms = 999;
    let waiting = still(&world, waiting);
    assert_eq!(waiting.len(), 512);
    world.ms = 1_000;
    let waiting = still(&world, waiting);
    assert_eq!(waiting.len(), 256);
    world.ms = 5_000;
    assert_eq!(still(&world, waiting).len(), 0);
    assert_eq!(world.cache.waiting(), 0);
    // Nobody has reported of the 32: the endpoint fails.
    assert_eq!(world.known("t"), Some(Err(TokenError::Unanswered)));
}

#[derive(Clone, Debug)]
enum Act {
    Ask(u8),
    Answer(bool),
    Fail,
    Revoke(u8),
    Pass(u16),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..6_u8).prop_map(Act::Ask),
        4 => any::<bool>().prop_map(Act::Answer),
        1 => Just(Act::Fail),
        1 => (0..6_u8).prop_map(Act::Revoke),
        2 => (1..4_000_u16).prop_map(Act::Pass),
    ]
}

proptest! {
    /// Whatever comes in which order: no token is accepted that was revoked longer ago than is stated, or that has ended before it was
    /// asked about, and no request waits for longer than 5 s.
    #[test]
    fn no_order_of_events_revives_a_token(acts in prop::collection::vec(act(), 1..150)) {
        const MAX: u64 = 10_000;
        let mut world = World::new(MAX / 1_000);
        let mut revoked: HashMap<u8, u64> = HashMap::new();
        let mut under_way: VecDeque<(Fetch, u8, bool)> = VecDeque::new();
        let mut waiting: Vec<(u8, u64, Asked)> = Vec::new();
        for act in acts {
            match act {
                Act::Ask(token) => waiting.push((token, world.ms, world.cache.ask(world.now().monotonic))),
                Act::Answer(first) => {
                    let next = if first { under_way.pop_front() } else { under_way.pop_back() };
                    if let Some((fetch, token, is_active)) = next {
                        // Each token ends at a time of its own.
                        let end = seconds(now()) + 5 + 5 * u64::from(token);
                        let answer = with(with(active(), "exp", end), "active", is_active);
                        world.report(&fetch, 200, answer.to_string().as_bytes());
                    }
                }
                Act::Fail => if let Some((fetch, ..)) = under_way.pop_front() {
                    world.fail(&fetch, FetchError::Unreachable);
                },
                Act::Revoke(token) => drop(revoked.entry(token).or_insert(world.ms)),
                Act::Pass(ms) => world.ms += u64::from(ms),
            }
            let mut still = Vec::new();
            for (token, at, mut progress) in core::mem::take(&mut waiting) {
                match world.again(&format!("token-{token}"), &mut progress) {
                    None => still.push((token, at, progress)),
                    Some(Ok(_)) => {
                        let too_late = revoked.get(&token).is_some_and(|revoked| at >= revoked + MAX);
                        prop_assert!(!too_late, "{token} was revoked at {:?}", revoked.get(&token));
                        let end = 5_000 + 5_000 * u64::from(token);
                        // The issuer was asked after the question, and the clocks may differ by a minute.
                        prop_assert!(world.ms < end + 60_000);
                    }
                    Some(Err(_)) => {}
                }
            }
            waiting = still;
            let is_late = |(_, at, _): &(u8, u64, Asked)| world.ms >= at + 5_000;
            prop_assert!(!waiting.iter().any(is_late));
            for fetch in world.fetches() {
                let body = fetch.post.as_ref().unwrap().body().to_owned();
                let token: u8 = body["token=token-".len()..].split('&').next().unwrap().parse().unwrap();
                // What the endpoint says is of the time when it is asked.
                let is_active = !revoked.contains_key(&token);
                under_way.push_back((fetch, token, is_active));
            }
            prop_assert!(under_way.len() <= 200);
        }
    }
}
