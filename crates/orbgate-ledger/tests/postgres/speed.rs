//! How fast holds are: beside the same writes through bare statements, from many clients, and in accounts with much in them. Parts of
//! `cargo xtask bench --ledger`, with a server that syncs what it commits.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use orbgate_ledger::{Answer, Clock, Command, Error, Grant, Hold, HoldAnswer, Ledger, Millis, Postgres, SystemClock};
use postgres::types::{ToSql, Type};
use postgres::{Client, NoTls};

use super::delayed::Delayed;
use super::kept_waiting;
use super::server::Server;
use crate::support::{TestClock, account, capture, grant, hold, id, millis, orbs};

/// Each is short, so that some of them are undisturbed on a shared machine; the best one counts.
const ROUNDS: u64 = 60;

/// How long each row of clients is measured.
const ROW: Duration = Duration::from_secs(4);

fn syncing() -> Option<Server> {
    let server = Server::start()?;
    server.sync();
    Some(server)
}

#[test]
#[ignore = "measures"]
fn holds_beside_bare_statements() {
    let Some(server) = syncing() else {
        return;
    };
    println!(
        "\n| holds per commit of PostgreSQL | network | holds a second | bare statements | ratio |\n|--:|---|--:|--:|--:|"
    );
    for delay in [0, 1] {
        for size in [1_u64, 20, 200] {
            let (ours, theirs) = (server.new_database(), server.new_database());
            let path = (delay > 0).then(|| Delayed::new(server.host(), Duration::from_millis(delay)));
            let by_path = |url: &str| path.as_ref().map_or_else(|| url.to_owned(), |path| path.url(url, server.host()));
            drop(Postgres::open(&theirs).unwrap());
            let ledger = Postgres::open(&by_path(&ours)).unwrap();
            ledger.grant(grant("g", "a", 1_000_000_000)).unwrap();
            let mut bare = Bare::new(&by_path(&theirs));
            let count = if size == 1 { 20 } else { size * 4 };
            let mut best = [Duration::MAX; 2];
            for round in 0..ROUNDS {
                best[0] = best[0].min(holds(&ledger, round, count, size));
                best[1] = best[1].min(bare.holds(round, count, size));
            }
            let [ours, theirs] = best.map(|best| count as f64 / best.as_secs_f64());
            let network = if delay == 0 { "socket" } else { "1 ms each way" };
            println!("| {size} | {network} | {ours:.0} | {theirs:.0} | {:.2} |", ours / theirs);
        }
    }
}

/// Holds with commits of exactly this size.
fn holds(ledger: &Postgres, round: u64, count: u64, size: u64) -> Duration {
    (0..count / size).map(|batch| holds_at_once(ledger, &format!("{round}.{batch}"), size)).sum()
}

/// Holds in one batch: the writer is kept waiting while they queue.
pub(crate) fn holds_at_once(ledger: &Postgres, name: &str, size: u64) -> Duration {
    let (send, done) = mpsc::channel();
    let release = kept_waiting(ledger);
    // The last answer is what counts, and not how fast a thread wakes for each.
    let left = Arc::new(AtomicU64::new(size));
    for index in 0..size {
        let (send, left) = (send.clone(), Arc::clone(&left));
        let answered = move |answer: Result<Answer, Error>| {
            assert!(matches!(answer, Ok(Answer::Hold(HoldAnswer::Held { .. }))));
            if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                send.send(()).unwrap();
            }
        };
        ledger.submit(Command::Hold(hold(format!("h{name}.{index}"), "a", 1)), Box::new(answered));
    }
    let start = Instant::now();
    release.send(()).unwrap();
    done.recv().unwrap();
    start.elapsed()
}

/// The same rows without a ledger: an account is locked, and all rows of a table are one statement. As behind a pool, no statement has a name.
struct Bare {
    client: Client,
    held: i64,
}

impl Bare {
    fn new(url: &str) -> Self {
        let mut client = Client::connect(url, NoTls).unwrap();
        client
            .batch_execute(
                "INSERT INTO orbs.account (id, clock, seq, paid) VALUES ('a', 1, 1, 1000000000);
                 INSERT INTO orbs.grants VALUES (1, 1, 'g', 'paid', 1000000000, NULL, 1, 1000000000, 0, 0, 0, 0);",
            )
            .unwrap();
        Self { client, held: 0 }
    }

    fn holds(&mut self, round: u64, count: u64, size: u64) -> Duration {
        let ids: Vec<_> = (0..count).map(|index| format!("h{round}.{}.{}", index / size, index % size)).collect();
        let start = Instant::now();
        for ids in ids.chunks(size as usize) {
            let (before, now) = (self.held, 1_764_000_000_000_i64);
            self.held += size as i64;
            let (held, left) = (self.held, 1_000_000_000 - self.held);
            let mut run = |sql: &str, parameters: &[(&(dyn ToSql + Sync), Type)]| {
                self.client.query_typed(sql, parameters).unwrap()
            };
            run("BEGIN", &[]);
            run("SELECT key, clock, seq, paid, held FROM orbs.account WHERE id = $1 FOR UPDATE", &[(&"a", Type::TEXT)]);
            run(
                "INSERT INTO orbs.hold (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state) \
                 SELECT id, 1, 1, false, 3600000, '', $2, '[[1,1]]', 0, $2 + 3600000, 'pending' FROM unnest($1::text[]) AS id",
                &[(&ids, Type::TEXT_ARRAY), (&now, Type::INT8)],
            );
            run(
                "UPDATE orbs.grants SET available = $1, held = $2 WHERE account = 1 AND seq = 1",
                &[(&left, Type::INT8), (&held, Type::INT8)],
            );
            run(
                "INSERT INTO orbs.entry (account, seq, at, cause, id, lines, paid, bonus, held, shortfall) \
                 SELECT 1, $3 + n + 1, $2, 'hold', id, '[[1,-1,1,0]]', 1000000000 - $3 - n, 0, $3 + n, 0 \
                 FROM unnest($1::text[]) WITH ORDINALITY AS e (id, n)",
                &[(&ids, Type::TEXT_ARRAY), (&now, Type::INT8), (&before, Type::INT8)],
            );
            run(
                "UPDATE orbs.account SET clock = $1, seq = $2, paid = $3, held = $4 WHERE key = 1",
                &[(&now, Type::INT8), (&(held + 1), Type::INT8), (&left, Type::INT8), (&held, Type::INT8)],
            );
            run("COMMIT", &[]);
        }
        start.elapsed()
    }
}

/// From a number of clients, each with one hold after another. Their accounts take turns.
#[test]
#[ignore = "measures"]
fn clients_wait_for_one_commit() {
    let Some(server) = syncing() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    println!("\n| ledger | clients | accounts | holds a second | median ms | 99 % | 99.9 % |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for clients in [1, 64] {
        for accounts in [1, 1000] {
            #[cfg(feature = "sqlite")]
            {
                let file = folder.path().join(format!("{clients}-{accounts}.db"));
                waits("SQLite", &orbgate_ledger::Sqlite::open(file).unwrap(), clients, accounts);
            }
            waits("PostgreSQL", &Postgres::open(&server.new_database()).unwrap(), clients, accounts);
        }
    }
}

fn waits(name: &str, ledger: &dyn Ledger, clients: usize, accounts: usize) {
    for number in 0..accounts {
        ledger.grant(grant(&format!("g{number}"), &format!("a{number}"), 1_000_000_000)).unwrap();
    }
    let one = |client: usize, index: usize| {
        let of = format!("a{}", (client + index * clients) % accounts);
        let command = Hold { id: id(format!("h{client}.{index}")), ..hold("h", &of, 1) };
        let start = Instant::now();
        assert!(matches!(ledger.hold(command).unwrap(), HoldAnswer::Held { .. }));
        start.elapsed()
    };
    let times: Vec<Vec<Duration>> = thread::scope(|scope| {
        let clients = (0..clients).map(|client| {
            let one = &one;
            scope.spawn(move || {
                let start = Instant::now();
                (0..).take_while(|_| start.elapsed() < ROW).map(|index| one(client, index)).collect()
            })
        });
        let clients: Vec<_> = clients.collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let mut times = times.concat();
    let rate = times.len() as f64 / ROW.as_secs_f64();
    times.sort();
    let [median, high, highest] = [500, 990, 999].map(|part| times[times.len() * part / 1000].as_secs_f64() * 1e3);
    println!("| {name} | {clients} | {accounts} | {rate:.0} | {median:.2} | {high:.2} | {highest:.2} |");
    assert!(ledger.verify().unwrap().found.is_empty());
}

/// Does commands, as many at once as the ledger takes.
fn fill(ledger: &Postgres, commands: impl Iterator<Item = Command>) {
    let (send, answers) = mpsc::channel();
    let mut waiting = 0;
    for command in commands {
        let send = send.clone();
        ledger.submit(command, Box::new(move |answer| send.send(answer).unwrap()));
        waiting += 1;
        if waiting == 1_000 {
            answers.recv().unwrap().unwrap();
            waiting -= 1;
        }
    }
    (0..waiting).for_each(|_| drop(answers.recv().unwrap().unwrap()));
}

/// A hold beside much that it doesn't need, and one of an account with one grant, take turns.
#[test]
#[ignore = "measures"]
fn holds_in_accounts_with_much_in_them() {
    let Some(server) = syncing() else {
        return;
    };
    let ledger = Postgres::open(&server.new_database()).unwrap();
    let granted = |name: &str, count: u64, each: u64| {
        let name = name.to_owned();
        (0..count).map(move |index| Command::Grant(grant(&format!("{name}.{index}"), &name, each)))
    };
    fill(&ledger, granted("one", 1, 1_000_000));
    fill(&ledger, granted("open", 10_000, 1_000));
    fill(&ledger, granted("closed", 10_000, 1));
    ledger.hold(hold("closes", "closed", 10_000)).unwrap();
    ledger.settle(capture("closes", 10_000)).unwrap();
    ledger.grant(grant("more", "closed", 1_000_000)).unwrap();
    fill(&ledger, granted("pending", 1, 1_000_000));
    fill(&ledger, (0..100_000).map(|index| Command::Hold(hold(format!("pending.{index}"), "pending", 1))));
    println!("\n| in the account, over PostgreSQL | a hold, ms | with one grant, ms | times |\n|---|--:|--:|--:|");
    for (of, what) in
        [("open", "10,000 open grants"), ("closed", "10,000 closed grants"), ("pending", "100,000 pending holds")]
    {
        let times = ["one", of].map(|of| (of, Vec::new()));
        let [one, much] = (0..300).fold(times, |mut times, round| {
            for (of, times) in &mut times {
                let beside = what.replace([' ', ','], "");
                times.push(holds_of(&ledger, of, &format!("beside-{of}.{round}.{beside}")));
            }
            times
        });
        let [one, much] = [one.1, much.1].map(|mut times| {
            times.sort();
            times[times.len() / 2].as_secs_f64() * 1e3
        });
        println!("| {what} | {much:.2} | {one:.2} | {:.2} |", much / one);
    }
    assert!(ledger.verify().unwrap().found.is_empty());
}

fn holds_of(ledger: &Postgres, of: &str, name: &str) -> Duration {
    // No other hold of the account is due when the clock is moved by a day.
    let hold = Hold { ttl: millis(30 * 86_400_000), ..hold(name, of, 1) };
    let start = Instant::now();
    assert!(matches!(ledger.hold(hold).unwrap(), HoldAnswer::Held { .. }));
    start.elapsed()
}

/// A command waits until what has expired in its account is written.
#[test]
#[ignore = "measures"]
fn a_command_of_an_account_with_many_due_holds() {
    let Some(server) = syncing() else {
        return;
    };
    println!("\n| due holds of an account, over PostgreSQL | its next command, s |\n|--:|--:|");
    for due in [25_000, 100_000, 145_836] {
        let clock = Arc::new(TestClock::default());
        clock.0.store(1_000, Ordering::SeqCst);
        let url = server.new_database();
        let ledger = Postgres::open_with(&url, None, Some(Arc::clone(&clock) as _)).unwrap();
        ledger.grant(grant("g", "a", 1_000_000)).unwrap();
        let expiring = |index: u64| Hold { ttl: millis(1 + index % 7_000), ..hold(format!("h{index}"), "a", 1) };
        fill(&ledger, (0..due).map(|index| Command::Hold(expiring(index))));
        clock.0.store(100_000, Ordering::SeqCst);
        println!("| {due} | {:.2} |", holds_of(&ledger, "a", "next").as_secs_f64());
        assert_eq!(ledger.balance(account("a")).unwrap().held, orbs(1));
    }
}

/// The system's clock, moved.
#[derive(Debug)]
struct Moved(AtomicU64);

impl Clock for Moved {
    fn now(&self) -> Millis {
        millis(SystemClock.now().get() + self.0.load(Ordering::SeqCst))
    }
}

/// Holds of 24 clients, each with an account, while a grant of 100,000 others expires at one moment.
#[test]
#[ignore = "measures"]
fn holds_while_many_accounts_expire() {
    let Some(server) = syncing() else {
        return;
    };
    let clock = Arc::new(Moved(AtomicU64::new(0)));
    let ledger = Postgres::open_with(&server.new_database(), None, Some(Arc::clone(&clock) as _)).unwrap();
    let day = millis(clock.now().get() + 86_400_000);
    let expiring = |index: u64| Grant { expires_at: Some(day), ..grant(&format!("g{index}"), &format!("a{index}"), 5) };
    fill(&ledger, (0..100_000).map(|index| Command::Grant(expiring(index))));
    fill(&ledger, (0..24).map(|client| Command::Grant(grant(&format!("c{client}"), &format!("c{client}"), 1_000_000))));
    println!(
        "\n| over PostgreSQL | seconds | holds a second | median ms | 99 % | longest |\n|---|--:|--:|--:|--:|--:|"
    );
    for (what, jump) in [("nothing is due", 0), ("100,000 accounts are due", 86_400_001)] {
        clock.0.store(jump, Ordering::SeqCst);
        let (start, done) = (Instant::now(), AtomicU64::new(0));
        let times: Vec<Vec<Duration>> = thread::scope(|scope| {
            let clients = (0..24).map(|client| {
                let (ledger, done) = (&ledger, &done);
                scope.spawn(move || {
                    let open = (0..).take_while(|_| done.load(Ordering::SeqCst) == 0);
                    open.map(|index| holds_of(ledger, &format!("c{client}"), &format!("{jump}.{client}.{index}")))
                        .collect()
                })
            });
            let clients: Vec<_> = clients.collect();
            thread::sleep(ROW);
            while ledger.backlog().unwrap().accounts > 0 {
                thread::sleep(Duration::from_millis(200));
            }
            done.store(1, Ordering::SeqCst);
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        let (seconds, mut times) = (start.elapsed().as_secs_f64(), times.concat());
        times.sort();
        let [median, high, longest] =
            [times.len() / 2, times.len() * 99 / 100, times.len() - 1].map(|at| times[at].as_secs_f64() * 1e3);
        let rate = times.len() as f64 / seconds;
        println!("| {what} | {seconds:.1} | {rate:.0} | {median:.2} | {high:.2} | {longest:.2} |");
    }
}
