//! Opens the ledger, and does one command.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use orbgate_ledger::{
    AccountId, Bucket, ClockChange, ClockState, Complete, Cursor, Done, Error, Extend, Freeze, Grant, GrantAnswer,
    Granted, Hold, HoldAnswer, Id, Invalid, Ledger, Note, Orbs, Postgres, Refund, Revoke, Settle, Settlement, Similar,
    Sqlite, State, similar,
};

use super::arguments::{Arguments, Clock, Entries, What};
use super::given::{self, Failed};
use super::values::{duration, time};
use super::{file, grants, people, show};
use crate::output::{Exit, Stop, count, error, note, one_line, warning};
use crate::{input, progress};

/// Entries that are read at a time.
const PAGE: usize = 1000;

/// The longest file of grants, which is a million of them.
const MOST_BYTES: u64 = 256 << 20;

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let ledger = open(arguments)?;
    match done(&ledger, arguments) {
        Ok(exit) => Ok(exit),
        Err(Failed::Stop(stop)) => Err(stop),
        Err(Failed::Invalid(invalid)) => Err(Stop::Error(invalid.to_string())),
        Err(Failed::Ledger(why)) => match why {
            Error::Conflict
            | Error::Settled(_)
            | Error::NotPending(_)
            | Error::NotCaptured(_)
            | Error::TooMuch(_)
            | Error::Cursor => {
                error(&why.to_string());
                Ok(Exit::Findings)
            }
            _ => Err(Stop::Error(why.to_string())),
        },
    }
}

enum Opened {
    Sqlite(Sqlite),
    Postgres(Box<Postgres>),
}

impl Opened {
    fn ledger(&self) -> &dyn Ledger {
        match self {
            Self::Sqlite(ledger) => ledger,
            Self::Postgres(ledger) => &**ledger,
        }
    }

    fn clock(&self, change: ClockChange) -> Result<ClockState, Error> {
        match self {
            Self::Sqlite(ledger) => ledger.clock(change),
            Self::Postgres(ledger) => ledger.clock(change),
        }
    }

    fn backup(&self, file: &Path) -> Result<(), Failed> {
        match self {
            Self::Sqlite(ledger) => Ok(ledger.backup(file)?),
            Self::Postgres(_) => {
                let message =
                    "`backup` copies SQLite files: back up a PostgreSQL database with `pg_dump` or its server";
                Err(Failed::Stop(Stop::Error(message.to_owned())))
            }
        }
    }
}

fn open(arguments: &Arguments) -> Result<Opened, Stop> {
    let Some(db) = &arguments.db else {
        return Err(Stop::Error("`--db FILE|URL` is missing: the ledger".to_owned()));
    };
    let only_reads = matches!(
        arguments.what,
        What::Account(_)
            | What::Accounts(_)
            | What::Balance(_)
            | What::Entries(_)
            | What::Holds(_)
            | What::Totals(_)
            | What::Verify(_)
            | What::Clock(Clock { accept: false, reset: false })
    );
    if let Some(url) = db.to_str().filter(|db| Postgres::is_url(db)) {
        let ledger = if only_reads { Postgres::open_to_read(url) } else { Postgres::open(url) };
        let ledger = ledger.map_err(|error| Stop::Error(error.to_string()))?;
        return Ok(Opened::Postgres(Box::new(ledger)));
    }
    // A slip in a name isn't an empty ledger.
    if !matches!(arguments.what, What::Grant(_)) && !Path::new(db).exists() {
        return Err(Stop::Error(format!("cannot read `{}`: there is no ledger; `grant` creates one", db.display())));
    }
    let ledger = if only_reads { Sqlite::open_to_read(db) } else { Sqlite::open(db) };
    Ok(Opened::Sqlite(ledger.map_err(|error| Stop::Error(error.to_string()))?))
}

fn done(opened: &Opened, arguments: &Arguments) -> Result<Exit, Failed> {
    let ledger = opened.ledger();
    let out = show::Out { json: arguments.json };
    match &arguments.what {
        What::Grant(given) => {
            if let Some(file) = &given.from {
                return grants(ledger, file, out);
            }
            let bucket = if given.bonus { Bucket::Bonus } else { Bucket::Paid };
            let expires_at = given.expires.as_deref().map(time).transpose()?;
            let [id, account] = [&given.id, &given.account].map(|text| text.as_deref().unwrap_or_default());
            let (id, account, amount) = (Id::new(id)?, AccountId::new(account)?, Orbs::new(given.amount.unwrap_or(0))?);
            let (existing, note, author) = (given.existing, Note::new(&given.note)?, author());
            let grant = Grant { bucket, expires_at, existing, note, author, ..Grant::new(id, account, amount) };
            let done = ledger.grant(grant)?;
            let similar = names(ledger, [&done].into_iter());
            let answer = answer(done, &similar);
            out.granted(&answer)?;
            warn("", &answer);
        }
        What::Revoke(given) => {
            let (id, account, grant) = (id(&given.id)?, account(&given.account)?, id(&given.grant)?);
            let (amount, note) = (given.amount.map(Orbs::new).transpose()?, Note::new(&given.note)?);
            out.revoked(&ledger.revoke(Revoke { id, account, grant, amount, note, author: author() })?)?;
        }
        What::Refund(given) => {
            let expires_at = given.expires.as_deref().map(time).transpose()?;
            let (id, hold, amount) = (id(&given.id)?, id(&given.hold)?, given.amount.map(Orbs::new).transpose()?);
            let (note, author) = (Note::new(&given.note)?, author());
            out.refunded(&ledger.refund(Refund { id, hold, amount, expires_at, note, author })?)?;
        }
        What::Freeze(given) | What::Unfreeze(given) => {
            let frozen = matches!(arguments.what, What::Freeze(_));
            let (note, author) = (Note::new(&given.note)?, author());
            let freeze = Freeze { note, author, ..Freeze::new(id(&given.id)?, account(&given.account)?, frozen) };
            out.frozen(&ledger.freeze(freeze)?)?;
        }
        What::Hold(given) => {
            let (id, account, amount) = (id(&given.id)?, account(&given.account)?, Orbs::new(given.amount)?);
            let (bonus, ttl, note) = (given.bonus, duration(&given.ttl)?, Note::new(&given.note)?);
            let answer = ledger.hold(Hold { id, account, amount, bonus, ttl, note })?;
            out.hold(&answer)?;
            // A hold that was released covers no call.
            let is_held = matches!(answer, HoldAnswer::Held { state: State::Pending | State::Captured, .. });
            return Ok(if is_held { Exit::Fine } else { Exit::Findings });
        }
        What::Extend(given) => {
            let extension = given.id.as_deref().map_or_else(new_id, id)?;
            let (hold, ttl) = (id(&given.hold)?, duration(&given.ttl)?);
            out.extended(&ledger.extend(Extend { id: extension, hold, ttl })?)?;
        }
        What::Settle(given) => {
            let settlement = match given.capture {
                Some(amount) => Settlement::Capture(Orbs::new(amount)?),
                None => Settlement::Void,
            };
            out.settled(&ledger.settle(Settle { hold: id(&given.hold)?, settlement })?)?;
        }
        What::Holds(given) => out.holds(&ledger.holds(account(&given.account)?)?)?,
        What::Balance(given) => out.balance(&ledger.balance(account(&given.account)?)?)?,
        What::Account(given) => people::account(ledger, given, arguments.json)?,
        What::Accounts(given) => people::accounts(ledger, given, arguments.json)?,
        What::Totals(given) => people::totals(ledger, given, arguments.json)?,
        What::Entries(given) => entries(ledger, given, out)?,
        What::Expire(_) => {
            ledger.expire()?;
            let complete_until = ledger.entries(&Cursor::default(), 0)?.complete_until;
            out.expired(Complete { complete_until })?;
        }
        What::Verify(_) => {
            let faults = ledger.verify()?;
            out.verified(&faults)?;
            return Ok(if faults.found.is_empty() { Exit::Fine } else { Exit::Findings });
        }
        What::Backup(given) => opened.backup(&given.file)?,
        What::Clock(given) => {
            let change = match given {
                Clock { accept: true, .. } => ClockChange::Accept,
                Clock { reset: true, .. } => ClockChange::Reset,
                Clock { .. } => ClockChange::Nothing,
            };
            let state = opened.clock(change)?;
            out.clock(&state)?;
            return Ok(if state.refused || state.ahead > 0 { Exit::Findings } else { Exit::Fine });
        }
    }
    Ok(Exit::Fine)
}

/// Grants what a file says, if all of it can be read.
fn grants(ledger: &dyn Ledger, file: &Path, out: show::Out) -> Result<Exit, Failed> {
    let name = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    let bytes = input::read(file, MOST_BYTES.saturating_add(1)).map_err(Stop::Error)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MOST_BYTES {
        return Err(Stop::Error(format!("`{name}` has over {MOST_BYTES} bytes: split it")).into());
    }
    let rows = file::read(&bytes, &author()).map_err(|wrong| {
        let lines = wrong.iter().map(|line| format!("{name}:{line}"));
        Stop::Diagnostics(lines.collect::<Vec<_>>().join("\n"))
    })?;
    let mut tally = show::Tally::new(rows.len());
    let (bar, mut failed, mut exit) = (progress::steps(rows.len()), Ok(()), Exit::Fine);
    // Their receipts have the names of others that are like theirs, which are looked for once.
    let mut opened = Vec::new();
    grants::all(ledger, &rows, |row, answer| {
        bar.inc(1);
        match answer {
            Ok(done) => {
                tally.add(&done);
                if done.opens() {
                    opened.push((row, done));
                } else if out.json && failed.is_ok() {
                    failed = bar.suspend(|| out.granted(&done.with(Vec::new())));
                }
            }
            Err(why) => {
                bar.suspend(|| error(&format!("{name}:{}: {why}", row.line)));
                exit = if matches!(why, Error::Conflict) && exit != Exit::CouldNotRun {
                    Exit::Findings
                } else {
                    Exit::CouldNotRun
                };
            }
        }
    });
    bar.finish_and_clear();
    failed?;
    let similar = names(ledger, opened.iter().map(|(_, done)| done));
    for (row, done) in opened {
        let answer = answer(done, &similar);
        if out.json {
            out.granted(&answer)?;
        }
        warn(&format!("{name}:{}: ", row.line), &answer);
    }
    out.tally(&tally)?;
    Ok(exit)
}

/// Names like those of accounts that grants have opened. The grants are done, so a failure is only a warning.
fn names<'d>(ledger: &dyn Ledger, done: impl Iterator<Item = &'d Done<Granted>>) -> Similar {
    let new = done.filter(|done| done.opens()).map(|done| &done.receipt.account);
    similar(ledger, new).unwrap_or_else(|why| {
        warning(&format!("the names of new accounts aren't compared with others: {why}"));
        Similar::default()
    })
}

fn answer(done: Done<Granted>, similar: &Similar) -> GrantAnswer {
    let found = if done.opens() { similar.to(&done.receipt.account) } else { Vec::new() };
    done.with(found)
}

fn warn(place: &str, answer: &GrantAnswer) {
    if answer.similar.is_empty() {
        return;
    }
    let shown = |name: &AccountId| format!("`{}`", one_line(name.as_str()));
    let (new, others) = (shown(&answer.done.receipt.account), answer.similar.iter().map(shown).collect::<Vec<_>>());
    let others = others.join(", ");
    warning(&format!(
        "{place}the new account {new} differs from {others} only by case, spaces or invisible characters"
    ));
}

/// Prints entries page by page, so that a long log takes no memory.
fn entries(ledger: &dyn Ledger, given: &Entries, out: show::Out) -> Result<(), Failed> {
    let mut after = Cursor::new(&given.after);
    let mut rest = given.limit.unwrap_or(usize::MAX);
    let mut is_first = true;
    let of = given.account.as_deref().map(account).transpose()?;
    let period = given::period(given.from.as_deref(), given.to.as_deref())?;
    loop {
        let limit = if period.is_all() { rest.min(PAGE) } else { PAGE };
        let mut page = match &of {
            Some(account) => ledger.entries_of(account, &after, limit)?.entries,
            None => ledger.entries(&after, limit)?.entries,
        };
        let Some((last, _)) = page.last() else {
            break;
        };
        after = last.clone();
        page.retain(|(_, entry)| period.has(entry.at));
        page.truncate(rest);
        rest = rest.saturating_sub(page.len());
        out.entries(&page, given, is_first)?;
        is_first = false;
        if rest == 0 {
            return Ok(());
        }
    }
    let unnumbered = ledger.backlog()?.unnumbered;
    if unnumbered > 0 {
        let entries = count(usize::try_from(unnumbered).unwrap_or(usize::MAX), "entry");
        note(&format!(
            "{entries} will come later: a service that runs numbers them, or `orbgate orbs expire` does now"
        ));
    }
    Ok(())
}

fn id(text: &str) -> Result<Id, Invalid> {
    Id::new(text)
}

fn account(text: &str) -> Result<AccountId, Invalid> {
    AccountId::new(text)
}

/// The user's name in this system, if it is known.
fn author() -> Note {
    let names = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let mut names = names.filter(|name| !name.is_empty()).filter_map(|name| Note::new(name).ok());
    names.next().unwrap_or_default()
}

/// An id that no other process uses at this nanosecond.
fn new_id() -> Result<Id, Invalid> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Id::new(format!("extend-{}-{}", now.as_nanos(), std::process::id()))
}
