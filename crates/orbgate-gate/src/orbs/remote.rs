//! Holds in a ledger service: what a program sends by HTTP, and what the answers mean.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use orbgate::Detail;
use serde::{Deserialize, Serialize};

use crate::mcp::response::McpEnd;
use crate::orbs::charge::{HoldCommand, HoldId, Unpaid};
use crate::orbs::excess::Excess;
use crate::orbs::holds::{HoldAnswer, Holds, Output, SettleAnswer};
use crate::orbs::outcome::{HandlerOutcome, Settlement};
use crate::orbs::reply::{Known, LedgerReply, is_lost, read};
use crate::orbs::rules::OrbRules;
use crate::orbs::statement::Statement;

/// The holds of a program in a ledger service.
///
/// A request asks [`RemoteHolds::hold`], and does one [`HoldStep`] after another until its handler may run or it is denied.
/// Then the program reports once how the handler has ended, or that it never ran. One thread of the program sends what
/// [`RemoteHolds::next_call`] returns, at [`RemoteHolds::wake`] and after each report. Times are those of a monotonic clock.
#[derive(Debug)]
pub struct RemoteHolds {
    holds: Holds,
    /// The amounts of calls whose handlers may run.
    amounts: BTreeMap<HoldId, u64>,
    /// What requests must do next.
    steps: BTreeMap<HoldId, HoldStep>,
    settling: VecDeque<(HoldId, Settlement)>,
    /// Those in `settling`.
    queued: BTreeSet<HoldId>,
    extending: VecDeque<(HoldId, u64)>,
    sent: BTreeMap<u64, Sent>,
    number: u64,
    settled: SettledCounts,
    /// When to ask the service, unless it has answered, whether it takes the secret.
    probe: Option<Duration>,
    /// What the log knows of the service.
    known: Known,
}

/// How many holds the service has settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettledCounts {
    /// Orbs were charged.
    pub captured: u64,
    /// All were released.
    pub voided: u64,
    /// The orbs that were charged.
    pub orbs: u64,
    /// The orbs that accounts lacked when more was charged than held.
    pub shortfall: u64,
    /// The calls whose handlers have stated more than the [ceiling](OrbRules::ceiling).
    pub over: u64,
    /// The orbs over it, which weren't charged.
    pub excess: u64,
}

/// What a request must do next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a call that isn't held isn't charged"]
#[expect(clippy::exhaustive_enums, reason = "a host must handle each")]
pub enum HoldStep {
    /// Send this, and report with [`RemoteHolds::held`].
    Call(LedgerCall),
    /// Wait until this time, and then ask [`RemoteHolds::waited`].
    Wait(Duration),
    /// Run the handler.
    Run,
    /// Deny the request, with [`Rules::unpaid`](crate::Rules::unpaid).
    Deny(Unpaid),
}

/// A message to the ledger service, by POST, with the secret as `Authorization: Bearer`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerCall {
    /// The number of the call, for [`RemoteHolds::called`].
    pub number: u64,
    /// The path, to be added to the service's URL.
    pub path: &'static str,
    /// JSON.
    pub body: String,
    /// After this time the call has failed.
    pub timeout: Duration,
}

/// A message of the thread that isn't answered.
#[derive(Debug)]
enum Sent {
    Settle(Vec<HoldId>),
    Extend(Vec<HoldId>, Duration),
}

/// As many commands as the service takes in a message.
const MOST: usize = 500;

/// A call without a time limit could wait for ever.
const SHORTEST: Duration = Duration::from_millis(1);

/// The time limit of the thread's messages.
const TIMEOUT: Duration = Duration::from_secs(10);

impl RemoteHolds {
    /// No holds.
    #[must_use]
    pub fn new(rules: OrbRules) -> Self {
        Self {
            holds: Holds::new(rules),
            amounts: BTreeMap::new(),
            steps: BTreeMap::new(),
            settling: VecDeque::new(),
            queued: BTreeSet::new(),
            extending: VecDeque::new(),
            sent: BTreeMap::new(),
            number: 0,
            settled: SettledCounts::default(),
            probe: Some(Duration::ZERO),
            known: Known::default(),
        }
    }

    /// The rules.
    #[must_use]
    pub const fn rules(&self) -> &OrbRules {
        self.holds.rules()
    }

    /// How many settlements wait for the ledger.
    #[must_use]
    pub const fn settling(&self) -> usize {
        self.holds.settling()
    }

    /// How many settlements were given up.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.holds.lost()
    }

    /// How many holds the service has settled.
    #[must_use]
    pub const fn settled(&self) -> SettledCounts {
        self.settled
    }

    /// What a host has to log about the service after an answer, or without one: then `reply` is why. A failure is stated once, with the
    /// service's own reason, and so is its end.
    pub fn notice(&mut self, url: &str, reply: Result<LedgerReply<'_>, &str>) -> Option<Statement> {
        let (level, text) = self.known.changes(url, reply)?;
        Some(Statement { level, text })
    }

    /// Begins to hold the orbs of a request.
    pub fn hold(&mut self, command: HoldCommand, now: Duration) -> HoldStep {
        let id = command.id;
        if self.amounts.contains_key(&id) {
            return HoldStep::Deny(Unpaid::Unavailable);
        }
        self.amounts.insert(id, command.amount);
        self.holds.hold(command, now);
        self.step(id, now)
    }

    /// The service has answered a request's call. `time` is that of the wall clock, since 1970.
    pub fn held(&mut self, id: HoldId, reply: Option<LedgerReply<'_>>, now: Duration, time: Duration) -> HoldStep {
        self.seen(reply);
        self.holds.held(id, hold_answer(id, reply, time), now);
        self.step(id, now)
    }

    /// A request has waited.
    pub fn waited(&mut self, id: HoldId, now: Duration) -> HoldStep {
        self.step(id, now)
    }

    /// A handler has ended, or its answer. `response` is what an MCP response has said, and `stated` the amount that the handler
    /// has stated. Returns what to log if that is over the ceiling.
    pub fn ended(
        &mut self,
        id: HoldId,
        outcome: HandlerOutcome,
        response: Option<McpEnd>,
        stated: Option<u64>,
        now: Duration,
    ) -> Option<Statement> {
        let held = self.amounts.remove(&id)?;
        let settlement = self.holds.rules().settlement(outcome, response, held, stated);
        self.holds.settle(id, settlement, now);
        let Excess { orbs, statement } = self.holds.rules().excess(id, held, stated, settlement)?;
        self.settled.over = self.settled.over.saturating_add(1);
        self.settled.excess = self.settled.excess.saturating_add(orbs);
        Some(statement)
    }

    /// The handler of a request will never run: its caller left while it waited, or it was misrouted.
    pub fn not_run(&mut self, id: HoldId, now: Duration) {
        self.amounts.remove(&id);
        self.holds.settle(id, Settlement::Void, now);
        self.sort();
        self.steps.remove(&id);
    }

    /// The next message of the thread: settlements, or one extension of all holds of running calls. The first, and again until the
    /// service has answered with success, extends nothing: its status shows a wrong secret or URL before a call needs the service.
    pub fn next_call(&mut self, now: Duration) -> Option<LedgerCall> {
        self.holds.tick(now);
        self.sort();
        // Extensions first: they are few for each beat, and settlements may never cease.
        let (path, sent, body) = if !self.extending.is_empty() || self.settling.is_empty() {
            let holds: Vec<_> = take(&mut self.extending);
            let ttl = millis(self.holds.rules().ttl);
            let extend = |(id, beat): &(HoldId, u64)| Extend { id: format!("{id}.{beat}"), hold: id.to_string(), ttl };
            let commands: Vec<_> = holds.iter().map(extend).collect();
            ("/v1/extend", Sent::Extend(ids(&holds), now), json(&commands))
        } else {
            let holds: Vec<_> = take(&mut self.settling);
            for (id, _) in &holds {
                self.queued.remove(id);
            }
            let settle = |(id, settlement): &(HoldId, Settlement)| Settle {
                hold: id.to_string(),
                settlement: match settlement {
                    Settlement::Capture(amount) => OfService::Capture(*amount),
                    Settlement::Void => OfService::Void,
                },
            };
            let commands: Vec<_> = holds.iter().map(settle).collect();
            ("/v1/settle", Sent::Settle(ids(&holds)), json(&commands))
        };
        if sent.ids().is_empty() {
            self.probe.filter(|due| *due <= now)?;
            self.probe = Some(now.saturating_add(self.rules().beat()));
            // Nothing waits for it, but settlements could wait for its answer.
            return Some(self.call(path, body, self.rules().timeout));
        }
        let call = self.call(path, body, TIMEOUT);
        self.sent.insert(call.number, sent);
        Some(call)
    }

    /// The service has answered the thread's message. Report each, or its settlements are sent again only after a while.
    pub fn called(&mut self, number: u64, reply: Option<LedgerReply<'_>>, now: Duration) {
        self.seen(reply);
        let Some(sent) = self.sent.remove(&number) else { return };
        let count = sent.ids().len();
        let each = reply.filter(|reply| reply.status == 200).and_then(|reply| read::<Vec<Each>>(reply.body));
        let each = each.filter(|each| each.len() == count);
        // A service that refuses the whole message, such as for another secret, may take it later.
        let mut each = each.unwrap_or_default().into_iter();
        match sent {
            Sent::Settle(holds) => {
                for id in holds {
                    let answer = match each.next() {
                        Some(each) if each.is_done() => {
                            self.settled.add(&each);
                            SettleAnswer::Settled
                        }
                        Some(Each { error: Some(error), .. }) if !is_lost(&error) => SettleAnswer::Refused,
                        _ => SettleAnswer::Lost,
                    };
                    self.holds.settled(id, answer, now);
                }
            }
            Sent::Extend(holds, sent) => {
                for id in holds {
                    if each.next().is_some_and(|each| each.is_done()) {
                        self.holds.extended(id, sent);
                    }
                }
            }
        }
    }

    /// When the thread must ask [`RemoteHolds::next_call`]; at once if a message waits.
    pub fn wake(&mut self) -> Option<Duration> {
        self.sort();
        match self.settling.is_empty() && self.extending.is_empty() {
            true => self.holds.wake().into_iter().chain(self.probe).min(),
            false => Some(Duration::ZERO),
        }
    }

    fn seen(&mut self, reply: Option<LedgerReply<'_>>) {
        if reply.is_some_and(|reply| reply.status == 200) {
            self.probe = None;
        }
    }

    fn step(&mut self, id: HoldId, now: Duration) -> HoldStep {
        self.holds.tick(now);
        self.sort();
        match self.steps.remove(&id) {
            // Nothing is known of it, or it has its answer already.
            None if self.holds.until(id).is_none() => HoldStep::Deny(Unpaid::Unavailable),
            // The pauses between attempts are the longest waits.
            None => HoldStep::Wait(self.holds.wake().unwrap_or(now).max(now)),
            Some(HoldStep::Call(call)) => {
                let left = self.holds.until(id).map(|until| until.saturating_sub(now));
                HoldStep::Call(LedgerCall { timeout: left.unwrap_or_default().max(SHORTEST), ..call })
            }
            Some(last) => {
                if last != HoldStep::Run {
                    self.amounts.remove(&id);
                }
                last
            }
        }
    }

    /// Sorts outputs into those of requests and those of the thread.
    fn sort(&mut self) {
        while let Some(output) = self.holds.next() {
            match output {
                Output::Hold(command) => {
                    let body = json(&Hold {
                        id: command.id.to_string(),
                        account: &command.account,
                        amount: command.amount,
                        bonus: command.bonus,
                        ttl: millis(command.ttl),
                        note: &command.note,
                    });
                    let call = self.call("/v1/hold", body, SHORTEST);
                    self.steps.insert(command.id, HoldStep::Call(call));
                }
                Output::Answer(id, answer) => {
                    // A request that has gone asks for nothing more.
                    if self.amounts.contains_key(&id) {
                        self.steps.insert(id, answer.map_or_else(HoldStep::Deny, |()| HoldStep::Run));
                    }
                }
                // One that waits for long comes again.
                Output::Settle(id, settlement) => {
                    if self.queued.insert(id) {
                        self.settling.push_back((id, settlement));
                    }
                }
                Output::Extend { holds, beat } => {
                    self.extending.clear(); // an older one that wasn't sent
                    self.extending.extend(holds.into_iter().map(|id| (id, beat)));
                }
            }
        }
    }

    const fn call(&mut self, path: &'static str, body: String, timeout: Duration) -> LedgerCall {
        self.number = self.number.wrapping_add(1);
        LedgerCall { number: self.number, path, body, timeout }
    }
}

impl Sent {
    fn ids(&self) -> &[HoldId] {
        match self {
            Self::Settle(ids) | Self::Extend(ids, _) => ids,
        }
    }
}

fn take<T>(waiting: &mut VecDeque<T>) -> Vec<T> {
    waiting.drain(..waiting.len().min(MOST)).collect()
}

fn ids<T>(commands: &[(HoldId, T)]) -> Vec<HoldId> {
    commands.iter().map(|(id, _)| *id).collect()
}

#[derive(Serialize)]
struct Hold<'c> {
    id: String,
    account: &'c str,
    amount: u64,
    bonus: bool,
    ttl: u64,
    note: &'c str,
}

#[derive(Serialize)]
struct Extend {
    id: String,
    hold: String,
    ttl: u64,
}

#[derive(Serialize)]
struct Settle {
    hold: String,
    settlement: OfService,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum OfService {
    Capture(u64),
    Void,
}

impl SettledCounts {
    fn add(&mut self, each: &Each) {
        let count = if each.state.as_deref() == Some("captured") { &mut self.captured } else { &mut self.voided };
        *count = count.saturating_add(1);
        self.orbs = self.orbs.saturating_add(each.captured.unwrap_or_default());
        self.shortfall = self.shortfall.saturating_add(each.shortfall.unwrap_or_default());
    }
}

/// The answer to one command: a receipt has a time, and of a settlement the rest.
#[derive(Deserialize)]
struct Each {
    error: Option<String>,
    at: Option<u64>,
    state: Option<String>,
    captured: Option<u64>,
    shortfall: Option<u64>,
}

impl Each {
    const fn is_done(&self) -> bool {
        self.error.is_none() && self.at.is_some()
    }
}

#[derive(Deserialize)]
#[serde(tag = "hold", rename_all = "snake_case")]
enum Held {
    Held { state: String },
    Denied { reason: String, retry_at: Option<u64> },
}

fn hold_answer(id: HoldId, reply: Option<LedgerReply<'_>>, time: Duration) -> HoldAnswer {
    let Some(reply) = reply else { return HoldAnswer::Lost };
    match (reply.status, read::<Held>(reply.body)) {
        // A repeated hold covers the call only if it is pending.
        (200, Some(Held::Held { state })) if state == "pending" => HoldAnswer::Held,
        (200, Some(Held::Denied { reason, retry_at })) => {
            let Some(detail) = Detail::of_ledgers().find(|detail| detail.as_str() == reason) else {
                return HoldAnswer::Refused;
            };
            let expires_in = retry_at.map(|at| Duration::from_millis(at).saturating_sub(time));
            HoldAnswer::Denied(Unpaid::insufficient(detail, id, expires_in))
        }
        // What can't be read might be held.
        (200, None) | (408 | 429 | 500.., _) => HoldAnswer::Lost,
        _ => HoldAnswer::Refused,
    }
}

/// These structs have nothing that can't be written.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
