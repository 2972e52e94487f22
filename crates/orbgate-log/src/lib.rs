#![doc = include_str!("../README.md")]

mod access;
mod delimited;
mod escape;
#[cfg(test)]
#[path = "../../orbgate/tests/support/expected.rs"]
mod expected;
mod instant;
mod request_line;

/// The maximum length of a line, in bytes. A log reader needs to keep at most one byte more.
pub const LINE_LIMIT: usize = 16 * 1024 * 1024;

/// The most bytes to which a compressed log is decompressed. A file of a few megabytes could otherwise be endless.
pub const DECOMPRESSED_LIMIT: u64 = 64 * 1024 * 1024 * 1024;

/// The error for a line that contains only spaces.
pub const BLANK: &str = "blank line";

/// The error for a line that is longer than [`LINE_LIMIT`] bytes.
pub const TOO_LONG: &str = "longer than 16 MiB";

// The public interface is:
pub use crate::access::{AccessLine, AccessLog, Call, Field, Format};
pub use crate::delimited::{DelimitedRow, Diagnostic, MOST_LINES};
pub use crate::escape::shown;
pub use crate::instant::instant;
pub use crate::request_line::{RequestLine, ScopeStrings, Subject, TokenObject};
