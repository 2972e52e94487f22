//! What a ledger adds between a request and its answer: part of `cargo xtask bench --ledger`.

use core::time::Duration;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use orbgate_ledger::{Bucket, Ledger, Postgres, Sqlite};
use orbgate_token::{KeyFetcher, TestIssuer, Verifier};

use crate::delayed::Delayed;
use crate::server::Server;
use crate::service::{World, rules};

/// How long each row is measured.
const ROW: Duration = Duration::from_secs(4);

/// Both stores sync what they commit.
struct Stores {
    folder: tempfile::TempDir,
    server: Option<Server>,
    /// The way to the same server over a network.
    path: Option<Delayed>,
}

impl Stores {
    fn new() -> Self {
        let server = Server::start();
        server.iter().for_each(Server::sync);
        let path = server.as_ref().map(|server| Delayed::new(server.host(), Duration::from_millis(1)));
        Self { folder: tempfile::tempdir().unwrap(), server, path }
    }

    /// Each store, empty.
    fn each(&self, file: &str) -> Vec<(&'static str, Arc<dyn Ledger>)> {
        let sqlite = Sqlite::open(self.folder.path().join(file)).unwrap();
        let mut all: Vec<(_, Arc<dyn Ledger>)> = vec![("SQLite", Arc::new(sqlite))];
        if let (Some(server), Some(path)) = (&self.server, &self.path) {
            let postgres = Postgres::open(&server.new_database()).unwrap();
            all.push(("PostgreSQL", Arc::new(postgres)));
            let postgres = Postgres::open(&path.url(&server.new_database(), server.host())).unwrap();
            all.push(("PostgreSQL, 1 ms each way", Arc::new(postgres)));
        }
        all
    }
}

#[test]
#[ignore = "measures"]
fn answers_wait_for_one_commit() {
    let stores = Stores::new();
    println!(
        "\n| ledger | connections | median ms, nothing held | held | 99 %, nothing held | held | answers a second, held |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for connections in [1, 20, 200] {
        for (name, ledger) in stores.each(&format!("{connections}.db")) {
            answers(name, ledger, connections);
        }
    }
}

/// Calls of one route that holds orbs and of one that doesn't take turns, over connections that stay open, each with its account.
fn answers(name: &str, ledger: Arc<dyn Ledger>, connections: usize) {
    let world = World::verified_by(ledger, rules(), remembering, |gate| gate);
    let users: Vec<_> = (0..connections).map(|number| format!("user-{number}")).collect();
    users.iter().for_each(|user| world.grant(user, 1_000_000_000, Bucket::Paid));
    let tokens: Vec<_> = users.iter().map(|user| world.token(user)).collect();
    let times = together(connections, |number| {
        let mut connection = Connection::new(&world.address, &tokens[number]);
        let mut times = [Vec::new(), Vec::new()];
        let start = Instant::now();
        while start.elapsed() < ROW {
            for (line, times) in ["GET /free", "GET /run"].into_iter().zip(&mut times) {
                times.push(connection.call(line));
            }
        }
        times
    });
    let [free, run] = [0, 1].map(|route: usize| {
        let mut all: Vec<_> = times.iter().flat_map(|times| &times[route]).copied().collect();
        all.sort();
        all
    });
    let part = |times: &[Duration], part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    let rate = (run.len() * connections) as f64 / run.iter().sum::<Duration>().as_secs_f64();
    println!(
        "| {name} | {connections} | {:.2} | {:.2} | {:.2} | {:.2} | {rate:.0} |",
        part(&free, 50),
        part(&run, 50),
        part(&free, 99),
        part(&run, 99)
    );
    for (user, times) in users.iter().zip(&times) {
        assert_eq!(world.left(user), 1_000_000_000 - 10 * times[1].len() as u64);
    }
    assert!(world.ledger.verify().unwrap().found.is_empty());
}

/// What a service verifies with whose tokens come again and again: the keys are in a file.
fn remembering(issuer: &TestIssuer) -> KeyFetcher {
    let (folder, by_url) = (tempfile::tempdir().unwrap(), "\"jwks_uri\":\"https://issuer.test/jwks\"");
    let file = folder.path().join("jwks.json");
    std::fs::write(&file, issuer.jwks()).unwrap();
    let tokens = issuer.tokens_yaml().replace(by_url, &format!("\"jwks_file\":{file:?}"));
    assert!(tokens.contains("jwks_file"), "{tokens}");
    let verifier = Verifier::from_yaml(&tokens).unwrap().remember_signatures(10_000);
    let fetcher = KeyFetcher::new(verifier).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // Before the folder is gone.
    let now = std::time::SystemTime::now();
    runtime.block_on(fetcher.verify(issuer.token(orbgate::TokenKind::User, "", now), now)).unwrap();
    fetcher
}

/// What each of so many threads returns.
fn together<R: Send>(threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

struct Connection<'t> {
    stream: BufReader<TcpStream>,
    token: &'t str,
}

impl<'t> Connection<'t> {
    fn new(address: &str, token: &'t str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), token }
    }

    /// From the request to the end of its answer's head. The bodies are one line, or empty.
    fn call(&mut self, line: &str) -> Duration {
        let request = format!("{line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n", self.token);
        let start = Instant::now();
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let mut length = 0;
        let mut head = String::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            if let Some(bytes) = line.strip_prefix("content-length: ") {
                length = bytes.trim_end().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        let time = start.elapsed();
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        std::io::Read::read_exact(&mut self.stream, &mut vec![0; length]).unwrap();
        time
    }
}
