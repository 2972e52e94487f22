//! The values of a file, each with its location.

use std::borrow::Cow;

use crate::location::Location;
use crate::spanned::Spanned;

/// A value in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Where it starts.
    pub location: Location,
    /// Its content.
    pub kind: Content<'a>,
}

impl Node<'_> {
    /// A parsed value, with this node's location.
    pub const fn spanned<T>(&self, value: T) -> Spanned<T> {
        Spanned { location: self.location, value }
    }
}

/// The syntactic kind of a value.
#[derive(Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A string, a number or null, depending on the reader.
    Scalar(Scalar<'a>),
    /// A list.
    Sequence(Vec<Node<'a>>),
    /// Keys and their values, in the order of the file.
    Mapping(Vec<Entry<'a>>),
    /// Invalid and already reported. Its meaning is unknown.
    Refused,
}

/// A string, and whether it was written plain: without quotes, and not as a block.
#[derive(Debug, PartialEq, Eq)]
pub struct Scalar<'a> {
    /// The string, without quotes and escapes.
    pub text: Cow<'a, str>,
    /// Whether it was written plain.
    pub plain: bool,
}

/// One `key: value`.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The start of the key.
    pub key_location: Location,
    /// The key.
    pub key: Scalar<'a>,
    /// Its value.
    pub value: Node<'a>,
}
