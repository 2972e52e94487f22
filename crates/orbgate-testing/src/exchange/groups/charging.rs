//! How a gate charges, as its log states it at the start and after each reload, and what can't be charged.

use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::json;

use super::orbs::{PATIENCE, options};
use crate::exchange::program::{Gated, Running};
use crate::exchange::service::{LedgerService, SECRETS, Way};
use crate::exchange::suite::Suite;

/// As many of these routes consume orbs.
fn policy(paid: usize) -> String {
    let routes = ["GET /a", "GET /b"];
    let scope = |name: &str, orbs: &str, routes: &[&str]| {
        format!("      {name}: {{ orbs: {orbs}, routes: [{}] }}\n", routes.join(", "))
    };
    let (paid, free) = routes.split_at(paid);
    format!(
        "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n{}{}...\n",
        scope("paid", "3", paid),
        scope("free", "false", free)
    )
}

pub(crate) fn run(suite: &Suite) -> Result<()> {
    let group = Charging { suite, policy: suite.world.file("charging-policy.yaml") };
    let with = group.tokens("charging.yaml", json!({"user": "subject"}))?;
    let account = format!("; account of `{}`: user `sub`, organisation none", suite.world.issuers.name("main"));
    let no_ledger = |paid: usize| match paid {
        0 => (false, format!("charging: no ledger; routes that consume orbs: 0{account}")),
        paid => (true, format!("charging: no ledger, so only the handlers can charge; {}{account}", routes(paid))),
    };
    group.states(&with, &[], no_ledger)?;
    if !suite.program.charges {
        return Ok(());
    }
    let without = group.tokens("charging-without.yaml", json!(null))?;
    let service = LedgerService::start(&suite.world.tokens())?;
    SECRETS.iter().for_each(|secret| suite.world.hide(secret));
    fs::write(service.secret_file(), SECRETS[0])?;
    let more = options(&service, "void");
    let more = more.each_ref().map(String::as_str);
    group.states(&with, &more, |paid| (paid == 0, format!("charging: in a ledger; {}{account}", routes(paid))))?;
    group.refuses(&without, &more)?;
    if !suite.program.opens_ledger {
        group.asks(&with, &more, &service)?;
    }
    Ok(())
}

fn routes(paid: usize) -> String {
    match paid {
        0 => "routes that consume orbs: 0".to_owned(),
        paid => format!("routes that consume orbs: {paid}, such as `GET /a`"),
    }
}

/// The lines about charging. A message of several lines has its level before the first.
fn leveled(output: &str) -> Vec<(&'static str, String)> {
    let (whole, _) = output.rsplit_once('\n').unwrap_or_default();
    let (mut level, mut lines) = ("", Vec::new());
    for line in whole.lines() {
        let stated = line.find("charging: ");
        let before = line.get(..stated.unwrap_or(line.len())).unwrap_or_default().to_lowercase();
        let named = LEVELS.iter().filter_map(|level| Some((before.rfind(level)?, level)));
        level = named.max().map_or(level, |(_, named)| named);
        if stated.is_some() {
            lines.push((level, line.to_owned()));
        }
    }
    lines
}

/// As languages begin their names.
const LEVELS: [&str; 4] = ["info", "warn", "error", "severe"];

struct Charging<'s> {
    suite: &'s Suite,
    policy: PathBuf,
}

impl Charging<'_> {
    /// A configuration of one issuer with this `account`, or with none.
    fn tokens(&self, name: &str, account: serde_json::Value) -> Result<PathBuf> {
        let mut issuer = self.suite.world.configuration("main");
        if account.is_object() {
            issuer["account"] = account;
        }
        let tokens = self.suite.world.file(name);
        fs::write(&tokens, json!({"orbgate_token": 1, "issuers": [issuer]}).to_string())?;
        Ok(tokens)
    }

    fn start(&self, paid: usize, tokens: &Path, more: &[&str]) -> Result<Running> {
        fs::write(&self.policy, policy(paid))?;
        self.suite.program.start_in(&[], &self.policy, tokens, Gated::Yes, more)
    }

    /// Each version of the policy is stated in one line, at the start and after a reload, with its level.
    fn states(&self, tokens: &Path, more: &[&str], line: impl Fn(usize) -> (bool, String)) -> Result<()> {
        let running = self.start(1, tokens, more)?;
        let mut before = 0;
        for (number, paid) in [1, 2, 0, 1].into_iter().enumerate() {
            let (is_warning, words) = line(paid);
            if number > 0 {
                fs::write(&self.policy, policy(paid))?;
                let told = running.tell("reload")?;
                ensure!(told == "reloaded", "charging: `{told}` was said of {paid} routes that consume orbs");
            }
            let stated = self.stated(&running, before)?;
            let new = stated.get(before..).unwrap_or_default();
            before = stated.len();
            let named = if is_warning { "warn" } else { "info" };
            let is_right = |(level, line): &(&str, String)| *level == named && line.contains(&words);
            self.suite.saw_one();
            if !new.iter().all(is_right) {
                self.suite
                    .fail(format!("charging: {new:#?}\n  instead of a line of the level `{named}` with\n{words}"));
            }
        }
        Ok(())
    }

    /// The lines about charging with their levels, once there are more than so many.
    fn stated(&self, running: &Running, before: usize) -> Result<Vec<(&'static str, String)>> {
        let start = Instant::now();
        loop {
            let output = running.output();
            let lines = leveled(&output);
            if lines.len() > before {
                return Ok(lines);
            }
            ensure!(start.elapsed() < PATIENCE, "charging: no new line states it:\n{output}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the log has these words.
    fn logs(&self, running: &Running, words: &str) -> Result<()> {
        let start = Instant::now();
        self.suite.saw_one();
        while !running.output().contains(words) {
            ensure!(start.elapsed() < PATIENCE, "charging: `{words}` isn't logged:\n{}", running.output());
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// No token has an account, so a ledger's gate can't charge any call.
    fn refuses(&self, tokens: &Path, more: &[&str]) -> Result<()> {
        const WORDS: &str =
            "no issuer of the token configuration has `account`, so a gate with a ledger would deny each call";
        fs::write(&self.policy, policy(1))?;
        let why = self.suite.program.refuses_more(&self.policy, tokens, more)?;
        ensure!(why.contains(WORDS), "charging: without an account, a gate doesn't start because of\n{why}");
        self.suite.saw_one();
        let running = self.start(0, tokens, more)?;
        for (paid, told) in [(1, "kept"), (0, "reloaded")] {
            fs::write(&self.policy, policy(paid))?;
            let answer = running.tell("reload")?;
            ensure!(answer == told, "charging: `{answer}` was said of {paid} routes that no token can pay");
        }
        self.logs(&running, WORDS)
    }

    /// Before any call, the log shows that the ledger's service takes another secret, doesn't answer, or why it fails, in one line.
    fn asks(&self, tokens: &Path, more: &[&str], service: &LedgerService) -> Result<()> {
        fs::write(service.secret_file(), "wrong-secret-5e1f-0123456789-0123456789")?;
        let running = self.start(1, tokens, more)?;
        self.logs(&running, "status 401, so its secret is wrong")?;
        fs::write(service.secret_file(), SECRETS[0])?;
        service.set(Way::Down);
        let running = self.start(1, tokens, more)?;
        let start = Instant::now();
        let is_logged = |line: &str| line.contains(&service.url) && line.contains("answer");
        while !running.output().lines().any(is_logged) {
            ensure!(start.elapsed() < PATIENCE, "charging: no silent ledger is logged:\n{}", running.output());
            std::thread::sleep(Duration::from_millis(10));
        }
        service.set(Way::Full);
        let failing = self.start(1, tokens, more)?;
        let why = "status 503: the ledger has stopped: sqlite: database or disk is full";
        self.logs(&failing, &format!("the ledger {}: {why}", service.url))?;
        service.set(Way::Open);
        self.suite.saw_one();
        ensure!(!self.suite.world.shows_a_token(&running.output()), "charging: the output shows a secret");
        Ok(())
    }
}
