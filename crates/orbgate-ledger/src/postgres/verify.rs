//! Checks a ledger, in short reads.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::answer::Refunded;
use crate::columns::{self, Columns as _};
use crate::error::Error;
use crate::plan::{AccountRow, EntryRow, GrantRow, HoldRow};
use crate::postgres::client::Client;
use crate::postgres::columns::Strange;
use crate::postgres::failed::Failed;
use crate::postgres::feed;
use crate::postgres::open::Connection;
use crate::postgres::rows::select;
use crate::value::{AccountId, Id, Orbs};
use crate::verify::{Faults, Fold};

/// A page is read in one snapshot.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The rows of a read.
const PAGE: i64 = 1000;

pub(crate) fn verify(connection: &mut Connection) -> Result<Faults, Error> {
    let mut faults = Faults::default();
    let mut after = 0_i64;
    loop {
        let sql = "SELECT key, id FROM orbs.account WHERE key > $1 AND seq > 0 ORDER BY key LIMIT $2";
        let accounts = connection.again(|client| client.query(sql, &[(&after, Type::INT8), (&PAGE, Type::INT8)]))?;
        if accounts.is_empty() {
            break;
        }
        for row in accounts {
            after = row.get(0);
            verify_account(connection, after, row.get(1), &mut faults)?;
        }
    }
    let mut place = connection.again(feed::first)?;
    loop {
        let entries = connection.again(|client| feed::numbered(client, place.number, PAGE))?;
        if entries.is_empty() {
            break;
        }
        faults.follow(&mut place, &entries);
    }
    let lost = connection.again(feed::lost)?;
    faults.note(lost == 0, || format!("{lost} entries have no number, although later ones have"));
    Ok(faults)
}

/// What a page has: entries, and the rows that they are compared with.
struct Read {
    entries: Vec<EntryRow>,
    holds: Vec<HoldRow>,
    account: Vec<AccountRow>,
    grants: Vec<GrantRow>,
    refunds: Vec<(Refunded, Orbs)>,
}

fn verify_account(connection: &mut Connection, key: i64, id: String, faults: &mut Faults) -> Result<(), Error> {
    let strange = |_| Error::Unknown("postgres: a row that the ledger doesn't write".to_owned());
    let mut fold = Fold::new(AccountId::new(id).map_err(|error| Error::Unknown(error.to_string()))?);
    loop {
        let (seq, open) = (i64::try_from(fold.seq()).unwrap_or(i64::MAX), fold.holds());
        let read = connection
            .again(|client| client.transaction(BEGIN, |client| read(client, key, seq, &open)))?
            .map_err(strange)?;
        for entry in &read.entries {
            fold.entry(entry, faults);
        }
        let is_last = i64::try_from(read.entries.len()).is_ok_and(|length| length < PAGE);
        let settled = fold.settled();
        for hold in read.holds.iter().filter(|hold| is_last || settled.contains(&hold.id)) {
            fold.hold(hold, faults);
        }
        if let (true, Some(account)) = (is_last, read.account.first()) {
            fold.finish(account, &read.grants, &read.refunds, faults);
            return Ok(());
        }
    }
}

/// Reads a page.
fn read(client: &mut Client, key: i64, seq: i64, open: &[Id]) -> Result<Result<Read, Strange>, Failed> {
    let sql =
        concat!("SELECT ", select!(entry), " FROM orbs.entry WHERE account = $1 AND seq > $2 ORDER BY seq LIMIT $3");
    let entries = client.query(sql, &[(&key, Type::INT8), (&seq, Type::INT8), (&PAGE, Type::INT8)])?;
    let mut ids: Vec<String> = open.iter().map(|id| id.as_str().to_owned()).collect();
    ids.extend(entries.iter().map(|row| row.get::<_, String>(4)));
    let sql = concat!(
        "SELECT ",
        select!(hold),
        " FROM orbs.hold WHERE account = $1 AND (id = ANY ($2) OR state = 'pending')"
    );
    let holds = client.query(sql, &[(&key, Type::INT8), (&ids, Type::TEXT_ARRAY)])?;
    let sql = concat!("SELECT ", select!(account), " FROM orbs.account WHERE key = $1");
    let account = client.query(sql, &[(&key, Type::INT8)])?;
    let sql = concat!("SELECT ", select!(grants), " FROM orbs.grants WHERE account = $1");
    let grants = client.query(sql, &[(&key, Type::INT8)])?;
    let sql = "SELECT r.id, r.account, r.hold, r.amount, r.bonus, r.expires_at, r.at, r.stated, a.id, coalesce(h.captured, 0)::bigint \
         FROM orbs.refund AS r JOIN orbs.account AS a ON a.key = r.account LEFT JOIN orbs.hold AS h ON h.id = r.hold \
         WHERE r.account = $1";
    let refunds = client.query(sql, &[(&key, Type::INT8)])?;
    let refund = |row: &Row| Ok((columns::refund(row)?.receipt, row.orbs(9)?));
    let read = || {
        Ok(Read {
            entries: entries.iter().map(columns::entry).collect::<Result<_, Strange>>()?,
            holds: holds.iter().map(columns::hold).collect::<Result<_, Strange>>()?,
            account: account.iter().map(columns::account).collect::<Result<_, Strange>>()?,
            grants: grants.iter().map(columns::grant).collect::<Result<_, Strange>>()?,
            refunds: refunds.iter().map(refund).collect::<Result<_, Strange>>()?,
        })
    };
    Ok(read())
}
