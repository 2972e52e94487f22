//! The values of a file, each with its location.

use std::borrow::Cow;

use crate::location::Location;
use crate::spanned::Spanned;

/// A value of the file.
#[derive(Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Where it starts.
    pub location: Location,
    /// What it is.
    pub kind: Content<'a>,
}

impl Node<'_> {
    /// What was read of it, with its location.
    pub const fn spanned<T>(&self, value: T) -> Spanned<T> {
        Spanned {
            location: self.location,
            value,
        }
    }
}

/// What a value is by YAML's syntax alone.
#[derive(Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Text, a number or null: that depends on who reads it.
    Scalar(Scalar<'a>),
    /// A list.
    Sequence(Vec<Node<'a>>),
    /// Keys and their values, in the order of the file.
    Mapping(Vec<Entry<'a>>),
    /// Already reported; says nothing about what was meant.
    Refused,
}

/// Text, and whether it was written plain: without quotes, and not as a block.
#[derive(Debug, PartialEq, Eq)]
pub struct Scalar<'a> {
    /// The text, without quotes and escapes.
    pub text: Cow<'a, str>,
    /// Whether it was written plain.
    pub plain: bool,
}

/// One `key: value`.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Where the key starts.
    pub key_location: Location,
    /// The key.
    pub key: Scalar<'a>,
    /// Its value.
    pub value: Node<'a>,
}
