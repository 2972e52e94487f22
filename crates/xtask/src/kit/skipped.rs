//! Skipped tests: checks that can't run because the machine lacks something. Each is recorded here, `cargo xtask test`
//! lists them at the end, and in CI they are a failure.
//!
//! A test that a step starts, in any language, can append a line to the file that [`VARIABLE`] names.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Context as _, Result};

use crate::kit::project::Project;

/// Names the file that lists skipped tests, for every program of a step: one line each, with the
/// reason.
pub(crate) const VARIABLE: &str = "ORBGATE_SKIPPED";

static FILE: OnceLock<PathBuf> = OnceLock::new();

/// Starts counting for a step, in a separate file, because steps run in parallel.
pub(crate) fn count(project: &Project, step: &str) -> Result<()> {
    let file = file_of(project, step);
    fs::create_dir_all(file.parent().unwrap_or(&file))?;
    fs::write(&file, "")?;
    FILE.get_or_init(|| file);
    Ok(())
}

/// Everything that a step has skipped.
pub(crate) fn by(project: &Project, step: &str) -> Vec<String> {
    each_once(&fs::read_to_string(file_of(project, step)).unwrap_or_default())
}

fn file_of(project: &Project, step: &str) -> PathBuf {
    project.target.join("xtask").join("skipped").join(step)
}

/// The file, if a command counts.
pub(crate) fn file() -> Option<&'static PathBuf> {
    FILE.get()
}

/// Records that something isn't tested, and why.
pub(crate) fn note(what: &str) -> Result<()> {
    println!("skipped: {what}");
    let Some(file) = file() else {
        return Ok(());
    };
    let file = File::options().append(true).open(file);
    writeln!(file.context(VARIABLE)?, "{what}").context(VARIABLE)
}

/// All that has been skipped so far, each once.
pub(crate) fn all() -> Result<Vec<String>> {
    let Some(file) = file() else {
        return Ok(Vec::new());
    };
    Ok(each_once(&fs::read_to_string(file).context(VARIABLE)?))
}

/// The distinct lines, in order of their first occurrence.
fn each_once(lines: &str) -> Vec<String> {
    let mut each: Vec<String> = Vec::new();
    for line in lines.lines() {
        if !each.iter().any(|known| known == line) {
            each.push(line.to_owned());
        }
    }
    each
}

#[cfg(test)]
mod tests {
    #[test]
    fn three_tests_that_lack_the_same_are_one_line() {
        let lines = "no vectors\nno clang++\nno vectors\nno vectors\n";
        assert_eq!(super::each_once(lines), ["no vectors", "no clang++"]);
        assert!(super::each_once("").is_empty());
    }
}
