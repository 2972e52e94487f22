//! The next step of a request: its result, or work that the host must do first.

use core::{fmt, mem};

use orbgate_gate::{Checking, Credentials, Follower, McpCall, McpResponse, RemoteHolds, Waiting};
use orbgate_token::VerifiedToken;

use super::object::OrbgateGate;
use super::request::Charged;
use super::wire::Writer;
use crate::owners::drop_owned;

/// The next step of a request to a gate. The caller owns it; only `orbgate_gate_call` changes it.
#[derive(Debug)]
pub struct OrbgateStep {
    pub(super) state: State,
    /// If the result includes a line for an audit log, whether the host reads if bonus orbs are allowed.
    pub(super) audit: Option<bool>,
    /// The handler is about to run.
    pub(super) charged: Option<Charged>,
    /// It keeps the token of an allow that consumes.
    pub(super) keeps: bool,
    /// The last answer.
    pub(super) memory: Memory,
}

#[derive(Debug)]
pub(super) enum State {
    /// It belongs to no request.
    Idle,
    /// A gate that the host has not taken yet.
    Made(Box<OrbgateGate>),
    Wait(Waiting),
    Check(Checking),
    /// It follows the policy's file.
    Follow(Box<Follower>),
    /// The holds in a ledger service.
    Orbs(Box<RemoteHolds>),
    /// The response to a call at an MCP endpoint.
    Response(Box<McpResponse>),
    /// A request to an MCP endpoint whose body must be read.
    Read(Box<(McpCall, Credentials<VerifiedToken>)>),
    /// A request that was allowed, for the next question about it.
    Known(Box<(Option<McpCall>, Credentials<VerifiedToken>)>),
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

impl OrbgateStep {
    /// A step of no request.
    pub(super) fn idle() -> Self {
        Self { state: State::Idle, audit: None, charged: None, keeps: false, memory: Memory::default() }
    }

    /// Its state; it is at no question from then on.
    pub(super) const fn take(&mut self) -> State {
        mem::replace(&mut self.state, State::Idle)
    }
}

/// Removes an owner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_step_free(step: *mut OrbgateStep) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { drop_owned(step) }
}
