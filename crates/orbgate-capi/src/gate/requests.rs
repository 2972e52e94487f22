//! Answers about a request: its steps, and its result.

use core::time::Duration;
use std::time::UNIX_EPOCH;

use orbgate_gate::{AuditLine, AuditToken, HoldId, Mcp, McpFault, McpRequest, Step, audit_json};
use orbgate_token::VerifiedToken;

use super::asking::Asking;
use super::messages::*;
use super::progress::State;
use super::request::{Asked, Charged, milliseconds, now};
use super::wire::INVALID;
use crate::decision::OrbgateDecision;
use crate::status::{OrStatus, OrbgateStatus};

impl Asking<'_> {
    pub(super) fn ask(&mut self, ask: Ask<'_>) -> OrStatus {
        let known = match (ask.again, self.step.take()) {
            (false, _) => None,
            (true, State::Known(known)) => Some(*known),
            (true, _) => return Err(INVALID),
        };
        let (gate, engine, now) = (self.gate()?, self.engine()?.engine(), now(ask.unix_ms, ask.monotonic_ms)?);
        let unix_ms = ask.unix_ms;
        self.step.charged = Charged::of(&ask)?;
        self.step.keeps = ask.keeps;
        let parts = Asked::of(ask, gate.templates)?;
        self.step.audit = parts.audit();
        let request = parts.request();
        let step = match known {
            None => gate.gate.ask(engine, &request, now),
            Some((None, known)) => gate.gate.decide(engine, &request, known).into(),
            Some((Some(call), known)) => {
                Step::Answer(gate.gate.rules().decide_operation(engine, &call, known, request.matched))
            }
        };
        self.step(step, unix_ms)
    }

    pub(super) fn resume(&mut self, &Resume { unix_ms, monotonic_ms }: &Resume) -> OrStatus {
        let State::Wait(waiting) = self.step.take() else {
            return Err(INVALID);
        };
        let (gate, engine, now) = (self.gate()?, self.engine()?, now(unix_ms, monotonic_ms)?);
        self.step(gate.gate.resume(engine.engine(), waiting, now), unix_ms)
    }

    pub(super) fn checked(&mut self, &Checked { is_right, token_hash, unix_ms, monotonic_ms }: &Checked) -> OrStatus {
        let State::Check(checking) = self.step.take() else {
            return Err(INVALID);
        };
        let (gate, engine, now) = (self.gate()?, self.engine()?, now(unix_ms, monotonic_ms)?);
        let checking = match token_hash {
            0 => *checking,
            hash => checking.hashed(&hash.to_le_bytes()),
        };
        self.step(gate.gate.proceed(engine.engine(), checking, is_right, now), unix_ms)
    }

    pub(super) fn body(&mut self, body: &Body<'_>) -> OrStatus {
        let State::Read(reading) = self.step.take() else {
            return Err(INVALID);
        };
        let (gate, engine) = (self.gate()?, self.engine()?);
        let headers: Vec<_> = body.headers.iter().map(|header| (header.name, header.value)).collect();
        let whole = match body {
            _ if body.too_large => Err(McpFault::TooLarge),
            _ if body.busy => Err(McpFault::Busy),
            _ if body.unreadable => Err(McpFault::Unreadable),
            _ => Ok(body.body),
        };
        let request = McpRequest { headers: &headers, body: whole };
        let answer = gate.gate.rules().decide_body(engine.engine(), *reading, request);
        self.step(Step::Answer(answer), body.unix_ms)
    }

    pub(super) fn is_over(&mut self, &IsOver { monotonic_ms }: &IsOver) -> OrStatus {
        let (gate, State::Wait(waiting)) = (self.gate()?, &self.step.state) else {
            return Err(INVALID);
        };
        let is_over = gate.gate.is_over(waiting.wait(), Duration::from_millis(monotonic_ms));
        Over { is_over }.write(&mut self.to())
    }

    /// Answers with a step, which stays unless it is the result.
    fn step(&mut self, step: Step<'_>, unix_ms: u64) -> OrStatus {
        let may_call = self.gate()?.gate.keys().may_fetch();
        let state = match step {
            Step::Answer(answer) => {
                let charge = answer.decision.charge().filter(|charge| self.step.keeps && charge.consumes);
                let known = charge.map(|_| Box::new((answer.mcp.clone(), answer.credentials.clone())));
                match self.step.charged.take() {
                    Some(charged) => self.charged(answer, charged, unix_ms, may_call)?,
                    None => self.decided(&answer, unix_ms, may_call)?,
                }
                known.map_or(State::Idle, State::Known)
            }
            Step::ReadBody(reading) => {
                let most_bytes = u64::try_from(reading.most_bytes()).unwrap_or(u64::MAX);
                let most_held = u64::try_from(Mcp::MOST_HELD).unwrap_or(u64::MAX);
                ReadBody { most_bytes, may_call, most_held }.write(&mut self.to())?;
                State::Read(Box::new(reading))
            }
            Step::Wait(waiting) => {
                let until_ms = milliseconds(waiting.wait().until);
                Wait { until_ms, may_call }.write(&mut self.to())?;
                State::Wait(waiting)
            }
            Step::CheckSignature(checking) => {
                let check = checking.check();
                let told = CheckSignature {
                    algorithm: check.algorithm().as_str(),
                    key: check.key(),
                    token: check.token(),
                    signed: u64::try_from(check.message().len()).unwrap_or_default(),
                    signature: check.signature(),
                    may_call,
                };
                told.write(&mut self.to())?;
                State::Check(Box::new(checking))
            }
        };
        self.step.state = state;
        Ok(())
    }

    /// The line for an audit log, if the host wants it.
    pub(super) fn audit(
        &self,
        answer: &orbgate_gate::Answer<'_>,
        unix_ms: u64,
        hold: Option<HoldId>,
    ) -> OrStatus<Option<String>> {
        let line = |reads_bonus_orbs| {
            let line = AuditLine::new(unix_ms, &answer.decision, AuditToken::from(&answer.credentials)).held(hold);
            // Strings and numbers, which JSON can always represent.
            audit_json(&line, reads_bonus_orbs).map_err(|_| OrbgateStatus::Panic)
        };
        self.step.audit.map(line).transpose()
    }

    pub(super) fn decided(&mut self, answer: &orbgate_gate::Answer<'_>, unix_ms: u64, may_call: bool) -> OrStatus {
        let audit = self.audit(answer, unix_ms, None)?;
        let denial = answer.denial.as_ref();
        let fingerprint = answer.token().map(|token| token.fingerprint().to_string());
        let content_type = denial.and_then(|denial| denial.content_type()).map(|value| ("content-type", value));
        let headers = denial.map_or(&answer.headers, |denial| &denial.headers).iter();
        let headers = headers.map(|(name, value)| (*name, &**value)).chain(content_type);
        let told = Answer {
            packed: OrbgateDecision::new(self.engine()?.policy(), &answer.decision).pack_with_about(),
            http_status: denial.map_or(0, |denial| denial.status.into()),
            preflight: answer.preflight,
            www_authenticate: denial.and_then(|denial| denial.www_authenticate.as_deref()),
            allow: denial.and_then(|denial| denial.allow.as_deref()),
            refused: answer.refused().unwrap_or_default(),
            misrouted: answer.misrouted.as_ref().map(|misrouted| &*misrouted.matched),
            public_template: answer.template().unwrap_or_default(),
            audit: audit.as_deref(),
            token: answer.token().map(|token| known(token, fingerprint.as_deref().unwrap_or_default())),
            may_call,
            body: denial.and_then(|denial| denial.body.as_deref()),
            headers: headers.map(|(name, value)| CallHeader { name, value }).collect(),
            retry_after: denial.and_then(|denial| denial.retry_after).unwrap_or_default(),
        };
        told.write(&mut self.to())
    }
}

fn known<'t>(token: &'t VerifiedToken, fingerprint: &'t str) -> Token<'t> {
    Token {
        kind: token.kind().number().into(),
        scopes: token.scopes(),
        issuer: token.issuer(),
        subject: token.subject().unwrap_or_default(),
        client: token.client().unwrap_or_default(),
        actor: token.actor().unwrap_or_default(),
        id: token.id().unwrap_or_default(),
        fingerprint,
        expires_ms: milliseconds(token.expires().duration_since(UNIX_EPOCH).unwrap_or_default()),
    }
}
