//! How far a request has come: its result, or work that the host must do first.

use core::mem;

use orbgate_gate::{Checking, Credentials, Follower, McpCall, McpResponse, Reading, RemoteHolds, Waiting};
use orbgate_token::{AttemptId, VerifiedToken};

use super::request::Charged;

/// How far a request has come, between two questions about it.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) state: State,
    /// If the result includes a line for an audit log, whether the host reads if bonus orbs are allowed.
    pub(super) audit: Option<bool>,
    /// The handler is about to run.
    pub(super) charged: Option<Charged>,
    /// It keeps the token of an allow that consumes.
    pub(super) keeps: bool,
}

#[derive(Debug, Default)]
pub(super) enum State {
    /// It belongs to no request.
    #[default]
    Idle,
    Wait(Waiting),
    Check(Box<Checking>),
    /// The host makes a call of this attempt.
    Calling(AttemptId),
    /// It follows the policy's file.
    Follow(Box<Follower>),
    /// The holds in a ledger service.
    Orbs(Box<RemoteHolds>),
    /// The response to a call at an MCP endpoint.
    Response(Box<McpResponse>),
    /// A request to an MCP endpoint whose body must be read.
    Read(Box<Reading>),
    /// A request that was allowed, for the next question about it.
    Known(Box<(Option<McpCall>, Credentials<VerifiedToken>)>),
    /// An answer that was too large for the host's room, and what comes after it.
    Unread(Box<(Unread, State)>),
}

/// An answer. No `Debug`, because it can have a secret.
pub(super) struct Unread(pub(super) Vec<u8>);

impl core::fmt::Debug for Unread {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Unread").finish_non_exhaustive()
    }
}

impl Progress {
    /// Its state; it is at no question from then on.
    pub(super) fn take(&mut self) -> State {
        mem::take(&mut self.state)
    }
}
