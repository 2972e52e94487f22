//! The arguments of the commands for support and accounting, with their help.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = STATEMENT)]
pub(super) struct Statement {
    /// Account
    pub(super) account: String,
    /// Only the newest N movements
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "to"])]
    pub(super) limit: Option<u64>,
    /// Only movements at this time or later, such as `2027-01-01`
    #[arg(long, value_name = "TIME")]
    pub(super) from: Option<String>,
    /// Only movements before this time
    #[arg(long, value_name = "TIME")]
    pub(super) to: Option<String>,
    /// Output format
    #[arg(long, default_value = "text", hide_default_value = true)]
    pub(super) format: Sheet,
}

#[derive(Debug, Args)]
#[command(after_help = ACCOUNTS)]
pub(super) struct Accounts {
    /// Only accounts whose names begin with this
    #[arg(default_value = "", hide_default_value = true)]
    pub(super) prefix: String,
    /// At most this many
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Output format
    #[arg(long, default_value = "text", hide_default_value = true)]
    pub(super) format: Sheet,
}

#[derive(Debug, Args)]
#[command(after_help = TOTALS)]
pub(super) struct Totals {
    /// Time, at least a minute ago; without it, a minute ago
    #[arg(long, value_name = "TIME")]
    pub(super) at: Option<String>,
    /// Output format
    #[arg(long, default_value = "text", hide_default_value = true)]
    pub(super) format: Sheet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Sheet {
    /// A table
    Text,
    /// JSON, as with `--json`
    Json,
    /// Comma-separated values (RFC 4180); no cell can be a formula
    Csv,
}

const STATEMENT: &str = "\
PAID and BONUS are what a movement changed, and POSTED is what the account had
afterwards, held orbs included. A hold only reserves orbs: what a call costs is
its `capture`. After the last movement, POSTED is that of `balance`. A movement
with `*` has expired and isn't written yet.

If a gate charged the call, its route and the digest of its policy are shown:
`orbgate explain` with that policy tells why the route costs so much.

With `--json`, each line has up to 1,000 movements. CSV has only the movements.

Examples:
  orbgate orbs --db orbs.db account alice
  orbgate orbs --db orbs.db account alice --limit 20
  orbgate orbs --db orbs.db account alice --from 2027-01-01 --to 2027-02-01 \\
      --format csv

Exit codes:
  0  fine
  2  could not run: bad usage, an unknown account, a ledger that can't be
     opened";

const ACCOUNTS: &str = "\
The last use is the time of the last command that moved the account's orbs. With
`--json`, each line has an account.

Examples:
  orbgate orbs --db orbs.db accounts
  orbgate orbs --db orbs.db accounts ali --limit 10
  orbgate orbs --db orbs.db accounts --format csv

Exit codes:
  0  fine, even if no account is found
  2  could not run: bad usage, a ledger that can't be opened";

const TOTALS: &str = "\
Movements are counted by their own time, up to and including TIME. So is what
has expired by then and isn't written yet. Granted and refunded orbs are as many
as those that were captured, have expired, were revoked or are outstanding.

This reads the whole ledger. If it is long, use a backup or a standby.

Examples:
  orbgate orbs --db orbs.db totals
  orbgate orbs --db orbs.db totals --at 2026-11-30T23:59:59.999Z --format csv

Exit codes:
  0  fine
  2  could not run: bad usage, a time less than a minute ago, a ledger that
     can't be opened";
