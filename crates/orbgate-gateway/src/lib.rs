#![doc = include_str!("../README.md")]
#![allow(clippy::disallowed_methods, reason = "a server reads files and the clock; the rules that it asks do neither")]

mod authorize;
mod config;
mod probe;
mod protocols;
mod serve;

// The public interface is:
pub use crate::config::error::StartError;
pub use crate::config::{Config, ConfigError};
pub use crate::probe::{OLDEST, probe};
pub use crate::serve::{Checked, check, run};
