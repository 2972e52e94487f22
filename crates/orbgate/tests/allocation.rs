//! A decision allocates nothing, whatever it is asked, and threads may share an engine.

use core::panic::{RefUnwindSafe, UnwindSafe};

use allocation_counter::measure;
use orbgate::{Decision, Engine, Policy, PolicyError, Reason, Request, ScopeSet, Scopes, Token, TokenKind};

#[test]
fn a_decision_allocates_nothing() {
    let engine = Engine::external();
    let set = engine.scopes("write:voxies read:orbs");
    let text = "read:orbs write:voxies write:files";
    let long = format!("/api/v1/external/store/{}", "x".repeat(9_000));
    let deep = "/a".repeat(40);
    let targets = [
        "/api/v1/external/voxies/prompt/run",
        "/api/v1/external/voxies/prompt",
        "/api/v1/external/voxies/PROMPT/run",
        "/api/v1/external/voxies/42/run?x=%00",
        "/api/v1/external/store/%40me",
        "/api/v1/external//store",
        "/nowhere/at/all",
        "",
        &long,
        &deep,
    ];
    let mut reasons = Vec::with_capacity(1_000);
    let counted = measure(|| {
        for target in targets {
            for scopes in [Scopes::from(text), Scopes::from(&set)] {
                for kind in [TokenKind::User, TokenKind::Organisation, TokenKind::Unknown] {
                    for token in [None, Some(Token { kind, scopes })] {
                        let decision = engine.decide(&Request {
                            method: b"POST",
                            target: target.as_bytes(),
                            token,
                            allow_bonus_orbs_use: true,
                        });
                        // Reading the answer allocates nothing, too.
                        let read = (decision.route(), decision.api(), decision.charge(), decision.location());
                        core::hint::black_box(read);
                        reasons.push(decision.reason());
                        let decision = engine.decide_scope("write:inference", token, true);
                        reasons.push(decision.reason());
                    }
                }
            }
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    for reason in [
        Reason::MalformedRequest,
        Reason::NoToken,
        Reason::InvalidToken,
        Reason::NoRoute,
        Reason::MethodNotDeclared,
        Reason::UserTokenRequired,
        Reason::ScopeMissing,
        Reason::ScopeHeld,
    ] {
        assert!(reasons.contains(&reason), "{reason} was not tried");
    }
}

/// 128 alternatives of 255 scopes, tried until the last, as text and as a set.
#[test]
fn a_decision_about_alternatives_allocates_nothing() {
    let pairs: Vec<_> = (1..128).map(|at| format!("read:{at} audit:{at}")).collect();
    let others: String =
        pairs.iter().flat_map(|pair| pair.split(' ')).map(|scope| format!("{scope}: {{ routes: [] }}, ")).collect();
    let policy = format!(
        "orbgate: 1\napis: {{ a: {{ base_path: '', scopes: {{ {others}own: {{ orbs: 5, or: [{}], routes: [GET /a] }} }} }} }}\n",
        pairs.join(", ")
    );
    let engine = Engine::new(&Policy::from_yaml(&policy).unwrap());
    let last = engine.routes().next().unwrap().requirement().alternatives().last().unwrap().to_string();
    let half: Vec<_> = (1..128).map(|at| format!("audit:{at}")).collect();
    let texts = [last, half.join(" ")];
    let sets = texts.each_ref().map(|text| engine.scopes(text));
    let mut allowed = Vec::with_capacity(8);
    let counted = measure(|| {
        for scopes in texts.iter().map(Scopes::from).chain(sets.iter().map(Scopes::from)) {
            let token = Some(Token { kind: TokenKind::User, scopes });
            let decision = engine.decide(&Request { method: b"GET", target: b"/a", token, allow_bonus_orbs_use: true });
            let listed = decision.requirement().map(|requirement| requirement.alternatives().flatten().count());
            assert_eq!(listed, Some(255));
            allowed.push(decision.is_allow());
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert_eq!(allowed, [true, false, true, false]);
}

#[test]
fn interning_scopes_allocates_nothing_up_to_128() {
    let engine = Engine::external();
    let counted = measure(|| {
        core::hint::black_box(engine.scopes("read:orbs write:voxies unknown"));
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

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
