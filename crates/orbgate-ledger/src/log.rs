//! Entries as they are read: with names instead of the store's numbers.

use crate::answer::{Entry, Line};
use crate::plan::{EntryRow, LineRow, Stop};
use crate::value::{AccountId, Bucket, Id, Note};

/// What an entry tells in addition to what moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) note: Note,
    pub(crate) author: Note,
    /// The hold of a refund.
    pub(crate) hold: Option<Id>,
}

/// An entry with the names of its account and its grants.
pub(crate) fn entry(
    row: &EntryRow,
    account: AccountId,
    told: Told,
    mut grant: impl FnMut(u64) -> Result<(Id, Bucket), Stop>,
) -> Result<Entry, Stop> {
    let lines = row.lines.iter().map(|line| {
        let (id, bucket) = grant(line.grant)?;
        let LineRow { available, held, captured, .. } = *line;
        Ok(Line { grant: id, bucket, available, held, captured })
    });
    let lines = lines.collect::<Result<_, Stop>>()?;
    let EntryRow { seq, at, cause, paid, bonus, held, shortfall, .. } = *row;
    let (id, Told { note, author, hold }) = (row.id.clone(), told);
    Ok(Entry { account, seq, at, cause, id, lines, note, author, hold, paid, bonus, held, shortfall })
}
