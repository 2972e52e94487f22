//! Finds changes for callers when one policy replaces another.

mod change;
mod compare;
#[cfg(feature = "serde")]
mod json;
mod summary;

pub use self::change::{Asked, Caller, Change, Cost, Rule};
pub use self::compare::{Counts, Diff, Verdict, diff};
pub use self::summary::Summary;
