//! The answer to a question. `docs/messages.md` describes the messages.

use core::time::Duration;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use orbgate::TokenKind;
use orbgate_gate::{
    AuditLine, AuditToken, Follower, HoldId, Mcp, McpFault, McpRequest, Metadata, RoutesDiffer, Step, Undeclared,
    audit_json, check_routes,
};
use orbgate_token::{AttemptId, Fetch, Notice, Post, Response, VerifiedToken};

use super::fetch::failure;
use super::messages::*;
use super::object::OrbgateGate;
use super::options::{Options, invalid, number, templates};
use super::progress::{Progress, State};
use super::reload::{refusal, reload};
use super::request::{Asked, Charged, milliseconds, now};
use super::routes::{ORBGATE_DIFFERENCE_UNDECLARED, ORBGATE_DIFFERENCE_UNSERVED};
use super::verifier::{ORBGATE_SECRET_ENV, ORBGATE_SECRET_FILE, ORBGATE_SECRET_KEYS, read_verifier, reader};
use super::wire::{INVALID, Writer};
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngine;
use crate::error::OrbgateError;
use crate::status::{OrStatus, OrbgateStatus};

/// A question, and what it is about.
pub(super) struct Asking<'c> {
    pub(super) gate: Option<&'c OrbgateGate>,
    engine: Option<&'c OrbgateEngine>,
    pub(super) step: &'c mut Progress,
    memory: &'c mut Vec<u8>,
    /// The gate that it has made.
    pub(super) made: Option<Box<OrbgateGate>>,
    /// The attempt for which the host makes a call.
    pub(super) calls: Option<AttemptId>,
}

impl<'c> Asking<'c> {
    pub(super) const fn new(
        gate: Option<&'c OrbgateGate>,
        engine: Option<&'c OrbgateEngine>,
        step: &'c mut Progress,
        memory: &'c mut Vec<u8>,
    ) -> Self {
        Self { gate, engine, step, memory, made: None, calls: None }
    }

    pub(super) fn gate(&self) -> OrStatus<&'c OrbgateGate> {
        self.gate.ok_or(INVALID)
    }

    pub(super) fn engine(&self) -> OrStatus<&'c OrbgateEngine> {
        self.engine.ok_or(INVALID)
    }

    pub(super) fn to(&mut self) -> Writer<'_> {
        Writer::over(self.memory)
    }

    pub(super) fn done(&mut self) -> OrStatus {
        Done::default().write(&mut self.to())
    }

    pub(super) fn answer(&mut self, question: Question<'_>) -> OrStatus {
        match question {
            Question::Sources(sources) => self.sources(&sources),
            Question::Make(make) => match made(&make) {
                Ok(gate) => {
                    self.made = Some(Box::new(gate));
                    self.done()
                }
                Err(error) => self.failed(&error),
            },
            Question::Ask(ask) => {
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
            Question::Resume(Resume { unix_ms, monotonic_ms }) => {
                let State::Wait(waiting) = self.step.take() else {
                    return Err(INVALID);
                };
                let (gate, engine, now) = (self.gate()?, self.engine()?, now(unix_ms, monotonic_ms)?);
                self.step(gate.gate.resume(engine.engine(), waiting, now), unix_ms)
            }
            Question::Checked(Checked { is_right, token_hash, unix_ms, monotonic_ms }) => {
                let State::Check(checking) = self.step.take() else {
                    return Err(INVALID);
                };
                let (gate, engine, now) = (self.gate()?, self.engine()?, now(unix_ms, monotonic_ms)?);
                let checking = match token_hash {
                    0 => *checking,
                    hash => checking.hashed(&hash.to_le_bytes()),
                };
                let next = gate.gate.checked(engine.engine(), checking, is_right, now);
                self.step(next.into(), unix_ms)
            }
            Question::Body(body) => {
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
            Question::IsOver(IsOver { monotonic_ms }) => {
                let (gate, State::Wait(waiting)) = (self.gate()?, &self.step.state) else {
                    return Err(INVALID);
                };
                let is_over = gate.gate.is_over(waiting.wait(), Duration::from_millis(monotonic_ms));
                Over { is_over }.write(&mut self.to())
            }
            Question::NextCall(NextCall { monotonic_ms }) => {
                let (gate, now) = (&self.gate()?.gate, Duration::from_millis(monotonic_ms));
                match gate.next_fetch(now) {
                    None => {
                        let notices = gate.keys().notices(now);
                        let lines = |line: fn(&Notice) -> &str| notices.iter().map(line).collect::<Vec<_>>().join("\n");
                        let (notices, levels) = (lines(|notice| &notice.text), lines(|notice| notice.level.as_str()));
                        Done { notices: &notices, levels: &levels }.write(&mut self.to())
                    }
                    next => self.call(next),
                }
            }
            Question::Called(called) => self.called(&called),
            Question::Warm(Warm { monotonic_ms }) => {
                // The first tokens wait for the keys themselves.
                let _ = self.gate()?.gate.warm(Duration::from_millis(monotonic_ms));
                self.done()
            }
            Question::Revoke(Revoke { issuer, kid }) => {
                let gate = self.gate()?;
                gate.gate.keys().revoke(gate.issuer(issuer)?, kid);
                self.done()
            }
            Question::Forget(Forget { issuer }) => {
                let gate = self.gate()?;
                // Nothing waits for a running attempt, because its result is discarded.
                let _ = gate.gate.keys().forget(gate.issuer(issuer)?);
                self.done()
            }
            Question::ReadSecrets(ReadSecrets { secrets }) => {
                let keys = self.gate()?.gate.keys();
                let given = given(&secrets);
                match keys.read_secrets(reader(&given, keys.secrets().count())?) {
                    Ok(()) => self.done(),
                    Err(error) => self.failed(&OrbgateError::tokens(&error)),
                }
            }
            Question::Status => self.status(),
            Question::CheckEngine => {
                let (gate, engine) = (self.gate()?, self.engine()?);
                let rules = gate.gate.rules();
                let public = rules.public.as_ref().map_or(Ok(()), |public| public.check(engine.engine()));
                let mcp = rules.mcp.as_ref().map_or(Ok(()), |mcp| mcp.check(engine.engine()));
                match (public, mcp) {
                    (Ok(()), Ok(())) => self.stated(gate.charges(false, &[]).statement(engine.engine())),
                    (Err(error), _) => self.failed(&invalid(&error)),
                    (_, Err(error)) => self.failed(&invalid(&error)),
                }
            }
            Question::CheckRoutes(question) => self.routes(&question),
            Question::Reload(question) => self.reload(&question),
            Question::UseLedger(question) => self.use_ledger(&question),
            Question::Hold(question) => self.hold(&question),
            Question::Held(question) => self.held(&question),
            Question::Waited(question) => self.waited(&question),
            Question::Ended(question) => self.ended(&question),
            Question::NextLedgerCall(question) => self.next_ledger_call(&question),
            Question::LedgerCalled(question) => self.ledger_called(&question),
            Question::CheckAmounts(question) => self.check_amounts(&question),
            Question::ReadResponse(question) => self.read_response(&question),
            Question::ResponseBegins(question) => self.response_begins(&question),
            Question::ResponsePiece(question) => self.response_piece(&question),
            Question::Visible(question) => self.visible(&question),
            Question::Drop => {
                self.step.state = State::Idle;
                self.done()
            }
        }
    }

    fn visible(&mut self, question: &Visible<'_>) -> OrStatus {
        let (mcp, engine) = (self.gate()?.gate.rules().mcp.as_deref().ok_or(INVALID)?, self.engine()?);
        let kind = TokenKind::ALL.into_iter().find(|kind| u64::from(kind.number()) == question.kind);
        let token = orbgate::Token { kind: kind.unwrap_or_default(), scopes: question.scopes.into() };
        let names = mcp.visible(engine.engine(), token, question.method, question.names.iter().copied());
        VisibleNames { names: &names.join("\n") }.write(&mut self.to())
    }

    fn reload(&mut self, question: &Reload<'_>) -> OrStatus {
        let (gate, active, interval) =
            (self.gate()?, self.engine.map(OrbgateEngine::engine), Duration::from_millis(question.interval_ms));
        let mut follower = match self.step.take() {
            _ if interval.is_zero() => None,
            State::Follow(follower) => Some(follower),
            _ => Some(Box::new(Follower::new(interval))),
        };
        let outcome = reload(gate, active, follower.as_deref_mut(), question, &given(&question.secrets))?;
        let error = outcome.error.as_ref().map(|error| refusal(error, question.file));
        let (status, reason, diagnostics) = error.as_ref().map_or((0, "", Vec::new()), |error| {
            let (status, reason, located) = error.parts();
            (u64::try_from(status.number()).unwrap_or_default(), reason, diagnostics(located))
        });
        let told = Loaded {
            is_loaded: outcome.engine.is_some(),
            result: outcome.result,
            message: &outcome.message,
            warning: &outcome.warning,
            status,
            diagnostics,
            pause_ms: follower.as_ref().map_or(0, |follower| milliseconds(follower.pause())),
            reason,
        };
        told.write(&mut self.to())?;
        self.step.state = follower.map_or(State::Idle, State::Follow);
        Ok(())
    }

    /// Errors of a configuration are an answer, and others the status of the call.
    pub(super) fn failed(&mut self, error: &OrbgateError) -> OrStatus {
        let (status, message, diagnostics) = error.parts();
        if status != OrbgateStatus::InvalidConfiguration {
            return Err(status);
        }
        let diagnostics = self::diagnostics(diagnostics);
        let status = u64::try_from(status.number()).unwrap_or_default();
        Failed { status, message, diagnostics }.write(&mut self.to())
    }

    fn sources(&mut self, Sources { tokens }: &Sources<'_>) -> OrStatus {
        let verifier = match read_verifier(tokens) {
            Ok(verifier) => verifier,
            Err(error) => return self.failed(&error),
        };
        let sources = verifier.secrets().map(|source| {
            let (kind, name) = match source {
                orbgate_token::SecretSource::File(path) => (ORBGATE_SECRET_FILE, path),
                orbgate_token::SecretSource::Env(name) => (ORBGATE_SECRET_ENV, name),
                orbgate_token::SecretSource::Keys(path) => (ORBGATE_SECRET_KEYS, path),
            };
            SecretSource { kind: kind.into(), name }
        });
        SecretSources { sources: sources.collect() }.write(&mut self.to())
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
        let headers = denial.into_iter().flat_map(|denial| denial.headers).copied().chain(content_type);
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

    fn call(&mut self, next: Option<Fetch>) -> OrStatus {
        let Some(next) = next else {
            return self.done();
        };
        self.calls = Some(next.attempt);
        let mut headers = vec![CallHeader { name: "Accept", value: "application/json" }];
        if let Some(post) = &next.post {
            headers.push(CallHeader { name: "Content-Type", value: Post::CONTENT_TYPE });
            headers.push(CallHeader { name: "Authorization", value: post.authorization() });
        }
        let told = Call {
            attempt: next.attempt.number(),
            method: if next.post.is_some() { "POST" } else { "GET" },
            url: &next.url,
            headers,
            body: next.post.as_ref().map(|post| post.body().as_bytes()),
            timeout_ms: milliseconds(next.timeout),
            max_bytes: u64::try_from(next.max_bytes).unwrap_or(u64::MAX),
        };
        told.write(&mut self.to())
    }

    fn called(&mut self, called: &Called<'_>) -> OrStatus {
        let gate = self.gate()?;
        let cache_control = cache_control(&called.headers);
        let result = match number(called.failure)? {
            0 => Ok(Response {
                status: u16::try_from(called.status).map_err(|_| INVALID)?,
                cache_control: cache_control.as_deref(),
                body: called.body,
            }),
            code => Err(failure(code)?),
        };
        let now = Duration::from_millis(called.monotonic_ms);
        let next = gate.gate.fetched(AttemptId::of(called.attempt), result, now);
        self.call(next)
    }

    fn status(&mut self) -> OrStatus {
        let status = self.gate()?.gate.keys().status();
        let texts = status.iter().map(|of| {
            let warnings: Vec<_> = of.warnings.iter().map(ToString::to_string).collect();
            (of.failure.as_ref().map(ToString::to_string).unwrap_or_default(), warnings.join("\n"))
        });
        let texts = texts.collect::<Vec<_>>();
        let issuers = status.iter().zip(&texts).map(|(of, (failure, warnings))| IssuerStatus {
            issuer: &of.issuer,
            key_count: u64::try_from(of.keys).unwrap_or(u64::MAX),
            fetched_ms: of.fetched.map_or(0, milliseconds),
            failure,
            warnings,
            opaque: of.is_opaque,
        });
        KeyStatus { issuers: issuers.collect() }.write(&mut self.to())
    }

    fn routes(&mut self, question: &CheckRoutes<'_>) -> OrStatus {
        let engine = self.engine()?;
        let written = number(question.templates)?;
        let (public, mcp, style) = match self.gate {
            None => (None, None, templates(written)?),
            // The gate's options have it.
            Some(_) if written != 0 => return Err(INVALID),
            Some(gate) => (gate.gate.rules().public.as_deref(), gate.gate.rules().mcp.as_deref(), gate.templates),
        };
        let routes: Vec<(&str, String)> =
            question.routes.iter().map(|route| (route.method, style.in_policy(route.path_template))).collect();
        if let Some(gate) = self.gate {
            gate.serves(routes.iter().map(|(method, template)| ((*method).to_owned(), template.clone())).collect());
        }
        let routes = routes.iter().map(|(method, template)| (*method, template.as_str()));
        let differ = check_routes(engine.engine(), public, mcp.as_slice(), routes).err();
        let differences = differ.as_ref().map(differences).unwrap_or_default();
        RouteDifferences { differences }.write(&mut self.to())
    }
}

fn diagnostics(located: &[(u32, u32, String)]) -> Vec<Diagnostic<'_>> {
    located
        .iter()
        .map(|(line, column, message)| Diagnostic { line: (*line).into(), column: (*column).into(), message })
        .collect()
}

fn made(make: &Make<'_>) -> Result<OrbgateGate, OrbgateError> {
    let verifier = read_verifier(make.tokens)?;
    let mut options = Options::of(make, given(&make.secrets))?;
    if !make.metadata.is_empty() {
        let metadata = Metadata::new(make.metadata, &verifier, make.mcp_initial_scopes);
        options.rules.metadata = Some(Arc::new(metadata.map_err(|it| invalid(&it))?));
    }
    OrbgateGate::new(&verifier, options)
}

fn given(secrets: &[Secret<'_>]) -> Vec<Option<Vec<u8>>> {
    secrets.iter().map(|secret| secret.value.map(<[u8]>::to_vec)).collect()
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

/// Every value of `Cache-Control`, joined by commas; a value that isn't a string is ignored.
fn cache_control<'h>(headers: &[Header<'h>]) -> Option<Cow<'h, str>> {
    let of = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(b"cache-control"));
    let mut values = of.filter_map(|header| str::from_utf8(header.value).ok());
    let first = Cow::Borrowed(values.next()?);
    Some(values.fold(first, |all, value| Cow::Owned(format!("{all}, {value}"))))
}

fn differences(differ: &RoutesDiffer) -> Vec<RouteDifference<'_>> {
    let undeclared = differ.undeclared().iter().map(|Undeclared { route, decided_as, .. }| RouteDifference {
        kind: ORBGATE_DIFFERENCE_UNDECLARED.into(),
        route,
        decided_as: decided_as.as_deref().unwrap_or_default(),
    });
    let unserved = differ.unserved().iter().map(|route| RouteDifference {
        kind: ORBGATE_DIFFERENCE_UNSERVED.into(),
        route,
        decided_as: "",
    });
    undeclared.chain(unserved).collect()
}
