//! A follower under writes, looks and signals in random orders. A reference, which keeps the whole history instead of a
//! state, judges each look.

use core::time::Duration;
use std::collections::BTreeMap;

use orbgate_gate::{Ending, Follower, Look};

const MS: fn(u64) -> Duration = Duration::from_millis;

type Files = [Option<&'static str>; 2];

/// Numbers that look random, and are the same for the same seed.
struct Random(u64);

impl Random {
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let position = (mixed ^ (mixed >> 31)) % u64::try_from(from.len()).unwrap();
        from[usize::try_from(position).unwrap()]
    }
}

/// How an attempt to load a version ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Judged {
    Took,
    Refused,
    /// It is tried again after this pause.
    Postponed(Duration),
}

/// A look, and its result.
#[derive(Clone, Copy, Debug)]
struct Event {
    now: Duration,
    files: Files,
    is_told: bool,
    look: Look,
    outcome: Option<Judged>,
}

/// The reference.
struct Judge {
    interval: Duration,
    history: Vec<Event>,
}

impl Judge {
    /// What a look must return, and by when a version that it doesn't load must be checked again.
    fn expects(&self, now: Duration, files: Files, is_told: bool) -> (Look, Option<Duration>) {
        let earlier = || self.history.iter().rev();
        // An operator waits since the last result.
        let is_awaited = is_told || earlier().take_while(|event| event.look == Look::Wait).any(|event| event.is_told);
        if files.contains(&None) {
            let since_load = || earlier().take_while(|event| event.look != Look::Load);
            let is_news = is_awaited || !since_load().any(|event| event.files.contains(&None));
            return (if is_news { Look::Unreadable } else { Look::Wait }, None);
        }
        let same = earlier().take_while(|event| event.files == files);
        let since = same.last().map_or(now, |event| event.now);
        let readable = earlier().take_while(|event| !event.files.contains(&None));
        let checked = readable.clone().find(|event| event.look == Look::Load);
        if let Some(checked) = checked.filter(|checked| checked.files == files) {
            return match checked.outcome.unwrap() {
                Judged::Took if is_awaited => (Look::Unchanged, None),
                Judged::Refused | Judged::Postponed(_) if is_awaited => (Look::Load, None),
                Judged::Took | Judged::Refused => (Look::Wait, None),
                Judged::Postponed(pause) if now >= checked.now + pause => (Look::Load, None),
                Judged::Postponed(pause) => (Look::Wait, Some(checked.now + pause)),
            };
        }
        let is_whole = files.iter().enumerate().all(|(at, text)| {
            let before = checked.and_then(|checked| checked.files[at]);
            *text == before || orbgate_yaml::seal(orbgate_yaml::unseal(text.unwrap()).as_ref()) == text.unwrap()
        });
        let rest = match (is_whole, is_awaited) {
            (true, _) => Duration::ZERO,
            (false, true) => self.interval.min(MS(1_000)),
            (false, false) => self.interval,
        };
        let due = since + rest;
        if due <= now { (Look::Load, None) } else { (Look::Wait, Some(due)) }
    }

    /// The pause after a failure: twice the last one of the same version, if no other result came between.
    fn pause(&self, files: Files) -> Duration {
        let last = self.history.iter().rev().take_while(|event| !event.files.contains(&None));
        let last = last.clone().find(|event| event.look == Look::Load);
        let last = last.filter(|event| event.files == files).and_then(|event| match event.outcome {
            Some(Judged::Postponed(pause)) => Some(2 * pause),
            _ => None,
        });
        last.unwrap_or(self.interval).min(MS(600_000))
    }
}

/// One run with this seed. Returns what it met.
fn run(seed: u64) -> BTreeMap<String, u32> {
    let sealed: &'static str = orbgate_yaml::seal("sealed: 1\n").leak();
    let broken: &'static str = sealed.replace("sealed: 1", "sealed: 2").leak();
    let contents = [Some("one"), Some("two"), Some("one\n...\n"), Some(sealed), Some(broken), None];
    let mut random = Random(seed);
    let interval = MS(random.pick(&[20, 1_000, 2_000, 60_000]));
    let mut follower = Follower::new(interval);
    let mut judge = Judge { interval, history: Vec::new() };
    let (mut now, mut files, mut due, mut met) = (MS(0), [Some("one"), Some("one")], None, BTreeMap::new());
    for _ in 0..80 {
        let pause = follower.pause();
        assert!(pause <= interval && pause > MS(0), "{seed}: {pause:?}");
        if let Some(due) = due {
            assert!(now + pause <= due || pause == MS(1), "{seed}: a look comes later than {due:?}");
        }
        now += random.pick(&[MS(0), MS(1), MS(499), MS(500), interval - MS(1), interval, pause, pause, pause - MS(1)]);
        for _ in 0..random.pick(&[0, 0, 0, 1, 1, 2]) {
            files[random.pick(&[0, 1])] = random.pick(&contents);
        }
        let is_told = random.pick(&[true, false, false]);
        let (expected, by) = judge.expects(now, files, is_told);
        let texts = files.map(|text| text.map(str::as_bytes));
        let look = follower.look(&texts, is_told, now);
        assert_eq!(look, expected, "{seed}: {:#?} at {now:?}", judge.history);
        due = by;
        let outcome = (look == Look::Load).then(|| match random.pick(&[0, 0, 1, 2]) {
            0 => Judged::Took,
            1 => Judged::Refused,
            _ => Judged::Postponed(judge.pause(files)),
        });
        match outcome {
            Some(Judged::Took) => follower.took(Ending::default()),
            Some(Judged::Refused) => follower.refused(),
            Some(Judged::Postponed(_)) => follower.postponed(now),
            None => {}
        }
        assert_eq!(
            follower.is_current(),
            matches!(outcome, Some(Judged::Took)) || look == Look::Unchanged || {
                let checked = judge.history.iter().rev().take_while(|event| !event.files.contains(&None));
                let checked = checked.clone().find(|event| event.look == Look::Load);
                outcome.is_none() && checked.is_some_and(|it| it.files == files && it.outcome == Some(Judged::Took))
            }
        );
        *met.entry(format!("{look:?} {is_told}")).or_default() += 1;
        judge.history.push(Event { now, files, is_told, look, outcome });
    }
    met
}

#[test]
fn a_version_counts_exactly_when_it_has_rested() {
    let mut all = BTreeMap::<_, u32>::new();
    for seed in 0..1_000 {
        for (what, times) in run(seed) {
            *all.entry(what).or_default() += times;
        }
    }
    let seven = ["Load", "Unreadable", "Wait"].map(|look| [true, false].map(|told| format!("{look} {told}"))).concat();
    assert!(seven.iter().all(|what| all.get(what).is_some_and(|times| *times > 500)), "{all:?}");
    assert!(all["Unchanged true"] > 500 && all.contains_key("Unchanged false"), "{all:?}");
}
