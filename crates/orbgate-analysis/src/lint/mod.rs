//! Finds likely mistakes in valid policies.

mod code;
mod finding;
mod fix;
mod literals;
mod names;
mod overlaps;
mod run;
mod suppress;
mod texts;
mod words;

pub use self::code::{Code, Level, Levels};
pub use self::finding::{Finding, Findings};
pub use self::fix::{Fix, fixes};
pub use self::run::lint;
