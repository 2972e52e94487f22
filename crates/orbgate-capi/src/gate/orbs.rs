//! Orbs in a ledger service: what a call must hold, and the holds of a process, which a step keeps.

use core::time::Duration;

use orbgate_gate::{
    Amount, Charging, HandlerOutcome, HoldCommand, HoldStep as Next, LedgerAddress, LedgerReply, McpCall, McpEnd,
    McpOrbs, McpResponse, OnCancelled, OrbRules, RemoteHolds, Statement, Uncharged, Unpaid,
};
use orbgate_token::ConfigError;

use super::asking::Asking;
use super::messages::*;
use super::options::invalid;
use super::progress::State;
use super::request::{Charged, UNAVAILABLE, details, hold_id as id, milliseconds};
use super::wire::INVALID;
use crate::error::OrbgateError;
use crate::status::{OrStatus, OrbgateStatus};

impl Asking<'_> {
    /// Answers an allowed request whose handler is about to run.
    pub(super) fn charged(
        &mut self,
        answer: orbgate_gate::Answer<'_>,
        charged: Charged,
        unix_ms: u64,
        may_call: bool,
    ) -> OrStatus {
        let (amount, hold) = match charged {
            Charged::Amount(amount, hold) => (amount, hold),
            // Whether the call consumes at all is asked again.
            Charged::Unpaid(_) => (Amount::Of(1), None),
        };
        // The outcome is another question.
        let rules = OrbRules::new(OnCancelled::Void);
        let unpaid = match (rules.charge(&answer, |_, _| amount, [0; 16]), charged) {
            (Charging::Nothing, _) => None,
            (Charging::Deny(unpaid), _) | (Charging::Hold(_), Charged::Unpaid(unpaid)) => Some(unpaid),
            (Charging::Hold(command), Charged::Amount(..)) => {
                let (audit, hold_id) = (self.audit(&answer, unix_ms, hold)?, hold.map(|id| id.to_string()));
                let told = Charge {
                    account: command.account.as_bytes(),
                    amount: command.amount,
                    bonus: command.bonus,
                    note: command.note.as_bytes(),
                    mcp_id: answer.mcp.as_ref().and_then(McpCall::id).unwrap_or_default().as_bytes(),
                    mcp_legacy: answer.mcp.as_ref().is_some_and(McpCall::is_legacy),
                    mcp_session: answer.mcp.as_ref().is_some_and(McpCall::is_in_session),
                    audit: audit.as_deref(),
                    hold_id: hold_id.as_deref().unwrap_or_default(),
                };
                return told.write(&mut self.to());
            }
        };
        let answer = match unpaid {
            Some(unpaid) => self.gate()?.gate.rules().unpaid(answer, unpaid),
            None => answer,
        };
        self.decided(&answer, unix_ms, may_call)
    }

    pub(super) fn use_ledger(&mut self, question: &UseLedger) -> OrStatus {
        let costs = |captures, voids| match (captures, voids) {
            (true, false) => Some(OnCancelled::Capture),
            (false, true) => Some(OnCancelled::Void),
            (true, true) => Some(OnCancelled::Stated),
            (false, false) => None,
        };
        let on_cancelled = costs(question.captures_cancelled, question.voids_cancelled);
        let mut rules = OrbRules::new(on_cancelled.ok_or(INVALID)?);
        rules.on_broken = costs(question.captures_broken, question.voids_broken);
        let on_tool_error = costs(question.captures_tool_errors, question.voids_tool_errors);
        let on_input_required = costs(question.captures_input_required, question.voids_input_required);
        rules.mcp = match (on_tool_error, on_input_required) {
            (Some(on_tool_error), Some(on_input_required)) => Some(McpOrbs { on_tool_error, on_input_required }),
            (None, None) => None,
            _ => return Err(INVALID),
        };
        for (to, from) in [(&mut rules.ttl, question.ttl_ms), (&mut rules.timeout, question.timeout_ms)] {
            if from != 0 {
                *to = Duration::from_millis(from);
            }
        }
        if question.ceiling != 0 {
            rules.ceiling = question.ceiling;
        }
        if question.queue != 0 {
            rules.queue = usize::try_from(question.queue).map_err(|_| INVALID)?;
        }
        if let Err(message) = rules.check() {
            return self.failed(&refused(message));
        }
        self.step.state = State::Orbs(Box::new(RemoteHolds::new(rules)));
        self.ledgered()
    }

    fn holds(&mut self) -> OrStatus<&mut RemoteHolds> {
        match &mut self.step.state {
            State::Orbs(holds) => Ok(holds),
            _ => Err(INVALID),
        }
    }

    pub(super) fn hold(&mut self, question: &Hold<'_>) -> OrStatus {
        let text = |bytes| str::from_utf8(bytes).map(str::to_owned).map_err(|_| INVALID);
        let (account, note, id) = (text(question.account)?, text(question.note)?, id(question.id)?);
        let holds = self.holds()?;
        let command = HoldCommand::new(id, account, question.amount, question.bonus, holds.rules().ttl, note);
        let next = holds.hold(command, Duration::from_millis(question.monotonic_ms));
        self.next(&next)
    }

    pub(super) fn held(&mut self, question: &Held<'_>) -> OrStatus {
        let reply = reply(question.status, question.body)?;
        let (now, time) = (Duration::from_millis(question.monotonic_ms), Duration::from_millis(question.unix_ms));
        let next = self.holds()?.held(id(question.id)?, reply, now, time);
        self.next(&next)
    }

    pub(super) fn waited(&mut self, question: &Waited<'_>) -> OrStatus {
        let next = self.holds()?.waited(id(question.id)?, Duration::from_millis(question.monotonic_ms));
        self.next(&next)
    }

    fn next(&mut self, next: &Next) -> OrStatus {
        let mut told = HoldStep::default();
        match next {
            Next::Run => (told.may_run, told.result) = (true, "held"),
            Next::Call(call) => {
                (told.path, told.body) = (call.path, call.body.as_bytes());
                told.timeout_ms = milliseconds(call.timeout).max(1);
            }
            Next::Wait(until) => told.until_ms = milliseconds(*until).max(1),
            Next::Deny(unpaid) => {
                (told.unpaid, told.retry_after_ms) = numbers(*unpaid);
                told.result = if told.unpaid == UNAVAILABLE { "unavailable" } else { "denied" };
            }
        }
        told.write(&mut self.to())
    }

    pub(super) fn ended(&mut self, question: &Ended<'_>) -> OrStatus {
        let (id, now) = (id(question.id)?, Duration::from_millis(question.monotonic_ms));
        let stated = question.is_stated.then_some(question.stated);
        if question.never_ran {
            self.holds()?.not_run(id, now);
            return self.ledgered();
        }
        let outcome = match u16::try_from(question.status).map_err(|_| INVALID)? {
            _ if question.cancelled => HandlerOutcome::Cancelled,
            _ if question.broken => HandlerOutcome::Broken,
            0 => HandlerOutcome::Failed,
            status => HandlerOutcome::Status(status),
        };
        let response = match question.response {
            0 => None,
            number => Some(u8::try_from(number).ok().and_then(McpEnd::of_number).ok_or(INVALID)?),
        };
        let statement = self.holds()?.ended(id, outcome, response, stated, now);
        self.ledgered_with(statement.as_ref().map_or("", |statement| &statement.text))
    }

    pub(super) fn read_response(&mut self, question: &ReadResponse<'_>) -> OrStatus {
        let id = str::from_utf8(question.mcp_id).map_err(|_| INVALID)?;
        let response = McpResponse::new(id, question.mcp_legacy).in_session(question.mcp_session);
        self.step.state = State::Response(Box::new(response));
        self.responded(|_| true)
    }

    pub(super) fn response_begins(&mut self, question: &ResponseBegins<'_>) -> OrStatus {
        let headers: Vec<_> = question.headers.iter().map(|header| (header.name, header.value)).collect();
        self.responded(|response| response.begin(&headers))
    }

    pub(super) fn response_piece(&mut self, question: &ResponsePiece<'_>) -> OrStatus {
        self.responded(|response| response.read(question.piece))
    }

    fn responded(&mut self, take: impl FnOnce(&mut McpResponse) -> bool) -> OrStatus {
        let State::Response(response) = &mut self.step.state else {
            return Err(INVALID);
        };
        let told = Responded { reads: take(response), end: response.end().number().into() };
        told.write(&mut self.to())
    }

    pub(super) fn next_ledger_call(&mut self, question: &NextLedgerCall) -> OrStatus {
        let Some(call) = self.holds()?.next_call(Duration::from_millis(question.monotonic_ms)) else {
            return self.ledgered();
        };
        let told = LedgerCall {
            call: call.number,
            path: call.path,
            body: call.body.as_bytes(),
            timeout_ms: milliseconds(call.timeout),
        };
        told.write(&mut self.to())
    }

    fn ledgered(&mut self) -> OrStatus {
        self.ledgered_with("")
    }

    fn ledgered_with(&mut self, notice: &str) -> OrStatus {
        let holds = self.holds()?;
        let (settled, wake) = (holds.settled(), holds.wake());
        let told = Ledgered {
            wakes: wake.is_some(),
            wake_ms: wake.map_or(0, milliseconds),
            waiting: u64::try_from(holds.settling()).unwrap_or(u64::MAX),
            captured: settled.captured,
            voided: settled.voided,
            lost: holds.lost(),
            over: settled.over,
            notice,
        };
        told.write(&mut self.to())
    }

    pub(super) fn ledger_called(&mut self, question: &LedgerCalled<'_>) -> OrStatus {
        let reply = reply(question.status, question.body)?;
        self.holds()?.called(question.call, reply, Duration::from_millis(question.monotonic_ms));
        self.ledgered()
    }

    pub(super) fn ledger_replied(&mut self, question: &LedgerReplied<'_>) -> OrStatus {
        let reply = reply(question.status, question.body)?.ok_or(question.failure);
        match self.holds()?.notice(question.url, reply) {
            Some(notice) => self.stated(Ok(notice)),
            None => self.done(),
        }
    }

    pub(super) fn check_ledger(&mut self, question: &CheckLedger<'_>) -> OrStatus {
        let read =
            LedgerAddress::new(question.url).and_then(|address| Ok((address, LedgerAddress::secret(question.secret)?)));
        let (address, secret) = match read {
            Ok(read) => read,
            Err(message) => return self.failed(&refused(message)),
        };
        let told = LedgerAt {
            base: &address.to_string(),
            socket: address.socket.as_deref().unwrap_or_default(),
            secret,
            most_bytes: u64::try_from(LedgerReply::MOST_BYTES).unwrap_or(u64::MAX),
        };
        told.write(&mut self.to())
    }

    pub(super) fn check_amounts(&mut self, question: &CheckAmounts<'_>) -> OrStatus {
        let engine = self.engine()?.engine();
        let stated: Vec<_> = question.functions.iter().map(|route| (*route).to_owned()).collect();
        if let Some(name) = OrbRules::unknown_route(engine, &stated) {
            return self.failed(&refused(&format!("the policy has no route `{name}`")));
        }
        match self.gate {
            Some(gate) => self.stated(gate.charges(true, &question.functions).statement(engine)),
            None => match OrbRules::check_amounts(engine, &stated) {
                Ok(()) => self.done(),
                Err(error) => self.failed(&invalid(&error)),
            },
        }
    }

    /// How a gate charges, for the host's log.
    pub(super) fn stated(&mut self, stated: Result<Statement, Uncharged>) -> OrStatus {
        match stated {
            Ok(Statement { level, text }) => Done { notices: &text, levels: level.as_str() }.write(&mut self.to()),
            Err(Uncharged::NoAmount(error)) => self.failed(&invalid(&error)),
            Err(Uncharged::NoAccount(error)) => {
                self.failed(&OrbgateError::tokens(&ConfigError::of_whole(error.to_string())))
            }
        }
    }
}

fn refused(message: &str) -> OrbgateError {
    OrbgateError::new(OrbgateStatus::InvalidConfiguration, None, message.to_owned())
}

/// `None` without an answer.
fn reply(status: u64, body: &[u8]) -> OrStatus<Option<LedgerReply<'_>>> {
    let status = u16::try_from(status).map_err(|_| INVALID)?;
    Ok((status != 0).then_some(LedgerReply { status, body }))
}

fn numbers(unpaid: Unpaid) -> (u64, u64) {
    match unpaid {
        Unpaid::Insufficient { detail, retry_after } => {
            let number = details().find_map(|(number, known)| (known == detail).then_some(number)).unwrap_or(1);
            (number, retry_after.map_or(0, milliseconds))
        }
        _ => (UNAVAILABLE, 0),
    }
}
