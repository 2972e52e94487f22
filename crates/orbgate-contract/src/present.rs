//! Optional nullable members, for which "absent" and "null" differ.

use serde::{Deserialize, Deserializer};

/// Reads a member that is present: even `null` becomes a `Some` value. `Default` handles absent
/// members.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
