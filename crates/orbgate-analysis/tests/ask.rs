//! What questions refuse. Their answers are compared with the command's, in the tests of `orbgate-cli`.

use orbgate::Engine;
use orbgate_analysis::{AskError, ask};

#[test]
fn wrong_questions_and_arguments_are_named() {
    for (question, arguments, message) in [
        (
            "why",
            "{}",
            "no question is `why`: check, diff, explain, lint, needs, reach, table, unused, who",
        ),
        ("", "{}", "no question is ``: "),
        (
            "table",
            "",
            "arguments: EOF while parsing a value at line 1 column 0",
        ),
        (
            "table",
            "[]",
            "arguments: invalid type: sequence, expected an object",
        ),
        ("table", r#"{"x":1}"#, "arguments: unknown field `x`"),
        ("reach", "{}", "arguments: missing field `token`"),
        (
            "who",
            r#"{"method":"GET","target":"/","tokens":[["a",null]]}"#,
            "arguments: invalid type: sequence, expected an object",
        ),
        (
            "reach",
            r#"{"token":{"scopes":""}}"#,
            "arguments: missing field `kind`",
        ),
        (
            "needs",
            r#"{"calls":[{"method":"GET"}]}"#,
            "arguments: missing field `target`",
        ),
        (
            "needs",
            r#"{"token":"partner","calls":[]}"#,
            "arguments: unknown variant `partner`",
        ),
        (
            "needs",
            r#"{"calls":[],"calls":[]}"#,
            "arguments: duplicate field `calls`",
        ),
        (
            "who",
            r#"{"method":"GET","target":"/","tokens":[{}]}"#,
            "arguments: missing field `token`",
        ),
        (
            "lint",
            r#"{"policy":"","levels":{"overlap":"fatal"}}"#,
            "arguments: `overlap: fatal` is no code with a level",
        ),
        (
            "lint",
            r#"{"policy":"","levels":{"overlaps":"off"}}"#,
            "arguments: `overlaps: off` is no code with a level",
        ),
        (
            "diff",
            r#"{"policy":"","fail_on":["dearer"]}"#,
            "arguments: no change is of a kind `dearer`",
        ),
    ] {
        let error = ask(Engine::external(), question, arguments).unwrap_err();
        assert!(
            error.to_string().starts_with(message),
            "{question}: {error}"
        );
    }
    let error = ask(Engine::external(), "diff", r#"{"policy":"orbgate: 2\n"}"#).unwrap_err();
    let AskError::Policy(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.diagnostics()[0].location.line, 1);
    let deep = "[".repeat(200_000);
    assert!(matches!(
        ask(Engine::external(), "who", &deep),
        Err(AskError::Arguments(_))
    ));
}

#[test]
fn a_token_of_an_unknown_kind_reaches_nothing() {
    let answer = ask(
        Engine::external(),
        "reach",
        r#"{"token":{"kind":"partner","scopes":"read:orbs"}}"#,
    );
    assert!(
        answer
            .unwrap()
            .ends_with(r#""token":{"kind":"unknown","scopes":"read:orbs"},"allowed":[]}"#)
    );
}
