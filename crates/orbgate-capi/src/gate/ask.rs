//! The one call of gates: a message in, a message out.

use core::cell::RefCell;
use core::ffi::c_char;
use core::mem;

use super::asking::Asking;
use super::gates::{self, Gates, Seen};
use super::messages::Question;
use super::progress::{Progress, State, Unread};
use super::steps::{Refused, STEPS};
use super::wire::{HEAD, INVALID, MOST_BYTES};
use crate::arguments::{Out, bytes, optional};
use crate::engine::OrbgateEngine;
use crate::status::{OrStatus, OrbgateStatus, caught, guard};

/// Asks a gate a question and writes its answer: messages of `docs/messages.md`, which states for each if it needs `*gate` or
/// `engine`. A gate has no I/O, clock or thread. `Make` writes its handle. `*step` is 0 for a new request. It becomes the handle for
/// the next question, or 0 if the request is over. Each call needs handles in memory of its own. One that is over, in use or of
/// another gate is refused, and never another request's. A handle has at most 53 bits. `answer` has `room` and may be the memory of
/// `question`. If it is too small, `*answer_len` is its need, and an empty question with the same handle gets the answer.
/// The status is `ORBGATE_STATUS_OK` or `TOO_SMALL` whatever a caller or an issuer does; `FULL` if 1,048,320 steps are open, which
/// `orbgate_step_count` counts. With any but the first two, deny, and end a step that isn't 0. Also deny an answer, or a critical
/// field, that you don't know.
/// Allocates: yes. Blocks: yes. Cost: token.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_ask(
    gate: *mut u64,
    engine: *const OrbgateEngine,
    step: *mut u64,
    question: *const c_char,
    question_len: usize,
    answer: *mut c_char,
    room: usize,
    answer_len: *mut usize,
) -> OrbgateStatus {
    let check = || {
        // SAFETY: the caller guarantees it, see the preamble.
        let (given, engine) = unsafe { (optional(gate)?.copied(), optional(engine)?) };
        let to = if room == 0 { None } else { Some(Out::array(answer.cast::<u8>(), room)?) };
        Ok((given, engine, Out::new(step)?, Out::new(answer_len)?, to))
    };
    let (given, engine, step_out, len_out, to) = match check() {
        Ok(arguments) => arguments,
        Err(status) => return status,
    };
    // SAFETY: neither null nor misaligned, and the caller guarantees the rest.
    let current = unsafe { *step };
    let mut handles = Handles { gate: given.unwrap_or_default(), can_make: given == Some(0), step: current };
    let answered = |own: &RefCell<Own>| {
        // No question is asked within another.
        let Own { answer, gates } = &mut *own.try_borrow_mut().map_err(|_| INVALID)?;
        // The answer is written to the same memory, so that no reference to the question may be left.
        // SAFETY: the caller guarantees it, see the preamble.
        let len = handles.ask(engine, unsafe { bytes(question, question_len)? }, room, gates.now(), answer)?;
        if let (true, Some(to)) = (len <= room, to) {
            // SAFETY: the caller guarantees it, and nothing reads `question` any more.
            unsafe { to.copy(answer) }
        }
        if answer.capacity() > KEPT {
            *answer = Vec::new();
        }
        Ok(len)
    };
    // A thread that ends may have nothing of its own left.
    let outcome = caught(|| OWN.try_with(answered).unwrap_or(Err(INVALID)));
    if outcome == Err(OrbgateStatus::Panic) && !STEPS.is_open(handles.step) {
        handles.step = 0;
    }
    // SAFETY: neither null nor misaligned, and the caller guarantees the rest.
    unsafe {
        step_out.write(handles.step);
        if given.is_some_and(|given| given != handles.gate) {
            gate.write(handles.gate);
        }
        match outcome {
            Ok(len) => {
                len_out.write(len);
                if len > room { OrbgateStatus::TooSmall } else { OrbgateStatus::Ok }
            }
            Err(status) => status,
        }
    }
}

/// Ends a step, or a gate with its steps, after a running call. Its handle becomes 0. One that is over is fine. Another thread that
/// has asked keeps what is in memory of a gate, secrets too, until it asks again or ends.
/// Allocates: yes. Blocks: yes. Cost: policy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_step_end(step: *mut u64) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { taken(step, |handle| STEPS.end(handle)) }
}

/// Like `orbgate_step_end`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_gate_end(gate: *mut u64) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { taken(gate, gates::end) }
    let _ = OWN.try_with(|own| own.try_borrow_mut().map(|mut own| own.gates = Gates::NONE));
}

/// Like `orbgate_step_end`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_step_count() -> usize {
    caught(|| Ok(STEPS.open().count())).unwrap_or_default()
}

unsafe fn taken(handle: *mut u64, end: impl FnOnce(u64)) {
    let _ = guard(|| {
        let out = Out::new(handle)?;
        // SAFETY: neither null nor misaligned, and the caller guarantees the rest.
        let given = unsafe { *handle };
        // SAFETY: as above.
        unsafe { out.write(0) }
        end(given);
        Ok(())
    });
}

/// A thread keeps room for answers of this size; few are larger.
const KEPT: usize = 64 << 10;

/// What a thread keeps from one call to the next.
struct Own {
    /// The room for an answer.
    answer: Vec<u8>,
    gates: Gates,
}

thread_local! {
    static OWN: RefCell<Own> = const { RefCell::new(Own { answer: Vec::new(), gates: Gates::NONE }) };
}

#[cfg(test)]
thread_local! {
    /// Whether the next question panics.
    pub(crate) static PANICS: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

#[cfg(test)]
fn can_panic() {
    assert!(!PANICS.take(), "a panic that a test asked for");
}

/// The gate and the step of a call.
struct Handles {
    gate: u64,
    step: u64,
    /// Whether the host takes the handle of a new gate.
    can_make: bool,
}

impl Handles {
    /// The length of the answer, which is in `answer`, or is kept by the step if it has no room there.
    fn ask(
        &mut self,
        engine: Option<&OrbgateEngine>,
        question: &[u8],
        room: usize,
        gates: Seen<'_>,
        answer: &mut Vec<u8>,
    ) -> OrStatus<usize> {
        answer.clear();
        if question.len() == HEAD && matches!(Question::read(question), Ok(Question::Drop)) {
            STEPS.end(mem::take(&mut self.step));
        }
        if self.step == 0 {
            let mut progress = Progress::default();
            let len = self.answered(engine, question, &mut progress, room, gates, answer)?;
            if !matches!(progress.state, State::Idle) {
                let begun = STEPS.begin(self.gate, progress)?;
                self.step = begun;
                if self.gate != 0 && !gates::is_open(self.gate) {
                    STEPS.end(begun);
                    self.step = 0;
                }
            }
            return Ok(len);
        }
        let mut claim = STEPS.claim(self.step, self.gate).map_err(|refused| {
            if refused == Refused::Over {
                self.step = 0;
            }
            INVALID
        })?;
        let outcome = self.answered(engine, question, &mut claim.progress, room, gates, answer);
        self.step = if outcome.is_ok() { claim.release() } else { claim.fail() };
        outcome
    }

    fn answered(
        &mut self,
        engine: Option<&OrbgateEngine>,
        question: &[u8],
        progress: &mut Progress,
        room: usize,
        gates: Seen<'_>,
        answer: &mut Vec<u8>,
    ) -> OrStatus<usize> {
        if question.is_empty() {
            match progress.take() {
                State::Unread(kept) => (Unread(*answer), progress.state) = *kept,
                state => {
                    progress.state = state;
                    return Err(INVALID);
                }
            }
        } else {
            self.answer(engine, question, progress, gates, answer)?;
        }
        let len = answer.len();
        if len > room {
            progress.state = State::Unread(Box::new((Unread(mem::take(answer)), progress.take())));
        }
        Ok(len)
    }

    fn answer(
        &mut self,
        engine: Option<&OrbgateEngine>,
        question: &[u8],
        progress: &mut Progress,
        gates: Seen<'_>,
        answer: &mut Vec<u8>,
    ) -> OrStatus {
        let question = Question::read(question)?;
        let makes = matches!(question, Question::Make(_));
        if !is_next(&question, &progress.state, self.step == 0) || makes && !self.can_make {
            return Err(INVALID);
        }
        if matches!(progress.state, State::Calling(_)) {
            progress.take();
        }
        let gate = match self.gate {
            0 => None,
            _ if matches!(question, Question::Drop) => None,
            handle => Some(gates.find(handle).ok_or(INVALID)?),
        };
        #[cfg(test)]
        can_panic();
        let mut asking = Asking::new(gate, engine, progress, answer);
        asking.answer(question)?;
        let (made, calls) = (asking.made, asking.calls);
        if answer.len() > MOST_BYTES {
            return Err(INVALID);
        }
        if let Some(attempt) = calls {
            progress.state = State::Calling(attempt);
        }
        if let Some(made) = made {
            self.gate = gates::add(*made);
        }
        Ok(())
    }
}

/// Whether a step can be asked this in this state.
const fn is_next(question: &Question<'_>, state: &State, is_new: bool) -> bool {
    match question {
        Question::Ask(ask) if ask.again => matches!(state, State::Known(_)),
        Question::Resume(_) | Question::IsOver(_) => matches!(state, State::Wait(_)),
        Question::Checked(_) => matches!(state, State::Check(_)),
        Question::Body(_) => matches!(state, State::Read(_)),
        Question::Called(called) => matches!(state, State::Calling(attempt) if attempt.number() == called.attempt),
        Question::Hold(_)
        | Question::Held(_)
        | Question::Waited(_)
        | Question::Ended(_)
        | Question::NextLedgerCall(_)
        | Question::LedgerCalled(_)
        | Question::LedgerReplied(_) => matches!(state, State::Orbs(_)),
        Question::ResponseBegins(_) | Question::ResponsePiece(_) => matches!(state, State::Response(_)),
        Question::Reload(_) => is_new || matches!(state, State::Follow(_)),
        Question::Ask(_)
        | Question::Sources(_)
        | Question::Make(_)
        | Question::NextCall(_)
        | Question::Warm(_)
        | Question::Revoke(_)
        | Question::Forget(_)
        | Question::ReadSecrets(_)
        | Question::Status
        | Question::CheckEngine
        | Question::CheckRoutes(_)
        | Question::Drop
        | Question::UseLedger(_)
        | Question::CheckLedger(_)
        | Question::CheckAmounts(_)
        | Question::ReadResponse(_)
        | Question::Visible(_) => is_new,
    }
}
