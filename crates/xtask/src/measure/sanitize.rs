//! `cargo xtask sanitize`: 8 threads decide while one reloads 10,000 times, under ThreadSanitizer.
//!
//! Everything is instrumented, Rust's standard library too, so this takes rustup's nightly and some minutes of
//! building. The address and undefined behaviour sanitizers run in the step `c` of `cargo xtask test`.

use std::fs;

use anyhow::{Result, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::library::STATIC;
use crate::language::native::{Compiler, INCLUDE_C};

const TARGET: &str = "x86_64-unknown-linux-gnu";

pub(crate) fn run(project: &Project) -> Result<()> {
    Compiler::C.set_up()?.needed()?;
    let install =
        "rustup toolchain install nightly --profile minimal --component rust-src --no-self-update";
    Program::parse(install).run()?;
    // A directory of its own: another compiler with other flags.
    let target = project.target.join("sanitize");
    let build =
        "RUSTFLAGS=-Zsanitizer=thread rustup run nightly cargo build -Zbuild-std -p orbgate-capi";
    let build = Program::parse(build).arg("--target").arg(TARGET);
    build.path("--target-dir", &target).run()?;

    let library = target.join(TARGET).join("debug").join(STATIC);
    let home = project.target.join("xtask").join("c").join("thread");
    fs::create_dir_all(&home)?;
    let (object, program) = (home.join("reload.o"), home.join("reload"));
    let compile = "-g -O1 -fsanitize=thread -c bindings/c/tests/reload.c";
    let compile = compile.split(' ').fold(Compiler::C.program(), Program::arg);
    compile.arg(INCLUDE_C).path("-o", &object).run()?;
    // With Rust's own runtime, which knows what both compilers call: that of an older gcc does not.
    let link = Program::parse("cc -pie").arg(object.display().to_string());
    let link = link
        .arg(library.display().to_string())
        .arg("-Wl,--whole-archive");
    let link = link
        .arg(runtime()?)
        .arg("-Wl,--no-whole-archive,--export-dynamic");
    let system = "-lpthread -ldl -lm -lrt -lgcc_s";
    let link = system.split(' ').fold(link, Program::arg);
    link.path("-o", &program).run()?;

    let symbols = Program::parse("nm")
        .arg(program.display().to_string())
        .read()?;
    ensure!(
        symbols.contains("__tsan_init") && symbols.contains("__tsan_atomic64_compare_exchange"),
        "ThreadSanitizer is not linked"
    );
    let run = Program::parse("TSAN_OPTIONS=halt_on_error=1").arg(program.display().to_string());
    run.arg("10000").run()
}

/// ThreadSanitizer's runtime, as nightly brings it.
fn runtime() -> Result<String> {
    let root = Program::parse("rustup run nightly rustc --print target-libdir --target");
    let root = root.arg(TARGET).read()?;
    Ok(format!("{}/librustc-nightly_rt.tsan.a", root.trim()))
}
