//! An adversary of the charge: pairs of calls with ids, sessions, cancellations and departures that a caller chooses, before a
//! server that mixes up responses as the worst SDK does. Finished work is never free, except where a setting says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use orbgate::{Engine, Policy, Token, TokenKind};
use orbgate_gate::{
    Amount, Answer, Charging, Credentials, Gate, HandlerOutcome, Matched, Mcp, McpFault, McpOrbs, McpRequest,
    McpResponse, OnCancelled, OrbRules, Request, Rules, Settlement, Verified,
};
use serde_json::{Value, json};

use crate::reading;

const POLICY: &str = include_str!("../../../policy/cases/mcp/policy.yaml");

#[derive(Clone, Debug, PartialEq, Eq)]
struct Caller(&'static str);

impl Verified for Caller {
    fn token(&self) -> Token<'_> {
        Token { kind: TokenKind::User, scopes: "mcp:connect orders:read orders:write".into() }
    }

    fn account(&self) -> Option<&str> {
        Some(self.0)
    }
}

/// Numbers that look random, the same in each run (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % most
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// The sessions that a request names.
const SESSIONS: &[&[&str]] = &[&[], &["own"], &["own"], &["other"], &["own", "other"], &[""]];

const LONG: &str = "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\
    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"";
/// `None` is no id at all.
const IDS: &[Option<&str>] =
    &[Some("1"), Some("1"), Some("\"1\""), Some("1.0"), Some("\"\\u0031\""), Some("2"), Some(LONG), None];

/// How the tool of a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Result,
    ToolError,
    Error,
}

/// Which of two calls with one id in one session gets a response.
#[derive(Clone, Copy, Debug)]
enum Mixes {
    /// The last one that came, as in the SDKs for Python and for TypeScript 1.x.
    Last,
    First,
    Both,
}

/// What a server does about a cancelled call whose tool has done its work.
#[derive(Clone, Copy, Debug)]
enum Cancels {
    Ignores,
    Errs,
    IsSilent,
}

#[derive(Clone, Copy, Debug)]
struct Server {
    mixes: Mixes,
    cancels: Cancels,
    /// Whether it answers with JSON: then the status is known only at the end.
    is_json: bool,
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    tool: &'static str,
    id: Option<&'static str>,
    sessions: &'static [&'static str],
    is_modern: bool,
    work: Work,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Starts(usize),
    /// The tool has done its work, and the server sends its response.
    Finishes(usize),
    Leaves(usize),
    /// `notifications/cancelled` for this call's id, in its session.
    Cancels(usize),
    /// DELETE of this call's session.
    Ends(usize),
}

/// A call whose handler runs.
struct Call {
    reader: Option<McpResponse>,
    /// The reader of a gate that takes what a response says, whatever session it is in.
    naive: Option<McpResponse>,
    held: u64,
    has_left: bool,
    is_cancelled: bool,
    has_finished: bool,
    status: Option<u16>,
    is_over: bool,
    is_open: bool,
}

struct World {
    engine: Engine,
    rules: Rules,
    orbs: OrbRules,
}

enum Began {
    Refused(Box<Answer<'static, Caller>>),
    Runs(Box<Call>),
}

impl World {
    fn new(charge_sessions: bool, on_cancelled: OnCancelled, mcp: McpOrbs) -> Self {
        let mut rules = Rules::new();
        rules.mcp = Some(Arc::new(Mcp::new("/mcp").unwrap().charge_sessions(charge_sessions)));
        let mut orbs = OrbRules::new(on_cancelled);
        orbs.mcp = Some(mcp);
        Self { engine: Engine::new(&Policy::from_yaml(POLICY).unwrap()), rules, orbs }
    }

    fn begin(&'static self, plan: &Plan, server: Server) -> Began {
        let mut params = json!({ "name": plan.tool });
        let mut lines: Vec<(&[u8], &[u8])> = vec![(b"content-type", b"application/json")];
        if plan.is_modern {
            params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
            lines.push((b"mcp-protocol-version", b"2026-07-28"));
            lines.extend([(&b"mcp-method"[..], &b"tools/call"[..]), (b"mcp-name", plan.tool.as_bytes())]);
        }
        lines.extend(plan.sessions.iter().map(|session| (&b"mcp-session-id"[..], session.as_bytes())));
        let id = plan.id.map_or_else(String::new, |id| format!("\"id\":{id},"));
        let body = format!("{{\"jsonrpc\":\"2.0\",{id}\"method\":\"tools/call\",\"params\":{params}}}");
        let request =
            Request { method: b"POST", target: b"/mcp", matched: Matched::Template("/mcp"), ..Request::default() };
        let next = Gate::new(&self.rules, ()).decide(&self.engine, &request, Credentials::Token(Caller("ada")));
        let message = McpRequest { headers: &lines, body: Ok(body.as_bytes()) };
        let answer = self.rules.decide_body(&self.engine, reading(next), message);
        if !answer.decision.is_allow() {
            return Began::Refused(Box::new(answer));
        }
        let held = match self.orbs.charge(&answer, |_, _| Amount::OfPolicy, [7; 16]) {
            Charging::Nothing => 0,
            Charging::Hold(command) => command.amount,
            Charging::Deny(unpaid) => return Began::Refused(Box::new(self.rules.unpaid(answer, unpaid))),
        };
        let call = answer.mcp.unwrap();
        let content_type: &[u8] = if server.is_json { b"application/json" } else { b"text/event-stream" };
        let begun = |mut reader: McpResponse| {
            reader.begin(&[(b"content-type", content_type)]);
            reader
        };
        Began::Runs(Box::new(Call {
            naive: call.id().map(|id| begun(McpResponse::new(id, call.is_legacy()))),
            reader: call.response().map(begun),
            held,
            has_left: false,
            is_cancelled: false,
            has_finished: false,
            status: (!server.is_json).then_some(200),
            is_over: false,
            is_open: true,
        }))
    }

    fn captures(&self, call: &Call, reader: Option<&McpResponse>) -> bool {
        let outcome = match call.status {
            _ if call.has_left => HandlerOutcome::Cancelled,
            Some(status) => HandlerOutcome::Status(status),
            None => HandlerOutcome::Failed,
        };
        self.orbs.settlement(outcome, reader.map(McpResponse::end), call.held, None) == Settlement::Capture(call.held)
    }
}

impl Call {
    fn receives(&mut self, message: &Value, is_json: bool) {
        if self.is_over || self.has_left || !self.is_open {
            return;
        }
        let bytes = if is_json { message.to_string() } else { format!("event: message\ndata: {message}\n\n") };
        for reader in [&mut self.reader, &mut self.naive].into_iter().flatten() {
            reader.read(bytes.as_bytes());
        }
        self.status = Some(200);
        self.is_over = true;
    }
}

/// The key under which a server keeps a call: some take `1`, `1.0` and `"1"` for the same.
fn key(plan: &Plan) -> Option<(String, String)> {
    let id: Value = serde_json::from_str(plan.id?).unwrap();
    let id = id.as_f64().map_or_else(|| id.as_str().unwrap().to_owned(), |number| number.to_string());
    Some((plan.sessions.first()?.to_string(), id))
}

/// Runs the events. Returns each call that ran.
fn run(world: &'static World, plans: &[Plan], events: &[Event], server: Server) -> BTreeMap<usize, Call> {
    let mut calls: BTreeMap<usize, Call> = BTreeMap::new();
    for event in events {
        match *event {
            Event::Starts(number) => match world.begin(&plans[number], server) {
                Began::Runs(call) => drop(calls.insert(number, *call)),
                Began::Refused(answer) => {
                    // Nobody who isn't told would know.
                    let (call, denial) = (answer.mcp.unwrap(), answer.denial.unwrap());
                    let expected = if plans[number].id.is_none() { McpFault::NoId } else { McpFault::Session };
                    assert_eq!((call.fault(), denial.status), (Some(expected), 400), "{:?}", plans[number]);
                    let error: Value = serde_json::from_slice(&denial.body.unwrap()).unwrap();
                    assert_eq!(error["error"]["code"], -32600);
                }
            },
            Event::Finishes(number) => {
                let Some(call) = calls.get_mut(&number) else { continue };
                if call.has_finished {
                    continue;
                }
                call.has_finished = true;
                let is_cancelled = call.is_cancelled;
                let id: Value = serde_json::from_str(plans[number].id.unwrap()).unwrap();
                let message = match (plans[number].work, server.cancels) {
                    (_, Cancels::IsSilent) if is_cancelled => continue,
                    (_, Cancels::Errs) if is_cancelled => {
                        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 0, "message": "Request cancelled" } })
                    }
                    (Work::Result, _) => json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [] } }),
                    (Work::ToolError, _) => json!({ "jsonrpc": "2.0", "id": id, "result": { "isError": true } }),
                    (Work::Error, _) => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 1, "message": "no" } }),
                };
                // Without a session, each request has a transport of its own.
                let mut alike: Vec<usize> = match key(&plans[number]) {
                    None => vec![number],
                    own => calls.keys().copied().filter(|other| key(&plans[*other]) == own).collect(),
                };
                // In the order in which they came.
                alike.sort_by_key(|other| events.iter().position(|event| *event == Event::Starts(*other)));
                let takers = match server.mixes {
                    Mixes::Last => alike.split_off(alike.len() - 1),
                    Mixes::First => vec![alike[0]],
                    Mixes::Both => alike,
                };
                for taker in takers {
                    calls.get_mut(&taker).unwrap().receives(&message, server.is_json);
                }
            }
            Event::Leaves(number) => {
                if let Some(call) = calls.get_mut(&number)
                    && !call.is_over
                {
                    call.has_left = true;
                }
            }
            Event::Cancels(number) => {
                let named = key(&plans[number]);
                for (other, call) in &mut calls {
                    call.is_cancelled |= named.is_some() && key(&plans[*other]) == named;
                }
            }
            Event::Ends(number) => {
                let session = plans[number].sessions.first();
                for (other, call) in &mut calls {
                    if session.is_some() && plans[*other].sessions.first() == session && !call.is_over {
                        // What waits for a response gets none.
                        call.is_open = false;
                        call.status = call.status.or(Some(500));
                    }
                }
            }
        }
    }
    calls
}

fn settings() -> Vec<(OnCancelled, McpOrbs)> {
    use OnCancelled::{Capture, Void};
    let with = |on_tool_error| move |on_input_required| McpOrbs { on_tool_error, on_input_required };
    [Capture, Void]
        .into_iter()
        .flat_map(|on_cancelled| [(on_cancelled, with(Capture)(Void)), (on_cancelled, with(Void)(Capture))])
        .collect()
}

/// A permutation in which each call starts before anything else happens to it.
fn order(random: &mut Random, count: usize) -> Vec<Event> {
    let mut events = Vec::new();
    for number in 0..count {
        events.extend([Event::Starts(number), Event::Finishes(number)]);
        for other in [Event::Leaves(number), Event::Cancels(number), Event::Ends(number)] {
            if random.below(3) == 0 {
                events.push(other);
            }
        }
    }
    for last in (1..events.len()).rev() {
        events.swap(last, random.below(last + 1));
    }
    // Nothing happens to a call before it starts, but to another one with its id.
    for number in 0..count {
        let at = |events: &[Event], wanted| events.iter().position(|event| *event == wanted).unwrap();
        let (starts, finishes) = (at(&events, Event::Starts(number)), at(&events, Event::Finishes(number)));
        if finishes < starts {
            events.swap(starts, finishes);
        }
    }
    events
}

/// The step `soak` sets `ORBGATE_MCP_PAIRS=1000000`.
#[test]
fn nothing_that_a_caller_chooses_makes_finished_work_free() {
    let pairs = std::env::var("ORBGATE_MCP_PAIRS").map_or(40_000, |pairs| pairs.parse().unwrap());
    let worlds: Vec<(&'static World, OnCancelled, bool)> = settings()
        .into_iter()
        .flat_map(|(on_cancelled, mcp)| {
            [true, false].map(|charges| {
                let world: &'static World = Box::leak(Box::new(World::new(charges, on_cancelled, mcp)));
                (world, on_cancelled, charges)
            })
        })
        .collect();
    let mut random = Random(0x0073_6573_7369_6f6e);
    let (mut paid, mut stolen, mut refused, mut honest) = (0_u64, 0_u64, 0_u64, 0_u64);
    for number in 0..pairs {
        let (world, on_cancelled, charges) = worlds[number % worlds.len()];
        let server = Server {
            mixes: random.one(&[Mixes::Last, Mixes::Last, Mixes::First, Mixes::Both]),
            cancels: random.one(&[Cancels::Ignores, Cancels::Errs, Cancels::IsSilent]),
            is_json: random.below(2) == 0,
        };
        let count = 2 + random.below(2);
        let plans: Vec<_> = (0..count)
            .map(|_| Plan {
                tool: random.one(&["refund", "list_orders"]),
                id: random.one(IDS),
                sessions: random.one(SESSIONS),
                is_modern: random.below(3) == 0,
                work: random.one(&[Work::Result, Work::Result, Work::ToolError, Work::Error]),
            })
            .collect();
        let events = order(&mut random, count);
        let calls = run(world, &plans, &events, server);
        for (number, plan) in plans.iter().enumerate() {
            let (is_paid, in_session) = (plan.tool == "refund", !plan.sessions.is_empty());
            let Some(call) = calls.get(&number) else {
                refused += 1;
                assert!(plan.id.is_none() || is_paid && in_session && !charges, "{plan:?} is refused");
                continue;
            };
            assert!(plan.id.is_some() && (!is_paid || !in_session || charges), "{plan:?} runs");
            assert_eq!(call.held, if is_paid { 5 } else { 0 });
            if !is_paid {
                continue;
            }
            let is_charged = world.captures(call, call.reader.as_ref());
            let is_work_done = plan.work == Work::Result && call.has_finished;
            // In the newest version, leaving ends a call, and a setting says what it costs.
            let is_stated = !in_session && plan.is_modern && on_cancelled == OnCancelled::Void && call.has_left;
            if is_work_done && !is_stated {
                paid += 1;
                let what = || format!("{plan:?} of {plans:?}\n{events:?}\n{server:?} {on_cancelled:?}");
                assert!(is_charged, "finished work is free: {}", what());
                stolen += u64::from(!world.captures(call, call.naive.as_ref()));
            }
            // An error costs nothing outside sessions, if its id can be read.
            if !in_session && plan.id != Some(LONG) && plan.work == Work::Error && call.is_over && !call.has_left {
                honest += 1;
                assert!(!is_charged, "an error is charged: {plan:?} {events:?} {server:?}");
            }
        }
    }
    // Each of them occurs often, and without the rule about sessions, the same callers would have worked for nothing.
    let least = u64::try_from(pairs / 100).unwrap();
    assert!(
        paid > 4 * least && stolen > least && refused > least && honest > least,
        "{paid} {stolen} {refused} {honest}"
    );
}
