//! What a ledger adds between a request and its answer:
//! `cargo test --release -p orbgate-tower --all-features --test ledger speed -- --ignored --nocapture`.

use core::time::Duration;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use orbgate_ledger::{Bucket, Ledger, Postgres, Sqlite};

use crate::server::Server;
use crate::service::{World, rules};

/// Calls of one route that holds orbs and of one that doesn't take turns, over connections that stay open.
#[test]
#[ignore = "measures"]
fn a_hold_is_one_commit_before_the_handler() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start().unwrap();
    server.sync();
    println!(
        "| ledger | connections | median ms, nothing held | held | 99 %, nothing held | held | answers a second, held |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for connections in [1, 20, 200] {
        let sqlite = Arc::new(Sqlite::open(folder.path().join(format!("{connections}.db"))).unwrap());
        measure("SQLite", sqlite, connections);
        measure("PostgreSQL", Arc::new(Postgres::open(&server.new_database(), 16).unwrap()), connections);
    }
}

fn measure(name: &str, ledger: Arc<dyn Ledger>, connections: usize) {
    let world = World::new(ledger, rules());
    world.grant("a", 1_000_000_000, Bucket::Paid);
    let rounds = 2_000 / connections.min(20);
    let token = world.token("a");
    let times: Vec<[Vec<Duration>; 2]> = thread::scope(|scope| {
        let connection = || {
            let (address, token) = (&world.address, &token);
            scope.spawn(move || {
                let mut connection = Connection::new(address, token);
                let mut times = [Vec::new(), Vec::new()];
                for _ in 0..rounds {
                    for (line, times) in ["GET /free", "GET /run"].into_iter().zip(&mut times) {
                        times.push(connection.call(line));
                    }
                }
                times
            })
        };
        let threads: Vec<_> = (0..connections).map(|_| connection()).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let part = |route: usize, part: usize| {
        let mut all: Vec<_> = times.iter().flat_map(|times| times[route].iter().copied()).collect();
        all.sort();
        all[all.len() * part / 100].as_secs_f64() * 1e3
    };
    let held: Duration = times.iter().flat_map(|times| &times[1]).sum();
    let rate = (rounds * connections * connections) as f64 / held.as_secs_f64();
    let [free, run, free_high, run_high] = [part(0, 50), part(1, 50), part(0, 99), part(1, 99)];
    println!("| {name} | {connections} | {free:.2} | {run:.2} | {free_high:.2} | {run_high:.2} | {rate:.0} |");
    assert_eq!(world.left("a"), 1_000_000_000 - 10 * (rounds * connections) as u64);
    assert!(world.ledger.verify().unwrap().found.is_empty());
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
