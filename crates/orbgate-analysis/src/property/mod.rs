//! Statements about all requests of some callers, proved by checking every template. In a test file, a line:
//! `CLAIM | CALLERS | CALLS, CALLS`.

mod callers;
mod calls;
mod proof;
mod statement;

pub use self::callers::Callers;
pub use self::calls::Calls;
pub use self::proof::{Proof, Witness};
pub use self::statement::{Claim, Property};
