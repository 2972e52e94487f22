//! `cargo xtask wasm`: the C ABI as a WebAssembly module, for the languages that carry it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::kit::outcome::{StepResult, missing, step};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

/// No system and no imports.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// With gates, and without cryptography, which is in C: their host checks signatures.
const BUILD: &str =
    "cargo build -p orbgate-capi --no-default-features --features gate --profile wasm --target";

/// What every engine of today has.
const VECTORS: &str = "-Ctarget-feature=+simd128";

/// The stack is small, because each instance has one. What would pass its end traps.
const STACK: &str = "-Clink-arg=-zstack-size=262144";

/// Binaryen's, which npm carries for every system.
const OPTIMISER: &str = "npx --yes --package=binaryen@132.0.0 -- wasm-opt -O3 --strip-producers";

/// What the optimiser may use: what the engines have that are asked to run it.
const FEATURES: &str = "--enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals \
     --enable-multivalue --enable-reference-types --enable-bulk-memory-opt --enable-call-indirect-overlong";

/// Where bindings have the module; git ignores it.
const LOCATIONS: [&str; 2] = [
    "bindings/go/orbgate/orbgate.wasm",
    "bindings/node/orbgate.wasm",
];

/// Builds the module, puts it where it belongs and says how large it is.
pub(crate) fn run(project: &Project) -> Result<StepResult> {
    step(|| {
        let module = build(project)?;
        for position in LOCATIONS {
            let size = fs::metadata(project.root.join(position))?.len();
            println!("{position}: {size} bytes");
        }
        let packed = Program::parse("gzip -9 -n -c").arg(module);
        let packed = packed.command()?.output()?.stdout.len();
        println!("compressed by gzip: {packed} bytes");
        Ok(())
    })
}

/// The module. It is built again if the sources are newer, and optimised if it differs.
pub(crate) fn build(project: &Project) -> Result<PathBuf> {
    setup::target(TARGET)?.needed()?;
    if !Program::parse("npm --version").succeeds() {
        return Err(missing("npm is missing, which brings wasm-opt".to_owned()));
    }
    let home = project.target.join("xtask").join("wasm");
    fs::create_dir_all(&home)?;
    Program::parse(BUILD)
        .arg(TARGET)
        .env("RUSTFLAGS", flags(project)?)
        .run()?;
    let built = project.target.join(TARGET).join("wasm/orbgate.wasm");
    let (seen, module) = (home.join("built.wasm"), home.join("orbgate.wasm"));
    if !module.exists() || fs::read(&seen).ok() != Some(fs::read(&built)?) {
        let optimise = Program::parse(OPTIMISER);
        let optimise = optimise.words(FEATURES).arg(&built);
        optimise.path("-o", &module).run()?;
        fs::copy(&built, &seen)?;
    }
    for position in LOCATIONS {
        fs::copy(&module, project.root.join(position))?;
    }
    Ok(module)
}

/// The compiler's options. Messages of panics name no path of this machine, and the module is the same wherever it is built.
fn flags(project: &Project) -> Result<String> {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let cargo = cargo.context("no home folder, in which cargo has its packages")?;
    let remap = |from: &Path, to| format!("--remap-path-prefix={}={to}", from.display());
    let (root, packages) = (remap(&project.root, "/orbgate"), remap(&cargo, "/cargo"));
    Ok([VECTORS, STACK, &root, &packages].join(" "))
}
