//! The values of a file, each with its location: the line and the column.

use core::fmt;
use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Deserializer;

/// A location in a file. Both numbers start at 1; the column counts characters, not bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Location {
    /// The start of the file, for errors about the whole file.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

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

/// A value and its location. Comparisons ignore the location.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The location; the default if the file was read without locations.
    pub location: Location,
    /// The value.
    pub value: T,
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(|value| Self { location: Location::default(), value })
    }
}
