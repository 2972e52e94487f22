//! `cargo xtask aarch64`: the core's tests on the other architecture, under qemu's user mode.

use anyhow::{Result, bail};

use crate::program::Program;
use crate::setup;
use crate::test::Outcome;

const TARGET: &str = "aarch64-unknown-linux-gnu";

pub(crate) fn run() -> Result<()> {
    let linker = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross";
    for outcome in [
        setup::target(TARGET)?,
        setup::apt("aarch64-linux-gnu-gcc", linker)?,
        setup::apt("qemu-aarch64", "qemu-user")?,
    ] {
        if let Outcome::Skipped(why) = outcome {
            bail!(why);
        }
    }
    // Fewer random cases: qemu is some ten times slower than the machine.
    let test = "PROPTEST_CASES=64 cargo test -p orbgate --all-features --tests --target";
    Program::parse(&format!("{test} {TARGET}"))
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
            "aarch64-linux-gnu-gcc",
        )
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
            "qemu-aarch64 -L /usr/aarch64-linux-gnu",
        )
        .run()
}
