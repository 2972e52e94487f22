//! How fast a ledger's holds are, compared with the same writes through bare prepared statements in the same run, in the folder of
//! temporary files: part of `cargo xtask bench --ledger`.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Arc, mpsc};
use std::time::Instant;

use orbgate_ledger::{AccountId, Answer, Command, Error, Grant, Hold, Id, Ledger, Millis, Note, Orbs, Sqlite};
use rusqlite::{Connection, params};

/// Each is short, so that some of them are undisturbed on a shared machine; the best one counts.
const ROUNDS: usize = 300;

fn account(name: &str) -> AccountId {
    AccountId::new(name).unwrap()
}

fn grant(id: &str, of: &str, amount: u64) -> Grant {
    let (id, amount) = (Id::new(id).unwrap(), Orbs::new(amount).unwrap());
    Grant::new(id, account(of), amount)
}

fn hold(id: String, of: &str, amount: u64) -> Hold {
    let (id, amount) = (Id::new(id).unwrap(), Orbs::new(amount).unwrap());
    let (ttl, note) = (Millis::new(3_600_000).unwrap(), Note::new("").unwrap());
    Hold { id, account: account(of), amount, bonus: false, ttl, note }
}

fn main() {
    println!("| holds per commit | holds a second | bare statements | ratio |\n|--:|--:|--:|--:|");
    for size in [1_u64, 20, 200] {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (folder.path().join("ours.db"), folder.path().join("theirs.db"));
        drop(Sqlite::open(&theirs).unwrap());
        let ledger = Sqlite::open(&ours).unwrap();
        ledger.grant(grant("g", "a", 1_000_000_000)).unwrap();
        let mut bare = Bare::new(&theirs);
        let count = if size == 1 { 40 } else { size * 10 };
        let mut best = [Duration::MAX; 2];
        for round in 0..ROUNDS {
            best[0] = best[0].min(holds(&ledger, round, count, size));
            best[1] = best[1].min(bare.holds(round, count, size));
        }
        let [ours, theirs] = best.map(|best| count as f64 / best.as_secs_f64());
        println!("| {size} | {ours:.0} | {theirs:.0} | {:.2} |", ours / theirs);
    }
}

/// Holds with commits of exactly this size: the writer is kept waiting while they queue.
fn holds(ledger: &Sqlite, round: usize, count: u64, size: u64) -> Duration {
    let mut time = Duration::ZERO;
    let (send, done) = mpsc::channel();
    for batch in 0..count / size {
        let (release, wait) = mpsc::channel::<()>();
        let (waits, is_waiting) = mpsc::channel::<()>();
        let keep_waiting = move |_| {
            waits.send(()).unwrap();
            wait.recv().unwrap();
        };
        ledger.submit(Command::Balance(account("a")), Box::new(keep_waiting));
        // Otherwise it would have done some holds by the start.
        is_waiting.recv().unwrap();
        let commands = (0..size).map(|index| hold(format!("h{round}.{batch}.{index}"), "a", 1));
        // The last answer is what counts, and not how fast a thread wakes for each.
        let left = Arc::new(AtomicU64::new(size));
        for command in commands {
            let (send, left) = (send.clone(), Arc::clone(&left));
            let answered = move |answer: Result<Answer, Error>| {
                assert!(answer.is_ok());
                if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                    send.send(()).unwrap();
                }
            };
            ledger.submit(Command::Hold(command), Box::new(answered));
        }
        let start = Instant::now();
        release.send(()).unwrap();
        done.recv().unwrap();
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
