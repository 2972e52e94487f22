//! Accounts, statements and totals, for support and accounting.

use std::io::{self, Write};

use csv::{Terminator, WriterBuilder};
use orbgate_ledger::{
    AccountId, Cause, Ledger, Left, Listed, Listing, Millis, Movement, Part, Period, Statement, Sums,
};

use super::asked::{self, Sheet};
use super::given::{self, Failed};
use super::values::time;
use crate::output::{self, DENY, FAINT, STRONG, Stop, cell, count, one_line, print_json};

/// The rows of a read.
const PAGE: usize = 1000;

impl Sheet {
    const fn or_json(self, json: bool) -> Self {
        if json { Self::Json } else { self }
    }
}

/// Prints a statement page by page, up to the movement that was the last one at the start. All pages have the balance and the grants of
/// that moment: movements up to that one don't change.
pub(super) fn account(ledger: &dyn Ledger, given: &asked::Statement, json: bool) -> Result<(), Failed> {
    let format = given.format.or_json(json);
    let Period { from, to } = given::period(given.from.as_deref(), given.to.as_deref())?;
    let account = AccountId::new(&given.account)?;
    let first = first(ledger, &account)?;
    let last = first.movements.last().map_or(0, |movement| movement.seq);
    let after = given.limit.map_or(0, |limit| last.saturating_sub(limit));
    let before = Some(last.saturating_add(1));
    let grants_after = u64::MAX;
    let mut part = Part { after: Some(after), before, from, to, grants_after, limit: PAGE, ..Part::newest(account) };
    let mut grants = Some(first.grants);
    loop {
        let mut page = ledger.statement(&part)?;
        let is_first = grants.is_some();
        (page.at, page.balance) = (first.at, first.balance.clone());
        (page.grants, page.more_grants) = (grants.take().unwrap_or_default(), None);
        page.later = page.later.filter(|later| *later < last);
        match format {
            Sheet::Json if is_first || !page.movements.is_empty() => print_json(&page)?,
            Sheet::Json => {}
            Sheet::Csv => csv(is_first, &MOVEMENT, page.movements.iter().map(|movement| record(&page, movement)))?,
            Sheet::Text => output::print(|out| text(out, &page, is_first))?,
        }
        match page.later {
            None => return Ok(()),
            later => part.after = later,
        }
    }
}

/// The newest movements, and all grants: both of one moment.
fn first(ledger: &dyn Ledger, account: &AccountId) -> Result<Statement, Failed> {
    let mut part = Part { limit: PAGE, ..Part::newest(account.clone()) };
    loop {
        let first = ledger.statement(&part)?;
        if first.more_grants.is_none() {
            return Ok(first);
        }
        part.limit = part.limit.saturating_mul(10);
    }
}

fn text(out: &mut dyn Write, page: &Statement, is_first: bool) -> io::Result<()> {
    if is_first {
        balance(out, page)?;
        left(out, &page.grants)?;
        writeln!(
            out,
            "\n{FAINT}{:24}  {:14}  {:>10}  {:>10}  {:>10}  ID, CALL OR NOTE{FAINT:#}",
            "TIME", "MOVEMENT", "PAID", "BONUS", "POSTED"
        )?;
    }
    page.movements.iter().try_for_each(|movement| row(out, movement))
}

fn balance(out: &mut dyn Write, page: &Statement) -> io::Result<()> {
    let of = &page.balance;
    writeln!(out, "{} at {}", one_line(of.account.as_str()), page.at.rfc3339())?;
    let (posted, held, paid, bonus) = (of.posted, of.held, of.paid, of.bonus);
    writeln!(
        out,
        "{STRONG}{posted}{STRONG:#} orbs, {held} of them held, {paid} paid and {bonus} bonus orbs available"
    )?;
    if of.frozen {
        writeln!(out, "{DENY}frozen{DENY:#}: new holds are denied")?;
    }
    writeln!(
        out,
        "\n{FAINT}{:24}  {:6}  {:>10}  {:>10}  {:>10}  GRANT{FAINT:#}",
        "EXPIRES", "BUCKET", "AVAILABLE", "HELD", "OF"
    )
}

fn left(out: &mut dyn Write, grants: &[Left]) -> io::Result<()> {
    grants.iter().try_for_each(|grant| {
        let expires = time_or(grant.expires_at, "never");
        let (available, held, amount) = (grant.available.get(), grant.held.get(), grant.amount.get());
        let bucket = grant.bucket.name();
        writeln!(
            out,
            "{expires:24}  {bucket:6}  {STRONG}{available:>10}{STRONG:#}  {held:>10}  {amount:>10}  {}",
            grant.grant
        )
    })
}

fn row(out: &mut dyn Write, movement: &Movement) -> io::Result<()> {
    let (time, mark) = (movement.at.rfc3339(), if movement.written { "" } else { "*" });
    let (cause, posted) = (format!("{}{mark}", movement.cause.name()), movement.posted.get());
    let (paid, bonus) = (movement.paid_change, movement.bonus_change);
    let mut about = movement.id.to_string();
    match (&movement.route, &movement.policy) {
        (Some(route), Some(policy)) => {
            // The first digits are enough to distinguish policies.
            let policy: String = policy.chars().take("sha256:".len().saturating_add(12)).collect();
            about.push_str(&format!(", {route}, {policy}"));
        }
        _ if movement.note.as_str().is_empty() => {}
        _ => about.push_str(&format!(", {}", movement.note)),
    }
    if let Some(hold) = &movement.hold {
        about.push_str(&format!(", of {hold}"));
    }
    if movement.expired != 0 && movement.cause != Cause::GrantExpired {
        about.push_str(&format!(", {} of them had expired", movement.expired));
    }
    if movement.shortfall.get() > 0 {
        about.push_str(&format!(", {} more were missing", movement.shortfall));
    }
    let about = one_line(&about);
    writeln!(out, "{time}  {STRONG}{cause:14}{STRONG:#}  {paid:>+10}  {bonus:>+10}  {posted:>10}  {about}")
}

const MOVEMENT: [&str; 20] = [
    "account",
    "seq",
    "at",
    "cause",
    "id",
    "hold",
    "route",
    "policy",
    "note",
    "author",
    "paid_change",
    "bonus_change",
    "held_change",
    "captured",
    "expired",
    "posted",
    "held",
    "available",
    "shortfall",
    "written",
];

fn record(page: &Statement, of: &Movement) -> Vec<String> {
    let text = |text: Option<&str>| cell(text.unwrap_or_default()).into_owned();
    vec![
        text(Some(page.balance.account.as_str())),
        of.seq.to_string(),
        of.at.rfc3339().to_string(),
        of.cause.name().to_owned(),
        text(Some(of.id.as_str())),
        text(of.hold.as_ref().map(AsRef::as_ref)),
        text(of.route.as_deref()),
        text(of.policy.as_deref()),
        text(Some(of.note.as_str())),
        text(Some(of.author.as_str())),
        of.paid_change.to_string(),
        of.bonus_change.to_string(),
        of.held_change.to_string(),
        of.captured.to_string(),
        of.expired.to_string(),
        of.posted.to_string(),
        of.held.to_string(),
        of.available.to_string(),
        of.shortfall.to_string(),
        of.written.to_string(),
    ]
}

/// Lists accounts page by page.
pub(super) fn accounts(ledger: &dyn Ledger, given: &asked::Accounts, json: bool) -> Result<(), Failed> {
    const COLUMNS: [&str; 8] = ["account", "posted", "held", "available", "paid", "bonus", "frozen", "last_used"];
    let format = given.format.or_json(json);
    let mut listing = Listing { prefix: given.prefix.clone(), ..Listing::default() };
    let (mut rest, mut accounts, mut sum, mut is_first) = (given.limit.unwrap_or(usize::MAX), 0_usize, 0_u64, true);
    loop {
        listing.limit = rest.min(PAGE);
        let page = ledger.accounts(&listing)?;
        accounts = accounts.saturating_add(page.len());
        sum = page.iter().fold(sum, |sum, listed| sum.saturating_add(listed.balance.posted.get()));
        match format {
            Sheet::Json => page.iter().try_for_each(print_json)?,
            Sheet::Csv => csv(is_first, &COLUMNS, page.iter().map(listed_record))?,
            Sheet::Text => output::print(|out| listed(out, &page, is_first))?,
        }
        is_first = false;
        rest = rest.saturating_sub(page.len());
        match page.last() {
            Some(last) if page.len() == listing.limit && rest > 0 => listing.after = last.balance.account.to_string(),
            _ => break,
        }
    }
    if format == Sheet::Text {
        output::print(|out| writeln!(out, "{STRONG}{sum:>16}{STRONG:#}  orbs in {}", count(accounts, "account")))?;
    }
    Ok(())
}

fn listed(out: &mut dyn Write, page: &[Listed], is_first: bool) -> io::Result<()> {
    if is_first {
        writeln!(
            out,
            "{FAINT}{:>16}  {:>10}  {:>10}  {:>10}  {:24}  ACCOUNT{FAINT:#}",
            "POSTED", "HELD", "PAID", "BONUS", "LAST USED"
        )?;
    }
    page.iter().try_for_each(|listed| {
        let of = &listed.balance;
        let (posted, held, paid, bonus) = (of.posted.get(), of.held.get(), of.paid.get(), of.bonus.get());
        let (used, account) = (time_or(listed.last_used, "–"), one_line(of.account.as_str()));
        let frozen = if of.frozen { ", frozen" } else { "" };
        writeln!(
            out,
            "{STRONG}{posted:>16}{STRONG:#}  {held:>10}  {paid:>10}  {bonus:>10}  {used:24}  {account}{frozen}"
        )
    })
}

fn listed_record(listed: &Listed) -> Vec<String> {
    let of = &listed.balance;
    let mut record = vec![cell(of.account.as_str()).into_owned()];
    record.extend([of.posted, of.held, of.available, of.paid, of.bonus].map(|orbs| orbs.to_string()));
    record.extend([of.frozen.to_string(), time_or(listed.last_used, "")]);
    record
}

/// Prints the totals at a time.
pub(super) fn totals(ledger: &dyn Ledger, given: &asked::Totals, json: bool) -> Result<(), Failed> {
    let totals = ledger.totals(given.at.as_deref().map(time).transpose()?)?;
    let rows = [("paid", figures(&totals.paid)), ("bonus", figures(&totals.bonus))];
    match given.format.or_json(json) {
        Sheet::Json => print_json(&totals)?,
        Sheet::Csv => {
            let columns: Vec<_> = ["at", "bucket"].into_iter().chain(NAMES).collect();
            let at = totals.at.rfc3339().to_string();
            let record = |(bucket, figures): (&str, [u64; 8])| {
                [at.clone(), bucket.to_owned()].into_iter().chain(figures.map(|figure| figure.to_string())).collect()
            };
            csv(true, &columns, rows.into_iter().map(record))?;
        }
        Sheet::Text => output::print(|out| {
            writeln!(out, "at {}", totals.at.rfc3339())?;
            writeln!(out, "{FAINT}{:11}  {:>16}  {:>16}  {:>16}{FAINT:#}", "", "PAID", "BONUS", "BOTH")?;
            for ((name, paid), bonus) in NAMES.iter().zip(figures(&totals.paid)).zip(figures(&totals.bonus)) {
                writeln!(
                    out,
                    "{name:11}  {paid:>16}  {bonus:>16}  {STRONG}{:>16}{STRONG:#}",
                    paid.saturating_add(bonus)
                )?;
            }
            Ok(())
        })?,
    }
    Ok(())
}

const NAMES: [&str; 8] = ["granted", "captured", "refunded", "expired", "revoked", "outstanding", "available", "held"];

/// In the order of [`NAMES`].
const fn figures(sums: &Sums) -> [u64; 8] {
    let Sums { granted, captured, refunded, expired, revoked, outstanding, available, held, .. } = *sums;
    [granted, captured, refunded, expired, revoked, outstanding, available, held]
}

fn time_or(time: Option<Millis>, none: &str) -> String {
    time.map_or_else(|| none.to_owned(), |time| time.rfc3339().to_string())
}

fn csv(is_first: bool, columns: &[&str], mut records: impl Iterator<Item = Vec<String>>) -> Result<(), Stop> {
    output::print_page(|out| {
        let mut out = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
        if is_first {
            out.write_record(columns)?;
        }
        records.try_for_each(|record| out.write_record(record))?;
        out.flush()
    })
}
