//! What only the SQLite store has: files, threads, processes, backups.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::{Arc, Mutex, mpsc};

use std::thread;

use orbgate_ledger::{
    Answer, Clock, ClockChange, Command, Cursor, Error, Grant, Hold, HoldAnswer, Ledger, Millis, Model, Order, Sqlite,
    State, SystemClock, suite,
};

use crate::backlog::others_go_first;
use crate::support::{Clocked, TestClock, account, capture, grant, hold, millis, orbs};

fn hold_all(ledger: &dyn Ledger, prefix: &str, threads: u64, each: u64) -> u64 {
    let hold = |hold: Hold| loop {
        match ledger.hold(hold.clone()) {
            // Another process writes: nothing was done.
            Err(Error::Busy) => {}
            answer => return answer.unwrap(),
        }
    };
    crate::support::hold_all(hold, prefix, threads, each)
}

#[test]
fn a_thousand_holds_of_64_threads_admit_exactly_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Sqlite::open(folder.path().join("orbs.db")).unwrap();
    ledger.grant(grant("g", "a", 500)).unwrap();
    assert_eq!(hold_all(&ledger, "h", 64, 16), 50);
    assert_eq!(ledger.balance(account("a")).unwrap().available, orbs(0));
    assert_eq!(ledger.holds(account("a")).unwrap().len(), 50);
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
}

/// The variable that makes this program the other process.
const OTHER: &str = "ORBGATE_LEDGER_OTHER";

/// Does nothing unless another test starts it.
#[test]
fn the_other_process() {
    let Some(path) = std::env::var_os(OTHER) else {
        return;
    };
    let ledger = Sqlite::open(Path::new(&path)).unwrap();
    let prefix = format!("other {}", std::process::id()).replace(' ', "-");
    println!("admitted={}", hold_all(&ledger, &prefix, 8, 63));
}

#[test]
fn a_thousand_holds_of_two_processes_admit_exactly_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orbs.db");
    let ledger = Sqlite::open(&path).unwrap();
    ledger.grant(grant("g", "a", 500)).unwrap();
    let others = [(); 2].map(|()| {
        let mut other = Process::new(std::env::current_exe().unwrap());
        other.args(["sqlite::the_other_process", "--exact", "--nocapture"]).env(OTHER, &path);
        other.stdout(Stdio::piped()).spawn().unwrap()
    });
    let admitted = others.map(|other| {
        let output = other.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let out = String::from_utf8(output.stdout).unwrap();
        let count = out.split_once("admitted=").unwrap().1;
        count.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    });
    assert_eq!(admitted.iter().sum::<u64>(), 50, "{admitted:?}");
    assert_eq!(ledger.balance(account("a")).unwrap().held, orbs(500));
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
}

/// A clock that waits at the third command.
#[derive(Debug)]
struct Pausing {
    readings: AtomicU64,
    reached: mpsc::Sender<()>,
    goes_on: Mutex<mpsc::Receiver<()>>,
}

impl Clock for Pausing {
    fn now(&self) -> Millis {
        if self.readings.fetch_add(1, Ordering::SeqCst) == 2 {
            self.reached.send(()).unwrap();
            // The other process waits for this one, unless it isn't kept out.
            let _ = self.goes_on.lock().unwrap().recv_timeout(Duration::from_millis(500));
        }
        SystemClock.now()
    }

    fn runs(&self) -> bool {
        false
    }
}

/// Another process that writes between what a transaction reads and what it writes would break it.
#[test]
fn a_transaction_keeps_others_out_from_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orbs.db");
    let other = Sqlite::open(&path).unwrap();
    other.grant(grant("g", "a", 500)).unwrap();
    let ((reached, is_reached), (go_on, goes_on)) = (mpsc::channel(), mpsc::channel());
    let clock = Pausing { readings: AtomicU64::new(0), reached, goes_on: Mutex::new(goes_on) };
    let ledger = Sqlite::open_with(&path, None, Arc::new(clock)).unwrap();
    // The first command waits until the next two are there, so they are one transaction.
    let (release, wait) = mpsc::channel::<()>();
    ledger.submit(Command::Balance(account("a")), Box::new(move |_| wait.recv().unwrap()));
    ledger.submit(Command::Balance(account("a")), Box::new(|balance| assert!(balance.is_ok())));
    let (held, is_held) = mpsc::channel();
    ledger.submit(Command::Hold(hold("h", "a", 10)), Box::new(move |answer| held.send(answer).unwrap()));
    release.send(()).unwrap();
    is_reached.recv().unwrap();
    let others = other.hold(hold("other", "a", 10));
    let _ = go_on.send(());
    assert!(matches!(others, Ok(HoldAnswer::Held { .. }) | Err(Error::Busy)), "{others:?}");
    let answer = is_held.recv().unwrap();
    assert!(matches!(answer, Ok(Answer::Hold(HoldAnswer::Held { .. }))), "{answer:?}");
}

/// The commands of a commit share what is known of their account.
#[test]
fn commands_of_one_commit_are_equal_to_the_model() {
    for seed in 20..26 {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock::default());
        let ledger = Sqlite::open_with(&folder.path().join("orbs.db"), None, Arc::clone(&clock) as _).unwrap();
        let mut model = Model::new(Order::default());
        let steps = suite::random(seed, 1200);
        for steps in steps.chunks(60) {
            let now = steps[0].now;
            clock.0.store(now.get(), Ordering::SeqCst);
            // The writer waits until all of them are there.
            let (release, wait) = mpsc::channel::<()>();
            ledger.submit(Command::Balance(account("a")), Box::new(move |_| wait.recv().unwrap()));
            let answers: Vec<_> = steps
                .iter()
                .map(|step| {
                    let (send, answer) = mpsc::channel();
                    let answered = move |answer: Result<Answer, Error>| send.send(answer).unwrap();
                    ledger.submit(step.command.clone(), Box::new(answered));
                    answer
                })
                .collect();
            release.send(()).unwrap();
            for (step, answer) in steps.iter().zip(answers) {
                assert_eq!(answer.recv().unwrap(), model.run(&step.command, now), "seed {seed}: {step:?}");
            }
        }
        assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new(), "seed {seed}");
    }
}

#[test]
fn a_ledger_keeps_everything_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orbs.db");
    let ledger = Sqlite::open(&path).unwrap();
    ledger.grant(grant("g", "a", 500)).unwrap();
    let HoldAnswer::Held { receipt: first, .. } = ledger.hold(hold("h", "a", 10)).unwrap() else {
        panic!("denied");
    };
    drop(ledger);
    let ledger = Sqlite::open(&path).unwrap();
    let again = ledger.hold(hold("h", "a", 10)).unwrap();
    assert_eq!(again, HoldAnswer::Held { receipt: first, repeated: true, state: State::Pending });
    assert_eq!(ledger.settle(capture("h", 7)).unwrap().receipt.captured, orbs(7));
    assert_eq!(ledger.balance(account("a")).unwrap().available, orbs(493));
}

#[test]
fn other_files_and_other_orders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str, order| Sqlite::open_with(&folder.path().join(name), order, Arc::new(SystemClock));
    std::fs::write(folder.path().join("text"), "not a database, but long enough to be read as one".repeat(100))
        .unwrap();
    let other = rusqlite::Connection::open(folder.path().join("other")).unwrap();
    other.execute_batch("CREATE TABLE t (c)").unwrap();
    let ledger = open("orbs.db", Some(Order::PaidFirst)).unwrap();
    ledger.grant(grant("g", "a", 1)).unwrap();
    drop(ledger);
    assert!(open("orbs.db", None).is_ok() && open("orbs.db", Some(Order::PaidFirst)).is_ok());
    let newer = rusqlite::Connection::open(folder.path().join("newer")).unwrap();
    newer.execute_batch("PRAGMA application_id = 1869767283; PRAGMA user_version = 99").unwrap();
    for (name, order, why) in [
        ("text", None, "not a database"),
        ("other", None, "of another program"),
        ("orbs.db", Some(Order::BonusFirst), "its order is `paid_first`, not `bonus_first`"),
        ("newer", None, "its version is 99; this program knows 4"),
        ("nowhere/orbs.db", None, "cannot open"),
    ] {
        match open(name, order).unwrap_err() {
            Error::Unknown(message) => assert!(message.contains(why) && message.contains(name), "{message}"),
            error => panic!("{error:?}"),
        }
    }
}

#[test]
fn entries_are_never_changed_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orbs.db");
    let ledger = Sqlite::open(&path).unwrap();
    ledger.grant(grant("g", "a", 500)).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    for sql in ["UPDATE entry SET paid = 1", "DELETE FROM entry", "UPDATE grants SET available = 501"] {
        assert!(other.execute_batch(sql).is_err(), "{sql}");
    }
}

#[test]
fn a_ledger_that_was_tampered_with_is_found() {
    for (sql, what) in [
        ("UPDATE account SET paid = paid + 1", "sum of the grants"),
        ("UPDATE grants SET available = available - 1, captured = captured + 1", "grant `g`"),
        ("UPDATE hold SET state = 'expired' WHERE id = 'h2'", "hold `h2`"),
        ("UPDATE hold SET captured = captured + 1 WHERE id = 'h1'", "hold `h1`"),
        ("DELETE FROM hold WHERE id = 'h1'", "an entry has a hold that doesn't exist"),
        (
            "INSERT INTO hold SELECT 'h3', account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state, requested, \
             captured, captured_bonus, shortfall, late, settled_at FROM hold WHERE id = 'h2'",
            "hold `h3`",
        ),
        // An index that nothing else reads is a part of another one.
        (
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = \
             (SELECT rootpage FROM sqlite_schema WHERE name = 'grants_open') WHERE name = 'account_due'",
            "the file is damaged: ",
        ),
        ("DROP TRIGGER entry_is_never_deleted; DELETE FROM entry WHERE seq = 2", "entry 3 follows 1"),
        ("DROP TRIGGER entry_is_never_changed; UPDATE entry SET at = 0 WHERE seq = 3", "goes back"),
        ("DROP TRIGGER entry_is_never_changed; UPDATE entry SET held = 0 WHERE seq = 2", "another balance"),
        ("DROP TRIGGER entry_is_never_changed; UPDATE entry SET lines = '[[1,-9,10,0]]' WHERE seq = 2", "available"),
        (
            "DROP TRIGGER entry_is_never_changed; UPDATE entry SET digest = 1 WHERE seq = 2",
            "entry 2 of the ledger has another digest",
        ),
        (
            "DROP TRIGGER entry_is_never_changed; UPDATE entry SET number = 9 WHERE seq = 4",
            "entry 9 of the ledger has another digest",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orbs.db");
        let ledger = Sqlite::open(&path).unwrap();
        ledger.grant(grant("g", "a", 500)).unwrap();
        ledger.hold(hold("h1", "a", 10)).unwrap();
        ledger.settle(capture("h1", 7)).unwrap();
        ledger.hold(hold("h2", "a", 10)).unwrap();
        assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let faults = ledger.verify().unwrap().found;
        assert!(faults.iter().any(|fault| fault.contains(what)), "{sql}: {faults:?}");
    }
}

#[test]
fn a_backup_under_load_has_every_answered_command() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Sqlite::open(folder.path().join("orbs.db")).unwrap();
    ledger.grant(grant("g", "a", 1_000_000)).unwrap();
    for index in 0..2000 {
        ledger.submit(Command::Hold(hold(format!("before{index}"), "a", 1)), Box::new(|_| {}));
    }
    ledger.hold(hold("before", "a", 1)).unwrap();
    let to = folder.path().join("copy.db");
    thread::scope(|scope| {
        let others = [0, 1].map(|other| {
            let ledger = &ledger;
            scope.spawn(move || hold_all(ledger, &format!("during{other}"), 4, 100))
        });
        ledger.backup(&to).unwrap();
        for other in others {
            assert_eq!(other.join().unwrap(), 400);
        }
    });
    let copy = Sqlite::open(&to).unwrap();
    assert_eq!(copy.verify().unwrap().found, Vec::<String>::new());
    assert!(copy.holds(account("a")).unwrap().len() >= 2001);
    let again = ledger.backup(&to).unwrap_err().to_string();
    assert!(again.contains("the file exists"), "{again}");
    assert!(!folder.path().join("copy.db.part").exists());
}

/// It leaves a part of a copy and its journal, and its lock ends with it.
#[test]
fn a_killed_backup_does_not_block_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Sqlite::open(folder.path().join("orbs.db")).unwrap();
    ledger.grant(grant("g", "a", 5)).unwrap();
    let [to, part, journal] = ["copy.db", "copy.db.part", "copy.db.part-journal"].map(|name| folder.path().join(name));
    std::fs::write(&part, vec![7; 40_000]).unwrap();
    std::fs::write(&journal, vec![7; 40_000]).unwrap();
    let other = std::fs::File::open(&part).unwrap();
    other.lock().unwrap();
    let busy = ledger.backup(&to).unwrap_err().to_string();
    assert!(busy.contains("another backup writes it"), "{busy}");
    drop(other);
    ledger.backup(&to).unwrap();
    assert!(!part.exists() && !journal.exists());
    let copy = Sqlite::open(&to).unwrap();
    assert_eq!((copy.verify().unwrap().entries, copy.verify().unwrap().found), (1, Vec::new()));
}

/// A reader between two pages doesn't keep the write-ahead log from being reused.
#[test]
fn the_log_in_front_of_the_file_stays_small() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orbs.db");
    let ledger = Sqlite::open(&path).unwrap();
    ledger.grant(grant("g", "a", 1_000_000)).unwrap();
    let mut cursor = Cursor::default();
    for round in 0..20 {
        assert_eq!(hold_all(&ledger, &format!("r{round}"), 32, 16), 512);
        cursor = ledger.entries(&cursor, 100).unwrap().entries.pop().unwrap().0;
    }
    assert_eq!(ledger.verify().unwrap().entries, 1 + 20 * 512);
    let size = std::fs::metadata(path.with_extension("db-wal")).unwrap().len();
    // A thousand pages of 4 KiB, and one batch more.
    assert!(size < 16 << 20, "{size}");
}

/// Another process that writes, or has stopped midway, keeps nobody from reading. What has expired stays as it is.
#[test]
fn reading_needs_no_lock_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orbs.db");
    let clock = Arc::new(TestClock::default());
    let open = || Sqlite::open_with(&path, None, Arc::clone(&clock) as _).unwrap();
    clock.0.store(1_000, Ordering::SeqCst);
    let ledger = open();
    ledger.grant(Grant { expires_at: Some(millis(3_000)), ..grant("g", "a", 5) }).unwrap();
    ledger.hold(Hold { ttl: millis(1_000), ..hold("h", "a", 3) }).unwrap();
    drop(ledger);
    clock.0.store(5_000, Ordering::SeqCst);
    let other = rusqlite::Connection::open(&path).unwrap();
    let version = |name: &str| other.query_row(&format!("PRAGMA {name}"), (), |row| row.get::<_, i64>(0)).unwrap();
    let before = version("data_version");
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = std::time::Instant::now();
    let ledger = open();
    let balance = ledger.balance(account("a")).unwrap();
    assert_eq!((balance.posted, balance.held), (orbs(0), orbs(0)));
    assert_eq!(ledger.holds(account("a")).unwrap(), Vec::new());
    let page = ledger.entries(&Cursor::default(), 9).unwrap();
    // While the other process writes, no later time than its last is sure.
    assert_eq!((page.entries.len(), page.complete_until), (2, millis(1_000)));
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
    assert_eq!((ledger.backlog().unwrap().accounts, ledger.backlog().unwrap().age), (1, millis(3_000)));
    // A command that writes waits for 5 seconds.
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    other.execute_batch("ROLLBACK").unwrap();
    // The hold is the first that is due.
    assert_eq!(ledger.entries(&Cursor::default(), 9).unwrap().complete_until, millis(2_000));
    assert_eq!(version("data_version"), before);
    ledger.expire().unwrap();
    let page = ledger.entries(&Cursor::default(), 9).unwrap();
    assert_eq!((page.entries.len(), page.complete_until), (4, millis(5_000)));
    assert_eq!(ledger.backlog().unwrap().accounts, 0);
}

#[test]
fn an_idle_ledger_writes_what_has_expired() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Sqlite::open(folder.path().join("orbs.db")).unwrap();
    let ends = millis(SystemClock.now().get() + 5_000);
    for index in 0..500 {
        let grant = Grant { expires_at: Some(ends), ..grant(&format!("g{index}"), &format!("a{index}"), 5) };
        ledger.submit(Command::Grant(grant), Box::new(|answer| drop(answer.unwrap())));
    }
    ledger.balance(account("a0")).unwrap();
    let count = || ledger.entries(&Cursor::default(), 2_000).unwrap().entries.len();
    let written = (0..600).any(|_| {
        thread::sleep(Duration::from_millis(50));
        count() == 1_000
    });
    assert!(written, "{}", count());
    assert_eq!(ledger.backlog().unwrap().accounts, 0);
    assert!(ledger.entries(&Cursor::default(), 1).unwrap().complete_until > ends);
}

/// The first version had no index for the order of grants.
#[test]
fn a_file_of_the_first_version_is_upgraded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orbs.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(include_str!("../src/sqlite/schema.sql")).unwrap();
    old.execute_batch(
        "INSERT INTO setting VALUES ('order', 'paid_first');
         INSERT INTO account VALUES (1, 'a', 1, 1, 5, 0, 0, NULL);
         INSERT INTO grants VALUES (1, 1, 'g', 'paid', 5, NULL, 1, 5, 0, 0, 0, 0);
         INSERT INTO entry VALUES (1, 1, 1, 1, 'grant', 'g', '[[1,5,0,0]]', 5, 0, 0, 0);
         PRAGMA application_id = 1869767283; PRAGMA user_version = 1",
    )
    .unwrap();
    let add = "INSERT INTO entry (account, seq, at, cause, id, lines, paid, bonus, held, shortfall) \
               VALUES (1, 2, 1, 'void', 'h', '[]', 5, 0, 0, 0)";
    let mut still_open = old.prepare(add).unwrap();
    // An upgrade is one transaction: one that fails midway changes nothing.
    old.execute_batch("CREATE TABLE entry_before (number INTEGER)").unwrap();
    assert!(Sqlite::open(&path).unwrap_err().to_string().contains("entry_before"));
    assert_eq!(old.query_row("PRAGMA user_version", (), |row| row.get(0)), Ok(1));
    assert!(old.prepare("SELECT 1 FROM grants INDEXED BY grants_rank").is_err());
    old.execute_batch("DROP TABLE entry_before").unwrap();
    let ledger = Sqlite::open_with(&path, Some(Order::PaidFirst), Arc::new(SystemClock)).unwrap();
    // A program of the first version that still runs fails.
    assert!(still_open.execute(()).unwrap_err().to_string().contains("digest"));
    assert!(old.prepare("SELECT position FROM entry").is_err());
    // The cursor after its last entry is known, and no other of its kind.
    assert_eq!(ledger.entries(&Cursor::new("1"), 9).unwrap().entries, []);
    // The clock is far ahead of its entry, which is of 1970.
    ledger.clock(ClockChange::Accept).unwrap();
    for index in 0..40 {
        ledger.grant(grant(&format!("g{index}"), "a", 1)).unwrap();
    }
    assert!(matches!(ledger.hold(hold("h", "a", 45)).unwrap(), HoldAnswer::Held { .. }));
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
    assert_eq!(ledger.entries(&Cursor::new("1"), 99).unwrap().entries.len(), 41);
    for unknown in ["0", "2", "01", "1.1", "x"] {
        assert_eq!(ledger.entries(&Cursor::new(unknown), 9), Err(Error::Cursor), "{unknown}");
    }
}

/// Another process can bring the file up to date while this one runs.
#[test]
fn a_program_of_an_older_version_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orbs.db");
    let ledger = Sqlite::open(&path).unwrap();
    ledger.grant(grant("g", "a", 5)).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let errors = [
        ledger.entries(&Cursor::default(), 1).unwrap_err(),
        ledger.hold(hold("h", "a", 1)).unwrap_err(),
        ledger.balance(account("a")).unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("its version is 99; this program knows 4"), "{error}");
    }
    assert!(ledger.stopped().is_some());
}

#[test]
fn commands_of_other_accounts_go_before_a_backlog() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::new(TestClock::default()));
    let ledger = Sqlite::open_with(&folder.path().join("orbs.db"), None, Arc::clone(&clock) as _).unwrap();
    others_go_first(&Clocked { ledger, clock });
}
