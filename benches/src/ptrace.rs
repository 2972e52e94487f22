//! Counting instructions as the processor itself runs them, one step at a time: also those that valgrind
//! does not know. It takes some microseconds an instruction.

use std::env;
use std::error::Error;
use std::process::Command;

use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// Starts this program again, with these arguments, and counts the instructions that it has [`counted`].
pub fn count(arguments: &[&str]) -> Result<u64, Box<dyn Error>> {
    let mut program = Command::new(env::current_exe()?).args(arguments).spawn()?;
    let process = Pid::from_raw(program.id().try_into()?);
    stop(process)?;
    ptrace::setoptions(process, Options::PTRACE_O_EXITKILL)?;
    // The same but for the function itself: the way from one stop to the next.
    let without = steps(process)?;
    let with = steps(process)?;
    ptrace::detach(process, None)?;
    let status = program.wait()?;
    if !status.success() {
        return Err(format!("what was counted failed: {status}").into());
    }
    Ok(with - without)
}

/// Has the instructions of a function counted by the program that started this one.
pub fn counted(function: &mut dyn FnMut()) -> nix::Result<()> {
    ptrace::traceme()?;
    let nothing: &mut dyn FnMut() = &mut || {};
    for function in [nothing, function] {
        raise(Signal::SIGSTOP)?;
        function();
    }
    raise(Signal::SIGSTOP)
}

/// Waits until the process stops itself.
fn stop(process: Pid) -> Result<(), Box<dyn Error>> {
    match waitpid(process, None)? {
        WaitStatus::Stopped(_, Signal::SIGSTOP) => Ok(()),
        other => Err(format!("what was to be counted did not stop: {other:?}").into()),
    }
}

/// Takes the process to its next stop: how many instructions that took.
fn steps(process: Pid) -> Result<u64, Box<dyn Error>> {
    let (mut steps, mut signal) = (0, None);
    loop {
        ptrace::step(process, signal)?;
        match waitpid(process, None)? {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => (steps, signal) = (steps + 1, None),
            WaitStatus::Stopped(_, Signal::SIGSTOP) => return Ok(steps),
            // One of the terminal's, say; the process gets it with its next step.
            WaitStatus::Stopped(_, other) => signal = Some(other),
            other => return Err(format!("what was counted ended early: {other:?}").into()),
        }
    }
}
