//! What people read of a database: one snapshot, in short statements. It writes nothing and locks nothing.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::answer::Entry;
use crate::cause::Cause;
use crate::columns::{self, Columns};
use crate::model::Rows;
use crate::people::read::{Due, ReadRows};
use crate::plan::{self, AccountRow, GrantRow};
use crate::postgres::client::{Client, Parameters};
use crate::postgres::columns::Strange;
use crate::postgres::failed::Failed;
use crate::postgres::feed::{self, count};
use crate::postgres::rows::{self, number, select, strange};
use crate::postgres::watched::Watched;
use crate::value::{AccountId, Bucket, Millis};

/// All statements see the same rows, which are found by their indexes.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = pg_catalog, pg_temp; \
    SET LOCAL enable_seqscan = off; SET LOCAL jit = off";

/// The entries whose changes a statement adds.
const ENTRIES: i64 = 10_000;

/// The rows of a snapshot at a time.
pub(crate) struct Read<'c> {
    client: &'c mut Client,
    now: Millis,
}

/// Reads in a snapshot.
pub(crate) fn read<T>(
    client: &mut Client,
    time: Option<Millis>,
    watched: &mut Watched,
    work: impl FnOnce(&mut Read<'_>) -> Result<T, Failed>,
) -> Result<T, Failed> {
    client.transaction(BEGIN, |client| {
        let (now, _) = rows::time(client, time)?;
        let now = watched.shown(client, now)?;
        let now = feed::reached(client)?.map_or(now, |reached| reached.min(now));
        work(&mut Read { client, now })
    })
}

/// The names of accounts after one, in the order of their bytes.
pub(crate) fn names(client: &mut Client, after: &str, most: usize) -> Result<Vec<AccountId>, Failed> {
    let sql = "SELECT id FROM orbs.account WHERE id > $1 AND seq > 0 ORDER BY id LIMIT $2";
    let rows = client.query(sql, &[(&after, Type::TEXT), (&count(most), Type::INT8)])?;
    rows.iter().map(|row| row.name(0, AccountId::new).map_err(strange)).collect()
}

impl Read<'_> {
    fn all<R>(
        &mut self,
        sql: &str,
        parameters: Parameters<'_>,
        read: fn(&Row) -> Result<R, Strange>,
    ) -> Result<Vec<R>, Failed> {
        self.client.query(sql, parameters)?.iter().map(|row| read(row).map_err(strange)).collect()
    }
}

impl ReadRows for Read<'_> {
    type Failed = Failed;

    fn now(&self) -> Millis {
        self.now
    }

    fn account(&mut self, id: &AccountId) -> Result<Option<AccountRow>, Failed> {
        let sql = concat!("SELECT ", select!(account), " FROM orbs.account WHERE id = $1 AND seq > 0");
        Ok(self.all(sql, &[(&id.as_str(), Type::TEXT)], columns::account)?.pop())
    }

    fn accounts(&mut self, first: &str, after: &str, most: usize) -> Result<Vec<AccountRow>, Failed> {
        // One bound, so that the index begins there.
        let start = first.max(after);
        let sql = concat!(
            "SELECT ",
            select!(account),
            " FROM orbs.account WHERE id >= $1 AND id <> $2 AND seq > 0 ORDER BY id LIMIT $3"
        );
        let parameters: Parameters<'_> = &[(&start, Type::TEXT), (&after, Type::TEXT), (&count(most), Type::INT8)];
        self.all(sql, parameters, columns::account)
    }

    fn due_accounts(&mut self, after: i64, until: Millis, most: usize) -> Result<Vec<AccountRow>, Failed> {
        let sql = concat!(
            "SELECT ",
            select!(account),
            " FROM orbs.account WHERE key > $1 AND next_due <= $2 AND seq > 0 ORDER BY key LIMIT $3"
        );
        let until = number(until.get());
        let parameters: Parameters<'_> = &[(&after, Type::INT8), (&until, Type::INT8), (&count(most), Type::INT8)];
        self.all(sql, parameters, columns::account)
    }

    fn due(&mut self, account: AccountRow, until: Millis) -> Result<Due, Failed> {
        if !account.is_due(until) {
            return Ok(Due::nothing(account));
        }
        let (key, time) = (account.key, number(until.max(account.clock).get()));
        let parameters: Parameters<'_> = &[(&key, Type::INT8), (&time, Type::INT8)];
        let mut rows = Rows::default();
        let sql = concat!(
            "SELECT ",
            select!(hold),
            " FROM orbs.hold WHERE account = $1 AND state = 'pending' AND expires_at <= $2 ORDER BY expires_at, id"
        );
        let holds = self.all(sql, parameters, columns::hold)?;
        let sql = concat!(
            "SELECT ",
            select!(grants),
            " FROM orbs.grants WHERE account = $1 AND is_open AND expires_at <= $2 ORDER BY expires_at, seq"
        );
        let mut grants = self.all(sql, parameters, columns::grant)?;
        let lines: Vec<_> = holds.iter().flat_map(|hold| hold.lines.iter().map(|(seq, _)| number(*seq))).collect();
        let sql = concat!("SELECT ", select!(grants), " FROM orbs.grants WHERE account = $1 AND seq = ANY ($2)");
        grants.extend(self.all(sql, &[(&key, Type::INT8), (&lines, Type::INT8_ARRAY)], columns::grant)?);
        rows.accounts.insert(key, account.clone());
        rows.holds.extend(holds.into_iter().map(|hold| (hold.id.clone(), hold)));
        rows.grants.extend(grants.into_iter().map(|grant| ((key, grant.seq), grant)));
        let (account, entries, grants) = plan::due(&mut rows, account, until)?;
        let entries = entries.iter().map(|row| rows.entry(row)).collect::<Result<_, _>>()?;
        Ok(Due { account, entries, grants })
    }

    fn open_grants(&mut self, account: i64, after: u64, most: usize) -> Result<Vec<GrantRow>, Failed> {
        let sql = concat!(
            "SELECT ",
            select!(grants),
            " FROM orbs.grants WHERE account = $1 AND seq > $2 AND (is_open OR is_held) ORDER BY seq LIMIT $3"
        );
        let after = number(after);
        let parameters: Parameters<'_> = &[(&account, Type::INT8), (&after, Type::INT8), (&count(most), Type::INT8)];
        self.all(sql, parameters, columns::grant)
    }

    fn entries(&mut self, account: &AccountRow, first: u64, last: u64) -> Result<Vec<Entry>, Failed> {
        feed::entries_between(self.client, account.key, first, last)
    }

    fn last_command(&mut self, account: &AccountRow) -> Result<Option<Millis>, Failed> {
        let sql = "SELECT at FROM orbs.entry WHERE account = $1 AND cause = ANY ($2) ORDER BY seq DESC LIMIT 1";
        let parameters: Parameters<'_> = &[(&account.key, Type::INT8), (&Cause::of_commands(), Type::TEXT_ARRAY)];
        Ok(self.all(sql, parameters, |row| row.time(0))?.pop())
    }

    fn moved(&mut self, until: Millis, add: &mut dyn FnMut(Cause, Bucket, [i128; 3])) -> Result<(), Failed> {
        let end =
            self.client.query_one("SELECT coalesce(max(position), 0) FROM orbs.entry", &[])?.key(0).map_err(strange)?;
        let until = number(until.get());
        let mut after = 0_i64;
        while after < end {
            let last = after.saturating_add(ENTRIES);
            // The sums of so many can be too large for an integer.
            let sql = "SELECT e.cause, g.bucket, sum((l->>1)::bigint)::text, sum((l->>2)::bigint)::text, sum((l->>3)::bigint)::text \
                FROM orbs.entry AS e CROSS JOIN jsonb_array_elements(e.lines) AS l \
                LEFT JOIN orbs.grants AS g ON g.account = e.account AND g.seq = (l->>0)::bigint \
                WHERE e.position > $1 AND e.position <= $2 AND e.at <= $3 \
                GROUP BY e.cause, g.bucket";
            let parameters: Parameters<'_> = &[(&after, Type::INT8), (&last, Type::INT8), (&until, Type::INT8)];
            let sums = self.all(sql, parameters, |row| {
                let mut changes = [0; 3];
                for (change, at) in changes.iter_mut().zip(2..) {
                    *change = row.text(at)?.parse().map_err(|_| Strange)?;
                }
                // A line whose grant isn't there has no bucket, which is damage.
                Ok((row.word(0, Cause::from_name)?, row.word(1, Bucket::from_name)?, changes))
            })?;
            sums.into_iter().for_each(|(cause, bucket, changes)| add(cause, bucket, changes));
            after = last;
        }
        Ok(())
    }
}
