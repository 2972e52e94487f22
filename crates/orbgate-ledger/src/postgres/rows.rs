//! What a batch locks and reads, as SQL statements.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::cause::State;
use crate::columns::{self, Columns};
use crate::model::Rows;
use crate::plan::{AccountRow, HoldRow};
use crate::postgres::client::{Client, Statement};
use crate::postgres::columns::Strings;
use crate::postgres::failed::{Failed, wrong};
use crate::postgres::named::Named;
use crate::value::{AccountId, Bucket, Id, Millis, Orbs, Order};

/// What a batch has read. Only accounts that it has locked are in `rows`.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) rows: Rows,
    pub(crate) now: Millis,
    pub(crate) order: Order,
    pub(crate) locked: BTreeSet<i64>,
    /// The accounts that exist, locked or not.
    pub(crate) keys: BTreeMap<AccountId, i64>,
}

pub(crate) fn texts<'t>(values: impl IntoIterator<Item = &'t (impl AsRef<str> + ?Sized + 't)>) -> Vec<&'t str> {
    values.into_iter().map(AsRef::as_ref).collect()
}

pub(crate) fn strange<E>(_: E) -> Failed {
    wrong("postgres: a row that the ledger doesn't write".to_owned())
}

macro_rules! select {
    (account) => {
        "key, id, clock, seq, paid, bonus, held, next_due, frozen"
    };
    (account a) => {
        "a.key, a.id, a.clock, a.seq, a.paid, a.bonus, a.held, a.next_due"
    };
    (grants) => {
        "account, seq, id, bucket, amount, expires_at, at, available, held, captured, expired, revoked, refunded"
    };
    (grants g) => {
        "g.account, g.seq, g.id, g.bucket, g.amount, g.expires_at, g.at, g.available, g.held, g.captured, g.expired, g.revoked, \
         g.refunded"
    };
    (hold) => {
        "id, account, amount, bonus_allowed, ttl, note, at, lines::text, bonus, expires_at, state, requested, captured, \
         captured_bonus, shortfall, late, settled_at"
    };
    (entry) => {
        "account, seq, at, cause, id, lines::text, paid, bonus, held, shortfall"
    };
    (entry e) => {
        "e.account, e.seq, e.at, e.cause, e.id, e.lines::text, e.paid, e.bonus, e.held, e.shortfall"
    };
}
pub(crate) use select;

/// The first of the available grants of a bucket, in the order of their ranks, by the index that is for it. 2^53 is after every time.
macro_rules! ranked {
    ($of:literal, $limit:literal, $why:literal) => {
        concat!(
            "(SELECT ",
            select!(grants),
            ", ",
            $why,
            " FROM orbs.grants WHERE account = a.key AND bucket = b.name AND is_open",
            $of,
            " ORDER BY coalesce(expires_at, 9007199254740992), seq LIMIT ",
            $limit,
            ")"
        )
    };
}

/// What a statement reads.
#[derive(Clone, Copy, Debug)]
enum Reads {
    /// Rows of several kinds.
    All,
    Holds,
    Grants,
}

type Statements<'s> = Vec<(Reads, Statement<'s>)>;

/// Locks, and then reads the time and the rows. A statement that locked and read at once would see grants as they were before it waited, so
/// what reads is in later statements. They are sent with it, and see what was committed before each of them starts.
pub(crate) fn read(client: &mut Client, named: &Named<'_>, skips: bool, given: Option<Millis>) -> Result<Read, Failed> {
    let mut read = Read {
        rows: Rows::default(),
        now: Millis::ZERO,
        order: Order::default(),
        locked: BTreeSet::new(),
        keys: BTreeMap::new(),
    };
    let mut ranks = Ranks::new();
    read.add(client, &[(Reads::All, of_all(named, skips))], given, &mut ranks)?;
    read.rows.bounds = named.bounds(&read.rows);
    let more = read.more(named);
    if !more.is_empty() {
        let statements = of_some(&read, named, &more);
        read.add(client, &statements, given, &mut ranks)?;
    }
    if !more.is_empty() || !named.refunded.is_empty() {
        let lines = read.lines(named);
        if !lines.is_empty() {
            read.add(client, &[of_lines(lines)], given, &mut ranks)?;
        }
    }
    read.bound(named, &more, ranks);
    Ok(read)
}

/// What is read for every command.
fn of_all<'n>(named: &'n Named<'_>, skips: bool) -> Statement<'n> {
    fn ids<'n>(ids: &BTreeSet<&'n Id>) -> Vec<&'n str> {
        texts(ids.iter().copied())
    }
    let buckets: Vec<_> = named.buckets().into_iter().map(Bucket::name).collect();
    let sql = "SELECT what, columns FROM orbs.read($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    Statement::new(sql)
        .with(texts(named.accounts.iter().copied()), Type::TEXT_ARRAY)
        .with(ids(&named.resolved), Type::TEXT_ARRAY)
        .with(texts(named.new_accounts.iter().copied()), Type::TEXT_ARRAY)
        .with(ids(&named.holds), Type::TEXT_ARRAY)
        .with(texts(named.taken.keys().copied()), Type::TEXT_ARRAY)
        .with(buckets, Type::TEXT_ARRAY)
        .with(named.most_grants(), Type::INT8)
        .with(texts(named.grants.iter().copied().chain(&named.renewed)), Type::TEXT_ARRAY)
        .with(ids(&named.revocations), Type::TEXT_ARRAY)
        .with(ids(&named.extensions), Type::TEXT_ARRAY)
        .with(ids(&named.refunds), Type::TEXT_ARRAY)
        .with(ids(&named.refunded), Type::TEXT_ARRAY)
        .with(ids(&named.freezes), Type::TEXT_ARRAY)
        .with(skips, Type::BOOL)
}

/// What is read of accounts in which something has expired, or that commands need more of: the holds and grants that have expired, and of
/// the other pending holds so many that the soonest is known, whatever the commands do: some end or extend one. Of the other open grants
/// the first ones of each bucket, and those that are held; or all of them, if a command has come again for that.
fn of_some(read: &Read, named: &Named<'_>, keys: &[i64]) -> Statements<'static> {
    let accounts = || keys.iter().filter_map(|key| read.rows.accounts.get(key));
    // The time of an account never goes back.
    let times: Vec<_> = accounts().map(|account| number(account.clock.max(read.now).get())).collect();
    // Nothing expires before, so that what an index still has of rows that have expired isn't read again.
    let since = |account: &AccountRow| account.next_due.map_or(0, |due| number(due.get()));
    let since: Vec<_> = accounts().map(since).collect();
    let due: Vec<_> = accounts().map(|account| most_due(named, &read.rows, account)).collect();
    let pending =
        |account: &AccountRow| if named.listed.contains(&account.id) { None } else { named.ends.checked_add(1) };
    let pending: Vec<_> = accounts().map(pending).collect();
    let whole: Vec<_> = keys.iter().copied().filter(|key| named.whole.contains(key)).collect();
    let holds = concat!(
        "SELECT h.* FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS a (key, now, since, due, pending), LATERAL (\
         (SELECT ",
        select!(hold),
        " FROM orbs.hold WHERE account = a.key AND state = 'pending' AND expires_at BETWEEN a.since AND a.now \
         ORDER BY expires_at, id LIMIT a.due) UNION ALL (SELECT ",
        select!(hold),
        " FROM orbs.hold WHERE account = a.key AND state = 'pending' AND expires_at > a.now \
         ORDER BY expires_at, id LIMIT a.pending)) AS h"
    );
    let of_grants = concat!(
        "SELECT g.* FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS a (key, now, since, due), \
         (VALUES ('paid'), ('bonus')) AS b (name), LATERAL (",
        ranked!(" AND coalesce(expires_at, 9007199254740992) BETWEEN a.since AND a.now", "a.due", "0::bigint"),
        " UNION ALL ",
        ranked!(" AND coalesce(expires_at, 9007199254740992) > a.now", "$5", "1::bigint"),
        ") AS g UNION ALL SELECT g.* FROM unnest($1::bigint[]) AS a (key), LATERAL (SELECT ",
        select!(grants),
        ", 2::bigint FROM orbs.grants WHERE account = a.key AND is_held LIMIT $5) AS g"
    );
    let grants = Statement::new(of_grants).with(keys.to_vec(), Type::INT8_ARRAY).with(times.clone(), Type::INT8_ARRAY);
    let grants = grants
        .with(since.clone(), Type::INT8_ARRAY)
        .with(due.clone(), Type::INT8_ARRAY)
        .with(named.most_grants(), Type::INT8);
    let holds = Statement::new(holds).with(keys.to_vec(), Type::INT8_ARRAY).with(times, Type::INT8_ARRAY);
    let holds = holds.with(since, Type::INT8_ARRAY).with(due, Type::INT8_ARRAY).with(pending, Type::INT8_ARRAY);
    let mut all = vec![(Reads::Holds, holds), (Reads::Grants, grants)];
    if !whole.is_empty() {
        let open = concat!(
            "SELECT ",
            select!(grants),
            ", 0::bigint FROM orbs.grants WHERE account = ANY ($1) AND is_open UNION ALL SELECT ",
            select!(grants),
            ", 0::bigint FROM orbs.grants WHERE account = ANY ($1) AND is_held"
        );
        all.push((Reads::Grants, Statement::new(open).with(whole, Type::INT8_ARRAY)));
    }
    all
}

/// The grants of these accounts with these numbers.
fn of_lines(lines: BTreeSet<(i64, u64)>) -> (Reads, Statement<'static>) {
    let (of, seqs): (Vec<_>, Vec<_>) = lines.into_iter().map(|(of, seq)| (of, number(seq))).unzip();
    let sql = concat!(
        "SELECT g.* FROM unnest($1::bigint[], $2::bigint[]) AS l (of, line), LATERAL (SELECT ",
        select!(grants),
        ", 0::bigint FROM orbs.grants WHERE account = l.of AND seq = l.line OFFSET 0) AS g"
    );
    (Reads::Grants, Statement::new(sql).with(of, Type::INT8_ARRAY).with(seqs, Type::INT8_ARRAY))
}

/// One more than may be written of what has expired, so that a batch knows whether there is more. Everything for a balance.
fn most_due(named: &Named<'_>, rows: &Rows, account: &AccountRow) -> Option<i64> {
    let due = rows.bounds.due.get(&account.key).filter(|_| !named.seen.contains(&account.id))?;
    i64::try_from(due.saturating_add(1)).ok()
}

/// Why a grant is read: it is one of the first of its account and bucket, one of those that are held, or it is named, due or a hold's.
const FIRST: i64 = 1;
const HELD: i64 = 2;

/// The ranks of the grants that were read as the first ones of an account and a bucket, or as those that are held.
type Ranks = BTreeMap<(i64, Option<Bucket>), BTreeSet<(u64, u64)>>;

impl Read {
    /// Adds what statements read.
    fn add(
        &mut self,
        client: &mut Client,
        statements: &[(Reads, Statement<'_>)],
        given: Option<Millis>,
        ranks: &mut Ranks,
    ) -> Result<(), Failed> {
        let answers = client.query_all(statements.iter().map(|(_, statement)| statement))?;
        for ((reads, _), found) in statements.iter().zip(answers) {
            for row in &found {
                match reads {
                    Reads::All => self.add_row(row, given, ranks)?,
                    Reads::Holds => self.add_hold(row)?,
                    Reads::Grants => self.add_grant(row, ranks)?,
                }
            }
        }
        Ok(())
    }

    /// Adds a row of one of the kinds that `orbs.read` returns.
    fn add_row(&mut self, row: &Row, given: Option<Millis>, ranks: &mut Ranks) -> Result<(), Failed> {
        let what: i32 = row.try_get(0).map_err(strange)?;
        let row: Strings<'_> = row.try_get(1).map_err(strange)?;
        match what {
            0 => drop(self.locked.insert(row.key(0).map_err(strange)?)),
            1 => (self.now, self.order) = time_of(&row, given)?,
            2 => self.add_account(&row)?,
            3 => self.add_hold(&row)?,
            4 => self.add_grant(&row, ranks)?,
            5 => {
                let revoked = columns::revocation(&row).map_err(strange)?;
                self.rows.revocations.insert(revoked.receipt.id.clone(), revoked);
            }
            6 => {
                let extended = columns::extension(&row).map_err(strange)?;
                self.rows.extensions.insert(extended.1.id.clone(), extended);
            }
            7 => {
                let refund = columns::refund(&row).map_err(strange)?;
                self.rows.refunds.insert(refund.receipt.id.clone(), refund);
            }
            8 => {
                let entry = columns::entry(&row).map_err(strange)?;
                let captured = entry.captured().map_err(|stop| Failed::Wrong(stop.error()))?;
                self.rows.captured.insert(entry.id, captured);
            }
            9 => {
                let freeze = columns::freeze(&row).map_err(strange)?;
                self.rows.freezes.insert(freeze.receipt.id.clone(), freeze);
            }
            _ => return Err(strange(())),
        }
        Ok(())
    }

    fn add_hold(&mut self, row: &impl Columns) -> Result<(), Failed> {
        let hold = columns::hold(row).map_err(strange)?;
        self.rows.holds.insert(hold.id.clone(), hold);
        Ok(())
    }

    fn add_account(&mut self, row: &impl Columns) -> Result<(), Failed> {
        let account = columns::account(row).map_err(strange)?;
        self.keys.insert(account.id.clone(), account.key);
        if self.locked.contains(&account.key) {
            // One without entries was only created.
            match account.seq {
                0 => drop(self.rows.keys.insert(account.id, account.key)),
                _ => drop(self.rows.accounts.insert(account.key, account)),
            }
        }
        Ok(())
    }

    fn add_grant(&mut self, row: &impl Columns, ranks: &mut Ranks) -> Result<(), Failed> {
        let grant = columns::grant(row).map_err(strange)?;
        let why = row.key(13).map_err(strange)?;
        if why == FIRST || why == HELD {
            let bucket = (why == FIRST).then_some(grant.bucket);
            ranks.entry((grant.account, bucket)).or_default().insert(grant.rank());
        }
        self.rows.grant_ids.insert(grant.id.clone(), (grant.account, grant.seq));
        self.rows.grants.insert((grant.account, grant.seq), grant);
        Ok(())
    }

    /// The accounts that need more.
    fn more(&self, named: &Named<'_>) -> Vec<i64> {
        // More than is held is taken from what is available.
        let beyond = named.captures.iter().filter_map(|(hold, amount)| {
            let hold = self.rows.holds.get(*hold)?;
            let takes = hold.settlement.is_none() && (hold.state == State::Expired || *amount > hold.amount);
            hold.account.filter(|_| takes)
        });
        let beyond: BTreeSet<i64> = beyond.collect();
        let accounts = self.rows.accounts.values();
        let more = accounts.filter(|account| beyond.contains(&account.key) || named.needs_more(account, self.now));
        more.map(|account| account.key).collect()
    }

    /// The grants of the holds that commands or the time might end, as far as they haven't been read.
    fn lines(&self, named: &Named<'_>) -> BTreeSet<(i64, u64)> {
        let ends = |hold: &&HoldRow| {
            let account = hold.account.and_then(|key| self.rows.accounts.get(&key));
            let is_due = |account: &AccountRow| hold.expires_at <= account.clock.max(self.now);
            let is_refunded = named.refunded.contains(&hold.id) && account.is_some();
            is_refunded
                || hold.state == State::Pending
                    && account.is_some_and(|account| named.resolved.contains(&hold.id) || is_due(account))
        };
        let holds = self.rows.holds.values().filter(ends);
        let lines = holds.filter_map(|hold| Some((hold.account?, &hold.lines)));
        let captured = self.rows.captured.iter().filter_map(|(hold, lines)| {
            let account = self.rows.holds.get(hold)?.account?;
            self.rows.accounts.contains_key(&account).then_some((account, lines))
        });
        let lines = lines.chain(captured);
        let lines = lines.flat_map(|(account, lines)| lines.iter().map(move |(seq, _)| (account, *seq)));
        lines.filter(|line| !self.rows.grants.contains_key(line)).collect()
    }

    /// What isn't known, because only the first grants of a bucket were read.
    fn bound(&mut self, named: &Named<'_>, more: &[i64], ranks: Ranks) {
        let might_be_more = |ranks: Option<&BTreeSet<_>>| {
            ranks.is_some_and(|ranks| i64::try_from(ranks.len()).is_ok_and(|count| count >= named.most_grants()))
        };
        let buckets = named.buckets();
        for account in self.rows.accounts.values().filter(|account| !named.whole.contains(&account.key)) {
            let (key, has_more) = (account.key, more.binary_search(&account.key).is_ok());
            for bucket in [Bucket::Paid, Bucket::Bonus] {
                let first = ranks.get(&(key, Some(bucket)));
                let is_read = has_more || named.taken.contains_key(&account.id) && buckets.contains(&bucket);
                let known_to = match is_read {
                    true if might_be_more(first) => first.and_then(BTreeSet::last).copied(),
                    true => None,
                    false => Some((0, 0)),
                };
                if let Some(last) = known_to {
                    self.rows.bounds.known_to.insert((key, bucket), last);
                }
            }
            if account.held > Orbs::ZERO && (!has_more || might_be_more(ranks.get(&(key, None)))) {
                self.rows.bounds.partly_held.insert(key);
            }
        }
    }
}

/// The version of the schema that this program reads and writes.
pub(crate) const VERSION: &str = "7";

pub(crate) fn another_version(version: &str) -> Failed {
    wrong(format!("the version of the ledger is `{version}`; this program knows `{VERSION}`"))
}

/// Reads what [`time_of`] takes: the time, the version and the order.
pub(crate) const TIME: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, \
    (SELECT value FROM orbs.setting WHERE name = 'version'), (SELECT value FROM orbs.setting WHERE name = 'order')";

/// The time, and the order in which orbs are taken. The schema must still be of this version.
pub(crate) fn time(client: &mut Client, given: Option<Millis>) -> Result<(Millis, Order), Failed> {
    time_of(&client.query_one(TIME, &[])?, given)
}

/// The same of a row.
pub(crate) fn time_of(row: &impl Columns, given: Option<Millis>) -> Result<(Millis, Order), Failed> {
    let version = row.text(1).ok();
    if version != Some(VERSION) {
        return Err(another_version(version.unwrap_or_default()));
    }
    let order = row.text(2).ok().and_then(Order::from_name).ok_or_else(|| strange(()))?;
    Ok((given.map_or_else(|| row.time(0).map_err(strange), Ok)?, order))
}

/// Numbers have their bound already.
pub(crate) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Some of the accounts in which something has expired: so many grants and holds.
pub(crate) fn due_accounts(client: &mut Client, now: Millis, most: usize) -> Result<Vec<AccountId>, Failed> {
    let sql = "SELECT id FROM orbs.account WHERE key IN (\
               (SELECT account FROM orbs.hold WHERE state = 'pending' AND expires_at <= $1 ORDER BY expires_at LIMIT $2) \
               UNION (SELECT account FROM orbs.grants WHERE is_open AND expires_at <= $1 ORDER BY expires_at LIMIT $2))";
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = client.query(sql, &[(&number(now.get()), Type::INT8), (&most, Type::INT8)])?;
    rows.iter().map(|row| row.name(0, AccountId::new).map_err(strange)).collect()
}

pub(crate) fn count_pending(client: &mut Client) -> Result<u64, Failed> {
    let rows = client.query("SELECT count(*) FROM orbs.hold WHERE state = 'pending'", &[])?;
    rows.first().ok_or_else(|| strange(()))?.number(0).map_err(strange)
}

/// Some of the accounts whose time is ahead of this one.
pub(crate) fn ahead(client: &mut Client, now: Millis, most: usize) -> Result<Vec<AccountId>, Failed> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let sql = "SELECT id FROM orbs.account WHERE clock > $1 ORDER BY id LIMIT $2";
    let rows = client.query(sql, &[(&number(now.get()), Type::INT8), (&most, Type::INT8)])?;
    rows.iter().map(|row| row.name(0, AccountId::new).map_err(strange)).collect()
}

/// How many accounts something has expired in, and since when.
pub(crate) fn backlog(client: &mut Client, now: Millis) -> Result<(u64, Option<Millis>), Failed> {
    let sql = "SELECT count(DISTINCT account), min(expires_at)::bigint FROM (\
               SELECT account, expires_at FROM orbs.hold WHERE state = 'pending' AND expires_at <= $1 \
               UNION ALL SELECT account, expires_at FROM orbs.grants WHERE is_open AND expires_at <= $1) AS due";
    let rows = client.query(sql, &[(&number(now.get()), Type::INT8)])?;
    let row = rows.first().ok_or_else(|| strange(()))?;
    Ok((row.number(0).map_err(strange)?, row.optional_time(1).map_err(strange)?))
}
