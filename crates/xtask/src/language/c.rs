//! The step `c`: what C and C++ see of the library. The tests are CTest's, in `bindings/c/tests/CMakeLists.txt`.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::{setup, skipped};
use crate::language::cases::conform;
use crate::language::library::{Library, Profile};
use crate::language::native::Compiler;

pub(crate) fn run(project: &Project) -> Result<()> {
    set_up_compilers()?;
    setup::apt("cmake", "cmake")?;
    // A second compiler sees other errors than the first.
    for (program, package) in [("clang++", "clang"), ("valgrind", "valgrind")] {
        if let Err(what) = setup::apt(program, package) {
            skipped::note(&format!("C and C++: {what}"))?;
        }
    }
    if let Err(error) = Program::parse("sh bindings/cpp/example/set_up.sh").read() {
        skipped::note(&format!("C and C++: the example of a gate: {error}"))?;
    }
    let plain = Library::build(project, Profile::Tests)?;
    let panics = Library::build_that_panics(project)?;
    let home = project.target.join("xtask").join("c");
    fs::create_dir_all(&home)?;
    let fields = Program::parse("cargo test -p orbgate-capi -- --ignored the_fields_of_c");
    fields.env("ORBGATE_GATE_FIELDS", home.join("gate_fields.c").display().to_string()).run()?;
    let configure = Program::parse("cmake -S bindings/c/tests").path("-B", &home);
    let folder = |name: &str, library: &Library| format!("-D{name}={}", library.directory.display());
    let configure = configure.arg(folder("LIBRARY", &plain));
    configure.arg(folder("PANICS", &panics)).run()?;
    let build = Program::parse("cmake").path("--build", &home);
    build.words("--parallel 2").run()?;
    let test = Program::parse("ctest --output-on-failure --no-tests=error --parallel 2");
    test.path("--test-dir", &home).run()?;
    for (language, compiler) in [("c", Compiler::C), ("cpp", Compiler::Cpp)] {
        conform(language, runner(project, &plain, compiler)?)?;
    }
    Ok(())
}

/// What answers the cases in C or C++, which is one file.
pub(crate) fn runner(project: &Project, library: &Library, compiler: Compiler) -> Result<Program> {
    compiler.set_up()?;
    let (name, source) = match compiler {
        Compiler::C => ("runner-c", "bindings/c/conformance/conformance.c"),
        Compiler::Cpp => ("runner-cpp", "bindings/cpp/conformance/conformance.cpp"),
    };
    let program = project.target.join("xtask").join("native").join(name);
    compiler.link(&[source], &[], library, &program)?;
    Ok(Program::at(&program))
}

/// Sets up both compilers.
pub(crate) fn set_up_compilers() -> Result<()> {
    Compiler::C.set_up()?;
    Compiler::Cpp.set_up()
}

/// Whether an example answers as it must.
pub(crate) fn check_example(program: &Path) -> Result<()> {
    Program::parse("bindings/c/example/check.sh").arg(program).run()
}
