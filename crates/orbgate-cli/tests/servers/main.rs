//! `orbgate mcp probe` finds faults that are planted in servers of four SDKs, and none in the same servers without them. The page about MCP
//! works as it is.
#![cfg(test)]
#![allow(clippy::disallowed_methods, reason = "a test that cannot go on fails")]

#[cfg(unix)]
mod page;
mod rust;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use orbgate_testing::skipped::missing;
use serde_json::Value;

/// Each planted fault, and the check that finds it.
const FAULTS: [(&str, &str); 5] = [
    ("open", "no token, lying method"),
    ("audience", "a wrong audience"),
    ("error", "a missing scope"),
    ("name", "a scope, lying name"),
    ("batch", "a scope in a batch"),
];

/// Installs the packages of Node's tests.
const NODE_PACKAGES: &str = "test -d bindings/node/node_modules/@modelcontextprotocol/server || \
                             npm ci --prefix bindings/node --prefer-offline --ignore-scripts --no-audit --no-fund --silent";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(root());
    command
}

/// A server in a process of its own.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(words: &str, fault: &str) -> (Server, String) {
    let mut command = shell(&format!("exec {words} {fault}"));
    let mut server = Server(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("listening ").unwrap_or_else(|| panic!("{words}: {line}"));
    (server, url.to_owned())
}

fn probe(url: &str) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbgate"));
    command.args(["mcp", "probe", url, "--json", "--token-env", "GOOD", "--other-token-env", "OTHER"]);
    command.args(["--denied-tool", "refund"]).env("GOOD", "good").env("OTHER", "other");
    let output = command.output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{url}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
    let checks = answer["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["verdict"] != "skipped"), "{answer}");
    let faults = checks.iter().filter(|check| check["verdict"] == "fault");
    let faults: Vec<_> = faults.map(|check| check["check"].as_str().unwrap().to_owned()).collect();
    assert_eq!(output.status.code(), Some(i32::from(!faults.is_empty())), "{answer}");
    faults
}

fn every_fault_is_found(start: impl Fn(&'static str) -> String) {
    assert!(probe(&start("none")).is_empty(), "a healthy server: {:?}", probe(&start("none")));
    for (fault, check) in FAULTS {
        assert_eq!(probe(&start(fault)), [check], "{fault}");
    }
}

/// Whether this command has set up what a test needs.
fn is_set_up(command: &str) -> bool {
    let output = shell(command).stdin(Stdio::null()).output().unwrap();
    if !output.status.success() {
        missing(&format!("`{command}`: {}", String::from_utf8_lossy(&output.stderr)));
    }
    output.status.success()
}

/// The same of a program, after this command has set it up.
fn of_program(set_up: &str, words: &str) {
    if !is_set_up(set_up) {
        return;
    }
    let servers = core::cell::RefCell::new(Vec::new());
    every_fault_is_found(|fault| {
        let (server, url) = start(words, fault);
        servers.borrow_mut().push(server);
        url
    });
}

#[test]
#[ignore = "the step `gates` runs it"]
fn rust() {
    every_fault_is_found(rust::serve);
}

#[test]
#[ignore = "the step `gates` runs it"]
fn go() {
    let build = "cd bindings/go/recipes && GOWORK=off CGO_ENABLED=0 go build -o ../../../target/xtask/mcp-server-go ./mcpserver";
    of_program(build, "target/xtask/mcp-server-go");
}

#[test]
#[ignore = "the step `gates` runs it"]
fn typescript() {
    of_program(NODE_PACKAGES, "node crates/orbgate-cli/tests/servers/server.js");
}

#[test]
#[ignore = "the step `gates` runs it"]
fn python() {
    let home = "target/xtask/mcp-server-python";
    let make = format!("[ -x {home}/bin/pip ] || python3 -m venv {home}");
    let install = format!("{home}/bin/pip install --quiet --disable-pip-version-check 'mcp>=2.3'");
    of_program(
        &format!("mkdir -p target/xtask && {make} && {install}"),
        &format!("{home}/bin/python crates/orbgate-cli/tests/servers/server.py"),
    );
}
