//! `orbgate orbs`.

use serde_json::{Value, json};

use crate::{Ran, orbgate};

/// A new ledger, in a folder that is removed at the end.
struct Ledger {
    db: String,
    _folder: Option<tempfile::TempDir>,
}

impl Ledger {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { db: folder.path().join("orbs.db").display().to_string(), _folder: Some(folder) }
    }

    fn run(&self, line: &str) -> Ran {
        let words: Vec<_> = ["orbs", "--db", &self.db].into_iter().chain(line.split(' ')).collect();
        orbgate(&words)
    }

    fn json(&self, line: &str) -> (i32, Value) {
        let ran = self.run(&format!("{line} --json"));
        let json = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
        (ran.code, json)
    }
}

#[test]
fn each_command_has_its_exit_code() {
    exit_codes(&Ledger::new());
}

#[cfg(unix)]
#[test]
fn a_database_takes_the_same_commands() {
    let Some(server) = crate::server::Server::start() else {
        return;
    };
    let ledger = || Ledger { db: server.new_database(), _folder: None };
    exit_codes(&ledger());
    let ledger = ledger();
    assert_eq!(ledger.run("grant alice 100 --id g1").code, 0);
    assert_eq!(ledger.run("hold alice 30 --id call-1").code, 0);
    assert_eq!(ledger.run("settle call-1 --capture 12").code, 0);
    let (code, balance) = ledger.json("balance alice");
    assert_eq!((code, &balance["available"]), (0, &json!(88)));
    let events = ledger.run("entries --format cloudevents").out;
    let ids = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone());
    assert_eq!(ids.collect::<Vec<_>>(), ["g1/granted", "call-1/pending", "call-1/captured"]);
    assert_eq!(ledger.run("verify").out, "consistent: 1 account, 3 entries\n");
    let ran = ledger.run("backup copy.db");
    assert!(ran.code == 2 && ran.err.contains("with `pg_dump`"), "{ran:?}");
    // As if every writer was killed before it numbered.
    server.run(&ledger.db, "SET session_replication_role = replica; TRUNCATE orbs.feed");
    for _ in 0..2 {
        let ran = ledger.run("entries --format json");
        assert!(ran.code == 0 && ran.out.is_empty() && ran.err.contains("3 entries will come later"), "{ran:?}");
    }
    assert_eq!(ledger.run("expire").code, 0);
    let ran = ledger.run("entries --format json");
    assert_eq!((ran.out.lines().count(), ran.err.as_str()), (3, ""));
}

fn exit_codes(ledger: &Ledger) {
    for (line, code, part) in [
        ("grant alice 100 --id g1", 0, "granted 100 paid orbs to alice, a new account\n"),
        ("grant alice 100 --id g1", 0, "(done before)"),
        ("grant alice 101 --id g1", 1, "the id belongs to a command with other content"),
        ("grant alice 5 --id g2 --bonus --expires 2999-01-01T00:00:00Z", 0, "5 bonus orbs"),
        ("hold alice 30 --id h1", 0, "held 30 orbs, 0 of them bonus orbs\n"),
        ("hold alice 30 --id h1", 0, "(done before)\n"),
        ("hold alice 31 --id h1", 1, "other content"),
        ("hold alice 101 --id h2", 1, "denied insufficient: needs 101 orbs, 70 are available\n"),
        ("hold alice 75 --id h2", 1, "denied temporarily_held"),
        ("hold alice 106 --id h2 --bonus", 1, "denied insufficient"),
        ("extend h1 --ttl 2h", 0, "extended until 2"),
        ("holds alice", 0, "h1 "),
        ("settle h1 --capture 40", 0, "captured 40 orbs\n"),
        ("settle h1 --capture 40", 0, "(done before)"),
        ("settle h1 --void", 1, "the hold was already captured"),
        ("hold alice 30 --id h1", 0, "the hold is captured"),
        ("hold alice 65 --id h3", 1, "bonus_not_allowed"),
        ("settle h4 --void", 0, "voided\n"),
        ("hold alice 1 --id h4", 1, "the hold was already voided"),
        ("extend h4 --ttl 1s", 1, "the hold is voided, not pending"),
        ("settle h5 --capture 1", 2, "no hold has this id"),
        ("refund h1 --id f1 --amount 15 --note empty", 0, "refunded 15 orbs of h1, 0 of them bonus orbs\n"),
        ("refund h1 --id f1 --amount 15", 0, "(done before)"),
        ("refund h1 --id f1", 1, "other content"),
        ("refund h1 --id f2 --amount 26", 1, "only 25 orbs are left"),
        ("refund h4 --id f2", 1, "the hold is voided, not captured"),
        ("refund h9 --id f2", 2, "no hold has this id"),
        ("refund h1 --id f2 --amount 1 --expires 2001-01-01T00:00:00Z", 2, "expired already"),
        ("revoke alice g1 --id r0 --amount 76", 1, "only 75 orbs are left"),
        ("revoke alice g1 --id r0 --amount 15", 0, "revoked 15 orbs of g1"),
        ("freeze bob --id z1", 2, "the account doesn't exist"),
        ("freeze alice --id z1", 0, "frozen alice\n"),
        ("balance alice", 0, "frozen: new holds are denied"),
        ("hold alice 1 --id h8", 1, "denied frozen: needs 1 orbs, 60 are available"),
        ("unfreeze alice --id z1", 1, "other content"),
        ("unfreeze alice --id z2", 0, "unfrozen alice\n"),
        ("grant Alice 1 --id g4 --existing", 2, "the account doesn't exist"),
        ("revoke alice g1 --id r1", 0, "revoked 60 orbs of g1"),
        ("revoke alice g9 --id r2", 2, "the account has no grant of this id"),
        ("hold bob 1 --id h6", 1, "insufficient"),
        ("hold alice 1 --id h7 --ttl soon", 2, "`soon` is not a duration such as `60s` or `5m`"),
        ("grant alice 1 --id g3 --expires tomorrow", 2, "`tomorrow` is not a time such as"),
        ("grant alice 9007199254740992 --id g3", 2, "from 0 to 9007199254740991"),
        ("settle h1", 2, "--capture"),
        ("entries --after x", 1, "the cursor isn't from this ledger"),
        ("entries --after 2-0123456789abcdef --limit 0", 1, "or from after the backup that was restored"),
        ("entries --after 99-0123456789abcdef", 1, "the cursor isn't from this ledger"),
        ("entries --limit 0", 0, ""),
        ("expire", 0, "complete until 2"),
        ("account alice", 0, "5 orbs, 0 of them held"),
        ("account Alice", 2, "the account doesn't exist"),
        ("account alice --limit 1 --from 2026-01-01", 2, "cannot be used with"),
        ("account alice --from soon", 2, "`soon` is not a time such as"),
        ("accounts al", 0, "orbs in 1 account\n"),
        ("accounts b", 0, "0  orbs in 0 accounts\n"),
        ("totals --at 2999-01-01", 2, "less than a minute ago"),
        ("totals --at 2026-01-01", 0, "outstanding                 0"),
        ("clock", 0, "accepted      never\n"),
        ("clock --accept", 0, "newest entry  2"),
        ("clock --reset", 0, "clock         2"),
        ("clock --accept --reset", 2, "cannot be used with"),
        ("verify", 0, "consistent: 1 account, 9 entries\n"),
    ] {
        let ran = ledger.run(line);
        let both = [&*ran.out, &*ran.err].concat();
        assert!(ran.code == code && both.contains(part), "{line}: {ran:?}");
    }
}

#[test]
fn a_balance_is_what_the_design_says() {
    let ledger = Ledger::new();
    ledger.run("grant alice 100 --id g1");
    ledger.run("grant alice 5 --id g2 --bonus");
    ledger.run("hold alice 30 --id h1");
    let expected = json!({"account": "alice", "posted": 105, "held": 30, "available": 75, "paid": 70, "bonus": 5, "frozen": false});
    assert_eq!(ledger.json("balance alice"), (0, expected));
    let text = ledger.run("balance alice").out;
    assert!(text.lines().count() == 5 && text.contains("available") && text.contains("75"), "{text}");
}

#[test]
fn json_has_the_receipt() {
    let ledger = Ledger::new();
    ledger.run("grant alice 100 --id g1");
    let (code, held) = ledger.json("hold alice 30 --id h1 --note GET");
    assert_eq!(
        (code, &held["hold"], &held["amount"], &held["state"]),
        (0, &json!("held"), &json!(30), &json!("pending"))
    );
    let (code, denied) = ledger.json("hold alice 300 --id h2");
    let expected =
        json!({"hold": "denied", "needed": 300, "available": 70, "reason": "insufficient", "retry_at": null});
    assert_eq!((code, denied), (1, expected));
    let (_, holds) = ledger.json("holds alice");
    assert_eq!(holds[0]["note"], json!("GET"));
    let (_, settled) = ledger.json("settle h1 --capture 10");
    assert_eq!((&settled["captured"], &settled["repeated"]), (&json!(10), &json!(false)));
    let (_, expired) = ledger.json("expire");
    assert!(expired["complete_until"].as_u64() >= settled["at"].as_u64(), "{expired}");
    let (_, verified) = ledger.json("verify");
    assert_eq!(verified, json!({"accounts": 1, "entries": 3, "found": []}));
}

#[test]
fn entries_are_read_from_a_cursor_and_events_have_the_same_ids_again() {
    let ledger = Ledger::new();
    for line in ["grant alice 100 --id g1", "hold alice 30 --id h1", "settle h1 --capture 12"] {
        assert_eq!(ledger.run(line).code, 0);
    }
    let rows = |line: &str| -> Vec<Value> {
        ledger.run(line).out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = rows("entries --format json");
    let causes: Vec<_> = all.iter().map(|row| row["cause"].clone()).collect();
    assert_eq!(causes, [json!("grant"), json!("hold"), json!("capture")]);
    let after = format!("entries --format json --after {}", all[1]["cursor"].as_str().unwrap());
    assert_eq!(rows(&after), all[2..]);
    assert_eq!(rows("entries --json --limit 1"), all[..1]);
    let known = ledger.run(&format!("{after} --limit 0"));
    assert_eq!((known.code, known.out), (0, String::new()));
    let events = rows("entries --format cloudevents --source urn:orbs");
    assert_eq!(events, rows("entries --format cloudevents --source urn:orbs"));
    let captured = &events[2];
    assert_eq!(captured["id"], json!("h1/captured"));
    assert_eq!((&captured["source"], &captured["subject"]), (&json!("urn:orbs"), &json!("alice")));
    assert_eq!((&captured["data"]["amount"], &captured["specversion"]), (&json!(12), &json!("1.0")));
    assert_eq!(ledger.run("entries").out.lines().count(), 4);
}

#[test]
fn a_ledger_that_is_not_there_is_not_created_by_a_slip() {
    let ledger = Ledger::new();
    for line in ["balance alice", "hold alice 1 --id h1", "verify", "entries"] {
        let ran = ledger.run(line);
        assert!(ran.code == 2 && ran.err.contains("there is no ledger; `grant` creates one"), "{ran:?}");
    }
    assert!(!std::path::Path::new(&ledger.db).exists());
    let ran = orbgate(&["orbs", "verify"]);
    assert!(ran.code == 2 && ran.err.contains("`--db FILE|URL` is missing"), "{ran:?}");
}

#[test]
fn a_backup_is_a_ledger() {
    let ledger = Ledger::new();
    ledger.run("grant alice 100 --id g1");
    let copy = ledger.db.replace("orbs.db", "copy.db");
    assert_eq!(ledger.run(&format!("backup {copy}")).code, 0);
    assert_eq!(orbgate(&["orbs", "--db", &copy, "verify"]).out, "consistent: 1 account, 1 entry\n");
    let again = ledger.run(&format!("backup {copy}"));
    assert!(again.code == 2 && again.err.contains("the file exists"), "{again:?}");
}

/// A clock of a time that has gone, or hasn't come.
#[derive(Debug)]
struct At(u64);

impl orbgate_ledger::Clock for At {
    fn now(&self) -> orbgate_ledger::Millis {
        orbgate_ledger::Millis::new(self.0).unwrap()
    }

    fn runs(&self) -> bool {
        false
    }
}

#[test]
fn a_wrong_clock_is_refused_until_it_is_accepted_and_repaired_afterwards() {
    use orbgate_ledger::{Clock as _, Command, Ledger as _, Sqlite};

    let ledger = Ledger::new();
    let at = |time: u64, command: Command| {
        let store = Sqlite::open_with(ledger.db.as_ref(), None, std::sync::Arc::new(At(time))).unwrap();
        store.run(command).unwrap();
    };
    let now = orbgate_ledger::SystemClock.now().get();
    let (old, far) = (now - 40 * 86_400_000, now + 365 * 86_400_000);
    let grant = json!({ "id": "g1", "account": "alice", "amount": 100, "bucket": "paid", "expires_at": far - 9 });
    at(old, Command::Grant(serde_json::from_value(grant).unwrap()));
    // A pause of 40 days.
    let ran = ledger.run("hold alice 30 --id h1");
    assert!(ran.code == 2 && ran.err.contains("over 30 days after the newest entry"), "{ran:?}");
    assert!(ran.err.contains("run `orbgate orbs clock --accept` on this ledger"), "{ran:?}");
    let ran = ledger.run("clock");
    assert!(ran.code == 1 && ran.out.contains("\nrefused: "), "{ran:?}");
    for line in ["entries", "verify"] {
        assert_eq!(ledger.run(line).code, 0, "{line}");
    }
    assert_eq!(ledger.run("clock --accept").code, 0);
    assert_eq!(ledger.run("hold alice 30 --id h1").code, 0);
    // A wrong clock that nobody refused.
    at(
        far,
        Command::Hold(
            serde_json::from_value(json!({ "id": "h2", "account": "alice", "amount": 1, "bonus": false, "ttl": 9 }))
                .unwrap_or_else(|error| panic!("{error}")),
        ),
    );
    let ran = ledger.run("clock");
    assert!(ran.code == 1 && ran.out.contains("\nahead: the time of 1 account, up to "), "{ran:?}");
    let (code, state) = ledger.json("clock --reset");
    assert_eq!((code, &state["reset"], &state["ahead"]), (0, &json!(1), &json!(0)));
    assert_eq!((&state["early"][0]["grant"], &state["early"][0]["expired"]), (&json!("g1"), &json!(100)));
    // Their list isn't lost with the output.
    let ran = ledger.run("clock");
    let row =
        format!("             100  paid    {}  g1, alice\n", orbgate_ledger::Millis::new(far - 9).unwrap().rfc3339());
    assert!(ran.code == 0 && ran.out.ends_with(&row), "{ran:?}");
    assert_eq!(ledger.run("grant alice 100 --id g1-again").code, 0);
    let (_, balance) = ledger.json("balance alice");
    assert_eq!(balance["available"], json!(100));
    assert_eq!(ledger.run("verify").code, 0);
    let events = ledger.run("entries --format cloudevents").out;
    assert_eq!(events.matches("\"type\":\"orbgate.orbs.clock_reset\"").count(), 1, "{events}");
}

/// One after the other, on one ledger: a hold may be settled by then, but each is a command.
#[test]
fn the_examples_of_the_help_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("grants.csv"), "account,amount,id\nbob,5,invoice-9\n").unwrap();
    let mut examples = 0;
    for command in [
        "", "grant", "hold", "extend", "holds", "balance", "settle", "refund", "revoke", "freeze", "entries", "expire",
        "verify", "backup", "clock", "account", "accounts", "totals",
    ] {
        let words: Vec<_> = ["orbs", command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let help = orbgate(&words).out.replace("\\\n", "");
        for line in help.lines().filter_map(|line| line.trim().strip_prefix("orbgate orbs --db orbs.db ")) {
            // Words in quotes are one.
            let parts = line.split('\'').enumerate();
            let words = parts.flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().collect(),
                _ => vec![part],
            });
            let words: Vec<_> = ["orbs", "--db", "orbs.db"].into_iter().chain(words).collect();
            let mut command = crate::command(&words);
            command.current_dir(folder.path());
            let ran = crate::finish(command, b"");
            assert!(ran.code < 2, "{line}: {ran:?}");
            examples += 1;
        }
    }
    assert!(examples > 15, "{examples}");
}

/// A ledger with a charge of a gate, a refund, and names that a spreadsheet would take as formulas.
fn charged() -> Ledger {
    let ledger = Ledger::new();
    let digest = format!("sha256:{}", "0f".repeat(32));
    let note = format!("POST /api/v1/voxies {digest}");
    for words in [
        vec!["grant", "alice", "100", "--id", "g1"],
        vec!["grant", "alice", "20", "--id", "=g2", "--bonus", "--note", "=1+1", "--expires", "2999-01-01T00:00:00Z"],
        vec!["hold", "alice", "30", "--id", "call-1", "--bonus", "--note", &note],
        vec!["settle", "call-1", "--capture", "25"],
        vec!["refund", "call-1", "--id", "f1", "--amount", "3", "--note", "@empty"],
        vec!["grant", "=alice", "7", "--id", "g3"],
    ] {
        let words: Vec<_> = ["orbs", "--db", &ledger.db].into_iter().chain(words).collect();
        assert_eq!(orbgate(&words).code, 0, "{words:?}");
    }
    ledger
}

#[test]
fn an_account_shows_what_each_call_cost() {
    let ledger = charged();
    let shown = ledger.run("account alice").out;
    for part in [
        "98 orbs, 0 of them held, 98 paid and 0 bonus orbs available\n",
        "never                     paid            98           0         100  g1\n",
        "  hold                    +0          +0         120  call-1, POST /api/v1/voxies, sha256:0f0f0f0f0f0f\n",
        "  capture                 -5         -20          95  call-1, POST /api/v1/voxies, sha256:0f0f0f0f0f0f\n",
        "  refund                  +3          +0          98  f1, @empty, of call-1\n",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    // The last balance is the balance, and each movement follows from the one before.
    let (code, page) = ledger.json("account alice");
    let balance = ledger.json("balance alice").1;
    let movements = page["movements"].as_array().unwrap();
    assert_eq!((code, movements.len(), &page["balance"]), (0, 5, &balance));
    let mut posted = 0;
    for movement in movements {
        posted += movement["paid_change"].as_i64().unwrap() + movement["bonus_change"].as_i64().unwrap();
        assert_eq!(movement["posted"], posted);
    }
    for name in ["posted", "held", "available", "paid", "bonus"] {
        assert_eq!(movements[4][name], balance[name], "{name}");
    }
    assert_eq!(movements[3]["policy"].as_str().unwrap().len(), 71);
    let newest = ledger.json("account alice --limit 2").1;
    assert_eq!(newest["movements"].as_array().unwrap()[..], movements[3..]);
    assert!(!ledger.run("account alice --to 2026-01-01").out.contains("capture"));
    assert!(ledger.run("account alice --from 2026-01-01").out.contains("capture"));
    assert_eq!(ledger.run("entries --account alice --from 2026-01-01 --format json").out.lines().count(), 5);
    assert_eq!(ledger.run("entries --account alice --limit 2 --format json").out.lines().count(), 2);
    assert_eq!(ledger.run("entries --account bob --format json").out, "");
    assert_eq!(ledger.run("entries --to 2026-01-01 --format json").out, "");
}

#[test]
fn no_cell_of_csv_is_a_formula() {
    let ledger = charged();
    for line in ["account alice --format csv", "accounts --format csv", "totals --format csv"] {
        let ran = ledger.run(line);
        let mut rows = csv::Reader::from_reader(ran.out.as_bytes());
        let mut quoted = 0;
        for row in rows.records() {
            for cell in row.unwrap().iter() {
                let is_number = cell.parse::<i64>().is_ok();
                assert!(is_number || !cell.starts_with(['=', '+', '-', '@']), "{line}: {cell}");
                quoted += usize::from(cell.starts_with('\''));
            }
        }
        // Each had some, but for totals.
        assert_eq!(quoted == 0, line.starts_with("totals"), "{line}: {}", ran.out);
    }
    let ran = ledger.run("account alice --format csv");
    assert_eq!(ran.out.lines().count(), 6, "{ran:?}");
    assert!(ran.out.starts_with("account,seq,at,cause,id,hold,route,policy,"), "{ran:?}");
}

#[test]
fn accounts_and_totals_add_up() {
    let ledger = charged();
    let listed = ledger.run("accounts").out;
    assert!(listed.ends_with("             105  orbs in 2 accounts\n"), "{listed}");
    let accounts = ledger.run("accounts --json").out;
    let accounts: Vec<Value> = accounts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(accounts.iter().map(|listed| &listed["account"]).collect::<Vec<_>>(), ["=alice", "alice"]);
    assert!(accounts.iter().all(|listed| listed["last_used"].is_u64()));
    assert_eq!(ledger.run("accounts al --json").out.lines().count(), 1);
    assert_eq!(ledger.run("accounts --limit 1 --json").out.lines().count(), 1);
    // A minute ago there was nothing.
    let (code, totals) = ledger.json("totals");
    assert_eq!((code, &totals["outstanding"], &totals["paid"]["granted"]), (0, &json!(0), &json!(0)));
}
