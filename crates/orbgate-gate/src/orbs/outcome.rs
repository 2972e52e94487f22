//! What a handler's outcome means for the orbs that its call holds.

use crate::orbs::OrbRules;

/// What a call costs if its handler was stopped midway, or if its stream failed after the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is charged or not")]
pub enum OnCancelled {
    /// The whole amount, or what the handler has stated.
    Capture,
    /// Nothing.
    Void,
}

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
    /// It was stopped midway, or its stream failed after the first byte.
    Cancelled,
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
    /// The settlement of a hold of this amount, or of the amount that the handler has stated.
    ///
    /// Success is an HTTP status below 400, or the gRPC status 0. It captures; anything else voids, except what
    /// [`OrbRules::on_cancelled`] decides.
    #[must_use]
    pub fn settlement(&self, outcome: HandlerOutcome, held: u64, stated: Option<u64>) -> Settlement {
        let captures = match outcome {
            HandlerOutcome::Status(status) => (100..400).contains(&status),
            HandlerOutcome::Grpc(status) => status == 0,
            HandlerOutcome::Failed | HandlerOutcome::NotRun => false,
            HandlerOutcome::Cancelled => self.on_cancelled == OnCancelled::Capture,
        };
        match captures {
            true => Settlement::Capture(stated.unwrap_or(held).min(MOST_ORBS)),
            false => Settlement::Void,
        }
    }
}
