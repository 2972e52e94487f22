//! Entries as events for billing systems.

use core::fmt::Display;
use core::time::Duration;
use std::time::SystemTime;

use serde::Serialize;

use crate::answer::{Cause, Entry};
use crate::value::{AccountId, Id, Millis, Note, Orbs};

/// An entry as a CloudEvent (version 1.0, in JSON).
///
/// The id is that of the grant, revocation or hold and what became of it, such as `call-1/captured`. It is the same whenever
/// the entry is read, so a receiver that deduplicates by source and id counts it once.
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
    /// The orbs that were granted, revoked, held, captured or released, or that expired.
    amount: Orbs,
    /// The orbs of a capture that weren't there.
    shortfall: Orbs,
    note: Note,
}

impl Event {
    /// The event of an entry. `source` is a URI reference that identifies the ledger.
    #[must_use]
    pub fn new(entry: &Entry, source: &str) -> Self {
        let became = match entry.cause {
            Cause::Grant => "granted",
            Cause::Revoke => "revoked",
            Cause::Hold => "pending",
            Cause::Capture => "captured",
            Cause::Void => "voided",
            Cause::HoldExpired => "expired",
            Cause::GrantExpired => "grant_expired",
        };
        let amount = entry.lines.iter().map(|line| match entry.cause {
            Cause::Capture => line.captured,
            Cause::Grant | Cause::Revoke | Cause::GrantExpired => line.available,
            Cause::Hold | Cause::Void | Cause::HoldExpired => line.held,
        });
        let amount = amount.map(i64::unsigned_abs).fold(0_u64, u64::saturating_add);
        let (account, id) = (entry.account.clone(), entry.id.clone());
        let amount = Orbs::new(amount).unwrap_or(Orbs::MAX);
        Self {
            specversion: "1.0",
            id: format!("{id}/{became}"),
            source: source.to_owned(),
            r#type: format!("orbgate.orbs.{became}"),
            subject: account.clone(),
            time: entry.at.rfc3339().to_string(),
            datacontenttype: "application/json",
            data: Data { account, id, amount, shortfall: entry.shortfall, note: entry.note.clone() },
        }
    }
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
