//! A program that only needs the engine that comes with Orbgate, and depends on nothing else.

use orbgate::{Engine, Request, Token};

fn main() {
    let decision = Engine::external().decide(&Request {
        method: b"GET",
        target: b"/api/v1/external/keys",
        token: Some(Token::organisation("read:keys")),
        allow_bonus_orbs_use: false,
    });
    println!("{}", decision.reason());
}
