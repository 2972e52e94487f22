//! The store in PostgreSQL: the suite, concurrency, kills and a failover, with a server of the test's own.

pub(crate) mod server;

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread;

use orbgate_ledger::{Answer, Command, Cursor, Error, HoldAnswer, Ledger, Order, Postgres, Settle, Settlement, suite};

use crate::support::{Clocked, TestClock, account, capture, grant, hold, hold_all, id, orbs};
use server::Server;

/// Commands in an empty ledger, with these functions.
fn new(server: &Server, sql: &str, order: Order) -> Clocked<Postgres> {
    let clock = Arc::new(TestClock::default());
    let url = server.url("dbname=postgres");
    server.run(&url, &format!("DROP SCHEMA IF EXISTS orbs CASCADE; {sql}"));
    let ledger = Postgres::open_with(&url, 1, Some(order), Some(Arc::clone(&clock) as _)).unwrap();
    Clocked { ledger, clock }
}

const SQL: &str = include_str!("../../src/postgres/ledger.sql");

#[test]
fn postgres_is_equal_to_the_model() {
    let Some(server) = Server::start() else {
        return;
    };
    for case in suite::cases() {
        case.check(&mut new(&server, SQL, Order::default())).unwrap();
    }
    for seed in 0..crate::support::rounds("ORBGATE_LEDGER_SUITES", 6) {
        let order = [Order::BonusFirst, Order::PaidFirst, Order::SoonestFirst][(seed % 3) as usize];
        let compared = suite::compare(&mut new(&server, SQL, order), order, &suite::random(100 + seed, 300));
        if let Err(difference) = compared {
            panic!("seed {seed}: {}", difference.what);
        }
    }
}

/// Each would give another answer or break an invariant. A suite that doesn't find it shows nothing.
#[test]
fn bugs_in_the_functions_are_found() {
    let Some(server) = Server::start() else {
        return;
    };
    for (name, right, bug) in [
        ("a hold is settled twice", "IF h.settled_at IS NOT NULL THEN", "IF false THEN"),
        ("the wrong order", "coalesce(expires_at, 9223372036854775807), seq\n", "seq DESC\n"),
        ("bonus orbs without permission", "AND (p_bonus OR bucket = 'paid')", ""),
        (
            "orbs over the bound",
            "> 9007199254740991 THEN\n            RETURN orbs.fault('\"too_large\"');\n        END IF;\n        IF a.key",
            "> 9223372036854775807 THEN RETURN orbs.fault('\"too_large\"'); END IF; IF a.key",
        ),
        (
            "an expired grant is spent",
            "AND available > 0 AND expires_at <= p_now",
            "AND available > 0 AND expires_at < p_now",
        ),
        ("time goes back", "::bigint), p_clock, 0)", "::bigint), 0)"),
        (
            "an id with other content",
            "IS DISTINCT FROM (a.key, v_amount, v_bonus, v_ttl, v_note)",
            "IS DISTINCT FROM (a.key, h.amount, v_bonus, v_ttl, v_note)",
        ),
        ("a late capture from nothing", "CASE WHEN v_late THEN '[]' ELSE h.lines END", "h.lines"),
    ] {
        assert_eq!(SQL.matches(right).count(), 1, "{name}");
        let sql = SQL.replace(right, bug);
        let order = Order::default();
        let is_found = suite::compare(&mut new(&server, &sql, order), order, &suite::random(5, 250)).is_err()
            || suite::cases().iter().any(|case| case.check(&mut new(&server, &sql, order)).is_err());
        assert!(is_found, "{name}");
    }
}

#[test]
fn a_thousand_holds_of_four_clients_admit_exactly_what_is_there() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let clients = [(); 4].map(|()| Postgres::open(&url, 4).unwrap());
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
    let clients = [(); 4].map(|()| Postgres::open(&url, 1).unwrap());
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
fn another_isolation_or_version_is_refused() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url, 1).unwrap();
    ledger.grant(grant("g", "a", 5)).unwrap();
    assert_eq!(ledger.entries(&Cursor::new("x"), 1), Err(Error::Cursor));
    let message = Postgres::open_with(&url, 1, Some(Order::PaidFirst), None).unwrap_err().to_string();
    assert!(message.contains("is `bonus_first`, not `paid_first`"), "{message}");
    server.run(&url, "ALTER DATABASE CURRENT_DB SET default_transaction_isolation = serializable");
    let message = Postgres::open(&url, 1).unwrap().hold(hold("h", "a", 1)).unwrap_err().to_string();
    assert!(message.contains("read committed, not serializable"), "{message}");
    server.run(&url, "UPDATE orbs.setting SET value = '2' WHERE name = 'version'");
    let message = Postgres::open(&url, 1).unwrap_err().to_string();
    assert!(message.contains("is `2`; this program knows `1`"), "{message}");
}

/// Counts what a client waits for, between it and the server.
#[test]
fn a_command_is_one_round_trip() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let host = url.split(' ').find_map(|part| part.strip_prefix("host=")).unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
    let syncs = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&syncs);
    let between = url.replace(&host, &folder.path().display().to_string());
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, counted) = (client.unwrap(), Arc::clone(&counted));
            let mut server = UnixStream::connect(format!("{host}/.s.PGSQL.5432")).unwrap();
            let (mut answers, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut answers, &mut to));
            // The first message has no type.
            thread::spawn(move || -> std::io::Result<()> {
                for has_type in core::iter::once(false).chain(core::iter::repeat(true)) {
                    let mut head = vec![0; if has_type { 5 } else { 4 }];
                    client.read_exact(&mut head)?;
                    counted.fetch_add(u64::from(has_type && head[0] == b'S'), Ordering::SeqCst);
                    let length = u32::from_be_bytes(head[head.len() - 4..].try_into().unwrap());
                    let mut rest = vec![0; length as usize - 4];
                    client.read_exact(&mut rest)?;
                    server.write_all(&[head, rest].concat())?;
                }
                Ok(())
            });
        }
    });
    let ledger = Postgres::open(&between, 1).unwrap();
    ledger.grant(grant("g", "a", 50)).unwrap();
    let before = syncs.load(Ordering::SeqCst);
    for index in 0..5 {
        assert!(matches!(ledger.hold(hold(format!("h{index}"), "a", 10)), Ok(HoldAnswer::Held { .. })));
        assert!(ledger.settle(capture(format!("h{index}"), 10)).is_ok());
    }
    assert_eq!(syncs.load(Ordering::SeqCst) - before, 10);
}

/// Otherwise an answered command could be lost, and an expiry that a reader has seen.
#[test]
fn each_transaction_that_writes_is_durable_whatever_the_database_says() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    Postgres::open(&url, 1).unwrap().grant(grant("g", "a", 5)).unwrap();
    server.run(&url, "ALTER DATABASE CURRENT_DB SET synchronous_commit = off");
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    for call in ["orbs.run('{\"balance\": \"a\"}')", "orbs.expire_at(1, NULL)"] {
        let mut transaction = client.transaction().unwrap();
        let mut setting = || transaction.query_one("SHOW synchronous_commit", &[]).unwrap().get::<_, String>(0);
        assert_eq!(setting(), "off");
        transaction.execute(&format!("SELECT {call}"), &[]).unwrap();
        let mut setting = || transaction.query_one("SHOW synchronous_commit", &[]).unwrap().get::<_, String>(0);
        assert_eq!(setting(), "on", "{call}");
    }
}

/// A function of another schema with the name of one of PostgreSQL's isn't called, unless the path isn't pinned.
#[test]
fn names_in_functions_are_those_of_postgres() {
    let Some(server) = Server::start() else {
        return;
    };
    let other = "CREATE SCHEMA other; CREATE FUNCTION other.floor(numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 7::numeric'; \
                 ALTER DATABASE CURRENT_DB SET search_path = other, pg_catalog";
    let unpinned = "DO $$ DECLARE f regprocedure; BEGIN \
                    FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = 'orbs'::regnamespace LOOP \
                    EXECUTE format('ALTER FUNCTION %s RESET search_path', f); END LOOP; END $$";
    for (sql, is_other) in [("", false), (unpinned, true)] {
        let url = server.new_database();
        drop(Postgres::open(&url, 1).unwrap());
        server.run(&url, other);
        server.run(&url, sql);
        let granted = Postgres::open(&url, 1).unwrap().grant(grant("g", "a", 5)).unwrap();
        let entry = Postgres::open(&url, 1).unwrap().entries(&Cursor::default(), 1).unwrap().entries.remove(0).1;
        assert_eq!((entry.at.get() == 7, granted.repeated), (is_other, false));
    }
}

/// A warning after a commit might mean that a standby doesn't have it, so the command is sent again, with the same id.
#[test]
fn a_warning_after_a_commit_is_no_answer() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url, 1).unwrap();
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
    assert_eq!(ledger.entries(&Cursor::default(), 1_000_000).unwrap().entries.len(), before);
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
}

#[test]
fn no_answered_command_is_lost_when_the_server_is_killed() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url, 4).unwrap();
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
    let ledger = Postgres::open(&url, 4).unwrap();
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
    let ledger = Postgres::open(&promoted.url(&url), 1).unwrap();
    println!("{} commands answered before the failover, lost: 0", answered.len());
    check(&ledger, answered);
}
