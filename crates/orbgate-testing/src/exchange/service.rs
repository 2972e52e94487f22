//! A ledger service, which the gateway's binary serves, and the way to it, which loses answers, is slow, or ends.

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use core::time::Duration;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::exchange::issuer::accept;
use crate::exchange::world::root;

/// The secrets of gates: the one that they get, and the one that follows it.
pub(crate) const SECRETS: [&str; 2] =
    ["gate-secret-5e1f-0123456789-0123456789", "next-secret-5e1f-0123456789-0123456789"];
const OPERATOR: &str = "operator-secret-5e1f-0123456789-0123456789";

/// On the busiest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happens on the way to the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Way {
    Open,
    /// Connections close before anything is sent.
    Down,
    /// The next hold is done, but its answer gets lost.
    LosesHold,
    /// The next settlements are done, but the answer gets lost.
    LosesSettle,
    /// A hold takes longer than gates wait.
    Slow,
    /// The service answers that its disk is full.
    Full,
}

const WAYS: [Way; 6] = [Way::Open, Way::Down, Way::LosesHold, Way::LosesSettle, Way::Slow, Way::Full];

/// Why, in two lines.
const FULL: &str = r#"{"error": "unknown", "message": "the ledger has stopped:\n sqlite: database or disk is full"}"#;

/// Longer than a gate waits.
const SLOW: Duration = Duration::from_secs(3);

pub(crate) struct LedgerService {
    child: Child,
    folder: TempDir,
    /// Where gates find it.
    pub(crate) url: String,
    way: Arc<AtomicU8>,
    holds: Arc<AtomicUsize>,
}

impl LedgerService {
    /// Builds and starts it. `cargo test` has built this one: an example has the features of tests.
    pub(crate) fn start(tokens: &Path) -> Result<Self> {
        let mut build = Command::new("cargo");
        build.args("build --quiet --workspace --all-features --bin orbgate-gateway --example gate".split(' '));
        build.current_dir(root()).stdout(Stdio::null());
        ensure!(build.status()?.success(), "the gateway doesn't build");
        let folder = TempDir::new()?;
        for (name, secret) in [("gate", SECRETS[0]), ("next", SECRETS[1]), ("operator", OPERATOR)] {
            fs::write(folder.path().join(name), secret)?;
        }
        let socket = folder.path().join("socket");
        let config = json!({
            "orbgate_gateway": 1,
            "tokens": tokens,
            "listeners": [{"mode": "ledger", "listen": format!("unix:{}", socket.display())}],
            "ledger": {"db": "orbs.db", "gate_secrets": ["gate", "next"], "operator_secrets": ["operator"]},
        });
        let file = folder.path().join("gateway.yaml");
        fs::write(&file, format!("{config}\n...\n"))?;
        let mut command = Command::new(root().join("target/debug/orbgate-gateway"));
        let child = command.arg("--config").arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = child.spawn().context("the gateway doesn't start")?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let (way, holds) = (Arc::new(AtomicU8::new(0)), Arc::new(AtomicUsize::new(0)));
        let service = Self { child, folder, url, way: Arc::clone(&way), holds: Arc::clone(&holds) };
        accept(listener, move |stream| pass(&stream, &socket, &way, &holds));
        let start = Instant::now();
        while service.ask("/v1/entries", &json!({})).is_err() {
            ensure!(start.elapsed() < PATIENCE, "the ledger service doesn't answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(service)
    }

    /// A file that only gates read.
    pub(crate) fn secret_file(&self) -> PathBuf {
        self.folder.path().join("of-gates")
    }

    /// The database, for a program that opens it itself.
    pub(crate) fn db(&self) -> PathBuf {
        self.folder.path().join("orbs.db")
    }

    pub(crate) fn set(&self, way: Way) {
        let at = WAYS.iter().position(|known| *known == way).unwrap_or_default();
        self.way.store(u8::try_from(at).unwrap_or_default(), Ordering::SeqCst);
    }

    /// How many messages with a hold have come.
    pub(crate) fn holds(&self) -> usize {
        self.holds.load(Ordering::SeqCst)
    }

    /// Asks the service itself, as its operator.
    fn ask(&self, path: &str, body: &Value) -> Result<Value> {
        let body = body.to_string();
        let head = head(path, OPERATOR, body.len());
        let answer = exchange(&self.folder.path().join("socket"), &format!("{head}{body}"))?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        ensure!(head.starts_with("HTTP/1.1 200"), "{answer}");
        Ok(serde_json::from_str(body)?)
    }

    pub(crate) fn grant(&self, account: &str, amount: u64, bucket: &str) -> Result<()> {
        let command =
            json!({"id": format!("{bucket}/{account}"), "account": account, "amount": amount, "bucket": bucket});
        self.ask("/v1/grant", &command).map(drop)
    }

    /// The orbs of an account, and how many of them are held.
    pub(crate) fn balance(&self, account: &str) -> Result<(u64, u64)> {
        let balance = self.ask("/v1/balance", &json!({"account": account}))?;
        let number = |name: &str| balance[name].as_u64().context("no number");
        Ok((number("posted")?, number("held")?))
    }

    /// What happened to an account.
    pub(crate) fn causes(&self, account: &str) -> Result<Vec<String>> {
        let entries = self.entries(account)?;
        Ok(entries.iter().filter_map(|entry| entry["cause"].as_str().map(str::to_owned)).collect())
    }

    /// The id of an account's last hold.
    pub(crate) fn last_hold(&self, account: &str) -> Result<Value> {
        let entries = self.entries(account)?;
        let last = entries.iter().rfind(|entry| entry["cause"] == "hold");
        Ok(last.context("no hold")?["id"].clone())
    }

    /// Every entry of every account.
    pub(crate) fn all_entries(&self) -> Result<Vec<Value>> {
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.ask("/v1/entries", &json!({"after": after, "limit": 1000}))?;
            let Some(next) = page["next"].as_str() else { return Ok(all) };
            next.clone_into(&mut after);
            all.extend(page["entries"].as_array().context("no entries")?.iter().cloned());
        }
    }

    fn entries(&self, account: &str) -> Result<Vec<Value>> {
        let page = self.ask("/v1/entries", &json!({"limit": 1000}))?;
        let entries = page["entries"].as_array().context("no entries")?.iter();
        Ok(entries.filter(|entry| entry["account"] == account).cloned().collect())
    }
}

impl Drop for LedgerService {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn head(path: &str, secret: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {secret}\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// Sends a message to the service on a connection of its own.
fn exchange(socket: &Path, message: &str) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(message.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Passes the messages of a connection to the service, one after another.
fn pass(stream: &TcpStream, socket: &Path, way: &AtomicU8, holds: &AtomicUsize) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut path, mut secret, mut length) = (String::new(), String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line == "\r\n" {
                break;
            }
            if path.is_empty() {
                line.split(' ').nth(1)?.clone_into(&mut path);
            } else if let Some((name, value)) = line.split_once(':') {
                match name.to_ascii_lowercase().as_str() {
                    "authorization" => value.trim().strip_prefix("Bearer ")?.clone_into(&mut secret),
                    "content-length" => length = value.trim().parse().ok()?,
                    _ => {}
                }
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let is_hold = path == "/v1/hold";
        holds.fetch_add(usize::from(is_hold), Ordering::SeqCst);
        let now = *WAYS.get(usize::from(way.load(Ordering::SeqCst)))?;
        if now == Way::Down {
            return None;
        }
        if now == Way::Full {
            let answer = format!("HTTP/1.1 503 no\r\nContent-Length: {}\r\n\r\n{FULL}", FULL.len());
            (&*stream).write_all(answer.as_bytes()).ok()?;
            continue;
        }
        let message = format!("{}{}", head(&path, &secret, length), String::from_utf8(body).ok()?);
        if now == Way::Slow && is_hold {
            std::thread::sleep(SLOW);
        }
        let answer = exchange(socket, &message).ok()?;
        let is_lost = now == Way::LosesHold && is_hold || now == Way::LosesSettle && path == "/v1/settle";
        if is_lost {
            way.store(0, Ordering::SeqCst);
            return None;
        }
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split("\r\n").next()?;
        let answer = format!("{status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        (&*stream).write_all(answer.as_bytes()).ok()?;
    }
}
