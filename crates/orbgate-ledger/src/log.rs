//! Entries as they are read: with names instead of the store's numbers.

use crate::answer::{Entry, Line};
use crate::plan::{EntryRow, LineRow, Stop};
use crate::value::{AccountId, Bucket, Id, Note};

/// An entry with the names of its account and its grants.
pub(crate) fn entry(
    row: &EntryRow,
    account: AccountId,
    note: Note,
    mut grant: impl FnMut(u64) -> Result<(Id, Bucket), Stop>,
) -> Result<Entry, Stop> {
    let lines = row.lines.iter().map(|line| {
        let (id, bucket) = grant(line.grant)?;
        let LineRow { available, held, captured, .. } = *line;
        Ok(Line { grant: id, bucket, available, held, captured })
    });
    let lines = lines.collect::<Result<_, Stop>>()?;
    let EntryRow { seq, at, cause, paid, bonus, held, shortfall, .. } = *row;
    Ok(Entry { account, seq, at, cause, id: row.id.clone(), lines, note, paid, bonus, held, shortfall })
}
