//! A value with its location in the file.

use serde::Deserialize;
use serde::de::Deserializer;

use crate::location::Location;

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
