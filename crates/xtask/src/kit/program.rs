//! Programs that a command runs, each printed as a user would type it.
//!
//! Our own code, because commands here are strings in tables of steps, and xshell's `cmd!` takes a
//! literal.

use core::fmt;
use core::time::Duration;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::kit::skipped;

/// A command that takes longer prints its time.
const LONG: Duration = Duration::from_secs(5);

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

    /// Prints the command and runs it; its output is seen as it comes. After a long one, it prints the time that it took.
    pub(crate) fn run(&self) -> Result<()> {
        println!("$ {self}");
        let (start, before) = (Instant::now(), time_of_children());
        let status = self.command()?.status();
        let status = status.with_context(|| self.not_started())?;
        let (wall, processors) = (start.elapsed(), time_of_children().saturating_sub(before));
        if wall > LONG {
            println!("$ {wall:.0?} and {processors:.0?} of processors: {self}");
        }
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
        if let Some(file) = skipped::file() {
            command.env(skipped::VARIABLE, file);
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

/// The processor time of this process's ended children and their descendants. Zero if the system doesn't
/// report it. Our own code, because procfs builds only on Linux, and xtask builds everywhere.
pub(crate) fn time_of_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Linux counts programs' time in hundredths of a second.
    Duration::from_millis(ticks(&stat).unwrap_or_default().saturating_mul(10))
}

/// The children's time in user mode and in the kernel. The program's name, in brackets, can itself contain spaces and
/// brackets, so the fields after it are counted.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(13).take(2);
    times.map(|time| time.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::{Program, ticks};

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

    #[test]
    fn user_and_system_time_are_added_whatever_the_program_is_called() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 120 34 3 4 20 0 1 0 5 6 7\n";
        assert_eq!(ticks(stat), Some(7));
        assert_eq!(ticks("7 (a"), None);
    }
}
