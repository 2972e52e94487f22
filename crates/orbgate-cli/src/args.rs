//! Arguments that several commands share.

use std::ffi::{OsStr, OsString};

use clap::ValueEnum;
use orbgate::TokenKind;

/// The file name that means standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// The kind of token.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// A user's token
    User,
    /// An organisation's token
    Organisation,
}

impl From<Kind> for TokenKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::User => Self::User,
            Kind::Organisation => Self::Organisation,
        }
    }
}

/// The bytes of an optional argument.
pub(crate) fn given(argument: &Option<OsString>) -> &[u8] {
    argument.as_deref().map_or(&[], bytes)
}

/// The bytes of an argument, even if they aren't UTF-8.
#[cfg(unix)]
pub(crate) fn bytes(argument: &OsStr) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(argument)
}

/// The bytes of an argument. An argument that isn't Unicode stays invalid in every method, target
/// and scope.
#[cfg(not(unix))]
pub(crate) fn bytes(argument: &OsStr) -> &[u8] {
    argument.as_encoded_bytes()
}
