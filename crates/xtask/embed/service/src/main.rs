//! A service with all three kinds of engine: the one that comes with Orbgate, one of a policy that is
//! read when the program starts, and one of a policy that was compiled into the program.

use std::error::Error;
use std::fs;

use orbgate::{Engine, Policy, Request, Token};

static BUILT_IN: &Engine = Engine::external();
static BUILD_TIME: &Engine = orbgate::include_policy!("prints.v2");

fn main() -> Result<(), Box<dyn Error>> {
    let run_time = Engine::new(&Policy::from_yaml(&fs::read_to_string("run-time.yaml")?)?);

    say(
        "built in",
        BUILT_IN,
        b"POST",
        b"/api/v1/external/voxies/prompt/run",
        "write:voxies",
    );
    say(
        "built in",
        BUILT_IN,
        b"POST",
        b"/api/v1/external/voxies/prompt/run",
        "read:voxies",
    );
    say("run time", &run_time, b"GET", b"/shelves/7", "read:shelves");
    say(
        "run time",
        &run_time,
        b"GET",
        b"/api/v1/external/voxies",
        "read:shelves",
    );
    say(
        "build time",
        BUILD_TIME,
        b"POST",
        b"/v2/prints/7/copies",
        "read:prints write:prints",
    );
    say(
        "build time",
        BUILD_TIME,
        b"DELETE",
        b"/v2/prints/7/copies",
        "write:prints",
    );
    for scopes in ["admin", "export:prints write:prints", "write:prints"] {
        say("build time", BUILD_TIME, b"GET", b"/v2/prints/7", scopes);
    }
    say("build time", BUILD_TIME, b"GET", b"/v2/prints/new", "admin");
    Ok(())
}

fn say(name: &str, engine: &Engine, method: &[u8], target: &[u8], scopes: &str) {
    let decision = engine.decide(&Request {
        method,
        target,
        token: Some(Token::user(scopes)),
        allow_bonus_orbs_use: true,
    });
    let answer = if decision.is_allow() { "allow" } else { "deny" };
    let route = decision.route_name().unwrap_or("-");
    let scope = decision.scope().map_or("-", |scope| scope.name());
    print!("{name}: {answer} {} {route} {scope}", decision.reason());
    match decision.charge() {
        Some(charge) => println!(" consumes={} amount={:?}", charge.consumes, charge.amount),
        None => println!(),
    }
}
