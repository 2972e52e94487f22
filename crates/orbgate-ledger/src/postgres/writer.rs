//! A batch: commands that are planned in memory, between one locked read and one write of each row, in one transaction.

use std::collections::BTreeSet;

use crate::answer::{Answer, HoldAnswer};
use crate::cause::State;
use crate::command::Command;
use crate::error::Error;
use crate::model::{Bounds, Rows};
use crate::plan::{self, Stop, Tables as _, Waits};
use crate::postgres::client::{Client, Statement};
use crate::postgres::failed::{Failed, wrong};
use crate::postgres::named::{BATCH, Named};
use crate::postgres::rows::{self, Read};
use crate::postgres::watched::Watched;
use crate::postgres::write;
use crate::value::{AccountId, Millis};

/// The answer to a command.
pub(crate) type Returned = Result<Answer, Error>;

/// What a batch begins with. Its first statement calls `orbs.begins`.
const BATCH_BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// What each other transaction begins with that can write.
pub(crate) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT orbs.begins()";

/// Before the commit of a batch that answers no command, and writes only what has expired. Readers see an entry once it has a number, and
/// that transaction is durable with everything before it.
const LATER: Statement<'_> = Statement::new("SET LOCAL synchronous_commit = off");

/// What became of a command in a batch.
#[derive(Debug)]
pub(crate) enum Became {
    Done(Returned),
    /// Its account is locked elsewhere, or its hold has appeared in an account that isn't locked.
    Again,
    /// Its account has a backlog, or more of its grants have to be read.
    Later,
}

/// Commands that wait, and their accounts. Others of these accounts also wait.
#[derive(Clone, Debug, Default)]
struct Queue {
    commands: Waits,
    keys: BTreeSet<i64>,
}

impl Queue {
    fn add(&mut self, command: &Command, account: Option<i64>) {
        self.commands.add(command);
        self.keys.extend(account);
    }

    /// Whether a command has to wait. Then it is one of them.
    fn has(&mut self, command: &Command, account: Option<i64>) -> bool {
        let waits = self.commands.has(command) || account.is_some_and(|key| self.keys.contains(&key));
        if waits {
            self.add(command, account);
        }
        waits
    }
}

/// What commands that come again need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The accounts with a backlog.
    behind: BTreeSet<i64>,
    /// The accounts of which all open grants have to be read.
    whole: BTreeSet<i64>,
}

/// Some commands on their way, in one transaction or several.
#[derive(Debug)]
pub(crate) struct Round {
    /// The time, if it isn't the database's.
    given: Option<Millis>,
    /// What is known of the clock.
    pub(crate) watched: Watched,
    before: Known,
    later: Queue,
    whole: BTreeSet<i64>,
    /// What was written.
    pub(crate) written: Written,
}

/// How much was written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    pub(crate) entries: usize,
    /// The holds that were released because they had expired.
    pub(crate) expired: u64,
}

impl Written {
    fn add(&mut self, rows: &Rows) {
        let expired = rows.entries.iter().filter(|entry| entry.cause.row().hold == Some(State::Expired)).count();
        self.entries = self.entries.saturating_add(rows.entries.len());
        self.expired = self.expired.saturating_add(u64::try_from(expired).unwrap_or(u64::MAX));
    }
}

impl Round {
    pub(crate) fn new(given: Option<Millis>, watched: Watched, before: Known) -> Self {
        let (later, whole, written) = (Queue::default(), BTreeSet::new(), Written::default());
        Self { given, watched, before, later, whole, written }
    }

    /// What the next round has to know.
    pub(crate) fn known(self) -> Known {
        Known { behind: self.later.keys, whole: self.whole }
    }
}

/// Does commands in their order.
pub(crate) fn batch(
    client: &mut Client,
    commands: &[&Command],
    skips: bool,
    round: &mut Round,
) -> Result<Vec<Became>, Failed> {
    let before = (round.later.clone(), round.whole.clone(), round.written);
    let done = client.until_commit(BATCH_BEGIN, |client| planned(client, commands, skips, round));
    if done.is_err() {
        // Nothing of it counts.
        (round.later, round.whole, round.written) = before;
    }
    match done {
        Err(Failed::Taken(_)) => Ok(commands.iter().map(|_| Became::Again).collect()),
        done => done,
    }
}

fn planned(client: &mut Client, commands: &[&Command], skips: bool, round: &mut Round) -> Result<Vec<Became>, Failed> {
    let named = Named::new(commands).after(&round.before.behind, &round.before.whole);
    let Read { rows: before, now, order, locked, keys } = rows::read(client, &named, skips, round.given)?;
    // No command is done at a time to which the clock has leapt.
    if let Err(leap) = round.watched.look(client, now)? {
        client.commit_with(&[])?;
        return Ok(commands.iter().map(|_| Became::Done(Err(leap.error()))).collect());
    }
    let mut after = before.clone();
    let mut again = Queue::default();
    let mut became = Vec::with_capacity(commands.len());
    let (mut repeats, mut count) = (false, 0_usize);
    for command in commands {
        let account = match command.account() {
            Some(account) => keys.get(account).copied(),
            None => command.of_hold().and_then(|hold| after.holds.get(hold)?.account),
        };
        if count >= BATCH {
            round.later.add(command, account);
        }
        if round.later.has(command, account) {
            became.push(Became::Later);
            continue;
        }
        if again.has(command, account) || account.is_some_and(|key| !locked.contains(&key)) {
            again.add(command, account);
            became.push(Became::Again);
            continue;
        }
        count = count.saturating_add(1);
        became.push(match plan::run(&mut after, order, command, now) {
            Ok(answer) => {
                repeats |= is_repeated(&answer);
                Became::Done(Ok(answer))
            }
            Err(Stop::Refused(error)) => Became::Done(Err(error)),
            Err(Stop::Later(key)) => {
                round.later.add(command, Some(key));
                Became::Later
            }
            Err(Stop::Broken(why)) => return Err(wrong(why)),
        });
    }
    round.whole.append(&mut after.bounds.whole);
    let (before, after) = (stored(before), stored(after));
    let writes = before != after;
    let mut statements = match writes {
        true => write::write(&before, &after),
        false if repeats => write::touch(&locked, &named),
        false => Vec::new(),
    };
    if !became.iter().any(|became| matches!(became, Became::Done(_))) {
        statements.push(LATER);
    }
    client.commit_with(&statements)?;
    round.written.add(&after);
    Ok(became)
}

/// Writes at most so much of what has expired in these accounts, but for those that are locked elsewhere. Nothing, if the clock has leapt.
pub(crate) fn expire(
    client: &mut Client,
    accounts: &[AccountId],
    most: usize,
    given: Option<Millis>,
    watched: &mut Watched,
) -> Result<Written, Failed> {
    client.until_commit(BATCH_BEGIN, |client| expired(client, accounts, most, given, watched))
}

fn expired(
    client: &mut Client,
    accounts: &[AccountId],
    most: usize,
    given: Option<Millis>,
    watched: &mut Watched,
) -> Result<Written, Failed> {
    let Read { rows: before, now, .. } = rows::read(client, &Named::due(accounts, most), true, given)?;
    if watched.look(client, now)?.is_err() {
        return client.commit_with(&[]).map(|()| Written::default());
    }
    let mut after = before.clone();
    for account in before.accounts.values() {
        let most = after.most_expiries(account.key);
        let expired = plan::expire(&mut after, account.clone(), now, most);
        expired.map_err(|stop| Failed::Wrong(stop.error()))?;
    }
    let mut written = Written::default();
    written.add(&after);
    let (before, after) = (stored(before), stored(after));
    let mut statements = write::write(&before, &after);
    statements.push(LATER);
    client.commit_with(&statements)?;
    Ok(written)
}

/// What this store keeps of the rows: not the bounds of a batch.
pub(crate) fn stored(mut rows: Rows) -> Rows {
    rows.bounds = Bounds::default();
    rows
}

const fn is_repeated(answer: &Answer) -> bool {
    match answer {
        Answer::Granted(done) => done.repeated,
        Answer::Revoked(done) => done.repeated,
        Answer::Extended(done) => done.repeated,
        Answer::Settled(done) => done.repeated,
        Answer::Refunded(done) => done.repeated,
        Answer::Frozen(done) => done.repeated,
        Answer::Hold(HoldAnswer::Held { repeated, .. }) => *repeated,
        Answer::Hold(HoldAnswer::Denied(_)) | Answer::Balance(_) | Answer::Holds(_) => false,
    }
}
