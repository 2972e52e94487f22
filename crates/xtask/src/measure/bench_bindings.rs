//! `cargo xtask bench --bindings`: what a decision takes from each language, compared with the Rust call in the same run, and what a gate takes.
//! `benches/bindings.py` runs and judges, `benches/gates.py` does that with gates; here is what builds the programs.
//!
//! Each language has a program that takes a file of requests and a folder of questions, checks every answer and prints lines `NAME
//! NANOSECONDS`: `single` for one call, `batch` for a decision in batches of 256 whose columns are there, `filled` for
//! the same with making the columns of the language's own strings, `empty` for the language's own empty call. Another
//! language is one more row of [`programs`].

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::library::{Library, Profile};
use crate::language::native::Compiler;
use crate::language::{go, java, node, python};

/// Programs, each with its language.
type Programs = Vec<(&'static str, Program)>;

pub(crate) fn run(project: &Project) -> Result<()> {
    let home = project.target.join("xtask").join("bench");
    fs::create_dir_all(&home)?;
    let requests = home.join("requests.tsv");
    let programs = programs(project, &home, &requests)?;
    Program::parse("python3 -m doctest benches/bindings.py benches/gates.py").run()?;
    let commands = programs.iter();
    let commands = commands.map(|(language, program)| format!("{language}={program}"));
    let judge = Program::parse("python3 benches/bindings.py");
    judge.args(commands).run()?;
    Program::parse("python3 benches/gates.py").run()
}

/// Builds every language's program, which takes the requests.
fn programs(project: &Project, home: &Path, requests: &Path) -> Result<Programs> {
    let target = project.target.join("bench");
    let build = "cargo build --locked --release --no-default-features --features questions --manifest-path benches/Cargo.toml --bin bindings";
    Program::parse(build).path("--target-dir", &target).run()?;
    let rust = Program::at(&target.join("release").join("bindings"));
    let write = Program::at(&target.join("release").join("bindings"));
    write.path("write", requests).arg(home).run()?;
    let library = Library::build(project, Profile::Release)?;
    let compiled = |compiler: Compiler, source: &str, name| {
        compiler.set_up()?;
        let program = home.join(name);
        compiler.link(&[source], &["-O3"], &library, &program)?;
        Ok(vec![(name, Program::at(&program))])
    };
    let c = || compiled(Compiler::C, "bindings/c/bench/bench.c", "c");
    let cpp = || compiled(Compiler::Cpp, "bindings/cpp/bench/bench.cpp", "cpp");
    let java = || java::benchmarks(project, &library);
    let go = || {
        let [wasm, cgo] =
            [go::Engine::Wasm, go::Engine::Cgo].map(|engine| go::program(project, engine, Profile::Release, "bench"));
        Ok(vec![("go", wasm?), ("go-cgo", cgo?)])
    };
    let node = || {
        let [wasm, native] = [None, Some(&library)].map(|library| node::program(project, library, "bench/bench.js"));
        Ok(vec![("node-wasm", wasm?), ("node", native?)])
    };
    let python = || {
        let program = python::script(project, Profile::Release, "bench/bench.py")?;
        Ok(vec![("python", program)])
    };
    let mut programs = vec![("rust", rust)];
    let others: [&dyn Fn() -> Result<Programs>; 6] = [&c, &cpp, &java, &go, &node, &python];
    for other in others {
        programs.extend(other()?);
    }
    let programs = programs.into_iter();
    Ok(programs.map(|(language, program)| (language, program.arg(requests).arg(home))).collect())
}
