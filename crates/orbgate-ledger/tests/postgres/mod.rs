//! The store in PostgreSQL: the suite, concurrency, kills and a failover, with a server of the test's own.

mod clock;
mod delayed;
mod feed;
mod people;
mod pool;
pub(crate) mod server;
mod speed;
mod tls;

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Arc, mpsc};
use std::thread;

use orbgate_ledger::{
    Answer, Clock as _, ClockChange, Command, Cursor, Error, HoldAnswer, Ledger, Order, Postgres, Settle, Settlement,
    suite,
};

use crate::backlog::others_go_first;
use crate::people::compare_people;
use crate::reference::compared::{compare_batches, compare_histories, crowded};
use crate::support::{Clocked, TestClock, account, capture, grant, hold, hold_all, id, numbered, orbs};
use delayed::Delayed;
use server::Server;

/// An empty ledger.
fn new(server: &Server, order: Order) -> Clocked<Postgres> {
    let clock = Arc::new(TestClock::default());
    let url = server.url("dbname=postgres");
    server.run(&url, "DROP SCHEMA IF EXISTS orbs CASCADE");
    let ledger = Postgres::open_with(&url, Some(order), Some(Arc::clone(&clock) as _)).unwrap();
    Clocked { ledger, clock }
}

#[test]
fn postgres_is_equal_to_the_model() {
    let Some(server) = Server::start() else {
        return;
    };
    for case in suite::cases() {
        case.check(&mut new(&server, Order::default())).unwrap();
    }
    for seed in 0..crate::support::rounds("ORBGATE_LEDGER_SUITES", 6) {
        let order = [Order::BonusFirst, Order::PaidFirst, Order::SoonestFirst][(seed % 3) as usize];
        let compared = suite::compare(&mut new(&server, order), order, &suite::random(100 + seed, 300));
        if let Err(difference) = compared {
            panic!("seed {seed}: {}", difference.what);
        }
    }
}

#[test]
fn postgres_gives_people_what_the_model_gives() {
    let Some(server) = Server::start() else {
        return;
    };
    for (seed, order) in [(201, Order::BonusFirst), (202, Order::SoonestFirst)] {
        compare_people(&mut new(&server, order), order, &suite::random(seed, 200));
    }
}

#[test]
fn postgres_is_equal_to_the_reference() {
    let Some(server) = Server::start() else {
        return;
    };
    let histories = crate::support::rounds("ORBGATE_LEDGER_SUITES", 6);
    compare_histories(histories, |seed| suite::random(seed, 200), |order| new(&server, order));
    compare_batches(histories, |seed| suite::random(seed, 400), 40, |order| new(&server, order));
    compare_histories(histories.div_ceil(3), |seed| crowded(seed, 60), |order| new(&server, order));
    compare_batches(histories.div_ceil(3), |seed| crowded(seed, 120), 40, |order| new(&server, order));
}

#[test]
fn a_thousand_holds_of_four_clients_admit_exactly_what_is_there() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let clients = [(); 4].map(|()| Postgres::open(&url).unwrap());
    clients[0].grant(grant("g", "a", 500)).unwrap();
    let admitted: u64 = thread::scope(|scope| {
        let holds = clients.iter().enumerate();
        let holds = holds.map(|(index, client)| {
            scope.spawn(move || hold_all(|hold| client.hold(hold).unwrap(), &format!("c{index}"), 8, 32))
        });
        let holds: Vec<_> = holds.collect();
        holds.into_iter().map(|holds| holds.join().unwrap()).sum()
    });
    assert_eq!(admitted, 50);
    assert_eq!(clients[3].balance(account("a")).unwrap().held, orbs(500));
    assert_eq!(clients[2].verify().unwrap().found, Vec::<String>::new());
}

/// The same id at the same time, from many clients: one receipt, one conflict for other content.
#[test]
fn ids_race_and_are_used_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let clients = [(); 4].map(|()| Postgres::open(&url).unwrap());
    for round in 0..25 {
        let names = [format!("a{round}"), format!("b{round}")];
        let grants: Vec<_> = thread::scope(|scope| {
            let granted = clients.iter().enumerate().map(|(index, client)| {
                let name = &names[index % 2];
                scope.spawn(move || client.grant(grant(&format!("g{round}"), name, 5)))
            });
            granted.collect::<Vec<_>>().into_iter().map(|granted| granted.join().unwrap()).collect()
        });
        let new = grants.iter().filter(|granted| granted.as_ref().is_ok_and(|granted| !granted.repeated)).count();
        let conflicts = grants.iter().filter(|granted| **granted == Err(Error::Conflict)).count();
        assert_eq!((new, conflicts), (1, 2), "{grants:?}");
        // A void and the hold that it refuses.
        let of = names.iter().find(|name| clients[0].balance(account(name)).unwrap().paid == orbs(5)).unwrap();
        let ended = thread::scope(|scope| {
            let holds = scope.spawn(|| clients[0].hold(hold(format!("h{round}"), of, 5)));
            let void = Settle { hold: id(format!("h{round}")), settlement: Settlement::Void };
            clients[1].settle(void).unwrap();
            holds.join().unwrap()
        });
        assert!(matches!(ended, Ok(HoldAnswer::Held { .. }) | Err(Error::Settled(_))), "{ended:?}");
        assert_eq!(clients[0].balance(account(of)).unwrap().available, orbs(5));
    }
    assert_eq!(clients[0].verify().unwrap().found, Vec::<String>::new());
}

#[test]
fn another_version_or_order_is_refused_and_defaults_do_not_matter() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url).unwrap();
    ledger.grant(grant("g", "a", 5)).unwrap();
    assert_eq!(ledger.entries(&Cursor::new("x"), 1), Err(Error::Cursor));
    let message = Postgres::open_with(&url, Some(Order::PaidFirst), None).unwrap_err().to_string();
    assert!(message.contains("is `bonus_first`, not `paid_first`"), "{message}");
    // A batch states its own.
    server.run(&url, "ALTER DATABASE CURRENT_DB SET default_transaction_isolation = serializable");
    server.run(&url, "ALTER DATABASE CURRENT_DB SET default_transaction_read_only = on");
    assert!(matches!(Postgres::open(&url).unwrap().hold(hold("h", "a", 1)), Ok(HoldAnswer::Held { .. })));
    server.run(&url, "SET TRANSACTION READ WRITE; ALTER DATABASE CURRENT_DB RESET ALL");
    // Each batch looks at the version, because another process may bring the ledger up to date.
    server.run(&url, "UPDATE orbs.setting SET value = '8' WHERE name = 'version'");
    for message in [ledger.balance(account("a")).unwrap_err(), Postgres::open(&url).unwrap_err()] {
        assert!(message.to_string().contains("is `8`; this program knows `7`"), "{message}");
    }
}

/// A transaction writes at most 200 of what has expired.
#[test]
fn commands_of_other_accounts_go_before_a_backlog() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = new(&server, Order::default());
    others_go_first(&store);
    let mut client = postgres::Client::connect(&server.url("dbname=postgres"), postgres::NoTls).unwrap();
    let sql = "SELECT count(*) FROM orbs.entry WHERE cause = 'hold_expired' GROUP BY xmin::text ORDER BY 1 DESC";
    let written: Vec<i64> = client.query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect();
    assert!(written[0] <= 200 && written.iter().sum::<i64>() == 2_000, "{written:?}");
}

/// The first version had no index for the order of grants, and its programs did commands in functions.
#[test]
fn a_schema_of_the_first_version_is_upgraded() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    server.run(&url, include_str!("version-1.sql"));
    server.run(&url, "CREATE FUNCTION orbs.of_another_program() RETURNS int LANGUAGE sql AS 'SELECT 1'");
    let mut old = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let run = "SELECT orbs.run('{\"balance\": \"nobody\"}')::text";
    assert!(old.query_one(run, &[]).unwrap().get::<_, String>(0).contains("Ok"));
    // An upgrade is one transaction: one that fails midway changes nothing.
    server.run(&url, "CREATE TABLE orbs.feed ()");
    assert!(Postgres::open(&url).unwrap_err().to_string().contains("feed"));
    let version = old.query_one("SELECT value FROM orbs.setting WHERE name = 'version'", &[]).unwrap();
    assert_eq!(version.get::<_, String>(0), "1");
    assert!(old.query_one(run, &[]).is_ok());
    server.run(&url, "DROP TABLE orbs.feed");
    let ledger = Postgres::open(&url).unwrap();
    // A program of the first version that still runs fails.
    assert!(old.query_one(run, &[]).unwrap_err().as_db_error().unwrap().message().contains("orbs.run"));
    let functions = |of: &str| -> Vec<String> {
        let sql = "SELECT proname || pg_get_function_arguments(oid) FROM pg_proc WHERE pronamespace = 'orbs'::regnamespace ORDER BY 1";
        let rows = postgres::Client::connect(of, postgres::NoTls).unwrap().query(sql, &[]).unwrap();
        rows.iter().map(|row| row.get(0)).filter(|name| name != "of_another_program").collect()
    };
    let new = server.new_database();
    drop(Postgres::open(&new).unwrap());
    assert_eq!(functions(&url), functions(&new));
    // The dump stays as it is, and the clock doesn't.
    ledger.clock(ClockChange::Accept).unwrap();
    // What was done is known, and what has expired since is written.
    assert!(ledger.grant(grant("g1", "a", 100)).unwrap().repeated);
    let captured = ledger.settle(capture("h1", 60)).unwrap();
    assert_eq!((captured.repeated, captured.receipt.bonus), (true, orbs(50)));
    assert!(matches!(ledger.hold(hold("h4", "b", 1)), Err(Error::Settled(_))));
    let left = ["a", "b"].map(|name| ledger.balance(account(name)).unwrap().posted);
    assert_eq!(left, [orbs(0), orbs(0)]);
    for index in 0..40 {
        ledger.grant(grant(&format!("n{index}"), "a", 1)).unwrap();
    }
    assert!(matches!(ledger.hold(hold("h", "a", 37)).unwrap(), HoldAnswer::Held { .. }));
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
    assert_eq!(Postgres::open(&url).unwrap().balance(account("a")).unwrap().held, orbs(37));
}

/// Many commands wait for the network as often as one does: to read, and to write and commit.
#[test]
fn a_batch_takes_as_many_round_trips_as_a_command() {
    const TRIP: Duration = Duration::from_millis(60);
    let Some(server) = Server::start() else {
        return;
    };
    let path = Delayed::new(server.host(), TRIP / 2);
    let ledger = Postgres::open(&path.url(&server.new_database(), server.host())).unwrap();
    ledger.grant(grant("g", "a", 500)).unwrap();
    // A slow machine, or what the store does by itself, makes some of them longer.
    let trips = |count: u32| {
        let times = (0..5).map(|round| {
            numbered(&ledger);
            speed::holds_at_once(&ledger, &format!("{count}.{round}"), count.into())
        });
        times.min().unwrap().as_millis() / TRIP.as_millis()
    };
    assert_eq!((trips(1), trips(49)), (2, 2));
}

/// Otherwise an answered command could be lost, or an expiry that a reader has seen, and a stopped process would keep its locks.
#[test]
fn each_transaction_that_writes_has_its_own_settings_whatever_the_database_says() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    Postgres::open(&url).unwrap().grant(grant("g", "a", 5)).unwrap();
    server.run(&url, "ALTER DATABASE CURRENT_DB SET synchronous_commit = off");
    // At the commit.
    let noted = "CREATE TABLE public.noted (of text, setting text); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                 INSERT INTO public.noted VALUES (TG_TABLE_NAME, current_setting('synchronous_commit') || ' ' || \
                 current_setting('idle_in_transaction_session_timeout')); RETURN NULL; END $$; \
                 CREATE CONSTRAINT TRIGGER note AFTER UPDATE ON orbs.account DEFERRABLE INITIALLY DEFERRED \
                 FOR EACH ROW EXECUTE FUNCTION note(); \
                 CREATE CONSTRAINT TRIGGER note AFTER INSERT ON orbs.feed DEFERRABLE INITIALLY DEFERRED \
                 FOR EACH ROW EXECUTE FUNCTION note()";
    server.run(&url, noted);
    let ledger = Postgres::open(&url).unwrap();
    // A command, one that is only repeated, and an expiry that an idle store writes.
    let short = grant("short", "a", 5);
    let soon = orbgate_ledger::SystemClock.now().get() + 2_000;
    ledger.grant(orbgate_ledger::Grant { expires_at: Some(crate::support::millis(soon)), ..short }).unwrap();
    assert!(ledger.grant(grant("g", "a", 5)).unwrap().repeated);
    while ledger.entries(&Cursor::default(), 9).unwrap().entries.len() < 3 {}
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let mut settings = |of: &str| -> Vec<String> {
        let rows = client.query("SELECT setting FROM public.noted WHERE of = $1", &[&of]).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    };
    // Nobody is told of an expiry before it has a number.
    assert_eq!(settings("account"), ["on 5s", "on 5s", "off 5s"]);
    assert!(settings("feed").iter().all(|setting| setting == "on 5s"));
}

/// What was read under a lock is there when it is written, or nothing of the batch is.
#[test]
fn a_row_that_does_not_change_ends_its_batch() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url).unwrap();
    ledger.grant(grant("g", "a", 5)).unwrap();
    let keep = "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; \
                CREATE TRIGGER keep BEFORE UPDATE ON orbs.grants FOR EACH ROW EXECUTE FUNCTION keep()";
    server.run(&url, keep);
    let error = ledger.hold(hold("h", "a", 1)).unwrap_err().to_string();
    assert!(error.contains("contradicts itself: a row changed while a command ran"), "{error}");
    assert_eq!((ledger.holds(account("a")).unwrap(), ledger.verify().unwrap().found), (vec![], vec![]));
}

/// A function of another schema with the name of one of PostgreSQL's isn't called.
#[test]
fn names_in_statements_are_those_of_postgres() {
    let Some(server) = Server::start() else {
        return;
    };
    let other = "CREATE SCHEMA other; CREATE FUNCTION other.floor(numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 7::numeric'; \
                 ALTER DATABASE CURRENT_DB SET search_path = other, pg_catalog";
    let url = server.new_database();
    drop(Postgres::open(&url).unwrap());
    server.run(&url, other);
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    assert_eq!(client.query_one("SELECT floor(1.5)::bigint", &[]).unwrap().get::<_, i64>(0), 7, "the trap");
    let granted = Postgres::open(&url).unwrap().grant(grant("g", "a", 5)).unwrap();
    numbered(&Postgres::open(&url).unwrap());
    let entry = Postgres::open(&url).unwrap().entries(&Cursor::default(), 1).unwrap().entries.remove(0).1;
    assert!(entry.at.get() > 7 && !granted.repeated);
}

/// A batch that is in the way of another transaction is done again, each command by itself.
#[test]
fn a_deadlock_is_tried_again_singly() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url).unwrap();
    ledger.grant(grant("g", "a", 100)).unwrap();
    let deadlock = "CREATE FUNCTION many() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                    IF (SELECT count(*) FROM new_rows) > 1 THEN RAISE deadlock_detected; END IF; RETURN NULL; END $$; \
                    CREATE TRIGGER many AFTER INSERT ON orbs.hold REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT \
                    EXECUTE FUNCTION many()";
    server.run(&url, deadlock);
    let (send, answers) = mpsc::channel();
    for index in 0..40 {
        let send = send.clone();
        let command = Command::Hold(hold(format!("h{index}"), "a", 3));
        ledger.submit(command, Box::new(move |answer| send.send(answer).unwrap()));
    }
    let held = (0..40).filter(|_| matches!(answers.recv().unwrap(), Ok(Answer::Hold(HoldAnswer::Held { .. })))).count();
    assert_eq!((held, ledger.verify().unwrap().found), (33, Vec::new()));
}

/// Another transaction uses two new ids in the other order.
#[test]
fn crossing_ids_end_in_a_deadlock_that_is_tried_again() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    Postgres::open(&url).unwrap().grant(grant("g", "a", 1000)).unwrap();
    // A server looks for a deadlock once. It is this ledger's that is to find it, unless the machine is too slow.
    server.run(&url, "ALTER DATABASE CURRENT_DB SET deadlock_timeout = '500ms'");
    let ledger = Postgres::open(&url).unwrap();
    let refused = (0..9).find_map(|round| crossed(&ledger, &url, &format!("h{round}."))).unwrap();
    assert!(matches!(&refused[..], [(20, Err(Error::Settled(_))), (30, Err(Error::Settled(_)))]), "{refused:?}");
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
}

/// The holds that aren't done, in a batch of which two ids are used otherwise. None if it was the other transaction that failed.
fn crossed(ledger: &Postgres, url: &str, prefix: &str) -> Option<Vec<(i32, Result<Answer, Error>)>> {
    let mut other = postgres::Client::connect(url, postgres::NoTls).unwrap();
    let void = |number: i32| {
        format!(
            "INSERT INTO orbs.hold VALUES ('{prefix}{number}', NULL, 0, false, 0, '', 1, '[]', 0, 1, 'voided', 0, 0, 0, 0, false, 1)"
        )
    };
    other.batch_execute(&format!("BEGIN; SET LOCAL deadlock_timeout = '5s'; {}", void(30))).unwrap();
    let release = kept_waiting(ledger);
    let (send, answers) = mpsc::channel();
    for number in 10..50 {
        let (send, command) = (send.clone(), Command::Hold(hold(format!("{prefix}{number}"), "a", 1)));
        ledger.submit(command, Box::new(move |answer| send.send((number, answer)).unwrap()));
    }
    release.send(()).unwrap();
    let mut observer = postgres::Client::connect(url, postgres::NoTls).unwrap();
    let waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'orbgate'";
    while observer.query_opt(waiting, &[]).unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    let crossed = other.batch_execute(&void(20));
    other.batch_execute("COMMIT").unwrap();
    let answers: Vec<_> = (10..50).map(|_| answers.recv().unwrap()).collect();
    crossed.ok().map(|()| answers.into_iter().filter(|(_, answer)| answer.is_err()).collect())
}

/// An account that another transaction has locked delays neither the others nor, for long, itself.
#[test]
fn a_locked_account_is_skipped_once_and_a_stopped_process_delays_it_by_five_seconds() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url).unwrap();
    for name in ["a", "b"] {
        ledger.grant(grant(&format!("g{name}"), name, 100)).unwrap();
    }
    let mut stopped = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    stopped.batch_execute("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 5000").unwrap();
    stopped.batch_execute("SELECT FROM orbs.account WHERE id = 'a' FOR UPDATE").unwrap();
    let start = std::time::Instant::now();
    let order = |name: &str| Command::Hold(hold(format!("h{name}"), name, 1));
    let capture = |name: &str| Command::Settle(capture(format!("h{name}"), 1));
    let (send, answers) = mpsc::channel();
    let release = kept_waiting(&ledger);
    for (name, command) in [("a", order("a")), ("a", capture("a")), ("b", order("b")), ("b", capture("b"))] {
        let send = send.clone();
        ledger.submit(command, Box::new(move |answer| send.send((name, answer.is_ok())).unwrap()));
    }
    release.send(()).unwrap();
    let answered: Vec<_> = (0..4).map(|_| answers.recv().unwrap()).collect();
    assert_eq!(answered, [("b", true), ("b", true), ("a", true), ("a", true)]);
    assert!(start.elapsed() < Duration::from_secs(9), "{:?}", start.elapsed());
    for name in ["a", "b"] {
        assert_eq!(ledger.balance(account(name)).unwrap().posted, orbs(99));
    }
}

/// Keeps the ledger's thread waiting, so that the commands until its release are one batch.
fn kept_waiting(ledger: &Postgres) -> mpsc::Sender<()> {
    let (waits, is_waiting) = mpsc::channel();
    let (release, wait) = mpsc::channel();
    let keep_waiting = move |_| {
        waits.send(()).unwrap();
        wait.recv().unwrap();
    };
    ledger.submit(Command::Balance(account("nobody")), Box::new(keep_waiting));
    is_waiting.recv().unwrap();
    release
}

/// Otherwise each command would wait as long as all of them.
#[test]
fn a_batch_whose_server_is_gone_fails_as_one() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let ledger = Postgres::open(&server.new_database()).unwrap();
    ledger.grant(grant("g", "a", 100)).unwrap();
    let release = kept_waiting(&ledger);
    let (send, answers) = mpsc::channel();
    for index in 0..40 {
        let (send, command) = (send.clone(), Command::Hold(hold(format!("h{index}"), "a", 1)));
        ledger.submit(command, Box::new(move |answer| send.send(answer).unwrap()));
    }
    server.kill();
    let start = std::time::Instant::now();
    release.send(()).unwrap();
    for _ in 0..40 {
        let answer = answers.recv().unwrap();
        assert!(matches!(answer, Err(Error::Unknown(_))), "{answer:?}");
    }
    // One after the other, they would take 400 seconds.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// A warning after a commit might mean that a standby doesn't have it, so the command is sent again, with the same id.
#[test]
fn a_warning_after_a_commit_is_no_answer() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url).unwrap();
    let warns = "CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'of a commit' USING ERRCODE = '57P01'; RETURN NULL; END $$; \
                 CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON orbs.entry DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION warn()";
    server.run(&url, warns);
    assert!(ledger.grant(grant("g", "a", 5)).unwrap().repeated);
    assert_eq!(ledger.balance(account("a")).unwrap().available, orbs(5));
}

/// Holds and captures until `stop` is set, and returns what was answered.
fn load(ledger: &Postgres, prefix: &str, stop: &AtomicU64, count: &AtomicU64) -> Vec<(Command, Answer)> {
    let mut answered = Vec::new();
    for index in 0.. {
        if stop.load(Ordering::SeqCst) > 0 {
            break;
        }
        let name = format!("{prefix}.{index}");
        for command in [Command::Hold(hold(name.clone(), "a", 3)), Command::Settle(capture(name, 2))] {
            // What has no answer may be done or not.
            if let Ok(answer) = ledger.run(command.clone()) {
                answered.push((command, answer));
                count.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
    answered
}

/// Waits until so many more commands are answered.
fn wait_for(more: u64, count: &AtomicU64) {
    let start = count.load(Ordering::SeqCst);
    for _ in 0..6000 {
        if count.load(Ordering::SeqCst) >= start + more {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("no command is answered");
}

/// Everything that was answered is there, and doing it again changes nothing.
fn check(ledger: &Postgres, answered: Vec<(Command, Answer)>) {
    numbered(ledger);
    let before = ledger.entries(&Cursor::default(), 1_000_000).unwrap().entries.len();
    for (command, first) in answered {
        let again = ledger.run(command.clone()).unwrap();
        let same = match (&first, &again) {
            (Answer::Settled(first), Answer::Settled(again)) => first.receipt == again.receipt && again.repeated,
            (
                Answer::Hold(HoldAnswer::Held { receipt: first, .. }),
                Answer::Hold(HoldAnswer::Held { receipt: again, repeated: true, .. }),
            ) => first == again,
            _ => false,
        };
        assert!(same, "lost: {command:?}: {first:?}, then {again:?}");
    }
    numbered(ledger);
    assert_eq!(ledger.entries(&Cursor::default(), 1_000_000).unwrap().entries.len(), before);
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
}

#[test]
fn no_answered_command_is_lost_when_the_server_is_killed() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url).unwrap();
    ledger.grant(grant("g", "a", 1_000_000)).unwrap();
    let kills = crate::support::rounds("ORBGATE_LEDGER_KILLS", 2);
    let (stop, count) = (AtomicU64::new(0), AtomicU64::new(0));
    let answered: Vec<_> = thread::scope(|scope| {
        let (ledger, stop, count) = (&ledger, &stop, &count);
        let loads: Vec<_> =
            (0..4).map(|client| scope.spawn(move || load(ledger, &format!("c{client}"), stop, count))).collect();
        for _ in 0..kills {
            wait_for(40, count);
            server.kill();
            server.start_again();
        }
        wait_for(40, count);
        stop.store(1, Ordering::SeqCst);
        loads.into_iter().flat_map(|load| load.join().unwrap()).collect()
    });
    println!("{} commands answered, {kills} kills of the server, lost: 0", answered.len());
    check(&ledger, answered);
}

/// The primary has two synchronous standbys, of which any one confirms a commit. It is killed, and the standby that is
/// furthest ahead is promoted.
#[test]
fn no_answered_command_is_lost_in_a_failover() {
    if std::env::var_os("ORBGATE_LEDGER_FAILOVER").is_none() {
        return;
    }
    let Some(mut primary) = Server::start() else {
        return;
    };
    let url = primary.new_database();
    let ledger = Postgres::open(&url).unwrap();
    ledger.grant(grant("g", "a", 1_000_000)).unwrap();
    let standbys = ["one", "two"].map(|name| primary.standby(name));
    primary.require_standbys();
    let (stop, count) = (AtomicU64::new(0), AtomicU64::new(0));
    let answered: Vec<_> = thread::scope(|scope| {
        let (ledger, stop, count) = (&ledger, &stop, &count);
        let loads: Vec<_> =
            (0..4).map(|client| scope.spawn(move || load(ledger, &format!("c{client}"), stop, count))).collect();
        wait_for(400, count);
        primary.kill();
        stop.store(1, Ordering::SeqCst);
        loads.into_iter().flat_map(|load| load.join().unwrap()).collect()
    });
    drop(ledger);
    let mut standbys = standbys.map(|standby| (standby.received(), standby));
    standbys.sort_by_key(|(received, _)| *received);
    let [_, (_, promoted)] = &standbys;
    promoted.promote();
    let ledger = Postgres::open(&promoted.url(&url)).unwrap();
    println!("{} commands answered before the failover, lost: 0", answered.len());
    check(&ledger, answered);
}
