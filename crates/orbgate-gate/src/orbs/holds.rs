//! The holds of a program: what is sent to the ledger when, and again if an answer gets lost.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::orbs::charge::{HoldCommand, HoldId, Unpaid};
use crate::orbs::outcome::Settlement;
use crate::orbs::rules::OrbRules;

/// All holds of a program that aren't settled yet.
///
/// After each call, take every [`Holds::next`] and do it; call [`Holds::tick`] at [`Holds::wake`]. Times are those of a
/// monotonic clock. There can be as many holds as calls that run, and [`OrbRules::queue`] settlements that wait.
#[derive(Debug)]
pub struct Holds {
    rules: OrbRules,
    calls: BTreeMap<HoldId, Call>,
    /// When something is due. A call has at most one time.
    due: BTreeSet<(Duration, HoldId)>,
    outputs: VecDeque<Output>,
    settling: usize,
    beats: u64,
    next_beat: Option<Duration>,
    lost: u64,
}

/// What the program must do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum Output {
    /// Send this to the ledger, and report with [`Holds::held`]. It can be sent several times.
    Hold(HoldCommand),
    /// Send all of it to the ledger at once, and report each with [`Holds::extended`].
    Extend {
        /// The holds of all calls that run.
        holds: Vec<HoldId>,
        /// The number of this extension, which makes its ids.
        beat: u64,
    },
    /// Send this to the ledger, and report with [`Holds::settled`]. It can be sent several times.
    Settle(HoldId, Settlement),
    /// Let the call with this hold continue: run its handler, or deny it.
    Answer(HoldId, Result<(), Unpaid>),
}

/// The ledger's answer to a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver knows each")]
pub enum HoldAnswer {
    /// The orbs are held.
    Held,
    /// The account doesn't have enough.
    Denied(Unpaid),
    /// No answer, or the ledger was busy: the same hold is sent again.
    Lost,
    /// The hold can't be held any more, or the ledger doesn't take it.
    Refused,
}

/// The ledger's answer to a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver knows each")]
pub enum SettleAnswer {
    /// It is settled so.
    Settled,
    /// No answer, or the ledger was busy: the same settlement is sent again.
    Lost,
    /// The hold was settled otherwise, or the ledger doesn't take it.
    Refused,
}

#[derive(Debug)]
struct Call {
    state: State,
    /// When the hold expires at the earliest.
    expires: Duration,
    /// Its time in [`Holds::due`].
    due: Option<Duration>,
}

#[derive(Debug)]
enum State {
    /// The call waits for the ledger, until this time.
    Asking { command: HoldCommand, until: Duration },
    /// The handler runs.
    Running,
    /// The handler has ended; so many attempts have failed, and one is under way or not.
    Settling { settlement: Settlement, failed: u32, sent: bool },
}

/// Between two attempts to hold.
const HOLD_PAUSE: Duration = Duration::from_millis(50);

/// After the first attempt to settle. The pause doubles until it is [`MOST_PAUSE`].
const SETTLE_PAUSE: Duration = Duration::from_millis(100);
const MOST_PAUSE: Duration = Duration::from_secs(5);

/// An attempt to settle without an answer has failed after this time.
const SETTLE_PATIENCE: Duration = Duration::from_secs(30);

impl Holds {
    /// No holds.
    #[must_use]
    pub const fn new(rules: OrbRules) -> Self {
        Self {
            rules,
            calls: BTreeMap::new(),
            due: BTreeSet::new(),
            outputs: VecDeque::new(),
            settling: 0,
            beats: 0,
            next_beat: None,
            lost: 0,
        }
    }

    /// What the program must do next.
    #[allow(clippy::should_implement_trait, reason = "more can come after the last one")]
    pub fn next(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to call [`Holds::tick`].
    #[must_use]
    pub fn wake(&self) -> Option<Duration> {
        let due = self.due.first().map(|(time, _)| *time);
        [due, self.next_beat].into_iter().flatten().min()
    }

    /// The rules.
    #[must_use]
    pub const fn rules(&self) -> &OrbRules {
        &self.rules
    }

    /// How many settlements wait for the ledger.
    #[must_use]
    pub const fn settling(&self) -> usize {
        self.settling
    }

    /// How many settlements were given up, because their hold has expired or the ledger refused them.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// A call waits for its hold. If too many settlements wait, it is denied.
    pub fn hold(&mut self, command: HoldCommand, now: Duration) {
        let id = command.id;
        if self.settling >= self.rules.queue || self.calls.contains_key(&id) {
            return self.outputs.push_back(Output::Answer(id, Err(Unpaid::Unavailable)));
        }
        let until = now.saturating_add(self.rules.timeout);
        let expires = now.saturating_add(command.ttl);
        self.outputs.push_back(Output::Hold(command.clone()));
        self.calls.insert(id, Call { state: State::Asking { command, until }, expires, due: None });
        self.due_at(id, Some(until));
    }

    /// The ledger has answered a hold.
    pub fn held(&mut self, id: HoldId, answer: HoldAnswer, now: Duration) {
        let Some(Call { state, .. }) = self.calls.get_mut(&id) else {
            return;
        };
        // After its timeout the call is denied, and the hold is voided.
        let State::Asking { until, .. } = state else {
            return;
        };
        let until = *until;
        match answer {
            HoldAnswer::Held => {
                *state = State::Running;
                self.due_at(id, None);
                self.next_beat.get_or_insert_with(|| now.saturating_add(self.rules.beat()));
                self.outputs.push_back(Output::Answer(id, Ok(())));
            }
            HoldAnswer::Denied(unpaid) => self.deny(id, unpaid),
            HoldAnswer::Refused => self.deny(id, Unpaid::Unavailable),
            HoldAnswer::Lost => self.due_at(id, Some(now.saturating_add(HOLD_PAUSE).min(until))),
        }
    }

    /// A handler has ended, or a call that still waits for its hold: then pass [`Settlement::Void`].
    pub fn settle(&mut self, id: HoldId, settlement: Settlement, now: Duration) {
        match self.calls.get(&id).map(|call| &call.state) {
            Some(State::Running) => self.start_settling(id, settlement, now),
            Some(State::Asking { .. }) => self.start_settling(id, Settlement::Void, now),
            Some(State::Settling { .. }) | None => {}
        }
    }

    /// The ledger has answered a settlement.
    pub fn settled(&mut self, id: HoldId, answer: SettleAnswer, now: Duration) {
        let Some(Call { state: State::Settling { failed, sent, .. }, expires, .. }) = self.calls.get_mut(&id) else {
            return;
        };
        match answer {
            SettleAnswer::Settled => self.forget(id),
            SettleAnswer::Refused => self.lose(id),
            SettleAnswer::Lost => {
                let pause = SETTLE_PAUSE.saturating_mul(1_u32.checked_shl(*failed).unwrap_or(u32::MAX));
                (*failed, *sent) = (failed.saturating_add(1), false);
                let again = now.saturating_add(pause.min(MOST_PAUSE));
                match again < *expires {
                    true => self.due_at(id, Some(again)),
                    false => self.lose(id),
                }
            }
        }
    }

    /// The ledger has extended a hold by the command that was sent at this time.
    pub fn extended(&mut self, id: HoldId, sent: Duration) {
        if let Some(call) = self.calls.get_mut(&id) {
            call.expires = call.expires.max(sent.saturating_add(self.rules.ttl));
        }
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Duration) {
        while let Some((time, id)) = self.due.first().copied()
            && time <= now
        {
            self.due_at(id, None);
            match self.calls.get(&id).map(|call| &call.state) {
                Some(State::Asking { until, .. }) if *until <= now => {
                    self.outputs.push_back(Output::Answer(id, Err(Unpaid::Unavailable)));
                    // The ledger might hold it nevertheless, even later.
                    self.start_settling(id, Settlement::Void, now);
                }
                Some(State::Asking { command, until }) => {
                    let (command, until) = (command.clone(), *until);
                    self.outputs.push_back(Output::Hold(command));
                    self.due_at(id, Some(until));
                }
                Some(State::Settling { sent: true, .. }) => self.settled(id, SettleAnswer::Lost, now),
                Some(State::Settling { settlement, failed, .. }) => self.send(id, *settlement, *failed, now),
                Some(State::Running) | None => {}
            }
        }
        if self.next_beat.is_some_and(|beat| beat <= now) {
            self.beat(now);
        }
    }

    /// Until when a call waits for the ledger.
    pub(super) fn until(&self, id: HoldId) -> Option<Duration> {
        match self.calls.get(&id)?.state {
            State::Asking { until, .. } => Some(until),
            State::Running | State::Settling { .. } => None,
        }
    }

    /// Extends the holds of all calls that run, with one output.
    fn beat(&mut self, now: Duration) {
        let running = self.calls.iter().filter(|(_, call)| matches!(call.state, State::Running));
        let holds: Vec<_> = running.map(|(id, _)| *id).collect();
        self.next_beat = (!holds.is_empty()).then(|| now.saturating_add(self.rules.beat()));
        if !holds.is_empty() {
            self.beats = self.beats.saturating_add(1);
            self.outputs.push_back(Output::Extend { holds, beat: self.beats });
        }
    }

    fn start_settling(&mut self, id: HoldId, settlement: Settlement, now: Duration) {
        self.settling = self.settling.saturating_add(1);
        self.send(id, settlement, 0, now);
    }

    fn send(&mut self, id: HoldId, settlement: Settlement, failed: u32, now: Duration) {
        if let Some(call) = self.calls.get_mut(&id) {
            call.state = State::Settling { settlement, failed, sent: true };
            self.outputs.push_back(Output::Settle(id, settlement));
            self.due_at(id, Some(now.saturating_add(SETTLE_PATIENCE)));
        }
    }

    fn deny(&mut self, id: HoldId, unpaid: Unpaid) {
        self.forget(id);
        self.outputs.push_back(Output::Answer(id, Err(unpaid)));
    }

    fn lose(&mut self, id: HoldId) {
        self.lost = self.lost.saturating_add(1);
        self.forget(id);
    }

    fn forget(&mut self, id: HoldId) {
        self.due_at(id, None);
        if let Some(Call { state: State::Settling { .. }, .. }) = self.calls.remove(&id) {
            self.settling = self.settling.saturating_sub(1);
        }
    }

    /// Sets the time of a call.
    fn due_at(&mut self, id: HoldId, time: Option<Duration>) {
        let Some(call) = self.calls.get_mut(&id) else {
            return;
        };
        if let Some(before) = core::mem::replace(&mut call.due, time) {
            self.due.remove(&(before, id));
        }
        if let Some(time) = time {
            self.due.insert((time, id));
        }
    }
}
