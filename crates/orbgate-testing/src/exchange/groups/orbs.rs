//! Orbs in a ledger: what each call costs, however its handler ends and whatever happens on the way to the ledger.

use core::time::Duration;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};

use crate::exchange::program::{Gated, Running};
use crate::exchange::recipe::Recipe;
use crate::exchange::service::{LedgerService, SECRETS, Way};
use crate::exchange::suite::Suite;
use crate::exchange::wire;

const POLICY: &str = r#"
orbgate: 1
apis:
  shop:
    base_path: ""
    scopes:
      run: { orbs: 10, routes: [POST /run] }
      open: { orbs: true, routes: ["POST /open/{id}"] }
      free: { orbs: false, routes: [GET /free] }
      page: { orbs: true, routes: [{ route: GET /page, orbs: 6 }, { route: HEAD /page, orbs: 4 }] }
...
"#;

/// The routes with a function for the amount, those whose body is read, and those that need no token.
const OPTIONS: [&str; 6] = ["--amount", "POST /open/{id}", "--bonus", "POST /run", "--public", "GET /healthz"];

/// Settings, and what calls cost with them whose hold is 10, and whose answers aren't whole.
#[derive(Clone, Copy)]
struct Costs {
    on_cancelled: &'static str,
    more: &'static [&'static str],
    /// A call costs at most its hold times this.
    ceiling: u64,
    /// If the caller leaves, without a statement and with one of 3.
    left: [u64; 2],
    /// The same if the service breaks off.
    broken: [u64; 2],
}

const COSTS: [Costs; 3] = [
    Costs { on_cancelled: "void", more: &[], ceiling: 1, left: [0, 0], broken: [0, 0] },
    Costs { on_cancelled: "capture", more: &[], ceiling: 1, left: [10, 3], broken: [10, 3] },
    Costs {
        on_cancelled: "stated",
        more: &["--on-broken", "capture", "--ceiling", "3"],
        ceiling: 3,
        left: [0, 3],
        broken: [10, 3],
    },
];

/// On the busiest machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn run(suite: &Suite) -> Result<()> {
    if !suite.program.charges {
        return Ok(());
    }
    let tokens = tokens(suite)?;
    let policy = suite.world.file("orbs-policy.yaml");
    fs::write(&policy, POLICY)?;
    let service = LedgerService::start(&suite.world.tokens())?;
    SECRETS.iter().for_each(|secret| suite.world.hide(secret));
    for costs in COSTS {
        fs::write(service.secret_file(), SECRETS[0])?;
        let on_cancelled = costs.on_cancelled;
        let more = options(&service, on_cancelled);
        let all = [more.each_ref().map(String::as_str).as_slice(), &OPTIONS, costs.more].concat();
        let running = suite.program.start_in(&[], &policy, &tokens, Gated::Yes, &all)?;
        let mut group = Orbs { suite, service: &service, running, on_cancelled, costs };
        await_keys(&group.running, &group.bytes(&Call::new("nobody", "POST /run", &[]))?);
        group.costs()?;
        group.leaves()?;
        if costs.on_cancelled != "capture" {
            group.amounts()?;
        }
        if on_cancelled == "void" {
            group.empty()?;
            group.bonus()?;
            group.free()?;
            if !suite.program.opens_ledger {
                group.faults()?;
            }
        }
        if on_cancelled == "capture" {
            group.reload(&policy)?;
        }
        if suite.world.shows_a_token(&group.running.output()) {
            suite.fail("orbs\n  the output shows a token or a secret");
        }
    }
    // Without a function for one of its routes.
    let more = options(&service, "void");
    suite.program.refuses_more(&policy, &tokens, &more.each_ref().map(String::as_str))?;
    suite.saw_one();
    Ok(())
}

/// Users' tokens have an account.
pub(super) fn tokens(suite: &Suite) -> Result<PathBuf> {
    let mut issuer = suite.world.configuration("main");
    issuer["account"] = json!({"user": "subject"});
    let tokens = suite.world.file("orbs.yaml");
    fs::write(&tokens, json!({"orbgate_token": 1, "issuers": [issuer]}).to_string())?;
    Ok(tokens)
}

/// The orbs of an account, once nothing is held.
pub(super) fn left(service: &LedgerService, account: &str) -> Result<u64> {
    let start = Instant::now();
    loop {
        let (posted, held) = service.balance(account)?;
        if held == 0 || start.elapsed() > PATIENCE {
            return Ok(posted.saturating_sub(held));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(super) fn options(service: &LedgerService, on_cancelled: &str) -> [String; 8] {
    let [secret, db] = [service.secret_file(), service.db()].map(|path| path.display().to_string());
    let all =
        ["--ledger", &service.url, "--ledger-secret", &secret, "--ledger-db", &db, "--on-cancelled", on_cancelled];
    all.map(str::to_owned)
}

struct Orbs<'s> {
    suite: &'s Suite,
    service: &'s LedgerService,
    running: Running,
    on_cancelled: &'static str,
    costs: Costs,
}

/// A call: its user, its request line, its headers and its body.
struct Call<'c> {
    user: &'c str,
    line: &'c str,
    headers: &'c [(&'c str, &'c str)],
    body: &'c str,
}

impl<'c> Call<'c> {
    const fn new(user: &'c str, line: &'c str, headers: &'c [(&'c str, &'c str)]) -> Self {
        Self { user, line, headers, body: "" }
    }
}

/// Asks for a caller without orbs until the gate has keys. Where other programs take all processors, a gate can deny its first requests
/// because they come too late.
pub(super) fn await_keys(running: &Running, request: &[u8]) {
    let start = Instant::now();
    while wire::ask(&running.address, request).is_ok_and(|answer| answer.status == 401) && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(100));
    }
}

impl Orbs<'_> {
    /// Each user has its own account in each run.
    fn user(&self, name: &str) -> String {
        format!("{name}-{}", self.on_cancelled)
    }

    fn account(&self, user: &str) -> String {
        format!("{}#{user}", self.suite.world.issuers.name("main"))
    }

    fn grant(&self, user: &str, amount: u64) -> Result<()> {
        self.service.grant(&self.account(user), amount, "paid")
    }

    fn bytes(&self, call: &Call<'_>) -> Result<Vec<u8>> {
        let recipe = Recipe::of("user", "run open free page").claim("sub", call.user);
        let token = self.suite.world.token(&recipe)?;
        let headers = call.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect::<String>();
        let length = call.body.len();
        Ok(format!(
            "{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {length}\r\n{headers}\r\n{}",
            call.line, call.body
        )
        .into_bytes())
    }

    fn ask(&self, call: &Call<'_>) -> Result<wire::Answer> {
        Ok(wire::ask(&self.running.address, &self.bytes(call)?).unwrap_or_default())
    }

    fn left(&self, user: &str) -> Result<u64> {
        left(self.service, &self.account(user))
    }

    fn judge<T: PartialEq + core::fmt::Debug>(&self, what: &str, actual: &T, expected: &T) {
        self.suite.saw_one();
        if actual != expected {
            self.suite.fail(format!("orbs, {}: {what}\n  {actual:?} instead of {expected:?}", self.on_cancelled));
        }
    }

    /// One call of each kind: what its handler does, whether it answers with success, and the orbs.
    fn costs(&self) -> Result<()> {
        let (ceiling, [broken, broken_stated]) = (self.costs.ceiling * 10, self.costs.broken);
        let table = [
            ("", "POST /run", Some(200), 10),
            ("404", "POST /run", Some(404), 0),
            ("500", "POST /run", Some(500), 0),
            ("throw", "POST /run", None, 0),
            ("stream", "POST /run", Some(200), 10),
            ("stream that fails", "POST /run", None, broken),
            ("state 3, stream that fails", "POST /run", None, broken_stated),
            ("stream that fails at once", "POST /run", None, 0),
            ("state 3", "POST /run", Some(200), 3),
            ("state 0", "POST /run", Some(200), 0),
            ("state 25", "POST /run", Some(200), ceiling.min(25)),
            ("state 1000", "POST /run", Some(200), ceiling),
            ("state 1000, stream", "POST /run", Some(200), ceiling),
            ("state 1000, 500", "POST /run", Some(500), 0),
            ("", "GET /free", Some(200), 0),
            ("", "GET /page", Some(200), 6),
            ("", "HEAD /page", Some(200), 4),
        ];
        for (number, (what, line, status, cost)) in table.into_iter().enumerate() {
            let user = self.user(&format!("user-{number}"));
            self.grant(&user, 100)?;
            let answer = self.ask(&Call::new(&user, line, &[("x-do", what)]))?;
            if let Some(status) = status {
                self.judge(what, &answer.status, &status);
            }
            self.judge(what, &self.left(&user)?, &(100 - cost));
            let causes = self.service.causes(&self.account(&user))?;
            let expected: &[&str] = match (line, what, cost) {
                ("GET /free", ..) => &["grant"],
                (_, "state 0", _) | (_, _, 1..) => &["grant", "hold", "capture"],
                _ => &["grant", "hold", "void"],
            };
            self.judge(what, &causes, &expected.iter().map(ToString::to_string).collect());
        }
        // What was over is counted, soon after it was settled, and logged.
        let over = if ceiling == 10 { 3 } else { 2 };
        let (start, mut counted) = (Instant::now(), 0);
        while counted < over && start.elapsed() < PATIENCE {
            counted = self.running.count()?.over.values().sum();
            std::thread::sleep(Duration::from_millis(10));
        }
        self.judge("calls over the ceiling", &counted, &over);
        let said = format!("a handler has stated 1000 orbs for a hold of 10: {ceiling} are charged");
        self.judge("what the log says of them", &self.running.output().matches(&said).count(), &2);
        Ok(())
    }

    /// A caller who leaves in the middle of an endless stream, or without reading a whole answer.
    fn leaves(&self) -> Result<()> {
        let [left, left_stated] = self.costs.left;
        for (what, cost) in [("endless stream", left), ("state 3, endless stream", left_stated), ("large", 10)] {
            let user = self.user(&what.replace([' ', ','], "-"));
            self.grant(&user, 100)?;
            let mut stream = TcpStream::connect(&self.running.address)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.write_all(&self.bytes(&Call::new(&user, "POST /run", &[("x-do", what)]))?)?;
            stream.read_exact(&mut [0; 200])?;
            drop(stream);
            self.judge(what, &self.left(&user)?, &(100 - cost));
        }
        Ok(())
    }

    /// The amounts of functions.
    fn amounts(&self) -> Result<()> {
        let user = self.user("amounts");
        self.grant(&user, 100)?;
        let last = if self.costs.ceiling == 1 { 50 } else { 0 };
        let table = [
            ("7", "", 200, 93),
            // Nothing is held, so the handler can't charge.
            ("0", "state 5", 200, 93),
            ("7", "state 2", 200, 91),
            // More than the ceiling isn't charged, and of what may be, only what is there.
            ("1", "state 1000", 200, 91 - self.costs.ceiling),
            ("40", "state 1000", 200, last),
            ("many", "", 402, last),
            ("9007199254740992", "", 402, last),
        ];
        for (orbs, what, status, left) in table {
            let answer = self.ask(&Call::new(&user, "POST /open/7", &[("x-orbs", orbs), ("x-do", what)]))?;
            self.judge(
                &format!("a function that returns {orbs}"),
                &(answer.status, self.left(&user)?),
                &(status, left),
            );
            if what.starts_with("state") {
                let record: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
                self.judge("whether a statement counts", &record["stated"], &json!(orbs != "0"));
            }
        }
        Ok(())
    }

    /// The denial of a call that isn't held.
    fn denied(&self, what: &str, call: &Call<'_>, status: u16, retries: bool) -> Result<()> {
        self.judge(what, &self.seen()?, &Vec::new());
        let answer = self.ask(call)?;
        self.judge(what, &(answer.status, answer.text()), &(status, ""));
        let retry_after = answer.header("retry-after").and_then(|value| value.parse::<u64>().ok());
        self.judge(what, &retry_after.is_some_and(|seconds| (1..=4).contains(&seconds)), &retries);
        self.judge(what, &answer.header("cache-control").as_deref(), &Some("no-store"));
        self.judge(what, &self.seen()?, &Vec::new());
        Ok(())
    }

    /// The calls that the service saw since the last time. Counting makes its records complete.
    fn seen(&self) -> Result<Vec<String>> {
        self.running.count()?;
        Ok(self.running.records())
    }

    fn empty(&self) -> Result<()> {
        self.seen()?;
        self.denied("an empty account", &Call::new(&self.user("nobody"), "POST /run", &[]), 402, false)?;
        // Another call holds what is there.
        let user = self.user("busy");
        self.grant(&user, 15)?;
        let mut stream = TcpStream::connect(&self.running.address)?;
        stream.write_all(&self.bytes(&Call::new(&user, "POST /run", &[("x-do", "endless stream")]))?)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.read_exact(&mut [0; 200])?;
        self.seen()?;
        self.denied("an account that another call holds", &Call::new(&user, "POST /run", &[]), 402, true)?;
        drop(stream);
        self.judge("the other call", &self.left(&user)?, &15);
        // A token of a kind without an account.
        let recipe = Recipe::of("organisation", "run");
        let token = self.suite.world.token(&recipe)?;
        let bytes = wire::request(b"POST", b"/run", Some(&token));
        let answer = wire::ask(&self.running.address, &bytes).unwrap_or_default();
        self.judge("a token without an account", &answer.status, &401);
        Ok(())
    }

    /// The flag in the body, which the service gets whole.
    fn bonus(&self) -> Result<()> {
        let user = self.user("bonus");
        self.service.grant(&self.account(&user), 100, "bonus")?;
        let long = format!("{{\"allowBonusOrbsUse\":true,\"pad\":\"{}\"}}", "a".repeat(2000));
        let table = [
            ("{}", 402, 100),
            (r#"{"allowBonusOrbsUse":false}"#, 402, 100),
            (r#"{"allowBonusOrbsUse":true, "text":"é"}"#, 200, 90),
            // It is longer than the limit.
            (&long, 402, 90),
        ];
        for (body, status, left) in table {
            let audited = self.audited()?;
            let answer = self.ask(&Call { user: &user, line: "POST /run", headers: &[("x-do", "echo")], body })?;
            let actual = (answer.status, self.left(&user)?);
            self.judge(body.get(..40).unwrap_or(body), &actual, &(status, left));
            if status == 200 {
                let record: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
                self.judge("the body", &record["body"], &json!(body));
                let line = self.line_after(audited)?;
                self.judge("what the audit has of the flag", &line["orbs"]["bonus_allowed"], &json!(true));
                let held = self.service.last_hold(&self.account(&user))?;
                self.judge("the hold in the audit", &line["hold_id"], &held);
            } else {
                self.judge("the hold of a denied call", &self.line_after(audited)?["hold_id"], &Value::Null);
            }
        }
        // A body whose flag doesn't count is whole, too.
        self.grant(&user, 100)?;
        let audited = self.audited()?;
        let answer = self.ask(&Call { user: &user, line: "POST /run", headers: &[("x-do", "echo")], body: &long })?;
        let record: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        self.judge("a long body", &record["body"], &json!(long));
        self.judge(
            "what the audit has of its flag",
            &self.line_after(audited)?["orbs"]["bonus_allowed"],
            &json!(false),
        );
        Ok(())
    }

    /// The number of decisions so far, each of which is audited now.
    fn audited(&self) -> Result<usize> {
        let made: u64 = self.running.count()?.decisions.values().sum();
        let made = usize::try_from(made)?;
        self.running.audit(made);
        Ok(made)
    }

    /// The line of the audit after so many others.
    fn line_after(&self, lines: usize) -> Result<Value> {
        let all = self.running.audit(lines + 1);
        Ok(serde_json::from_str(all.get(lines).map_or("null", String::as_str))?)
    }

    /// What holds nothing asks no ledger.
    fn free(&self) -> Result<()> {
        self.service.set(Way::Down);
        let before = self.service.holds();
        let user = self.user("free");
        let mut forged = self.bytes(&Call::new(&user, "POST /run", &[]))?;
        let end = forged.windows(2).position(|two| two == b"\r\n").unwrap_or_default();
        forged.splice(..end, *b"POST /nothing HTTP/1.1");
        let answers = [
            ("a free route", self.ask(&Call::new(&user, "GET /free", &[]))?.status, 200),
            ("a public route", self.ask(&Call::new(&user, "GET /healthz", &[]))?.status, 200),
            ("an unknown route", wire::ask(&self.running.address, &forged)?.status, 404),
        ];
        for (what, status, expected) in answers {
            self.judge(what, &status, &expected);
        }
        self.judge("holds of calls that consume nothing", &(self.service.holds() - before), &0);
        self.service.set(Way::Open);
        Ok(())
    }

    /// A service that loses answers, is down, or too slow.
    fn faults(&self) -> Result<()> {
        let user = self.user("lost");
        self.grant(&user, 100)?;
        for (way, left) in [(Way::LosesHold, 90), (Way::LosesSettle, 80)] {
            self.service.set(way);
            let before = self.service.holds();
            let answer = self.ask(&Call::new(&user, "POST /run", &[]))?;
            self.judge(&format!("{way:?}"), &(answer.status, self.left(&user)?), &(200, left));
            let holds = if way == Way::LosesHold { 2 } else { 1 };
            self.judge(&format!("{way:?}"), &(self.service.holds() - before), &holds);
        }
        let user = self.user("unlucky");
        self.grant(&user, 100)?;
        self.seen()?;
        for way in [Way::Down, Way::Slow] {
            self.service.set(way);
            self.denied(&format!("{way:?}"), &Call::new(&user, "POST /run", &[]), 503, true)?;
            self.service.set(Way::Open);
        }
        // What comes late finds that it was voided.
        std::thread::sleep(Duration::from_millis(1500));
        self.judge("a late hold", &self.left(&user)?, &100);
        let answer = self.ask(&Call::new(&user, "POST /run", &[]))?;
        self.judge("a service that is up again", &(answer.status, self.left(&user)?), &(200, 90));
        Ok(())
    }

    /// A new policy without an amount isn't taken, and a new secret is.
    fn reload(&mut self, policy: &Path) -> Result<()> {
        let user = self.user("reload");
        self.grant(&user, 100)?;
        fs::write(policy, POLICY.replace("orbs: 10", "orbs: true"))?;
        let kept = self.running.tell("reload")?;
        self.judge("a policy without an amount", &kept.as_str(), &"kept");
        fs::write(policy, POLICY.replace("orbs: 10", "orbs: 20"))?;
        fs::write(self.service.secret_file(), SECRETS[1])?;
        let reloaded = self.running.tell("reload")?;
        self.judge("a policy with another amount", &reloaded.as_str(), &"reloaded");
        let answer = self.ask(&Call::new(&user, "POST /run", &[]))?;
        self.judge("another amount", &(answer.status, self.left(&user)?), &(200, 80));
        fs::write(policy, POLICY)?;
        Ok(())
    }
}
