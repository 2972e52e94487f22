//! The time of a connection, and what a database tells about it.

use std::sync::Arc;

use crate::columns::Columns as _;
use crate::ledger::{Clock, SystemClock};
use crate::postgres::client::Client;
use crate::postgres::failed::Failed;
use crate::postgres::rows::strange;
use crate::value::Millis;
use crate::watch::{Leap, Told, Watch};

/// A connection's clock: none is the database's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    clock: Option<Arc<dyn Clock>>,
    watch: Watch,
}

impl Watched {
    pub(crate) fn new(clock: Option<Arc<dyn Clock>>) -> Self {
        Self { clock, watch: Watch::default() }
    }

    /// The time, if it isn't the database's.
    pub(crate) fn given(&self) -> Option<Millis> {
        self.clock.as_ref().map(|clock| clock.now())
    }

    /// Whether the time passes by itself.
    pub(crate) fn runs(&self) -> bool {
        self.clock.as_ref().is_none_or(|clock| clock.runs())
    }

    /// The clock that never leaps: this process's, unless the time is given.
    pub(crate) fn steady(&self) -> Option<Millis> {
        self.clock.as_ref().map_or_else(|| SystemClock.steady(), |clock| clock.steady())
    }

    /// Looks at a time that was read just now.
    pub(crate) fn look(&mut self, client: &mut Client, now: Millis) -> Result<Result<(), Leap>, Failed> {
        let steady = self.steady();
        self.watch.look(now, steady, || told(client))
    }

    /// The time for whoever only reads.
    pub(crate) fn shown(&mut self, client: &mut Client, now: Millis) -> Result<Millis, Failed> {
        let steady = self.steady();
        self.watch.without_leap(now, steady, || told(client))
    }
}

/// What the rows of the database tell about the time.
pub(crate) fn told(client: &mut Client) -> Result<Told, Failed> {
    let sql = "SELECT (SELECT a.clock FROM orbs.entry AS e JOIN orbs.account AS a ON a.key = e.account \
               ORDER BY e.position DESC LIMIT 1)::bigint, (SELECT value::bigint FROM orbs.setting WHERE name = 'accepted'), \
               (SELECT value::bigint FROM orbs.setting WHERE name = 'reset')";
    let row = client.query_one(sql, &[])?;
    let time = |at| row.optional_time(at).map_err(strange);
    Ok(Told { newest: time(0)?, accepted: time(1)?, reset: time(2)? })
}
