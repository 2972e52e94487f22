//! The order of all entries: each has a number, and a digest of every entry up to it. A cursor has both, so that one of another
//! ledger, or of what a restored backup has forgotten, is recognised.

use sha2::{Digest as _, Sha256};

use crate::answer::Cursor;
use crate::plan::EntryRow;
use crate::value::MAX;

/// A place between two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Of the entry before it; 0 is the beginning.
    pub(crate) number: u64,
    /// Of all entries before it. The beginning has a number that is the ledger's own.
    pub(crate) digest: u64,
}

impl Place {
    /// The place before the first entry.
    pub(crate) const fn start(ledger: u64) -> Self {
        Self { number: 0, digest: ledger }
    }

    /// The place after an entry that comes next.
    pub(crate) fn after(self, entry: &EntryRow) -> Self {
        let mut hash = Sha256::new();
        let mut add = |number: u64| hash.update(number.to_be_bytes());
        add(self.digest);
        add(entry.account.cast_unsigned());
        for number in [entry.seq, entry.at.get(), entry.paid.get(), entry.bonus.get(), entry.held.get()] {
            add(number);
        }
        add(entry.shortfall.get());
        for line in &entry.lines {
            add(line.grant);
            [line.available, line.held, line.captured].map(i64::cast_unsigned).into_iter().for_each(&mut add);
        }
        // The numbers of a line begin with a byte 0, and no text does, so no two entries are the same bytes.
        hash.update(format!("{} {}", entry.cause.name(), entry.id));
        let digest = hash.finalize().first_chunk().copied().map_or(0, u64::from_be_bytes);
        Self { number: self.number.saturating_add(1), digest }
    }

    pub(crate) fn cursor(self) -> Cursor {
        Cursor(format!("{}-{:016x}", self.number, self.digest))
    }

    /// The place that a cursor names, whether or not the ledger has it.
    pub(crate) fn of(cursor: &Cursor) -> Option<Self> {
        let (number, digest) = cursor.as_str().split_once('-')?;
        let place = Self { number: number.parse().ok()?, digest: u64::from_str_radix(digest, 16).ok()? };
        // Only as it is written.
        (place.cursor() == *cursor && place.number <= MAX).then_some(place)
    }
}

/// The first of an account's entries, of which there are so many, whose number in the ledger is higher, by bisection: both rise. One
/// that has no number yet comes after all others. One more than there are, if none is.
pub(crate) fn first_after<E>(
    entries: u64,
    after: u64,
    mut number: impl FnMut(u64) -> Result<Option<u64>, E>,
) -> Result<u64, E> {
    let (mut low, mut high) = (1, entries.saturating_add(1));
    while low < high {
        let middle = low.midpoint(high);
        if number(middle)?.is_some_and(|number| number <= after) {
            low = middle.saturating_add(1);
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::Place;
    use crate::answer::Cursor;
    use crate::cause::Cause;
    use crate::plan::{EntryRow, LineRow};
    use crate::value::{Id, Millis, Orbs};

    fn entry() -> EntryRow {
        let lines = vec![LineRow { grant: 1, available: 5, held: 0, captured: 0 }];
        let (at, paid, none) = (Millis::new(7).unwrap_or_default(), Orbs::new(5).unwrap_or_default(), Orbs::ZERO);
        let id = Id::valid("g".to_owned());
        EntryRow {
            account: 1,
            seq: 1,
            at,
            cause: Cause::Grant,
            id,
            lines,
            paid,
            bonus: none,
            held: none,
            shortfall: none,
        }
    }

    #[test]
    fn a_cursor_is_read_only_as_it_is_written() {
        let place = Place { number: 41, digest: 0x0f };
        assert_eq!(Place::of(&place.cursor()), Some(place));
        for text in [
            "",
            "41",
            "41-",
            "41-f",
            "041-000000000000000f",
            "+41-000000000000000f",
            "41-000000000000000F",
            "41.000000000000000f",
        ] {
            assert_eq!(Place::of(&Cursor::new(text)), None, "{text}");
        }
    }

    /// Files and databases keep digests, so they can never be computed in another way.
    #[test]
    fn a_digest_is_that_of_the_ledger_of_each_entry_before_and_of_each_column() {
        let first = Place::start(0).after(&entry());
        assert_eq!(first.cursor().as_str(), "1-24280ec919cb3e96");
        let mut digests = vec![first.digest, Place::start(1).after(&entry()).digest, first.after(&entry()).digest];
        let changes: [fn(&mut EntryRow); 12] = [
            |entry| entry.account = 2,
            |entry| entry.seq = 2,
            |entry| entry.at = Millis::ZERO,
            |entry| entry.cause = Cause::Revoke,
            |entry| entry.id = Id::valid("h".to_owned()),
            |entry| entry.paid = Orbs::ZERO,
            |entry| entry.bonus = Orbs::MAX,
            |entry| entry.held = Orbs::MAX,
            |entry| entry.shortfall = Orbs::MAX,
            |entry| entry.lines.clear(),
            |entry| entry.lines.iter_mut().for_each(|line| line.held = -1),
            |entry| entry.lines.iter_mut().for_each(|line| line.captured = 1),
        ];
        for change in changes {
            let mut changed = entry();
            change(&mut changed);
            digests.push(Place::start(0).after(&changed).digest);
        }
        let count = digests.len();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }
}
