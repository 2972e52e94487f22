//! `start` without the engine: the same program, and all that it does instead of deciding is to ask, as the first
//! decision does, what the processor can do.

use std::hint::black_box;

fn main() {
    let decisions = std::env::args().nth(1).and_then(|text| text.parse().ok());
    for _ in 0..decisions.unwrap_or(0_u32) {
        assert!(black_box(knows_processor()));
    }
}

/// Asks for what the engine asks for.
#[cfg(target_arch = "x86_64")]
fn knows_processor() -> bool {
    let is_one = std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("bmi1")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("lzcnt")
        && std::is_x86_feature_detected!("popcnt");
    black_box(is_one);
    true
}

#[cfg(not(target_arch = "x86_64"))]
fn knows_processor() -> bool {
    true
}
