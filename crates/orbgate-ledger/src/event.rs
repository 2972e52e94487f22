//! Entries as events for billing systems.

use core::fmt::Display;
use core::time::Duration;
use std::time::SystemTime;

use serde::Serialize;

use crate::answer::{Entry, Line};
use crate::cause::{Cause, Row, State};
use crate::value::{AccountId, Bucket, Id, Millis, Note, Orbs};

/// A movement of orbs as a CloudEvent (version 1.0, in JSON).
///
/// The id is that of the grant, revocation or hold and what became of it, such as `call-1/captured`; for orbs that a hold releases
/// after their grant has expired, also the grant, such as `call-1/expired/welcome`. In the ids of commands, `%` becomes `%25` and `/`
/// becomes `%2F`, so no two events share an id. A refund has an event for each bucket, such as `refund-1/refunded/paid`. It is the same whenever the entry is read, so a receiver that deduplicates by source
/// and id counts it once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    specversion: &'static str,
    id: String,
    source: String,
    r#type: String,
    subject: AccountId,
    time: String,
    datacontenttype: &'static str,
    data: Data,
}

/// What moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Data {
    account: AccountId,
    id: Id,
    /// The orbs that were granted, revoked, held, captured, released or refunded, or that expired: `paid` and `bonus` together.
    amount: Orbs,
    /// Those that were paid for.
    paid: Orbs,
    /// Those that are bonus orbs.
    bonus: Orbs,
    /// The orbs of a capture that weren't there.
    shortfall: Orbs,
    note: Note,
    /// The hold of a refund.
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<Id>,
}

impl Event {
    /// The events of an entry: what became of its grant, revocation or hold, and each grant whose orbs expired because the hold
    /// released them too late. `source` is a URI reference that identifies the ledger.
    #[must_use]
    pub fn of(entry: &Entry, source: &str) -> Vec<Self> {
        let Row { event: became, moved, hold, .. } = entry.cause.row();
        let name = escaped(&entry.id);
        let id = match (entry.cause, entry.lines.first()) {
            (Cause::Refund, Some(line)) => format!("{name}/{became}/{}", line.bucket.name()),
            _ => format!("{name}/{became}"),
        };
        let change = |line: &Line| moved.map_or(0, |moved| line.change(moved));
        let mut events = vec![Self::new(entry, source, (id, became), &entry.lines, change)];
        if hold.is_some_and(|state| state != State::Pending) {
            for line in entry.lines.iter().filter(|line| gone(line) != 0) {
                let id = format!("{name}/expired/{}", escaped(&line.grant));
                let event =
                    Self::new(entry, source, (id, Cause::GrantExpired.row().event), core::slice::from_ref(line), gone);
                events.push(Self { data: Data { shortfall: Orbs::ZERO, ..event.data }, ..event });
            }
        }
        events
    }

    fn new(
        entry: &Entry,
        source: &str,
        (event, became): (String, &str),
        lines: &[Line],
        moved: impl Fn(&Line) -> i64,
    ) -> Self {
        let sum = |bucket| {
            let lines = lines.iter().filter(|line| line.bucket == bucket);
            let sum = lines.map(|line| moved(line).unsigned_abs()).fold(0_u64, u64::saturating_add);
            Orbs::new(sum).unwrap_or(Orbs::MAX)
        };
        let (paid, bonus) = (sum(Bucket::Paid), sum(Bucket::Bonus));
        let amount = paid.plus(bonus).unwrap_or(Orbs::MAX);
        let (account, id, note) = (entry.account.clone(), entry.id.clone(), entry.note.clone());
        Self {
            specversion: "1.0",
            id: event,
            source: source.to_owned(),
            r#type: format!("orbgate.orbs.{became}"),
            subject: account.clone(),
            time: entry.at.rfc3339().to_string(),
            datacontenttype: "application/json",
            data: Data { account, id, amount, paid, bonus, shortfall: entry.shortfall, note, hold: entry.hold.clone() },
        }
    }
}

/// An id without `/`, which separates the parts of an event's id.
fn escaped(id: &Id) -> String {
    id.as_str().replace('%', "%25").replace('/', "%2F")
}

/// The orbs that a line takes from a grant's available and held ones without capturing them: they have expired.
const fn gone(line: &Line) -> i64 {
    line.available.saturating_add(line.held).saturating_add(line.captured)
}

/// The end of the year 9999: RFC 3339 has no later times.
const LAST: u64 = 253_402_300_799_999;

impl Millis {
    /// The time as RFC 3339, such as `2026-11-27T17:40:13.000Z`. Later years than 9999 are shown as the end of that year.
    #[must_use]
    pub fn rfc3339(self) -> impl Display {
        let since = Duration::from_millis(self.get().min(LAST));
        let time = SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH);
        humantime::format_rfc3339_millis(time)
    }
}
