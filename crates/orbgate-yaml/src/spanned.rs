//! A value that knows its place in the file.

use serde::Deserialize;
use serde::de::Deserializer;

use crate::place::Place;

/// A value and its place. Places do not count when two values are compared.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// Where it is; the default if the file was read without places.
    pub place: Place,
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
        T::deserialize(deserializer).map(|value| Self {
            place: Place::default(),
            value,
        })
    }
}
