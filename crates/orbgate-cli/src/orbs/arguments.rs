//! The arguments of `orbgate orbs`, with their help.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum, ValueHint};

use super::asked::{Accounts, Statement, Totals};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Ledger: a SQLite file, or a PostgreSQL database
    #[arg(long, global = true, value_name = "FILE|URL", value_hint = ValueHint::FilePath)]
    pub(super) db: Option<PathBuf>,

    /// Print JSON
    #[arg(long, global = true)]
    pub(super) json: bool,

    #[command(subcommand)]
    pub(super) what: What,
}

#[derive(Debug, Subcommand)]
pub(super) enum What {
    /// Add orbs to an account; creates the ledger if it doesn't exist
    Grant(Grant),
    /// Take back what is neither held nor spent of a grant, or a part of it
    Revoke(Revoke),
    /// Give captured orbs back
    Refund(Refund),
    /// Deny all new holds of an account; pending ones settle
    Freeze(Freeze),
    /// Permit holds of an account again
    Unfreeze(Freeze),
    /// Reserve orbs before a call
    Hold(Hold),
    /// Give a pending hold more time
    Extend(Extend),
    /// Capture or void a hold after the call
    Settle(Settle),
    /// List the pending holds of an account
    Holds(Account),
    /// Show the balance of an account
    Balance(Account),
    /// Show the grants of an account, and what each call cost
    Account(Statement),
    /// List accounts with their orbs and their last use
    Accounts(Accounts),
    /// Add up the orbs of all accounts at a time
    Totals(Totals),
    /// List what moved orbs, in the order of the ledger
    Entries(Entries),
    /// Write what has expired, and show until when the entries are complete
    Expire(Expire),
    /// Recompute everything from the entries, and report differences
    Verify(Verify),
    /// Copy the ledger into a new file while it is used
    Backup(Backup),
    /// Show the clock, accept it after a leap, or repair its damage
    Clock(Clock),
}

#[derive(Debug, Args)]
#[command(after_help = GRANT)]
pub(super) struct Grant {
    /// Account
    #[arg(required_unless_present = "from")]
    pub(super) account: Option<String>,
    /// Number of orbs
    #[arg(required_unless_present = "from")]
    pub(super) amount: Option<u64>,
    /// Your id of the grant: the same id grants once
    #[arg(long, required_unless_present = "from")]
    pub(super) id: Option<String>,
    /// They are bonus orbs, which only calls that permit it use
    #[arg(long)]
    pub(super) bonus: bool,
    /// Time from which they can't be spent, such as `2027-01-01T00:00:00Z`
    #[arg(long, value_name = "TIME")]
    pub(super) expires: Option<String>,
    /// The account must exist, so that a slip in its name grants nothing
    #[arg(long)]
    pub(super) existing: bool,
    /// Grants of a file, CSV or JSON lines; - is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with_all = ["account", "amount", "id", "bonus", "expires", "existing", "note"])]
    pub(super) from: Option<PathBuf>,
    /// What it is for
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) note: String,
}

#[derive(Debug, Args)]
#[command(after_help = REVOKE)]
pub(super) struct Revoke {
    /// Account
    pub(super) account: String,
    /// Id of the grant
    pub(super) grant: String,
    /// Your id of the revocation
    #[arg(long)]
    pub(super) id: String,
    /// Take back so many; without it, all that is left
    #[arg(long, value_name = "N")]
    pub(super) amount: Option<u64>,
    /// What it is for
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) note: String,
}

#[derive(Debug, Args)]
#[command(after_help = REFUND)]
pub(super) struct Refund {
    /// Id of the hold that was captured
    pub(super) hold: String,
    /// Your id of the refund: the same id refunds once
    #[arg(long)]
    pub(super) id: String,
    /// Give so many back; without it, all that was captured and not refunded yet
    #[arg(long, value_name = "N")]
    pub(super) amount: Option<u64>,
    /// Time at which orbs of a grant that has expired expire, such as `2027-01-01T00:00:00Z`
    #[arg(long, value_name = "TIME")]
    pub(super) expires: Option<String>,
    /// What it is for
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) note: String,
}

#[derive(Debug, Args)]
#[command(after_help = FREEZE)]
pub(super) struct Freeze {
    /// Account
    pub(super) account: String,
    /// Your id of the command
    #[arg(long)]
    pub(super) id: String,
    /// What it is for
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) note: String,
}

#[derive(Debug, Args)]
#[command(after_help = HOLD)]
pub(super) struct Hold {
    /// Account
    pub(super) account: String,
    /// Number of orbs
    pub(super) amount: u64,
    /// Your id of the hold: the same id holds once
    #[arg(long)]
    pub(super) id: String,
    /// Bonus orbs may be used
    #[arg(long)]
    pub(super) bonus: bool,
    /// Time until the hold expires
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub(super) ttl: String,
    /// What it is for, such as a route
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) note: String,
}

#[derive(Debug, Args)]
#[command(after_help = EXTEND)]
pub(super) struct Extend {
    /// Id of the hold
    pub(super) hold: String,
    /// The hold expires this long after now, or later
    #[arg(long, value_name = "DURATION")]
    pub(super) ttl: String,
    /// Your id of the extension; a new one without it
    #[arg(long)]
    pub(super) id: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = SETTLE, group = ArgGroup::new("how").required(true).args(["capture", "void"]))]
pub(super) struct Settle {
    /// Id of the hold
    pub(super) hold: String,
    /// Spend this many orbs, and release the rest
    #[arg(long, value_name = "N")]
    pub(super) capture: Option<u64>,
    /// Release all of them
    #[arg(long)]
    pub(super) void: bool,
}

#[derive(Debug, Args)]
#[command(after_help = ACCOUNT)]
pub(super) struct Account {
    /// Account
    pub(super) account: String,
}

#[derive(Debug, Args)]
#[command(after_help = ENTRIES)]
pub(super) struct Entries {
    /// Only those after this cursor, which an earlier run has printed
    #[arg(long, value_name = "CURSOR", default_value = "", hide_default_value = true)]
    pub(super) after: String,
    /// At most this many
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Only those of this account
    #[arg(long)]
    pub(super) account: Option<String>,
    /// Only those at this time or later, such as `2027-01-01`
    #[arg(long, value_name = "TIME")]
    pub(super) from: Option<String>,
    /// Only those before this time
    #[arg(long, value_name = "TIME")]
    pub(super) to: Option<String>,
    /// Output format
    #[arg(long, default_value = "text", hide_default_value = true)]
    pub(super) format: Format,
    /// Source of CloudEvents: a URI that identifies the ledger
    #[arg(long, value_name = "URI", default_value = "/orbgate/ledger")]
    pub(super) source: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A table
    Text,
    /// One line of JSON for each entry, with its cursor
    Json,
    /// One CloudEvent on each line
    Cloudevents,
}

#[derive(Debug, Args)]
#[command(after_help = EXPIRE)]
pub(super) struct Expire {}

#[derive(Debug, Args)]
#[command(after_help = VERIFY)]
pub(super) struct Verify {}

#[derive(Debug, Args)]
#[command(after_help = BACKUP)]
pub(super) struct Backup {
    /// New file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = CLOCK, group = ArgGroup::new("change").args(["accept", "reset"]))]
pub(super) struct Clock {
    /// The clock is right, although it has leapt: do commands again
    #[arg(long)]
    pub(super) accept: bool,
    /// The clock is right again: repair the accounts ahead of it
    #[arg(long)]
    pub(super) reset: bool,
}

const HELP: &str = "\
A ledger has accounts of orbs. Hold orbs before a call, and capture or void the
hold after it. A command that is sent again with the same id changes nothing.
A command that was built without the feature `orbs` prints how to get it.

A database is a URL such as `postgres:///orbs?host=/run/postgresql&user=orbs`,
or `host=/run/postgresql user=orbs dbname=orbs`. Any command creates the ledger
in it, in the schema `orbs`. Another host than this machine needs `sslmode`,
such as `sslmode=verify-full&sslrootcert=ca.pem`. Give a password by
`PGPASSWORD`, `PGPASSFILE` or `passfile=FILE`, which hide it from other users.

Examples:
  orbgate orbs --db orbs.db grant alice 100 --id invoice-7
  orbgate orbs --db orbs.db hold alice 30 --id call-1
  orbgate orbs --db orbs.db settle call-1 --capture 12
  orbgate orbs --db orbs.db balance alice
  orbgate orbs --db orbs.db entries
  orbgate orbs --db postgres://orbs@localhost/orbs balance alice

Exit codes:
  0  done, or done before with the same content
  1  denied, a conflict, already settled otherwise, or an unknown cursor
  2  could not run: bad usage, an unknown hold, a ledger that can't be opened,
     a clock that has leapt";

const GRANT: &str = "\
The first grant opens the account. `--existing` refuses a new one. An entry
keeps the note, and your name in this system as its author.

A file of CSV begins with the names of its columns. They are those of the
options: account, amount, id, bonus, expires, existing, note. Only the first
three are required. In JSON lines, each line is an object with such members. If
a line has an error, nothing is granted, and each error is shown with its place.
Run a file again if you don't know what it has done: each id grants once. With
`--json`, each receipt is a line.

Examples:
  orbgate orbs --db orbs.db grant alice 100 --id invoice-7
  orbgate orbs --db orbs.db grant alice 20 --id welcome --bonus \\
      --expires 2027-01-01T00:00:00Z
  orbgate orbs --db orbs.db grant alice 50 --id invoice-8 --existing \\
      --note 'paid by card'
  orbgate orbs --db orbs.db grant --from grants.csv

Exit codes:
  0  granted, or granted before
  1  the id belongs to another grant
  2  could not run: bad usage, too many orbs, an unknown account, a file with
     errors";

const REVOKE: &str = "\
Examples:
  orbgate orbs --db orbs.db revoke alice invoice-7 --id chargeback-7
  orbgate orbs --db orbs.db revoke alice welcome --id slip-1 --amount 5

Exit codes:
  0  revoked, or revoked before
  1  the id belongs to another revocation, or less is left
  2  could not run: bad usage, an unknown grant";

const REFUND: &str = "\
Captured orbs go back to their grants and keep their expiry: what would be taken
first comes back last. If a grant has expired, `--expires` is required: those of
its orbs come back as a new grant, `ID/paid` or `ID/bonus`, until that time.

Examples:
  orbgate orbs --db orbs.db refund call-1 --id refund-1 --note 'no answer'
  orbgate orbs --db orbs.db refund call-2 --id refund-2 --amount 5 \\
      --expires 2027-06-30T00:00:00Z

Exit codes:
  0  refunded, or refunded before
  1  the id belongs to another refund, the hold isn't captured, or less is left
  2  could not run: bad usage, an unknown hold, a missing expiry";

const FREEZE: &str = "\
While an account is frozen, each new hold is denied as `frozen`. Pending holds
settle, and grants, revocations and refunds are done.

Examples:
  orbgate orbs --db orbs.db freeze alice --id freeze-1 --note 'stolen key'
  orbgate orbs --db orbs.db unfreeze alice --id unfreeze-1

Exit codes:
  0  done, or done before
  1  the id belongs to another command
  2  could not run: bad usage, an unknown account";

const HOLD: &str = "\
Examples:
  orbgate orbs --db orbs.db hold alice 30 --id call-1
  orbgate orbs --db orbs.db hold alice 30 --id call-2 --bonus --ttl 5m

Exit codes:
  0  held, or held before
  1  denied, the id belongs to another hold, or the hold is settled
  2  could not run: bad usage";

const EXTEND: &str = "\
Examples:
  orbgate orbs --db orbs.db extend call-1 --ttl 60s

Exit codes:
  0  extended, or extended before
  1  the hold isn't pending, or the id belongs to another extension
  2  could not run: bad usage, an unknown hold";

const SETTLE: &str = "\
A capture of more than was held takes the rest from what is available. What is
missing is the shortfall. A void of an unknown hold refuses the hold if it comes
later.

Examples:
  orbgate orbs --db orbs.db settle call-1 --capture 12
  orbgate orbs --db orbs.db settle call-2 --void

Exit codes:
  0  settled, or settled before in the same way
  1  already settled otherwise
  2  could not run: bad usage, an unknown hold";

const ACCOUNT: &str = "\
Examples:
  orbgate orbs --db orbs.db balance alice --json
  orbgate orbs --db orbs.db holds alice

Exit codes:
  0  fine
  2  could not run: bad usage, a ledger that can't be opened";

const ENTRIES: &str = "\
With `--format json`, each line has a cursor: give the last one to `--after` to
read what has come since. A cursor that the ledger doesn't know is from another
ledger, or from after the backup that was restored: go back to an earlier one.
`--limit 0` only says whether it is known. In PostgreSQL, an entry is shown once
a writer has numbered it, soon after its commit. If some have no number, because
no writer runs, a note on standard error says how many. The id of a CloudEvent
is that of the hold and its state, so a receiver that deduplicates events counts
each once.

Examples:
  orbgate orbs --db orbs.db entries
  orbgate orbs --db orbs.db entries --after 41-9f3c41d2ab70e658 --format json
  orbgate orbs --db orbs.db entries --format cloudevents
  orbgate orbs --db orbs.db entries --account alice --from 2027-01-01

Exit codes:
  0  fine
  1  the ledger doesn't know the cursor
  2  could not run: bad usage, a ledger that can't be opened";

const EXPIRE: &str = "\
A running service does this by itself. In PostgreSQL, this also numbers entries
that no reader sees yet. Entries that come later aren't earlier than the time
that is shown, unless a clock goes back: once it has passed the end of a month,
the month is complete.

Examples:
  orbgate orbs --db orbs.db expire

Exit codes:
  0  written, or nothing had expired
  2  could not run: a ledger that can't be opened";

const VERIFY: &str = "\
Examples:
  orbgate orbs --db orbs.db verify

Exit codes:
  0  consistent
  1  something differs from the entries
  2  could not run: a ledger that can't be read";

const BACKUP: &str = "\
A restored backup forgets what came after it: holds, settlements and ids. For a
PostgreSQL database, use its own tools.

Examples:
  orbgate orbs --db orbs.db backup orbs-2026-11-27.db

Exit codes:
  0  copied
  2  could not run: the file exists or can't be written";

const CLOCK: &str = "\
A clock that leaps ahead would end grants and holds for good. So a ledger does
no command while its clock is more than an hour ahead of the time that has
passed, or more than 30 days ahead of the newest entry when a program opens it.

If the clock is right, as after a pause or with a restored backup, accept it.
Programs that run notice this. If it isn't, set it: that suffices.

If a wrong clock was accepted, or leapt by less, set it and then use `--reset`.
Each account whose time is ahead gets an entry `clock_reset` with the right
time, and its pending holds are shortened. Grants that have expired too early
are listed, also those of earlier resets: grant their orbs again, with new ids.

Examples:
  orbgate orbs --db orbs.db clock
  orbgate orbs --db orbs.db clock --accept
  orbgate orbs --db orbs.db clock --reset

Exit codes:
  0  the clock is right
  1  commands are refused, or accounts are ahead of the clock
  2  could not run: a ledger that can't be opened, a clock before 2026";
