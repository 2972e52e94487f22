//! `cargo xtask bench --instructions`: no hot path may grow unseen. `benches/instructions.py` counts and compares; here is what sets up
//! what it needs, and says where it cannot count.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use crate::kit::program::Program;
use crate::kit::setup;

/// Kinds of processors, as the script calls them, and their lists.
const PROCESSORS: [(&str, &str); 2] =
    [("x86-64", "benches/instructions.tsv"), ("aarch64", "benches/instructions-aarch64.tsv")];

/// Counts every path on this kind of processor, and compares it with the committed list.
pub(crate) fn check(processor: &str) -> Result<()> {
    let mut lists = PROCESSORS.iter().filter(|(known, _)| *known == processor);
    lists.try_for_each(|(processor, list)| count(processor, list, ""))
}

/// Counts every path and commits to it.
pub(crate) fn update() -> Result<()> {
    let mut processors = PROCESSORS.iter();
    processors.try_for_each(|(processor, list)| count(processor, list, "--update"))
}

fn count(processor: &str, list: &str, options: &str) -> Result<()> {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let here = match processor {
        "x86-64" => cpu.split_whitespace().any(|flag| flag == "avx2"),
        _ => cfg!(target_os = "linux"),
    };
    ensure!(here, "instructions are counted on Linux only, those of x86-64 where the processor has AVX2");
    setup::apt("python3", "python3")?;
    setup::apt("cc", "gcc libc6-dev")?;
    match processor {
        "x86-64" => setup::apt("valgrind", "valgrind")?,
        _ => setup::apt("qemu-aarch64", "qemu-user")?,
    }
    let text = fs::read_to_string(list)?;
    let version = text.lines().find_map(|line| line.strip_prefix("# rustc "));
    let version = version.context("no `# rustc` line")?;
    let in_use = Program::parse("rustc --version").read()?;
    if in_use.split(' ').nth(1) == Some(version) {
        let processor = processor.replace('-', "_");
        setup::target(&format!("{processor}-unknown-linux-musl"))?;
    } else {
        let is_there = Program::parse("rustup --version").succeeds();
        ensure!(is_there, "counting wants Rust {version}, and rustup, which would install it, is missing");
    }
    Program::parse("python3 -m doctest benches/instructions.py").run()?;
    let script = Program::parse("python3 benches/instructions.py").arg(processor);
    script.words(options).run()
}
