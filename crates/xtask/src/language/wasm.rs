//! `cargo xtask wasm`: the C ABI as a WebAssembly module, for the languages that carry it, and a second module that answers questions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::language::library;

/// No system and no imports.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// A module: how it is built, and how it is optimised.
struct Module {
    build: &'static str,
    /// What cargo writes, in the folder of the profile.
    file: &'static str,
    level: &'static str,
    /// Bytes of stack, which each instance has. What would pass its end traps.
    stack: u32,
    /// Where bindings have it; git ignores it.
    locations: &'static [&'static str],
}

/// The C ABI with gates, and without cryptography, which is in C: their host checks signatures.
const LIBRARY: Module = Module {
    build: "cargo build -p orbgate-capi --no-default-features --features gate --profile wasm --target",
    file: "wasm/orbgate.wasm",
    level: "-O3",
    stack: 262_144,
    locations: &["bindings/go/orbgate/orbgate.wasm", "bindings/node/orbgate.wasm"],
};

/// Core and analysis, small, because pages carry it.
const QUESTIONS: Module = Module {
    build: "cargo build -p orbgate-wasm --profile wasm-small --target",
    file: "wasm-small/orbgate_wasm.wasm",
    level: "-Oz",
    stack: 1_048_576,
    locations: &["bindings/go/orbgate/orbgate_questions.wasm", "bindings/node/orbgate_questions.wasm"],
};

/// The most that it may have, compressed.
const MOST_PACKED: usize = 400_000;

/// What every engine of today has.
const VECTORS: &str = "-Ctarget-feature=+simd128";

/// Binaryen's, which npm carries for every system.
const OPTIMISER: &str = "npx --yes --package=binaryen@132.0.0 -- wasm-opt --strip-producers";

/// What the optimiser may use: what the engines have that are asked to run it.
const FEATURES: &str = "--enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals \
     --enable-multivalue --enable-reference-types --enable-bulk-memory-opt --enable-call-indirect-overlong";

/// Builds the modules, puts them where they belong and says how large they are.
pub(crate) fn run(project: &Project) -> Result<()> {
    for module in [build(project)?, questions(project)?] {
        let size = fs::metadata(&module)?.len();
        println!("{}: {size} bytes", module.display());
        println!("compressed by gzip: {} bytes", packed(&module)?);
    }
    Ok(())
}

/// The C ABI's module. Languages that carry it also carry the other one.
pub(crate) fn build(project: &Project) -> Result<PathBuf> {
    questions(project)?;
    made(project, &LIBRARY)
}

/// The module that answers questions.
pub(crate) fn questions(project: &Project) -> Result<PathBuf> {
    let module = made(project, &QUESTIONS)?;
    let packed = packed(&module)?;
    ensure!(
        packed <= MOST_PACKED,
        "{}: {packed} bytes compressed, and at most {MOST_PACKED} are allowed",
        module.display()
    );
    Ok(module)
}

/// The same file by the name that it has in packages.
pub(crate) fn carried_questions(project: &Project) -> Result<PathBuf> {
    let module = questions(project)?;
    let carried = module.with_file_name("orbgate_questions.wasm");
    fs::copy(&module, &carried)?;
    Ok(carried)
}

fn packed(module: &Path) -> Result<usize> {
    let packed = Program::parse("gzip -9 -n -c").arg(module);
    Ok(packed.command()?.output()?.stdout.len())
}

/// A module. It is built again if the sources are newer, and optimised if it differs.
fn made(project: &Project, made: &Module) -> Result<PathBuf> {
    setup::target(TARGET)?;
    ensure!(Program::parse("npm --version").succeeds(), "npm is missing, which brings wasm-opt");
    let home = project.target.join("xtask").join("wasm");
    // Steps of both lanes need it, perhaps at once.
    let _alone = library::lock(project, "wasm")?;
    Program::parse(made.build).arg(TARGET).env("RUSTFLAGS", flags(project, made.stack)?).run()?;
    let built = project.target.join(TARGET).join(made.file);
    let module = home.join(built.file_name().context("no file")?);
    let seen = module.with_extension("built");
    if !module.exists() || fs::read(&seen).ok() != Some(fs::read(&built)?) {
        let optimise = Program::parse(OPTIMISER).arg(made.level);
        let optimise = optimise.words(FEATURES).arg(&built);
        optimise.path("-o", &module).run()?;
        fs::copy(&built, &seen)?;
    }
    let bytes = fs::read(&module)?;
    for position in made.locations {
        let position = project.root.join(position);
        // Another step might be reading it.
        if fs::read(&position).ok().as_ref() != Some(&bytes) {
            fs::write(&position, &bytes)?;
        }
    }
    Ok(module)
}

/// The compiler's options. Messages of panics name no path of this machine, and the module is the same wherever it is built.
fn flags(project: &Project, stack: u32) -> Result<String> {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let cargo = cargo.context("no home folder, in which cargo has its packages")?;
    let remap = |from: &Path, to| format!("--remap-path-prefix={}={to}", from.display());
    let (root, packages) = (remap(&project.root, "/orbgate"), remap(&cargo, "/cargo"));
    let stack = format!("-Clink-arg=-zstack-size={stack}");
    Ok([VECTORS, &stack, &root, &packages].join(" "))
}
