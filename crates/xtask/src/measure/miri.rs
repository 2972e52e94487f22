//! `cargo xtask miri`: the core's one module with `unsafe`, and the C ABI, under an interpreter that sees every access
//! outside its bounds, every leak and every race.

use anyhow::Result;

use crate::kit::program::Program;

pub(crate) fn run() -> Result<()> {
    let install = "rustup toolchain install nightly --profile minimal --component miri,rust-src --no-self-update";
    Program::parse(install).run()?;
    let core = "-p orbgate --no-default-features --lib -- vector scopes";
    let capi = "-p orbgate-capi --lib";
    // What threads share, in many of the orders that weak memory allows.
    let reload = "-p orbgate-capi --lib every_decision_of_a_handle";
    let seeds = " -Zmiri-many-seeds=0..16";
    for (tests, seeds) in [(core, ""), (capi, ""), (reload, seeds)] {
        // Few random cases: the interpreter is some hundred times slower than the machine.
        let test = format!("PROPTEST_CASES=4 rustup run nightly cargo miri test {tests}");
        let interpreter = format!("-Zmiri-disable-isolation{seeds}");
        Program::parse(&test).env("MIRIFLAGS", interpreter).run()?;
    }
    Ok(())
}
