//! What each exchange costs, over each store.

use core::sync::atomic::{AtomicU64, Ordering};
use std::io::Read as _;
use std::sync::Arc;
use std::thread;

use orbgate_ledger::{Bucket, Cause, Ledger, Postgres, Sqlite};
use orbgate_tower::OnCancelled;

use crate::server::Server;
use crate::service::{World, rules, wait};

#[test]
fn each_exchange_over_sqlite_costs_what_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str| -> Arc<dyn Ledger> { Arc::new(Sqlite::open(folder.path().join(name)).unwrap()) };
    exchanges(open);
}

#[test]
fn each_exchange_over_postgres_costs_what_it_should() {
    let Some(server) = Server::start() else {
        return;
    };
    let open = |_: &str| -> Arc<dyn Ledger> { Arc::new(Postgres::open(&server.new_database()).unwrap()) };
    exchanges(open);
}

fn exchanges(open: impl Fn(&str) -> Arc<dyn Ledger>) {
    let world = World::new(open("void.db"), rules());
    costs(&world, OnCancelled::Void);
    leaves(&world, OnCancelled::Void);
    amounts(&world);
    empty(&world);
    bonus(&world);
    crowd(&world);
    assert!(world.ledger.verify().unwrap().found.is_empty());
    let mut capturing = rules();
    (capturing.on_cancelled, capturing.ceiling) = (OnCancelled::Capture, 1000);
    let world = World::new(open("capture.db"), capturing);
    costs(&world, OnCancelled::Capture);
    leaves(&world, OnCancelled::Capture);
    shortfall(&world);
    assert!(world.ledger.verify().unwrap().found.is_empty());
    // What each may cost that isn't whole, apart.
    let mut apart = rules();
    (apart.on_cancelled, apart.on_broken) = (OnCancelled::Stated, Some(OnCancelled::Capture));
    let world = World::new(open("apart.db"), apart);
    costs(&world, OnCancelled::Capture);
    leaves(&world, OnCancelled::Stated);
    assert!(world.ledger.verify().unwrap().found.is_empty());
}

/// Under a high ceiling, more than was held takes what is there.
fn shortfall(world: &World) {
    let user = "shortfall";
    world.grant(user, 91, Bucket::Paid);
    let headers = [("x-orbs", "1"), ("x-do", "state"), ("x-state", "1000")];
    assert_eq!((world.call(user, "POST /open/7", &headers, "").unwrap().status, world.left(user)), (200, 0));
    assert_eq!(world.entries(user).last().unwrap().shortfall.get(), 909);
}

/// One call of each kind: what its handler does, the status, and the orbs.
fn costs(world: &World, on_broken: OnCancelled) {
    let broken = if on_broken == OnCancelled::Capture { 10 } else { 0 };
    let table = [
        ("", "POST /run", Some(200), 10),
        ("404", "POST /run", Some(404), 0),
        ("500", "POST /run", Some(500), 0),
        ("panic", "POST /run", None, 0),
        ("stream", "POST /run", Some(200), 10),
        ("stream that states", "POST /run", Some(200), 3),
        ("stream that fails", "POST /run", Some(200), broken),
        ("stream that panics", "POST /run", Some(200), broken),
        ("stream that fails at once", "POST /run", None, 0),
        ("grpc 0", "POST /run", Some(200), 10),
        ("grpc 7", "POST /run", Some(200), 0),
        ("grpc without status", "POST /run", Some(200), broken),
        ("grpc head 5", "POST /run", Some(200), 0),
        // Its own route, with a body that nobody reads.
        ("stream", "HEAD /run", Some(200), 10),
        ("", "GET /free", Some(200), 0),
    ];
    for (number, (what, line, status, cost)) in table.into_iter().enumerate() {
        let user = format!("user-{number}");
        world.grant(&user, 100, Bucket::Paid);
        let answer = world.call(&user, line, &[("x-do", what)], "");
        // A connection can end before a short answer was sent.
        let actual = answer.map(|answer| answer.status);
        assert!(
            actual == status || (status.is_none() || what.contains("stream that") && actual.is_none()),
            "{what}: {actual:?}"
        );
        assert_eq!(world.left(&user), 100 - cost, "{what}: {line}");
        let causes = world.causes(&user);
        let expected: &[Cause] = match (line, cost) {
            ("GET /free", _) => &[],
            (_, 0) => &[Cause::Hold, Cause::Void],
            _ => &[Cause::Hold, Cause::Capture],
        };
        assert_eq!(causes, expected, "{what}: {line}");
        if let Some(entry) = world.entries(&user).last().filter(|entry| entry.cause != Cause::Grant) {
            let digest = world.gate.engines().load().digest();
            assert_eq!(entry.note.as_str(), format!("{line} {digest}"));
            // Support reads the same of it.
            assert_eq!(entry.note.call(), Some((line, &*digest.to_string())));
        }
    }
}

/// A caller who leaves: before the answer, in the middle of a stream, and without reading a whole answer.
fn leaves(world: &World, on_cancelled: OnCancelled) {
    let cancelled = if on_cancelled == OnCancelled::Capture { 10 } else { 0 };
    let stated = if on_cancelled == OnCancelled::Void { 0 } else { 3 };
    let table = [
        ("hang", cancelled),
        ("stream that hangs", cancelled),
        ("stream that states and hangs", stated),
        ("large", 10),
    ];
    for (what, cost) in table {
        let user = format!("leaver {}", what.replace(' ', "-")).replace(' ', "-");
        world.grant(&user, 100, Bucket::Paid);
        let ran = world.ran();
        let mut stream = world.send(&user, "POST /run", &[("x-do", what)], "");
        match what {
            "hang" => wait(|| world.ran() > ran),
            _ => stream.read_exact(&mut [0; 12]).unwrap(),
        }
        drop(stream);
        assert_eq!(world.left(&user), 100 - cost, "{what}");
    }
}

/// The amounts of functions and of handlers.
fn amounts(world: &World) {
    let user = "amounts";
    world.grant(user, 100, Bucket::Paid);
    let open = |orbs: &str, headers: &[(&str, &str)]| {
        let mut all = vec![("x-orbs", orbs)];
        all.extend(headers);
        world.call(user, "POST /open/7", &all, "").unwrap()
    };
    assert_eq!((open("7", &[]).status, world.left(user)), (200, 93));
    // Nothing is held, so the handler can't charge.
    let state = |orbs| [("x-do", "state"), ("x-state", orbs)];
    let free = open("0", &state("5"));
    assert_eq!((free.body.as_str(), world.left(user)), ("false", 93));
    let stated = open("7", &state("2"));
    assert_eq!((stated.body.as_str(), world.left(user)), ("true", 91));
    assert_eq!((open("7", &state("0")).status, world.left(user)), (200, 91));
    // More than was held isn't charged.
    assert_eq!((open("1", &state("1000")).status, world.left(user)), (200, 90));
    assert_eq!(world.entries(user).last().unwrap().shortfall.get(), 0);
    let ran = world.ran();
    for orbs in ["many", "panic", "9007199254740992"] {
        assert_eq!(open(orbs, &[]).status, 402, "{orbs}");
    }
    assert_eq!(world.ran(), ran);
}

fn empty(world: &World) {
    let ran = world.ran();
    let answer = world.call("nobody", "POST /run", &[], "").unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (402, ""));
    let told = ["retry-after", "content-type", "www-authenticate"].map(|name| answer.header(name));
    assert_eq!(told, [None; 3]);
    // Another call holds what is there.
    world.grant("busy", 15, Bucket::Paid);
    let stream = world.send("busy", "POST /run", &[("x-do", "hang")], "");
    wait(|| world.balance("busy").held.get() == 10);
    let answer = world.call("busy", "POST /run", &[], "").unwrap();
    assert_eq!(answer.status, 402);
    let retry_after: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=4).contains(&retry_after), "{retry_after}");
    assert_eq!(world.ran(), ran + 1);
    drop(stream);
    assert_eq!(world.left("busy"), 15);
    assert_eq!(world.causes("nobody"), []);
}

/// The flag is read from the body before the hold, and the service gets the same bytes.
fn bonus(world: &World) {
    world.grant("bonus", 30, Bucket::Bonus);
    let flag = |is_allowed: bool| format!(r#"{{"allowBonusOrbsUse":{is_allowed}}}"#);
    assert_eq!(world.call("bonus", "POST /run", &[], &flag(false)).unwrap().status, 402);
    let allowed = flag(true);
    let answer = world.call("bonus", "POST /run", &[], &allowed).unwrap();
    assert_eq!((answer.status, answer.body), (200, format!("POST {}", allowed.len())));
    assert_eq!(world.left("bonus"), 20);
    // Past the limit, it counts as not allowed.
    let long = format!("{}{}", flag(true), " ".repeat(1_000));
    assert_eq!(world.call("bonus", "POST /run", &[], &long).unwrap().status, 402);
    // A route that isn't configured reads no body.
    assert_eq!(world.call("bonus", "POST /open/1", &[("x-orbs", "1")], &flag(true)).unwrap().status, 402);
}

/// 64 threads call a service whose account has 500 orbs: exactly 50 handlers run.
fn crowd(world: &World) {
    world.grant("crowd", 500, Bucket::Paid);
    let (before, served) = (world.ran(), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                for _ in 0..4 {
                    match world.call("crowd", "POST /run", &[], "").unwrap().status {
                        200 => drop(served.fetch_add(1, Ordering::SeqCst)),
                        status => assert_eq!(status, 402),
                    }
                }
            });
        }
    });
    assert_eq!((world.ran() - before, served.load(Ordering::SeqCst), world.left("crowd")), (50, 50, 0));
}
