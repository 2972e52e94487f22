//! Numbers, values and synthetic policies: what a branch predictor cannot learn, and large policies.

use core::fmt::Write;

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
