//! What questions refuse. Their answers are compared with the command's, in the tests of `orbgate-cli`.

use orbgate::Engine;
use orbgate_analysis::{AskError, ask};

use crate::support::expected::Expected;

#[test]
fn wrong_questions_and_arguments_are_named() {
    let mut expected = Expected::default();
    for (question, arguments) in [
        ("why", "{}"),
        ("", "{}"),
        ("table", ""),
        ("table", "[]"),
        ("table", r#"{"x":1}"#),
        ("reach", "{}"),
        ("who", r#"{"method":"GET","target":"/","tokens":[["a",null]]}"#),
        ("reach", r#"{"token":{"scopes":""}}"#),
        ("explain", r#"{"request":{"scope":"read:orbs"},"issued":"user","declared":"read:orbs"}"#),
        ("explain", r#"{"request":{"scope":"read:orbs","token":{"kind":"user"}},"issued":"user"}"#),
        ("explain", r#"{"request":{"scope":"read:orbs"},"issued":"partner"}"#),
        ("needs", r#"{"calls":[{"method":"GET"}]}"#),
        ("needs", r#"{"token":"partner","calls":[]}"#),
        ("needs", r#"{"calls":[],"calls":[]}"#),
        ("who", r#"{"method":"GET","target":"/","tokens":[{}]}"#),
        ("lint", r#"{"policy":"","levels":{"overlap":"fatal"}}"#),
        ("lint", r#"{"policy":"","levels":{"overlaps":"off"}}"#),
        ("diff", r#"{"policy":"","fail_on":["dearer"]}"#),
    ] {
        let error = ask(Engine::external(), question, arguments).unwrap_err();
        expected.add(&format!("{question} {arguments}"), [error]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "ask");
    let error = ask(Engine::external(), "diff", r#"{"policy":"orbgate: 2\n"}"#).unwrap_err();
    let AskError::Policy(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.diagnostics()[0].location.line, 1);
    let deep = "[".repeat(200_000);
    assert!(matches!(ask(Engine::external(), "who", &deep), Err(AskError::Arguments(_))));
}

#[test]
fn a_token_of_an_unknown_kind_reaches_nothing() {
    let answer = ask(Engine::external(), "reach", r#"{"token":{"kind":"partner","scopes":"read:orbs"}}"#);
    assert!(answer.unwrap().ends_with(r#""token":{"kind":"unknown","scopes":"read:orbs"},"allowed":[]}"#));
}
