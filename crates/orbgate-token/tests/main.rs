//! The tests of the public interface, all in one program, so that it is linked once. One file of them:
//! `cargo test -p orbgate-token --all-features --test all claims::`.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unreachable,
    reason = "a test has a clock and locks, and stops at its first surprise"
)]

mod adversary;
mod algorithms;
mod claims;
mod configuration;
mod derive;
mod each_key;
#[cfg(feature = "fetch")]
mod fetch;
mod hostile;
mod issuers;
mod key_file;
mod keys;
mod opaque;
mod oracle;
mod proof;
mod properties;
#[cfg(feature = "fetch")]
mod provider_tokens;
mod refused;
mod remembered;
#[cfg(feature = "fetch")]
mod server;
#[cfg(feature = "test-issuer")]
mod test_issuer;
#[cfg(feature = "test-issuer")]
mod test_server;
