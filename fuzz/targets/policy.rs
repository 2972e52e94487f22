//! Any bytes as a policy: errors with locations inside the text, or an engine that decides each of its own routes as it says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orbgate::{Engine, Policy, Request, Token};

fuzz_target!(|text: &str| {
    match Policy::from_yaml(text) {
        Ok(policy) => decides_its_own_routes(&Engine::new(&policy)),
        Err(error) => {
            // Both characters may end a line.
            let lines = text.split(['\n', '\r']).count() + 1;
            assert!(!error.diagnostics().is_empty());
            for diagnostic in error.diagnostics() {
                assert!((1..=lines).contains(&(diagnostic.location.line as usize)), "{error:?}");
                assert!(!diagnostic.message.contains('\n'), "{error:?}");
            }
        }
    }
});

fn decides_its_own_routes(engine: &Engine) {
    for route in engine.routes() {
        // No template but this one fits, unless another has the literal `~` there.
        let value = |segment| {
            if str::starts_with(segment, "{") { "~" } else { segment }
        };
        let target = route.template().split('/').map(value).collect::<Vec<_>>().join("/");
        let token = Some(Token::user(route.scope().name()));
        let request =
            Request { method: route.method().as_bytes(), target: target.as_bytes(), token, allow_bonus_orbs_use: true };
        let decision = engine.decide(&request);
        let by_id = engine.decide_route(route.id(), token, true);
        assert!(by_id.is_allow(), "{}", route.as_str());
        if decision.about() == Some(route) {
            assert_eq!(decision, by_id, "{target}");
        } else {
            assert!(engine.routes().any(|other| other.template().split('/').any(|segment| segment == "~")), "{target}");
        }
        // Nothing without a token.
        assert!(!engine.decide(&Request { token: None, ..request }).is_allow());
    }
}
