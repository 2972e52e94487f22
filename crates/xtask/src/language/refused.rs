//! What the headers must not let through: each case of a file must fail to compile, for the reason that the file gives.

use std::fs;

use anyhow::{Result, ensure};

use crate::kit::program::Program;
use crate::kit::skipped;
use crate::language::native::{INCLUDE_C, INCLUDE_CPP, WARNINGS};

/// The files, and what they are compiled with.
const FILES: [(&str, [&str; 2]); 2] = [
    (
        "bindings/c/tests/must_not_compile.c",
        ["gcc -std=c11", "clang -std=c11"],
    ),
    (
        "bindings/cpp/tests/must_not_compile.cpp",
        ["g++ -std=c++17", "clang++ -std=c++17"],
    ),
];

pub(crate) fn check() -> Result<()> {
    for (file, compilers) in FILES {
        let text = fs::read_to_string(file)?;
        let cases: Vec<_> = text.lines().filter_map(case).collect();
        ensure!(!cases.is_empty(), "{file} has no cases");
        for compiler in compilers {
            if !Program::parse(compiler).arg("--version").succeeds() {
                skipped::note(&format!("what `{compiler}` must refuse: it is missing"))?;
                continue;
            }
            ensure!(
                compiles(compiler, file, "0")?.is_none(),
                "{file}: case 0 does not compile"
            );
            for (number, reason) in &cases {
                let errors = compiles(compiler, file, number)?.unwrap_or_default();
                ensure!(
                    errors.contains("error") && errors.contains(reason),
                    "{compiler} {file}: case {number} must fail with `{reason}`: {errors}"
                );
            }
            println!("{compiler} refuses {} cases of {file}", cases.len());
        }
    }
    Ok(())
}

/// The number of a case and a word of the error that it must give.
fn case(line: &str) -> Option<(&str, &str)> {
    let mut words = line.strip_prefix("#elif CASE == ")?.split_whitespace();
    Some((words.next()?, words.nth(1)?))
}

/// Compiles a case: nothing, or the errors.
fn compiles(compiler: &str, file: &str, case: &str) -> Result<Option<String>> {
    let program = Program::parse(compiler).arg(INCLUDE_C).arg(INCLUDE_CPP);
    let program = WARNINGS.iter().copied().fold(program, Program::arg);
    let program = program.arg(format!("-DCASE={case}")).arg("-c").arg(file);
    let output = program.arg("-o").arg("/dev/null").output()?;
    Ok((!output.success).then_some(output.stderr))
}
