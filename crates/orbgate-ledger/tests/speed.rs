//! How fast holds are, compared with the same writes through bare prepared statements in the same run:
//! `cargo test --release -p orbgate-ledger --test all speed -- --ignored --nocapture`.

use core::time::Duration;
use std::sync::mpsc;
use std::time::Instant;

use orbgate_ledger::{Command, Ledger as _, Sqlite};
use rusqlite::{Connection, params};

use crate::support::{account, grant, hold};

const ROUNDS: usize = 7;

#[test]
#[ignore = "measures"]
fn holds_are_nearly_as_fast_as_their_writes() {
    for size in [1_u64, 20, 200] {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (folder.path().join("ours.db"), folder.path().join("theirs.db"));
        drop(Sqlite::open(&theirs).unwrap());
        let ledger = Sqlite::open(&ours).unwrap();
        ledger.grant(grant("g", "a", 1_000_000_000)).unwrap();
        let mut bare = Bare::new(&theirs);
        let count = if size == 1 { 400 } else { 4000 };
        let mut best = [Duration::MAX; 2];
        for round in 0..ROUNDS {
            best[0] = best[0].min(holds(&ledger, round, count, size));
            best[1] = best[1].min(bare.holds(round, count, size));
        }
        let [ours, theirs] = best.map(|best| count as f64 / best.as_secs_f64());
        println!("{size} per commit: {ours:.0} holds/s, bare {theirs:.0}, ratio {:.2}", ours / theirs);
    }
}

/// Holds with commits of exactly this size: the writer is kept waiting while they queue.
fn holds(ledger: &Sqlite, round: usize, count: u64, size: u64) -> Duration {
    let mut time = Duration::ZERO;
    let (send, done) = mpsc::channel();
    for batch in 0..count / size {
        let (release, wait) = mpsc::channel::<()>();
        ledger.submit(Command::Balance(account("a")), Box::new(move |_| wait.recv().unwrap()));
        let commands = (0..size).map(|index| hold(format!("h{round}.{batch}.{index}"), "a", 1));
        for command in commands {
            let send = send.clone();
            ledger.submit(Command::Hold(command), Box::new(move |answer| send.send(answer.is_ok()).unwrap()));
        }
        let start = Instant::now();
        release.send(()).unwrap();
        for _ in 0..size {
            assert!(done.recv().unwrap());
        }
        time += start.elapsed();
    }
    time
}

/// The same rows without a ledger.
struct Bare {
    connection: Connection,
    held: i64,
}

impl Bare {
    fn new(path: &std::path::Path) -> Self {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                 INSERT INTO account VALUES (1, 'a', 1, 1, 1000000000, 0, 0, NULL);
                 INSERT INTO grants VALUES (1, 1, 'g', 'paid', 1000000000, NULL, 1, 1000000000, 0, 0, 0, 0);",
            )
            .unwrap();
        Self { connection, held: 0 }
    }

    fn holds(&mut self, round: usize, count: u64, size: u64) -> Duration {
        let ids: Vec<_> = (0..count).map(|index| format!("h{round}.{}.{}", index / size, index % size)).collect();
        let start = Instant::now();
        for ids in ids.chunks(size as usize) {
            self.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            for id in ids {
                self.held += 1;
                let (held, left, now) = (self.held, 1_000_000_000 - self.held, 1_764_000_000_000_i64);
                let prepared = |sql: &str| self.connection.prepare_cached(sql).unwrap();
                let sql = "INSERT INTO hold (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state) \
                           VALUES (?1, 1, 1, 0, 3600000, '', ?2, '[[1,1]]', 0, ?3, 'pending')";
                prepared(sql).execute(params![id, now, now + 3_600_000]).unwrap();
                let sql = "UPDATE grants SET available = ?1, held = ?2 WHERE account = 1 AND seq = 1";
                prepared(sql).execute([left, held]).unwrap();
                let sql = "INSERT INTO entry (account, seq, at, cause, id, lines, paid, bonus, held, shortfall) \
                           VALUES (1, ?1, ?2, 'hold', ?3, '[[1,-1,1,0]]', ?4, 0, ?5, 0)";
                prepared(sql).execute(params![held + 1, now, id, left, held]).unwrap();
                let sql = "UPDATE account SET clock = ?1, seq = ?2, paid = ?3, held = ?4, next_due = ?5 WHERE key = 1";
                prepared(sql).execute([now, held + 1, left, held, now + 3_600_000]).unwrap();
            }
            self.connection.execute_batch("COMMIT").unwrap();
        }
        start.elapsed()
    }
}
