#![doc = include_str!("../README.md")]

mod diagnostics;
mod document;
mod encoding;
mod hover;
mod layout;
mod navigation;
mod queue;
mod server;
mod settings;
mod wire;

// The public interface is:
pub use crate::server::{End, serve};
