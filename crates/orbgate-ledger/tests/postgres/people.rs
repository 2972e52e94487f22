//! What people read of a database: on a standby, of damaged rows, and while another read takes long.

use core::time::Duration;
use std::sync::mpsc;
use std::thread;

use orbgate_ledger::{Error, Ledger, Part, Postgres};
use postgres::{Client, NoTls};

use super::server::Server;
use crate::people::{control_characters, similar_names};
use crate::support::{account, grant, millis, orbs};

#[test]
fn names_are_as_in_the_other_store() {
    let Some(server) = Server::start() else {
        return;
    };
    control_characters(&Postgres::open(&server.new_database()).unwrap());
    similar_names(&Postgres::open(&server.new_database()).unwrap());
}

/// A standby doesn't know what comes after what it has replayed.
#[test]
fn a_standby_has_no_totals_of_a_time_that_it_has_not_reached() {
    let Some(server) = Server::start() else {
        return;
    };
    let ledger = Postgres::open(&server.new_database()).unwrap();
    let url = server.url("dbname=d0");
    let granted = ledger.grant(grant("g", "a", 50)).unwrap().receipt.at;
    ledger.expire().unwrap();
    let standby = server.standby("one");
    let reader = Postgres::open_to_read(&standby.url(&url)).unwrap();
    standby.run(&standby.url(&url), "SELECT pg_wal_replay_pause()");
    thread::sleep(Duration::from_millis(1_500));
    ledger.grant(grant("g2", "a", 7)).unwrap();
    let statement = reader.statement(&Part::newest(account("a"))).unwrap();
    assert_eq!((statement.balance.posted, statement.movements.len()), (orbs(50), 1));
    // Its time is that of the last commit that it has.
    assert!(statement.at >= granted && statement.at.get() < granted.get() + 1_500, "{statement:?} {granted:?}");
    let latest = statement.at.get() - 60_000;
    for at in [latest + 1, granted.get(), granted.get() + 1_000_000] {
        assert_eq!(reader.totals(Some(millis(at))), Err(Error::TooRecent(millis(latest))), "{at}");
    }
    assert_eq!(reader.totals(Some(millis(latest))).unwrap().outstanding, 0);
    assert_eq!(reader.totals(None).unwrap().at, millis(latest));
    standby.run(&standby.url(&url), "SELECT pg_wal_replay_resume()");
    // It catches up.
    for _ in 0..1_000 {
        if reader.statement(&Part::newest(account("a"))).unwrap().balance.posted == orbs(57) {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the standby doesn't catch up");
}

#[test]
fn a_line_without_its_grant_is_damage() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url).unwrap();
    ledger.grant(grant("g", "a", 50)).unwrap();
    server.run(&url, "SET session_replication_role = replica; DELETE FROM orbs.grants; UPDATE orbs.entry SET at = 1");
    for read in [ledger.statement(&Part::newest(account("a"))).map(drop), ledger.totals(None).map(drop)] {
        assert!(matches!(&read, Err(Error::Unknown(why)) if why.contains("postgres")), "{read:?}");
    }
}

#[test]
fn short_reads_do_not_wait_for_a_long_one() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url).unwrap();
    ledger.grant(grant("g", "a", 50)).unwrap();
    ledger.expire().unwrap();
    let mut neighbour = Client::connect(&url, NoTls).unwrap();
    // Verification reads this, a statement doesn't.
    neighbour.batch_execute("BEGIN; LOCK TABLE orbs.refund").unwrap();
    thread::scope(|scope| {
        let (done, wait) = mpsc::channel();
        let verified = scope.spawn(|| ledger.verify().unwrap().found);
        thread::sleep(Duration::from_millis(300));
        let ledger = &ledger;
        scope.spawn(move || done.send(ledger.names("", 9).unwrap()).unwrap());
        let names = wait.recv_timeout(Duration::from_secs(20));
        let is_verified = verified.is_finished();
        neighbour.batch_execute("ROLLBACK").unwrap();
        assert_eq!((names, is_verified), (Ok(vec![account("a")]), false));
        assert_eq!(verified.join().unwrap(), Vec::<String>::new());
    });
}
