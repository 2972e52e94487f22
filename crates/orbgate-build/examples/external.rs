//! Writes the module of the built-in engine: `cargo xtask external` runs it.
#![allow(clippy::disallowed_methods, reason = "a program for the project's own people, which writes a file")]

use core::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../orbgate/");
    let module = orbgate_build::module(format!("{root}policy/external.yaml"))?;
    Ok(std::fs::write(format!("{root}src/tables/external.rs"), module)?)
}
