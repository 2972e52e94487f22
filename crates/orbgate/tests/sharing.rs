//! What may be shared between threads, and that sharing changes nothing.

use core::panic::{RefUnwindSafe, UnwindSafe};

use orbgate::{Decision, Engine, Policy, PolicyError, Request, ScopeSet, Token};

#[test]
fn everything_is_send_sync_and_unwind_safe() {
    fn check<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    check::<Engine>();
    check::<Policy>();
    check::<PolicyError>();
    check::<ScopeSet>();
    check::<Decision<'static>>();
    check::<Request<'static>>();
}

#[test]
fn eight_threads_decide_alike() {
    let decide = || {
        let answer = |target: &str| {
            let decision = Engine::external().decide(&Request {
                method: b"GET",
                target: target.as_bytes(),
                token: Some(Token::user("read:orbs")),
                allow_bonus_orbs_use: false,
            });
            (decision.reason(), decision.route_name())
        };
        let targets = ["/api/v1/external/orbs", "/api/v1/external/account", "/nowhere", "//"];
        targets.map(answer)
    };
    let expected = decide();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(move || (0..1_000).all(|_| decide() == expected))).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    });
}
