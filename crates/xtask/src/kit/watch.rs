//! Follows a program line by line, and ends it if it prints nothing for too long.

use core::time::Duration;
use std::io::{self, BufRead as _, BufReader};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use crate::kit::program::Program;

/// How often it checks whether a program has ended although its descendants keep its output open.
const LOOK: Duration = Duration::from_secs(1);

/// Runs a program and passes each line of its output on.
///
/// # Errors
///
/// Fails if the program fails, or prints nothing for `limit`. In that case its processes are shown, with the location
/// of each thread, and ended. A slow machine still prints what it compiles, so a slow build isn't a hang.
pub(crate) fn follow(program: &Program, limit: Duration, mut line: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let (output, input) = io::pipe()?;
    let mut command = program.command()?;
    command.stdout(input.try_clone()?).stderr(input);
    let child = command.spawn();
    // The command has two ends of the pipe, which ends only when both are closed.
    drop(command);
    let mut child = child.with_context(|| format!("`{program}` could not be started"))?;
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut bytes = Vec::new();
        while output.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            bytes.clear();
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    let mut last = Instant::now();
    loop {
        match lines.recv_timeout(LOOK.min(limit)) {
            Ok(text) => {
                last = Instant::now();
                line(&text)?;
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_some() => break,
            Err(RecvTimeoutError::Timeout) if last.elapsed() < limit => {}
            Err(RecvTimeoutError::Timeout) => {
                let mut hanging = below(child.id());
                hanging.push(child.id().to_string());
                line(&end(&hanging))?;
                child.wait()?;
                let seconds = limit.as_secs();
                bail!("it printed nothing for {seconds} s and was ended; run it again to continue");
            }
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "{status}");
    Ok(())
}

/// Ends these processes, and returns what they were doing.
fn end(processes: &[String]) -> String {
    let mut doing = describe(processes);
    for process in processes {
        // The location in its own code, if a debugger is installed.
        let stacks = format!("timeout 20 gdb -batch -nx -p {process} -ex");
        let stacks = Program::parse(&stacks).arg("thread apply all bt 30");
        doing.push_str(&stacks.read().unwrap_or_default());
    }
    // A process that has ended in the meantime isn't an error.
    let _ = Program::parse("kill -KILL").args(processes).output();
    doing
}

/// The children of this process, and their descendants.
fn below(process: u32) -> Vec<String> {
    let all = Program::parse("ps -e -o pid=,ppid=").read();
    let all = all.unwrap_or_default();
    let mut found = vec![process.to_string()];
    let mut next = 0;
    while let Some(parent) = found.get(next).cloned() {
        let pairs = all.lines().map(|line| line.split_whitespace());
        let children = pairs.filter_map(|mut pair| Some((pair.next()?, pair.next()?)));
        let children = children.filter(|(_, of)| *of == parent);
        found.extend(children.map(|(child, _)| child.to_owned()));
        next = next.saturating_add(1);
    }
    found.split_off(1)
}

/// Each of their threads with its state, the location in the kernel where it waits, its name and the command.
fn describe(processes: &[String]) -> String {
    let ps = Program::parse("ps -L -o pid,lwp,stat,wchan:20,comm,args -p");
    ps.arg(processes.join(",")).read().unwrap_or_default()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run(script: &str, limit: Duration) -> (Vec<String>, Result<()>) {
        let mut lines = Vec::new();
        let program = Program::parse("sh -c").arg(script);
        let result = follow(&program, limit, |line| {
            lines.push(line.to_owned());
            Ok(())
        });
        (lines, result)
    }

    #[test]
    fn a_silent_program_is_described_and_ended() {
        let (lines, result) = run("echo begun; sleep 1000", Duration::from_millis(300));
        assert_eq!(lines[0], "begun");
        assert!(lines[1].contains("sleep 1000"), "{lines:?}");
        let error = result.unwrap_err().to_string();
        assert!(error.ends_with("run it again to continue"), "{error}");
    }

    #[test]
    fn both_outputs_of_a_program_and_its_failure_are_passed_on() {
        let script = "for n in 1 2 3; do echo $n; sleep 0.1; done; echo bad >&2; exit 3";
        let (lines, result) = run(script, Duration::from_secs(600));
        assert_eq!(lines, ["1", "2", "3", "bad"]);
        assert!(result.unwrap_err().to_string().contains('3'));
    }

    #[test]
    fn a_process_that_stays_behind_does_not_hold_the_end() {
        let (lines, result) = run("sleep 1000 & echo $!", Duration::from_secs(600));
        assert!(result.is_ok());
        let _ = Program::parse("kill").args(&lines).output();
    }
}
