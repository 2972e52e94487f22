//! How many orbs a call consumes, if the policy doesn't state it.

use core::error::Error;
use core::fmt;
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use http::HeaderMap;
use orbgate::Route;
use orbgate_gate::{Amount, Uncharged, same_template};

use crate::layer::UnknownRoute;

/// Returns the number of orbs of a call, from its headers and its token.
type AmountOf<T> = dyn Fn(&HeaderMap, &T) -> Result<u64, Box<dyn Error + Send + Sync>> + Send + Sync;

/// The number of orbs that each route consumes: the policy's, or a function's.
pub struct Amounts<T> {
    functions: Vec<(String, Box<AmountOf<T>>)>,
}

impl<T> Amounts<T> {
    /// Only the policy's amounts.
    #[must_use]
    pub const fn of_policy() -> Self {
        Self { functions: Vec::new() }
    }

    /// Calls this function for each allowed call of a route, with its headers and its verified token. It replaces the
    /// policy's amount. Name the route as the policy does: `POST /api/v1/external/voxies/prompt/run`.
    ///
    /// If it returns 0, nothing is held, and the handler can't state another amount. If it fails or panics, the call is
    /// denied with 402, and the error is logged. So return an error for headers that can't be read, and don't wait in it.
    #[must_use]
    pub fn with<E: Into<Box<dyn Error + Send + Sync>>>(
        mut self,
        route: &str,
        amount: impl Fn(&HeaderMap, &T) -> Result<u64, E> + Send + Sync + 'static,
    ) -> Self {
        let amount = move |headers: &HeaderMap, token: &T| amount(headers, token).map_err(Into::into);
        self.functions.retain(|(known, _)| !same_template(known, route));
        self.functions.push((route.to_owned(), Box::new(amount)));
        self
    }

    pub(super) fn routes(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|(route, _)| route.as_str())
    }

    pub(super) fn of(&self, route: &Route<'_>, headers: &HeaderMap, token: &T) -> Amount {
        let Some((_, amount)) = self.functions.iter().find(|(known, _)| same_template(known, route.as_str())) else {
            return Amount::OfPolicy;
        };
        let amount = catch_unwind(AssertUnwindSafe(|| amount(headers, token)));
        match amount.unwrap_or_else(|_| Err("the function panicked".into())) {
            Ok(amount) => Amount::Of(amount),
            Err(error) => {
                tracing::error!(route = route.as_str(), error, "a call is denied: its amount can't be determined");
                Amount::Failed
            }
        }
    }
}

impl<T> fmt::Debug for Amounts<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.routes()).finish()
    }
}

/// Why a layer can't charge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AmountsError {
    /// Routes consume orbs, but nothing states how many, or no issuer's tokens have an account.
    #[error(transparent)]
    Uncharged(Uncharged),
    /// The policy doesn't have a route with a function.
    #[error(transparent)]
    UnknownRoute(UnknownRoute),
    /// The ledger's rules lack what a gate with an MCP endpoint needs.
    #[error("{0}")]
    Mcp(&'static str),
}
