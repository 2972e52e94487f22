//! Which versions of a policy file become active: real files, written as people and programs write them.
#![cfg(test)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test writes files, waits and fails by panicking"
)]

mod watch;

use core::fmt::Write as _;
use core::time::Duration;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, Once, OnceLock};
use std::thread;
use std::time::Instant;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use orbgate::{Engine, Policy, Request, Token};
use orbgate_testing::expected::Expected;
use orbgate_tower::{Engines, LoadError, PublicRoutes, WatchSettings};

/// One test at a time: the watcher counts and logs for the whole program.
struct Alone {
    metrics: &'static PrometheusHandle,
    _turn: MutexGuard<'static, ()>,
    file: PathBuf,
}

const LOG: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/reload.log");

impl Alone {
    fn new(name: &str) -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        static METRICS: OnceLock<PrometheusHandle> = OnceLock::new();
        static LOGGING: Once = Once::new();
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        LOGGING.call_once(|| {
            let log = File::options().append(true).create(true).open(LOG).unwrap();
            let log = tracing_subscriber::fmt().with_ansi(false).with_writer(log);
            tracing::subscriber::set_global_default(log.finish()).unwrap();
        });
        fs::write(LOG, "").unwrap();
        Self {
            metrics: METRICS.get_or_init(|| PrometheusBuilder::new().install_recorder().unwrap()),
            _turn: turn,
            file: Path::new(env!("CARGO_TARGET_TMPDIR")).join(name),
        }
    }

    /// Replaces the file by a whole version at once.
    fn put(&self, text: &str) {
        let other = self.file.with_extension("new");
        fs::write(&other, text).unwrap();
        fs::rename(&other, &self.file).unwrap();
    }

    fn count(&self, counter: &str) -> u64 {
        let scrape = self.metrics.render();
        let mut counts = scrape.lines().filter_map(|line| line.strip_prefix(counter)?.strip_prefix(' '));
        counts.next().map_or(0, |count| count.parse().unwrap())
    }

    fn loads(&self, result: &str) -> u64 {
        self.count(&format!("orbgate_policy_loads_total{{result=\"{result}\"}}"))
    }

    fn changes(&self, kind: &str) -> u64 {
        self.count(&format!("orbgate_policy_changes_total{{kind=\"{kind}\"}}"))
    }
}

fn log() -> String {
    fs::read_to_string(LOG).unwrap()
}

/// The last error in the log, without its time and the folder of its file.
fn last_error() -> String {
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/");
    let log = log().replace(folder, "");
    let (_, error) = log.rsplit_once(" ERROR ").unwrap_or_default();
    error.to_owned()
}

/// The version is counted before it is logged.
fn keep_error(name: &str) {
    until("it is logged", || !last_error().is_empty());
    let mut expected = Expected::default();
    expected.add("the log", [last_error()]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), name);
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}\n{}", log());
        thread::sleep(Duration::from_millis(2));
    }
}

const QUICK: WatchSettings = WatchSettings::every(Duration::from_millis(5));

/// `GET /users/{id}` for 5 orbs, other routes, and last `GET /users/admin` for 500 and another scope.
fn policy(others: usize) -> String {
    let mut text = "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n".to_owned();
    text.push_str("      read:users:\n        orbs: 5\n        routes:\n          - GET /users/{id}\n");
    for number in 0..others {
        writeln!(text, "          - GET /others/{number}").unwrap();
    }
    text.push_str("      admin:users:\n        orbs: 500\n        routes:\n          - GET /users/admin\n");
    text
}

/// The same without its end, as a full disk leaves it: a valid policy.
fn half() -> String {
    let whole = policy(0);
    let half = whole.split("      admin:users").next().unwrap().to_owned();
    Policy::from_yaml(&half).unwrap();
    half
}

fn digest(text: &str) -> String {
    Engine::new(&Policy::from_yaml(text).unwrap()).digest().to_string()
}

fn now(engines: &Engines) -> String {
    engines.load().digest().to_string()
}

/// Whether a token that may read users may call the literal route.
fn is_open(engines: &Engines) -> bool {
    let decision = Request {
        method: b"GET",
        target: b"/users/admin",
        token: Some(Token::user("read:users")),
        allow_bonus_orbs_use: false,
    };
    engines.load().decide(&decision).is_allow()
}

#[test]
fn a_policy_that_is_being_written_is_not_active() {
    const INTERVAL: Duration = Duration::from_millis(600);
    let alone = Alone::new("written-in-place.yaml");
    let whole = policy(60);
    alone.put(&whole);
    let engines = Engines::external();
    let _watch = engines.watch(&alone.file, WatchSettings::every(INTERVAL)).unwrap();
    // As `cp` does it on a slow disk: in place, from the first line on. If this machine itself pauses for
    // long, the file has rested, and the test tries again.
    let write = || {
        let mut file = File::create(&alone.file).unwrap();
        let (mut longest, mut opened) = (Duration::ZERO, false);
        let mut last = Instant::now();
        for line in whole.lines() {
            writeln!(file, "{line}").unwrap();
            longest = longest.max(last.elapsed());
            last = Instant::now();
            for _ in 0..10 {
                thread::sleep(Duration::from_millis(2));
                opened |= is_open(&engines);
            }
        }
        (longest < INTERVAL / 2).then_some(opened)
    };
    let opened = (0..20).find_map(|_| write());
    assert_eq!(opened, Some(false), "half a policy is active");
    until("all of it is active", || now(&engines) == digest(&whole));
}

#[test]
fn a_policy_that_says_where_it_ends_is_never_cut_short() {
    let alone = Alone::new("with-an-end.yaml");
    let marked = format!("{}...\n", policy(0));
    alone.put(&marked);
    let engines = Engines::external();
    let watch = engines.watch(&alone.file, QUICK).unwrap();
    assert_eq!(now(&engines), digest(&marked));
    let before = alone.loads("unfinished");
    alone.put(&half());
    until("it is refused", || alone.loads("unfinished") > before);
    assert!(!is_open(&engines));
    keep_error("reload: a file without its end");
    // A version with the marker is accepted again.
    let next = format!("{}...\n# the end\n", policy(1));
    alone.put(&next);
    until("it is active", || now(&engines) == digest(&next));
    drop(watch);

    // The marker may be required from the start.
    alone.put(&policy(0));
    let refused = Engines::external().watch(&alone.file, QUICK.require_end());
    assert!(matches!(refused, Err(LoadError::Unfinished)));
    // It is not required if no version ever had it.
    let engines = Engines::external();
    let _watch = engines.watch(&alone.file, QUICK).unwrap();
    alone.put(&half());
    until("it is active", || is_open(&engines));
    alone.put(&marked);
    until("it is active", || !is_open(&engines));
    let before = alone.loads("unfinished");
    alone.put(&half());
    until("it is refused", || alone.loads("unfinished") > before);
}

#[test]
fn what_a_version_changes_is_logged_counted_and_refused_if_it_is_to_be() {
    let alone = Alone::new("changes.yaml");
    alone.put(&policy(0));
    let engines = Engines::external();
    let watch = engines.watch(&alone.file, QUICK.refuse_wider()).unwrap();
    let before = alone.loads("wider");
    alone.put(&half());
    until("it is refused", || alone.loads("wider") > before);
    assert!(!is_open(&engines));
    keep_error("reload: a wider version");
    // A version that only narrows is not refused.
    let narrower = policy(0).replace("orbs: 5\n", "orbs: 6\n");
    let counts = ["wider", "narrower", "removed"].map(|kind| alone.changes(kind));
    alone.put(&narrower);
    until("it is active", || now(&engines) == digest(&narrower));
    until("it is counted", || alone.changes("narrower") > counts[1]);
    assert_eq!(["wider", "removed"].map(|kind| alone.changes(kind)), [counts[0], counts[2]]);
    drop(watch);

    let engines = Engines::external();
    engines.reload(policy(0).as_bytes()).unwrap();
    let counts = ["wider", "removed"].map(|kind| alone.changes(kind));
    engines.reload(half().as_bytes()).unwrap();
    // Both spellings of the literal, of which one was refused before; the route, and its scope.
    assert_eq!(["wider", "removed"].map(|kind| alone.changes(kind)), [counts[0] + 2, counts[1] + 2]);
}

/// Compared by paths without the slash, both versions would find no route, and be equal.
#[test]
fn a_wider_version_is_refused_where_paths_end_in_a_slash() {
    let alone = Alone::new("slashes.yaml");
    let slashed = |text: String| text.replacen("apis:", "trailing_slash: always\napis:", 1);
    alone.put(&slashed(policy(0)));
    let engines = Engines::external();
    let watch = engines.watch(&alone.file, QUICK.refuse_wider()).unwrap();
    // Without the literal; and with paths that do not end in a slash, which were denied.
    for wider in [slashed(half()), policy(0)] {
        let before = alone.loads("wider");
        alone.put(&wider);
        until("it is refused", || alone.loads("wider") > before);
        assert_eq!(now(&engines), digest(&slashed(policy(0))));
    }
    assert!(log().contains("GET /users/admin/: "), "{}", log());
    drop(watch);
}

/// Neither version has routes, so they decide alike except for the gate's public routes.
#[test]
fn a_version_that_opens_other_public_paths_is_refused_as_wider() {
    let alone = Alone::new("public.yaml");
    let policy = |slash: &str| format!("orbgate: 1\ntrailing_slash: {slash}\napis: {{ a: {{ scopes: {{}} }} }}\n");
    alone.put(&policy("never"));
    let public = PublicRoutes::new(["GET /healthz"]).unwrap();
    let engines = Engines::external().public_routes(public).unwrap();
    let watch = engines.watch(&alone.file, QUICK.refuse_wider()).unwrap();
    let before = alone.loads("wider");
    alone.put(&policy("always"));
    until("it is refused", || alone.loads("wider") > before);
    assert_eq!(now(&engines), digest(&policy("never")));
    assert!(log().contains("`GET /healthz/`"), "{}", log());
    drop(watch);
}

#[test]
fn a_mixture_of_two_versions_is_never_active() {
    let alone = Alone::new("sealed.yaml");
    let [old, new] = [policy(0), policy(0).replace("orbs: 5\n", "orbs: 6\n")];
    let [old, new] = [old, new].map(|text| orbgate_analysis::format_and_seal(&text).unwrap());
    alone.put(&old);
    let engines = Engines::external();
    let watch = engines.watch(&alone.file, QUICK).unwrap();
    let before = alone.loads("refused");
    // As `rsync --inplace` does it: over the old bytes, without truncating.
    let mixed = format!("{}{}", &new[..new.len() / 2], &old[new.len() / 2..]);
    Policy::from_yaml(&unsealed(&mixed)).unwrap();
    File::options().write(true).open(&alone.file).unwrap().write_all(&new.as_bytes()[..new.len() / 2]).unwrap();
    assert_eq!(fs::read_to_string(&alone.file).unwrap(), mixed);
    until("it is refused", || alone.loads("refused") > before);
    keep_error("reload: a mixture");
    assert_eq!(now(&engines), digest(&old));
    fs::write(&alone.file, &new).unwrap();
    until("all of it is active", || now(&engines) == digest(&new));
    // Once sealed, always sealed.
    let before = alone.loads("unsealed");
    alone.put(&format!("{}...\n", policy(1)));
    until("it is refused", || alone.loads("unsealed") > before);
    drop(watch);

    let refused = Engines::external().watch(&alone.file, QUICK.require_seal());
    assert!(matches!(refused, Err(LoadError::Unsealed)), "{refused:?}");
    // What `main` shows of it.
    let shown = refused.map(|_| ()).unwrap_err();
    assert_eq!(format!("{shown:?}"), shown.to_string());
    alone.put(&old);
    let _watch = Engines::external().watch(&alone.file, QUICK.require_seal()).unwrap();
}

/// A text with another comment instead of its seal.
fn unsealed(text: &str) -> String {
    text.replace("# sha256:", "# once ")
}

#[test]
fn a_service_may_be_told_which_policy_it_gets() {
    let alone = Alone::new("expected.yaml");
    let (first, second) = (policy(0), policy(1));
    let expected = Policy::from_yaml(&first).unwrap().digest();
    let settings = QUICK.expect(expected);
    alone.put(&second);
    let refused = Engines::external().watch(&alone.file, settings);
    let Err(LoadError::Unexpected(actual)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(actual.to_string(), digest(&second));
    alone.put(&first);
    let engines = Engines::external();
    let _watch = engines.watch(&alone.file, settings).unwrap();
    let before = alone.loads("unexpected");
    alone.put(&second);
    until("it is refused", || alone.loads("unexpected") > before);
    assert_eq!(now(&engines), digest(&first));
    // The same policy in another layout.
    let before = alone.loads("loaded");
    alone.put(&format!("# Another layout.\n{first}"));
    until("it is active", || alone.loads("loaded") > before);
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let alone = Alone::new("settings.yaml");
    alone.put(&policy(0));
    let day = Duration::from_secs(24 * 60 * 60);
    let refusal = |settings: WatchSettings| {
        let refused = Engines::external().watch(&alone.file, settings);
        refused.map_or_else(|error| error.to_string(), |_| "followed".to_owned())
    };
    let both = WatchSettings::every(Duration::ZERO).deadline(day * 2);
    let mut expected = Expected::default();
    expected.add("interval 0, deadline 2 days", [refusal(both)]);
    expected.add("deadline 0", [refusal(QUICK.deadline(Duration::ZERO))]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "settings");
}

#[cfg(unix)]
#[test]
fn a_pipe_instead_of_a_policy_stops_nothing() {
    let alone = Alone::new("pipe.yaml");
    let pipe = alone.file.with_extension("pipe");
    let _ = fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(matches!(Engines::from_file(&pipe), Err(LoadError::Unreadable(_))));
    assert!(matches!(Engines::external().watch(&pipe, QUICK), Err(LoadError::Unreadable(_))));

    alone.put(&policy(0));
    let engines = Engines::external();
    let _watch = engines.watch(&alone.file, QUICK).unwrap();
    let before = alone.loads("unreadable");
    fs::rename(&pipe, &alone.file).unwrap();
    until("it is refused", || alone.loads("unreadable") > before);
    let seconds = || {
        let scrape = alone.metrics.render();
        let line = scrape.lines().find_map(|line| line.strip_prefix("orbgate_policy_read_time_seconds "));
        line.unwrap().parse::<f64>().unwrap()
    };
    let stopped = seconds();
    assert!(stopped > 1.7e9);
    thread::sleep(Duration::from_millis(50));
    assert!((seconds() - stopped).abs() < f64::EPSILON, "no good read since");
    let next = policy(1);
    alone.put(&next);
    until("it is active", || now(&engines) == digest(&next));
    until("it is read", || seconds() > stopped);
}

#[test]
fn a_policy_that_takes_too_long_is_left_alone() {
    let alone = Alone::new("slow.yaml");
    alone.put(&policy(0));
    let engines = Engines::external();
    let settings = QUICK.deadline(Duration::from_millis(150));
    // On a busy machine, even a small policy may take that long.
    let mut watches = (0..100).map(|_| engines.watch(&alone.file, settings));
    let _watch = watches.find_map(Result::ok).unwrap();
    let before = alone.loads("overdue");
    alone.put(&policy(190_000));
    until("it is refused", || alone.loads("overdue") > before);
    assert_eq!(now(&engines), digest(&policy(0)));
    // The next one is accepted while the thread still works on the other.
    let begun = Instant::now();
    let mut number = 0;
    while now(&engines) != digest(&policy(1)) && begun.elapsed() < Duration::from_secs(60) {
        number += 1;
        alone.put(&format!("{}# {number}\n", policy(1)));
        thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(now(&engines), digest(&policy(1)));
}
