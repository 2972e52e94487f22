//! The C compiler lays the header's structs out as `layout.tsv` says, which bindings without a compiler read.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::kit::program::Program;
use crate::language::library::Library;
use crate::language::native::Compiler;

const LIST: &str = "crates/orbgate-capi/layout.tsv";

/// Compiles and runs a program that checks every line.
pub(crate) fn check(library: &Library, home: &Path) -> Result<()> {
    let list = fs::read_to_string(LIST)?;
    let (mut asserted, mut run) = (String::new(), String::new());
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<_> = line.split('\t').collect();
        let fact = match cells[..] {
            ["size", name, size] => format!("sizeof({}) == {size}", of_c(name)),
            ["first_size", name, size] => format!("sizeof({}) >= {size}", of_c(name)),
            ["offset", field, offset] => {
                let (name, field) = field.split_once('.').context("no field")?;
                format!("offsetof({}, {field}) == {offset}", of_c(name))
            }
            ["code", name, number] => format!("{name} == {number}"),
            ["packed", name, low, bits] => {
                // With an effect, so that a reason is not a status.
                let mask = format!("(((UINT64_C(1) << {bits}) - 1) << {low})");
                let all = format!("orbgate_packed_{name}({mask} | 1) == {mask} >> {low}");
                let none = format!("orbgate_packed_{name}(~{mask}) == 0");
                run.push_str(&format!("    CHECK({all} && {none});\n"));
                continue;
            }
            _ => bail!("{LIST}: what is `{line}`?"),
        };
        asserted.push_str(&format!("_Static_assert({fact}, \"{line}\");\n"));
    }
    let source = home.join("layout.c");
    let text =
        format!("#include \"test.h\"\n\n{asserted}\nint main(void)\n{{\n{run}    return 0;\n}}\n");
    fs::create_dir_all(home)?;
    fs::write(&source, text)?;
    let program = home.join("layout");
    let path = source.display().to_string();
    Compiler::C.link(&[&path], &["-Ibindings/c/tests"], library, &program)?;
    Program::at(&program).run()
}

/// A struct's name: those of Arrow's interface are tags.
fn of_c(name: &str) -> String {
    match name.starts_with("Arrow") {
        true => format!("struct {name}"),
        false => name.to_owned(),
    }
}
