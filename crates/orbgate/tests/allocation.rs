//! A decision allocates nothing, whatever it is asked.

use allocation_counter::measure;
use orbgate::{Engine, Reason, Request, Scopes, Token, TokenKind};

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

#[test]
fn interning_scopes_allocates_nothing_up_to_128() {
    let engine = Engine::external();
    let counted = measure(|| {
        core::hint::black_box(engine.scopes("read:orbs write:voxies unknown"));
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}
