//! What `/metrics` measures of a ledger: each name once, with its labels and its meaning.

use core::time::Duration;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use orbgate_ledger::Backlog;

const COMMANDS: &str = "orbgate_ledger_commands_total";
pub(crate) const SECONDS: &str = "orbgate_ledger_command_seconds";
const WAITING: &str = "orbgate_ledger_waiting_commands";
const PENDING: &str = "orbgate_ledger_pending_holds";
const EXPIRED: &str = "orbgate_ledger_expired_holds_total";
const ACCOUNTS: &str = "orbgate_ledger_backlog_accounts";
const AGE: &str = "orbgate_ledger_backlog_seconds";
const ENTRIES: &str = "orbgate_ledger_backlog_entries";

/// The upper bounds of [`SECONDS`]. Gates wait for 2 seconds by default, and this service for 30.
pub(crate) const BOUNDS: [f64; 14] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0];

enum Measure {
    Counter,
    Gauge,
    Histogram,
}

const ALL: [(&str, Measure, &str, &str); 8] = [
    (
        COMMANDS,
        Measure::Counter,
        "`command`, `result`",
        "commands by their result: `done`, why a hold was denied, or the `error`",
    ),
    (SECONDS, Measure::Histogram, "`command`", "how long the ledger takes to answer a command, in seconds"),
    (WAITING, Measure::Gauge, "", "commands that the ledger hasn't answered yet; at most 4,096 wait, then `busy`"),
    (PENDING, Measure::Gauge, "", "holds that are neither settled nor released, of all processes"),
    (EXPIRED, Measure::Counter, "", "holds that this process has released since its start, because they had expired"),
    (ACCOUNTS, Measure::Gauge, "", "accounts in which something has expired, and isn't written yet"),
    (AGE, Measure::Gauge, "", "how long ago the first of it expired, in seconds"),
    (ENTRIES, Measure::Gauge, "", "entries that readers don't see yet; always 0 in SQLite"),
];

/// Tells the recorder of the program what each means.
pub(crate) fn describe() {
    for (name, kind, _, meaning) in ALL {
        match kind {
            Measure::Counter => describe_counter!(name, meaning),
            Measure::Gauge => describe_gauge!(name, meaning),
            Measure::Histogram => describe_histogram!(name, meaning),
        }
    }
}

pub(crate) fn counted(command: &'static str, result: &'static str) {
    counter!(COMMANDS, "command" => command, "result" => result).increment(1);
}

pub(crate) fn took(command: &'static str, time: Duration) {
    histogram!(SECONDS, "command" => command).record(time.as_secs_f64());
}

pub(crate) fn waiting(commands: usize) {
    set(WAITING, u64::try_from(commands).ok());
}

/// What the store has told, if it answers.
pub(crate) fn backlog(backlog: Option<Backlog>) {
    set(PENDING, backlog.map(|it| it.pending));
    set(ACCOUNTS, backlog.map(|it| it.accounts));
    set(AGE, backlog.map(|it| it.age.get().div_euclid(1_000)));
    set(ENTRIES, backlog.map(|it| it.unnumbered));
    // It never goes back.
    counter!(EXPIRED).absolute(backlog.map_or(0, |it| it.expired));
}

/// `NaN` is an unknown number.
fn set(name: &'static str, number: Option<u64>) {
    gauge!(name).set(number.map_or(f64::NAN, |number| f64::from(u32::try_from(number).unwrap_or(u32::MAX))));
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn the_page_has_the_table_of_the_metrics() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gateway/ledger.md");
        let rows = ALL.iter().map(|(name, _, labels, meaning)| format!("| `{name}` | {labels} | {meaning} |\n"));
        let table = format!("| metric | labels | meaning |\n|---|---|---|\n{}", rows.collect::<String>());
        orbgate_testing::expected::keep_part(page, "metrics", &table);
    }
}
