//! Calls hold orbs before their handlers, and their outcomes settle.

mod amounts;
mod body;
mod driver;
mod held;
mod layer;

pub use self::amounts::{Amounts, AmountsError};
pub use self::body::ChargedBody;
pub use self::driver::{OrbLedger, OrbLedgerError};
pub use self::held::ActualOrbs;
pub use self::layer::{ChargingGate, ChargingLayer};
