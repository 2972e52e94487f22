//! Test cases for a policy: requests, and their expected decisions.

mod cases;
mod coverage;
mod expected;
mod read;
mod words;

pub use self::cases::{Case, Proved, Stated, Suite, Tried};
pub use self::coverage::{Coverage, CoveredRow, Outcome};
pub use self::expected::{Difference, Expected, ExpectedOrbs};
