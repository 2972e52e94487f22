//! The next step of a request: its result, or work that the host must do first.

use core::{fmt, mem};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use orbgate_gate::{Answer, AuditLine, AuditToken, Checking, Denial, Step, Waiting};
use orbgate_token::VerifiedToken;

use super::object::OrbgateGate;
use super::request::milliseconds;
use super::wire::Writer;
use crate::arguments::{Sized32, first_size, shared, write_sized};
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngine;
use crate::owners::drop_owned;
use crate::scope_set::OrbgateScopeSet;
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;
use crate::token::TOKEN_KIND_NONE;

/// In `OrbgateStepInfo.kind`: the result.
pub const ORBGATE_STEP_ANSWER: u32 = 1;
/// In `OrbgateStepInfo.kind`: the request needs keys, or an answer about its token. Perform the fetches of
/// `orbgate_gate_next_fetch`, wait until `orbgate_gate_is_over` returns 1, at the latest until `until_ms`, and then call
/// `orbgate_gate_resume`.
pub const ORBGATE_STEP_WAIT: u32 = 2;
/// In `OrbgateStepInfo.kind`: check this signature, and report to `orbgate_gate_checked` whether it is
/// valid.
pub const ORBGATE_STEP_CHECK_SIGNATURE: u32 = 3;

/// The next step of a request to a gate. The caller owns it; only `orbgate_gate_call` changes it.
#[derive(Debug)]
pub struct OrbgateStep {
    pub(super) state: State,
    /// The result includes a line for an audit log.
    pub(super) has_audit: bool,
    /// The last answer.
    pub(super) memory: Memory,
}

#[derive(Debug)]
pub(super) enum State {
    /// It belongs to no request.
    Idle,
    /// A gate that the host has not taken yet.
    Made(Box<OrbgateGate>),
    Answer(Box<Answered>),
    Wait(Waiting),
    Check(Checking),
}

/// A result without its engine.
#[derive(Debug)]
pub(super) struct Answered {
    decision: OrbgateDecision,
    denial: Option<Denial>,
    refused: Option<&'static str>,
    misrouted: Option<String>,
    public: Option<Box<str>>,
    preflight: bool,
    audit: Option<String>,
    token: Option<Known>,
}

/// The properties of a verified token.
#[derive(Debug)]
struct Known {
    token: VerifiedToken,
    scopes: Arc<OrbgateScopeSet>,
    fingerprint: String,
}

/// An answer, which can have a secret.
#[derive(Default)]
pub(super) struct Memory(Vec<u8>);

impl Memory {
    /// A step keeps this much; few answers are larger.
    const KEPT: usize = 64 << 10;

    /// Ends the last answer.
    pub(super) fn forget(&mut self) {
        match self.0.capacity() > Self::KEPT {
            true => self.0 = Vec::new(),
            false => self.0.clear(),
        }
    }

    pub(super) fn writer(&mut self) -> Writer<'_> {
        Writer::over(&mut self.0)
    }

    pub(super) const fn bytes(&self) -> &[u8] {
        self.0.as_slice()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

/// The properties of a step. Fields of other kinds of steps are 0, and their strings are no string.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateStepInfo {
    /// Set it to `sizeof(OrbgateStepInfo)`, or use `orbgate_step_info_init()`.
    pub struct_size: u32,
    /// An `ORBGATE_STEP_*` number.
    pub kind: u32,
    /// The attempt to wait for.
    pub attempt: u64,
    /// When it ends even without a report, on the monotonic clock.
    pub until_ms: u64,
    /// The algorithm of the signature to check, such as `RS256`. ECDSA signatures are two numbers, not DER (RFC 7518
    /// §3.4); PSS has a salt as long as its hash. The algorithm fits the key, and key and signature have a valid form
    /// and length.
    pub algorithm: OrbgateStr,
    /// The key as a JWK with only its required members. Equal keys have equal strings, so you can cache imported keys.
    /// If the key can't be imported, the signature is invalid.
    pub key: OrbgateStr,
    /// The signed bytes.
    pub message: OrbgateStr,
    /// The signature: bytes.
    pub signature: OrbgateStr,
    /// The decision. Only `ORBGATE_EFFECT_ALLOW` permits the request.
    pub decision: OrbgateDecision,
    /// The status of the response to a denied request, which has no body; 0 for an allow.
    pub http_status: u32,
    /// The `OrbgateTokenKind` of the token; `ORBGATE_TOKEN_KIND_NONE` if there is no valid token.
    pub token_kind: u32,
    /// The `WWW-Authenticate` header of a denial; no string if it has none.
    pub www_authenticate: OrbgateStr,
    /// The `Allow` header of a denial; no string if it has none.
    pub allow: OrbgateStr,
    /// Why the token is rejected, such as `expired`: only for logs and counters.
    pub refused: OrbgateStr,
    /// The template that the router chose instead of the allowed route; empty if the router didn't report one. Count
    /// it. No string if they agree.
    pub misrouted: OrbgateStr,
    /// With `ORBGATE_WITH_AUDIT`, a JSON line for an audit log, without a line feed.
    pub audit: OrbgateStr,
    /// The token's scopes, separated by single spaces.
    pub scopes: OrbgateStr,
    /// The issuer.
    pub issuer: OrbgateStr,
    /// The subject (`sub`).
    pub subject: OrbgateStr,
    /// The client that the token was issued to.
    pub client: OrbgateStr,
    /// The party that acts for the subject (`act`).
    pub actor: OrbgateStr,
    /// The token's own id (`jti`).
    pub id: OrbgateStr,
    /// An id that reveals nothing about the token: 16 hexadecimal digits.
    pub fingerprint: OrbgateStr,
    /// When the token expires, in milliseconds since 1970.
    pub expires_ms: u64,
    /// The decision packed, as with `ORBGATE_PACK_ABOUT`.
    pub packed: u64,
    /// The token's interned scopes, for further decisions by the same engine; null without a token. The step owns it;
    /// `orbgate_scope_set_retain` keeps it.
    pub scope_set: *const OrbgateScopeSet,
    /// The template of an allowed request that needs no token, because its decision names no route; otherwise no
    /// string.
    pub public_template: OrbgateStr,
    /// 1 if the request is allowed only as a CORS preflight: a handler that takes other methods than `OPTIONS` must not
    /// run. A host that knows the handler before it asks leaves `origin` out for such a handler; one that learns of it
    /// afterwards asks again with `ORBGATE_MATCHED_UNKNOWN`.
    pub preflight: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: integers, strings, a decision of integers and a pointer, the u32 first.
unsafe impl Sized32 for OrbgateStepInfo {
    const FIRST_SIZE: usize = first_size(344, 216);
}

impl OrbgateStep {
    pub(super) fn new(engine: &OrbgateEngine, step: Step<'_>, has_audit: bool, unix_ms: u64) -> OrStatus<Self> {
        let state = match step {
            Step::Answer(answer) => State::Answer(Answered::new(engine, answer, has_audit.then_some(unix_ms))?),
            Step::Wait(waiting) => State::Wait(waiting),
            Step::CheckSignature(checking) => State::Check(checking),
        };
        Ok(Self { state, has_audit, ..Self::idle() })
    }

    /// A step of no request.
    pub(super) fn idle() -> Self {
        Self { state: State::Idle, has_audit: false, memory: Memory::default() }
    }

    /// Its state; it is at no question from then on.
    pub(super) const fn take(&mut self) -> State {
        mem::replace(&mut self.state, State::Idle)
    }
}

impl Answered {
    pub(super) fn new(engine: &OrbgateEngine, answer: Answer<'_>, audited: Option<u64>) -> OrStatus<Box<Self>> {
        let audit = audited.map(|time_ms| {
            let token = AuditToken::from(&answer.credentials);
            let line = AuditLine::new(time_ms, &answer.decision, token);
            // Strings and numbers, which JSON can always represent.
            serde_json::to_string(&line).map_err(|_| OrbgateStatus::Panic)
        });
        let refused = answer.refused();
        let token = answer.credentials.verified().map(|token| Known {
            scopes: Arc::new(OrbgateScopeSet { set: engine.engine().scopes(token.scopes()) }),
            fingerprint: token.fingerprint().to_string(),
            token,
        });
        Ok(Box::new(Self {
            decision: OrbgateDecision::new(engine.policy(), &answer.decision),
            denial: answer.denial,
            refused,
            misrouted: answer.misrouted.map(|misrouted| misrouted.matched),
            public: answer.public,
            preflight: answer.preflight,
            audit: audit.transpose()?,
            token,
        }))
    }

    fn describe(&self, info: &mut OrbgateStepInfo) {
        info.decision = self.decision;
        info.packed = self.decision.pack_with_about();
        info.refused = OrbgateStr::optional(self.refused);
        info.misrouted = OrbgateStr::optional(self.misrouted.as_deref());
        info.audit = OrbgateStr::optional(self.audit.as_deref());
        info.public_template = OrbgateStr::optional(self.public.as_deref());
        info.preflight = self.preflight.into();
        if let Some(denial) = &self.denial {
            info.http_status = denial.status.into();
            info.www_authenticate = OrbgateStr::optional(denial.www_authenticate.as_deref());
            info.allow = OrbgateStr::optional(denial.allow.as_deref());
        }
        if let Some(Known { token, scopes, fingerprint }) = &self.token {
            info.token_kind = token.kind().number().into();
            info.scopes = OrbgateStr::new(token.scopes());
            info.issuer = OrbgateStr::new(token.issuer());
            info.subject = OrbgateStr::optional(token.subject());
            info.client = OrbgateStr::optional(token.client());
            info.actor = OrbgateStr::optional(token.actor());
            info.id = OrbgateStr::optional(token.id());
            info.fingerprint = OrbgateStr::new(fingerprint);
            let expires = token.expires().duration_since(UNIX_EPOCH);
            info.expires_ms = milliseconds(expires.unwrap_or_default());
            info.scope_set = Arc::as_ptr(scopes);
        }
    }
}

impl OrbgateStepInfo {
    const fn empty(kind: u32) -> Self {
        const NULL: OrbgateStr = OrbgateStr::NULL;
        Self {
            struct_size: 0,
            kind,
            attempt: 0,
            until_ms: 0,
            algorithm: NULL,
            key: NULL,
            message: NULL,
            signature: NULL,
            decision: OrbgateDecision::NONE,
            http_status: 0,
            token_kind: TOKEN_KIND_NONE,
            www_authenticate: NULL,
            allow: NULL,
            refused: NULL,
            misrouted: NULL,
            audit: NULL,
            scopes: NULL,
            issuer: NULL,
            subject: NULL,
            client: NULL,
            actor: NULL,
            id: NULL,
            fingerprint: NULL,
            expires_ms: 0,
            packed: 0,
            scope_set: core::ptr::null(),
            public_template: NULL,
            preflight: 0,
            reserved: 0,
        }
    }

    pub(super) fn of(state: &State) -> Self {
        match state {
            State::Idle | State::Made(_) => Self::empty(0),
            State::Answer(answer) => {
                let mut info = Self::empty(ORBGATE_STEP_ANSWER);
                answer.describe(&mut info);
                info
            }
            State::Wait(waiting) => Self {
                attempt: waiting.wait().attempt.number(),
                until_ms: milliseconds(waiting.wait().until),
                ..Self::empty(ORBGATE_STEP_WAIT)
            },
            State::Check(checking) => {
                let check = checking.check();
                Self {
                    algorithm: OrbgateStr::new(check.algorithm().as_str()),
                    key: OrbgateStr::new(check.key()),
                    message: OrbgateStr::of_bytes(check.message()),
                    signature: OrbgateStr::of_bytes(check.signature()),
                    ..Self::empty(ORBGATE_STEP_CHECK_SIGNATURE)
                }
            }
        }
    }
}

/// Returns the properties of a step.
///
/// Ownership: the step owns the strings and the scope set in `out`, which are valid as long as the
/// step.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_step_info(step: *const OrbgateStep, out: *mut OrbgateStepInfo) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let step = unsafe { shared(step) }?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &OrbgateStepInfo::of(&step.state)) }
    })
}

/// Frees a step. You can do this at any time, for example when the client disconnects. Null is
/// fine.
///
/// Ownership: takes `step`, and frees it with its strings.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_step_free(step: *mut OrbgateStep) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { drop_owned(step) }
}
