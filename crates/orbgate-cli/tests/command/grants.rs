//! `orbgate orbs grant --from`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::{Ran, of_the_repository, orbgate, orbgate_reading};

/// A folder with a ledger, which is removed at the end.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn run(&self, line: &str) -> Ran {
        let db = self.path("orbs.db");
        let words: Vec<_> = ["orbs", "--db", &db].into_iter().chain(line.split(' ')).collect();
        orbgate(&words)
    }

    fn grant(&self, content: &[u8]) -> Ran {
        let file = self.path("grants");
        fs::write(&file, content).unwrap();
        self.run(&format!("grant --from {file}"))
    }

    fn available(&self, account: &str) -> u64 {
        let ran = self.run(&format!("balance {account} --json"));
        serde_json::from_str::<Value>(&ran.out).unwrap()["available"].as_u64().unwrap()
    }
}

#[test]
fn both_formats_grant_the_same_once() {
    let csv = "id,account,amount,bonus,expires,existing,note\n\
               g1,alice,100,,,,\"paid, by card\"\n\
               g2,\"bo\"\"b\",5,true,2999-01-01T00:00:00Z,false,\n\
               g3,alice,7,false,,true,\n";
    let json = [
        json!({ "id": "g1", "account": "alice", "amount": 100, "note": "paid, by card" }),
        json!({ "id": "g2", "account": "bo\"b", "amount": 5, "bonus": true, "expires": "2999-01-01T00:00:00Z" }),
        json!({ "id": "g3", "account": "alice", "amount": 7, "existing": true }),
    ];
    let json = json.map(|line| format!("{line}\n")).concat();
    let entries = [csv.to_owned(), json, format!("\u{feff}{csv}"), csv.replace('\n', "\r\n")].map(|content| {
        let world = World::new();
        let ran = world.grant(content.as_bytes());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{content}");
        assert_eq!(ran.out, "granted orbs: 112, in 3 grants\ndone before: 0; not done: 0; new accounts: 2\n");
        let again = world.grant(content.as_bytes());
        assert_eq!(again.out, "granted orbs: 0, in 0 grants\ndone before: 3; not done: 0; new accounts: 0\n");
        let ran = world.run(&format!("grant --from {} --json", world.path("grants")));
        let receipts: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(receipts.iter().map(|receipt| receipt["id"].clone()).collect::<Vec<_>>(), ["g1", "g2", "g3"]);
        assert_eq!((receipts[1]["bucket"].clone(), world.available("alice")), (json!("bonus"), 107));
        let entries = world.run("entries --format json").out;
        entries.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["note"].clone()).collect::<Vec<_>>()
    });
    assert!(entries.iter().all(|notes| *notes == entries[0] && notes[0] == json!("paid, by card")), "{entries:?}");
}

#[test]
fn each_error_is_shown_at_its_place_and_nothing_is_granted() {
    let long = "a".repeat(513);
    let table: [(&str, &[&str]); 19] = [
        ("", &["1:1: the file is empty"]),
        ("account,amount\n", &["1:1: there is no column `id`"]),
        ("account,amount,id,what,id\n", &["1:19: `what` is not one of", "1:24: a second column `id`"]),
        (
            "account,amount,id\nalice,many,a b\n\n\"x\ny\",0,g2\nbob,1\n",
            &[
                "2:7: `many` is not an amount",
                "2:12: an id is 1 to 128",
                "4:1: an account is",
                "5:4: a grant has at least 1 orb",
                "6:5: 2 values for 3 columns",
            ],
        ),
        ("account,amount,id\nalice,1,g1\nbob,1,g1\n", &["3:7: the id `g1` is already at 2:9"]),
        // Also if something else is wrong with one of the two.
        (
            "account,amount,id\nalice,many,g1\nbob,1,g1\n",
            &["2:7: `many` is not an amount", "3:7: the id `g1` is already at 2:12"],
        ),
        (
            "{\"account\":\"a\",\"id\":\"g1\"}\n{\"account\":\"a\",\"amount\":1,\"id\":\"g1\"}\n",
            &["missing field `amount`", "2:32: the id `g1` is already at 1:21"],
        ),
        // A quote inside a value is only a quote, and two in a quoted one are one.
        ("account,amount,id\nal\"ice,many,g1\nbob,1\"0,g2\n", &["2:8: `many` is not", "3:5: `1\"0` is not"]),
        ("account,amount,id\n\"a\"\",b\",many,g1\n", &["2:9: `many` is not"]),
        ("account,amount,id\nal\"ice,many,\"g\n1\"\n", &["2:8: `many` is not", "2:13: an id is"]),
        ("account,amount,id,bonus\nalice,1,g1,yes\n", &["2:12: `yes` is neither"]),
        ("account,amount,id,expires\nalice,1,g1,soon\n", &["2:12: `soon` is not a time"]),
        ("account,amount,id\nalice,9007199254740992,g1\n", &["2:7: `9007199254740992` is not an amount"]),
        ("{\"account\":\"a\",\"amount\":1,\"id\":\"g1\"}\n\n{\"account\":\"a\",\n", &["3:15: "]),
        (
            "{\"account\":\"a\",\"amount\":0,\"id\":\"g1\"}\n{\"account\":\"a\",\"amount\":-1,\"id\":\"g2\"}\n",
            &["1:25: a grant has at least 1 orb", "2:26: "],
        ),
        ("{\"account\":\"a\",\"amount\":1,\"id\":\"g1\",\"id\":\"g2\"}\n", &["1:40: duplicate field `id`"]),
        ("{\"account\":\"a\",\"amount\":1,\"id\":\"g1\",\"what\":1}\n", &["1:42: unknown field `what`"]),
        ("{\"account\":\"a\",\"amount\":1,\"id\":\"g1\",\"expires\":\"soon\"}\n", &["`soon` is not a time"]),
        ("{\"account\":\"a\",\"amount\":1}\n", &["missing field `id`"]),
    ];
    let world = World::new();
    assert_eq!(world.run("grant alice 1 --id g0").code, 0);
    let file = world.path("grants");
    let over = format!("account,amount,id\n{long},1,g1\n");
    for (content, errors) in table.into_iter().chain([(over.as_str(), &["2:1: an account is"][..])]) {
        let ran = world.grant(content.as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{content}: {ran:?}");
        let lines: Vec<_> = ran.err.lines().filter(|line| line.contains(&file)).collect();
        assert_eq!(lines.len(), errors.len(), "{content}: {ran:?}");
        for (line, error) in lines.iter().zip(errors) {
            assert!(line.contains(error), "{content}: {error}: {line}");
        }
    }
    let ran = world.grant(b"account,amount,id\n\xff,1,g1\n");
    assert!(ran.code == 2 && ran.err.contains(":2:1: this isn't UTF-8"), "{ran:?}");
    let ran = world.run("entries --format json");
    assert_eq!(ran.out.lines().count(), 1, "{ran:?}");
    assert_eq!(world.run(&format!("grant alice 1 --id g1 --from {file}")).code, 2);
    assert_eq!(world.run(&format!("grant --from {file}.no")).code, 2);
}

/// What the ledger can't do has its line, and the rest is done.
#[test]
fn a_grant_that_cannot_be_done_stops_no_other() {
    let world = World::new();
    assert_eq!(world.run("grant alice 1 --id g2").code, 0);
    let rows = "account,amount,id,existing,expires\n\
                alice,1,g1,,\nalice,2,g2,,\nbob,3,g3,true,\ncarol,4,g4,,2001-01-01T00:00:00Z\ndan,5,g5,,\n";
    let ran = world.grant(rows.as_bytes());
    assert_eq!(ran.code, 2, "{ran:?}");
    let file = world.path("grants");
    for line in [
        format!("{file}:3: the id belongs to a command with other content"),
        format!("{file}:4: the account doesn't exist"),
        format!("{file}:5: "),
    ] {
        assert!(ran.err.contains(&line), "{line}: {ran:?}");
    }
    assert_eq!(ran.out, "granted orbs: 6, in 2 grants\ndone before: 0; not done: 3; new accounts: 1\n");
    assert_eq!((world.available("alice"), world.available("dan")), (2, 5));
    // Only a conflict.
    let ran = world.grant(b"account,amount,id\nalice,2,g2\n");
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn thousands_are_granted_from_standard_input() {
    let world = World::new();
    let rows: String = (0..5000).map(|number| format!("user-{},1,g{number}\n", number % 700)).collect();
    let content = format!("account,amount,id\n{rows}");
    let db = world.path("orbs.db");
    let words = ["orbs", "--db", &db, "grant", "--from", "-"];
    let ran = orbgate_reading(&words, content.as_bytes());
    assert_eq!(ran.out, "granted orbs: 5000, in 5000 grants\ndone before: 0; not done: 0; new accounts: 700\n");
    assert_eq!(ran.code, 0);
    assert!(world.run("verify").out.starts_with("consistent: 700 accounts, 5000 entries"));
}

#[cfg(unix)]
#[test]
fn a_database_takes_many_at_once() {
    let Some(server) = crate::server::Server::start() else {
        return;
    };
    let (db, world) = (server.new_database(), World::new());
    let rows: String = (0..2000).map(|number| format!("user-{},1,g{number}\n", number % 300)).collect();
    let file = world.path("grants");
    fs::write(&file, format!("account,amount,id\n{rows}")).unwrap();
    for (granted, before) in [(2000, 0), (0, 2000)] {
        let ran = orbgate(&["orbs", "--db", &db, "grant", "--from", &file]);
        let new = if before == 0 { 300 } else { 0 };
        let said = format!(
            "granted orbs: {granted}, in {granted} grants\ndone before: {before}; not done: 0; new accounts: {new}\n"
        );
        assert_eq!((ran.code, ran.out.as_str()), (0, said.as_str()), "{ran:?}");
    }
}

/// The monthly job of the page, through a missed day, second runs, two at once, a new account, and a new month.
#[cfg(unix)]
#[test]
fn the_monthly_job_of_the_page_grants_once_a_month() {
    let Some(page) = of_the_repository("docs/orbs.md") else {
        return;
    };
    let page = fs::read_to_string(page).unwrap();
    let (_, script) = page.split_once("```sh\n# monthly.sh").unwrap();
    let (script, _) = script.split_once("```").unwrap();
    let world = World::new();
    fs::write(world.path("monthly.sh"), format!("#{script}")).unwrap();
    let subscribers = |lines: &str| fs::write(world.path("subscribers.txt"), lines).unwrap();
    let job = |day: &str| {
        let command = Path::new(env!("CARGO_BIN_EXE_orbgate")).parent().unwrap().to_str().unwrap();
        let path = format!("{command}:{}", std::env::var("PATH").unwrap());
        let mut job = Command::new("sh");
        job.args(["monthly.sh", day]).env("PATH", path).env("NO_COLOR", "1").current_dir(world.folder.path());
        job
    };
    let said = |ran: Output| {
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    subscribers("https://id.example#alice\nbob, the second\n");
    let told = |granted: u64, before: u64, new: u64| {
        let grants = if granted == 1 { "1 grant".to_owned() } else { format!("{granted} grants") };
        let orbs = granted * 1000;
        format!("granted orbs: {orbs}, in {grants}\ndone before: {before}; not done: 0; new accounts: {new}\n")
    };
    assert_eq!(said(job("2098-12-01").output().unwrap()), told(2, 0, 2));
    // The second is missed, and the third runs twice, the second time with itself.
    assert_eq!(said(job("2098-12-03").output().unwrap()), told(0, 2, 0));
    let both = [0, 1].map(|_| job("2098-12-03").stdout(std::process::Stdio::piped()).spawn().unwrap());
    for run in both {
        assert_eq!(said(run.wait_with_output().unwrap()), told(0, 2, 0));
    }
    subscribers("https://id.example#alice\nbob, the second\ncarol\n");
    assert_eq!(said(job("2098-12-31").output().unwrap()), told(1, 2, 1));
    // A first run of a month that begins late, twice at once: each grant is done by one of them.
    let both = [0, 1].map(|_| job("2099-01-09").stdout(std::process::Stdio::piped()).spawn().unwrap());
    let granted: u64 = both
        .map(|run| {
            let said = said(run.wait_with_output().unwrap());
            said.strip_prefix("granted orbs: ").and_then(|rest| rest.split(',').next()?.parse::<u64>().ok()).unwrap()
        })
        .iter()
        .sum();
    assert_eq!(granted, 3000);
    assert_eq!((world.available("https://id.example#alice"), world.available("carol")), (2000, 2000));
    // They end with their month: its receipts, once more, say so.
    fs::write(world.path("monthly.sh"), format!("#{script}").replace("--from -", "--json --from -")).unwrap();
    for (day, end) in [("2098-12-03", 4_070_908_800_000_u64), ("2099-01-31", 4_073_587_200_000)] {
        let receipts = said(job(day).output().unwrap());
        let receipts: Vec<Value> = receipts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(receipts.iter().all(|one| one["expires_at"] == end && one["repeated"] == true), "{receipts:?}");
        assert_eq!(receipts.len(), 3);
    }
}

/// A slip in a name opens an account, so it is a warning. The grant is done.
#[test]
fn a_new_name_that_looks_like_another_is_a_warning() {
    let world = World::new();
    let first = world.run("grant alice 1 --id g1");
    assert_eq!((first.code, first.err.as_str()), (0, ""));
    let ran = world.run("grant Alice 1 --id g2");
    assert_eq!((ran.code, ran.out.as_str()), (0, "granted 1 paid orbs to Alice, a new account\n"));
    let said = "warning: the new account `Alice` differs from `alice` only by case, spaces or invisible characters\n";
    assert_eq!(ran.err, said);
    // Not again, and not of an account that was there.
    for line in ["grant Alice 1 --id g2", "grant Alice 1 --id g3"] {
        assert_eq!(world.run(line).err, "", "{line}");
    }
    let receipt: Value = serde_json::from_str(&world.run("grant aLice 1 --id g4 --json").out).unwrap();
    assert_eq!(receipt["similar"], json!(["Alice", "alice"]));
    let ran = world.grant("account,amount,id\nbob,1,f1\nalice,1,f2\n\"al ice\",1,f3\nBob,1,f4\n".as_bytes());
    assert_eq!((ran.code, ran.out.lines().next()), (0, Some("granted orbs: 4, in 4 grants")), "{ran:?}");
    let lines: Vec<_> = ran.err.lines().collect();
    assert_eq!(lines.len(), 3, "{ran:?}");
    for said in
        [":2: the new account `bob` differs from `Bob` only", ":4: the new account `al ice` differs from", ":5: "]
    {
        assert!(lines.iter().any(|line| line.starts_with("warning: ") && line.contains(said)), "{said}: {ran:?}");
    }
    fs::write(world.path("grants"), "account,amount,id\ncarol,1,f5\nCAROL,1,f6\ncarol,1,f7\n").unwrap();
    let ran = world.run(&format!("grant --from {} --json", world.path("grants")));
    let mut receipts: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    receipts.sort_by_key(|receipt| receipt["id"].to_string());
    let similar: Vec<_> = receipts.iter().map(|receipt| receipt["similar"].clone()).collect();
    assert_eq!(similar, [json!(["CAROL"]), json!(["carol"]), Value::Null], "{ran:?}");
}
