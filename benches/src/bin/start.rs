//! A program with the built-in engine in it, for `cargo xtask bench --instructions`, which counts its instructions:
//! `start N` makes N decisions, and `start 0` is all that the engine costs a program that never asks it.

use std::hint::black_box;

use orbgate::{Engine, Request, Token};

fn main() {
    let decisions = std::env::args().nth(1).and_then(|text| text.parse().ok());
    for _ in 0..decisions.unwrap_or(0_u32) {
        let request = Request {
            method: b"POST",
            target: b"/api/v1/external/voxies/prompt/run",
            token: Some(Token::user("read:voxies write:voxies")),
            allow_bonus_orbs_use: false,
        };
        let decision = Engine::external().decide(black_box(&request));
        assert!(black_box(decision).is_allow());
    }
}
