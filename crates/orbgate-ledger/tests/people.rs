//! What people read: each store gives what the model gives, and the model what a second calculation from the entries gives.

#[cfg(feature = "sqlite")]
mod sqlite;

use std::collections::BTreeMap;

use orbgate_ledger::{
    AccountId, Answer, Balance, Bucket, Cause, Command, Cursor, Entry, Error, Hold, Ledger, Listing, Millis, Model,
    Note, Order, Part, Statement, Sums, suite,
};
use proptest::prelude::*;
use suite::{Step, Subject};

use crate::support::{Clocked, account, capture, grant, hold, id, millis, numbered, orbs};

/// Compares what people read several times in a history, and once everything has expired.
pub(crate) fn compare_people<L: Ledger>(store: &mut Clocked<L>, order: Order, steps: &[Step]) {
    let mut model = Model::new(order);
    for (index, Step { now, command }) in steps.iter().enumerate() {
        assert_eq!(model.run(command, *now), store.run(command, *now));
        if index % 97 == 96 || index + 1 == steps.len() {
            for later in [0, 1_000, 10_000_000] {
                let now = millis(now.get() + later);
                store.entries(&Cursor::default(), 0, now).unwrap();
                numbered(&store.ledger);
                suite::compare_people(&model, &store.ledger, now).unwrap();
            }
        }
    }
}

fn balance(model: &Model, of: &AccountId, now: Millis) -> Balance {
    match model.clone().run(&Command::Balance(of.clone()), now) {
        Ok(Answer::Balance(balance)) => balance,
        other => panic!("{other:?}"),
    }
}

/// The whole statement, read in pages.
fn whole(model: &Model, of: &str, limit: usize, now: Millis) -> Statement {
    let mut part = Part { after: Some(0), limit, ..Part::newest(account(of)) };
    let mut statement = model.statement(&part, now).unwrap();
    while statement.later.is_some() || statement.more_grants.is_some() {
        if statement.later.is_some() {
            part.after = statement.later;
        }
        part.grants_after = statement.more_grants.unwrap_or(u64::MAX / 1024);
        let more = model.statement(&part, now).unwrap();
        if statement.later.is_some() {
            statement.movements.extend(more.movements);
        }
        statement.grants.extend(more.grants);
        (statement.later, statement.more_grants) = (more.later, more.more_grants);
    }
    statement
}

/// The orbs of a grant, from its entries.
#[derive(Default)]
struct Told(i64, i64);

/// The sums of a bucket at a time, one orb movement after the other.
fn second(entries: &[Entry], bucket: Bucket, at: Millis) -> [i64; 8] {
    let [mut granted, mut captured, mut refunded, mut expired, mut revoked, mut available, mut held] = [0; 7];
    for entry in entries.iter().filter(|entry| entry.at <= at) {
        for line in entry.lines.iter().filter(|line| line.bucket == bucket) {
            available += line.available;
            held += line.held;
            match entry.cause {
                Cause::Grant => granted += line.available,
                Cause::Revoke => revoked -= line.available,
                Cause::Refund => refunded -= line.captured,
                Cause::Capture => captured += line.captured,
                Cause::Hold | Cause::Void | Cause::HoldExpired | Cause::GrantExpired => {}
                other => panic!("{other:?} moves orbs"),
            }
            if !matches!(entry.cause, Cause::Grant | Cause::Revoke | Cause::Refund) {
                expired -= line.available + line.held + line.captured;
            }
        }
    }
    [granted, captured, refunded, expired, revoked, available + held, available, held]
}

fn figures(sums: &Sums) -> [i64; 8] {
    let Sums { granted, captured, refunded, expired, revoked, outstanding, available, held, .. } = *sums;
    [granted, captured, refunded, expired, revoked, outstanding, available, held].map(|sum| sum as i64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// The figures of statements and totals are those that the entries give once everything that has expired is written.
    #[test]
    fn figures_are_those_of_the_entries(bytes in prop::collection::vec(any::<[u8; 8]>(), 0..160), limit in 1_usize..9) {
        let steps = suite::steps(&bytes);
        let mut model = Model::default();
        for Step { now, command } in &steps {
            let _ = model.run(command, *now);
        }
        let end = steps.last().map_or(1_000_000, |step| step.now.get());
        for later in [0, 700, 60_000] {
            let now = millis(end + later);
            let mut written = model.clone();
            written.expire(now).unwrap();
            let page = written.entries(&Cursor::default(), usize::MAX, now).unwrap();
            let entries: Vec<_> = page.entries.into_iter().map(|(_, entry)| entry).collect();
            let listing = Listing { limit: 100, ..Listing::default() };
            let listed = model.accounts(&listing, now).unwrap();
            for name in ["account 0", "account 1", "account 2"] {
                let of: Vec<_> = entries.iter().filter(|entry| entry.account == account(name)).collect();
                let listed = listed.iter().find(|listed| listed.balance.account == account(name));
                prop_assert_eq!(listed.is_none(), of.is_empty());
                if of.is_empty() {
                    let unknown = model.statement(&Part::newest(account(name)), now);
                    prop_assert_eq!(unknown.unwrap_err(), Error::UnknownAccount);
                    continue;
                }
                let statement = whole(&model, name, limit, now);
                prop_assert_eq!(&statement.balance, &balance(&model, &account(name), now));
                prop_assert_eq!(&listed.unwrap().balance, &statement.balance);
                let (mut posted, mut held, mut left) = (0, 0, BTreeMap::<_, Told>::new());
                prop_assert_eq!(statement.movements.len(), of.len());
                for (movement, entry) in statement.movements.iter().zip(&of) {
                    prop_assert_eq!((movement.seq, movement.at, &movement.id), (entry.seq, entry.at, &entry.id));
                    posted += movement.paid_change + movement.bonus_change;
                    held += movement.held_change;
                    let captured: i64 = entry.lines.iter().map(|line| line.captured).sum();
                    let own = if matches!(entry.cause, Cause::Grant | Cause::Revoke) {
                        entry.lines.iter().map(|line| line.available + line.held).sum()
                    } else {
                        0
                    };
                    prop_assert_eq!(movement.captured, captured);
                    prop_assert_eq!(
                        movement.paid_change + movement.bonus_change,
                        own - movement.captured - movement.expired
                    );
                    prop_assert_eq!((movement.posted.get() as i64, movement.held.get() as i64), (posted, held));
                    for line in &entry.lines {
                        let told = left.entry(&line.grant).or_default();
                        (told.0, told.1) = (told.0 + line.available, told.1 + line.held);
                    }
                }
                // The last balance is the balance.
                let last = statement.movements.last().unwrap();
                let Balance { paid, bonus, available, .. } = statement.balance;
                prop_assert_eq!((last.posted, last.held), (statement.balance.posted, statement.balance.held));
                prop_assert_eq!((last.paid, last.bonus, last.available), (paid, bonus, available));
                let grants: BTreeMap<_, _> = statement.grants.iter().map(|left| (&left.grant, left)).collect();
                prop_assert_eq!(grants.len(), statement.grants.len());
                left.retain(|_, told| (told.0, told.1) != (0, 0));
                prop_assert_eq!(grants.len(), left.len());
                for (id, told) in left {
                    let grant = grants[id];
                    prop_assert_eq!((grant.available.get() as i64, grant.held.get() as i64), (told.0, told.1));
                }
            }
            for age in [60_000, 60_350, 61_000, 64_000] {
                let at = millis(now.get() - age);
                let totals = model.totals(Some(at), now).unwrap();
                prop_assert_eq!(totals.outstanding, totals.paid.outstanding + totals.bonus.outstanding);
                for (bucket, sums) in [(Bucket::Paid, &totals.paid), (Bucket::Bonus, &totals.bonus)] {
                    prop_assert_eq!(figures(sums), second(&entries, bucket, at));
                    let (came, went) = (sums.granted + sums.refunded, sums.captured + sums.expired + sums.revoked);
                    prop_assert_eq!(came, went + sums.outstanding, "orbs are conserved");
                }
            }
        }
    }
}

/// What has expired and isn't written is in the statement, marked, and in the totals.
#[test]
fn unwritten_expiries_are_counted() {
    let mut model = Model::default();
    let expires_at = Some(millis(5_000));
    let welcome = orbgate_ledger::Grant { bucket: Bucket::Bonus, expires_at, ..grant("welcome", "a", 20) };
    model.run(&Command::Grant(welcome), millis(1_000)).unwrap();
    model.run(&Command::Grant(grant("invoice", "a", 100)), millis(1_000)).unwrap();
    let digest = format!("sha256:{}", "0f".repeat(32));
    let note = Note::new(format!("POST /api/v1/voxies {digest}")).unwrap();
    model.run(&Command::Hold(Hold { note, ..hold("call", "a", 30) }), millis(2_000)).unwrap();
    model.run(&Command::Settle(capture("call", 12)), millis(3_000)).unwrap();
    let now = millis(90_000);
    let statement = model.statement(&Part::newest(account("a")), now).unwrap();
    let told = statement.movements.iter().map(|movement| {
        let (change, posted) = (movement.paid_change + movement.bonus_change, movement.posted.get());
        (movement.cause, change, posted, movement.written, movement.route.is_some())
    });
    let told: Vec<_> = told.into_iter().collect();
    assert_eq!(
        told,
        [
            (Cause::Grant, 20, 20, true, false),
            (Cause::Grant, 100, 120, true, false),
            (Cause::Hold, 0, 120, true, true),
            (Cause::Capture, -12, 108, true, true),
            (Cause::GrantExpired, -20, 88, false, false),
        ]
    );
    let charge = &statement.movements[3];
    assert_eq!((charge.route.as_deref(), charge.policy.as_deref()), (Some("POST /api/v1/voxies"), Some(&*digest)));
    assert_eq!((statement.balance.posted, statement.balance.bonus), (orbs(88), orbs(0)));
    let before = model.totals(Some(millis(4_999)), now).unwrap();
    let after = model.totals(Some(millis(5_000)), now).unwrap();
    assert_eq!((before.bonus.outstanding, before.bonus.expired), (20, 0));
    assert_eq!((after.bonus.outstanding, after.bonus.expired, after.outstanding), (0, 20, 88));
    assert_eq!(model.totals(Some(millis(30_001)), now), Err(Error::TooRecent(millis(30_000))));
    let listing = Listing { limit: 1, ..Listing::default() };
    assert_eq!(model.accounts(&listing, now).unwrap()[0].last_used, Some(millis(3_000)));
}

#[test]
fn what_expires_while_it_is_held_is_not_what_a_call_cost() {
    let mut model = Model::default();
    let expires_at = Some(millis(5_000));
    model.run(&Command::Grant(orbgate_ledger::Grant { expires_at, ..grant("g", "a", 100) }), millis(1_000)).unwrap();
    for name in ["charged", "voided"] {
        model.run(&Command::Hold(hold(name, "a", 30)), millis(2_000)).unwrap();
    }
    model.run(&Command::Settle(capture("charged", 12)), millis(6_000)).unwrap();
    let void = orbgate_ledger::Settle { hold: id("voided"), settlement: orbgate_ledger::Settlement::Void };
    model.run(&Command::Settle(void), millis(7_000)).unwrap();
    let statement = model.statement(&Part::newest(account("a")), millis(8_000)).unwrap();
    let told = statement.movements.iter().skip(3);
    let told: Vec<_> = told.map(|of| (of.cause, of.paid_change, of.captured, of.expired)).collect();
    assert_eq!(told, [(Cause::GrantExpired, -40, 0, 40), (Cause::Capture, -30, 12, 18), (Cause::Void, -30, 0, 30)]);
}

/// Notes that people write aren't calls.
#[test]
fn only_a_route_with_a_digest_is_a_call() {
    let digest = format!("sha256:{}", "0".repeat(64));
    assert_eq!(Note::new(format!("GET /a {digest}")).unwrap().call(), Some(("GET /a", &*digest)));
    for note in ["", "GET /a", &digest, &format!(" {digest}"), "a sha256:0", &format!("a {}", digest.to_uppercase())] {
        assert_eq!(Note::new(note).unwrap().call(), None, "{note}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_gives_people_what_the_model_gives() {
    use std::sync::Arc;

    for (seed, order) in [(21, Order::BonusFirst), (22, Order::PaidFirst), (23, Order::SoonestFirst)] {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(crate::support::TestClock::default());
        let path = folder.path().join("orbs.db");
        let ledger = orbgate_ledger::Sqlite::open_with(&path, Some(order), Arc::clone(&clock) as _).unwrap();
        compare_people(&mut Clocked { ledger, clock }, order, &suite::random(seed, 500));
    }
}

/// For each store.
pub(crate) fn control_characters(ledger: &dyn Ledger) {
    for (number, name) in ["a", "ab", "b"].into_iter().enumerate() {
        ledger.grant(grant(&format!("g{number}"), name, 1)).unwrap();
    }
    let names = |prefix: &str, after: &str| {
        let listing = Listing { prefix: prefix.to_owned(), after: after.to_owned(), limit: 9 };
        let listed = ledger.accounts(&listing).unwrap();
        listed.iter().map(|listed| listed.balance.account.to_string()).collect::<Vec<_>>()
    };
    for prefix in ["\0", "a\0", "a\n", "\u{7f}", "\u{9b}"] {
        assert_eq!(names(prefix, ""), Vec::<String>::new(), "{prefix:?}");
    }
    assert_eq!(names("a", "a\0"), ["ab"]);
    assert_eq!(names("", "a\u{1}"), ["ab", "b"]);
    assert_eq!(names("", "\0"), ["a", "ab", "b"]);
}

/// For each store.
pub(crate) fn similar_names(ledger: &dyn Ledger) {
    for (number, name) in ["alice", "bob", "Alice", "al\u{200b}ice ", "BOB", "carol"].into_iter().enumerate() {
        ledger.grant(grant(&format!("s{number}"), name, 1)).unwrap();
    }
    let (alice, carol) = (account("Alice"), account("carol"));
    let similar = orbgate_ledger::similar(ledger, [&alice, &carol]).unwrap();
    assert_eq!(similar.to(&alice), [account("alice"), account("al\u{200b}ice ")]);
    assert_eq!(similar.to(&carol), Vec::<AccountId>::new());
    assert_eq!(ledger.names("alice", 1).unwrap(), [account("al\u{200b}ice ")]);
}
