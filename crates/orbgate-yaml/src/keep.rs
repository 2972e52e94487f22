//! Selects which parts of a document are kept when it is read.

/// The parts of a document that are kept, selected by the keys that lead to them.
pub trait Keep: Copy {
    /// The maximum nesting depth of collections that are kept.
    const DEPTH: usize;
    /// The maximum number of values that are kept.
    const VALUES: usize;

    /// The parts of a key's value that are kept; `None` for nothing.
    fn of(self, key: &str) -> Option<Self>;

    /// The parts of a list item that are kept.
    fn item(self) -> Option<Self>;
}

/// Keeps the whole file.
#[derive(Clone, Copy)]
pub(super) struct All;

impl Keep for All {
    /// The deepest valid file has seven levels.
    const DEPTH: usize = 8;
    const VALUES: usize = usize::MAX;

    fn of(self, _: &str) -> Option<Self> {
        Some(self)
    }

    fn item(self) -> Option<Self> {
        Some(self)
    }
}
