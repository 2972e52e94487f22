//! A step that hangs is ended, and says what it hung in: Linux alone.

use core::time::Duration;
use std::collections::HashMap;
use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use crate::kit::process::parent;
use crate::kit::program::Program;

/// Does the work. If that takes longer than the limit, shows every process below this one, down to where each of its
/// threads is, and ends them, so that the work fails.
pub(crate) fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    let late = || {
        eprintln!(
            "\nerror: not through after {} s; what runs:",
            limit.as_secs()
        );
        end(below(std::process::id()));
    };
    or_late(limit, late, work)
}

fn or_late<T>(limit: Duration, late: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    let (done, wait) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                late();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Shows these processes, and then ends them.
fn end(processes: Vec<u32>) {
    let start = Instant::now();
    for &process in &processes {
        eprint!("{}", describe(process));
        // Where it is in its own code, if a debugger is there; this may take two minutes.
        let left = Duration::from_secs(120).saturating_sub(start.elapsed());
        let stacks = format!("timeout {} gdb -batch -nx -p {process} -ex", left.as_secs());
        if left.as_secs() > 0
            && let Ok(stacks) = Program::parse(&stacks).arg("thread apply all bt 30").read()
        {
            eprintln!("{stacks}");
        }
    }
    for process in processes {
        // One that has ended in the meantime is not a fault.
        let _ = Program::parse(&format!("kill -KILL {process}")).output();
    }
}

/// The processes that this one has started, and theirs.
fn below(process: u32) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for number in numbers {
        if let Some(parent) = parent(number) {
            children.entry(parent).or_default().push(number);
        }
    }
    let mut found = children.remove(&process).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let theirs = children.remove(process).unwrap_or_default();
        found.extend(theirs);
        next = next.saturating_add(1);
    }
    found
}

/// Its command, and for each of its threads the name, the state and the place in the kernel where it waits.
fn describe(process: u32) -> String {
    let read = |path: String| fs::read_to_string(path).unwrap_or_default();
    let command = read(format!("/proc/{process}/cmdline")).replace('\0', " ");
    let mut text = format!("{process}: {}\n", command.trim());
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    for thread in threads.into_iter().flatten().flatten() {
        let folder = thread.path().display().to_string();
        let stat = read(format!("{folder}/stat"));
        let state = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
        let name = read(format!("{folder}/comm"));
        let place = read(format!("{folder}/wchan"));
        text.push_str(&format!(
            "    {}, {}, {place}\n",
            name.trim(),
            state.get(..1).unwrap_or("ended")
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_described_and_ended() {
        let program = Program::parse("sh -c").arg("sleep 1000 & wait");
        let mut shell = program.command().unwrap().spawn().unwrap();
        let start = Instant::now();
        let sleeping = loop {
            let processes = below(shell.id());
            let text: String = processes.iter().copied().map(describe).collect();
            if text.contains(": sleep 1000\n    sleep, S, ") {
                break processes;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{text}");
            thread::yield_now();
        };
        assert_eq!(sleeping.len(), 1);
        assert!(below(std::process::id()).contains(&shell.id()));
        end(sleeping);
        assert!(
            shell.wait().unwrap().success(),
            "it had to wait for nothing but that"
        );
    }

    #[test]
    fn only_work_that_is_late_is_disturbed() {
        let (late, wait) = mpsc::channel();
        let soon = Duration::from_millis(1);
        or_late(soon, || late.send(()).unwrap(), || wait.recv().unwrap());
        assert_eq!(
            or_late(Duration::from_secs(1000), || panic!("too early"), || 7),
            7
        );
    }
}
