#![doc = include_str!("../README.md")]

mod check;
mod contract;
mod documents;
mod ends;
mod finding;
mod known;
mod message;
mod metrics;
mod present;
mod record;
mod request;
mod rules;
#[cfg(feature = "schema")]
mod schema;
mod shape;

// The public interface is:
pub use crate::contract::{Contract, Mode, Report};
pub use crate::documents::Checker;
pub use crate::finding::{ContractError, Finding};
pub use crate::message::{Message, Role};
pub use crate::metrics::{Metrics, Timer};
pub use crate::record::{ContentType, Metadata, ModelExtra, ProviderData, RunInput, RunRecord, Status};
pub use crate::request::RunRequest;
