//! `orbgate replay` as a part of a pipe: memory, waiting, and readers that go away.

use core::time::Duration;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::thread;

use crate::{Piped, command, orbgate_reading};

const LINE: &[u8] = b"{\"method\":\"GET\",\"target\":\"/api/v1/external/voxies/0123456789abcdef\",\
    \"token\":{\"kind\":\"user\",\"scopes\":\"read:orbs read:voxies\"}}\n";

/// Also where the beginning of the next line has come with it.
#[test]
fn each_line_is_answered_before_the_next_is_waited_for() {
    let mut command = Piped::start(&["replay"]);
    let (begin, end) = LINE.split_at(20);
    command.write(begin);
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(2));
        command.write(&[end, begin].concat());
        let answer = command.answer();
        assert!(answer.contains("scope_held"), "{answer}");
    }
    command.write(end);
    assert!(command.answer().contains("scope_held"));
    assert_eq!(command.end(), Some(0));
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let mut child = command(&["replay"]).stdin(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(&LINE.repeat(20_000)));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn the_other_commands_end_as_quietly() {
    for arguments in [&["table"][..], &["table", "--format", "json"], &["completions", "bash"]] {
        let mut child = command(arguments).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        // What is written before the reader goes away may still fit into the pipe.
        assert!(matches!(output.status.code(), Some(0 | 2)), "{output:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_2_and_said() {
    for arguments in [&["replay"][..], &["table"], &["completions", "bash"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut child = command(arguments).stdin(Stdio::piped()).stdout(full).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(LINE);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("error: cannot write to standard output: "), "{error}");
    }
}

#[test]
fn a_line_that_is_too_long_is_skipped() {
    const LIMIT: usize = 16 * 1024 * 1024;
    let padded = |length: usize| {
        let mut line = br#"{"scope":"read:orbs"}"#.to_vec();
        line.resize(length, b' ');
        line.push(b'\n');
        line
    };
    let lines = [padded(30), padded(LIMIT), padded(LIMIT + 1), padded(2 * LIMIT), padded(30)].concat();
    let ran = orbgate_reading(&["replay"], &lines);
    assert_eq!(ran.code, 2);
    let answers: Vec<_> = ran.out.lines().collect();
    assert_eq!(answers.len(), 5);
    for at in [0, 1, 4] {
        assert!(answers[at].contains("no_token"), "{at}: {}", answers[at]);
    }
    assert_eq!(answers[2], r#"{"error":{"line":3,"message":"longer than 16 MiB"}}"#);
    assert_eq!(answers[3], r#"{"error":{"line":4,"message":"longer than 16 MiB"}}"#);
}

/// 200,000 lines are 25 MB in and 50 MB out: keeping them would show in the memory.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_log() {
    const LINES: usize = 200_000;
    const MOST_KIB: usize = 16 * 1024;
    let mut child = command(&["replay"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let writer = thread::spawn(move || {
        let some = LINE.repeat(1_000);
        (0..LINES / 1_000).for_each(|_| stdin.write_all(&some).unwrap());
        stdin
    });
    let mut answer = Vec::new();
    for _ in 0..LINES {
        answer.clear();
        stdout.read_until(b'\n', &mut answer).unwrap();
        assert!(answer.ends_with(b"}\n"));
    }
    // Every line is answered, and the command waits for more.
    let stdin = writer.join().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    drop(stdin);
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(peak < MOST_KIB, "{peak} KiB at the peak");
}
