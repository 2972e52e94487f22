//! `cargo xtask aarch64`: the core's tests on the other architecture, under qemu's user mode.

use anyhow::Result;

use crate::kit::outcome::{StepResult, step};
use crate::kit::program::Program;
use crate::kit::project::DECISIONS;
use crate::kit::setup;

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// All of the core's tests. Fewer random cases: qemu is some ten times slower than the machine.
pub(crate) fn run() -> Result<StepResult> {
    test(&["PROPTEST_CASES=64 cargo test -p orbgate --all-features --tests"])
}

/// The step: only the tests of decisions. It leaves out the tests of tables, which every processor reads with the same code.
pub(crate) fn check() -> Result<StepResult> {
    let tests = DECISIONS.map(|tests| format!("{tests} --skip templates::every_"));
    test(&tests)
}

fn test(commands: &[impl AsRef<str>]) -> Result<StepResult> {
    let linker = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross";
    let (tool, runner) = (
        "aarch64-linux-gnu-gcc",
        "qemu-aarch64 -L /usr/aarch64-linux-gnu",
    );
    step(|| {
        setup::target(TARGET)?.needed()?;
        setup::apt(tool, linker)?.needed()?;
        setup::apt("qemu-aarch64", "qemu-user")?.needed()?;
        commands.iter().try_for_each(|command| {
            Program::parse(command.as_ref())
                .env("CARGO_BUILD_TARGET", TARGET)
                .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", tool)
                .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner)
                .run()
        })
    })
}
