//! Makes Rust's side of the messages of gates, which `src/gate/mod.rs` includes.
#![allow(
    dead_code,
    clippy::arithmetic_side_effects,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::panic,
    clippy::std_instead_of_core,
    clippy::unwrap_used,
    reason = "a build script reads, asks and answers so, and wrong messages end the build; the other languages need the rest"
)]

#[path = "src/generate/messages/rust.rs"]
mod rust;
#[path = "src/generate/messages/shape.rs"]
mod shape;

fn main() {
    // Whatever it is made of is in this script.
    println!("cargo::rerun-if-changed=build.rs");
    let file = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap()).join("messages.rs");
    std::fs::write(file, rust::module(&shape::Messages::read())).unwrap();
}
