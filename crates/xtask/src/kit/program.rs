//! Programs that a command runs, each printed as a user would type it.
//!
//! Our own code, because commands here are strings in tables of steps, and xshell's `cmd!` takes a
//! literal.

use core::fmt;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// A program with its arguments.
#[derive(Debug)]
pub(crate) struct Program {
    variables: Vec<(String, String)>,
    words: Vec<String>,
    directory: Option<PathBuf>,
}

impl Program {
    /// A program as it is typed, words separated by spaces: `NAME=value cargo test --workspace`.
    pub(crate) fn parse(line: &str) -> Self {
        let empty = Self { variables: Vec::new(), words: Vec::new(), directory: None };
        let words = line.split_whitespace();
        words.fold(empty, |program, word| match word.split_once('=') {
            Some((name, value)) if program.words.is_empty() => program.env(name, value),
            _ => program.arg(word),
        })
    }

    /// A program by its path, which may contain spaces.
    pub(crate) fn at(path: &Path) -> Self {
        Self::parse("").arg(path)
    }

    /// One more argument, which may contain spaces.
    pub(crate) fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        let word = word.as_ref().to_string_lossy();
        self.words.push(word.into_owned());
        self
    }

    /// More arguments, each of which may contain spaces.
    pub(crate) fn args(self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        words.into_iter().fold(self, Self::arg)
    }

    /// More arguments as they are typed, separated by spaces.
    pub(crate) fn words(self, line: &str) -> Self {
        self.args(line.split_whitespace())
    }

    /// One more variable of its environment, whose value may contain spaces.
    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// The program as the last arguments of another one.
    pub(crate) fn after(mut self, line: &str) -> Self {
        let words = line.split_whitespace().map(str::to_owned);
        self.words.splice(0..0, words);
        self
    }

    /// Two more arguments: an option and a path.
    pub(crate) fn path(self, option: &str, path: &Path) -> Self {
        self.arg(option).arg(path)
    }

    /// Runs in this directory instead of the root.
    pub(crate) fn within(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    /// Prints the command and runs it; its output is seen as it comes.
    pub(crate) fn run(&self) -> Result<()> {
        println!("$ {self}");
        let status = self.command()?.status();
        let status = status.with_context(|| self.not_started())?;
        ensure!(status.success(), "`{self}` failed ({status})");
        Ok(())
    }

    /// Replaces this process with the program if possible, so that ending this process ends the
    /// program.
    pub(crate) fn exec(&self) -> Result<()> {
        #[cfg(unix)]
        return Err(std::os::unix::process::CommandExt::exec(&mut self.command()?).into());
        #[cfg(not(unix))]
        self.run()
    }

    /// Runs quietly and returns the standard output.
    pub(crate) fn read(&self) -> Result<String> {
        let output = self.output()?;
        ensure!(output.success, "`{self}` failed:\n{}", output.stderr);
        Ok(output.stdout)
    }

    /// Runs quietly and returns the full output, even of a failure.
    pub(crate) fn output(&self) -> Result<Output> {
        let output = self.command()?.stdin(Stdio::null()).output();
        let output = output.with_context(|| self.not_started())?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Output { success: output.status.success(), stdout: text(output.stdout), stderr: text(output.stderr) })
    }

    /// Whether the program exists and succeeds.
    pub(crate) fn succeeds(&self) -> bool {
        self.output().is_ok_and(|output| output.success)
    }

    /// The underlying command, for anything that the functions above don't offer.
    pub(crate) fn command(&self) -> Result<Command> {
        let (program, arguments) = self.words.split_first().context("no program")?;
        let mut command = Command::new(program);
        command.args(arguments);
        if let Some(libraries) = library_path() {
            command.env(LIBRARY_PATH, libraries);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        Ok(command)
    }

    fn not_started(&self) -> String {
        format!("`{self}` could not be started")
    }
}

const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// The library search path of programs, without the folders that `cargo run` has added. Those contain the library of
/// the last build, but a program must use the library that it was linked with.
fn library_path() -> Option<OsString> {
    let path = std::env::var_os(LIBRARY_PATH)?;
    let own = std::env::current_exe().ok()?;
    let own = own.parent()?;
    let others = std::env::split_paths(&path).filter(|folder| !folder.starts_with(own));
    std::env::join_paths(others).ok()
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(directory) = &self.directory {
            write!(f, "cd {} && ", quoted(&directory.display().to_string()))?;
        }
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", quoted(value))?;
        }
        let words: Vec<_> = self.words.iter().map(|word| quoted(word)).collect();
        f.write_str(&words.join(" "))
    }
}

/// What a program answered.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A word, quoted for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::Program;

    #[test]
    fn a_program_prints_as_it_is_typed() {
        let line = "RUSTDOCFLAGS=-Dwarnings cargo doc --config build.jobs=2";
        let program = Program::parse(line);
        // An `=` after the program's name belongs to an argument.
        assert_eq!(program.variables.len(), 1);
        assert_eq!(program.to_string(), line);
        let program = Program::parse("cargo tree").arg("{p} it's");
        let program = program.within("/a b".as_ref()).to_string();
        assert_eq!(program, r"cd '/a b' && cargo tree '{p} it'\''s'");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Program::parse("no-such-program --version").read();
        let error = error.unwrap_err().to_string();
        assert_eq!(error, "`no-such-program --version` could not be started");
    }
}
