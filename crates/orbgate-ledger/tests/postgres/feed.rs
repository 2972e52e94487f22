//! Readers of entries in PostgreSQL: the transactions of others, and backups.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io::{Seek as _, Write as _};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use orbgate_ledger::{Cursor, Error, Ledger, Page, Postgres};
use postgres::{Client, NoTls};

use super::server::Server;
use crate::feed::{Dice, World, Written, play};
use crate::support::{TestClock, account, capture, grant, hold, numbered, orbs};

fn client(url: &str) -> Client {
    Client::connect(url, NoTls).unwrap()
}

/// A ledger in a database whose rows are kept and put back, as by a dump.
struct Databases {
    ledgers: Vec<Postgres>,
    reader: Option<Postgres>,
    admin: Client,
    url: String,
    neighbour: String,
    going_on: Vec<(Going, Client)>,
    count: u64,
}

const TABLES: [&str; 10] =
    ["account", "grants", "hold", "revocation", "extension", "refund", "freeze", "remark", "entry", "feed"];

const SEQUENCES: [&str; 2] = ["account_key_seq", "entry_position_seq"];

/// What goes on beside the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Going {
    /// A process of this ledger, between its first statement and its commit.
    Writer,
    Neighbour,
    /// A process that numbers and doesn't get on.
    Numbering,
}

/// The user of whoever bills.
const READER: &str = "DO $$ BEGIN CREATE ROLE biller LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; \
    GRANT USAGE ON SCHEMA orbs TO biller; GRANT SELECT ON ALL TABLES IN SCHEMA orbs TO biller";

fn reading(url: &str) -> Postgres {
    let url = url.replace("user=orbs", "user=biller options='-c default_transaction_read_only=on'");
    Postgres::open_to_read(&url).unwrap()
}

/// Keeps entries from being numbered, until its end: a writer numbers only if no other session has any such lock.
fn frozen(url: &str) -> Client {
    let mut client = client(url);
    client.batch_execute("BEGIN; SELECT pg_advisory_xact_lock_shared(8029188924)").unwrap();
    client
}

fn name_of(url: &str) -> &str {
    url.split("dbname=").nth(1).unwrap()
}

impl Databases {
    fn new(server: &Server) -> Self {
        let (url, neighbour) = (server.new_database(), server.new_database());
        server.run(&neighbour, "CREATE TABLE things (thing int)");
        let (admin, ledgers, going_on, count) = (client(&url), Vec::new(), Vec::new(), 0);
        let mut world = Self { ledgers, reader: None, admin, url, neighbour, going_on, count };
        world.open();
        for name in ["slow0", "slow1"] {
            world.ledgers[0].grant(grant(&format!("of_{name}"), name, 1)).unwrap();
        }
        world
    }

    fn open(&mut self) {
        self.ledgers = vec![Postgres::open(&self.url).unwrap(), Postgres::open(&self.url).unwrap()];
        self.admin.batch_execute(READER).unwrap();
        self.reader = Some(reading(&self.url));
    }

    /// A grant as a process writes it that is slow: it has locked its account and read the time.
    fn slow_writer(&mut self) {
        if self.going_on.iter().any(|(going, _)| *going == Going::Writer) {
            return;
        }
        self.count += 1;
        let of = format!("slow{}", self.count % 2);
        let mut writer = client(&self.url);
        writer.batch_execute("BEGIN").unwrap();
        let locked = "SELECT key, seq + 1, paid + 1 FROM orbs.account WHERE id = $1 FOR UPDATE";
        let row = writer.query_one(locked, &[&of]).unwrap();
        let (key, seq, paid): (i64, i64, i64) = (row.get(0), row.get(1), row.get(2));
        let time = "SELECT greatest(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, clock) FROM orbs.account WHERE key = $1";
        let at: i64 = writer.query_one(time, &[&key]).unwrap().get(0);
        let name = format!("slow.{}", self.count);
        let sql = format!(
            "INSERT INTO orbs.grants VALUES ({key}, {seq}, '{name}', 'paid', 1, NULL, {at}, 1, 0, 0, 0, 0);
             UPDATE orbs.account SET clock = {at}, seq = {seq}, paid = {paid} WHERE key = {key};
             INSERT INTO orbs.entry (account, seq, at, cause, id, lines, paid, bonus, held, shortfall)
             VALUES ({key}, {seq}, {at}, 'grant', '{name}', '[[{seq}, 1, 0, 0]]', {paid}, 0, 0, 0)"
        );
        writer.batch_execute(&sql).unwrap();
        self.going_on.push((Going::Writer, writer));
    }
}

impl World for Databases {
    fn ledgers(&self) -> Vec<&dyn Ledger> {
        self.ledgers.iter().map(|ledger| ledger as _).collect()
    }

    fn reader(&self) -> &dyn Ledger {
        self.reader.as_ref().unwrap()
    }

    fn is_frozen(&self) -> bool {
        self.going_on.iter().any(|(going, _)| *going == Going::Numbering)
    }

    fn written(&mut self) -> Written {
        let sql =
            "SELECT a.id, e.seq::bigint, e.at::bigint FROM orbs.entry AS e JOIN orbs.account AS a ON a.key = e.account";
        let rows = self.admin.query(sql, &[]).unwrap();
        let number = |row: &postgres::Row, at| row.get::<_, i64>(at).cast_unsigned();
        rows.iter().map(|row| (row.get(0), number(row, 1), number(row, 2))).collect()
    }

    fn backup(&mut self) {
        self.calm();
        let mut sql =
            "BEGIN ISOLATION LEVEL REPEATABLE READ; DROP SCHEMA IF EXISTS kept CASCADE; CREATE SCHEMA kept;".to_owned();
        for table in TABLES.iter().chain(&SEQUENCES) {
            sql += &format!("CREATE TABLE kept.{table} AS SELECT * FROM orbs.{table};");
        }
        self.admin.batch_execute(&(sql + "COMMIT")).unwrap();
    }

    fn restore(&mut self) {
        self.calm();
        self.ledgers.clear();
        self.reader = None;
        let mut sql = "BEGIN; SET LOCAL session_replication_role = replica;".to_owned();
        let columns = "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute \
                       WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''";
        for table in TABLES {
            let columns: String = self.admin.query_one(columns, &[&format!("orbs.{table}")]).unwrap().get(0);
            sql += &format!(
                "TRUNCATE orbs.{table}; INSERT INTO orbs.{table} ({columns}) OVERRIDING SYSTEM VALUE \
                 SELECT {columns} FROM kept.{table};"
            );
        }
        for sequence in SEQUENCES {
            sql += &format!("SELECT setval('orbs.{sequence}', last_value, is_called) FROM kept.{sequence};");
        }
        self.admin.batch_execute(&(sql + "COMMIT")).unwrap();
        self.open();
    }

    fn disturb(&mut self, dice: &mut Dice) {
        match dice.below(5) {
            0 | 1 => self.slow_writer(),
            2 if !self.is_frozen() => {
                let frozen = frozen(&self.url);
                self.going_on.push((Going::Numbering, frozen));
            }
            3 => {
                let mut neighbour = client(&self.neighbour);
                neighbour.batch_execute("BEGIN; INSERT INTO things VALUES (1)").unwrap();
                self.going_on.push((Going::Neighbour, neighbour));
            }
            _ => {
                let ends = if dice.below(3) == 0 { "ROLLBACK" } else { "COMMIT" };
                for (_, mut client) in self.going_on.drain(..) {
                    client.batch_execute(ends).unwrap();
                }
            }
        }
    }

    fn calm(&mut self) {
        for (_, mut client) in self.going_on.drain(..) {
            client.batch_execute("COMMIT").unwrap();
        }
    }
}

#[test]
fn no_reader_of_a_database_misses_an_entry_or_sees_one_twice() {
    let Some(server) = Server::start() else {
        return;
    };
    let other = Postgres::open(&server.new_database()).unwrap();
    other.grant(grant("g", "slow0", 1)).unwrap();
    numbered(&other);
    let strange: Vec<_> =
        other.entries(&Cursor::default(), 9).unwrap().entries.into_iter().map(|(cursor, _)| cursor).collect();
    let (mut errors, mut restored, mut entries) = (0, 0, 0);
    for seed in 0..crate::support::rounds("ORBGATE_LEDGER_FEEDS", 2) {
        let met = play(&mut Databases::new(&server), seed, 150, &strange);
        (errors, restored, entries) = (errors + met.errors, restored + met.restored, entries + met.entries);
    }
    println!("{entries} entries read, {restored} backups restored, {errors} cursors refused since");
    assert!(errors > 1 && restored > 1 && entries > 40, "{errors} {restored} {entries}");
}

/// Each writer numbers what it sees.
#[test]
fn readers_at_the_same_time_see_the_same_order() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let writers = [(); 3].map(|()| Postgres::open(&url).unwrap());
    let stop = AtomicBool::new(false);
    let read = || {
        let (ledger, mut after, mut seen) = (Postgres::open(&url).unwrap(), Cursor::default(), Vec::new());
        loop {
            let is_last = stop.load(Ordering::SeqCst);
            let page = ledger.entries(&after, 7).unwrap().entries;
            after = page.last().map_or(after, |(cursor, _)| cursor.clone());
            let is_end = page.is_empty();
            seen.extend(page);
            if is_last && is_end {
                return seen;
            }
        }
    };
    let seen: Vec<_> = thread::scope(|scope| {
        let readers = [(); 3].map(|()| scope.spawn(read));
        let work = |(index, ledger): (usize, &Postgres)| {
            for number in 0..60 {
                ledger.grant(grant(&format!("g{index}.{number}"), &format!("a{}", number % 7), 1)).unwrap();
            }
        };
        let writers = writers.iter().enumerate().map(|writer| scope.spawn(move || work(writer)));
        let writers: Vec<_> = writers.collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        let reader = Postgres::open_to_read(&url).unwrap();
        numbered(&reader);
        stop.store(true, Ordering::SeqCst);
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    assert_eq!(seen[0].len(), 180);
    assert!(seen.iter().all(|other| *other == seen[0]));
    let numbers: Vec<_> =
        seen[0].iter().map(|(cursor, _)| cursor.as_str().split_once('-').unwrap().0.to_owned()).collect();
    assert_eq!(numbers, (1..=180).map(|number: u32| number.to_string()).collect::<Vec<_>>());
    assert_eq!(writers[0].verify().unwrap().found, Vec::<String>::new());
}

/// Nobody has to ask for it, and a reader whose transactions can't write sees it.
#[test]
fn an_entry_is_shown_soon_after_its_commit() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open(&url).unwrap();
    server.run(&url, READER);
    let reader = reading(&url);
    let mut slowest = Duration::ZERO;
    for number in 0..20 {
        ledger.grant(grant(&format!("g{number}"), "a", 1)).unwrap();
        let start = Instant::now();
        while reader.entries(&Cursor::default(), 99).unwrap().entries.len() <= number {}
        slowest = slowest.max(start.elapsed());
    }
    println!("the slowest of 20 entries was shown {slowest:?} after its commit");
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    assert_eq!(reader.verify().unwrap().found, Vec::<String>::new());
}

/// Then it doesn't wait for a timer: whoever reads next sees what was answered.
#[test]
fn a_process_numbers_what_it_has_written_when_it_ends() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.new_database();
    let ledger = Postgres::open_to_read(&url).unwrap();
    for number in 0..9 {
        let writer = Postgres::open(&url).unwrap();
        // It has numbered once when it does another command.
        writer.balance(account("a")).unwrap();
        writer.grant(grant(&format!("g{number}"), "a", 1)).unwrap();
        drop(writer);
        assert_eq!(ledger.entries(&Cursor::default(), 99).unwrap().entries.len(), number + 1);
    }
}

/// All of them were killed before they numbered. A reader says so, writes nothing, and doesn't call a month complete.
#[test]
fn entries_of_killed_writers_wait_for_the_next_writer() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut world = Databases::new(&server);
    numbered(world.reader());
    world.ledgers.clear();
    let before = crate::feed::now();
    world.slow_writer();
    world.calm();
    let reader = world.reader();
    for _ in 0..3 {
        let page = reader.entries(&Cursor::default(), 9).unwrap();
        assert_eq!((page.entries.len(), reader.backlog().unwrap().unnumbered), (2, 1));
        assert!(page.complete_until >= before && page.complete_until <= crate::feed::now());
    }
    let written = world.written();
    let at = written.iter().map(|(_, _, at)| *at).max().unwrap();
    assert_eq!(world.reader().entries(&Cursor::default(), 9).unwrap().complete_until.get(), at);
    // A caller can also wait for it.
    Postgres::open(&world.url).unwrap().expire().unwrap();
    assert_eq!(world.reader().entries(&Cursor::default(), 9).unwrap().entries.len(), 3);
}

/// It knows what its primary has written, but not which transactions run there.
#[test]
fn a_hot_standby_shows_entries_and_until_when_they_are_complete() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut world = Databases::new(&server);
    let standby = server.standby("one");
    let reader = Postgres::open_to_read(&standby.url(&world.url)).unwrap();
    // It has read the time, and comes later.
    world.slow_writer();
    let started = crate::feed::now();
    world.ledgers[0].grant(grant("g", "a", 50)).unwrap();
    let shown = |count: usize| loop {
        let page = reader.entries(&Cursor::default(), 99).unwrap();
        if page.entries.len() == count {
            return page;
        }
        thread::sleep(Duration::from_millis(5));
    };
    assert!(shown(3).complete_until < started);
    world.calm();
    world.ledgers[0].hold(hold("h", "a", 5)).unwrap();
    shown(5);
    // The writer that was waited for has ended, so the next time is later.
    world.ledgers[0].settle(capture("h", 5)).unwrap();
    let page = shown(6);
    assert!(page.complete_until >= started && page.complete_until <= crate::feed::now(), "{page:?}");
    numbered(&world.ledgers[0]);
    assert_eq!(
        page,
        Page { complete_until: page.complete_until, ..world.ledgers[0].entries(&Cursor::default(), 99).unwrap() }
    );
    assert_eq!(reader.verify().unwrap().found, Vec::<String>::new());
    // It can't write, and says so.
    assert!(matches!(reader.grant(grant("g2", "a", 5)), Err(Error::Unknown(_))));
}

/// One of them never ends, as when whoever had prepared it is gone.
#[test]
fn transactions_of_others_hide_no_entry() {
    let Some(server) = Server::start() else {
        return;
    };
    let (url, neighbour) = (server.new_database(), server.new_database());
    let ledger = Postgres::open(&url).unwrap();
    let things = "CREATE TABLE public.things (thing int)";
    [&url, &neighbour].into_iter().for_each(|url| server.run(url, things));
    let prepared = "BEGIN; INSERT INTO public.things VALUES (1); PREPARE TRANSACTION 'orphan'";
    server.run(&neighbour, prepared);
    server.run(&url, &prepared.replace("orphan", "orphan here"));
    let mut open = client(&neighbour);
    open.batch_execute("BEGIN; INSERT INTO public.things VALUES (2)").unwrap();
    let start = Instant::now();
    ledger.grant(grant("g", "a", 50)).unwrap();
    let held = ledger.hold(hold("h", "a", 5)).unwrap();
    numbered(&ledger);
    let page = ledger.entries(&Cursor::default(), 9).unwrap();
    assert_eq!(page.entries.len(), 2);
    let orbgate_ledger::HoldAnswer::Held { receipt, .. } = held else { panic!("{held:?}") };
    assert!(page.complete_until >= receipt.at, "{page:?}");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    open.batch_execute("ROLLBACK").unwrap();
}

/// It keeps its own account locked, and no other.
#[test]
fn a_writer_that_never_ends_hides_only_its_own_entries() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut world = Databases::new(&server);
    world.slow_writer();
    let url = world.url.clone();
    for (_, mut writer) in world.going_on.drain(..) {
        writer.batch_execute("PREPARE TRANSACTION 'orphan'").unwrap();
    }
    let ledger = &world.ledgers[0];
    let started = crate::feed::now();
    ledger.grant(grant("g", "a", 50)).unwrap();
    numbered(ledger);
    let page = ledger.entries(&Cursor::default(), 9).unwrap();
    let ids = |page: &Page| page.entries.iter().map(|(_, entry)| entry.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(&page), ["of_slow0", "of_slow1", "g"]);
    // Its entry is earlier.
    assert!(page.complete_until < started, "{page:?}");
    // Others go on, and are numbered several times: what it writes isn't passed over.
    for name in ["g2", "g3"] {
        ledger.grant(grant(name, "a", 50)).unwrap();
        numbered(ledger);
    }
    let page = ledger.entries(&Cursor::default(), 9).unwrap();
    assert_eq!(ids(&page), ["of_slow0", "of_slow1", "g", "g2", "g3"]);
    // It is waited for once.
    let start = Instant::now();
    let after = page.entries.last().unwrap().0.clone();
    for _ in 0..5 {
        assert_eq!(ledger.entries(&after, 9).unwrap().entries, []);
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    server.run(&url, "COMMIT PREPARED 'orphan'");
    numbered(ledger);
    let page = ledger.entries(&after, 9).unwrap();
    assert_eq!(ids(&page), ["slow.1"]);
    assert!(page.complete_until >= started, "{page:?}");
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
}

/// The transactions of the server that the dump came from have higher numbers. What the dump hasn't is forgotten.
#[test]
fn a_dump_in_another_server_shows_each_entry_and_refuses_what_it_has_forgotten() {
    let (Some(from), Some(to)) = (Server::start(), Server::start()) else {
        return;
    };
    let burnt = "DO $$ BEGIN FOR i IN 1..3000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$";
    from.run(&from.url("dbname=postgres"), burnt);
    let url = from.new_database();
    let ledger = Postgres::open(&url).unwrap();
    ledger.grant(grant("g", "a", 500)).unwrap();
    ledger.hold(hold("h1", "a", 5)).unwrap();
    let last = |ledger: &Postgres| {
        numbered(ledger);
        ledger.entries(&Cursor::default(), 99).unwrap().entries.pop().unwrap().0
    };
    let kept = last(&ledger);
    // It is in the dump, but has no number there yet.
    let frozen = frozen(&url);
    ledger.settle(capture("h1", 5)).unwrap();
    let mut dump = tempfile::tempfile().unwrap();
    let dumped = from.program("pg_dump", &["-h", from.host(), "-U", "orbs", name_of(&url)]).output().unwrap();
    assert!(dumped.status.success(), "{dumped:?}");
    dump.write_all(&dumped.stdout).unwrap();
    dump.rewind().unwrap();
    drop(frozen);
    let also = last(&ledger);
    ledger.hold(hold("h2", "a", 7)).unwrap();
    let forgotten = last(&ledger);
    drop(ledger);
    let url = to.new_database();
    let arguments = ["-h", to.host(), "-U", "orbs", "-d", name_of(&url), "-q", "-v", "ON_ERROR_STOP=1"];
    let restored = to.program("psql", &arguments).stdin(dump).output().unwrap();
    assert!(restored.status.success(), "{restored:?}");
    // Before it is numbered, nobody knows whether `also` is from this ledger.
    let frozen = self::frozen(&url);
    let ledger = Postgres::open(&url).unwrap();
    assert!(
        matches!(ledger.entries(&also, 9), Err(Error::Unknown(why)) if why.contains("1 entries have no number yet"))
    );
    assert_eq!(ledger.entries(&forgotten, 9), Err(Error::Cursor));
    drop(frozen);
    let ids = |after: &Cursor| {
        numbered(&ledger);
        let page = ledger.entries(after, 9).unwrap();
        page.entries.iter().map(|(_, entry)| format!("{} {}", entry.id, entry.cause.name())).collect::<Vec<_>>()
    };
    assert_eq!(ids(&kept), ["h1 capture"]);
    // The same entries have the same numbers again.
    assert_eq!(ids(&also), Vec::<String>::new());
    ledger.hold(hold("h3", "a", 7)).unwrap();
    assert_eq!(ids(&also), ["h3 hold"]);
    assert_eq!(ledger.entries(&forgotten, 9), Err(Error::Cursor));
    assert_eq!(ledger.balance(account("a")).unwrap().held, orbs(7));
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
}

/// A cursor of the first version is a transaction and a position.
#[test]
fn cursors_of_the_first_version_are_known_as_long_as_their_order_was() {
    let Some(server) = Server::start() else {
        return;
    };
    let dump = include_str!("version-1.sql");
    let url = server.new_database();
    server.run(&url, dump);
    // While this time stands still, nothing expires.
    let open = |url: &str| Postgres::open_with(url, None, Some(Arc::<TestClock>::default() as _)).unwrap();
    let ledger = open(&url);
    let count = |ledger: &Postgres, after: &str| ledger.entries(&Cursor::new(after), 99).map(|page| page.entries.len());
    let all = count(&ledger, "").unwrap();
    assert_eq!((count(&ledger, "825.5"), count(&ledger, "830.8")), (Ok(all - 5), Ok(all - 8)));
    for unknown in ["825.6", "825.05", "825.", ".5", "900.5", "5", "0.0"] {
        assert_eq!(count(&ledger, unknown), Err(Error::Cursor), "{unknown}");
    }
    // Later entries have none.
    ledger.grant(grant("new", "b", 5)).unwrap();
    numbered(&ledger);
    let mut other = client(&url);
    let position: i64 = other.query_one("SELECT max(position) FROM orbs.entry", &[]).unwrap().get(0);
    assert_eq!(count(&ledger, &format!("900.{position}")), Err(Error::Cursor));
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
    // A server whose transactions have lower numbers has written since.
    let url = server.new_database();
    server.run(&url, &dump.replace("('830', ", "('4000000000', ").replace("('831', ", "('2', "));
    let ledger = open(&url);
    assert_eq!((count(&ledger, "825.5"), count(&ledger, "")), (Err(Error::Cursor), Ok(all)));
}

/// It would be charged again, or never.
#[test]
fn numbers_that_were_tampered_with_are_found() {
    let Some(server) = Server::start() else {
        return;
    };
    for (sql, what) in [
        ("UPDATE orbs.feed SET digest = digest + 1 WHERE number = 2", "entry 2 of the ledger has another digest"),
        ("DELETE FROM orbs.feed WHERE number = 2", "1 entries have no number"),
        ("UPDATE orbs.feed SET number = 10 WHERE number = 3", "entry 10 of the ledger has another digest"),
        ("UPDATE orbs.entry SET shortfall = 1 WHERE seq = 2", "entry 2 of the ledger has another digest"),
    ] {
        let url = server.new_database();
        let ledger = Postgres::open(&url).unwrap();
        ledger.grant(grant("g", "a", 5)).unwrap();
        ledger.hold(hold("h", "a", 2)).unwrap();
        ledger.settle(capture("h", 2)).unwrap();
        numbered(&ledger);
        assert_eq!(ledger.entries(&Cursor::default(), 9).unwrap().entries.len(), 3);
        assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
        assert!(client(&url).batch_execute(sql).is_err(), "numbers and entries are never changed");
        server.run(&url, &format!("SET session_replication_role = replica; {sql}"));
        let found = ledger.verify().unwrap().found;
        assert!(found.iter().any(|fault| fault.contains(what)), "{sql}: {found:?}");
    }
}
