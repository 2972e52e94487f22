//! Clocks that leap: what a store refuses then, what an operator accepts, and how accounts come back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use orbgate_ledger::{
    Bucket, Cause, Clock, ClockChange, ClockState, Command, Cursor, Entry, Error, Grant, Hold, Ledger, Millis, Order,
    State, suite,
};
use orbgate_testing::random::Random;
use suite::Subject as _;

use crate::reference::Reference;
use crate::support::{account, grant, hold, id, millis, numbered, orbs};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;
/// 2026-12-01.
const START: u64 = 1_796_083_200_000;

/// A clock that leaps when a test says so, beside one that doesn't.
#[derive(Debug, Default)]
pub(crate) struct Leaping(Mutex<(u64, i64)>);

impl Leaping {
    /// So many milliseconds since the start have passed, and it is so many ahead.
    pub(crate) fn set(&self, passed: u64, ahead: i64) {
        *self.0.lock().unwrap() = (passed, ahead);
    }
}

impl Clock for Leaping {
    fn now(&self) -> Millis {
        let (passed, ahead) = *self.0.lock().unwrap();
        millis((START + passed).checked_add_signed(ahead).unwrap())
    }

    fn runs(&self) -> bool {
        false
    }

    fn steady(&self) -> Option<Millis> {
        Some(millis(self.0.lock().unwrap().0))
    }
}

/// A store with such a clock, which can be opened again.
pub(crate) trait Store: Ledger {
    fn change(&self, change: ClockChange) -> Result<ClockState, Error>;
}

#[cfg(feature = "sqlite")]
impl Store for orbgate_ledger::Sqlite {
    fn change(&self, change: ClockChange) -> Result<ClockState, Error> {
        self.clock(change)
    }
}

#[cfg(feature = "postgres")]
impl Store for orbgate_ledger::Postgres {
    fn change(&self, change: ClockChange) -> Result<ClockState, Error> {
        self.clock(change)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Leap {
    Back(i64),
    Small,
    Running,
    Far,
}

/// Each kind of leap. While a store runs, one of over an hour is refused, and at its start one of over 30 days.
const LEAPS: [(Leap, i64); 7] = [
    (Leap::Back(1), -3 * HOUR),
    (Leap::Back(2), -400 * DAY),
    (Leap::Small, 50 * MINUTE),
    (Leap::Running, 3 * HOUR),
    (Leap::Running, 20 * DAY),
    (Leap::Far, 31 * DAY),
    (Leap::Far, 400 * DAY),
];

const fn kind(command: &Command) -> &'static str {
    match command {
        Command::Grant(_) => "grant",
        Command::Revoke(_) => "revoke",
        Command::Hold(_) => "hold",
        Command::Extend(_) => "extend",
        Command::Settle(_) => "settle",
        Command::Refund(_) => "refund",
        Command::Freeze(_) => "freeze",
        Command::Balance(_) => "balance",
        Command::Holds(_) => "holds",
    }
}

struct World<'w> {
    ledger: Box<dyn Store>,
    reference: Reference,
    clock: &'w Leaping,
    ahead: i64,
    passed: u64,
    commands: std::vec::IntoIter<suite::Step>,
    seen: &'w mut BTreeSet<(Leap, bool, &'static str)>,
}

impl World<'_> {
    fn now(&self) -> Millis {
        self.clock.now()
    }

    /// The next random command, a moment later. Its times are those of the clock that is right.
    fn next(&mut self) -> Command {
        self.passed += 20;
        self.clock.set(self.passed, self.ahead);
        match self.commands.next().unwrap().command {
            Command::Grant(grant) => {
                let expires_at = grant.expires_at.map(|time| millis(START + time.get() - 1_000_000));
                Command::Grant(Grant { expires_at, ..grant })
            }
            command => command,
        }
    }

    /// A command has the answer of the reference.
    fn does(&mut self, command: &Command) {
        let (now, answer) = (self.now(), self.ledger.run(command.clone()));
        assert_eq!(answer, self.reference.run(command, now), "{command:?} at {now:?}");
    }

    fn go_on(&mut self, count: usize) {
        for _ in 0..count {
            let command = self.next();
            self.does(&command);
        }
    }

    /// Something moves orbs for sure, so that the newest entry is of now, and something is left that can end too early.
    fn begin(&mut self, round: usize) {
        self.passed += 20;
        self.clock.set(self.passed, self.ahead);
        let expires_at = Some(millis(self.now().get() + 60 * DAY as u64));
        let bucket = if round.is_multiple_of(2) { Bucket::Paid } else { Bucket::Bonus };
        let of = format!("account {}", round % 3);
        self.does(&Command::Grant(Grant { bucket, expires_at, ..grant(&format!("long{round}"), &of, 90) }));
        let ttl = millis(5 * DAY as u64);
        self.does(&Command::Hold(Hold { ttl, bonus: true, ..hold(format!("long{round}"), &of, 7) }));
    }

    /// No command is done, and nothing changes.
    fn is_refused(&mut self, leap: Leap, is_start: bool, count: usize) {
        let before = entries(&*self.ledger).len();
        for _ in 0..count {
            let command = self.next();
            let error = self.ledger.run(command.clone()).unwrap_err();
            let Error::Clock(why) = &error else { panic!("{error:?}: {command:?}") };
            assert!(error.code() == "clock" && why.contains("`orbgate orbs clock --accept`"), "{why}");
            assert_eq!(why.starts_with("the clock is at "), is_start, "{why}");
            self.seen.insert((leap, is_start, kind(&command)));
        }
        assert!(matches!(self.ledger.expire(), Err(Error::Clock(_))));
        assert_eq!(entries(&*self.ledger).len(), before);
    }

    fn resets(&mut self) {
        let now = self.now();
        self.reference.reset(now.get());
        let state = self.ledger.change(ClockChange::Reset).unwrap();
        assert_eq!((state.ahead, state.now, state.refused), (0, now, false));
        assert!(state.latest.is_none_or(|latest| latest <= now), "{state:?}");
        // What expired in the leap: nobody has any of it now, and its own time hasn't come.
        let early: Vec<_> = state.early.iter().map(|early| (early.grant.clone(), early.expired)).collect();
        assert_eq!(early, self.reference.early(now.get()));
        assert_eq!(self.ledger.change(ClockChange::Reset).unwrap().reset, 0);
    }

    fn is_equal(&mut self) {
        for number in 0..3 {
            let of = account(&format!("account {number}"));
            self.does(&Command::Balance(of.clone()));
            self.does(&Command::Holds(of));
        }
        assert_eq!(self.ledger.verify().unwrap().found, Vec::<String>::new());
        // The ids of resets are the store's own.
        let told = |entries: Vec<Entry>| {
            let mut accounts: BTreeMap<_, Vec<_>> = BTreeMap::new();
            for mut entry in entries {
                if entry.cause == Cause::ClockReset {
                    entry.id = id("reset");
                }
                accounts.entry(entry.account.clone()).or_default().push(entry);
            }
            accounts
        };
        numbered(&*self.ledger);
        assert_eq!(told(entries(&*self.ledger)), told(self.reference.log()));
    }
}

fn entries(ledger: &dyn Store) -> Vec<Entry> {
    numbered(ledger);
    let page = ledger.entries(&Cursor::default(), usize::MAX).unwrap();
    page.entries.into_iter().map(|(_, entry)| entry).collect()
}

/// Random commands in a clock that leaps, while a store runs or at its start; after each leap, everything is as the second
/// reference says, whether an operator accepts it or not. Returns how many kinds of commands have come, and how many of the ten of leaps.
pub(crate) fn leaps(
    seeds: core::ops::Range<u64>,
    rounds: usize,
    open: impl Fn(u64, Order, Arc<Leaping>) -> Box<dyn Store>,
) -> (usize, usize) {
    let mut seen = BTreeSet::new();
    for seed in seeds {
        let (clock, mut random) = (Arc::new(Leaping::default()), Random::new(seed));
        let order = [Order::BonusFirst, Order::PaidFirst, Order::SoonestFirst][(seed % 3) as usize];
        let mut world = World {
            ledger: open(seed, order, Arc::clone(&clock)),
            reference: Reference::new(order),
            clock: &clock,
            ahead: 0,
            passed: 0,
            commands: suite::random(seed, rounds * 60).into_iter(),
            seen: &mut seen,
        };
        for round in 0..rounds {
            world.begin(round);
            world.go_on(8);
            let (leap, ahead) = LEAPS[random.below(7) as usize];
            let is_start = random.below(2) == 0;
            world.ahead = ahead;
            world.clock.set(world.passed, ahead);
            if is_start {
                world.ledger = open(seed, order, Arc::clone(&clock));
            }
            match leap {
                Leap::Far => {}
                Leap::Running if !is_start => {}
                Leap::Running | Leap::Back(_) | Leap::Small => {
                    for _ in 0..8 {
                        let command = world.next();
                        world.does(&command);
                        world.seen.insert((leap, is_start, kind(&command)));
                    }
                }
            }
            let is_refused = leap == Leap::Far || leap == Leap::Running && !is_start;
            if is_refused {
                world.is_refused(leap, is_start, 8);
                if random.below(2) == 0 {
                    let state = world.ledger.change(ClockChange::Accept).unwrap();
                    assert_eq!((state.accepted, state.refused), (Some(world.now()), false));
                    world.go_on(8);
                }
            }
            // The clock is set right.
            world.ahead = 0;
            world.begin(1_000 + round);
            world.go_on(4);
            if matches!(leap, Leap::Running | Leap::Far) || random.below(2) == 0 {
                world.resets();
                world.go_on(8);
            }
            world.is_equal();
        }
    }
    let kinds: BTreeSet<_> = seen.iter().map(|(.., kind)| *kind).collect();
    let leaps: BTreeSet<_> = seen.iter().map(|(leap, is_start, _)| (*leap, *is_start)).collect();
    (kinds.len(), leaps.len())
}

/// A process that runs notices that another one accepts the clock, or resets accounts.
pub(crate) fn others_notice(open: impl Fn(Arc<Leaping>) -> Box<dyn Store>) {
    let clock = Arc::new(Leaping::default());
    let (one, operator) = (open(Arc::clone(&clock)), open(Arc::clone(&clock)));
    let expires_at = Some(millis(START + 60 * DAY as u64));
    one.grant(Grant { expires_at, ..grant("g", "a", 50) }).unwrap();
    one.grant(Grant { expires_at, bucket: Bucket::Bonus, ..grant("b", "a", 5) }).unwrap();
    one.hold(hold("h", "a", 10)).unwrap();
    clock.set(1_000, 400 * DAY);
    assert!(matches!(one.hold(hold("h2", "a", 10)), Err(Error::Clock(_))));
    // A reader is told nothing of a time that hasn't come, although every entry is seen.
    numbered(&*one);
    let until = one.entries(&Cursor::default(), 9).unwrap().complete_until.get();
    assert!((START..START + HOUR as u64).contains(&until), "{until}");
    let state = operator.change(ClockChange::Nothing).unwrap();
    assert_eq!((state.refused, state.ahead, state.accepted, state.newest), (true, 0, None, Some(millis(START))));
    let state = operator.change(ClockChange::Accept).unwrap();
    assert_eq!((state.refused, state.accepted), (false, Some(clock.now())));
    let bought = one.grant(grant("g2", "a", 40)).unwrap().receipt;
    assert_eq!(bought.at, clock.now());
    one.hold(Hold { ttl: millis(9 * HOUR as u64), ..hold("h3", "a", 10) }).unwrap();
    assert_eq!(one.balance(account("a")).unwrap().posted, orbs(40));
    // It was wrong. Until the reset, the account goes on at its own time.
    clock.set(2_000, 0);
    let state = operator.change(ClockChange::Nothing).unwrap();
    assert_eq!((state.ahead, state.latest, state.early.len()), (1, Some(bought.at), 2));
    assert_eq!(one.grant(grant("g3", "a", 1)).unwrap().receipt.at, bought.at);
    let state = operator.change(ClockChange::Reset).unwrap();
    assert_eq!((state.reset, state.shortened, state.ahead, state.early.len()), (1, 1, 0, 2));
    assert_eq!((state.early[0].expired, state.early[0].bucket), (orbs(50), Bucket::Paid));
    assert_eq!((state.early[1].expired, state.early[1].bucket), (orbs(5), Bucket::Bonus));
    assert_eq!(one.grant(grant("g4", "a", 50)).unwrap().receipt.at, clock.now());
    assert_eq!(one.holds(account("a")).unwrap()[0].expires_at, millis(clock.now().get() + 9 * HOUR as u64));
    // It is wrong once more.
    clock.set(3_000, 400 * DAY);
    assert!(matches!(one.grant(grant("g5", "a", 1)), Err(Error::Clock(_))));
    clock.set(4_000, 0);
    one.settle(crate::support::capture("h3", 10)).unwrap();
    assert_eq!(one.verify().unwrap().found, Vec::<String>::new());
    let causes: Vec<_> = entries(&*one).into_iter().map(|entry| entry.cause).collect();
    assert_eq!(causes.iter().filter(|cause| **cause == Cause::ClockReset).count(), 1, "{causes:?}");
    assert_eq!(causes.last(), Some(&Cause::Capture));
    // No machine's clock is right in 1970.
    clock.set(5_000, 5_000 - i64::try_from(START).unwrap());
    let error = operator.change(ClockChange::Reset).unwrap_err();
    assert!(error.to_string().contains("before any ledger"), "{error}");
    // It still works.
    clock.set(6_000, 0);
    assert_eq!(operator.grant(grant("g6", "a", 1)).unwrap().receipt.at, clock.now());
}

/// More accounts and holds than a store writes at once.
pub(crate) fn many_come_back(open: impl Fn(Arc<Leaping>) -> Box<dyn Store>) {
    let clock = Arc::new(Leaping::default());
    clock.set(0, 400 * DAY);
    let ledger = open(Arc::clone(&clock));
    let (send, answers) = std::sync::mpsc::channel();
    let submit = |command: Command| {
        let send = send.clone();
        ledger.submit(command, Box::new(move |answer| send.send(answer).unwrap()));
    };
    (0..250).for_each(|at| submit(Command::Grant(grant(&format!("g{at}"), &format!("a{at}"), 1_000))));
    (0..300).for_each(|at| submit(Command::Hold(hold(format!("h{at}"), "a7", 1))));
    (0..550).for_each(|_| drop(answers.recv().unwrap().unwrap()));
    clock.set(1_000, 0);
    let state = ledger.change(ClockChange::Reset).unwrap();
    assert_eq!((state.reset, state.shortened, state.ahead), (250, 300, 0));
    let ends = millis(clock.now().get() + HOUR as u64);
    assert!(ledger.holds(account("a7")).unwrap().iter().all(|hold| hold.expires_at == ends));
    clock.set(1_000 + HOUR as u64, 0);
    ledger.expire().unwrap();
    assert_eq!(ledger.balance(account("a7")).unwrap().held, orbs(0));
    assert_eq!(ledger.verify().unwrap().found, Vec::<String>::new());
    // A late capture takes what is available.
    let late = ledger.settle(crate::support::capture("h1", 1)).unwrap().receipt;
    assert_eq!((late.late, late.state), (true, State::Captured));
}

/// A metric counts what has expired, and not what has by a leap.
pub(crate) fn nothing_is_due_by_a_leap(open: impl Fn(Arc<Leaping>) -> Box<dyn Store>) {
    let clock = Arc::new(Leaping::default());
    let ledger = open(Arc::clone(&clock));
    ledger.grant(grant("g", "a", 5)).unwrap();
    ledger.hold(hold("h", "a", 5)).unwrap();
    // Whoever only reads must have seen the clock before it leaps.
    assert_eq!(ledger.backlog().unwrap().accounts, 0);
    clock.set(1_000, 2 * DAY);
    assert_eq!((ledger.backlog().unwrap().accounts, ledger.backlog().unwrap().age), (0, Millis::ZERO));
    clock.set(2 * DAY as u64, 0);
    assert_eq!(ledger.backlog().unwrap().accounts, 1);
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::path::Path;
    use std::sync::Arc;

    use orbgate_ledger::{ClockChange, Error, Ledger as _, Sqlite};

    use super::{Leaping, Store, leaps, many_come_back, nothing_is_due_by_a_leap, others_notice};
    use crate::support::{grant, millis};

    fn open(path: &Path, clock: Arc<Leaping>) -> Box<dyn Store> {
        Box::new(Sqlite::open_with(path, None, clock).unwrap())
    }

    #[test]
    fn sqlite_is_as_the_reference_after_each_leap() {
        let folder = tempfile::tempdir().unwrap();
        let met = leaps(0..6, 12, |seed, order, clock| {
            Box::new(Sqlite::open_with(&folder.path().join(format!("{seed}.db")), Some(order), clock).unwrap())
        });
        assert_eq!(met, (9, 10));
    }

    #[test]
    fn processes_notice_what_an_operator_does() {
        let folder = tempfile::tempdir().unwrap();
        others_notice(|clock| open(&folder.path().join("orbs.db"), clock));
    }

    #[test]
    fn every_account_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        many_come_back(|clock| open(&folder.path().join("orbs.db"), clock));
    }

    #[test]
    fn a_leap_makes_nothing_due() {
        let folder = tempfile::tempdir().unwrap();
        nothing_is_due_by_a_leap(|clock| open(&folder.path().join("orbs.db"), clock));
    }

    /// The system's own clock is compared with the newest entry.
    #[test]
    fn an_old_ledger_waits_until_the_clock_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orbs.db");
        let clock = Arc::new(crate::support::TestClock::default());
        let ledger = Sqlite::open_with(&path, None, Arc::clone(&clock) as _).unwrap();
        ledger.grant(grant("g", "a", 5)).unwrap();
        drop(ledger);
        let ledger = Sqlite::open(&path).unwrap();
        let Err(Error::Clock(why)) = ledger.grant(grant("g2", "a", 5)) else { panic!("done") };
        assert!(why.contains("newest entry") && why.contains("1970-01-01T00:00:00.000Z"), "{why}");
        let other = Sqlite::open(&path).unwrap();
        assert!(other.clock(ClockChange::Accept).unwrap().accepted > Some(millis(0)));
        ledger.grant(grant("g2", "a", 5)).unwrap();
    }
}
