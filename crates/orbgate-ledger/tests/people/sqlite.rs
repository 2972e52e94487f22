//! What people read of a SQLite file.

use core::sync::atomic::Ordering;
use std::sync::Arc;

use orbgate_ledger::{AccountId, Command, Cursor, Error, Grant, Ledger, Listing, Part, Period, Sqlite, similar};

use crate::support::{TestClock, account, grant, hold, id, millis, orbs};

fn ledger() -> (tempfile::TempDir, Arc<TestClock>, Sqlite) {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::new(TestClock::default()));
    let ledger = Sqlite::open_with(&folder.path().join("orbs.db"), None, Arc::clone(&clock) as _).unwrap();
    clock.0.store(1_000, Ordering::SeqCst);
    (folder, clock, ledger)
}

/// Far more than are written at once.
#[test]
fn thousands_of_unwritten_expiries_are_read() {
    let (_folder, clock, ledger) = ledger();
    ledger.grant(grant("paid", "a", 100_000)).unwrap();
    for number in 0..12_000 {
        let expires_at = Some(millis(50_000));
        let grant = Grant { expires_at, ..grant(&format!("g{number}"), "a", 1) };
        ledger.submit(Command::Grant(grant), Box::new(|_| {}));
        if number % 1_000 == 999 {
            ledger.balance(account("a")).unwrap();
        }
    }
    clock.0.store(200_000, Ordering::SeqCst);
    let listed = ledger.accounts(&Listing::default()).unwrap();
    assert_eq!((listed[0].balance.posted, listed[0].last_used), (orbs(100_000), Some(millis(1_000))));
    assert_eq!(ledger.totals(None).unwrap().paid.expired, 12_000);
    let statement = ledger.statement(&Part { limit: 5, ..Part::newest(account("a")) }).unwrap();
    assert!(statement.movements.len() == 5 && statement.movements.iter().all(|movement| !movement.written));
    assert_eq!(statement.balance, listed[0].balance);
}

/// However many expiries follow a command.
#[test]
fn the_last_use_is_that_of_a_command() {
    let (_folder, clock, ledger) = ledger();
    for number in 0..40 {
        let expires_at = Some(millis(2_000 + number));
        ledger.grant(Grant { expires_at, ..grant(&format!("g{number}"), "a", 1) }).unwrap();
    }
    clock.0.store(9_000, Ordering::SeqCst);
    ledger.expire().unwrap();
    assert_eq!(ledger.entries(&Cursor::default(), 99).unwrap().entries.len(), 80);
    assert_eq!(ledger.accounts(&Listing::default()).unwrap()[0].last_used, Some(millis(1_000)));
}

/// A listing with control characters is no error.
#[test]
fn no_name_begins_with_a_control_character() {
    let (_folder, _, ledger) = ledger();
    crate::people::control_characters(&ledger);
}

#[test]
fn names_that_differ_only_by_case_or_spaces_are_similar() {
    let (_folder, _, ledger) = ledger();
    crate::people::similar_names(&ledger);
    // Nothing is read for nothing.
    assert_eq!(similar(&ledger, []).unwrap().to(&account("alice")), Vec::<AccountId>::new());
}

/// It writes nothing, not even what has expired, and reads what another process writes.
#[test]
fn a_ledger_that_is_opened_to_read_is_not_written() {
    let (folder, clock, ledger) = ledger();
    let path = folder.path().join("orbs.db");
    ledger.grant(Grant { expires_at: Some(millis(5_000)), ..grant("g", "a", 20) }).unwrap();
    ledger.grant(grant("g2", "a", 9)).unwrap();
    let reader = Sqlite::open_to_read_with(&path, Arc::clone(&clock) as _).unwrap();
    for command in [Command::Grant(grant("g3", "a", 1)), Command::Hold(hold("h", "a", 1))] {
        assert!(matches!(reader.run(command), Err(Error::Unknown(why)) if why.contains("only to read")));
    }
    assert!(matches!(reader.expire(), Err(Error::Unknown(_))));
    assert_eq!(reader.balance(account("a")).unwrap().posted, orbs(29));
    ledger.hold(hold("h", "a", 4)).unwrap();
    assert_eq!(reader.holds(account("a")).unwrap()[0].id, id("h"));
    clock.0.store(90_000, Ordering::SeqCst);
    let statement = reader.statement(&Part::newest(account("a"))).unwrap();
    assert_eq!((statement.at, statement.balance.posted, statement.movements.len()), (millis(90_000), orbs(13), 4));
    assert_eq!(reader.totals(None).unwrap().outstanding, 13);
    assert_eq!(reader.verify().unwrap().found, Vec::<String>::new());
    let page = reader.entries(&Cursor::default(), 99).unwrap();
    // Of what comes later, only the time of the newest entry is known.
    assert_eq!((page.entries.len(), page.complete_until), (3, millis(1_000)));
    drop(reader);
    let with_real_clock = Sqlite::open_to_read(&path).unwrap();
    assert_eq!(with_real_clock.entries(&Cursor::default(), 99).unwrap().entries.len(), 3);
    drop(with_real_clock);
    std::fs::write(folder.path().join("empty"), "").unwrap();
    assert!(Sqlite::open_to_read(folder.path().join("empty")).is_err());
}

/// A line without its grant is damage, also in the sums.
#[test]
fn damage_is_no_total() {
    let (folder, clock, ledger) = ledger();
    ledger.grant(grant("g", "a", 20)).unwrap();
    clock.0.store(90_000, Ordering::SeqCst);
    drop(ledger);
    let path = folder.path().join("orbs.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch("DELETE FROM grants").unwrap();
    let ledger = Sqlite::open_to_read_with(&path, clock).unwrap();
    assert!(matches!(ledger.statement(&Part::newest(account("a"))), Err(Error::Unknown(_))));
    assert!(matches!(ledger.totals(None), Err(Error::Unknown(_))));
}

#[test]
fn a_period_has_its_beginning_and_not_its_end() {
    let period = Period { from: Some(millis(2)), to: Some(millis(4)) };
    assert_eq!([1, 2, 3, 4].map(|at| period.has(millis(at))), [false, true, true, false]);
    assert!(Period::default().is_all() && !period.is_all());
}
