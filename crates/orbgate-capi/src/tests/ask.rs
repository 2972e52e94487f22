//! Questions: the rows that the command also answers, and invalid arguments.

use core::ptr::{null, null_mut};

use orbgate_analysis::Form;

use super::expected::Expected;
use super::{OK, compiled, external, said, text, told};
use crate::ask::{ORBGATE_ANSWER_FIELDS, ORBGATE_ANSWER_JSON, OrbgateAnswer, orbgate_answer_free, orbgate_engine_ask};
use crate::engine::{OrbgateEngine, orbgate_engine_free};
use crate::status::OrbgateStatus;
use crate::text::OrbgateStr;

/// The result, or the status and the error message.
#[expect(clippy::panic_in_result_fn, reason = "a test checks what the library writes")]
fn ask(engine: *const OrbgateEngine, question: &str, arguments: &str) -> Result<String, (OrbgateStatus, String)> {
    let (mut answer, mut json, mut error) = (null_mut(), OrbgateStr::NULL, null_mut());
    let ((question, question_len), (arguments, len)) = (text(question), text(arguments));
    unsafe {
        let form = ORBGATE_ANSWER_JSON;
        let status = orbgate_engine_ask(
            engine,
            question,
            question_len,
            arguments,
            len,
            form,
            &mut answer,
            &mut json,
            &mut error,
        );
        if status != OK {
            assert!(answer.is_null());
            let (code, message) = told(error);
            assert_eq!(code, status.number());
            return Err((status, message));
        }
        assert!(error.is_null());
        let json = said(json).to_owned();
        orbgate_answer_free(answer);
        Ok(json)
    }
}

#[test]
#[cfg(not(miri))] // it reads files
fn questions_are_answered_as_by_the_command() {
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy/cases");
    let rows = std::fs::read_to_string(format!("{policy}/questions.jsonl")).unwrap();
    let mut count = 0;
    for row in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let engine = match row["engine"].as_str() {
            None => external(),
            Some(name) => {
                let path = format!("{policy}/policies/{name}.yaml");
                compiled(&std::fs::read_to_string(path).unwrap())
            }
        };
        let question = row["question"].as_str().unwrap();
        let answer = ask(engine, question, &row["arguments"].to_string()).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer, row["answer"], "{question}");
        unsafe { orbgate_engine_free(engine) }
        count += 1;
    }
    assert_eq!(count, 40);
}

#[test]
fn what_cannot_be_answered_is_an_error() {
    let engine = external();
    let refused = |question, arguments| ask(engine, question, arguments).unwrap_err();
    let invalid = OrbgateStatus::InvalidArgument;
    let errors = [
        refused("why", "{}"),
        refused("reach", "{"),
        refused("reach", "{}"),
        refused("diff", r#"{"policy":"orbgate: 2\n"}"#),
    ];
    let statuses = errors.each_ref().map(|(status, _)| *status);
    let not_found = OrbgateStatus::NotFound;
    assert_eq!(statuses, [not_found, invalid, invalid, OrbgateStatus::InvalidPolicy]);
    let mut expected = Expected::default();
    expected.add("why", [&errors[0].1]);
    expected.add("reach {}", [&errors[2].1]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "questions");
    assert!(errors[3].1.starts_with("1:"), "{errors:?}");
    assert_eq!(ask(null(), "table", "{}").unwrap_err().0, invalid);
    let mut answer: *mut OrbgateAnswer = null_mut();
    let (data, len) = text("table");
    unsafe {
        // Invalid UTF-8, no arguments, no room for the result, and no receiver for the error.
        let bad = [0xff_u8];
        let (mut json, nobody) = (OrbgateStr::NULL, null_mut());
        let status = orbgate_engine_ask(engine, bad.as_ptr().cast(), 1, data, len, 0, &mut answer, &mut json, nobody);
        assert_eq!(status, invalid);
        let status = orbgate_engine_ask(engine, data, len, null(), 2, 0, &mut answer, &mut json, nobody);
        assert_eq!(status, invalid);
        let status = orbgate_engine_ask(engine, data, len, data, len, 0, null_mut(), &mut json, nobody);
        assert_eq!(status, invalid);
        let status = orbgate_engine_ask(engine, data, len, data, len, 0, &mut answer, null_mut(), nobody);
        assert_eq!(status, invalid);
        // No such form.
        let forms = [ORBGATE_ANSWER_JSON, ORBGATE_ANSWER_FIELDS].map(Form::of);
        assert_eq!(forms, [Some(Form::Json), Some(Form::Fields)]);
        let form = ORBGATE_ANSWER_FIELDS + 1;
        let status = orbgate_engine_ask(engine, data, len, data, len, form, &mut answer, &mut json, nobody);
        assert_eq!(status, invalid);
        assert!(answer.is_null());
        orbgate_answer_free(null_mut());
        orbgate_engine_free(engine);
    }
}
