//! The `orbgate` command as its users meet it: arguments and files in; output and exit code out.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that cannot go on fails, and one that is skipped says so"
)]

mod alternatives;
mod cases;
mod check;
mod decide;
mod diff;
mod explain;
#[cfg(feature = "orbs")]
mod grants;
mod help;
mod hostile;
mod init;
mod layout;
mod lint;
mod logs;
#[cfg(feature = "lsp")]
mod lsp;
mod mcp;
mod openapi;
#[cfg(feature = "orbs")]
mod orbs;
mod questions;
mod readme;
mod replay;
mod replay_stream;
mod review;
#[cfg(unix)]
mod serve;
#[cfg(all(feature = "orbs", unix))]
#[path = "../../../orbgate-ledger/tests/postgres/server.rs"]
#[allow(dead_code, reason = "the ledger's tests need more of it")]
mod server;
#[cfg(all(feature = "orbs", unix))]
mod table;
mod token;
mod validate;
mod wrong_hands;

use core::time::Duration;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

#[derive(Debug, PartialEq, Eq)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// The command, with nothing in the environment that would change its colours.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbgate"));
    command.args(arguments);
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the command with nothing on standard input.
fn orbgate(arguments: &[&str]) -> Ran {
    finish(command(arguments), b"")
}

fn orbgate_reading(arguments: &[&str], input: &[u8]) -> Ran {
    finish(command(arguments), input)
}

fn finish(mut command: Command, input: &[u8]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The command may end without reading all of it.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    Ran {
        code: output.status.code().expect("ended by a signal"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The command between two pipes, one line of answer at a time. What hangs fails, and does not wait for ever.
struct Piped {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Piped {
    fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, answers) = channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { child, stdin, answers }
    }

    fn write(&mut self, piece: &[u8]) {
        self.stdin.write_all(piece).unwrap();
    }

    fn answer(&mut self) -> String {
        let answer = self.answers.recv_timeout(Duration::from_secs(60));
        if answer.is_err() {
            self.child.kill().unwrap();
        }
        answer.expect("no answer within a minute")
    }

    fn end(self) -> Option<i32> {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        child.wait().unwrap().code()
    }
}

/// A file of this test run, with this content.
fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A file of the repository, by its path there. The archive of the published package has no such files, and
/// tests that run there skip what needs them; in the repository a missing file is a failure.
fn of_the_repository(path: &str) -> Option<PathBuf> {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let file = package.join("../..").join(path);
    // Cargo writes this file into every archive.
    if !file.exists() && package.join("Cargo.toml.orig").exists() {
        eprintln!("skipped: {path} is not part of the package's archive");
        return None;
    }
    assert!(file.exists(), "{path} is missing");
    Some(file)
}

fn digest() -> String {
    orbgate::Engine::external().digest().to_string()
}

/// A policy with everything that the command shows: amounts, overlaps, both kinds of api.
const SHOP: &str = include_str!("../../testdata/shop.yaml");

const BAD: &str = include_str!("../../testdata/bad.yaml");
