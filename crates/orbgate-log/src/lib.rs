#![doc = include_str!("../README.md")]

mod access_line;
mod delimited;
mod escape;
mod request_line;

/// The longest line, in bytes. A reader of logs need keep at most one byte more of a line.
pub const LINE_LIMIT: usize = 16 * 1024 * 1024;

/// What is wrong with a line that has nothing but spaces.
pub const BLANK: &str = "blank line";

/// What is wrong with a line of more than [`LINE_LIMIT`] bytes.
pub const TOO_LONG: &str = "longer than 16 MiB";

// The public interface is:
pub use crate::access_line::{AccessLine, Call, Field};
pub use crate::delimited::{DelimitedRow, Diagnostic, MOST_LINES};
pub use crate::escape::shown;
pub use crate::request_line::{RequestLine, ScopeStrings, Subject, TokenObject};
