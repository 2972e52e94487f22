//! Clocks that leap, in PostgreSQL.

use std::sync::Arc;

use orbgate_ledger::{ClockChange, Error, Ledger as _, Postgres};

use super::server::Server;
use crate::clock::{Leaping, Store, leaps, many_come_back, nothing_is_due_by_a_leap, others_notice};
use crate::support::{grant, numbered};

fn open(url: &str, clock: Arc<Leaping>) -> Box<dyn Store> {
    Box::new(Postgres::open_with(url, None, Some(clock)).unwrap())
}

#[test]
fn postgres_is_as_the_reference_after_each_leap() {
    let Some(server) = Server::start() else {
        return;
    };
    let urls = [(); 2].map(|()| server.new_database());
    let met = leaps(0..2, 7, |seed, order, clock| {
        Box::new(Postgres::open_with(&urls[seed as usize], Some(order), Some(clock)).unwrap())
    });
    assert!(met.0 == 9 && met.1 > 4, "{met:?}");
    let url = server.new_database();
    others_notice(|clock| open(&url, clock));
    let url = server.new_database();
    many_come_back(|clock| open(&url, clock));
    let url = server.new_database();
    nothing_is_due_by_a_leap(|clock| open(&url, clock));
}

/// The database's own clock is compared with the newest entry.
#[test]
fn an_old_database_waits_until_the_clock_is_accepted() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    Postgres::open(&url).unwrap().grant(grant("g", "a", 5)).unwrap();
    server.run(&url, "UPDATE orbs.account SET clock = 5");
    let ledger = Postgres::open(&url).unwrap();
    for _ in 0..2 {
        let Err(Error::Clock(why)) = ledger.grant(grant("g2", "a", 5)) else { panic!("done") };
        assert!(why.contains("newest entry") && why.contains("1970-01-01T00:00:00.005Z"), "{why}");
    }
    let reader = Postgres::open_to_read(&url).unwrap();
    assert!(reader.clock(ClockChange::Nothing).unwrap().refused);
    assert!(!Postgres::open(&url).unwrap().clock(ClockChange::Accept).unwrap().refused);
    ledger.grant(grant("g2", "a", 5)).unwrap();
    numbered(&ledger);
}
