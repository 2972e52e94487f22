//! The thread that sends commands to a ledger, and again if an answer gets lost.

use core::fmt;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::collections::BTreeMap;
use std::io;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use orbgate::Detail;
use orbgate_gate::{HoldAnswer, HoldCommand, HoldId, Holds, OrbRules, Output, SettleAnswer, Settlement, Unpaid};
use orbgate_ledger::{
    AccountId, Answer, Command, Denial, Denied, Error, Extend, Hold, HoldAnswer as LedgerAnswer, Id, Ledger, Millis,
    Note, Orbs, Reply, Settle, Settled, State,
};
use tokio::sync::oneshot;

use crate::observe;

/// A ledger that layers hold orbs in. Cheap to clone. Make one for each process and ledger, because one heartbeat extends
/// the holds of all running calls.
///
/// Calls wait for the ledger without blocking a thread of the runtime. If the program stops, the holds of running calls
/// expire after [`OrbRules::ttl`], and nothing is charged for them.
#[derive(Clone)]
pub struct OrbLedger {
    shared: Arc<Shared>,
}

struct Shared {
    inputs: Sender<Input>,
    rules: OrbRules,
}

enum Input {
    /// A call waits for its hold.
    Hold(HoldCommand, oneshot::Sender<Result<(), Unpaid>>),
    /// A call has ended.
    Settle(HoldId, Settlement),
    /// The ledger has answered.
    Held(HoldId, Result<Answer, Error>),
    Settled(HoldId, Result<Answer, Error>),
    /// To a command that was sent at this time.
    Extended(HoldId, Duration, Result<Answer, Error>),
    /// Its channel closes when no settlement waits.
    Flush(SyncSender<()>),
    /// No layer is left.
    Stop,
}

impl OrbLedger {
    /// Uses this ledger by these rules. Starts a thread.
    ///
    /// # Errors
    ///
    /// Fails if the rules can't work, or if no thread can be started.
    pub fn start(ledger: impl Into<Arc<dyn Ledger>>, rules: OrbRules) -> Result<Self, OrbLedgerError> {
        rules.check().map_err(OrbLedgerError::Rules)?;
        let (inputs, waiting) = channel();
        let driver = Driver {
            ledger: ledger.into(),
            holds: Holds::new(rules.clone()),
            calls: BTreeMap::new(),
            flushes: Vec::new(),
            inputs: inputs.clone(),
            begun: now(),
            stopping: false,
            lost: 0,
        };
        let thread = thread::Builder::new().name("orbgate-orbs".to_owned());
        thread.spawn(move || driver.run(&waiting)).map_err(OrbLedgerError::Thread)?;
        Ok(Self { shared: Arc::new(Shared { inputs, rules }) })
    }

    /// Waits until all settlements so far are done or lost, at most until their holds expire. Call it before the program
    /// ends, because the thread ends with the program. It blocks the thread.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(0);
        self.send(Input::Flush(done));
        // It closes without a message.
        let _ = wait.recv();
    }

    pub(super) fn rules(&self) -> &OrbRules {
        &self.shared.rules
    }

    /// Holds orbs; the answer comes later. If the caller leaves meanwhile, settle the hold.
    pub(super) fn hold(&self, command: HoldCommand) -> oneshot::Receiver<Result<(), Unpaid>> {
        let (answer, receiver) = oneshot::channel();
        self.send(Input::Hold(command, answer));
        receiver
    }

    pub(super) fn settle(&self, id: HoldId, settlement: Settlement) {
        self.send(Input::Settle(id, settlement));
    }

    fn send(&self, input: Input) {
        // The thread ends only after the last clone.
        let _ = self.shared.inputs.send(input);
    }
}

impl fmt::Debug for OrbLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OrbLedger").field(&self.shared.rules).finish()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let _ = self.inputs.send(Input::Stop);
    }
}

/// Why a ledger can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OrbLedgerError {
    /// The rules can't work.
    #[error("{0}")]
    Rules(&'static str),
    /// No thread can be started.
    #[error("cannot start a thread for the ledger: {0}")]
    Thread(io::Error),
}

struct Driver {
    ledger: Arc<dyn Ledger>,
    holds: Holds,
    calls: BTreeMap<HoldId, oneshot::Sender<Result<(), Unpaid>>>,
    flushes: Vec<SyncSender<()>>,
    inputs: Sender<Input>,
    begun: Instant,
    stopping: bool,
    /// The settlements that were lost and counted.
    lost: u64,
}

impl Driver {
    fn run(mut self, waiting: &Receiver<Input>) {
        loop {
            let pause = self.holds.wake().map(|wake| wake.saturating_sub(self.now()));
            let input = match pause {
                None => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(pause) => waiting.recv_timeout(pause),
            };
            match input {
                Ok(input) => self.take(input),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.holds.tick(self.now());
            while let Some(output) = self.holds.next() {
                self.act(output);
            }
            self.report();
            if self.stopping && self.holds.settling() == 0 {
                return;
            }
        }
    }

    fn now(&self) -> Duration {
        now().saturating_duration_since(self.begun)
    }

    fn take(&mut self, input: Input) {
        let now = self.now();
        match input {
            Input::Hold(command, call) => {
                self.calls.insert(command.id, call);
                self.holds.hold(command, now);
            }
            Input::Settle(id, settlement) => {
                self.calls.remove(&id);
                self.holds.settle(id, settlement, now);
            }
            Input::Held(id, answer) => self.holds.held(id, hold_answer(id, answer), now),
            Input::Settled(id, answer) => self.holds.settled(id, settle_answer(answer), now),
            Input::Extended(id, sent, Ok(_)) => self.holds.extended(id, sent),
            // The next heartbeat asks again.
            Input::Extended(..) => {}
            Input::Flush(done) => self.flushes.push(done),
            Input::Stop => self.stopping = true,
        }
    }

    fn act(&mut self, output: Output) {
        match output {
            Output::Hold(command) => self.send(hold(&command), move |answer| Input::Held(command.id, answer)),
            Output::Settle(id, settlement) => {
                let hold = Id::new(id.to_string());
                let command = hold.map(|hold| Command::Settle(Settle { hold, settlement: of_ledger(settlement) }));
                self.send(command.ok(), move |answer| Input::Settled(id, answer));
            }
            Output::Extend { holds, beat } => {
                let (sent, ttl) = (self.now(), millis(self.holds.rules().ttl));
                for id in holds {
                    let names = (Id::new(format!("{id}.{beat}")), Id::new(id.to_string()));
                    let command = match names {
                        (Ok(id), Ok(hold)) => Some(Command::Extend(Extend { id, hold, ttl })),
                        _ => None,
                    };
                    self.send(command, move |answer| Input::Extended(id, sent, answer));
                }
            }
            Output::Answer(id, answer) => {
                observe::held(match &answer {
                    Ok(()) => "held",
                    Err(Unpaid::Insufficient { .. }) => "denied",
                    Err(_) => "unavailable",
                });
                let call = self.calls.remove(&id);
                let is_held = answer.is_ok();
                let has_left = call.is_none_or(|call| call.send(answer).is_err());
                if has_left && is_held {
                    self.holds.settle(id, Settlement::Void, self.now());
                }
            }
        }
    }

    /// Sends a command, and reports its answer. A ledger that panics or forgets the command gives no answer.
    fn send(&self, command: Option<Command>, input: impl FnOnce(Result<Answer, Error>) -> Input + Send + 'static) {
        let report = Report { inputs: self.inputs.clone(), input: Some(Box::new(input)) };
        let Some(command) = command else {
            return report.done(Err(Error::Conflict));
        };
        let reply: Reply = Box::new(move |answer| report.done(answer));
        if catch_unwind(AssertUnwindSafe(|| self.ledger.submit(command, reply))).is_err() {
            tracing::error!("the ledger panicked");
        }
    }

    fn report(&mut self) {
        let lost = self.holds.lost();
        let newly = lost.saturating_sub(self.lost);
        if newly > 0 {
            tracing::error!(newly, "settlements are lost: the ledger didn't take them before their holds expired");
            observe::settled("lost", newly);
        }
        self.lost = lost;
        observe::settling(self.holds.settling());
        if self.holds.settling() == 0 {
            self.flushes.clear();
        }
    }
}

type ToInput = dyn FnOnce(Result<Answer, Error>) -> Input + Send;

/// Passes an answer to the thread, once. If it is dropped, no answer has come.
struct Report {
    inputs: Sender<Input>,
    input: Option<Box<ToInput>>,
}

impl Report {
    fn done(mut self, answer: Result<Answer, Error>) {
        self.send(answer);
    }

    fn send(&mut self, answer: Result<Answer, Error>) {
        if let Some(input) = self.input.take() {
            let _ = self.inputs.send(input(answer));
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        self.send(Err(Error::Unknown("no answer".to_owned())));
    }
}

/// A hold as the ledger takes it; `None` if a value is out of its range, which the gate has checked.
fn hold(command: &HoldCommand) -> Option<Command> {
    Some(Command::Hold(Hold {
        id: Id::new(command.id.to_string()).ok()?,
        account: AccountId::new(&command.account).ok()?,
        amount: Orbs::new(command.amount).ok()?,
        bonus: command.bonus,
        ttl: millis(command.ttl),
        note: Note::new(&command.note).ok()?,
    }))
}

fn of_ledger(settlement: Settlement) -> orbgate_ledger::Settlement {
    match settlement {
        // The gate has limited it.
        Settlement::Capture(amount) => orbgate_ledger::Settlement::Capture(Orbs::new(amount).unwrap_or_default()),
        Settlement::Void => orbgate_ledger::Settlement::Void,
    }
}

fn hold_answer(id: HoldId, answer: Result<Answer, Error>) -> HoldAnswer {
    match answer {
        // A repeated hold covers the call only if it is pending.
        Ok(Answer::Hold(LedgerAnswer::Held { state: State::Pending, .. })) => HoldAnswer::Held,
        Ok(Answer::Hold(LedgerAnswer::Denied(denied))) => HoldAnswer::Denied(unpaid(id, &denied)),
        Err(Error::Busy | Error::Clock(_) | Error::Unknown(_)) => HoldAnswer::Lost,
        Ok(_) | Err(_) => HoldAnswer::Refused,
    }
}

fn unpaid(id: HoldId, denied: &Denied) -> Unpaid {
    let detail = match denied.reason {
        Denial::Insufficient => Detail::Insufficient,
        Denial::BonusNotAllowed => Detail::BonusNotAllowed,
        Denial::TemporarilyHeld => Detail::TemporarilyHeld,
        Denial::Frozen => Detail::Frozen,
    };
    let retry_at = denied.retry_at.map(|at| Duration::from_millis(at.get()));
    Unpaid::insufficient(detail, id, retry_at.map(|at| at.saturating_sub(since_epoch())))
}

fn settle_answer(answer: Result<Answer, Error>) -> SettleAnswer {
    match answer {
        Ok(Answer::Settled(done)) => {
            let Settled { state, captured, shortfall, .. } = &done.receipt;
            observe::settled(state.name(), 1);
            observe::captured(captured.get(), shortfall.get());
            SettleAnswer::Settled
        }
        Err(Error::Busy | Error::Clock(_) | Error::Unknown(_)) => SettleAnswer::Lost,
        Ok(_) | Err(_) => SettleAnswer::Refused,
    }
}

fn millis(duration: Duration) -> Millis {
    let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Millis::new(milliseconds).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "the gate has no clock: this is the edge")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the gate has no clock: this is the edge")]
fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
