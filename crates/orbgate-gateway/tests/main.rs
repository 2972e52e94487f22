//! The tests of the gateway, one program. Those with real proxies start with `cargo xtask test gateway`.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests fail by panicking"
)]

mod alerts;
mod attacks;
mod authzen;
mod each_key;
mod grants;
mod keycloak;
mod ledger;
mod opaque;
mod operation;
mod probe;
mod proxies;
mod questions;
mod reload;
mod remembered;
#[path = "../../orbgate-ledger/tests/postgres/server.rs"]
#[allow(dead_code, reason = "the ledger's tests need more of it")]
mod server;
mod stores;
mod support;
