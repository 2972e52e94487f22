//! Crashes: a process with a ledger is killed, its disk fails or loses what wasn't synced, its clock jumps. Every answered
//! command must be there afterwards, and every other one entirely or not at all.
//!
//! `ORBGATE_LEDGER_CRASHES=2000` runs more than the few of `cargo test`; `cargo xtask assure ledger` does.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::sync::Arc;
use std::thread;

use orbgate_ledger::{
    Answer, Clock, Command, Cursor, Error, Extend, HoldAnswer, Ledger, Millis, Revoke, Settle, Settlement, Sqlite,
};

use orbgate_testing::random::Random;

use crate::support::{account, capture, grant, hold, id, millis};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It is killed after this many milliseconds.
    Killed(u64),
    /// Its disk does this at the n-th sync or write.
    Disk(&'static str, u64),
}

/// What is on the disk afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// Everything that was written: the machine kept running.
    Everything,
    /// Only what was synced.
    Synced,
    /// What was synced, and some of the other sectors.
    Mixed,
}

/// What happened in all rounds.
#[derive(Debug, Default)]
struct Figures {
    answered: u64,
    kills: u64,
    faults: u64,
    lost: Vec<String>,
}

#[test]
fn no_answered_command_is_lost_in_a_crash() {
    let Some(disk) = disk() else {
        return;
    };
    let rounds = crate::support::rounds("ORBGATE_LEDGER_CRASHES", 36);
    let seed = crate::support::rounds("ORBGATE_LEDGER_SEED", 20_261_127);
    println!("seed {seed}");
    let figures = crash(&disk, rounds, &mut Random::new(seed), fault);
    let Figures { answered, kills, faults, lost } = &figures;
    println!("{answered} commands answered, {kills} kills, {faults} faults injected, {} lost", lost.len());
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(*answered > rounds && *kills > rounds / 3 && *faults > rounds / 5, "{figures:?}");
}

/// Otherwise the test above shows nothing.
#[test]
fn a_disk_that_never_syncs_loses_commands() {
    let Some(disk) = disk() else {
        return;
    };
    let without_sync = |_: &mut Random, _| (Fault::Disk("no_sync", 0), Left::Synced);
    let figures = crash(&disk, 3, &mut Random::new(1), without_sync);
    assert!(!figures.lost.is_empty(), "{figures:?}");
}

/// The fault of a round. In each kind, every n comes.
const fn fault(random: &mut Random, round: u64) -> (Fault, Left) {
    let n = round / 6 + 1;
    let fault = match round % 6 {
        0 => Fault::Killed(random.below(60) + 1),
        1 => Fault::Disk("kill_before_sync", n),
        2 => Fault::Disk("kill_after_sync", n),
        3 => Fault::Disk(["sync_error", "write_error"][random.below(2) as usize], n),
        4 => Fault::Disk("disk_full", n * 3),
        _ => Fault::Disk("torn_write", n * 2),
    };
    (fault, [Left::Everything, Left::Synced, Left::Mixed][random.below(3) as usize])
}

/// Starts and crashes processes, and checks the ledger after each crash.
fn crash(disk: &Path, rounds: u64, random: &mut Random, fault: impl Fn(&mut Random, u64) -> (Fault, Left)) -> Figures {
    let mut figures = Figures::default();
    let mut folder = tempfile::tempdir().unwrap();
    let mut answers = Vec::new();
    for round in 0..rounds {
        if round % 12 == 0 {
            folder = tempfile::tempdir().unwrap();
            answers = Vec::new();
        }
        let (fault, left) = fault(random, round);
        answers.extend(run(disk, folder.path(), round, fault, &mut figures));
        power_off(folder.path(), left, random);
        let lost = check(folder.path(), &answers);
        figures.lost.extend(lost.into_iter().map(|lost| format!("round {round}, {fault:?}, {left:?}: {lost}")));
        if !figures.lost.is_empty() {
            break;
        }
    }
    figures
}

/// Runs a process until it crashes or stops, and returns what it has answered.
fn run(disk: &Path, folder: &Path, round: u64, fault: Fault, figures: &mut Figures) -> Vec<(Command, String)> {
    fs::create_dir_all(folder.join("live")).unwrap();
    fs::create_dir_all(folder.join("durable")).unwrap();
    let mut process = Process::new(std::env::current_exe().unwrap());
    process.args(["crash::the_process", "--exact", "--nocapture"]);
    process.env("LD_PRELOAD", disk).env(FOLDER, folder).env(ROUND, round.to_string());
    process.env("ORBGATE_DISK", folder.join("live")).env("ORBGATE_DISK_DURABLE", folder.join("durable"));
    if let Fault::Disk(what, at) = fault {
        process.env("ORBGATE_DISK_FAULT", what).env("ORBGATE_DISK_AT", at.to_string());
    }
    let mut child = process.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let reader = thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
    if let Fault::Killed(after) = fault {
        thread::sleep(Duration::from_millis(20 + after));
        // It may have ended already.
        let _ = child.kill();
    }
    let was_killed = end(&mut child);
    let lines = reader.join().unwrap();
    figures.kills += u64::from(was_killed);
    figures.faults += u64::from(lines.iter().any(|line| line.contains("stopped=")));
    // The first is on the line that the harness has begun.
    let answered = lines.iter().filter_map(|line| line.split_once("answer=")).filter_map(|(_, line)| {
        let (index, answer) = line.split_once(' ')?;
        let (thread, index) = index.split_once('.')?;
        let answer = answer.strip_suffix(" end")?;
        Some((command(round, thread.parse().ok()?, index.parse().ok()?), answer.to_owned()))
    });
    let answered: Vec<_> = answered.collect();
    figures.answered += answered.len() as u64;
    answered
}

/// Waits for a process, but not for ever, and returns whether it was killed.
fn end(child: &mut Child) -> bool {
    for _ in 0..6000 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().is_none();
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("a process hangs");
}

/// Leaves on the disk what a crash of the machine could leave.
fn power_off(folder: &Path, left: Left, random: &mut Random) {
    let (live, durable) = (folder.join("live"), folder.join("durable"));
    if left == Left::Everything {
        // What was written is durable from now on.
        for name in ["orbs.db", "orbs.db-wal"] {
            match fs::read(live.join(name)) {
                Ok(bytes) => fs::write(durable.join(name), bytes).unwrap(),
                Err(_) => drop(fs::remove_file(durable.join(name))),
            }
        }
        return;
    }
    let _ = fs::remove_file(live.join("orbs.db-shm"));
    for name in ["orbs.db", "orbs.db-wal"] {
        let written = fs::read(live.join(name)).unwrap_or_default();
        let mut bytes = fs::read(durable.join(name)).unwrap_or_default();
        if left == Left::Mixed {
            for (index, sector) in written.chunks(512).enumerate() {
                let start = index * 512;
                if random.below(2) == 0 {
                    bytes.resize(bytes.len().max(start + sector.len()), 0);
                    bytes[start..start + sector.len()].copy_from_slice(sector);
                }
            }
        }
        for to in [&live, &durable] {
            match bytes.is_empty() {
                true => drop(fs::remove_file(to.join(name))),
                false => fs::write(to.join(name), &bytes).unwrap(),
            }
        }
    }
}

/// Opens the ledger after a crash, and returns what is wrong.
fn check(folder: &Path, answers: &[(Command, String)]) -> Vec<String> {
    let path = folder.join("live/orbs.db");
    let ledger = match Sqlite::open_with(&path, None, Arc::new(Still)) {
        Ok(ledger) => ledger,
        Err(error) => return vec![error.to_string()],
    };
    let mut wrong = ledger.verify().unwrap().found;
    let count = |ledger: &Sqlite| ledger.entries(&Cursor::default(), usize::MAX).unwrap().entries.len();
    let before = count(&ledger);
    for (command, answer) in answers {
        // What was answered is there: the same command gets the same receipt, and changes nothing.
        let actual = receipt(&ledger.run(command.clone()));
        if actual.as_deref() != Some(answer) {
            wrong.push(format!("{command:?}: answered {answer}, then {actual:?}"));
        }
    }
    let after = count(&ledger);
    if before != after {
        wrong.push(format!("{before} entries, and {after} after the same commands again"));
    }
    wrong.extend(ledger.verify().unwrap().found);
    drop(ledger);
    // What this process wrote is on its own disk.
    for name in ["orbs.db", "orbs.db-wal"] {
        match fs::read(folder.join("live").join(name)) {
            Ok(bytes) => fs::write(folder.join("durable").join(name), bytes).unwrap(),
            Err(_) => drop(fs::remove_file(folder.join("durable").join(name))),
        }
    }
    wrong
}

/// The receipt of a command that was done.
fn receipt(answer: &Result<Answer, Error>) -> Option<String> {
    let receipt = match answer.as_ref().ok()? {
        Answer::Granted(done) => serde_json::to_string(&done.receipt),
        Answer::Revoked(done) => serde_json::to_string(&done.receipt),
        Answer::Extended(done) => serde_json::to_string(&done.receipt),
        Answer::Settled(done) => serde_json::to_string(&done.receipt),
        Answer::Refunded(done) => serde_json::to_string(&done.receipt),
        Answer::Frozen(done) => serde_json::to_string(&done.receipt),
        Answer::Hold(HoldAnswer::Held { receipt, .. }) => serde_json::to_string(receipt),
        Answer::Hold(HoldAnswer::Denied(_)) | Answer::Balance(_) | Answer::Holds(_) => return None,
    };
    Some(receipt.unwrap())
}

/// A clock in the past: within an account, time doesn't go back.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Millis {
        millis(1)
    }
}

/// A clock that jumps back and forward.
#[derive(Debug)]
struct Jumping(AtomicU64);

impl Clock for Jumping {
    fn now(&self) -> Millis {
        let reading = self.0.fetch_add(1, Ordering::SeqCst);
        let jump = if reading.is_multiple_of(7) { 900 } else { 0 };
        millis(1_000_000 + reading * 5 - jump + (reading % 97) * 20)
    }
}

/// The commands of a round: each thread grants, holds and settles, and sometimes extends or revokes.
fn command(round: u64, thread: u64, index: u64) -> Command {
    let name = |index: u64| format!("{round}.{thread}.{index}");
    let of = format!("account {}", thread % 2);
    match index % 8 {
        0 => Command::Grant(grant(&name(index), &of, 50)),
        1 | 2 => Command::Hold(orbgate_ledger::Hold { ttl: millis(2000), ..hold(name(index), &of, 7) }),
        3 => Command::Settle(capture(name(index - 2), 9)),
        4 => Command::Extend(Extend { id: id(name(index)), hold: id(name(index - 2)), ttl: millis(3000) }),
        5 => Command::Settle(Settle { hold: id(name(index - 3)), settlement: Settlement::Void }),
        6 => Command::Settle(Settle { hold: id(name(index)), settlement: Settlement::Void }),
        _ => Command::Revoke(Revoke::new(id(name(index)), account(&of), id(name(index - 7)))),
    }
}

const FOLDER: &str = "ORBGATE_LEDGER_CRASH";
const ROUND: &str = "ORBGATE_LEDGER_ROUND";

/// Does nothing unless another test starts it: writes commands until it is killed or its ledger stops.
#[test]
fn the_process() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let round: u64 = std::env::var(ROUND).unwrap().parse().unwrap();
    let clock = Arc::new(Jumping(AtomicU64::new(round * 500)));
    let ledger = match Sqlite::open_with(&PathBuf::from(folder).join("live/orbs.db"), None, clock) {
        Ok(ledger) => ledger,
        Err(error) => return println!("stopped={error}"),
    };
    thread::scope(|scope| {
        for thread in 0..4 {
            let ledger = &ledger;
            scope.spawn(move || work(ledger, round, thread));
        }
    });
}

fn work(ledger: &Sqlite, round: u64, thread: u64) {
    for index in 0..160 {
        let answer = ledger.run(command(round, thread, index));
        if let Err(Error::Unknown(why)) = &answer {
            // It has stopped, and stays so.
            assert!(matches!(ledger.run(command(round, thread, index)), Err(Error::Unknown(_))));
            return println!("stopped={why}");
        }
        if let Some(receipt) = receipt(&answer) {
            let mut out = std::io::stdout().lock();
            out.write_all(format!("\nanswer={thread}.{index} {receipt} end\n").as_bytes()).unwrap();
            out.flush().unwrap();
        }
    }
}

/// The preloaded disk, compiled by this test.
fn disk() -> Option<PathBuf> {
    static DISK: std::sync::OnceLock<Option<PathBuf>> = std::sync::OnceLock::new();
    DISK.get_or_init(|| {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/crash/disk.c");
        let disk = Path::new(env!("CARGO_TARGET_TMPDIR")).join("disk.so");
        let mut cc = Process::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&disk).arg(source).arg("-ldl");
        match cc.status() {
            Ok(status) if cfg!(target_os = "linux") && status.success() => Some(disk),
            failed => {
                let what = "crashes of a ledger: `cc` can't compile a preloaded library here";
                orbgate_testing::skipped::missing(&format!("{what}: {failed:?}"));
                None
            }
        }
    })
    .clone()
}
