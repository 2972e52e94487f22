//! Orbs over messages: what a call must hold, and the holds of a process.

use core::slice::from_ref;

use serde_json::{Value, json};

use super::*;

const POLICY: &str = "\
orbgate: 1
apis:
  a:
    base_path: ''
    scopes:
      other: { orbs: 1, routes: [POST /other] }
      read:account: { orbs: false, routes: [GET /free] }
      write:voxies: { orbs: true, routes: [{ route: POST /run, orbs: 10 }, 'POST /open/{id}'] }
";

const ID: [u8; 16] = [0xab; 16];
const OTHER: [u8; 16] = [0xcd; 16];
const UNAVAILABLE: u64 = 255;

/// A step that holds. Calls cost what they hold if they are cancelled, or nothing.
fn ledger(captures: bool) -> Host {
    let host = Host::without_gate();
    let flag = put(if captures { 1 } else { 5 }, &[]);
    let answer = host.say(30, &[flag, integer(2, 3000), integer(3, 1000), integer(4, 2)]);
    assert_eq!(answer, Ok(Said(93, vec![(CRITICAL | 1, Vec::new())])), "the first message waits");
    host
}

fn hold(host: &Host, id: &[u8], now: u64) -> Said {
    let (account, note) = (put(2, b"https://id#ann"), put(5, b"POST /run sha256:0"));
    host.say(31, &[put(1, id), account, integer(3, 10), put(4, &[]), note, integer(6, now)]).unwrap()
}

fn held(host: &Host, status: u64, body: &Value, now: u64) -> Said {
    let fields = [put(1, &ID), integer(2, status), put(3, body.to_string().as_bytes())];
    host.say(32, &[&fields[..], &[integer(4, TIME), integer(5, now)]].concat()).unwrap()
}

/// A step whose call runs.
fn running(captures: bool) -> Host {
    let host = ledger(captures);
    hold(&host, &ID, 0);
    let run = held(&host, 200, &json!({ "hold": "held", "state": "pending" }), 5);
    assert_eq!((run.0, run.bytes(1), run.text(2), run.text(8)), (91, Some(&b""[..]), String::new(), "held".to_owned()));
    host
}

fn ended(host: &Host, id: &[u8], fields: &[Vec<u8>]) -> Said {
    host.say(34, &[&[put(1, id), integer(6, 20)], fields].concat()).unwrap()
}

/// The next message: its number, path and commands.
fn sent(host: &Host, now: u64) -> (u64, String, Value) {
    let call = host.say(35, &[integer(1, now)]).unwrap();
    assert_eq!((call.0, call.integer(4)), (92, 10_000));
    (call.integer(1), call.text(2), serde_json::from_str(&call.text(3)).unwrap())
}

fn called(host: &Host, number: u64, status: u64, body: &Value) -> Said {
    let body = put(3, body.to_string().as_bytes());
    host.say(36, &[integer(1, number), integer(2, status), body, integer(4, 30)]).unwrap()
}

fn denial(answer: &Said) -> (u32, bool, u64, u64, String) {
    let runs_or_goes_on = answer.bytes(1).is_some() || !answer.text(2).is_empty() || answer.integer(5) != 0;
    (answer.0, runs_or_goes_on, answer.integer(6), answer.integer(7), answer.text(8))
}

fn denied(unpaid: u64, retry_after: u64, result: &str) -> (u32, bool, u64, u64, String) {
    (91, false, unpaid, retry_after, result.to_owned())
}

#[test]
fn a_call_is_held_and_charged_once() {
    let host = ledger(false);
    let call = hold(&host, &ID, 0);
    assert_eq!((call.0, call.bytes(1), call.text(2), call.integer(4)), (91, None, "/v1/hold".to_owned(), 1000));
    let id = "ab".repeat(16);
    let command = json!({ "id": id, "account": "https://id#ann", "amount": 10, "bonus": true, "ttl": 3000, "note": "POST /run sha256:0" });
    assert_eq!(serde_json::from_str::<Value>(&call.text(3)).unwrap(), command);
    let host = running(false);
    let over = ended(&host, &ID, &[integer(3, 200), put(4, &[]), integer(5, 3)]);
    assert_eq!((over.0, over.bytes(1), over.integer(2), over.integer(3)), (93, Some(&b""[..]), 0, 1), "it waits");
    let (number, path, commands) = sent(&host, 20);
    assert_eq!((path.as_str(), commands), ("/v1/settle", json!([{ "hold": id, "settlement": { "capture": 3 } }])));
    let nothing_twice = ended(&host, &ID, &[integer(3, 200)]);
    assert_eq!(nothing_twice.integer(3), 1);
    let receipt = json!([{ "at": 1, "state": "captured", "captured": 3 }]);
    let foreign = called(&host, number + 1, 200, &receipt);
    assert_eq!((foreign.integer(3), foreign.integer(4)), (1, 0), "another message's answer changes nothing");
    let settled = called(&host, number, 200, &receipt);
    assert_eq!((settled.integer(3), settled.integer(4), settled.integer(5), settled.integer(6)), (0, 1, 0, 0));
    assert_eq!(called(&host, number, 200, &receipt).integer(4), 1, "once");
    assert_eq!(host.say(35, &[integer(1, 30)]).unwrap().0, 93, "nothing more to send");
}

#[test]
fn the_outcome_decides_what_is_settled() {
    let status = |status| vec![integer(3, status)];
    let cancelled = put(2, &[]);
    let rows = [
        (status(200), [Some(10), Some(10)]),
        (status(101), [Some(10), Some(10)]),
        (status(399), [Some(10), Some(10)]),
        (status(400), [None, None]),
        (status(0), [None, None]),
        (vec![cancelled.clone()], [None, Some(10)]),
        (vec![cancelled.clone(), integer(3, 200)], [None, Some(10)]),
        (vec![cancelled, put(4, &[]), integer(5, 4)], [None, Some(4)]),
        (vec![put(9, &[])], [None, Some(10)]), // the service broke it off
        (vec![integer(3, 200), put(4, &[])], [Some(0), Some(0)]),
        (vec![integer(3, 200), integer(5, 7)], [Some(10), Some(10)]), // not stated
        (vec![integer(3, 200), put(7, &[])], [None, None]),           // never ran
    ];
    for (fields, expected) in rows {
        for (captures, amount) in [false, true].into_iter().zip(expected) {
            let host = running(captures);
            assert_eq!(ended(&host, &ID, &fields).integer(3), 1);
            let settlement = amount.map_or(json!("void"), |amount: u64| json!({ "capture": amount }));
            assert_eq!(sent(&host, 20).2[0]["settlement"], settlement, "{fields:?}");
        }
    }
}

#[test]
fn a_ledger_that_refuses_denies() {
    let no = |reason: &str| json!({ "hold": "denied", "reason": reason, "retry_at": TIME + 1500 });
    for (status, body, expected) in [
        (200, no("insufficient"), denied(1, 1500, "denied")),
        (200, no("bonus_not_allowed"), denied(2, 1500, "denied")),
        (200, no("temporarily_held"), denied(3, 1500, "denied")),
        (200, no("frozen"), denied(4, 1500, "denied")),
        (200, no("no such reason"), denied(UNAVAILABLE, 0, "unavailable")),
        (200, json!({ "hold": "held", "state": "voided" }), denied(UNAVAILABLE, 0, "unavailable")),
        (401, json!({}), denied(UNAVAILABLE, 0, "unavailable")),
    ] {
        let host = ledger(true);
        hold(&host, &ID, 0);
        assert_eq!(denial(&held(&host, status, &body, 5)), expected, "{status} {body}");
        assert_eq!(ended(&host, &ID, &[integer(3, 200)]).integer(3), 0, "it is over");
    }
    for status in [0, 200, 408, 429, 500] {
        let host = ledger(true);
        hold(&host, &ID, 0);
        let wait = held(&host, status, &json!(null), 5);
        assert_eq!((wait.text(2), wait.integer(5)), (String::new(), 55), "{status}");
        let again = host.say(33, &[put(1, &ID), integer(2, 55)]).unwrap();
        assert_eq!((again.text(2), again.integer(4)), ("/v1/hold".to_owned(), 945), "the time that is left");
        assert_eq!(held(&host, 0, &json!(null), 990).integer(5), 1000);
        let late = host.say(33, &[put(1, &ID), integer(2, 1000)]).unwrap();
        assert_eq!(denial(&late), denied(UNAVAILABLE, 0, "unavailable"));
        assert_eq!(sent(&host, 1000).2[0]["settlement"], json!("void"), "the ledger may hold it nevertheless");
    }
}

/// Both flags of a setting charge what was stated; a service that breaks off has a setting of its own, or that of a caller who
/// leaves; and nothing is charged over the ceiling, which is reported once.
#[test]
fn settings_of_what_is_not_whole() {
    let (left, broken) = (put(2, &[]), put(9, &[]));
    let stated = |orbs| vec![put(4, &[]), integer(5, orbs)];
    let ok = || integer(3, 200);
    let both = [put(1, &[]), put(5, &[])];
    let rows = [
        (both.to_vec(), vec![left.clone()], None),
        (both.to_vec(), [vec![left.clone()], stated(4)].concat(), Some(4)),
        (both.to_vec(), [vec![broken.clone()], stated(4)].concat(), Some(4)),
        (both.to_vec(), vec![ok()], Some(10)),
        ([both.to_vec(), vec![put(10, &[])]].concat(), vec![broken.clone()], Some(10)),
        ([both.to_vec(), vec![put(10, &[])]].concat(), vec![left.clone(), broken.clone()], None),
        (vec![put(1, &[]), put(11, &[])], vec![broken.clone()], None),
        (vec![put(1, &[]), put(10, &[]), put(11, &[])], [vec![broken], stated(7)].concat(), Some(7)),
        (vec![put(1, &[])], [vec![ok()], stated(98_387)].concat(), Some(10)),
        (vec![put(1, &[]), integer(12, 3)], [vec![ok()], stated(98_387)].concat(), Some(30)),
    ];
    for (settings, outcome, amount) in rows {
        let host = Host::without_gate();
        let limits = [integer(2, 3000), integer(3, 1000), integer(4, 2)];
        host.say(30, &[&settings[..], &limits].concat()).unwrap();
        hold(&host, &ID, 0);
        held(&host, 200, &json!({ "hold": "held", "state": "pending" }), 5);
        let over = ended(&host, &ID, &outcome);
        let is_over = amount.is_some_and(|amount| amount >= 10) && outcome.len() > 2;
        assert_eq!((over.integer(7), over.text(8).contains("has stated 98387 orbs")), (is_over.into(), is_over));
        assert_eq!(ended(&host, &ID, &outcome).text(8), "", "once");
        let settlement = amount.map_or(json!("void"), |amount: u64| json!({ "capture": amount }));
        assert_eq!(sent(&host, 20).2[0]["settlement"], settlement, "{settings:?} {outcome:?}");
    }
}

#[test]
fn a_full_queue_denies_and_lost_settlements_are_counted() {
    let host = ledger(true);
    for id in [ID, OTHER] {
        hold(&host, &id, 0);
        ended(&host, &id, &[put(7, &[])]);
    }
    assert_eq!(denial(&hold(&host, &[1; 16], 21)), denied(UNAVAILABLE, 0, "unavailable"), "two wait");
    let (number, _, commands) = sent(&host, 21);
    assert_eq!(commands.as_array().unwrap().len(), 2);
    let done = called(&host, number, 200, &json!([{ "at": 1, "state": "voided" }, { "error": "settled_otherwise" }]));
    assert_eq!((done.integer(3), done.integer(4), done.integer(5), done.integer(6)), (0, 0, 1, 1));
    assert_eq!(hold(&host, &[1; 16], 31).text(2), "/v1/hold");
    // One that isn't taken is lost when its hold has expired.
    let host = running(true);
    ended(&host, &ID, &[integer(3, 200)]);
    let mut now = 20;
    let lost = loop {
        let next = host.say(35, &[integer(1, now)]).unwrap();
        let state = if next.0 == 92 { called(&host, next.integer(1), 0, &json!(null)) } else { next };
        if state.integer(6) == 1 {
            break state;
        }
        now += 100;
        assert!(now < 4000, "the hold lasts three seconds");
    };
    assert_eq!((lost.integer(3), lost.integer(4)), (0, 0));
}

#[test]
fn one_heartbeat_extends_every_hold() {
    let host = running(true);
    hold(&host, &OTHER, 6);
    let wake = host.say(35, &[integer(1, 10)]).unwrap();
    assert_eq!((wake.0, wake.bytes(1), wake.integer(2)), (93, Some(&b""[..]), 1005), "a third of the time");
    let fields = [put(1, &OTHER), integer(2, 200), put(3, br#"{"hold":"held","state":"pending"}"#), integer(5, 11)];
    assert!(host.say(32, &fields).unwrap().bytes(1).is_some());
    let (number, path, commands) = sent(&host, 1005);
    let beat = |byte: &str| json!({ "id": format!("{}.1", byte.repeat(16)), "hold": byte.repeat(16), "ttl": 3000 });
    assert_eq!((path.as_str(), commands), ("/v1/extend", json!([beat("ab"), beat("cd")])));
    let next = called(&host, number, 200, &json!([{ "at": 1 }, { "at": 1 }]));
    assert_eq!((next.bytes(1), next.integer(2)), (Some(&b""[..]), 2005));
}

/// A failure of the service is logged once, in its own words.
#[test]
fn a_notice_has_the_reason_of_the_service() {
    let host = ledger(true);
    let notice = |status: u64, body: &str, failure: &str| {
        let fields = [put(1, b"http://l"), integer(2, status), put(3, body.as_bytes()), put(4, failure.as_bytes())];
        let told = host.say(45, &fields).unwrap();
        assert_eq!(told.0, 64);
        (told.text(2), told.text(1))
    };
    let full = r#"{"error":"unknown","message":"the disk\nis full"}"#;
    let of = |level: &str, words: &str| (level.to_owned(), format!("the ledger http://l: {words}"));
    assert_eq!(notice(503, full, ""), of("warning", "status 503: the disk is full"));
    assert_eq!(notice(503, full, ""), (String::new(), String::new()));
    assert_eq!(notice(0, "", "ECONNREFUSED"), of("warning", "ECONNREFUSED instead of an answer"));
    assert_eq!(notice(200, "[]", ""), of("info", "it answers again"));
    assert_eq!(host.say(45, &[integer(2, 1 << 16)]), Err(INVALID));
    assert_eq!(hold(&host, &ID, 0).0, 91, "it is still a ledger's step");
}

/// What no host should send is refused, or denied: nothing waits for ever.
#[test]
fn wrong_questions_about_holds_are_refused() {
    let host = Host::without_gate();
    // What a caller who leaves costs has no default.
    assert_eq!(host.say(30, &[put(10, &[])]), Err(INVALID));
    for (number, value) in [(2, 99), (2, 86_400_001), (3, 20_001)] {
        let failed = host.say(30, &[put(1, &[]), integer(number, value)]).unwrap();
        assert_eq!((failed.0, failed.text(2).contains("ttl")), (65, true), "{number} {value}");
    }
    // Before `UseLedger`, after `Drop`, and with a step of a request.
    let questions = |host: &Host, id: &[u8]| {
        let id = || put(1, id);
        [
            host.say(31, &[id(), put(2, b"a"), integer(3, 1)]),
            host.say(32, &[id()]),
            host.say(33, &[id()]),
            host.say(34, &[id(), put(7, &[])]),
            host.say(34, &[id()]),
        ]
    };
    let dropped = ledger(true);
    assert_eq!(dropped.say(16, &[]), Ok(Said(64, Vec::new())));
    let waiting = Host::new(&[]);
    assert_eq!(waiting.ask(ACCOUNT, &[]).0, 67);
    for host in [&host, &dropped, &waiting] {
        assert!(questions(host, &ID).into_iter().all(|answer| answer == Err(INVALID)));
        assert_eq!([35, 36, 45].map(|number| host.say(number, &[])), [Err(INVALID), Err(INVALID), Err(INVALID)]);
    }
    assert_eq!(waiting.say(6, &[integer(1, 6)]), Err(INVALID), "its request is over");
    let host = ledger(true);
    for id in [&[][..], &[0; 15], &[0; 17]] {
        assert!(questions(&host, id).into_iter().all(|answer| answer == Err(INVALID)), "{id:?}");
    }
    assert_eq!(host.say(31, &[put(1, &ID), put(2, b"\xff")]), Err(INVALID));
    assert_eq!(host.say(31, &[put(1, &ID), put(5, b"\xff")]), Err(INVALID));
    for number in [32, 34, 36] {
        let status = integer(if number == 34 { 3 } else { 2 }, 1 << 16);
        let id = if number == 36 { Vec::new() } else { put(1, &ID) };
        assert_eq!(host.say(number, &[id, status]), Err(INVALID), "{number}");
    }
    let unavailable = denied(UNAVAILABLE, 0, "unavailable");
    // Foreign ids, an id twice, and an answer twice.
    assert_eq!(denial(&held(&host, 200, &json!({ "hold": "held", "state": "pending" }), 1)), unavailable);
    assert_eq!(denial(&host.say(33, &[put(1, &ID)]).unwrap()), unavailable);
    assert_eq!(ended(&host, &ID, &[integer(3, 200)]), Said(93, Vec::new()));
    let host = running(true);
    assert_eq!(denial(&hold(&host, &ID, 6)), unavailable);
    assert_eq!(denial(&held(&host, 200, &json!({ "hold": "held", "state": "pending" }), 7)), unavailable);
    assert_eq!(ended(&host, &ID, &[integer(3, 200)]).integer(3), 1, "the call that runs is still charged");
}

#[test]
fn each_route_that_consumes_has_an_amount() {
    let host = Host::without_gate().over(compiled(POLICY));
    let check = |functions: &[&str]| {
        let fields: Vec<_> = functions.iter().map(|route| put(1, route.as_bytes())).collect();
        host.say(37, &fields).map(|it| (it.0, it.text(2)))
    };
    let lacks = "`POST /open/{id}` consumes orbs, but neither the policy nor a function states how many";
    assert_eq!(check(&[]), Ok((65, lacks.to_owned())));
    assert_eq!(check(&["POST /open/{x}"]), Ok((64, String::new())));
    assert_eq!(check(&["POST /run", "POST /open/{x}"]), Ok((64, String::new())));
    assert_eq!(check(&["POST /open/{x}", "PUT /run"]), Ok((65, "the policy has no route `PUT /run`".to_owned())));
    assert_eq!(Host::without_gate().over(null_mut()).say(37, &[]), Err(INVALID));
}

/// With a gate, the answer states how it charges. No call of a ledger's gate could be charged without an account.
#[test]
fn a_gate_states_how_it_charges() {
    let functions = || vec![put(1, b"POST /open/{x}")];
    let said = |host: &Host, number, fields: &[Vec<u8>]| {
        let answer = host.say(number, fields).unwrap();
        assert!(matches!((answer.0, &*answer.text(2)), (64, "info" | "warning") | (65, _)), "{answer:?}");
        (answer.0, if answer.0 == 64 { answer.text(2) + " " + &answer.text(1) } else { answer.text(2) })
    };
    let host = Host::new(&[]).over(compiled(POLICY));
    let (number, text) = said(&host, 14, &[]);
    let start = "warning charging: no ledger, so only the handlers can charge; routes that consume orbs: 3, such as `";
    assert!(number == 64 && text.starts_with(start) && text.ends_with(": none"), "{text}");
    let (number, text) = said(&host, 37, &functions());
    assert!(number == 65 && text.starts_with("1:1: no issuer of the token configuration has `account`, so "), "{text}");
    let (number, text) = said(&charging(), 37, &functions());
    let start = "warning charging: in a ledger; routes that consume orbs: 3, such as `";
    let end = "`: user `sub`, organisation none; of `https://login.example.org/v2`: none";
    assert!(number == 64 && text.starts_with(start) && text.ends_with(end), "{text}");
    let free = Host::new(&[]).over(compiled("orbgate: 1\napis: {}\n"));
    let (number, text) = said(&free, 14, &[]);
    assert!(number == 64 && text.starts_with("info charging: no ledger; routes that consume orbs: 0; "), "{text}");
}

/// A gate whose tokens have an account, and whose keys are there.
fn charging() -> Host {
    let tokens = TOKENS.replacen("    algorithms", "    account: { user: subject }\n    algorithms", 1);
    let host = Host::without_gate().over(compiled(POLICY));
    assert_eq!(host.say(2, &[put(1, tokens.as_bytes()), put(4, &[])]), Ok(Said(64, Vec::new())));
    assert_eq!(ask(&host, "/run", &[]).0, 67);
    assert_eq!(host.serve().len(), 2);
    host
}

fn ask(host: &Host, target: &str, more: &[Vec<u8>]) -> Said {
    let method: &[u8] = if target == "/free" { b"GET" } else { b"POST" };
    let bearer = format!("Bearer {}", TOKEN.trim());
    let fields = [put(1, method), put(2, target.as_bytes()), put(3, bearer.as_bytes()), integer(13, TIME)];
    host.say(3, &[&fields, more].concat()).unwrap()
}

/// The answer after the signature was checked.
fn verified(host: &Host, target: &str, more: &[Vec<u8>]) -> Said {
    assert_eq!(ask(host, target, more).0, 68);
    host.say(5, &[put(1, &[]), integer(3, TIME)]).unwrap()
}

#[test]
fn a_call_about_to_run_states_what_to_hold() {
    let host = charging();
    let charges = put(20, &[]);
    let charge = verified(&host, "/run", &[charges.clone(), put(10, &[])]);
    let told = (charge.0, charge.text(1), charge.integer(2), charge.bytes(3));
    assert_eq!(told, (90, format!("{ISSUER}#user-7"), 10, Some(&b""[..])));
    assert!(charge.text(4).starts_with("POST /run sha256:"), "{}", charge.text(4));
    assert_eq!((charge.bytes(7), charge.text(8)), (None, String::new()), "neither is asked for");
    let named = [charges.clone(), put(11, &[]), put(28, &[7; 16])];
    let charge = verified(&host, "/run", &named);
    let line: Value = serde_json::from_str(&charge.text(7)).unwrap();
    assert_eq!((&line["decision"], &line["hold_id"]), (&json!("allow"), &json!(charge.text(8))));
    assert_eq!(charge.text(8), "07".repeat(16));
    let function = |amount| [charges.clone(), put(21, &[]), integer(22, amount)];
    let charge = verified(&host, "/open/1", &function(7));
    assert_eq!((charge.0, charge.integer(2), charge.bytes(3)), (90, 7, None));
    assert_eq!(verified(&host, "/run", &function(0)).integer(2), 0, "0 holds nothing");
    assert_eq!(verified(&host, "/free", from_ref(&charges)).0, 66);
    // 22 without 21: the policy's.
    assert_eq!(verified(&host, "/run", &[charges.clone(), integer(22, 3)]).integer(2), 10);
    let refused = |target: &str, more: &[Vec<u8>]| {
        let denied = verified(&host, target, more);
        (denied.0, denied.integer(2), denied.integer(14))
    };
    assert_eq!(refused("/open/1", from_ref(&charges)), (66, 402, 0), "no amount");
    assert_eq!(refused("/run", &[charges.clone(), put(25, &[])]), (66, 402, 0), "the function failed");
    let failed_late = [charges.clone(), put(21, &[]), integer(22, 3), put(25, &[])];
    assert_eq!(refused("/run", &failed_late), (66, 402, 0), "whatever it has returned");
    assert_eq!(refused("/run", &function(1 << 53)), (66, 402, 0), "no account has as many");
    let unpaid = |number, retry_after| [charges.clone(), integer(23, number), integer(24, retry_after)];
    for (number, retry_after, expected) in
        [(1, 0, (66, 402, 0)), (2, 1, (66, 402, 1)), (3, 1500, (66, 402, 2)), (UNAVAILABLE, 0, (66, 503, 1))]
    {
        assert_eq!(refused("/run", &unpaid(number, retry_after)), expected, "{number}");
    }
    assert_eq!(verified(&host, "/free", &unpaid(1, 0)).integer(2), 0, "it consumes nothing");
    let unknown = host.say(3, &[put(1, b"POST"), put(2, b"/run"), integer(23, 5)]);
    assert_eq!(unknown, Err(INVALID));
    let host = Host::new(&[]).over(compiled(POLICY));
    assert_eq!(ask(&host, "/run", &[]).0, 67);
    assert_eq!(host.serve().len(), 2);
    let denied = verified(&host, "/run", &[charges]);
    assert_eq!((denied.integer(2), denied.text(6)), (401, "no_account".to_owned()));
}

/// Its token was verified once.
#[test]
fn a_step_keeps_an_allowed_call_for_another_question() {
    let host = charging();
    let (keeps, charges) = (put(26, &[]), put(20, &[]));
    let more = |target: &str, fields: &[Vec<u8>]| {
        let fields = [&[put(1, b"POST"), put(2, target.as_bytes()), put(27, &[]), integer(13, TIME)], fields].concat();
        host.say(3, &fields)
    };
    assert_eq!(verified(&host, "/run", from_ref(&keeps)).integer(2), 0);
    // What the body allows, without a token in the question.
    let with_bonus = [keeps.clone(), put(10, &[]), put(11, &[]), put(15, &[])];
    let audited = more("/run", &with_bonus).unwrap().text(9);
    assert!(audited.contains("\"bonus_allowed\":true"), "{audited}");
    let charge = more("/run", &[keeps.clone(), charges.clone(), put(10, &[])]).unwrap();
    assert_eq!((charge.0, charge.bytes(3)), (90, Some(&b""[..])));
    let denied = more("/run", &[charges.clone(), integer(23, 1)]).unwrap();
    assert_eq!((denied.integer(2), denied.part(10).text(4)), (402, "user-7".to_owned()));
    assert_eq!(more("/run", from_ref(&charges)), Err(INVALID), "it isn't kept any longer");
    // Another target is decided by itself, and its denial ends the request.
    verified(&host, "/run", from_ref(&keeps));
    assert_eq!(more("/other", from_ref(&keeps)).unwrap().integer(2), 403);
    assert_eq!(more("/run", &[]), Err(INVALID));
    for (target, fields) in [("/run", vec![]), ("/free", vec![keeps.clone()]), ("/other", vec![keeps.clone()])] {
        verified(&host, target, &fields);
        assert_eq!(more("/run", &[]), Err(INVALID), "nothing is kept of {target}");
    }
    verified(&host, "/run", from_ref(&keeps));
    assert_eq!(host.say(16, &[]), Ok(Said(64, Vec::new())));
    assert_eq!(more("/run", &[]), Err(INVALID), "it is dropped");
    assert_eq!(ask(&host, "/run", from_ref(&keeps)).0, 68);
    assert_eq!(more("/run", &[]), Err(INVALID), "it wasn't allowed yet");
    verified(&host, "/run", &[keeps]);
    assert_eq!(ask(&host, "/run", &[]).0, 68, "without `again`, its token is verified");
}
