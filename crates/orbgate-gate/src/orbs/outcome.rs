//! What a handler's outcome means for the orbs that its call holds.

use crate::mcp::response::{McpEnd, Seen};
use crate::orbs::rules::{McpOrbs, OnCancelled, OrbRules};

/// How a handler ended. Whether the caller reads the answer doesn't matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "what every host must tell apart")]
pub enum HandlerOutcome {
    /// It answered completely, with this HTTP status.
    Status(u16),
    /// It answered completely, with this gRPC status.
    Grpc(u32),
    /// It threw an exception or panicked, or its answer failed before the first byte.
    Failed,
    /// Its caller left before its answer was complete, which stopped it midway.
    Cancelled,
    /// Its answer failed after the first byte, or the service dropped it.
    Broken,
    /// It never ran: its caller left before it began, or the service wasn't ready.
    NotRun,
}

/// How a hold ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a hold is charged or released")]
pub enum Settlement {
    /// Spends this many orbs.
    Capture(u64),
    /// Releases all of them.
    Void,
}

/// The largest number of orbs that a ledger takes.
pub(super) const MOST_ORBS: u64 = (1 << 53) - 1;

impl OrbRules {
    /// The settlement of a hold of this amount, or of the amount that the handler has stated, up to the
    /// [ceiling](OrbRules::ceiling). `response` is what the response to a call at an MCP endpoint has said.
    ///
    /// Success is an HTTP status below 400, or the gRPC status 0. It captures; anything else voids, except what
    /// [`OrbRules::on_cancelled`] and [`OrbRules::on_broken`] decide. At an MCP endpoint, a result captures and an error voids,
    /// whatever happens afterwards. A stream that the service ends without the response is broken. In older versions, both it and a
    /// caller who leaves capture, because the client can ask for the rest. In a session, everything captures but a status of 400 to
    /// 499, because callers choose which response a call gets.
    #[must_use]
    pub fn settlement(
        &self,
        outcome: HandlerOutcome,
        response: Option<McpEnd>,
        held: u64,
        stated: Option<u64>,
    ) -> Settlement {
        let amount = match self.costs(outcome, response) {
            OnCancelled::Capture => stated.unwrap_or(held),
            OnCancelled::Stated => match stated {
                Some(stated) => stated,
                None => return Settlement::Void,
            },
            OnCancelled::Void => return Settlement::Void,
        };
        Settlement::Capture(amount.min(held.saturating_mul(self.ceiling)).min(MOST_ORBS))
    }

    fn costs(&self, outcome: HandlerOutcome, response: Option<McpEnd>) -> OnCancelled {
        use OnCancelled::{Capture, Void};
        let in_session = response.is_some_and(|end| end.in_session);
        match (outcome, response) {
            (HandlerOutcome::NotRun, _) => Void,
            // A server error can be the session's end, which its caller asks for.
            (HandlerOutcome::Status(400..500), _) if in_session => Void,
            _ if in_session => Capture,
            (HandlerOutcome::Grpc(0), _) => Capture,
            (HandlerOutcome::Grpc(_), _) => Void,
            (HandlerOutcome::Status(status), _) if !(100..400).contains(&status) => Void,
            (_, Some(McpEnd { seen: Seen::Result | Seen::Other, .. })) => Capture,
            (_, Some(McpEnd { seen: Seen::Error, .. })) => Void,
            (_, Some(McpEnd { seen: Seen::ToolError, .. })) => self.mcp_setting(|mcp| mcp.on_tool_error),
            (_, Some(McpEnd { seen: Seen::InputRequired, .. })) => self.mcp_setting(|mcp| mcp.on_input_required),
            (HandlerOutcome::Failed, _) => Void,
            (HandlerOutcome::Status(_), None | Some(McpEnd { seen: Seen::Nothing, .. })) => Capture,
            (_, Some(McpEnd { is_legacy: true, .. })) => Capture,
            (HandlerOutcome::Cancelled, _) => self.on_cancelled,
            (HandlerOutcome::Status(_) | HandlerOutcome::Broken, _) => self.on_broken.unwrap_or(self.on_cancelled),
        }
    }

    fn mcp_setting(&self, of: impl Fn(&McpOrbs) -> OnCancelled) -> OnCancelled {
        self.mcp.as_ref().map_or(self.on_cancelled, of)
    }
}
