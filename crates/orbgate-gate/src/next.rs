//! What follows when a request's credentials are known.

use orbgate_token::VerifiedToken;

use crate::answer::Answer;
use crate::mcp::reading::Reading;

/// What follows when a request's credentials are known: its result, or its body, which names an operation of MCP.
#[derive(Debug)]
#[must_use = "a request that is not answered is not protected"]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
#[expect(clippy::large_enum_variant, reason = "nearly every request has an answer")]
pub enum Next<'e, T = VerifiedToken> {
    /// The result.
    Answer(Answer<'e, T>),
    /// Read the body, and [decide](crate::Rules::decide_body) by it.
    ReadBody(Reading<T>),
}
