#![doc = include_str!("../README.md")]

mod check;
mod contract;
mod documents;
mod read;
mod record;
mod request;
#[cfg(feature = "schema")]
mod schema;

// The public interface is:
pub use crate::contract::{Contract, ContractError, Finding, Mode, Report};
pub use crate::documents::Checker;
pub use crate::record::{
    ContentType, Message, Metadata, Metrics, ModelExtra, ProviderData, Role, RunInput, RunRecord, Status, Timer,
};
pub use crate::request::RunRequest;
