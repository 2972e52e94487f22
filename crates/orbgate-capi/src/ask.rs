//! Answers questions about a policy: in JSON, like the command `orbgate`, or as fields for the bindings.

use core::ffi::c_char;

use orbgate_analysis::{AskError, Form, ask_in};

use crate::arguments::{Out, bytes, shared};
use crate::engine::OrbgateEngine;
use crate::error::{OrbgateError, handing_over, refused};
use crate::owners::{drop_owned, into_owned};
use crate::status::OrbgateStatus;
use crate::text::OrbgateStr;

/// The result of a question. Immutable; the caller owns it.
#[derive(Debug)]
pub struct OrbgateAnswer {
    _bytes: Vec<u8>,
}

/// The form of an answer: one JSON document, as `orbgate QUESTION --json` prints it.
pub const ORBGATE_ANSWER_JSON: u32 = 0;

/// The form of an answer: fields, as docs/messages.md describes them.
pub const ORBGATE_ANSWER_FIELDS: u32 = 1;

/// Answers a question about the engine's policy: `check`, `diff`, `explain`, `lint`, `needs`, `reach`, `table`,
/// `unused` or `who`. `arguments` is a JSON object in UTF-8. `*answer` is the result, in this form, an `ORBGATE_ANSWER_*`
/// number.
///
/// `error` works as in `orbgate_engine_from_yaml`. The status is `ORBGATE_STATUS_NOT_FOUND` for an unknown question,
/// `ORBGATE_STATUS_INVALID_ARGUMENT` if the arguments don't match the question, and `ORBGATE_STATUS_INVALID_POLICY` if
/// the policy for `diff` has errors. `check` and `lint` return a policy's errors as their result.
/// Ownership: `*out` owns `*answer`.
/// Allocates: yes. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_ask(
    engine: *const OrbgateEngine,
    question: *const c_char,
    question_len: usize,
    arguments: *const c_char,
    arguments_len: usize,
    form: u32,
    out: *mut *mut OrbgateAnswer,
    answer: *mut OrbgateStr,
    error: *mut *mut OrbgateError,
) -> OrbgateStatus {
    let make = || {
        // SAFETY: the caller guarantees it, see the preamble.
        let engine = unsafe { shared(engine) }.map_err(|status| refused(status, "`engine` is null or misaligned"))?;
        let out = Out::new(out).map_err(|status| refused(status, "`out` is null or misaligned"))?;
        let text_out = Out::new(answer).map_err(|status| refused(status, "`answer` is null or misaligned"))?;
        let form = Form::of(form);
        let form = form.ok_or_else(|| refused(OrbgateStatus::InvalidArgument, "`form` is no form of an answer"))?;
        // SAFETY: the caller guarantees it, see the preamble.
        let question = unsafe { text(question, question_len, "question") }?;
        // SAFETY: the caller guarantees it, see the preamble.
        let arguments = unsafe { text(arguments, arguments_len, "arguments") }?;
        let bytes = ask_in(engine.engine(), question, arguments, form).map_err(no_answer)?;
        // They stay where they are when the vector moves.
        let text = OrbgateStr::of_bytes(&bytes);
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe {
            text_out.write(text);
            out.write(into_owned(OrbgateAnswer { _bytes: bytes }));
        }
        Ok(())
    };
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { handing_over(error, make) }
}

unsafe fn text<'a>(data: *const c_char, len: usize, name: &str) -> Result<&'a str, OrbgateError> {
    // SAFETY: the caller guarantees it, see the preamble.
    let bytes = unsafe { bytes(data, len) }
        .map_err(|status| refused(status, &format!("`{name}` is null, or `{name}_len` no length")))?;
    let invalid = |_| refused(OrbgateStatus::InvalidArgument, &format!("`{name}` is not UTF-8"));
    str::from_utf8(bytes).map_err(invalid)
}

fn no_answer(error: AskError) -> OrbgateError {
    let status = match &error {
        AskError::Policy(error) => return OrbgateError::policy(None, error),
        AskError::Unknown(_) => OrbgateStatus::NotFound,
        AskError::Arguments(_) | AskError::Incomplete => OrbgateStatus::InvalidArgument,
    };
    OrbgateError::new(status, None, error.to_string())
}

/// Removes an owner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_answer_free(answer: *mut OrbgateAnswer) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { drop_owned(answer) }
}
