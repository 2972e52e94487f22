//! `cargo xtask miri`: what has `unsafe`, the core's one module and the C ABI, under an interpreter that sees
//! every access outside its bounds, every leak and every race.

use anyhow::Result;

use crate::program::Program;

pub(crate) fn run() -> Result<()> {
    let install = "rustup toolchain install nightly --profile minimal --component miri,rust-src --no-self-update";
    Program::parse(install).run()?;
    // It knows AVX2 where it is told that the processor has it, and no AVX-512.
    let core = "-p orbgate --no-default-features --lib scan -- --skip avx512";
    let avx2 = "-C target-feature=+avx2,+bmi1,+bmi2,+lzcnt,+popcnt";
    let capi = "-p orbgate-capi --lib";
    for (tests, flags) in [(core, avx2), (capi, "")] {
        // Few random cases: the interpreter is some hundred times slower than the machine.
        let environment = "PROPTEST_CASES=4 MIRIFLAGS=-Zmiri-disable-isolation";
        let test = format!("{environment} rustup run nightly cargo miri test {tests}");
        Program::parse(&test).env("RUSTFLAGS", flags).run()?;
    }
    Ok(())
}
