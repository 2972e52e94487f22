//! How much a ledger grows with each call, as the page says.

use std::sync::mpsc;

use orbgate_ledger::{Answer, Command, Grant, Hold, Ledger, Note, Settle, Settlement};

use crate::support::{account, id, millis, orbs};

const CALLS: u64 = 2_000;

/// Calls as gates make them: the names are as long as theirs.
pub(crate) fn call(ledger: &impl Ledger) {
    let (of, digest) = ("https://login.example.com#5f0c9a51-3d1e-4f7e-9d6b-0d3f2b7c8a11", "8d".repeat(32));
    let amount = orbs(100 * CALLS);
    ledger.grant(Grant::new(id("g"), account(of), amount)).unwrap();
    let (send, answers) = mpsc::channel();
    let submit = |command: Command| {
        let send = send.clone();
        ledger.submit(command, Box::new(move |answer| send.send(answer.unwrap()).unwrap()));
    };
    let ids = || {
        (0..CALLS).map(|index| {
            id(format!("{:032x}", u128::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)))
        })
    };
    for hold in ids() {
        let note = Note::new(format!("POST /v1/external/prompt {digest}")).unwrap();
        let ttl = millis(60_000_000);
        submit(Command::Hold(Hold { id: hold, account: account(of), amount: orbs(30), bonus: false, ttl, note }));
    }
    (0..CALLS).for_each(|_| assert!(matches!(answers.recv().unwrap(), Answer::Hold(_))));
    ids().for_each(|hold| submit(Command::Settle(Settle { hold, settlement: Settlement::Capture(orbs(12)) })));
    (0..CALLS).for_each(|_| assert!(matches!(answers.recv().unwrap(), Answer::Settled(_))));
}

/// Requires that the page says how many bytes a call takes, give or take a tenth.
pub(crate) fn compare(store: &str, bytes: u64) {
    const PAGE: &str = include_str!("../../../docs/orbs-growth.md");
    let row = PAGE.lines().find_map(|line| line.strip_prefix(&format!("| {store} | ")));
    let (stated, later) = row.and_then(|row| row.trim_end_matches(" |").split_once(" | ")).unwrap();
    let stated = stated.replace(',', "").parse::<u64>().unwrap();
    assert_eq!(later, format!("{} GB", stated * 60 / 1_000));
    let measured = bytes / CALLS;
    assert!(measured.abs_diff(stated) * 10 <= stated, "{store}: a call takes {measured} bytes, and not {stated}");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_file_grows_as_the_page_says() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = orbgate_ledger::Sqlite::open(folder.path().join("orbs.db")).unwrap();
    let size = |name: &str| {
        let copy = folder.path().join(name);
        ledger.backup(&copy).unwrap();
        std::fs::metadata(copy).unwrap().len()
    };
    let before = size("before");
    call(&ledger);
    compare("SQLite", size("after") - before);
}

#[cfg(all(feature = "postgres", target_os = "linux"))]
#[test]
fn a_database_grows_as_the_page_says() {
    let Some(server) = crate::postgres::server::Server::start() else { return };
    let url = server.new_database();
    let ledger = orbgate_ledger::Postgres::open(&url).unwrap();
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let mut size = || -> u64 {
        ledger.expire().unwrap();
        client.batch_execute("VACUUM FULL").unwrap();
        let sql = "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class \
                   WHERE relnamespace = 'orbs'::regnamespace AND relkind = 'r'";
        client.query_one(sql, &[]).unwrap().get::<_, i64>(0).try_into().unwrap()
    };
    let before = size();
    call(&ledger);
    let after = size();
    compare("PostgreSQL", after - before);
}
