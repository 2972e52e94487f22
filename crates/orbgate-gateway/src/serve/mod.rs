//! Sockets, connections and their limits; a new configuration; the program from start to end.

mod admin;
mod connection;
mod fragment;
mod listen;
mod reload;
mod run;
mod sockets;

pub use self::run::{Checked, check, run};
