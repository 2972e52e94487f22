//! Which parts of a text are kept when it is read.

/// What of a document is kept, by the keys that lead to it.
pub trait Keep: Copy {
    /// Most collections within collections that are kept.
    const DEPTH: usize;
    /// Most values that are kept.
    const VALUES: usize;

    /// What is kept of the value of a key; `None`: nothing.
    fn of(self, key: &str) -> Option<Self>;

    /// What is kept of an item of a list.
    fn item(self) -> Option<Self>;
}

/// All of a file.
#[derive(Clone, Copy)]
pub(super) struct All;

impl Keep for All {
    /// The deepest valid file has seven.
    const DEPTH: usize = 8;
    const VALUES: usize = usize::MAX;

    fn of(self, _: &str) -> Option<Self> {
        Some(self)
    }

    fn item(self) -> Option<Self> {
        Some(self)
    }
}
