//! Handles of gates and steps: whatever a host does with one that is over, in use or another gate's, it gets a status.

use core::ptr::null;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::thread;

use super::*;

const DONE: u32 = 64;
const ANSWER: u32 = 66;
const WAIT: u32 = 67;
const CHECK: u32 = 68;
const CALL: u32 = 69;

/// A gate and an engine.
struct Own {
    gate: u64,
    engine: *mut OrbgateEngine,
}

impl Own {
    fn new(options: &[Vec<u8>]) -> Self {
        let mut own = Self { gate: 0, engine: external() };
        let make = question(2, &[&[put(1, TOKENS.as_bytes()), put(4, &[])], options].concat());
        let mut step = 0;
        let (status, answer) = asked(&mut own.gate, own.engine, &mut step, &make, 64);
        assert_eq!((status, Said::whole(&answer), step), (OK, Said(DONE, Vec::new()), 0));
        assert_ne!(own.gate, 0);
        own
    }

    fn with_keys() -> Self {
        let own = Self::new(&[]);
        assert_eq!(own.say(&mut 0, 9, &[]).unwrap().0, DONE);
        own.serve();
        own
    }

    fn say(&self, step: &mut u64, number: u32, fields: &[Vec<u8>]) -> Result<Said, OrbgateStatus> {
        let (status, answer) = self.send(step, &question(number, fields), ROOM);
        if status == OK { Ok(Said::whole(&answer)) } else { Err(status) }
    }

    fn send(&self, step: &mut u64, message: &[u8], room: usize) -> (OrbgateStatus, Vec<u8>) {
        let mut gate = self.gate;
        let answer = asked(&mut gate, self.engine, step, message, room);
        assert_eq!(gate, self.gate);
        answer
    }

    /// Begins a request.
    fn ask(&self, step: &mut u64) -> u32 {
        let bearer = format!("Bearer {}", TOKEN.trim());
        let fields = [put(1, b"GET"), put(2, ACCOUNT.as_bytes()), put(3, bearer.as_bytes())];
        self.say(step, 3, &[&fields[..], &[integer(13, TIME), integer(14, 5)]].concat()).unwrap().0
    }

    fn checked(&self, step: &mut u64) -> Result<u32, OrbgateStatus> {
        self.say(step, 5, &[put(1, &[]), integer(3, TIME), integer(4, 6)]).map(|answer| answer.0)
    }

    fn serve(&self) {
        let discovery = format!(r#"{{"issuer":"{ISSUER}","jwks_uri":"{ISSUER}/jwks"}}"#);
        let mut step = 0;
        let mut next = self.say(&mut step, 7, &[integer(1, 6)]).unwrap();
        while next.0 == CALL {
            assert_ne!(step, 0);
            let keys = include_str!("../../../../orbgate-token/testdata/jwks.json");
            let body = if next.text(3).ends_with("/jwks") { keys } else { &discovery };
            let called = [integer(1, next.integer(1)), integer(3, 200), put(5, body.as_bytes()), integer(6, 6)];
            next = self.say(&mut step, 8, &called).unwrap();
        }
        assert_eq!((next.0, step), (DONE, 0));
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        unsafe {
            orbgate_gate_end(&mut self.gate);
            orbgate_engine_free(self.engine);
        }
    }
}

#[test]
fn a_step_is_over_when_its_request_is_answered() {
    let own = Own::with_keys();
    let mut step = 0;
    assert_eq!(own.ask(&mut step), CHECK);
    let mut stale = step;
    assert_eq!((own.checked(&mut step), step), (Ok(ANSWER), 0));
    assert_eq!((own.checked(&mut stale), stale), (Err(INVALID), 0));
    // A stale handle doesn't reach the request that has its slot now.
    assert_eq!(own.ask(&mut step), CHECK);
    let first = step;
    assert_eq!(own.checked(&mut step), Ok(ANSWER));
    assert_eq!(own.ask(&mut step), CHECK);
    assert_eq!(step & 0xf_ffff, first & 0xf_ffff, "the slot is used again");
    assert_eq!(own.checked(&mut { first }), Err(INVALID));
    unsafe {
        orbgate_step_end(&mut { first });
        orbgate_step_end(null_mut());
    }
    assert_eq!(own.say(&mut { first }, 16, &[]).map(|answer| answer.0), Ok(DONE), "dropping it again changes nothing");
    assert_eq!((own.checked(&mut step), step), (Ok(ANSWER), 0));
    // Ended, twice.
    assert_eq!(own.ask(&mut step), CHECK);
    let (mut again, mut stale) = (step, step);
    unsafe {
        orbgate_step_end(&mut step);
        orbgate_step_end(&mut again);
    }
    assert_eq!((step, again, own.checked(&mut stale)), (0, 0, Err(INVALID)));
    assert_eq!(own.ask(&mut step), CHECK);
    let mut stale = step;
    assert_eq!((own.say(&mut step, 16, &[]).map(|answer| answer.0), step), (Ok(DONE), 0));
    assert_eq!(own.checked(&mut stale), Err(INVALID));
}

#[test]
fn a_step_belongs_to_its_gate() {
    let (own, other) = (Own::with_keys(), Own::with_keys());
    let mut step = 0;
    assert_eq!(own.ask(&mut step), CHECK);
    let before = step;
    assert_eq!((other.checked(&mut step), step), (Err(INVALID), before));
    let none = asked(&mut 0, own.engine, &mut step, &question(5, &[put(1, &[]), integer(3, TIME)]), 64);
    assert_eq!((none.0, step), (INVALID, before));
    assert_eq!((own.checked(&mut step), step), (Ok(ANSWER), 0));
    // A gate that is over.
    assert_eq!(own.ask(&mut step), CHECK);
    let (mut gate, mut again) = (own.gate, own.gate);
    unsafe {
        orbgate_gate_end(&mut gate);
        orbgate_gate_end(&mut again);
    }
    assert_eq!((gate, again), (0, 0));
    let before = step;
    assert_eq!((own.checked(&mut step), step), (Err(INVALID), 0));
    assert_eq!(own.checked(&mut { before }), Err(INVALID));
    assert_eq!(own.say(&mut step, 13, &[]), Err(INVALID));
    assert_eq!(own.say(&mut step, 16, &[]).map(|answer| answer.0), Ok(DONE));
    assert_eq!(other.ask(&mut step), CHECK);
    unsafe { orbgate_step_end(&mut step) };
    // A gate is made where there is none.
    let make = question(2, &[put(1, TOKENS.as_bytes()), put(4, &[])]);
    assert_eq!(other.send(&mut step, &make, 64).0, INVALID);
    let mut len = 0;
    let (data, size, mut room) = (make.as_ptr().cast(), make.len(), [0; 64]);
    let none = null_mut();
    let nowhere =
        unsafe { orbgate_gate_ask(none, null(), &mut step, data, size, room.as_mut_ptr(), room.len(), &mut len) };
    assert_eq!(nowhere, INVALID);
}

/// Every question in every state: only the next one is answered, and any other ends the step, unless it is a ledger's.
#[test]
fn a_step_is_asked_only_its_next_question() {
    type Begin = fn(&Own, &mut u64);
    let json = put(1, &[put(1, b"content-type"), put(2, b"application/json")].concat());
    let states: [(&str, Begin, &[u32]); 6] = [
        ("wait", |own, step| assert_eq!(own.ask(step), WAIT), &[4, 6]),
        (
            "check",
            |own, step| {
                own.serve();
                assert_eq!(own.ask(step), CHECK);
            },
            &[5],
        ),
        ("call", |own, step| assert_eq!(own.say(step, 7, &[integer(1, 6)]).unwrap().0, CALL), &[]),
        (
            "follow",
            |own, step| {
                let read = [put(1, b"orbgate: 1\napis: {}\n...\n"), integer(6, 1_000), integer(8, 5)];
                assert_eq!(own.say(step, 24, &read).unwrap().0, 84);
            },
            &[24],
        ),
        ("orbs", |own, step| assert_eq!(own.say(step, 30, &[put(1, &[])]).unwrap().0, 93), &[31, 32, 33, 34, 35, 36]),
        ("response", |own, step| assert_eq!(own.say(step, 38, &[put(1, b"7")]).unwrap().0, 94), &[39, 40]),
    ];
    for (name, begin, next) in states {
        // Miri takes a second for a gate. One serves all questions, unless it waits for the answer to its call.
        let mut last = None;
        for number in (1..=44).step_by(if !cfg!(miri) {
            1
        } else if name == "call" {
            15
        } else {
            5
        }) {
            let (own, mut step) = (last.take().unwrap_or_else(|| Own::new(&[])), 0);
            own.say(&mut 0, 9, &[]).unwrap();
            begin(&own, &mut step);
            assert_ne!(step, 0, "{name}");
            let fields = match number {
                5 => vec![put(1, &[]), integer(3, TIME)],
                31 => vec![put(1, &[1; 16]), put(2, b"a"), integer(3, 1)],
                32..=34 => vec![put(1, &[1; 16])],
                39 => vec![json.clone()],
                _ => Vec::new(),
            };
            let (before, answer) = (step, own.say(&mut step, number, &fields));
            let is_next = next.contains(&number) || number == 16;
            assert_eq!(answer.is_ok(), is_next, "{name}: {number}: {answer:?}");
            assert!(step == 0 || step == before, "{name}: {number}");
            if !is_next {
                assert_eq!(step != 0, name == "orbs", "{name}: {number}");
            }
            let mut stale = before;
            unsafe { orbgate_step_end(&mut step) };
            assert_eq!(own.say(&mut stale, 6, &[]), Err(INVALID));
            assert_eq!(stale, 0);
            last = (cfg!(miri) && name != "call").then_some(own);
        }
    }
    let own = Own::new(&[]);
    for number in [4, 5, 6, 8, 17, 31, 32, 33, 34, 35, 36, 39, 40] {
        let mut step = 0;
        assert_eq!((own.say(&mut step, number, &[]), step), (Err(INVALID), 0), "{number} begins nothing");
    }
}

/// It has the settlements of other requests.
#[test]
fn no_wrong_question_ends_the_step_of_a_ledger() {
    let own = Own::new(&[]);
    let mut step = 0;
    assert_eq!(own.say(&mut step, 30, &[put(1, &[])]).unwrap().0, 93);
    let before = step;
    let next = question(35, &[integer(1, 6)]);
    assert_eq!(own.say(&mut step, 35, &[integer(1, 6)]).unwrap().0, 92, "the first message");
    let whole = own.send(&mut step, &next, 1 << 12);
    for wrong in [&[][..], &[7], &question(6, &[])] {
        assert_eq!((own.send(&mut step, wrong, 64).0, step), (INVALID, before), "{wrong:?}");
        // While an answer waits for room, too.
        assert_eq!(own.send(&mut step, &next, 1), (SMALL, vec![0; whole.1.len()]), "{wrong:?}");
        if !wrong.is_empty() {
            assert_eq!((own.send(&mut step, wrong, 64).0, step), (INVALID, before), "{wrong:?}");
        }
        assert_eq!(own.send(&mut step, &next, 1 << 12).0, if wrong.is_empty() { INVALID } else { OK });
        assert_eq!((own.send(&mut step, &next, 1 << 12), step), (whole.clone(), before), "{wrong:?}");
    }
    unsafe { orbgate_step_end(&mut step) };
}

/// Nothing is known of a state that a panic has left, but a ledger's has the settlements of other requests.
#[test]
fn a_panic_ends_its_step() {
    let own = Own::with_keys();
    let mut step = 0;
    PANICS.set(true);
    assert_eq!((own.send(&mut step, &question(13, &[]), 64).0, step), (OrbgateStatus::Panic, 0));
    assert_eq!(own.ask(&mut step), CHECK);
    let before = step;
    PANICS.set(true);
    assert_eq!((own.checked(&mut step), step), (Err(OrbgateStatus::Panic), 0));
    assert!(is_over(before));
    assert_eq!(own.ask(&mut step), CHECK);
    assert_eq!((step & 0xf_ffff, own.checked(&mut step)), (before & 0xf_ffff, Ok(ANSWER)), "the slot is used again");
    assert_eq!(own.say(&mut step, 30, &[put(1, &[])]).unwrap().0, 93);
    let before = step;
    PANICS.set(true);
    assert_eq!((own.say(&mut step, 35, &[integer(1, 6)]), step), (Err(OrbgateStatus::Panic), before));
    assert_eq!(own.say(&mut step, 35, &[integer(1, 6)]).unwrap().0, 92, "its first message");
    unsafe { orbgate_step_end(&mut step) };
}

/// Whether no gate's step has this handle: it would stay if it were another gate's.
fn is_over(handle: u64) -> bool {
    let mut step = handle;
    let (status, _) = asked(&mut 0, null(), &mut step, &question(6, &[]), 64);
    assert_eq!(status, INVALID);
    step == 0
}

#[test]
fn the_end_of_a_gate_ends_its_steps() {
    let (mut own, other) = (Own::with_keys(), Own::with_keys());
    let steps = |own: &Own| {
        [(); if cfg!(miri) { 3 } else { 20 }].map(|()| {
            let mut step = 0;
            assert_eq!(own.ask(&mut step), CHECK);
            step
        })
    };
    let (ended, mut left) = (steps(&own), steps(&other));
    assert!(!ended.iter().chain(&left).any(|step| is_over(*step)));
    assert!(orbgate_step_count() >= ended.len() + left.len());
    unsafe {
        orbgate_gate_end(&mut 0);
        assert!(!ended.iter().any(|step| is_over(*step)), "0 isn't a gate");
        orbgate_gate_end(&mut own.gate);
    }
    assert!(ended.iter().all(|step| is_over(*step)) && !left.iter().any(|step| is_over(*step)));
    for step in &mut left {
        assert_eq!((other.checked(step), *step), (Ok(ANSWER), 0));
    }
}

/// A gate is ended while threads ask it: no step of it is left.
#[test]
fn no_step_begins_after_the_end_of_its_gate() {
    const ROUNDS: usize = if cfg!(miri) { 2 } else { 500 };
    for _ in 0..ROUNDS {
        let own = Own::new(&[]);
        let (gate, has_begun) = (own.gate, &AtomicUsize::new(0));
        let begun = thread::scope(|scope| {
            let asking = [(); 2].map(|()| {
                scope.spawn(move || {
                    // How a response ends, which is asked in a step.
                    let message = question(38, &[put(1, b"7")]);
                    let mut begun = Vec::new();
                    loop {
                        let mut step = 0;
                        if asked(&mut { gate }, null(), &mut step, &message, 64).0 != OK {
                            return begun;
                        }
                        begun.push(step);
                        has_begun.fetch_add(1, Ordering::Relaxed);
                    }
                })
            });
            while has_begun.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
            unsafe { orbgate_gate_end(&mut { gate }) };
            asking.map(|thread| thread.join().unwrap()).concat()
        });
        assert!(begun.iter().all(|step| *step == 0 || is_over(*step)), "of {} steps", begun.len());
    }
}

/// A report is about the attempt of its call.
#[test]
fn a_report_of_another_attempt_is_refused() {
    let own = Own::new(&[]);
    own.say(&mut 0, 9, &[]).unwrap();
    let mut step = 0;
    let call = own.say(&mut step, 7, &[integer(1, 6)]).unwrap();
    let called = [integer(1, call.integer(1) + 1), integer(2, 1)];
    assert_eq!((own.say(&mut step, 8, &called), step), (Err(INVALID), 0));
}

/// An answer that has no room is kept, and its step with it.
#[test]
fn an_answer_waits_for_room() {
    let own = Own::with_keys();
    let status = question(13, &[]);
    let whole = own.send(&mut 0, &status, 1 << 12);
    let size = whole.1.len();
    for room in [0, 1, 7, 8, size - 1] {
        let mut step = 0;
        assert_eq!(own.send(&mut step, &status, room), (SMALL, vec![0; size]), "{room}");
        let before = step;
        assert_eq!(own.send(&mut step, &[], size - 1), (SMALL, vec![0; size]), "{room}");
        assert_eq!(step, before);
        assert_eq!(own.send(&mut step, &[], size), whole);
        assert_eq!((step, own.send(&mut { before }, &[], size).0), (0, INVALID), "it is read once");
    }
    // The step goes on after it.
    let mut step = 0;
    let bearer = format!("Bearer {}", TOKEN.trim());
    let ask = question(3, &[put(1, b"GET"), put(2, ACCOUNT.as_bytes()), put(3, bearer.as_bytes()), integer(13, TIME)]);
    let (status, needed) = own.send(&mut step, &ask, 16);
    assert_eq!(status, SMALL);
    assert_eq!((own.checked(&mut { step }), needed.len() > 16), (Err(INVALID), true), "it has to be read first");
    step = 0;
    let (_, needed) = own.send(&mut step, &ask, 16);
    let check = own.send(&mut step, &[], needed.len());
    assert_eq!(Said::whole(&check.1).0, CHECK);
    assert_eq!((own.checked(&mut step), step), (Ok(ANSWER), 0));
    // A step that isn't at an answer has none.
    assert_eq!(own.ask(&mut step), CHECK);
    assert_eq!((own.send(&mut step, &[], 64).0, step), (INVALID, 0));
    assert_eq!(own.send(&mut step, &[], 64).0, INVALID);
    // A gate is there although its answer isn't.
    let make = question(2, &[put(1, TOKENS.as_bytes()), put(4, &[])]);
    let mut gate = 0;
    assert_eq!(asked(&mut gate, own.engine, &mut step, &make, 0), (SMALL, vec![0; 8]));
    assert_ne!((gate, step), (0, 0));
    assert_eq!(Said::whole(&asked(&mut gate, own.engine, &mut step, &[], 8).1), Said(DONE, Vec::new()));
    assert_eq!(step, 0);
    unsafe { orbgate_gate_end(&mut gate) };
}

/// Threads ask with each other's steps while one ends them and their gate: each question has an answer or a status.
#[test]
fn threads_can_share_a_step_and_end_its_gate() {
    const ROUNDS: usize = if cfg!(miri) { 3 } else { 300 };
    let mut own = Own::with_keys();
    for round in 1..=ROUNDS {
        let mut step = 0;
        assert_eq!(own.ask(&mut step), CHECK);
        let (gate, engine) = (own.gate, AtomicPtr::new(own.engine));
        let engine = &engine;
        let answers = thread::scope(|scope| {
            let asking = [(); 3].map(|()| {
                scope.spawn(move || {
                    let fields = question(5, &[put(1, &[]), integer(3, TIME), integer(4, 6)]);
                    asked(&mut { gate }, engine.load(Ordering::Relaxed), &mut { step }, &fields, 1 << 12).0
                })
            });
            if round % 3 == 0 {
                unsafe { orbgate_gate_end(&mut { gate }) };
            } else if round % 3 == 1 {
                unsafe { orbgate_step_end(&mut { step }) };
            }
            asking.map(|thread| thread.join().unwrap())
        });
        let answered = answers.iter().filter(|status| **status == OK).count();
        assert!(answers.iter().all(|status| [OK, INVALID].contains(status)), "{answers:?}");
        assert!(answered <= 1 && (answered == 1 || round % 3 != 2), "{answers:?}");
        assert_eq!(own.checked(&mut { step }), Err(INVALID));
        if round % 3 == 0 && round < ROUNDS {
            own = Own::with_keys();
        }
    }
}
