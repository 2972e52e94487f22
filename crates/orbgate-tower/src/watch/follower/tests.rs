//! Versions of a file in sequence, without a file and without waiting.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test takes its own time, holds threads up, and fails by panicking"
)]

use core::time::Duration;
use std::io::{Error, ErrorKind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use metrics_exporter_prometheus::PrometheusBuilder;
use orbgate::{Engine, Policy};

use super::{Candidate, Compile, Follower, Verdict};
use crate::adopt::Ending;
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
fn follower(settings: WatchSettings) -> Follower {
    let engines = Engines::new(engine("one"));
    let mut follower = Follower::new("p.yaml".into(), engines, settings, Arc::default());
    follower.took(Ending::default(), text("one"));
    follower
}

impl Follower {
    fn has_active(&self, name: &str) -> bool {
        self.engines.load().digest() == engine(name).digest()
    }

    /// The pause before the next attempt.
    fn pause(&self) -> Option<Duration> {
        match &self.judged.as_ref()?.verdict {
            Verdict::Later(retry) => Some(retry.pause),
            Verdict::Active | Verdict::Refused => None,
        }
    }

    /// Waits until the thread of the last attempt has ended.
    fn wait(&self) {
        let Some(Verdict::Later(retry)) = self.judged.as_ref().map(|judged| &judged.verdict) else {
            return;
        };
        while retry.attempt.as_ref().is_some_and(super::Attempt::goes_on) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// While a test holds this, nothing is compiled.
static GATE: Mutex<()> = Mutex::new(());

const SLOW: Compile = |policy, current| {
    let _open = GATE.lock().unwrap();
    Candidate::new(policy, current)
};

#[test]
fn a_version_that_took_too_long_is_tried_again() {
    let settings = WatchSettings::every(INTERVAL);
    let mut follower = follower(settings.deadline(Duration::from_millis(1)));
    follower.compile = SLOW;
    let mut now = Instant::now();
    let shut = GATE.lock().unwrap();
    follower.look(text("two"), now);
    follower.look(text("two"), now);
    let mut pauses = Vec::new();
    while pauses.len() < 12 {
        let pause = follower.pause().unwrap();
        pauses.push(pause.as_secs());
        now += pause;
        follower.look(text("two"), now);
    }
    assert_eq!(pauses, [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600], "the pauses grow");
    drop(shut);
    follower.wait();
    follower.settings = settings;
    follower.look(text("two"), now + Duration::from_secs(599));
    assert!(follower.has_active("one"), "it is not time");
    follower.look(text("two"), now + Duration::from_secs(600));
    assert!(follower.has_active("two"));
    assert_eq!(follower.pause(), None);
}

#[test]
fn no_second_thread_is_started_while_the_first_goes_on() {
    static STARTED: Mutex<u32> = Mutex::new(0);
    let settings = WatchSettings::every(INTERVAL);
    let mut follower = follower(settings.deadline(Duration::from_millis(1)));
    follower.compile = |policy, current| {
        *STARTED.lock().unwrap() += 1;
        SLOW(policy, current)
    };
    let started = || *STARTED.lock().unwrap();
    let mut now = Instant::now();
    let shut = GATE.lock().unwrap();
    for _ in 0..4 {
        follower.look(text("two"), now);
        now += follower.pause().unwrap_or_default();
    }
    drop(shut);
    follower.wait();
    assert_eq!(started(), 1);
    follower.look(text("two"), now);
    follower.wait();
    assert_eq!(started(), 2);
}

#[test]
fn a_version_whose_compilation_panicked_is_tried_again() {
    let mut follower = follower(WatchSettings::every(INTERVAL));
    follower.compile = |_, _| panic!("as an error of the compiler would");
    let now = Instant::now();
    follower.look(text("two"), now);
    follower.look(text("two"), now);
    assert_eq!(follower.pause(), Some(INTERVAL));
    follower.compile = Candidate::new;
    follower.look(text("two"), now + INTERVAL);
    assert!(follower.has_active("two"));
}

#[test]
fn a_version_rests_only_from_one_read_to_the_next() {
    let now = Instant::now();
    let mut follower = follower(WatchSettings::every(INTERVAL));
    follower.look(text("two"), now);
    follower.look(text("one"), now);
    follower.look(text("two"), now);
    assert!(follower.has_active("one"), "another was read between");
    follower.unreadable(&Error::from(ErrorKind::NotFound), false);
    follower.look(text("two"), now);
    assert!(follower.has_active("one"), "the file was gone between");
    for name in ["three", "two", "three"] {
        follower.look(text(name), now);
        assert!(follower.has_active("one"), "another was read before {name}");
    }
    follower.look(text("three"), now);
    assert!(follower.has_active("three"));
}

#[test]
fn a_file_that_cannot_be_read_is_logged_once() {
    let (log, writer) = std::io::pipe().unwrap();
    let subscriber = tracing_subscriber::fmt().with_writer(Mutex::new(writer)).finish();
    let now = Instant::now();
    let gone = Error::from(ErrorKind::NotFound);
    tracing::subscriber::with_default(subscriber, || {
        let mut follower = follower(WatchSettings::every(INTERVAL));
        for name in ["two", "three"] {
            for _ in 0..3 {
                follower.unreadable(&gone, false);
            }
            follower.look(text(name), now);
            follower.look(text(name), now);
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
    let now = Instant::now();
    let gone = Error::from(ErrorKind::NotFound);
    metrics::with_local_recorder(&recorder, || {
        let mut follower = follower(WatchSettings::every(INTERVAL));
        follower.look(text("one"), now);
        shows("orbgate_policy_waiting 0");
        for _ in 0..3 {
            follower.unreadable(&gone, false);
        }
        shows("orbgate_policy_loads_total{result=\"unreadable\"} 1");
        for waits in ["1", "0", "0"] {
            follower.look(text("two"), now);
            shows(&format!("orbgate_policy_waiting {waits}"));
        }
        follower.unreadable(&gone, false);
        shows("orbgate_policy_loads_total{result=\"unreadable\"} 2");
        for _ in 0..3 {
            follower.look(b"orbgate: 2\n".to_vec(), now);
            shows("orbgate_policy_waiting 1");
        }
        shows("orbgate_policy_loads_total{result=\"refused\"} 1");
        follower.compile = |_, _| panic!("as an error of the compiler would");
        for _ in 0..3 {
            follower.look(text("three"), now);
            shows("orbgate_policy_waiting 1");
        }
        shows("orbgate_policy_loads_total{result=\"panicked\"} 1");
    });
}
