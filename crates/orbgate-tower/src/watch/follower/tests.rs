//! Versions of a file in sequence, without a file and without waiting.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test takes its own time, holds threads up, and fails by panicking"
)]

use core::time::Duration;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::thread;

use metrics_exporter_prometheus::PrometheusBuilder;
use orbgate::{Engine, Policy};

use super::{Compile, Ending, Following};
use crate::engines::Engines;
use crate::watch::WatchSettings;

const INTERVAL: Duration = Duration::from_secs(2);

/// A policy that differs only in its name.
fn text(name: &str) -> Vec<u8> {
    format!("orbgate: 1\nname: {name}\napis: {{ a: {{ scopes: {{ s: {{ routes: [] }} }} }} }}\n").into_bytes()
}

fn engine(name: &str) -> Engine {
    Engine::new(&Policy::from_bytes(&text(name)).unwrap())
}

/// A follower of a file whose version `one` is active.
fn follower(settings: WatchSettings) -> Following {
    let engines = Engines::new(engine("one"));
    let mut follower = Following::new("p.yaml".into(), engines, settings, Arc::default());
    follower.follower.look(&[Some(&text("one"))], true, Duration::ZERO);
    follower.took(&text("one"), Ending::default());
    follower
}

impl Following {
    fn has_active(&self, name: &str) -> bool {
        self.engines.load().digest() == engine(name).digest()
    }

    fn read(&mut self, text: Vec<u8>, now: Duration) {
        self.look(Ok(text), false, now);
    }

    fn gone(&mut self) {
        self.look(Err(ErrorKind::NotFound.into()), false, Duration::ZERO);
    }

    /// Waits until the thread of the last attempt has ended.
    fn wait(&self) {
        while self.overdue.as_ref().is_some_and(super::Attempt::goes_on) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// While a test holds this, nothing is compiled.
static GATE: Mutex<()> = Mutex::new(());

const SLOW: Compile = |engines, policy, active, ending, rules| {
    let _open = GATE.lock().unwrap();
    engines.version(policy, active, ending, rules)
};

#[test]
fn a_version_that_took_too_long_is_tried_again() {
    let settings = WatchSettings::every(INTERVAL);
    let mut follower = follower(settings.deadline(Duration::from_millis(1)));
    follower.compile = SLOW;
    let mut now = Duration::ZERO;
    let shut = GATE.lock().unwrap();
    follower.read(text("two"), now);
    now += INTERVAL;
    follower.read(text("two"), now);
    for seconds in [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600] {
        now += Duration::from_secs(seconds);
        follower.read(text("two"), now);
    }
    drop(shut);
    follower.wait();
    follower.settings = settings;
    follower.read(text("two"), now + Duration::from_secs(599));
    assert!(follower.has_active("one"), "it is not time");
    follower.read(text("two"), now + Duration::from_secs(600));
    assert!(follower.has_active("two"));
}

#[test]
fn no_second_thread_is_started_while_the_first_goes_on() {
    static STARTED: Mutex<u32> = Mutex::new(0);
    let settings = WatchSettings::every(INTERVAL);
    let mut follower = follower(settings.deadline(Duration::from_millis(1)));
    follower.compile = |engines, policy, active, ending, rules| {
        *STARTED.lock().unwrap() += 1;
        SLOW(engines, policy, active, ending, rules)
    };
    let started = || *STARTED.lock().unwrap();
    let mut now = Duration::ZERO;
    let shut = GATE.lock().unwrap();
    for _ in 0..4 {
        follower.read(text("two"), now);
        now += Duration::from_secs(600);
    }
    drop(shut);
    follower.wait();
    assert_eq!(started(), 1);
    follower.read(text("two"), now);
    follower.wait();
    assert_eq!(started(), 2);
}

#[test]
fn a_version_whose_compilation_panicked_is_tried_again() {
    let mut follower = follower(WatchSettings::every(INTERVAL));
    follower.compile = |_, _, _, _, _| panic!("as an error of the compiler would");
    follower.read(text("two"), Duration::ZERO);
    let now = INTERVAL;
    follower.read(text("two"), now);
    follower.compile = Engines::version;
    follower.read(text("two"), now + INTERVAL - Duration::from_millis(1));
    assert!(follower.has_active("one"), "it is not time");
    follower.read(text("two"), now + INTERVAL);
    assert!(follower.has_active("two"));
}

#[test]
fn a_version_rests_only_from_one_read_to_the_next() {
    let mut follower = follower(WatchSettings::every(INTERVAL));
    let mut now = Duration::ZERO;
    let mut later = || {
        now += INTERVAL;
        now - INTERVAL
    };
    follower.read(text("two"), later());
    follower.read(text("one"), later());
    follower.read(text("two"), later());
    assert!(follower.has_active("one"), "another was read between");
    follower.gone();
    follower.read(text("two"), later());
    assert!(follower.has_active("one"), "the file was gone between");
    for name in ["three", "two", "three"] {
        follower.read(text(name), later());
        assert!(follower.has_active("one"), "another was read before {name}");
    }
    follower.read(text("three"), later());
    assert!(follower.has_active("three"));
}

#[test]
fn a_file_that_cannot_be_read_is_logged_once() {
    let (log, writer) = std::io::pipe().unwrap();
    let subscriber = tracing_subscriber::fmt().with_writer(Mutex::new(writer)).finish();
    let mut now = Duration::ZERO;
    tracing::subscriber::with_default(subscriber, || {
        let mut follower = follower(WatchSettings::every(INTERVAL));
        for name in ["two", "three"] {
            for _ in 0..3 {
                follower.gone();
            }
            follower.read(text(name), now);
            now += INTERVAL;
            follower.read(text(name), now);
        }
        assert!(follower.has_active("three"));
    });
    let log = std::io::read_to_string(log).unwrap();
    assert_eq!(log.matches("policy unreadable").count(), 2, "{log}");
}

#[test]
fn what_is_counted_of_a_file() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    let shows = |line: &str| {
        let scrape = metrics.render();
        assert!(scrape.lines().any(|shown| shown == line), "{line}\n{scrape}");
    };
    let mut now = Duration::ZERO;
    let mut later = || {
        now += INTERVAL;
        now - INTERVAL
    };
    metrics::with_local_recorder(&recorder, || {
        let mut follower = follower(WatchSettings::every(INTERVAL));
        follower.read(text("one"), later());
        shows("orbgate_policy_waiting 0");
        for _ in 0..3 {
            follower.gone();
        }
        shows("orbgate_policy_loads_total{result=\"unreadable\"} 1");
        for waits in ["1", "0", "0"] {
            follower.read(text("two"), later());
            shows(&format!("orbgate_policy_waiting {waits}"));
        }
        follower.gone();
        shows("orbgate_policy_loads_total{result=\"unreadable\"} 2");
        for _ in 0..3 {
            follower.read(b"orbgate: 2\n".to_vec(), later());
            shows("orbgate_policy_waiting 1");
        }
        shows("orbgate_policy_loads_total{result=\"refused\"} 1");
        follower.compile = |_, _, _, _, _| panic!("as an error of the compiler would");
        for _ in 0..2 {
            follower.read(text("three"), later());
            shows("orbgate_policy_waiting 1");
        }
        shows("orbgate_policy_loads_total{result=\"panicked\"} 1");
    });
}
