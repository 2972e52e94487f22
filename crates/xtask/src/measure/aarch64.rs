//! `cargo xtask aarch64`: the core's tests on the other architecture, under qemu's user mode.

use anyhow::Result;

use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::project::DECISIONS;
use crate::kit::setup;

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// All of the core's tests.
pub(crate) fn run() -> Result<StepResult> {
    // Fewer random cases: qemu is some ten times slower than the machine.
    test(&["PROPTEST_CASES=64 cargo test -p orbgate --all-features --tests"])
}

/// The step: the tests of decisions alone, without those of tables, which every processor reads with the same code.
pub(crate) fn check() -> Result<StepResult> {
    let tests = DECISIONS.map(|tests| format!("{tests} --skip templates::every_"));
    test(&tests)
}

fn test(commands: &[impl AsRef<str>]) -> Result<StepResult> {
    let linker = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross";
    for outcome in [
        setup::target(TARGET)?,
        setup::apt("aarch64-linux-gnu-gcc", linker)?,
        setup::apt("qemu-aarch64", "qemu-user")?,
    ] {
        if let skipped @ StepResult::Skipped(_) = outcome {
            return Ok(skipped);
        }
    }
    for command in commands {
        Program::parse(command.as_ref())
            .env("CARGO_BUILD_TARGET", TARGET)
            .env(
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
                "aarch64-linux-gnu-gcc",
            )
            .env(
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
                "qemu-aarch64 -L /usr/aarch64-linux-gnu",
            )
            .run()?;
    }
    Ok(StepResult::Passed)
}
