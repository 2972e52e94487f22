//! Runs the core's tests with the code for other processors: any processor, aarch64 under qemu, WebAssembly under
//! wazero.

use std::fs;

use anyhow::{Result, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

/// The tests that distinguish one processor's code from another's, with every assertion, built as in the step `tests`.
/// Arguments follow.
const DECISIONS: [&str; 2] = ["cargo test -p orbgate --lib --", "cargo test -p orbgate --test all -- cases:: edges::"];

/// For tests, which print and ask for the time.
const WASI: &str = "wasm32-wasip1";

/// Runs them. The version is that of bindings/go/go.mod, so it is the same compiler.
const WAZERO: &str = "github.com/tetratelabs/wazero/cmd/wazero@v1.11.0";

/// The step `portable`. The compiler is wrapped, because `RUSTFLAGS` would also rebuild all other crates.
pub(crate) fn portable(project: &Project) -> Result<()> {
    let wrapper = project.root.join("crates/xtask/src/measure/portable.sh");
    let wrapper = wrapper.display().to_string();
    test(&DECISIONS, &[("RUSTC_WORKSPACE_WRAPPER", &wrapper)], "")
}

/// The step `aarch64`. It leaves out the tests of tables, which every processor reads with the same code.
pub(crate) fn aarch64() -> Result<()> {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    const LINKER: &str = "aarch64-linux-gnu-gcc";
    const RUNNER: &str = "qemu-aarch64 -L /usr/aarch64-linux-gnu";
    setup::target(TARGET)?;
    setup::apt(LINKER, "gcc-aarch64-linux-gnu libc6-dev-arm64-cross")?;
    setup::apt("qemu-aarch64", "qemu-user")?;
    let variables = [
        ("CARGO_BUILD_TARGET", TARGET),
        ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER),
        ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", RUNNER),
        // qemu is some ten times slower than the machine.
        ("PROPTEST_CASES", "64"),
    ];
    test(&DECISIONS, &variables, "--skip templates::every_")
}

/// The step `wasm`: compiled as for Go, with its vectors.
pub(crate) fn wasm(project: &Project) -> Result<()> {
    setup::target(WASI)?;
    let home = project.target.join("xtask").join("wasm");
    fs::create_dir_all(&home)?;
    let wazero = home.join("wazero");
    if !Program::at(&wazero).arg("version").succeeds() {
        ensure!(Program::parse("go version").succeeds(), "Go is missing, which brings wazero: https://go.dev/dl");
        let install = Program::parse("go install").arg(WAZERO);
        install.env("GOBIN", home.display().to_string()).run()?;
    }
    let root = project.root.display();
    let runner = format!("{} run -mount={root}:{root}", wazero.display());
    let variables = [
        ("CARGO_BUILD_TARGET", WASI),
        ("CARGO_TARGET_WASM32_WASIP1_RUNNER", runner.as_str()),
        ("RUSTFLAGS", "-Ctarget-feature=+simd128"),
        ("PROPTEST_CASES", "64"),
    ];
    test(&DECISIONS, &variables, "")
}

fn test(tests: &[&str], variables: &[(&str, &str)], arguments: &str) -> Result<()> {
    tests.iter().try_for_each(|tests| {
        let tests = Program::parse(tests).words(arguments);
        let run = |tests: Program, (name, value): &(&str, &str)| tests.env(name, *value);
        variables.iter().fold(tests, run).run()
    })
}
