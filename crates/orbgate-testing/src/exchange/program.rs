//! Runs a gate program: starts it, reads its output, and ends it.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// The time limit for a start or a response on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The command that starts a gate program, to which its arguments are appended.
#[derive(Clone, Debug)]
pub struct Program {
    words: Vec<String>,
    /// The column of `framing.tsv` and `servers.tsv` with what its server does.
    pub(crate) server: Option<String>,
    /// It takes a ledger.
    pub(crate) charges: bool,
    /// It takes a ledger and an MCP endpoint.
    pub(crate) charges_mcp: bool,
    /// Each request that waits holds a thread of its server.
    pub(crate) holds_threads: bool,
    /// It opens the ledger's database itself instead of asking its service.
    pub(crate) opens_ledger: bool,
    /// The MCP SDKs that it can serve with.
    pub(crate) sdks: &'static [&'static str],
}

/// The variable of the environment with the secret of a client that asks about opaque tokens, and the secret.
pub(crate) const SECRET_VARIABLE: &str = "ORBGATE_EXCHANGE_SECRET";
const SECRET: &str = "hunter2";

/// With the gate or, to observe the server itself, without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gated {
    Yes,
    No,
}

/// A program that accepts connections. It ends when this is dropped.
pub(crate) struct Running {
    child: Child,
    commands: ChildStdin,
    responses: Mutex<Receiver<String>>,
    /// The calls that its service saw: one JSON line each.
    records: Arc<Mutex<Vec<String>>>,
    /// The lines of its audit.
    audited: Arc<Mutex<Vec<String>>>,
    /// Everything on its standard output and standard error.
    output: Arc<Mutex<String>>,
    pub(crate) address: String,
}

/// The program's counters.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Counted {
    /// By decision, reason and route, with spaces between.
    #[serde(default, rename = "orbgate_decisions_total")]
    pub(crate) decisions: BTreeMap<String, u64>,
    #[serde(default, rename = "orbgate_tokens_refused_total")]
    pub(crate) refused: Option<BTreeMap<String, u64>>,
    #[serde(default, rename = "orbgate_policy_loads_total")]
    pub(crate) loads: BTreeMap<String, u64>,
    #[serde(default, rename = "orbgate_over_ceiling_total")]
    pub(crate) over: BTreeMap<String, u64>,
}

impl Program {
    pub fn new(words: impl IntoIterator<Item = String>) -> Self {
        let words = words.into_iter().collect();
        Self {
            words,
            server: None,
            charges: false,
            charges_mcp: false,
            holds_threads: false,
            opens_ledger: false,
            sdks: &[],
        }
    }

    /// The same, whose server has this column.
    #[must_use]
    pub fn with_server(mut self, server: Option<String>) -> Self {
        self.server = server.or(self.server);
        self
    }

    /// The command that starts it.
    ///
    /// # Errors
    ///
    /// Fails if the command is empty.
    pub fn command(&self, listen: &str, policy: &Path, tokens: &Path) -> Result<Command> {
        let (program, arguments) = self.words.split_first().context("no program")?;
        let mut command = Command::new(program);
        command.args(arguments).args(["--listen", listen]);
        command.arg("--policy").arg(policy).arg("--tokens").arg(tokens);
        Ok(command)
    }

    pub(crate) fn start(&self, policy: &Path, tokens: &Path, gated: Gated) -> Result<Running> {
        self.start_in(&[], policy, tokens, gated, &[])
    }

    /// The same with more variables of the environment, and more arguments.
    pub(crate) fn start_in(
        &self,
        environment: &[(&str, &str)],
        policy: &Path,
        tokens: &Path,
        gated: Gated,
        more: &[&str],
    ) -> Result<Running> {
        let mut command = self.command("127.0.0.1:0", policy, tokens)?;
        command.args(more);
        command.args((gated == Gated::No).then_some("--ungated"));
        // A separate process group, because another program might start it, such as `go run`.
        command.process_group(0);
        command.env(SECRET_VARIABLE, SECRET).envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::piped()).spawn();
        let words = self.words.join(" ");
        let mut child = child.with_context(|| format!("`{words}` could not be started"))?;
        let [records, audited] = [(); 2].map(|()| Arc::new(Mutex::new(Vec::new())));
        let output = Arc::new(Mutex::new(String::new()));
        let errors = child.stderr.take().context("no standard error")?;
        let lines = child.stdout.take().context("no standard output")?;
        let mut running = Running {
            commands: child.stdin.take().context("no standard input")?,
            responses: Mutex::new(listen(lines, errors, [&records, &audited].map(Arc::clone), Arc::clone(&output))),
            child,
            records,
            audited,
            output,
            address: String::new(),
        };
        let hello = running.answer()?;
        let address = hello.strip_prefix("listening ");
        let address = address.with_context(|| format!("`{words}` said `{hello}`"))?;
        address.clone_into(&mut running.address);
        Ok(running)
    }

    /// Checks that it doesn't start with these arguments, and returns why, as it says.
    pub(crate) fn refuses(&self, policy: &Path, tokens: &Path, public: Option<&str>) -> Result<String> {
        let more: Vec<_> = public.iter().flat_map(|route| ["--public", route]).collect();
        self.refuses_more(policy, tokens, &more)
    }

    /// The same with more arguments.
    pub(crate) fn refuses_more(&self, policy: &Path, tokens: &Path, more: &[&str]) -> Result<String> {
        let mut command = self.command("127.0.0.1:0", policy, tokens)?;
        command.args(more);
        let output = command.stdin(Stdio::null()).output()?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.code() == Some(2) && !output.stderr.is_empty() && stdout.is_empty(),
            "{policy:?} {tokens:?} {more:?}: {}, `{stdout}`",
            output.status
        );
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Collects the program's output in separate threads: records, the audit, and everything. Returns its
/// responses to commands.
fn listen(
    lines: ChildStdout,
    mut errors: ChildStderr,
    [records, audited]: [Arc<Mutex<Vec<String>>>; 2],
    output: Arc<Mutex<String>>,
) -> Receiver<String> {
    let (sender, responses) = mpsc::channel();
    let all = Arc::clone(&output);
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = errors.read(&mut piece) {
            let text = String::from_utf8_lossy(&piece[..count]);
            all.lock().unwrap().push_str(&text);
        }
    });
    std::thread::spawn(move || {
        for line in BufReader::new(lines).lines().map_while(Result::ok) {
            output.lock().unwrap().push_str(&format!("{line}\n"));
            match line.strip_prefix("audited ") {
                Some(line) => audited.lock().unwrap().push(line.to_owned()),
                None if line.starts_with('{') => records.lock().unwrap().push(line),
                None => drop(sender.send(line)),
            }
        }
    });
    responses
}

impl Running {
    /// Sends a command and returns the response.
    pub(crate) fn tell(&self, command: &str) -> Result<String> {
        writeln!(&self.commands, "{command}")?;
        self.answer()
    }

    fn answer(&self) -> Result<String> {
        let answer = self.responses.lock().unwrap().recv_timeout(PATIENCE);
        answer.with_context(|| format!("it says nothing, or:\n{}", self.output.lock().unwrap()))
    }

    /// Returns its counters. Earlier records of its service are complete then, because they were written
    /// before.
    pub(crate) fn count(&self) -> Result<Counted> {
        let answer = self.tell("count")?;
        let counted = answer.strip_prefix("counted ");
        let counted = counted.with_context(|| format!("`count` was answered by `{answer}`"))?;
        serde_json::from_str(counted).with_context(|| answer.clone())
    }

    /// The calls that its service saw since the last time.
    pub(crate) fn records(&self) -> Vec<String> {
        core::mem::take(&mut self.records.lock().unwrap())
    }

    /// Its audit, once it has this many lines: a gate doesn't wait for its audit.
    pub(crate) fn audit(&self, lines: usize) -> Vec<String> {
        let end = Instant::now() + PATIENCE;
        while self.audited.lock().unwrap().len() < lines && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.audited.lock().unwrap().clone()
    }

    /// All of its output.
    pub(crate) fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-9", "--", &group]).status();
        let _ = self.child.wait();
    }
}
