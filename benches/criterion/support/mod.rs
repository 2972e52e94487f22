//! What the benches share: request streams that a branch predictor cannot learn, and large policies.

use core::fmt::Write;
use std::collections::HashSet;

use orbgate::Engine;

/// A small generator of numbers, the same in every run.
pub struct Numbers(u64);

impl Numbers {
    /// Starts the sequence of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number (SplitMix64).
    pub const fn step(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a limit.
    pub const fn below(&mut self, limit: usize) -> usize {
        (self.step() % limit as u64) as usize
    }
}

/// A request, and the route that it is made for.
pub struct Ask {
    pub method: String,
    pub target: String,
    pub route: String,
    pub scope: String,
}

/// Different requests for the routes of an engine, in random order: every one a hit. A path without a parameter occurs
/// once for each of its methods.
pub fn hits(engine: &Engine, count: usize) -> Vec<Ask> {
    let routes: Vec<_> = engine.routes().collect();
    let mut numbers = Numbers::new(1);
    let mut asks = Vec::with_capacity(count);
    let mut drawn = HashSet::new();
    while asks.len() < count {
        let route = routes[numbers.below(routes.len())];
        let mut target = String::new();
        for segment in route.template().split('/').skip(1) {
            target.push('/');
            if segment.starts_with('{') {
                target.push_str(&value(&mut numbers));
            } else {
                target.push_str(segment);
            }
        }
        if !drawn.insert((route.method(), target.clone())) {
            continue;
        }
        asks.push(Ask {
            method: route.method().to_owned(),
            target,
            route: route.as_str().to_owned(),
            scope: route.scope().name().to_owned(),
        });
    }
    asks
}

/// What clients put into parameters: numbers, slugs, UUIDs.
fn value(numbers: &mut Numbers) -> String {
    let number = numbers.step();
    match number % 4 {
        0 => format!("{}", number >> 44),
        1 => uuid(number),
        2 => format!("item-{}", number >> 50),
        _ => format!("{:x}", number >> 8),
    }
}

/// What looks like a UUID.
pub fn uuid(number: u64) -> String {
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        number as u32,
        number >> 48,
        number & 0xfff,
        number >> 52,
        number >> 16
    )
}

/// A policy of this many routes in YAML, as a large service might have: 60 methods and paths a family.
pub fn policy(routes: usize) -> String {
    let mut yaml = String::from("orbgate: 1\napis:\n  large:\n    base_path: /api/v1\n    scopes:\n");
    let families = routes.div_ceil(60);
    let mut left = routes;
    for family in 0..families {
        writeln!(yaml, "      use:family-{family}:\n        orbs: true\n        routes:").unwrap();
        for kind in 0..12 {
            let (method, template) = match kind {
                0 => ("GET", format!("/family-{family}")),
                1 => ("POST", format!("/family-{family}")),
                2 => ("GET", format!("/family-{family}/{{id}}")),
                3 => ("PATCH", format!("/family-{family}/{{id}}")),
                4 => ("DELETE", format!("/family-{family}/{{id}}")),
                kind => ("POST", format!("/family-{family}/{{id}}/action-{kind}")),
            };
            for part in 0..5 {
                if left > 0 {
                    left -= 1;
                    writeln!(yaml, "          - {method} /part-{part}{template}").unwrap();
                }
            }
        }
    }
    yaml
}
