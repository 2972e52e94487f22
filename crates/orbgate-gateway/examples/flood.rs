//! Asks a gateway more than it takes, and judges every answer by the engine: `benches/gateway.py` runs it.
//!
//! `flood ADDRESS SECONDS CONNECTIONS TOKEN POLICY...`: the listener has the mode `nginx`; the token may read files; the policies are those that
//! come and go while it runs. Each line of its standard input is a token of a key that is new. It prints one object of JSON.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::disallowed_types,
    reason = "a program reads its arguments and the clock, and prints"
)]

use core::error::Error;
use core::time::Duration;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::Instant;

use orbgate::{Engine, Policy, Request, Token};
use serde_json::json;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection serves so long, and then another one must be had, which may be past the limit.
const QUESTIONS: usize = 500;

/// After it was told to go away, a client waits.
const PAUSE: Duration = Duration::from_millis(20);

/// The width of a class of latencies, and how many there are.
const CLASS: u128 = 10;
const CLASSES: usize = 100_000;

const SCOPES: &str = "read:files";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, seconds, connections, token, policies @ ..] = arguments.as_slice() else {
        return Err("usage: flood ADDRESS SECONDS CONNECTIONS TOKEN POLICY...".into());
    };
    let engines = policies.iter().map(|file| {
        let text = std::fs::read_to_string(file)?;
        Ok(Engine::new(&Policy::from_yaml(&text)?))
    });
    let engines = Arc::new(engines.collect::<Result<Vec<_>, Box<dyn Error>>>()?);
    let newest = Arc::new(RwLock::new(token.clone()));
    let told = Arc::clone(&newest);
    thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if let Ok(mut token) = told.write() {
                *token = line;
            }
        }
    });
    let until = Instant::now().checked_add(Duration::from_secs(seconds.parse()?));
    let until = until.ok_or("too long")?;
    let clients = (0..connections.parse::<u64>()?).map(|number| {
        let mut client = Client {
            address: address.clone(),
            token: token.clone(),
            newest: Arc::clone(&newest),
            engines: Arc::clone(&engines),
            number: number.saturating_mul(1_000_000),
            seen: Seen::default(),
        };
        thread::spawn(move || {
            while Instant::now() < until {
                client.connection(until);
            }
            client.seen
        })
    });
    let clients: Vec<_> = clients.collect();
    let mut all = Seen::default();
    for client in clients {
        all.add(&client.join().map_err(|_| "a client panicked")?);
    }
    let [half, most, nearly_all] = [500, 990, 999].map(|share| all.latency(share));
    println!(
        "{}",
        json!({
            "allowed": all.allowed, "denied": all.denied, "past_capacity": all.past_capacity, "unanswered": all.unanswered,
            "by_new_keys": all.by_new_keys, "wrong": all.wrong, "examples": all.examples,
            "latency_us": [half, most, nearly_all],
        })
    );
    Ok(())
}

/// What came of the questions.
#[derive(Default)]
struct Seen {
    allowed: u64,
    denied: u64,
    past_capacity: u64,
    /// The connection was closed, or never there.
    unanswered: u64,
    by_new_keys: u64,
    wrong: u64,
    examples: Vec<String>,
    /// Of the decided questions.
    latencies: Vec<u64>,
}

impl Seen {
    fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.allowed, other.allowed),
            (&mut self.denied, other.denied),
            (&mut self.past_capacity, other.past_capacity),
            (&mut self.unanswered, other.unanswered),
            (&mut self.by_new_keys, other.by_new_keys),
            (&mut self.wrong, other.wrong),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.examples.extend(other.examples.iter().cloned());
        self.examples.truncate(3);
        self.latencies.resize(CLASSES, 0);
        for (sum, more) in self.latencies.iter_mut().zip(&other.latencies) {
            *sum = sum.saturating_add(*more);
        }
    }

    fn took(&mut self, time: Duration) {
        self.latencies.resize(CLASSES, 0);
        let class = usize::try_from(time.as_micros() / CLASS).unwrap_or(CLASSES);
        let class = class.min(CLASSES.saturating_sub(1));
        if let Some(count) = self.latencies.get_mut(class) {
            *count = count.saturating_add(1);
        }
    }

    /// In how many microseconds this share of a thousand was answered.
    fn latency(&self, share: u64) -> u128 {
        let all: u64 = self.latencies.iter().sum();
        let mut left = all.saturating_mul(share) / 1_000;
        let mut classes = (0_u128..).zip(&self.latencies);
        let found = classes.find(|(_, count)| {
            let is_there = left <= **count;
            left = left.saturating_sub(**count);
            is_there
        });
        found.map_or(0, |(class, _)| class.saturating_add(1).saturating_mul(CLASS))
    }
}

/// One connection after the other.
struct Client {
    address: String,
    token: String,
    newest: Arc<RwLock<String>>,
    engines: Arc<Vec<Engine>>,
    number: u64,
    seen: Seen,
}

impl Client {
    fn connection(&mut self, until: Instant) {
        let Ok(mut stream) = TcpStream::connect(&self.address) else {
            self.seen.unanswered = self.seen.unanswered.saturating_add(1);
            return thread::sleep(PAUSE);
        };
        let _ = stream.set_nodelay(true);
        let _ = stream.set_read_timeout(Some(PATIENCE));
        for _ in 0..QUESTIONS {
            if Instant::now() >= until || !self.question(&mut stream) {
                break;
            }
        }
    }

    /// Whether the connection may be used again.
    fn question(&mut self, stream: &mut TcpStream) -> bool {
        self.number = self.number.wrapping_add(1);
        let number = self.number;
        let file = format!("/api/v1/external/files/{number}");
        let newest = self.newest.read().map(|token| token.clone());
        let newest = newest.unwrap_or_default();
        let (is_new, right) = (newest != self.token, Some(Token::user(SCOPES)));
        // Target, what is sent as the token, and what it is; the last one's key may not be known yet.
        let (target, sent, token) = match number % 8 {
            0 => (format!("/api/v1/external/store/{number}"), Some(self.token.clone()), right),
            1 => (file, None, None),
            2 => (format!("/elsewhere/{number}"), Some(self.token.clone()), right),
            3 => {
                let (signed, signature) = self.token.rsplit_once('.').unwrap_or_default();
                let forged: String = signature.chars().rev().collect();
                (file, Some(format!("{signed}.{forged}")), None)
            }
            4 => (format!("/{file}"), Some(self.token.clone()), right),
            5 => (file, Some(newest), right),
            _ => (file, Some(self.token.clone()), right),
        };
        let bearer = sent.map_or_else(String::new, |sent| format!("Authorization: Bearer {sent}\r\n"));
        let question =
            format!("GET / HTTP/1.1\r\nHost: a\r\nX-Original-Method: GET\r\nX-Original-URI: {target}\r\n{bearer}\r\n");
        let begun = Instant::now();
        let answer = stream.write_all(question.as_bytes()).and_then(|()| head(stream));
        let Ok(answer) = answer else {
            self.seen.unanswered = self.seen.unanswered.saturating_add(1);
            thread::sleep(PAUSE);
            return false;
        };
        let status = answer.split(' ').nth(1).unwrap_or_default().to_owned();
        let seen = &mut self.seen;
        if status == "503" {
            seen.past_capacity = seen.past_capacity.saturating_add(1);
            thread::sleep(PAUSE);
            return !answer.contains("connection: close");
        }
        seen.took(begun.elapsed());
        let may_be_unknown = number % 8 == 5 && is_new && status == "401";
        let is_right = self.engines.iter().any(|engine| {
            let decision = engine.decide(&Request {
                method: b"GET",
                target: target.as_bytes(),
                token,
                allow_bonus_orbs_use: false,
            });
            match decision.status() {
                // Allowed, and by this policy: the digest says which.
                None => {
                    let scope = decision.scope().map_or("", |scope| scope.name());
                    let says = |name: &str, value: &str| answer.contains(&format!("\r\nx-orb-{name}: {value}\r\n"));
                    status == "200"
                        && says("decision", "allow")
                        && says("scope", scope)
                        && says("policy", &decision.policy().to_string())
                }
                Some(401) => status == "401",
                Some(_) => status == "403",
            }
        });
        let (counted, by_new_key) = match status.as_str() {
            "200" => (&mut seen.allowed, number % 8 == 5 && is_new),
            _ => (&mut seen.denied, false),
        };
        *counted = counted.saturating_add(1);
        seen.by_new_keys = seen.by_new_keys.saturating_add(u64::from(by_new_key));
        if !is_right && !may_be_unknown {
            seen.wrong = seen.wrong.saturating_add(1);
            seen.examples.push(format!("{target}: {answer}"));
            seen.examples.truncate(3);
        }
        true
    }
}

/// An answer without a body.
fn head(stream: &mut TcpStream) -> std::io::Result<String> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 2048]);
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => bytes.extend(piece.get(..count).unwrap_or_default()),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
