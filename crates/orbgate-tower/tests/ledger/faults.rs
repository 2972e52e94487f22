//! Ledgers that lose answers, are slow, down, or panic; and a service that is killed.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use orbgate::{Engine, Policy};
use orbgate_gate::Request;
use orbgate_ledger::{
    AccountId, Backlog, Bucket, Cause, Command, Cursor, Error, Faults, Ledger, Listed, Listing, Millis, Page, Part,
    Reply, Sqlite, Statement, Totals,
};
use orbgate_tower::{Engines, OnCancelled, OrbRules};

use crate::service::{World, account, rules, send, wait};

fn sqlite(folder: &Path) -> Arc<Sqlite> {
    Arc::new(Sqlite::open(folder.join("orbs.db")).unwrap())
}

/// How a ledger treats a command.
type Submit = dyn Fn(&Arc<Sqlite>, Command, Reply) + Send + Sync;

/// A fault with a name, because a ledger can be printed.
struct Fault(Box<Submit>);

impl core::fmt::Debug for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a fault")
    }
}

#[derive(Debug)]
struct Broken {
    ledger: Arc<Sqlite>,
    fault: Fault,
}

impl Ledger for Broken {
    fn submit(&self, command: Command, reply: Reply) {
        (self.fault.0)(&self.ledger, command, reply);
    }

    fn entries(&self, after: &Cursor, limit: usize) -> Result<Page, Error> {
        self.ledger.entries(after, limit)
    }

    fn entries_of(&self, account: &AccountId, after: &Cursor, limit: usize) -> Result<Page, Error> {
        self.ledger.entries_of(account, after, limit)
    }

    fn accounts(&self, listing: &Listing) -> Result<Vec<Listed>, Error> {
        self.ledger.accounts(listing)
    }

    fn statement(&self, part: &Part) -> Result<Statement, Error> {
        self.ledger.statement(part)
    }

    fn totals(&self, at: Option<Millis>) -> Result<Totals, Error> {
        self.ledger.totals(at)
    }

    fn names(&self, after: &str, limit: usize) -> Result<Vec<AccountId>, Error> {
        self.ledger.names(after, limit)
    }

    fn expire(&self) -> Result<(), Error> {
        self.ledger.expire()
    }

    fn backlog(&self) -> Result<Backlog, Error> {
        self.ledger.backlog()
    }

    fn verify(&self) -> Result<Faults, Error> {
        self.ledger.verify()
    }
}

fn broken(
    folder: &Path,
    fault: impl Fn(&Arc<Sqlite>, Command, Reply) + Send + Sync + 'static,
) -> (Arc<Sqlite>, Arc<Broken>) {
    let ledger = sqlite(folder);
    let broken = Broken { ledger: Arc::clone(&ledger), fault: Fault(Box::new(fault)) };
    (ledger, Arc::new(broken))
}

const fn is_of_calls(command: &Command) -> bool {
    matches!(command, Command::Hold(_) | Command::Settle(_) | Command::Extend(_))
}

fn grant(ledger: &Arc<Sqlite>, user: &str, amount: u64) {
    let id = orbgate_ledger::Id::new(format!("{user}-{amount}")).unwrap();
    let amount = orbgate_ledger::Orbs::new(amount).unwrap();
    let grant = orbgate_ledger::Grant::new(id, account(user), amount);
    ledger.grant(grant).unwrap();
}

#[test]
fn a_lost_answer_charges_once() {
    let folder = tempfile::tempdir().unwrap();
    let lost = Arc::new(AtomicU64::new(0));
    let loses = {
        let lost = Arc::clone(&lost);
        // Every first answer is lost, after the command was done.
        move |ledger: &Arc<Sqlite>, command: Command, reply: Reply| {
            let is_first = is_of_calls(&command) && lost.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
            let unknown = |reply: Reply| -> Reply { Box::new(move |_| reply(Err(Error::Unknown("lost".to_owned())))) };
            ledger.submit(command, if is_first { unknown(reply) } else { reply });
        }
    };
    let (ledger, broken) = broken(folder.path(), loses);
    let world = World::new(broken, rules());
    grant(&ledger, "a", 100);
    assert_eq!(world.call("a", "POST /run", &[], "").unwrap().status, 200);
    assert_eq!((world.left("a"), world.ran()), (90, 1));
    wait(|| lost.load(Ordering::SeqCst) == 4);
    assert_eq!(world.causes("a"), [Cause::Hold, Cause::Capture]);
}

#[test]
fn a_ledger_that_is_down_denies_with_503() {
    denies_with_503(&Error::Busy);
}

#[test]
fn a_ledger_whose_clock_has_leapt_denies_with_503() {
    denies_with_503(&Error::Clock("the clock has jumped".to_owned()));
}

fn denies_with_503(error: &Error) {
    let folder = tempfile::tempdir().unwrap();
    let is_down = Arc::new(AtomicBool::new(true));
    let down = {
        let (is_down, error) = (Arc::clone(&is_down), error.clone());
        move |ledger: &Arc<Sqlite>, command: Command, reply: Reply| match is_down.load(Ordering::SeqCst) {
            true if is_of_calls(&command) => reply(Err(error.clone())),
            _ => ledger.submit(command, reply),
        }
    };
    let (ledger, broken) = broken(folder.path(), down);
    let mut rules = rules();
    rules.timeout = Duration::from_millis(200);
    // A flat denial doesn't hide it: it isn't the caller's.
    let world = World::with(broken, rules, |gate| gate.flat_403());
    grant(&ledger, "a", 100);
    let answer = world.call("a", "POST /run", &[], "").unwrap();
    assert_eq!((answer.status, answer.header("retry-after"), answer.body.as_str()), (503, Some("1"), ""));
    assert_eq!(world.call("a", "GET /free", &[], "").unwrap().status, 200);
    assert_eq!(world.ran(), 0);
    is_down.store(false, Ordering::SeqCst);
    wait(|| world.call("a", "POST /run", &[], "").unwrap().status == 200);
    wait(|| world.call("nobody", "POST /run", &[], "").unwrap().status == 403);
    // The earlier one was voided, or never held.
    assert_eq!(world.left("a"), 90);
}

/// Its hold comes after the gate has given up and voided it.
#[test]
fn a_slow_ledger_denies_and_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (held, late) = channel::<(Command, Reply)>();
    let (stored, voided) = channel();
    let senders = Mutex::new((held, stored));
    let slow = move |ledger: &Arc<Sqlite>, command: Command, reply: Reply| match command {
        Command::Hold(_) => senders.lock().unwrap().0.send((command, reply)).unwrap(),
        other => {
            let stored = senders.lock().unwrap().1.clone();
            let replied = move |answer| {
                reply(answer);
                // The test waits only for the first.
                let _ = stored.send(());
            };
            ledger.submit(other, Box::new(replied));
        }
    };
    let (ledger, broken) = broken(folder.path(), slow);
    let mut rules = rules();
    rules.timeout = Duration::from_millis(200);
    let world = World::new(broken, rules);
    grant(&ledger, "a", 100);
    assert_eq!(world.call("a", "POST /run", &[], "").unwrap().status, 503);
    let (command, reply) = late.recv().unwrap();
    let Command::Hold(hold) = &command else {
        panic!("{command:?}");
    };
    // The void of an unknown hold is stored, and refuses the hold.
    voided.recv().unwrap();
    assert!(matches!(ledger.hold(hold.clone()), Err(Error::Settled(_))));
    ledger.submit(command, reply);
    assert_eq!((world.left("a"), world.ran()), (100, 0));
    assert!(ledger.verify().unwrap().found.is_empty());
}

/// A ledger that panics proves that it isn't asked.
#[test]
fn nothing_is_held_for_what_consumes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let count = Arc::new(AtomicU64::new(0));
    let panics = {
        let count = Arc::clone(&count);
        move |_: &Arc<Sqlite>, command: Command, _: Reply| {
            count.fetch_add(1, Ordering::SeqCst);
            panic!("the ledger is asked: {command:?}");
        }
    };
    let (_, broken) = broken(folder.path(), panics);
    let dear = "orbgate: 1\napis: { a: { base_path: '', scopes: { free: { orbs: 9, routes: [GET /free] } } } }\n";
    let dear = Engines::new(Engine::new(&Policy::from_yaml(dear).unwrap()));
    let mut rules = rules();
    rules.timeout = Duration::from_millis(200);
    let world = World::with(broken, rules, |gate| gate.shadow(dear).debug());
    let preflight = [("origin", "https://app.example"), ("access-control-request-method", "POST")];
    type Row<'r> = (&'r str, &'r [(&'r str, &'r str)], u16);
    let table: [Row<'_>; 7] = [
        ("GET /free", &[], 200),
        ("GET /healthz", &[], 200),
        ("OPTIONS /run", &preflight, 200),
        ("POST /open/1", &[("x-orbs", "0")], 200),
        ("POST /nowhere", &[], 404),
        ("PUT /run", &[], 405),
        ("POST /run", &[("x-http-method-override", "GET")], 400),
    ];
    for (line, headers, status) in table {
        assert_eq!(world.call("a", line, headers, "").unwrap().status, status, "{line}");
    }
    // A question of a proxy or of AuthZEN runs no handler.
    let bearer = format!("Bearer {}", world.token("a"));
    let request =
        Request { method: b"POST", target: b"/run", authorization: &[bearer.as_bytes()], ..Request::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let is_allowed = runtime.block_on(world.gate.ask(request, |answer| answer.decision.is_allow()));
    assert!(is_allowed);
    assert_eq!(count.load(Ordering::SeqCst), 0);
    assert_eq!(world.call("a", "POST /run", &[], "").unwrap().status, 503);
    assert!(count.load(Ordering::SeqCst) > 0);
}

#[test]
fn the_hold_of_a_long_call_is_extended() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = sqlite(folder.path());
    let mut rules = OrbRules::new(OnCancelled::Void);
    (rules.ttl, rules.timeout) = (Duration::from_secs(30), Duration::from_secs(10));
    let world = World::new(ledger.clone(), rules);
    world.grant("a", 100, Bucket::Paid);
    let streams = ["one", "two"].map(|_| world.send("a", "POST /run", &[("x-do", "hang")], ""));
    wait(|| ledger.holds(account("a")).unwrap().len() == 2);
    let first: Vec<Millis> = ledger.holds(account("a")).unwrap().iter().map(|hold| hold.expires_at).collect();
    wait(|| {
        let holds = ledger.holds(account("a")).unwrap();
        holds.len() == 2 && holds.iter().zip(&first).all(|(hold, first)| hold.expires_at > *first)
    });
    drop(streams);
    assert_eq!(world.left("a"), 100);
    assert_eq!(world.causes("a").iter().filter(|cause| **cause == Cause::Void).count(), 2);
}

const FOLDER: &str = "ORBGATE_TEST_LEDGER";

/// The service of the test below, in a process of its own.
#[test]
fn the_process() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let mut rules = OrbRules::new(OnCancelled::Capture);
    (rules.ttl, rules.timeout) = (Duration::from_secs(9), Duration::from_secs(3));
    let world = World::new(sqlite(Path::new(&folder)), rules);
    println!("\nserves {} {}", world.address, world.token("a"));
    loop {
        thread::park();
    }
}

#[test]
fn a_killed_service_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = sqlite(folder.path());
    grant(&ledger, "a", 100);
    let mut process = Process::new(std::env::current_exe().unwrap());
    process.args(["faults::the_process", "--exact", "--nocapture"]).env(FOLDER, folder.path());
    let mut process = process.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.starts_with("serves ")).unwrap();
    let (address, token) = line["serves ".len()..].split_once(' ').unwrap();
    let stream = send(address, token, "POST /run", &[("x-do", "hang")], "");
    wait(|| ledger.balance(account("a")).unwrap().held.get() == 10);
    process.kill().unwrap();
    process.wait().unwrap();
    drop(stream);
    // Nobody extends the hold, so it expires.
    wait(|| ledger.balance(account("a")).unwrap().held.get() == 0);
    assert_eq!(ledger.balance(account("a")).unwrap().available.get(), 100);
    ledger.expire().unwrap();
    let entries = ledger.entries(&Cursor::default(), 100).unwrap().entries;
    let causes: Vec<_> = entries.iter().map(|(_, entry)| entry.cause).collect();
    assert_eq!(causes, [Cause::Grant, Cause::Hold, Cause::HoldExpired]);
    assert!(ledger.verify().unwrap().found.is_empty());
}
