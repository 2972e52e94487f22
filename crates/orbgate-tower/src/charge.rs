//! What must happen between an allow and its handler: nothing, or a ledger holds the orbs.

use core::future::{Future, ready};

use http::HeaderMap;
use orbgate_gate::{Answer, HoldId, Unpaid};

pub(crate) trait Charge<T>: Send + Sync {
    /// What is held while the handler runs.
    type Held: Send;

    /// Holds the orbs, or returns why the request must be denied.
    fn hold(
        &self,
        headers: &HeaderMap,
        answer: &Answer<'_, T>,
    ) -> impl Future<Output = Result<Self::Held, Unpaid>> + Send;

    /// The id of what is held, if anything is.
    #[cfg_attr(not(feature = "audit"), expect(dead_code, reason = "only the audit has it"))]
    fn id(held: &Self::Held) -> Option<HoldId>;
}

/// A gate without a ledger: the service charges.
pub(crate) struct NoLedger;

impl<T> Charge<T> for NoLedger {
    type Held = ();

    fn hold(&self, _: &HeaderMap, _: &Answer<'_, T>) -> impl Future<Output = Result<(), Unpaid>> + Send {
        ready(Ok(()))
    }

    fn id((): &()) -> Option<HoldId> {
        None
    }
}
