#![doc = include_str!("../README.md")]
#![allow(clippy::disallowed_methods, reason = "a server reads files and the clock; the rules that it asks do neither")]

mod admin;
mod answers;
mod audit;
mod authorizer;
mod authzen;
mod body;
mod config;
mod connection;
mod errors;
mod files;
mod fragment;
mod grpc;
mod ledger;
mod listen;
mod mode;
mod peers;
mod probe;
mod promises;
mod question;
mod reload;
mod run;
mod sockets;
mod state;
mod tls;
mod tokenless;

// The public interface is:
pub use crate::config::{Config, ConfigError};
pub use crate::probe::{OLDEST, probe};
pub use crate::run::{Checked, check, run};
pub use crate::state::StartError;
