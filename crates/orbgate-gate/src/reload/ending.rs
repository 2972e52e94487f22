//! What proves that a version is whole.

/// How a version marks its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there are these two marks")]
pub struct Ending {
    /// With the end marker.
    pub marked: bool,
    /// With a valid seal.
    pub sealed: bool,
}

impl Ending {
    /// The union of the two.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self { marked: self.marked || other.marked, sealed: self.sealed || other.sealed }
    }
}
