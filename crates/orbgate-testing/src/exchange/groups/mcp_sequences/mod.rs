//! Everything that a caller chooses, in sequences by seed, before the MCP servers of the official SDKs with sessions. Finished work is free
//! only if a setting makes it so, and nothing is charged that wasn't done.
//!
//! `ORBGATE_SEQUENCES` is the number of sequences for each SDK with each format and setting.

mod judge;
mod plan;
mod world;

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use self::judge::Made;
use self::plan::{Call, End, Event, FREE, Id, Leaves, Plans, Sequence, Session, TOOLS, Version};
use self::world::{PATIENCE, Sent, Workplace};
use crate::exchange::groups::orbs;
use crate::exchange::program::{Gated, Running};
use crate::exchange::recipe::Recipe;
use crate::exchange::service::{LedgerService, SECRETS};
use crate::exchange::suite::Suite;

const OLDER: &str = "2025-11-25";
const NEWEST: &str = "2026-07-28";

/// With all formats and settings, so many have each pair of choices for a call at least once.
const SEQUENCES: usize = 10;

/// Whether responses are JSON, and the settings for the endings that settings decide.
const SETTINGS: [(bool, &str); 4] = [(false, "void"), (true, "capture"), (false, "capture"), (true, "void")];

/// Sequences that run together, each with accounts of its own.
const LANES: usize = 4;

/// A response that a server has lost never comes.
const LOST: Duration = Duration::from_millis(200);

pub(crate) fn run(suite: &Suite) -> Result<()> {
    if suite.program.sdks.is_empty() {
        return Ok(());
    }
    let count = std::env::var("ORBGATE_SEQUENCES").map_or(Ok(SEQUENCES), |count| count.parse())?;
    let tokens = orbs::tokens(suite)?;
    let policy = suite.world.file("sequences.yaml");
    let of_tool = |tool: &str| format!("MCP /tools/call/{tool}");
    let connects = ["initialize", "notifications/initialized", "notifications/cancelled", "session/end", "stream"];
    let scopes = json!({
        "connect": { "orbs": false, "routes": connects.map(|name| format!("MCP /{name}")) },
        "free": { "orbs": false, "routes": [of_tool(FREE)] },
        "work": { "orbs": 5, "routes": TOOLS.map(of_tool) },
    });
    let document = json!({ "orbgate": 1, "apis": { "work": { "base_path": "/mcp", "scopes": scopes } } });
    fs::write(&policy, format!("{document}\n...\n"))?;
    let service = LedgerService::start(&suite.world.tokens())?;
    SECRETS.iter().for_each(|secret| suite.world.hide(secret));
    fs::write(service.secret_file(), SECRETS[0])?;
    let place = Workplace::open()?;
    for (seed, sdk) in (1..).zip(suite.program.sdks) {
        let mut plans = Plans::new(seed);
        for (is_json, setting) in SETTINGS {
            let sequences: Vec<_> = (0..count).map(|_| plans.next()).collect();
            let more = orbs::options(&service, setting);
            let all =
                ["--mcp", "/mcp", "--on-tool-error", setting, "--on-input-required", setting, "--charge-sessions"];
            let sdk_of = ["--sdk", sdk, "--work", &place.url];
            let json: &[&str] = if is_json { &["--sdk-json"] } else { &[] };
            let all = [more.each_ref().map(String::as_str).as_slice(), &all, &sdk_of, json].concat();
            let running = suite.program.start_in(&[], &policy, &tokens, Gated::Yes, &all)?;
            let name = format!("{sdk}-{setting}-{}", if is_json { "json" } else { "events" });
            let loses_calls = is_json && *sdk == "mcp";
            let world = World { loses_calls, suite, service: &service, place: &place, running, name };
            let ran = world.run(&sequences, setting == "capture");
            ran.with_context(|| format!("{}: {}", world.name, world.running.output()))?;
        }
        let (seen, all) = plans.pairs();
        ensure!(seen == all || count < SEQUENCES, "the sequences have only {seen} of {all} pairs");
    }
    Ok(())
}

/// A gate before a server of an SDK.
struct World<'w> {
    suite: &'w Suite,
    service: &'w LedgerService,
    place: &'w Workplace,
    running: Running,
    name: String,
    /// With JSON, the Python SDK forgets a call of a session if another one has the same `id`, and doesn't notice who leaves. Nothing ends such a
    /// call but the server's end.
    loses_calls: bool,
}

impl World<'_> {
    fn run(&self, sequences: &[Sequence], charges: bool) -> Result<()> {
        self.await_keys()?;
        let count = sequences.len();
        let next = AtomicUsize::new(0);
        let lane = || {
            let mut made = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(sequence) = sequences.get(at) else { return Ok(made) };
                made.push((at, self.sequence(at, sequence)?));
            }
        };
        let made: Result<Vec<_>> = thread::scope(|scope| {
            let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
            lanes.into_iter().map(|lane| lane.join().expect("a lane panicked")).collect()
        });
        let mut made: Vec<(usize, Vec<Made>)> = made?.into_iter().flatten().collect();
        let settled = self.settled(&made)?;
        // A tool can still begin after its caller has left.
        for made in made.iter_mut().flat_map(|(_, made)| made) {
            made.worked = self.place.worked(&made.key);
        }
        let lost: Vec<String> = self.lost(&made).into_iter().map(str::to_owned).collect();
        let (mut ran, mut ran_for_orbs) = (0, 0);
        for (at, made) in &made {
            self.suite.saw_one();
            let faults: Vec<_> = made
                .iter()
                .filter_map(|made| made.fault(settled.get(&made.key), lost.contains(&made.key), charges))
                .collect();
            ran += made.iter().filter(|made| made.worked > 0).count();
            ran_for_orbs += made.iter().filter(|made| made.worked > 0 && !made.call.is_free).count();
            if !faults.is_empty() {
                let calls: Vec<_> = made.iter().map(|made| format!("  {made:?}")).collect();
                let (faults, calls, events) = (faults.join("\n  "), calls.join("\n"), &sequences[*at].events);
                self.suite.fail(format!("mcp-sequences, {} {at}:\n  {faults}\n{calls}\n  {events:?}", self.name));
            }
        }
        // Neither is rare.
        ensure!(
            ran_for_orbs > count / 8,
            "{}: of {count} sequences, only {ran_for_orbs} calls ran for orbs",
            self.name
        );
        println!("{}: {count} sequences: {ran} calls ran, {ran_for_orbs} of them for orbs", self.name);
        Ok(())
    }

    fn user(&self, at: usize) -> String {
        format!("{}-{at}", self.name)
    }

    fn account(&self, at: usize) -> String {
        format!("{}#{}", self.suite.world.issuers.name("main"), self.user(at))
    }

    /// By the key of its call, what happened to each hold: its causes.
    fn settled(&self, made: &[(usize, Vec<Made>)]) -> Result<BTreeMap<String, Vec<Vec<String>>>> {
        let start = Instant::now();
        loop {
            let mut holds: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
            for entry in self.service.all_entries()? {
                let text = |name: &str| entry[name].as_str().unwrap_or_default();
                let (id, cause) = (text("id").to_owned(), text("cause").to_owned());
                let tool =
                    text("note").split(' ').nth(1).and_then(|route| route.rsplit('/').next()).unwrap_or_default();
                let user = text("account").rsplit('#').next().unwrap_or_default();
                if cause != "grant" && user.starts_with(&self.name) {
                    holds.entry(id).or_insert_with(|| (format!("{user}-{tool}"), Vec::new())).1.push(cause);
                }
            }
            let lost = self.lost(made);
            let is_open = holds.values().any(|(key, causes)| causes.len() < 2 && !lost.contains(&key.as_str()));
            if !is_open || start.elapsed() > PATIENCE {
                let mut of_calls: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
                for (key, causes) in holds.into_values() {
                    of_calls.entry(key).or_default().push(causes);
                }
                let known = |key: &&String| made.iter().flat_map(|(_, made)| made).any(|made| made.key == **key);
                let unknown: Vec<_> = of_calls.keys().filter(|key| !known(key)).collect();
                ensure!(unknown.is_empty(), "{}: holds of no call: {unknown:?}", self.name);
                return Ok(of_calls);
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The keys of the calls that the server can have forgotten.
    fn lost<'m>(&self, made: &'m [(usize, Vec<Made>)]) -> Vec<&'m str> {
        let mut lost = Vec::new();
        for (_, made) in made.iter().filter(|_| self.loses_calls) {
            for one in made {
                let is_same = |other: &&Made| other.key != one.key && other.call.shares_id(&one.call);
                lost.extend((one.has_left() && made.iter().any(|other| is_same(&other))).then_some(one.key.as_str()));
            }
        }
        lost
    }

    fn await_keys(&self) -> Result<()> {
        let start = Instant::now();
        loop {
            let begun = self.begin("nobody")?;
            if begun.is_some() || start.elapsed() > PATIENCE {
                return begun.map(drop).context("no session begins");
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// The bytes of a request.
    fn request(&self, method: &str, user: &str, headers: &[(&str, &str)], message: Option<&Value>) -> Result<Vec<u8>> {
        let token = self.suite.world.token(&Recipe::of("user", "connect free work").claim("sub", user))?;
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let body = message.map(Value::to_string).unwrap_or_default();
        let content = message.map(|_| format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
        let content = content.unwrap_or_default();
        Ok(format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Accept: application/json, text/event-stream\r\n{content}{lines}\r\n{body}",
            self.running.address
        )
        .into_bytes())
    }

    fn send(&self, method: &str, user: &str, headers: &[(&str, &str)], message: Option<&Value>) -> Result<Sent> {
        Sent::new(&self.running.address, &self.request(method, user, headers, message)?, None)
    }

    /// Begins a session.
    fn begin(&self, user: &str) -> Result<Option<String>> {
        let client =
            json!({ "protocolVersion": OLDER, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client });
        let mut begun = self.send("POST", user, &[], Some(&message))?;
        begun.wait(PATIENCE, || begun.is_whole());
        let session = begun.header("mcp-session-id");
        begun.leave();
        if let Some(session) = &session {
            let in_it = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", OLDER)];
            let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            let sent = self.send("POST", user, &in_it, Some(&message))?;
            sent.wait(PATIENCE, || false);
        }
        Ok(session)
    }

    /// One sequence.
    fn sequence(&self, at: usize, sequence: &Sequence) -> Result<Vec<Made>> {
        let user = self.user(at);
        self.service.grant(&self.account(at), 1000, "paid")?;
        let own = self.begin(&user)?.context("no session begins")?;
        let other = self.begin("eve")?.context("no session begins")?;
        let mut made: Vec<Made> = Vec::new();
        for (number, call) in sequence.calls.iter().enumerate() {
            let tool = if call.is_free { FREE } else { TOOLS[number] };
            // A free call has no hold, but its key must be its own.
            let key = if call.is_free { format!("{user}-free-{number}") } else { format!("{user}-{tool}") };
            let mut headers: Vec<(&str, &str)> = match call.session {
                Session::None => Vec::new(),
                Session::Own => vec![("Mcp-Session-Id", &own)],
                Session::Other => vec![("Mcp-Session-Id", &other)],
                Session::Unknown => vec![("Mcp-Session-Id", "00000000-0000-4000-8000-000000000000")],
                Session::Both => vec![("Mcp-Session-Id", &own), ("Mcp-Session-Id", &other)],
            };
            match call.version {
                Version::Older => headers.push(("MCP-Protocol-Version", OLDER)),
                Version::Newest => {
                    headers.extend([("MCP-Protocol-Version", NEWEST), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)])
                }
            }
            let request = self.request("POST", &user, &headers, Some(&message(*call, tool, &key)))?;
            made.push(Made { call: *call, key, request, sent: None, worked: 0 });
        }
        let ended = |made: &Made| match made.call.end {
            End::Result => "result",
            End::Error => "error",
            End::ToolError => "tool error",
        };
        let mut streams = Vec::new();
        for (event, of) in &sequence.events {
            let made = &mut made[*of];
            let session = match made.call.session {
                Session::Other => &other,
                _ => &own,
            };
            let in_it = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", OLDER)];
            match (event, &mut made.sent) {
                (Event::Start, None) => self.start(made)?,
                (_, None) | (Event::Start, _) => {}
                (Event::Answer, _) => self.place.end(&made.key, ended(made)),
                (Event::Leave, Some(sent)) => sent.leave(),
                (Event::Cancel, _) => {
                    let params = json!({ "requestId": id(made.call.id) });
                    let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                    self.send("POST", &user, &in_it, Some(&message))?.wait(LOST, || false);
                }
                (Event::EndSession, _) => self.send("DELETE", &user, &in_it, None)?.wait(LOST, || false),
                (Event::Listen, _) => streams.push(self.send("GET", &user, &in_it, None)?),
                (Event::Resume, _) => {
                    let last = made.last_event().unwrap_or_else(|| "1".to_owned());
                    let headers = [in_it[0], in_it[1], ("Last-Event-ID", last.as_str())];
                    streams.push(self.send("GET", &user, &headers, None)?);
                }
            }
        }
        for made in &mut made {
            self.place.end(&made.key, ended(made));
        }
        for made in &mut made {
            if let Some(sent) = &mut made.sent {
                sent.wait(LOST, || sent.is_whole());
                sent.leave();
            }
        }
        drop(streams.iter_mut().map(Sent::leave).collect::<Vec<_>>());
        for (user, session) in [(user.as_str(), &own), ("eve", &other)] {
            let in_it = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", OLDER)];
            self.send("DELETE", user, &in_it, None)?.wait(LOST, || false);
        }
        Ok(made)
    }

    fn start(&self, made: &mut Made) -> Result<()> {
        let after = if let Leaves::After(pieces) = made.call.leaves { Some(pieces) } else { None };
        let mut sent = Sent::new(&self.running.address, &made.request, after)?;
        match made.call.leaves {
            Leaves::AtOnce => sent.leave(),
            leaves => {
                let works = || self.place.worked(&made.key) > 0;
                let most = if leaves == Leaves::Early { Duration::from_millis(5) } else { LOST };
                sent.wait(most, || works() || sent.is_whole());
                if leaves == Leaves::Early {
                    sent.leave();
                }
            }
        }
        made.sent = Some(sent);
        Ok(())
    }
}

fn id(id: Id) -> Option<Value> {
    match id {
        Id::One => Some(json!(1)),
        Id::OneAsText => Some(json!("1")),
        Id::OneAsFraction => Some(json!(1.0)),
        Id::Two => Some(json!(2)),
        Id::Long => Some(json!("a".repeat(300))),
        Id::Absent => None,
    }
}

fn message(call: Call, tool: &str, key: &str) -> Value {
    let mut params = json!({ "name": tool, "arguments": { "key": key } });
    if call.is_task {
        params["task"] = json!({ "ttl": 60_000 });
    }
    if call.version == Version::Newest {
        let named = |name: &str| format!("io.modelcontextprotocol/{name}");
        params["_meta"] = json!({
            named("protocolVersion"): NEWEST, named("clientCapabilities"): {},
            named("clientInfo"): { "name": "c", "version": "1" },
        });
    }
    let mut message = json!({ "jsonrpc": "2.0", "method": "tools/call", "params": params });
    if let Some(id) = id(call.id) {
        message["id"] = id;
    }
    message
}
