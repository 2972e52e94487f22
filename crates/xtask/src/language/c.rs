//! The step `c`: what C and C++ see of the library, and that it keeps its memory in order.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::kit::guide;
use crate::kit::outcome::{StepResult, step};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::kit::skipped;
use crate::language::cases::{CASES, conform};
use crate::language::layout;
use crate::language::library::{Library, Profile, shared};
use crate::language::native::{Compiler, INCLUDE_C, INCLUDE_CPP, WARNINGS};
use crate::language::refused;

/// A test, a program that fails or ends in peace: its name, its compiler, its sources and options, and its arguments.
struct Test(&'static str, Compiler, &'static str, &'static str);

const WRAPPER: &str = "bindings/cpp/tests/wrapper.cpp bindings/cpp/tests/second.cpp";
const WITHOUT_EXCEPTIONS: &str =
    "bindings/cpp/tests/wrapper.cpp bindings/cpp/tests/second.cpp -fno-exceptions";
const CASES_C: &str = "bindings/c/conformance/conformance.c";
const CASES_CPP: &str = "bindings/cpp/conformance/conformance.cpp";

/// All tests, each to be run plainly, under valgrind and under the sanitizers.
#[rustfmt::skip]
const TESTS: [Test; 10] = [
    Test("usage", Compiler::C, "bindings/c/tests/usage.c bindings/c/tests/second.c", ""),
    Test("arguments", Compiler::C, "bindings/c/tests/arguments.c", ""),
    Test("sizes", Compiler::C, "bindings/c/tests/sizes.c", ""),
    Test("arrow", Compiler::C, "bindings/c/tests/arrow.c", ""),
    Test("panics", Compiler::C, "bindings/c/tests/panics.c", ""),
    // Valgrind runs one thread at a time, and slowly; `cargo xtask sanitize` reloads 10,000 times.
    Test("reload", Compiler::C, "bindings/c/tests/reload.c", "300"),
    Test("cases", Compiler::C, CASES_C, CASES),
    Test("wrapper", Compiler::Cpp, WRAPPER, ""),
    Test("wrapper-without-exceptions", Compiler::Cpp, WITHOUT_EXCEPTIONS, ""),
    Test("cases-cpp", Compiler::Cpp, CASES_CPP, CASES),
];

const SANITIZERS: &[&str] = &[
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
];

/// The runner of the cases in C or C++, which is one file.
pub(crate) fn runner(project: &Project, library: &Library, compiler: Compiler) -> Result<Program> {
    compiler.set_up()?.needed()?;
    let (name, source) = match compiler {
        Compiler::C => ("runner-c", CASES_C),
        Compiler::Cpp => ("runner-cpp", CASES_CPP),
    };
    let program = project.target.join("xtask").join("c").join(name);
    compiler.link(&[source], &[], library, &program)?;
    Ok(Program::at(&program))
}

/// Sets up both compilers.
pub(crate) fn set_up_compilers() -> Result<StepResult> {
    step(|| {
        Compiler::C.set_up()?.needed()?;
        Compiler::Cpp.set_up()?.needed()
    })
}

pub(crate) fn run(project: &Project) -> Result<StepResult> {
    if let skipped @ StepResult::Skipped(_) = set_up_compilers()? {
        return Ok(skipped);
    }
    // A second compiler sees other faults than the first.
    setup::apt("clang++", "clang")?;
    headers()?;
    refused::check()?;
    let plain = Library::build(project, Profile::Tests)?;
    symbols(&plain)?;
    let home = project.target.join("xtask").join("c");
    layout::check(&plain, &home)?;
    other_clients(&plain, &home)?;
    examples(&plain, &home)?;
    guides(&plain, &home)?;
    for (language, compiler) in [("c", Compiler::C), ("cpp", Compiler::Cpp)] {
        conform(language, runner(project, &plain, compiler)?)?;
    }

    let library = Library::build_that_panics(project)?;
    let valgrind = setup::apt("valgrind", "valgrind")?;
    for test in &TESTS {
        let program = build(test, &[], &library, &home.join("plain"))?;
        run_test(test, Program::at(&program))?;
        if valgrind == StepResult::Passed {
            // It runs one thread at a time. They must take turns, or readers make the reloading thread wait for ever.
            let memory = "valgrind --fair-sched=yes --quiet --error-exitcode=9 --leak-check=full \
                          --errors-for-leak-kinds=definite,possible";
            run_test(
                test,
                Program::parse(memory).arg(program.display().to_string()),
            )?;
        }
        let program = build(test, SANITIZERS, &library, &home.join("sanitized"))?;
        sanitized(&program)?;
        run_test(test, Program::at(&program))?;
    }
    Ok(valgrind)
}

/// The headers compile without a warning in every standard, with every compiler that is there.
fn headers() -> Result<()> {
    let c = ["c99", "c11", "c17", "c2x"];
    let cpp = ["c++11", "c++14", "c++17", "c++20"];
    let wrapper = ["c++17", "c++20"];
    for (compiler, plus_plus) in [("gcc", "g++"), ("clang", "clang++")] {
        if !Program::parse(plus_plus).arg("--version").succeeds() {
            skipped::note(&format!(
                "the headers under {compiler}: `{plus_plus}` is missing"
            ))?;
            continue;
        }
        for standard in c {
            syntax(compiler, &format!("-std={standard} -xc"), "orbgate.h")?;
        }
        for standard in cpp {
            syntax(plus_plus, &format!("-std={standard} -xc++"), "orbgate.h")?;
        }
        for standard in wrapper {
            let options = format!("-std={standard} -xc++");
            syntax(plus_plus, &options, "orbgate.hpp")?;
            syntax(
                plus_plus,
                &format!("{options} -fno-exceptions"),
                "orbgate.hpp",
            )?;
        }
    }
    Ok(())
}

/// A header alone, included as users do: clang finds functions unused in a main file.
fn syntax(compiler: &str, options: &str, header: &str) -> Result<()> {
    let program = Program::parse(&format!(
        "{compiler} {options} -fsyntax-only -include {header}"
    ));
    let program = WARNINGS.iter().copied().fold(program, Program::arg);
    program
        .arg(INCLUDE_C)
        .arg(INCLUDE_CPP)
        .arg("/dev/null")
        .run()
}

/// The shared library exports what the list says and nothing else.
fn symbols(library: &Library) -> Result<()> {
    let nm = Program::parse("nm --dynamic --defined-only --format=just-symbols");
    let exported = nm
        .arg(library.directory.join(shared()).display().to_string())
        .read()?;
    let mut exported: Vec<_> = exported.lines().collect();
    exported.sort_unstable();
    let list = fs::read_to_string("crates/orbgate-capi/symbols.txt")?;
    let list: Vec<_> = list.lines().filter(|line| !line.starts_with('#')).collect();
    ensure!(
        exported == list,
        "the library exports other symbols than symbols.txt lists: {exported:?}"
    );
    println!("{} symbols, all prefixed, as symbols.txt lists", list.len());
    Ok(())
}

/// A program built against the header of an earlier library works with today's library; a program built against a later header gets
/// no engine.
fn other_clients(library: &Library, home: &Path) -> Result<()> {
    let header = fs::read_to_string("bindings/c/include/orbgate.h")?;
    let number = |name: &str| {
        let (_, rest) = header.split_once(name)?;
        rest.lines().next()
    };
    let minor = "#define ORBGATE_ABI_MINOR ";
    let major = number("#define ORBGATE_ABI_MAJOR ").context("the header has no ABI version")?;
    let now = number(minor).context("the header has no ABI version")?;
    let refused =
        format!("the orbgate library has ABI {major}.{now}, and this header needs {major}.99\n");
    for (other, expected) in [("0", "an engine\n"), ("99", refused.as_str())] {
        let home = home.join(format!("client-{other}"));
        fs::create_dir_all(&home)?;
        let (stated, other) = (format!("{minor}{now}\n"), format!("{minor}{other}\n"));
        fs::write(home.join("orbgate.h"), header.replace(&stated, &other))?;
        let program = home.join("client");
        // It comes before the header of today.
        let include = format!("-I{}", home.display());
        let directory = library.directory.display();
        let compile = Compiler::Cpp.program().args([&include, INCLUDE_CPP]);
        compile
            .arg("bindings/cpp/tests/other_abi.cpp")
            .arg(format!("-L{directory}"))
            .arg(format!("-Wl,-rpath,{directory}"))
            .arg("-lorbgate")
            .path("-o", &program)
            .run()?;
        let said = Program::at(&program).read()?;
        ensure!(said == expected, "not {expected:?}: {said:?}");
    }
    Ok(())
}

/// The examples refuse with a bare 403, and only those who lack the scope.
fn examples(library: &Library, home: &Path) -> Result<()> {
    for (compiler, source) in [
        (Compiler::C, "bindings/c/example/authorize.c"),
        (Compiler::Cpp, "bindings/cpp/example/authorize.cpp"),
    ] {
        let extension = Path::new(source).extension().unwrap_or_default();
        let program = home.join("authorize").with_extension(extension);
        compiler.link(&[source], &[], library, &program)?;
        check_example(&program)?;
    }
    Ok(())
}

/// Every program in the guides builds and runs.
fn guides(library: &Library, home: &Path) -> Result<()> {
    for (compiler, language, count) in [(Compiler::C, "c", 3), (Compiler::Cpp, "cpp", 4)] {
        let guide = format!("bindings/{language}/README.md");
        let text = fs::read_to_string(&guide)?;
        let programs = guide::blocks(&text, language);
        ensure!(
            programs.len() == count,
            "{guide} has {} programs",
            programs.len()
        );
        for (number, program) in programs.into_iter().enumerate() {
            let source = home.join(format!("guide-{number}.{language}"));
            fs::write(&source, program)?;
            let program = source.with_extension(format!("{language}.out"));
            let path = source.display().to_string();
            compiler.link(&[&path], &[], library, &program)?;
            Program::at(&program).run()?;
        }
    }
    Ok(())
}

/// What an example must answer.
pub(crate) fn check_example(program: &Path) -> Result<()> {
    let ask = |method: &str, token: &[&str]| {
        let program = Program::at(program)
            .arg(method)
            .arg("/api/v1/external/orbs");
        let program = token.iter().copied().fold(program, Program::arg);
        println!("$ {program}");
        program.read()
    };
    let refusals = [
        (
            "GET",
            &["user", "read:store write:store"][..],
            "403 Forbidden",
            "",
        ),
        (
            "GET",
            &[],
            "401 Unauthorized",
            "WWW-Authenticate: Bearer\r\n",
        ),
        (
            "GET",
            &["robot", "read:orbs"],
            "401 Unauthorized",
            "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n",
        ),
        (
            "PUT",
            &["user", "read:orbs"],
            "405 Method Not Allowed",
            "Allow: GET\r\n",
        ),
    ];
    for (method, token, status, header) in refusals {
        let refused = ask(method, token)?;
        let expected = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n{header}\r\n");
        ensure!(refused == expected, "not {expected:?}: {refused:?}");
    }
    let allowed = ask("GET", &["user", "read:store read:orbs"])?;
    let fine = allowed.starts_with("HTTP/1.1 200 OK\r\n") && allowed.contains("consumes orbs");
    ensure!(fine, "not a 200 that names the charge: {allowed:?}");
    Ok(())
}

fn build(test: &Test, options: &[&str], library: &Library, home: &Path) -> Result<PathBuf> {
    let Test(name, compiler, sources, _) = test;
    let program = home.join(name);
    let sources: Vec<_> = sources.split(' ').collect();
    compiler.link(&sources, options, library, &program)?;
    Ok(program)
}

fn run_test(test: &Test, program: Program) -> Result<()> {
    let program = test.3.split_whitespace().fold(program, Program::arg);
    println!("$ {program}");
    // A panic that a test asks for is printed by Rust's hook; only a failure's output is worth reading.
    let output = program.output()?;
    ensure!(
        output.success,
        "`{program}` failed:\n{}{}",
        output.stdout,
        output.stderr
    );
    Ok(())
}

/// A sanitizer that is not linked finds nothing.
fn sanitized(program: &Path) -> Result<()> {
    let nm = Program::parse("nm --dynamic").arg(program.display().to_string());
    let symbols = nm.read().context("what a program links")?;
    for symbol in ["__asan_init", "__ubsan_handle_"] {
        ensure!(
            symbols.contains(symbol),
            "{} does not link {symbol}",
            program.display()
        );
    }
    Ok(())
}
