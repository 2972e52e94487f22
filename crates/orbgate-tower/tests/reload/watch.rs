//! How a watcher follows its file: what it ignores, when it reads and what it compares first.

use core::time::Duration;
use std::fs;
use std::thread;
use std::time::Instant;

use orbgate_tower::{Engines, WatchSettings};

use crate::{Alone, LOG, QUICK, digest, half, is_open, log, now, policy, until};

#[test]
fn a_bad_file_never_replaces_a_good_policy() {
    let alone = Alone::new("watched.yaml");
    let [first, second] = [1, 2].map(policy);
    alone.put(&first);
    let engines = Engines::external();
    let watch = engines.watch(&alone.file, Duration::from_millis(5)).unwrap();
    assert_eq!(now(&engines), digest(&first));
    // The truncated file is an editor's that writes in place.
    let bad = ["", "orbgate: 1\n", "orbgate: [", &first[..=first.find("''").unwrap()]];
    let before = alone.loads("refused");
    for (refused, bad) in (1..).zip(bad) {
        alone.put(bad);
        until("it is read", || alone.loads("refused") == before + refused);
        assert_eq!(now(&engines), digest(&first), "{bad}");
    }
    let before = alone.loads("unreadable");
    fs::remove_file(&alone.file).unwrap();
    until("its absence is seen", || alone.loads("unreadable") == before + 1);
    assert_eq!(now(&engines), digest(&first));
    alone.put(&second);
    until("the second policy is loaded", || now(&engines) == digest(&second));
    drop(watch);
    // The watcher ends before it looks again, so there is nothing to wait for but time.
    alone.put(&first);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(now(&engines), digest(&second), "nobody watches");
    fs::remove_file(&alone.file).unwrap();
    assert!(Engines::from_file(&alone.file).is_err());
}

#[test]
fn a_bad_file_has_few_lines_in_the_log() {
    let alone = Alone::new("bad.yaml");
    alone.put(&policy(0));
    let engines = Engines::external();
    let _watch = engines.watch(&alone.file, QUICK).unwrap();
    let before = alone.loads("refused");
    fs::write(LOG, "").unwrap();
    alone.put(&policy(500).replace("GET /others", "get /others"));
    until("it is refused", || alone.loads("refused") > before);
    // The version is counted before it is logged.
    until("it is logged", || log().contains("more"));
    let log = log();
    assert_eq!(log.lines().count(), 21, "{log}");
    assert!(log.contains("and 480 more"), "{log}");
}

#[test]
fn who_tells_that_the_file_has_changed_need_not_wait_for_the_interval() {
    let alone = Alone::new("told.yaml");
    alone.put(&policy(0));
    let engines = Engines::external();
    // Left alone, it would look tomorrow.
    let day = WatchSettings::every(Duration::from_secs(24 * 60 * 60));
    let watch = engines.watch(&alone.file, day).unwrap();
    alone.put(&policy(1));
    watch.read_now();
    until("the new one", || now(&engines) == digest(&policy(1)));

    let refused = || log().matches("policy refused, the active one stays").count();
    alone.put("orbgate: 2\n");
    for times in 1..3 {
        watch.read_now();
        until("it is refused, and said each time", || refused() == times);
    }
    assert!(log().contains("told.yaml"), "{}", log());
    fs::remove_file(&alone.file).unwrap();
    for times in 1..3 {
        watch.read_now();
        let gone = || log().matches("policy unreadable").count();
        until("it is gone, and said each time", || gone() == times);
    }
    assert_eq!(now(&engines), digest(&policy(1)));
    alone.put(&policy(2));
    watch.read_now();
    until("it is there again", || now(&engines) == digest(&policy(2)));
}

#[test]
fn what_is_half_written_does_not_count_though_somebody_tells_to_read() {
    let alone = Alone::new("half.yaml");
    alone.put(&policy(0));
    let engines = Engines::external();
    let day = WatchSettings::every(Duration::from_secs(24 * 60 * 60));
    let watch = engines.watch(&alone.file, day).unwrap();
    assert_eq!(watch.text().unwrap().as_slice(), policy(0).as_bytes());
    let before = alone.loads("loaded");
    alone.put(&half());
    let begun = Instant::now();
    watch.read_now();
    alone.put(&policy(1));
    until("the whole one", || now(&engines) == digest(&policy(1)));
    assert!(begun.elapsed() >= Duration::from_secs(1));
    // It is counted once it is active.
    until("its count", || alone.loads("loaded") > before);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(alone.loads("loaded"), before + 1);
    // A seal shows that the file is whole: it takes effect before an unsealed one could have rested, unless the machine stands still.
    let is_at_once = (2..12).any(|version| {
        let sealed = orbgate_analysis::format_and_seal(&policy(version)).unwrap();
        alone.put(&sealed);
        let begun = Instant::now();
        watch.read_now();
        until("the sealed one", || now(&engines) == digest(&sealed));
        let took = begun.elapsed();
        assert_eq!(watch.text().unwrap().as_slice(), sealed.as_bytes());
        took < Duration::from_secs(1)
    });
    assert!(is_at_once);
}

#[test]
fn the_first_version_is_compared_with_what_decides_already_if_it_is_to_be() {
    let alone = Alone::new("first.yaml");
    let accepted = || {
        let engines = Engines::external();
        engines.reload(policy(0).as_bytes()).unwrap();
        engines
    };
    let settings = QUICK.refuse_wider().compare_first();
    alone.put(&half());
    let engines = accepted();
    let before = alone.loads("wider");
    let watch = engines.watch(&alone.file, settings).unwrap();
    assert_eq!(alone.loads("wider"), before + 1);
    assert!(!is_open(&engines) && watch.text().is_none());
    // It stays refused, and another version takes effect.
    let narrower = policy(0).replace("orbs: 5\n", "orbs: 6\n");
    alone.put(&narrower);
    until("it is active", || now(&engines) == digest(&narrower));
    assert_eq!(watch.text().unwrap().as_slice(), narrower.as_bytes());
    drop(watch);

    // Without `refuse_wider` it is compared, too, and takes effect.
    alone.put(&half());
    let engines = accepted();
    let before = alone.changes("wider");
    let _watch = engines.watch(&alone.file, QUICK.compare_first()).unwrap();
    assert!(is_open(&engines));
    assert!(alone.changes("wider") > before);
}
