//! Starts the OpenID provider of `provider.mjs`, with the packages in npm's lock file.

use core::time::Duration;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver};

use serde_json::{Value, json};

/// The time limit for a response on the busiest machine. A test that waits for ever reports
/// nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running provider, which stops when this is dropped.
pub struct Provider {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<String>,
    pub issuer: String,
    pub audience: String,
    /// The secret of its clients.
    pub secret: String,
}

impl Provider {
    /// Starts a provider on a free port of this machine. If Node is missing, prints why and returns
    /// `None`; in CI that is a failure. The folder, a test's `CARGO_TARGET_TMPDIR`, keeps the
    /// packages that npm installs.
    pub fn start(home: &str) -> Option<Self> {
        let home = match installed(Path::new(home)) {
            Ok(home) => home,
            Err(why) => {
                let in_ci = std::env::var("CI").is_ok_and(|ci| !["", "0", "false"].contains(&&*ci));
                assert!(!in_ci, "{why}");
                // Not `println!`: a passing test hides it.
                let word = format!("skipped: {why}\n");
                std::io::stderr().write_all(word.as_bytes()).unwrap();
                return None;
            }
        };
        let mut child = Command::new("node")
            .arg("provider.mjs")
            .current_dir(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = output.lines().map_while(Result::ok);
            lines.try_for_each(|line| sender.send(line))
        });
        let mut provider = Self {
            commands: child.stdin.take().unwrap(),
            answers,
            child,
            issuer: String::new(),
            audience: String::new(),
            secret: String::new(),
        };
        let hello = provider.answer("its start");
        provider.issuer = text(&hello, "issuer");
        provider.audience = text(&hello, "audience");
        provider.secret = text(&hello, "secret");
        Some(provider)
    }

    /// An organisation's token, from client credentials.
    pub fn organisation(&mut self, scope: &str) -> String {
        text(&self.ask(&json!({"do": "organisation", "scope": scope})), "token")
    }

    /// A user's token, from an authorization code.
    pub fn user(&mut self, scope: &str) -> String {
        text(&self.ask(&json!({"do": "user", "scope": scope})), "token")
    }

    /// A user's ID token, which isn't an access token.
    pub fn id_token(&mut self) -> String {
        text(&self.ask(&json!({"do": "user"})), "id_token")
    }

    /// Declares exactly these scopes in the Permissions tab.
    pub fn declare(&mut self, scope: &str) {
        self.ask(&json!({"do": "declare", "scope": scope}));
    }

    /// Replaces the key with a new one.
    pub fn rotate(&mut self, algorithm: &str) {
        self.ask(&json!({"do": "rotate", "algorithm": algorithm}));
    }

    /// Sets the lifetime of later tokens.
    pub fn lifetime(&mut self, seconds: u64) {
        self.ask(&json!({"do": "lifetime", "seconds": seconds}));
    }

    /// Gives opaque tokens from now on, instead of JWTs.
    pub fn opaque(&mut self) {
        self.ask(&json!({"do": "format", "format": "opaque"}));
    }

    /// Ends an organisation's opaque token.
    pub fn revoke(&mut self, token: &str) {
        self.ask(&json!({"do": "revoke", "token": token}));
    }

    /// The number of requests for the key set.
    pub fn requests(&mut self) -> u64 {
        self.ask(&json!({"do": "requests"}))["count"].as_u64().unwrap()
    }

    /// Which of these tokens the library jose, which the provider uses, accepts.
    pub fn judge(&mut self, tokens: &[String], rules: &Value) -> Vec<bool> {
        let mut command = rules.clone();
        command["do"] = "judge".into();
        command["tokens"] = tokens.into();
        let answer = self.ask(&command);
        serde_json::from_value(answer["accepted"].clone()).unwrap()
    }

    fn ask(&mut self, command: &Value) -> Value {
        writeln!(self.commands, "{command}").unwrap();
        let answer = self.answer(&command.to_string());
        assert!(answer.get("error").is_none(), "{command}: {answer}");
        answer
    }

    fn answer(&mut self, to: &str) -> Value {
        let line = self
            .answers
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|why| panic!("no answer of the provider to {to}: {why}; run it by hand to see why"));
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap().to_owned()
}

/// The directory with the provider and its packages.
fn installed(folder: &Path) -> Result<PathBuf, String> {
    static HOME: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    HOME.get_or_init(|| install(folder)).clone()
}

/// npm installs the packages once, for all tests.
fn install(folder: &Path) -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("provider");
    let home = folder.join("openid-provider");
    fs::create_dir_all(&home).unwrap();
    for program in ["node", "npm"] {
        let version = Command::new(program).arg("--version").output();
        if !version.is_ok_and(|output| output.status.success()) {
            return Err(format!("`{program}` is missing, which runs the OpenID provider"));
        }
    }
    fs::copy(source.join("provider.mjs"), home.join("provider.mjs")).unwrap();
    // npm has finished when its lock file is next to the packages.
    let (lock, done) = (source.join("package-lock.json"), home.join("package-lock.json"));
    if fs::read(&lock).unwrap() == fs::read(&done).unwrap_or_default() {
        return Ok(home);
    }
    let partial = home.join("partial");
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir_all(&partial).unwrap();
    for file in ["package.json", "package-lock.json"] {
        fs::copy(source.join(file), partial.join(file)).unwrap();
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    let output = npm.current_dir(&partial).output().unwrap();
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("npm could not set up the OpenID provider:\n{error}"));
    }
    let _ = fs::remove_dir_all(home.join("node_modules"));
    for file in ["node_modules", "package.json", "package-lock.json"] {
        fs::rename(partial.join(file), home.join(file)).unwrap();
    }
    let _ = fs::remove_dir_all(&partial);
    Ok(home)
}
