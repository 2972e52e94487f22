//! A step that hangs is ended, and says what it hung in: where there is `ps`.

use core::time::Duration;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use crate::kit::program::Program;

/// Does the work. If that takes longer than the limit, shows every process below this one, down to where each of its
/// threads is, and ends them, so that the work fails.
pub(crate) fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    let late = || {
        let seconds = limit.as_secs();
        eprintln!("\nerror: not through after {seconds} s; what runs:");
        end(&below(std::process::id()));
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
fn end(processes: &[String]) {
    eprintln!("{}", describe(processes));
    for process in processes {
        // Where it is in its own code, if a debugger is there.
        let stacks = format!("timeout 20 gdb -batch -nx -p {process} -ex");
        let stacks = Program::parse(&stacks).arg("thread apply all bt 30");
        eprintln!("{}", stacks.read().unwrap_or_default());
    }
    // One that has ended in the meantime is not a fault.
    let _ = Program::parse("kill -KILL").args(processes).output();
}

/// The processes that this one has started, and theirs.
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

/// Each of their threads with its state, the place in the kernel where it waits, its name and the command.
fn describe(processes: &[String]) -> String {
    let ps = Program::parse("ps -L -o pid,lwp,stat,wchan:20,comm,args -p");
    ps.arg(processes.join(",")).read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn what_hangs_is_described_and_ended() {
        let program = Program::parse("sh -c").arg("sleep 1000 & wait");
        let mut shell = program.command().unwrap().spawn().unwrap();
        let start = Instant::now();
        let sleeping = loop {
            let processes = below(shell.id());
            let text = describe(&processes);
            if text.contains("sleep 1000") {
                break processes;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{text}");
        };
        assert_eq!(sleeping.len(), 1);
        assert!(below(std::process::id()).contains(&shell.id().to_string()));
        end(&sleeping);
        assert!(shell.wait().unwrap().success(), "it waited for that alone");
    }

    #[test]
    fn only_work_that_is_late_is_disturbed() {
        let (late, wait) = mpsc::channel();
        let soon = Duration::from_millis(1);
        or_late(soon, || late.send(()).unwrap(), || wait.recv().unwrap());
        let long = Duration::from_secs(1000);
        assert_eq!(or_late(long, || panic!("too early"), || 7), 7);
    }
}
