//! Prints answers as sentences and tables, or as JSON.

use std::io::{self, Write};

use orbgate_ledger::{
    Balance, Bucket, ClockState, Complete, Cursor, Done, Entry, Event, Extended, Faults, Frozen, GrantAnswer, Granted,
    HoldAnswer, Pending, Refunded, Revoked, Settled, State,
};
use serde::Serialize;

use super::arguments::{Entries, Format};
use crate::output::{self, ALLOW, DENY, FAINT, STRONG, Stop, count, one_line, print_json, write_json};

#[derive(Clone, Copy, Debug)]
pub(super) struct Out {
    pub(super) json: bool,
}

/// What became of many grants.
#[derive(Debug)]
pub(super) struct Tally {
    rows: usize,
    granted: usize,
    before: usize,
    /// The accounts that they have opened.
    accounts: usize,
    /// Those that this run has granted.
    orbs: u64,
}

impl Tally {
    pub(super) const fn new(rows: usize) -> Self {
        Self { rows, granted: 0, before: 0, accounts: 0, orbs: 0 }
    }

    pub(super) fn add(&mut self, done: &Done<Granted>) {
        if done.repeated {
            self.before = self.before.saturating_add(1);
        } else {
            self.granted = self.granted.saturating_add(1);
            self.accounts = self.accounts.saturating_add(usize::from(done.receipt.new_account));
            self.orbs = self.orbs.saturating_add(done.receipt.amount.get());
        }
    }
}

#[derive(Serialize)]
struct Row<'e> {
    cursor: &'e str,
    #[serde(flatten)]
    entry: &'e Entry,
}

impl Out {
    fn print(self, answer: &impl Serialize, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Stop> {
        if self.json { print_json(answer) } else { output::print(write) }
    }

    pub(super) fn granted(self, answer: &GrantAnswer) -> Result<(), Stop> {
        let done = &answer.done;
        let Granted { account, amount, bucket, new_account, .. } = &done.receipt;
        let new = if *new_account { ", a new account" } else { "" };
        let kind = if *bucket == Bucket::Bonus { "bonus" } else { "paid" };
        let account = one_line(account.as_str()).into_owned();
        self.print(answer, |out| {
            writeln!(out, "{ALLOW}granted{ALLOW:#} {amount} {kind} orbs to {account}{new}{}", before(done.repeated))
        })
    }

    /// What became of many grants; their receipts are JSON already.
    pub(super) fn tally(self, tally: &Tally) -> Result<(), Stop> {
        if self.json {
            return Ok(());
        }
        let Tally { rows, granted, before, accounts, orbs } = tally;
        let failed = rows.saturating_sub(*granted).saturating_sub(*before);
        output::print(|out| {
            let grants = count(*granted, "grant");
            writeln!(out, "{ALLOW}granted{ALLOW:#} orbs: {orbs}, in {grants}")?;
            writeln!(out, "done before: {before}; not done: {failed}; new accounts: {accounts}")
        })
    }

    pub(super) fn revoked(self, done: &Done<Revoked>) -> Result<(), Stop> {
        let Revoked { amount, grant, .. } = &done.receipt;
        self.print(done, |out| {
            writeln!(out, "{ALLOW}revoked{ALLOW:#} {amount} orbs of {grant}{}", before(done.repeated))
        })
    }

    pub(super) fn refunded(self, done: &Done<Refunded>) -> Result<(), Stop> {
        let Refunded { amount, bonus, hold, .. } = &done.receipt;
        self.print(done, |out| {
            let before = before(done.repeated);
            writeln!(out, "{ALLOW}refunded{ALLOW:#} {amount} orbs of {hold}, {bonus} of them bonus orbs{before}")
        })
    }

    pub(super) fn frozen(self, done: &Done<Frozen>) -> Result<(), Stop> {
        let Frozen { account, frozen, .. } = &done.receipt;
        let (did, account) = (if *frozen { "frozen" } else { "unfrozen" }, one_line(account.as_str()).into_owned());
        self.print(done, |out| writeln!(out, "{ALLOW}{did}{ALLOW:#} {account}{}", before(done.repeated)))
    }

    pub(super) fn hold(self, answer: &HoldAnswer) -> Result<(), Stop> {
        self.print(answer, |out| match answer {
            HoldAnswer::Held { receipt, repeated, state } => {
                let (amount, bonus) = (receipt.amount, receipt.bonus);
                let state = match (repeated, state) {
                    (true, State::Pending) => " (done before)".to_owned(),
                    (true, state) => format!(" (done before; the hold is {})", state.name()),
                    (false, _) => String::new(),
                };
                writeln!(out, "{ALLOW}held{ALLOW:#} {amount} orbs, {bonus} of them bonus orbs{state}")
            }
            HoldAnswer::Denied(denied) => {
                let (needed, available, reason) = (denied.needed, denied.available, denied.reason.name());
                writeln!(out, "{DENY}denied{DENY:#} {reason}: needs {needed} orbs, {available} are available")
            }
        })
    }

    pub(super) fn extended(self, done: &Done<Extended>) -> Result<(), Stop> {
        self.print(done, |out| {
            let until = done.receipt.expires_at.rfc3339();
            writeln!(out, "{ALLOW}extended{ALLOW:#} until {until}{}", before(done.repeated))
        })
    }

    pub(super) fn settled(self, done: &Done<Settled>) -> Result<(), Stop> {
        self.print(done, |out| {
            let Settled { state, captured, shortfall, .. } = &done.receipt;
            let state = state.name();
            write!(out, "{ALLOW}{state}{ALLOW:#}")?;
            if done.receipt.state == State::Captured {
                write!(out, " {captured} orbs")?;
            }
            if shortfall.get() > 0 {
                write!(out, ", {shortfall} are missing")?;
            }
            writeln!(out, "{}", before(done.repeated))
        })
    }

    pub(super) fn balance(self, balance: &Balance) -> Result<(), Stop> {
        self.print(balance, |out| {
            let Balance { posted, held, available, paid, bonus, frozen, .. } = balance;
            for (name, orbs) in
                [("posted", posted), ("held", held), ("available", available), ("paid", paid), ("bonus", bonus)]
            {
                writeln!(out, "{name:9}  {STRONG}{:>16}{STRONG:#}", orbs.get())?;
            }
            if *frozen {
                writeln!(out, "{DENY}frozen{DENY:#}: new holds are denied")?;
            }
            Ok(())
        })
    }

    pub(super) fn holds(self, holds: &[Pending]) -> Result<(), Stop> {
        self.print(&holds, |out| {
            let width = holds.iter().map(|hold| hold.id.as_str().len()).max().unwrap_or(0).clamp(4, 60);
            writeln!(
                out,
                "{FAINT}{:width$}  {:>16}  {:>16}  {:24}  NOTE{FAINT:#}",
                "HOLD", "ORBS", "BONUS", "EXPIRES"
            )?;
            for hold in holds {
                let (id, amount, bonus) = (hold.id.as_str(), hold.amount.get(), hold.bonus.get());
                let (expires, note) = (hold.expires_at.rfc3339(), one_line(hold.note.as_str()));
                writeln!(out, "{STRONG}{id:width$}{STRONG:#}  {amount:>16}  {bonus:>16}  {expires}  {note}")?;
            }
            Ok(())
        })
    }

    pub(super) fn entries(self, page: &[(Cursor, Entry)], given: &Entries, is_first: bool) -> Result<(), Stop> {
        match given.format {
            Format::Text if !self.json => output::print(|out| table(out, page, is_first)),
            Format::Text | Format::Json => {
                lines(page.iter().map(|(cursor, entry)| Row { cursor: cursor.as_str(), entry }))
            }
            Format::Cloudevents => lines(page.iter().flat_map(|(_, entry)| Event::of(entry, &given.source))),
        }
    }

    pub(super) fn expired(self, complete: Complete) -> Result<(), Stop> {
        self.print(&complete, |out| {
            writeln!(out, "{ALLOW}complete{ALLOW:#} until {}", complete.complete_until.rfc3339())
        })
    }

    pub(super) fn clock(self, state: &ClockState) -> Result<(), Stop> {
        self.print(state, |out| {
            let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            for (name, time) in
                [("clock", Some(state.now)), ("newest entry", state.newest), ("accepted", state.accepted)]
            {
                let time = time.map_or_else(|| "never".to_owned(), |time| time.rfc3339().to_string());
                writeln!(out, "{name:12}  {STRONG}{time}{STRONG:#}")?;
            }
            if state.reset > 0 {
                let (accounts, holds) = (count(number(state.reset), "account"), count(number(state.shortened), "hold"));
                writeln!(out, "{ALLOW}brought back{ALLOW:#} {accounts}, and shortened {holds}")?;
            }
            if state.refused {
                writeln!(out, "{DENY}refused{DENY:#}: a program that opens this ledger now does no command")?;
            }
            if let (1.., Some(latest)) = (state.ahead, state.latest) {
                let accounts = count(number(state.ahead), "account");
                writeln!(out, "{DENY}ahead{DENY:#}: the time of {accounts}, up to {}", latest.rfc3339())?;
            }
            if state.early.is_empty() {
                return Ok(());
            }
            writeln!(out, "{FAINT}{:>16}  BUCKET  {:24}  GRANT, ACCOUNT{FAINT:#}", "EXPIRED", "BEFORE ITS TIME")?;
            for early in &state.early {
                let bucket = if early.bucket == Bucket::Bonus { "bonus" } else { "paid" };
                let (orbs, until, account) =
                    (early.expired.get(), early.expires_at.rfc3339(), one_line(early.account.as_str()));
                writeln!(out, "{STRONG}{orbs:>16}{STRONG:#}  {bucket:6}  {until}  {}, {account}", early.grant)?;
            }
            Ok(())
        })
    }

    pub(super) fn verified(self, faults: &Faults) -> Result<(), Stop> {
        self.print(faults, |out| {
            for fault in &faults.found {
                writeln!(out, "{}", one_line(fault))?;
            }
            let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            let (accounts, entries) =
                (count(number(faults.accounts), "account"), count(number(faults.entries), "entry"));
            match faults.found.len() {
                0 => writeln!(out, "{ALLOW}consistent{ALLOW:#}: {accounts}, {entries}"),
                number => writeln!(out, "{DENY}{}{DENY:#}: {accounts}, {entries}", count(number, "difference")),
            }
        })
    }
}

const fn before(repeated: bool) -> &'static str {
    if repeated { " (done before)" } else { "" }
}

fn lines(rows: impl Iterator<Item = impl Serialize>) -> Result<(), Stop> {
    output::print_raw(|out| {
        for row in rows {
            write_json(&mut *out, &row)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}

fn table(out: &mut dyn Write, page: &[(Cursor, Entry)], is_first: bool) -> io::Result<()> {
    if is_first {
        writeln!(
            out,
            "{FAINT}{:24}  {:13}  {:>10}  {:>10}  {:>10}  ID, ACCOUNT{FAINT:#}",
            "TIME", "CAUSE", "AVAILABLE", "HELD", "CAPTURED"
        )?;
    }
    for (_, entry) in page {
        let sum = |of: fn(&orbgate_ledger::Line) -> i64| entry.lines.iter().map(of).fold(0, i64::saturating_add);
        let (available, held, captured) =
            (sum(|line| line.available), sum(|line| line.held), sum(|line| line.captured));
        let (time, cause) = (entry.at.rfc3339(), entry.cause.name());
        let (id, account) = (entry.id.as_str(), one_line(entry.account.as_str()));
        writeln!(
            out,
            "{time}  {STRONG}{cause:13}{STRONG:#}  {available:>+10}  {held:>+10}  {captured:>+10}  {id}, {account}"
        )?;
    }
    Ok(())
}
