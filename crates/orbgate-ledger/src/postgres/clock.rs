//! The clock of a database: looks at it, accepts it, and brings accounts back that are ahead of it.

use tokio_postgres::types::Type;

use crate::answer::{ClockState, Early};
use crate::columns::Columns as _;
use crate::error::Error;
use crate::ledger::ClockChange;
use crate::plan;
use crate::postgres::client::{Client, Parameters};
use crate::postgres::columns::Strange;
use crate::postgres::failed::Failed;
use crate::postgres::named::{BATCH, Named};
use crate::postgres::open::{Connection, reading};
use crate::postgres::rows::{self, Read, number, strange};
use crate::postgres::watched::told;
use crate::postgres::write;
use crate::postgres::writer::{BEGIN, stored};
use crate::value::{AccountId, Bucket, Id, Millis};
use crate::watch::{self, Told, Watch};

/// Other processes read it once they look at a time that is too far ahead, or is behind.
fn set(client: &mut Client, name: &str, now: Millis) -> Result<(), Failed> {
    let sql = "INSERT INTO orbs.setting VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    let parameters: Parameters<'_> = &[(&name, Type::TEXT), (&now.get().to_string(), Type::TEXT)];
    client.query(sql, parameters).map(drop)
}

/// Accepts the clock or resets accounts, if asked to, and returns what is true then.
pub(crate) fn change(connection: &mut Connection, change: ClockChange) -> Result<ClockState, Error> {
    let (mut done, watched) = (ClockState::default(), connection.watched.clone());
    let (given, steady) = (|| watched.given(), || watched.steady());
    match change {
        ClockChange::Nothing => {}
        ClockChange::Accept => connection.again(|client| {
            client.transaction(BEGIN, |client| {
                let (now, _) = rows::time(client, given())?;
                set(client, "accepted", now)
            })
        })?,
        ClockChange::Reset => loop {
            let part =
                connection.again(|client| client.until_commit(BEGIN, |client| reset(client, given(), steady())))?;
            done.reset = done.reset.saturating_add(part.0);
            done.shortened = done.shortened.saturating_add(part.1);
            if part.0 == 0 {
                break;
            }
        },
    }
    connection.again(|client| reading(client, |client| state(client, given(), steady(), done.clone())))
}

/// Brings some of the accounts back that are ahead, and returns how many these are, and how many of their holds are shortened.
fn reset(client: &mut Client, given: Option<Millis>, steady: Option<Millis>) -> Result<(u64, u64), Failed> {
    let (now, _) = rows::time(client, given)?;
    watch::is_possible(now, steady).map_err(Failed::Wrong)?;
    let accounts = rows::ahead(client, now, BATCH)?;
    let Read { rows: before, now, .. } = rows::read(client, &Named::whole(&accounts), false, given)?;
    let (mut after, mut count, mut shortened) = (before.clone(), 0_u64, 0_u64);
    for account in before.accounts.values() {
        let done = plan::reset(&mut after, account.clone(), now).map_err(|stop| Failed::Wrong(stop.error()))?;
        count = count.saturating_add(1);
        shortened = shortened.saturating_add(done.unwrap_or_default());
    }
    set(client, "reset", now)?;
    set(client, "accepted", now)?;
    let (before, after) = (stored(before), stored(after));
    client.commit_with(&write::write(&before, &after))?;
    Ok((count, shortened))
}

fn state(
    client: &mut Client,
    given: Option<Millis>,
    steady: Option<Millis>,
    done: ClockState,
) -> Result<ClockState, Failed> {
    let (now, _) = rows::time(client, given)?;
    let told = told(client)?;
    let looked = Watch::default().look(now, steady, || Ok::<_, Failed>(told))?;
    let sql = "SELECT count(*) FILTER (WHERE clock > $1), max(clock)::bigint FROM orbs.account";
    let row = client.query(sql, &[(&number(now.get()), Type::INT8)])?;
    let row = row.first().ok_or_else(|| strange(()))?;
    let (ahead, latest) = (row.number(0).map_err(strange)?, row.optional_time(1).map_err(strange)?);
    let (Told { newest, accepted, .. }, refused, early) = (told, looked.is_err(), early(client, now)?);
    Ok(ClockState { now, newest, accepted, refused, ahead, latest, early, ..done })
}

fn early(client: &mut Client, now: Millis) -> Result<Vec<Early>, Failed> {
    let sql = "SELECT a.id, g.id, g.bucket, g.expired, g.expires_at FROM orbs.grants AS g \
               JOIN orbs.account AS a ON a.key = g.account WHERE g.expired > 0 AND g.expires_at > $1 ORDER BY a.id, g.seq";
    let rows = client.query(sql, &[(&number(now.get()), Type::INT8)])?;
    let rows = rows.iter().map(|row| {
        let (account, grant) = (row.name(0, AccountId::new)?, row.name(1, Id::new)?);
        let (bucket, expired, expires_at) = (row.word(2, Bucket::from_name)?, row.orbs(3)?, row.time(4)?);
        Ok(Early { account, grant, bucket, expired, expires_at })
    });
    rows.collect::<Result<_, Strange>>().map_err(strange)
}
