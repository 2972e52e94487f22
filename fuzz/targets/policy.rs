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
        // No alternative contains another, so each needs all its scopes.
        for scopes in route.requirement().alternatives() {
            let names: Vec<_> = scopes.map(|scope| scope.name()).collect();
            let allows = |names: &[&str]| {
                let names = names.join(" ");
                let decide = |token| engine.decide_route(route.id(), Some(token), true).is_allow();
                let set = engine.scopes(&names);
                assert_eq!(decide(Token::user(&set)), decide(Token::user(&names)), "{names}");
                decide(Token::user(&names))
            };
            assert!(allows(&names), "{names:?}");
            for lacking in 0..names.len() {
                assert!(!allows(&[&names[..lacking], &names[lacking + 1..]].concat()), "{names:?}");
            }
        }
        let owned: Vec<_> = route.requirement().of_owner().map(|scope| scope.name()).collect();
        let owned = owned.join(" ");
        let token = Some(Token::user(&owned));
        let request =
            Request { method: route.method().as_bytes(), target: target.as_bytes(), token, allow_bonus_orbs_use: true };
        let decision = engine.decide(&request);
        let by_id = engine.decide_route(route.id(), token, true);
        assert!(by_id.is_allow(), "{}", route.as_str());
        if decision.about() == Some(route) {
            assert_eq!(decision, by_id, "{target}");
        } else {
            let templates = engine.routes().map(|route| route.template());
            let mut templates = templates.chain(engine.closed().map(|closed| closed.template()));
            assert!(templates.any(|other| other.split('/').any(|segment| segment == "~")), "{target}");
        }
        // Nothing without a token.
        assert!(!engine.decide(&Request { token: None, ..request }).is_allow());
    }
}
