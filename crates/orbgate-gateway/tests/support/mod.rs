//! An issuer, a gateway as its users start it, and requests as they are written on a socket.

pub(crate) mod frames;
pub(crate) mod wire;

use core::net::SocketAddr;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use core::time::Duration;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use orbgate_testing::signer::{self, Signer};
use serde_json::{Value, json};

use self::wire::{Answer, ask};

/// The words of the promised headers.
pub(crate) const PROMISED: [&str; 8] =
    ["decision", "status", "reason", "scope", "route", "charge", "policy", "token-kind"];

/// The words of the headers that name the caller.
pub(crate) const IDENTITY: [&str; 3] = ["token-subject", "token-client", "token-issuer"];

/// How long anything may take on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Signs tokens, and serves its keys on this machine.
pub(crate) struct Issuer {
    signer: Signer,
    address: SocketAddr,
    /// Whether it lets who asks for its keys wait.
    stalls: Arc<AtomicBool>,
    /// How often its keys were asked for.
    requests: Arc<AtomicUsize>,
}

impl Issuer {
    pub(crate) fn start() -> Self {
        let signer = Signer::p256();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let keys = json!({ "keys": [signer.jwk("key-1")] }).to_string();
        let (stalls, requests) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let (is_stalled, count) = (Arc::clone(&stalls), Arc::clone(&requests));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                wire::head(&mut stream);
                count.fetch_add(1, Ordering::SeqCst);
                while is_stalled.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(5));
                }
                let length = keys.len();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                let _ = stream.write_all((head + &keys).as_bytes());
            }
        });
        Self { signer, address, stalls, requests }
    }

    pub(crate) fn stall(&self, stalls: bool) {
        self.stalls.store(stalls, Ordering::SeqCst);
    }

    pub(crate) fn asked(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// A token of a key that it does not publish.
    pub(crate) fn of_unknown_key(&self) -> String {
        let header = signer::with(signer::header(), "kid", "key-2");
        let claims = signer::with(signer::claims(), "iss", format!("http://{}", self.address));
        self.signer.token(&header, &claims)
    }

    /// The file that makes its tokens count.
    pub(crate) fn tokens_yaml(&self) -> String {
        format!(
            "orbgate_token: 1\nissuers:\n  - issuer: http://{0}\n    audience: {1}\n    jwks_uri: http://{0}/jwks\n    \
             algorithms: [ES256]\n    kind:\n      user: [{{ claim: token_kind, equals: user }}]\n      \
             organisation: [{{ claim: token_kind, equals: organisation }}]\nmax_token_bytes: 4096\nremember_signatures: 100\n",
            self.address,
            signer::AUDIENCE
        )
    }

    pub(crate) fn token(&self, kind: &str, scopes: &str) -> String {
        self.expiring(kind, scopes, 600)
    }

    /// What a client shows that may read orbs.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.token("user", "read:orbs"))
    }

    /// A question of nginx that is allowed, with more headers.
    pub(crate) fn question(&self, more: &[(&str, &str)]) -> Vec<u8> {
        let bearer = self.bearer();
        let own = [
            ("Authorization", bearer.as_str()),
            ("X-Original-Method", "GET"),
            ("X-Original-URI", "/api/v1/external/orbs"),
        ];
        wire::request(b"GET", b"/", &[&own, more].concat())
    }

    pub(crate) fn expiring(&self, kind: &str, scopes: &str, in_seconds: i64) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = i64::try_from(now.as_secs()).unwrap();
        let claims = signer::claims();
        let claims = signer::with(claims, "iss", format!("http://{}", self.address));
        let claims = signer::with(claims, "iat", now - 600);
        let claims = signer::with(claims, "exp", now + in_seconds);
        let claims = signer::with(claims, "token_kind", kind);
        let claims: Value = signer::with(claims, "scope", scopes);
        self.signer.token(&signer::header(), &claims)
    }
}

/// A port of one program alone. The system would give one that it also gives to connections, to one perhaps before the program
/// listens; these are below (`ip_local_port_range`).
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 200).unwrap() * 100;
    let ports = (0..20_000).map(|_| 10_000 + (first + NEXT.fetch_add(1, Ordering::SeqCst)) % 20_000);
    let mut free = ports.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().unwrap()
}

/// A folder of this test alone.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs the gateway in a folder until it ends, with a token for its probe: its status, and what it says on
/// standard output and on standard error.
pub(crate) fn run(folder: &Path, token: Option<&str>, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_orbgate-gateway"));
    let program = program.args(arguments).current_dir(folder).env_remove("ORBGATE_TOKEN");
    let output = program.envs(token.map(|token| ("ORBGATE_TOKEN", token))).output().unwrap();
    let [stdout, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code(), stdout, errors)
}

/// A program that ends with its test.
pub(crate) struct Running {
    pub(crate) child: Child,
    log: Arc<Mutex<String>>,
}

impl Running {
    /// Starts it, and keeps what it says on standard error.
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let kept = Arc::clone(&log);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                *kept.lock().unwrap() += &(line + "\n");
            }
        });
        Self { child, log }
    }

    pub(crate) fn said(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The fields of the errors in its log.
    pub(crate) fn errors(&self) -> Vec<Value> {
        let log = self.said();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let errors = lines.filter(|line| line["level"] == "ERROR");
        errors.map(|line| line["fields"].clone()).collect()
    }

    /// Why it refused configurations, with `FOLDER` instead of this folder.
    pub(crate) fn refusals(&self, folder: &Path) -> Vec<String> {
        let errors = self.errors().into_iter();
        let is_refusal =
            |fields: &Value| fields["message"].as_str().is_some_and(|it| it.starts_with("configuration refused"));
        let refusals = errors.filter(is_refusal);
        let text = |fields: Value| fields["message"].as_str().unwrap_or_default().to_owned();
        let folder = folder.display().to_string();
        refusals.map(|fields| text(fields).replace(&folder, "FOLDER")).collect()
    }

    pub(crate) fn signal(&self, name: &str) {
        let kill = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(kill.unwrap().success());
    }

    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        self.within(PATIENCE, what, is_so);
    }

    /// The same for at most this long.
    pub(crate) fn within(&mut self, patience: Duration, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "{what}: {ended:?}\n{}", self.said());
            assert!(begun.elapsed() < patience, "{what}\n{}", self.said());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    /// Tells it to end first, so that it ends its own: workers of nginx outlive a master that is killed.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.signal("TERM");
        }
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < Duration::from_secs(2) {
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Gateway {
    pub(crate) running: Running,
    pub(crate) folder: PathBuf,
    pub(crate) admin: String,
}

impl Gateway {
    /// Starts it with this configuration, to which the version, the issuer and the operators' address are added.
    pub(crate) fn start(folder: PathBuf, issuer: &Issuer, config: &str) -> Self {
        Self::start_with(folder, &issuer.tokens_yaml(), config)
    }

    /// The same with this file of issuers.
    pub(crate) fn start_with(folder: PathBuf, tokens: &str, config: &str) -> Self {
        Self::start_in(&[], folder, tokens, config)
    }

    /// The same with these variables in its environment.
    pub(crate) fn start_in(variables: &[(&str, &Path)], folder: PathBuf, tokens: &str, config: &str) -> Self {
        let admin = format!("127.0.0.1:{}", free_port());
        fs::write(folder.join("tokens.yaml"), tokens).unwrap();
        let gateway = Self::write(&folder, &admin, config);
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbgate-gateway"));
        let running = Running::start(command.arg("--config").arg(gateway).envs(variables.iter().copied()));
        let mut gateway = Self { running, folder, admin };
        let admin = gateway.admin.clone();
        gateway.running.until("the gateway is ready", |_| ask_for(&admin, "/readyz").status == 200);
        gateway
    }

    /// Writes another configuration instead of the first.
    pub(crate) fn rewrite(&self, config: &str) {
        Self::write(&self.folder, &self.admin, config);
    }

    fn write(folder: &Path, admin: &str, config: &str) -> PathBuf {
        let file = folder.join("gateway.yaml");
        let text = format!("orbgate_gateway: 1\ntokens: tokens.yaml\nadmin: {admin}\n{config}");
        fs::write(&file, text).unwrap();
        file
    }

    /// What it has counted: the value of the only series with these words, 0 without one.
    pub(crate) fn counted(&self, words: &[&str]) -> u64 {
        let text = ask_for(&self.admin, "/metrics").body;
        let is_it = |line: &&str| words.iter().all(|word| line.contains(word)) && !line.starts_with('#');
        let lines: Vec<_> = text.lines().filter(is_it).collect();
        assert!(lines.len() <= 1, "{lines:?}");
        lines.first().map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }

    /// Waits until it has counted this often. Effects and answers may come before their count.
    pub(crate) fn until_counted(&mut self, words: &[&str], count: u64) {
        let (admin, end) = (self.admin.clone(), format!(" {count}"));
        self.running.until(&format!("{words:?}{end}"), |_| {
            let text = ask_for(&admin, "/metrics").body;
            let is_it = |line: &str| words.iter().all(|word| line.contains(word)) && line.ends_with(&end);
            text.lines().any(is_it)
        });
    }
}

fn ask_for(address: &str, path: &str) -> Answer {
    ask(address, format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes())
}
