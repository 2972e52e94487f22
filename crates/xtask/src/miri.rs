//! `cargo xtask miri`: what has `unsafe`, the core's one module and the C ABI, under an interpreter that sees
//! every access outside its bounds, every leak and every race.

use anyhow::Result;

use crate::program::Program;

pub(crate) fn run() -> Result<()> {
    let install = "rustup toolchain install nightly --profile minimal --component miri,rust-src --no-self-update";
    Program::parse(install).run()?;
    let core = "-p orbgate --no-default-features --lib scan";
    let capi = "-p orbgate-capi --lib";
    // Few random cases: the interpreter is some hundred times slower than the machine.
    for (cases, tests) in [(16, core), (4, capi)] {
        let environment = format!("PROPTEST_CASES={cases} MIRIFLAGS=-Zmiri-disable-isolation");
        let test = format!("{environment} rustup run nightly cargo miri test {tests}");
        Program::parse(&test).run()?;
    }
    Ok(())
}
