//! The suite: runs a gate program, sends requests to it, and checks its responses.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use orbgate::{Engine, Policy};
use serde::Deserialize;
use serde_json::Value;

use crate::exchange::expected::{Expected, Saw, Sent};
use crate::exchange::program::{Counted, Gated, Program, Running};
use crate::exchange::wire::{self, Answer};
use crate::exchange::world::{World, policy};
use crate::exchange::written::File;

/// The maximum wait of a request: one attempt of five seconds, on a busy machine.
const LONGEST: Duration = Duration::from_secs(9);

/// What an audit shows of a decision.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    decision: String,
    reason: String,
    pub(crate) route: Option<String>,
    pub(crate) orbs: Value,
}

/// One run of a gate program with one policy.
pub(crate) struct Open<'s> {
    suite: &'s Suite,
    pub(crate) running: Running,
    pub(crate) engine: Engine,
    /// Routes that need no token.
    public: Vec<String>,
    /// The bodies of all responses from the service.
    bodies: Mutex<Vec<String>>,
}

/// A gate program under test.
pub(crate) struct Suite {
    pub(crate) program: Program,
    pub(crate) world: World,
    /// The same service without its gate.
    ungated: Running,
    failures: Mutex<Vec<String>>,
    count: Mutex<usize>,
    /// The number of exchanges that the server itself rejected.
    own: Mutex<usize>,
}

impl Suite {
    pub(crate) fn new(program: Program) -> Result<Self> {
        let world = World::new()?;
        let ungated = program.start(&policy("t1-strict"), &world.tokens(), Gated::No)?;
        let (failures, count, own) = (Mutex::default(), Mutex::default(), Mutex::default());
        Ok(Self { program, world, ungated, failures, count, own })
    }

    /// Runs a group, and prints under this name how many exchanges it had.
    pub(crate) fn group(&self, name: &str, group: impl fmt::Display, run: impl FnOnce() -> Result<()>) -> Result<()> {
        let start = Instant::now();
        let before = *self.count.lock().unwrap();
        run()?;
        let ran = *self.count.lock().unwrap() - before;
        let own = core::mem::take(&mut *self.own.lock().unwrap());
        let seconds = start.elapsed().as_secs_f64();
        println!("{name}: {group}: {ran} exchanges, {own} of them refused by the server itself, in {seconds:.1} s");
        Ok(())
    }

    /// Prints the failures under this name. Without failures, returns the number of exchanges.
    pub(crate) fn result(&self, name: &str) -> Result<usize> {
        let failures = self.failures.lock().unwrap();
        for failure in failures.iter().take(20) {
            println!("{name}: FAILED {failure}\n");
        }
        let count = *self.count.lock().unwrap();
        ensure!(failures.is_empty(), "{name}: {} of {count} exchanges failed", failures.len());
        Ok(count)
    }

    pub(crate) fn fail(&self, what: impl fmt::Display) {
        self.failures.lock().unwrap().push(what.to_string());
    }

    /// Counts an exchange that was judged elsewhere.
    pub(crate) fn saw_one(&self) {
        *self.count.lock().unwrap() += 1;
    }

    /// Starts the program with one policy.
    pub(crate) fn open(&self, policy: &str) -> Result<Open<'_>> {
        self.open_file(&crate::exchange::world::policy(policy))
    }

    /// The same, with the settings of a file of exchanges.
    pub(crate) fn open_for(&self, exchanges: &File) -> Result<Open<'_>> {
        let (file, tokens) = (policy(&exchanges.policy), self.world.tokens());
        let more: Vec<_> = exchanges.arguments().collect();
        let running = self.program.start_in(&[], &file, &tokens, Gated::Yes, &more)?;
        let mut open = self.opened(running, &file)?;
        open.public.clone_from(&exchanges.public);
        Ok(open)
    }

    pub(crate) fn open_file(&self, file: &Path) -> Result<Open<'_>> {
        let running = self.program.start(file, &self.world.tokens(), Gated::Yes)?;
        self.opened(running, file)
    }

    /// A running program with the policy of this file.
    pub(crate) fn opened(&self, running: Running, file: &Path) -> Result<Open<'_>> {
        Ok(Open {
            suite: self,
            running,
            engine: Engine::new(&Policy::from_bytes(&std::fs::read(file)?)?),
            public: Vec::new(),
            bodies: Mutex::default(),
        })
    }

    /// The server's response to a request without the gate.
    fn without_gate(&self, sent: &Sent) -> (Answer, Option<Saw>) {
        let answer = wire::ask(&self.ungated.address, &sent.bytes).unwrap_or_default();
        let call = match answer.status {
            200 => serde_json::from_slice(&answer.body).ok(),
            _ => None,
        };
        (answer, call)
    }
}

impl Open<'_> {
    /// The response that follows from the engine's decision on a request.
    pub(crate) fn expects(&self, sent: &Sent) -> Expected {
        Expected::of(&self.engine, &sent.method, &sent.target, sent.token())
    }

    /// Sends a request and checks that the response is the engine's, and comes soon. Returns the response time.
    pub(crate) fn put(&self, sent: &Sent) -> Duration {
        let expected = self.expects(sent);
        let start = Instant::now();
        self.exchange(sent, &expected);
        let took = start.elapsed();
        if took > LONGEST {
            self.suite.fail(format!("{}\n  the answer took {took:?}", sent.location));
        }
        took
    }

    /// Sends a request and checks the response.
    pub(crate) fn exchange(&self, sent: &Sent, expected: &Expected) -> Answer {
        let answer = match wire::ask(&self.running.address, &sent.bytes) {
            Ok(answer) => answer,
            Err(error) => {
                self.suite.fail(format!("{}\n  no answer: {error}", sent.location));
                return Answer::default();
            }
        };
        self.judge(sent, expected, &answer);
        answer
    }

    /// Records the service's output from responses that were checked elsewhere.
    pub(crate) fn saw(&self, bodies: impl IntoIterator<Item = String>) {
        let mut all = self.bodies.lock().unwrap();
        let before = all.len();
        all.extend(bodies);
        *self.suite.count.lock().unwrap() += all.len() - before;
    }

    /// Checks a response against the expectation and, if the service was reached, against the
    /// engine.
    pub(crate) fn judge(&self, sent: &Sent, expected: &Expected, answer: &Answer) {
        *self.suite.count.lock().unwrap() += 1;
        if answer.status == 200 && answer.body.is_empty() && self.is_answered_without_service(sent) {
            *self.suite.own.lock().unwrap() += 1;
            return;
        }
        if answer.status == 200 {
            self.bodies.lock().unwrap().push(answer.text().to_owned());
        }
        let wrong = expected.differs(answer);
        let wrong = wrong.and_then(|_| expected.differs(&self.without_the_servers_own(sent, answer)));
        let wrong = wrong.and_then(|wrong| self.unless_the_servers_own(sent, expected, answer, wrong));
        let wrong = wrong.or_else(|| self.not_allowed(sent, answer));
        if let Some(wrong) = wrong {
            self.suite.fail(shown(sent, answer, &wrong));
        }
    }

    /// Whether the server itself responds, as Tomcat does to `OPTIONS *`. If the service had been reached, it would
    /// have reported it.
    fn is_answered_without_service(&self, sent: &Sent) -> bool {
        let (own, call) = self.suite.without_gate(sent);
        own.status == 200 && own.body.is_empty() && call.is_none()
    }

    /// A denial without the `Content-Type` that the server itself adds, as uvicorn does to each answered handshake: the
    /// one that the same request gets without the gate, from a service whose answer is only a status.
    fn without_the_servers_own(&self, sent: &Sent, answer: &Answer) -> Answer {
        let mut answer = answer.clone();
        if matches!(answer.status, 400..=499) && answer.header("content-type").is_some() {
            let mut bytes = sent.bytes.clone();
            let end = bytes.windows(2).position(|two| two == b"\r\n").map_or(0, |at| at + 2);
            bytes.splice(end..end, *b"x-do: bare\r\n");
            let own = wire::ask(&self.suite.ungated.address, &bytes).unwrap_or_default();
            if own.status == 403 && own.header("content-type") == answer.header("content-type") {
                answer.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            }
        }
        answer
    }

    /// A server can reject a request before any gate sees it, or give its programs another target than the one
    /// received: without `#…`, or without the authority. Its own behaviour is observed without the gate.
    fn unless_the_servers_own(
        &self,
        sent: &Sent,
        expected: &Expected,
        answer: &Answer,
        wrong: String,
    ) -> Option<String> {
        let (own, call) = self.suite.without_gate(sent);
        let Some(call) = call else {
            let refused = matches!(own.status, 0 | 400..=499 | 501 | 505);
            *self.suite.own.lock().unwrap() += usize::from(refused);
            // For the same bytes, Tomcat either responds that it rejects them, or closes the connection first.
            let is_same = match (own.status, answer.status) {
                (0, 400..=499) | (400..=499, 0) => true,
                (own, with_gate) => own == with_gate,
            };
            return (!refused || !is_same).then_some(wrong);
        };
        let same = (call.method.as_bytes(), call.target.as_bytes()) == (&sent.method, &sent.target);
        // An accepted path has one spelling, which no server changes. A server can change the query to the form of a
        // browser's URL.
        let path = |target: &[u8]| target.split(|byte| *byte == b'?').next().map(<[u8]>::to_vec);
        let is_kept = path(call.target.as_bytes()) == path(&sent.target);
        if same || expected.status == 200 && !is_kept {
            return Some(wrong);
        }
        Expected::of(&self.engine, call.method.as_bytes(), call.target.as_bytes(), sent.token()).differs(answer)
    }

    /// Whether the service was reached by a call that the engine doesn't allow, according to the
    /// service.
    fn not_allowed(&self, sent: &Sent, answer: &Answer) -> Option<String> {
        if answer.status != 200 {
            return None;
        }
        let Ok(call) = serde_json::from_slice::<Saw>(&answer.body) else {
            return Some("the service does not say what it saw".to_owned());
        };
        if self.is_public(&call) {
            return None;
        }
        let engine = Expected::of(&self.engine, call.method.as_bytes(), call.target.as_bytes(), sent.token());
        match engine.saw == Some(call) {
            true => None,
            false => Some(format!("the service was reached, but the engine says {engine:?}")),
        }
    }

    /// Whether the service saw a call of a public route, about which it has no further data.
    fn is_public(&self, call: &Saw) -> bool {
        let path = call.target.split('?').next().unwrap_or_default();
        let fits = |route: &String| {
            let (method, template) = route.split_once(' ').unwrap_or_default();
            let (mut ours, mut theirs) = (template.split('/'), path.split('/'));
            let same = ours
                .by_ref()
                .zip(theirs.by_ref())
                .all(|(ours, theirs)| ours == theirs || ours.starts_with('{') && !theirs.is_empty());
            method == call.method && same && template.matches("/").count() == path.matches("/").count()
        };
        let told = (&call.route, &call.scope, &call.kind, call.consumes);
        told == (&None, &None, &None, None) && self.public.iter().any(fits)
    }

    /// Ends a run. Every call that reached the service must belong to a response that was checked, and no output may
    /// show a token.
    pub(crate) fn close(self, location: &str) -> Result<(Counted, Vec<Line>)> {
        let counted = self.running.count()?;
        let mut records = self.running.records();
        let mut bodies = core::mem::take(&mut *self.bodies.lock().unwrap());
        records.sort();
        bodies.sort();
        if records != bodies {
            let unknown = records.iter().find(|record| !bodies.contains(record));
            let (records, bodies) = (records.len(), bodies.len());
            let what = format!("the service was reached {records} times, and answered {bodies} times: {unknown:?}");
            self.suite.fail(format!("{location}\n  {what}"));
        }
        let allowed = counted.decisions.iter().filter(|(labels, _)| labels.starts_with("allow "));
        let allowed: u64 = allowed.map(|(_, count)| count).sum();
        if allowed != u64::try_from(bodies.len())? {
            let bodies = bodies.len();
            self.suite.fail(format!("{location}\n  {bodies} calls reached the service, and {allowed} were counted"));
        }
        let made: u64 = counted.decisions.values().sum();
        let lines = self.running.audit(usize::try_from(made)?);
        let lines = lines.iter().map(|line| serde_json::from_str(line).with_context(|| line.clone()));
        let lines = lines.collect::<Result<Vec<Line>>>()?;
        if u64::try_from(lines.len())? != made {
            self.suite.fail(format!("{location}\n  {made} decisions were counted, and {} audited", lines.len()));
        }
        let mut audited = BTreeMap::new();
        for line in &lines {
            let Line { decision, reason, route, .. } = line;
            *audited.entry(format!("{decision} {reason} {}", route.as_deref().unwrap_or_default())).or_default() += 1;
        }
        let differs = |(labels, count): &(&String, &u64)| counted.decisions.get(*labels) != Some(count);
        if let Some((labels, count)) = audited.iter().find(differs) {
            let counted = counted.decisions.get(labels);
            self.suite.fail(format!("{location}\n  `{labels}`: {count} were audited, and {counted:?} counted"));
        }
        // No gate program reads a body.
        if let Some(line) =
            lines.iter().find(|line| line.orbs.get("bonus_allowed").is_some_and(|bonus| !bonus.is_null()))
        {
            self.suite.fail(format!("{location}\n  nobody has read the body: {line:?}"));
        }
        if self.suite.world.shows_a_token(&self.running.output()) {
            self.suite.fail(format!("{location}\n  the output shows a token"));
        }
        Ok((counted, lines))
    }
}

/// The whole exchange, for display.
fn shown(sent: &Sent, answer: &Answer, wrong: &str) -> String {
    let lines = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\r\\n", "\n    ");
    let headers = answer.headers.iter().map(|(name, value)| format!("\n    {name}: {value}"));
    format!(
        "{}\n  {wrong}\n  sent:\n    {}\n  came:\n    {}{}\n    {}",
        sent.location,
        lines(&sent.bytes).trim_end(),
        answer.status,
        headers.collect::<String>(),
        lines(&answer.body),
    )
}
