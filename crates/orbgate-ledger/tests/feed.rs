//! Readers of entries, while writers, neighbours and restored backups try to make them miss one or see one twice. A seed makes the
//! same run again.

use std::collections::{BTreeMap, BTreeSet};

use orbgate_ledger::{
    AccountId, Bucket, Command, Cursor, Entry, Error, Extend, Grant, Hold, Ledger, Millis, Note, Revoke, Settle,
    Settlement,
};

use crate::support::{account, id, millis, numbered, orbs};

/// A ledger, and what its neighbours do.
pub(crate) trait World {
    /// Processes that use it at the same time.
    fn ledgers(&self) -> Vec<&dyn Ledger>;
    /// A process that only reads.
    fn reader(&self) -> &dyn Ledger {
        self.ledgers()[0]
    }
    /// Whether no entry is numbered now, so that a reader might not see it.
    fn is_frozen(&self) -> bool {
        false
    }
    /// The accounts, numbers and times of the entries that are committed.
    fn written(&mut self) -> Written;
    /// Keeps a backup, instead of the last one.
    fn backup(&mut self);
    /// Continues with the last backup.
    fn restore(&mut self);
    /// Does something else that goes on for a while, or ends it.
    fn disturb(&mut self, dice: &mut Dice);
    /// Ends all of that.
    fn calm(&mut self);
}

pub(crate) type Written = BTreeSet<(String, u64, u64)>;

/// Random numbers, always the same for a seed.
#[derive(Debug)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below this one.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// Whoever bills: it keeps what it has read, and the cursors at which it can go on.
#[derive(Debug, Default)]
struct Reader {
    read: Vec<Entry>,
    cursors: Vec<(Cursor, usize)>,
    /// How often it had to go back.
    errors: u32,
    /// How many entries it was given, also those that were forgotten since.
    given: usize,
}

impl Reader {
    fn cursor(&self) -> Cursor {
        self.cursors.last().map(|(cursor, _)| cursor.clone()).unwrap_or_default()
    }

    /// Reads a page. After the error `cursor`, it goes back to an earlier one.
    fn read(&mut self, world: &mut impl World, limit: usize) {
        let (before, written) = (self.read.clone(), world.written());
        let (ledger, is_frozen) = (world.reader(), world.is_frozen());
        let mut is_refused = false;
        let page = loop {
            match ledger.entries(&self.cursor(), limit) {
                Ok(page) => break page,
                Err(Error::Cursor) => {
                    is_refused = true;
                    assert!(self.cursors.pop().is_some(), "the beginning is always known");
                    self.read.truncate(self.cursors.last().map_or(0, |(_, length)| *length));
                }
                // It comes again when the entries of a restored backup have numbers.
                Err(Error::Unknown(why)) if why.contains("no number yet") && is_frozen => return,
                Err(error) => panic!("{error}"),
            }
        };
        self.errors += u32::from(is_refused);
        assert!(page.entries.len() <= limit);
        self.given += page.entries.len();
        for (cursor, entry) in page.entries {
            self.read.push(entry);
            self.cursors.push((cursor, self.read.len()));
        }
        let all = all(ledger);
        assert!(all.starts_with(&self.read), "what a reader has isn't what the ledger says: {:?}\n{all:?}", self.read);
        let is_known = |entry: &Entry| written.contains(&(entry.account.to_string(), entry.seq, entry.at.get()));
        // What has expired can be written again as it was, but in another order.
        let is_another_order = !all.starts_with(&before) && !before.starts_with(&all);
        let has_forgotten = is_another_order || !before.iter().all(is_known);
        assert!(!is_refused || has_forgotten, "a cursor was refused, although nothing was forgotten");
    }
}

/// All entries: those of each account in their order, and none twice.
fn all(ledger: &dyn Ledger) -> Vec<Entry> {
    let page = ledger.entries(&Cursor::default(), usize::MAX).unwrap();
    let mut last = BTreeMap::<AccountId, u64>::new();
    let entries: Vec<Entry> = page.entries.into_iter().map(|(_, entry)| entry).collect();
    for entry in &entries {
        let seq = last.entry(entry.account.clone()).or_default();
        *seq += 1;
        assert_eq!(entry.seq, *seq, "of account {}", entry.account);
    }
    entries
}

/// A command that is often new, and sometimes of an id that was there before.
fn command(dice: &mut Dice, step: u64) -> Command {
    let name = ["a", "b", "c"][usize::try_from(dice.below(3)).unwrap()];
    let of = |dice: &mut Dice, kind: char| id(format!("{kind}{}", step.saturating_sub(dice.below(8))));
    match dice.below(10) {
        0 | 1 => Command::Grant(Grant {
            bucket: if dice.below(2) == 0 { Bucket::Paid } else { Bucket::Bonus },
            expires_at: (dice.below(4) == 0).then(|| millis(now().get() + 3 + dice.below(40))),
            ..Grant::new(of(dice, 'g'), account(name), orbs(50 + dice.below(3)))
        }),
        2 => Command::Revoke(Revoke::new(of(dice, 'r'), account(name), of(dice, 'g'))),
        3..=6 => Command::Hold(Hold {
            id: of(dice, 'h'),
            account: account(name),
            amount: orbs(1 + dice.below(4)),
            bonus: true,
            ttl: millis(if dice.below(3) == 0 { 1 + dice.below(20) } else { 60_000 }),
            note: Note::default(),
        }),
        7 => Command::Extend(Extend { id: of(dice, 'e'), hold: of(dice, 'h'), ttl: millis(30) }),
        8 => Command::Settle(Settle { hold: of(dice, 'h'), settlement: Settlement::Void }),
        _ => Command::Settle(Settle { hold: of(dice, 'h'), settlement: Settlement::Capture(orbs(dice.below(4))) }),
    }
}

pub(crate) fn now() -> Millis {
    orbgate_ledger::Clock::now(&orbgate_ledger::SystemClock)
}

/// What a run has met, so that it shows something.
#[derive(Debug, Default)]
pub(crate) struct Met {
    pub(crate) entries: usize,
    pub(crate) errors: u32,
    pub(crate) restored: u32,
}

/// Plays a game. `strange` are cursors of another ledger.
pub(crate) fn play(world: &mut impl World, seed: u64, steps: u64, strange: &[Cursor]) -> Met {
    println!("seed {seed}");
    let dice = &mut Dice(seed);
    let mut readers: [Reader; 3] = Default::default();
    let mut met = Met::default();
    // So many entries were there when no later one could be earlier than this.
    let mut promised = Vec::<(usize, Millis)>::new();
    world.backup();
    for step in 0..steps {
        let ledgers = world.ledgers();
        let ledger = ledgers[usize::try_from(dice.below(2)).unwrap() % ledgers.len()];
        match dice.below(100) {
            // Refusals are welcome, too.
            0..=49 => drop(ledger.run(command(dice, step))),
            50..=74 => {
                let reader = &mut readers[usize::try_from(dice.below(3)).unwrap()];
                let limit = if dice.below(3) == 0 { usize::MAX } else { usize::try_from(1 + dice.below(6)).unwrap() };
                reader.read(world, limit);
            }
            75..=79 => {
                let page = world.reader().entries(&Cursor::default(), usize::MAX).unwrap();
                for (before, until) in &promised {
                    let late = page.entries.iter().skip(*before).find(|(_, entry)| entry.at < *until);
                    assert!(late.is_none(), "entries were complete until {until:?}, but {late:?} came");
                }
                promised.push((page.entries.len(), page.complete_until));
            }
            80..=91 => world.disturb(dice),
            92 => world.backup(),
            93 | 94 => {
                world.restore();
                met.restored += 1;
                promised.clear();
            }
            95..=97 => {
                for cursor in invented(&readers[0], dice).iter().chain(strange) {
                    refuse(world, cursor);
                }
            }
            _ => assert_eq!(world.reader().verify().unwrap().found, Vec::<String>::new()),
        }
    }
    world.calm();
    numbered(world.reader());
    // An idle writer can write an expiry between the two.
    let all = loop {
        let (before, all) = (world.written().len(), all(world.reader()));
        if world.written().len() == before {
            assert_eq!(all.len(), before, "each entry is read");
            break all;
        }
    };
    for reader in &mut readers {
        // It may have to go back first.
        reader.read(world, 7);
        while reader.read.len() < all.len() {
            let before = reader.read.len();
            reader.read(world, 7);
            assert!(reader.read.len() > before, "a reader doesn't get on");
        }
        assert!(reader.read.starts_with(&all));
        met.errors += reader.errors;
        met.entries += reader.given;
    }
    assert_eq!(world.reader().verify().unwrap().found, Vec::<String>::new());
    met
}

/// Requires that no reader gets on from a cursor. As long as entries have no number, one of them might have it.
fn refuse(world: &impl World, cursor: &Cursor) {
    loop {
        match world.reader().entries(cursor, 3) {
            Err(Error::Cursor) => return,
            Err(Error::Unknown(why)) if why.contains("no number yet") => {
                if world.is_frozen() {
                    return;
                }
            }
            other => panic!("{cursor:?}: {other:?}"),
        }
    }
}

/// Cursors that no ledger has given out, some of them made of one that this one has.
fn invented(reader: &Reader, dice: &mut Dice) -> Vec<Cursor> {
    let digest = |dice: &mut Dice| format!("{:08x}{:08x}", dice.below(1 << 32), dice.below(1 << 32));
    let mut made = BTreeSet::from(["x", "-1", "0", "0.0", "1", "7.7", "18446744073709551616", "1-"].map(str::to_owned));
    made.insert(format!("{}-{}", dice.below(9), digest(dice)));
    made.insert(format!("{}-{}", u64::MAX - dice.below(9), digest(dice)));
    if let Some((number, digest)) = reader.cursor().as_str().split_once('-') {
        let number: u64 = number.parse().unwrap();
        for other in [0, number - 1, number + 1, number + 1_000_000] {
            made.insert(format!("{other}-{digest}"));
        }
        made.insert(format!("0{number}-{digest}"));
        made.insert(format!("{number}-{}", digest.chars().rev().collect::<String>()));
        made.insert(number.to_string());
    }
    made.into_iter().map(Cursor::new).collect()
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::path::PathBuf;

    use orbgate_ledger::{Cursor, Ledger, Sqlite};

    use super::{Dice, World, Written, play};
    use crate::support::{grant, hold};

    struct Files {
        folder: tempfile::TempDir,
        ledgers: Vec<Sqlite>,
        name: PathBuf,
        count: u32,
    }

    impl Files {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let name = folder.path().join("orbs.db");
            let mut world = Self { folder, ledgers: Vec::new(), name, count: 0 };
            world.open();
            world
        }

        fn open(&mut self) {
            self.ledgers = vec![Sqlite::open(&self.name).unwrap(), Sqlite::open(&self.name).unwrap()];
        }
    }

    impl World for Files {
        fn ledgers(&self) -> Vec<&dyn Ledger> {
            self.ledgers.iter().map(|ledger| ledger as _).collect()
        }

        fn written(&mut self) -> Written {
            let file = rusqlite::Connection::open(&self.name).unwrap();
            let sql = "SELECT account.id, entry.seq, at FROM entry JOIN account ON key = account";
            let mut statement = file.prepare(sql).unwrap();
            let number = |row: &rusqlite::Row<'_>, at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            let rows = statement.query_map((), |row| Ok((row.get(0)?, number(row, 1)?, number(row, 2)?))).unwrap();
            rows.map(Result::unwrap).collect()
        }

        fn backup(&mut self) {
            let to = self.folder.path().join("backup.db");
            let _ = std::fs::remove_file(&to);
            self.ledgers[1].backup(&to).unwrap();
        }

        fn restore(&mut self) {
            self.ledgers.clear();
            self.count += 1;
            self.name = self.folder.path().join(format!("restored{}.db", self.count));
            std::fs::copy(self.folder.path().join("backup.db"), &self.name).unwrap();
            self.open();
        }

        /// Another process reads for a while.
        fn disturb(&mut self, _: &mut Dice) {
            let file = rusqlite::Connection::open(&self.name).unwrap();
            file.execute_batch("BEGIN; SELECT count(*) FROM entry; COMMIT").unwrap();
        }

        fn calm(&mut self) {}
    }

    #[test]
    fn no_reader_of_a_file_misses_an_entry_or_sees_one_twice() {
        let other = Files::new();
        other.ledgers[0].grant(grant("g1", "a", 50)).unwrap();
        other.ledgers[0].hold(hold("h2", "a", 1)).unwrap();
        let page = other.ledgers[0].entries(&Cursor::default(), 9).unwrap();
        let strange: Vec<_> = page.entries.into_iter().map(|(cursor, _)| cursor).collect();
        let (mut errors, mut restored, mut entries) = (0, 0, 0);
        for seed in 0..crate::support::rounds("ORBGATE_LEDGER_FEEDS", 5) {
            let met = play(&mut Files::new(), seed, 200, &strange);
            (errors, restored, entries) = (errors + met.errors, restored + met.restored, entries + met.entries);
        }
        println!("{entries} entries read, {restored} backups restored, {errors} cursors refused since");
        assert!(errors > 5 && restored > 5 && entries > 100, "{errors} {restored} {entries}");
    }
}
