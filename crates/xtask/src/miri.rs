//! `cargo xtask miri`: the core's one module with `unsafe`, under an interpreter that sees every
//! access outside its bounds.

use anyhow::Result;

use crate::program::Program;

pub(crate) fn run() -> Result<()> {
    let install = "rustup toolchain install nightly --profile minimal --component miri,rust-src --no-self-update";
    Program::parse(install).run()?;
    // Few random cases: the interpreter is some hundred times slower than the machine.
    let environment = "PROPTEST_CASES=16 MIRIFLAGS=-Zmiri-disable-isolation";
    let test = "rustup run nightly cargo miri test -p orbgate --no-default-features --lib scan";
    Program::parse(&format!("{environment} {test}")).run()
}
