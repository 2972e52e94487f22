//! Members that may be absent, and may be null: two different things.

use serde::{Deserialize, Deserializer};

/// Reads a member that is there: a `null` is `Some` value, too. Absence is `Default`'s business.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
