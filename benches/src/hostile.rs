//! Policies and targets that make a decision as costly as it can be, so that its stated bound is measured.

use orbgate::{Engine, Policy};

/// A policy with the target that costs most in it.
pub struct Hostile {
    /// What is costly about it.
    pub name: &'static str,
    /// The policy.
    pub engine: Engine,
    /// Its most costly target.
    pub target: String,
}

/// Segments that are a literal in one template and a parameter in another, in every mixture but one: 63 tuples, the most that a
/// policy may have of one length.
const MIXED: usize = 6;

/// All of them.
#[must_use]
pub fn all() -> Vec<Hostile> {
    vec![
        Hostile {
            name: "tuples",
            engine: engine(&["x"], Some("GET /a/a/a/a/a/a/y/z")),
            target: "/r/a/a/a/a/a/a/y".to_owned(),
        },
        long("case", "A"),
        long("texts", "a"),
    ]
}

/// Templates of nearly 8,192 bytes. All of them fit the target if the case of its letters is ignored.
fn long(name: &'static str, letter: &str) -> Hostile {
    let literals = vec!["a".repeat(250); 24];
    let literals: Vec<_> = literals.iter().map(String::as_str).collect();
    let path = vec![letter.repeat(250); 24].join("/");
    Hostile { name, engine: engine(&literals, None), target: format!("/r/{}{path}", "a/".repeat(MIXED)) }
}

/// A policy with the mixtures before these literals, and perhaps one more route.
fn engine(literals: &[&str], other: Option<&str>) -> Engine {
    let mut yaml = String::from(
        "orbgate: 1\napis:\n  hostile:\n    base_path: /r\n    scopes:\n      scope:\n        orbs: false\n        routes:\n",
    );
    let routes = (1..1_u32 << MIXED).map(|mixture| {
        let mixed = (0..MIXED).map(|at| match mixture >> at & 1 {
            0 => "a".to_owned(),
            _ => format!("{{p{at}}}"),
        });
        let segments: Vec<_> = mixed.chain(literals.iter().map(|text| (*text).to_owned())).collect();
        format!("GET /{}", segments.join("/"))
    });
    for route in routes.chain(other.map(str::to_owned)) {
        yaml.push_str(&format!("          - {route}\n"));
    }
    Engine::new(&Policy::from_yaml(&yaml).expect("a valid policy"))
}
