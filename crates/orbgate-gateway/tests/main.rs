//! The tests of the gateway, one program. Those with real proxies start with `cargo xtask test gateway`.

mod proxies;
mod questions;
mod support;
