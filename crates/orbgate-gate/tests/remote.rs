//! Holds in a ledger service, over a network that loses messages. The service is the ledger's model.

use core::time::Duration;

use orbgate::Detail;
use orbgate_gate::{HandlerOutcome, HoldId, HoldStep, LedgerCall, LedgerReply, RemoteHolds, Unpaid};
use orbgate_ledger::{
    AccountId, Answer, Balance, Command, Error, Extend, Grant, Hold, Id, Millis, Model, Orbs, Order, Settle,
};
use orbgate_testing::random::Random;
use serde_json::{Value, json};

use crate::orbs::{command, orb_rules};

const fn at(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A service with 100 orbs of one account.
struct Service(Model);

impl Service {
    fn new() -> Self {
        let mut model = Model::new(Order::default());
        let (id, account) = (Id::new("g").unwrap(), AccountId::new("a").unwrap());
        let grant = Grant::new(id, account, Orbs::new(100).unwrap());
        model.run(&Command::Grant(grant), Millis::new(0).unwrap()).unwrap();
        Self(model)
    }

    fn run(&mut self, command: &Command, now: Duration) -> Result<Value, Error> {
        let now = Millis::new(u64::try_from(now.as_millis()).unwrap()).unwrap();
        self.0.run(command, now).map(|answer| match answer {
            Answer::Hold(answer) => json!(answer),
            Answer::Extended(done) => json!(done),
            Answer::Settled(done) => json!(done),
            other => json!({ "error": format!("{other:?}") }),
        })
    }

    fn answer(&mut self, call: &LedgerCall, now: Duration) -> (u16, Vec<u8>) {
        let commands: Vec<Command> = match call.path {
            "/v1/hold" => {
                let command = Command::Hold(serde_json::from_str::<Hold>(&call.body).unwrap());
                return match self.run(&command, now) {
                    Ok(answer) => (200, answer.to_string().into_bytes()),
                    Err(error) => (409, json!({ "error": error.code() }).to_string().into_bytes()),
                };
            }
            "/v1/extend" => {
                let commands: Vec<Extend> = serde_json::from_str(&call.body).unwrap();
                commands.into_iter().map(Command::Extend).collect()
            }
            "/v1/settle" => {
                let commands: Vec<Settle> = serde_json::from_str(&call.body).unwrap();
                commands.into_iter().map(Command::Settle).collect()
            }
            other => panic!("{other}"),
        };
        assert!(commands.len() <= 500);
        let answers = commands.iter().map(|command| match self.run(command, now) {
            Ok(answer) => answer,
            Err(error) => json!({ "error": error.code() }),
        });
        (200, json!(answers.collect::<Vec<_>>()).to_string().into_bytes())
    }

    fn balance(&mut self) -> Balance {
        let command = Command::Balance(AccountId::new("a").unwrap());
        match self.0.run(&command, Millis::new(1 << 40).unwrap()).unwrap() {
            Answer::Balance(balance) => balance,
            other => panic!("{other:?}"),
        }
    }
}

fn called(step: HoldStep) -> LedgerCall {
    match step {
        HoldStep::Call(call) => call,
        other => panic!("{other:?}"),
    }
}

/// Reports the answer of a service that answers.
fn held(holds: &mut RemoteHolds, service: &mut Service, id: HoldId, call: &LedgerCall, now: Duration) -> HoldStep {
    let (status, body) = service.answer(call, now);
    holds.held(id, Some(LedgerReply { status, body: &body }), now, now)
}

/// Sends everything that the thread has to send.
fn settle(holds: &mut RemoteHolds, service: &mut Service, now: Duration) -> usize {
    let mut count = 0;
    while let Some(call) = holds.next_call(now) {
        let (status, body) = service.answer(&call, now);
        holds.called(call.number, Some(LedgerReply { status, body: &body }), now);
        count += 1;
    }
    count
}

fn start(holds: &mut RemoteHolds, service: &mut Service, number: u8, now: Duration) -> HoldId {
    let id = command(number).id;
    let call = called(holds.hold(command(number), now));
    assert_eq!(held(holds, service, id, &call, now), HoldStep::Run);
    id
}

#[test]
fn outcomes_charge_once() {
    let cancelled = HandlerOutcome::Cancelled;
    let table = [
        (Some(HandlerOutcome::Status(200)), None, 95),
        (Some(HandlerOutcome::Status(200)), Some(2), 98),
        (Some(HandlerOutcome::Status(200)), Some(50), 95),
        (Some(HandlerOutcome::Status(500)), Some(50), 100),
        (Some(HandlerOutcome::Failed), None, 100),
        (Some(cancelled), None, 100),
        (Some(HandlerOutcome::Broken), Some(50), 100),
        (None, None, 100),
    ];
    for (outcome, stated, left) in table {
        let (mut holds, mut service) = (RemoteHolds::new(orb_rules()), Service::new());
        let id = start(&mut holds, &mut service, 1, at(0));
        let notice = match outcome {
            Some(outcome) => holds.ended(id, outcome, None, stated, at(10)),
            None => {
                holds.not_run(id, at(10));
                None
            }
        };
        let is_over = stated == Some(50) && left < 100;
        assert_eq!(
            notice.map(|notice| notice.text.contains("50 orbs for a hold of 5: 5 are")),
            is_over.then_some(true)
        );
        // A second report changes nothing.
        assert_eq!(holds.ended(id, HandlerOutcome::Status(200), None, Some(50), at(11)), None);
        assert_eq!(settle(&mut holds, &mut service, at(20)), 1);
        assert_eq!((holds.settling(), holds.lost(), holds.wake()), (0, 0, Some(at(20_000))), "only the heartbeat");
        assert_eq!(settle(&mut holds, &mut service, at(20_000)), 0);
        assert_eq!(holds.wake(), None);
        let balance = service.balance();
        assert_eq!((balance.posted.get(), balance.held.get()), (left, 0), "{outcome:?}");
        let counts = holds.settled();
        let is_captured = u64::from(left < 100);
        assert_eq!((counts.captured, counts.voided, counts.orbs), (is_captured, 1 - is_captured, 100 - left));
        assert_eq!((counts.over, counts.excess), if is_over { (1, 45) } else { (0, 0) });
    }
}

#[test]
fn a_lost_answer_is_asked_again_and_charged_once() {
    let (mut holds, mut service) = (RemoteHolds::new(orb_rules()), Service::new());
    let id = command(1).id;
    let call = called(holds.hold(command(1), at(0)));
    assert_eq!(call.timeout, at(2000));
    // It arrives, but its answer is lost.
    service.answer(&call, at(0));
    assert_eq!(holds.held(id, None, at(100), at(100)), HoldStep::Wait(at(150)));
    let again = called(holds.waited(id, at(150)));
    assert_eq!((&again.body, again.timeout), (&call.body, at(1850)));
    assert_eq!(held(&mut holds, &mut service, id, &again, at(160)), HoldStep::Run);
    holds.ended(id, HandlerOutcome::Status(200), None, None, at(200));
    // So is that of the settlement.
    let call = holds.next_call(at(200)).unwrap();
    service.answer(&call, at(200));
    holds.called(call.number, None, at(210));
    assert_eq!(holds.next_call(at(210)), None);
    let wake = holds.wake().unwrap();
    let again = holds.next_call(wake).unwrap();
    assert_eq!(again.body, call.body);
    let (status, body) = service.answer(&again, wake);
    holds.called(again.number, Some(LedgerReply { status, body: &body }), wake);
    assert_eq!((holds.settling(), holds.lost()), (0, 0));
    assert_eq!(service.balance().posted.get(), 95);
}

/// A wrong secret shows at the start, and again until the service has taken one message.
#[test]
fn the_first_message_shows_a_wrong_secret() {
    let (mut holds, mut service) = (RemoteHolds::new(orb_rules()), Service::new());
    for (now, answer) in [(0, None), (20_000, Some(401)), (40_000, Some(503))] {
        assert_eq!(holds.wake(), Some(at(now)));
        assert_eq!(now.checked_sub(1).and_then(|before| holds.next_call(at(before))), None);
        let call = holds.next_call(at(now)).unwrap();
        assert_eq!((call.path, call.body.as_str(), call.timeout), ("/v1/extend", "[]", at(2000)));
        assert_eq!(holds.next_call(at(now)), None);
        let reply = answer.map(|status| LedgerReply { status, body: b"[]" });
        holds.called(call.number, reply, at(now));
    }
    assert_eq!(settle(&mut holds, &mut service, at(60_000)), 1);
    assert_eq!((holds.next_call(at(200_000)), holds.wake()), (None, None));
    // Any message shows it.
    let mut holds = RemoteHolds::new(orb_rules());
    start(&mut holds, &mut service, 1, at(0));
    assert_eq!((holds.next_call(at(0)), holds.wake()), (None, Some(at(20_000))), "only the heartbeat");
}

/// Calls end long before their holds expire, and callers that were denied together don't come back together.
#[test]
fn a_temporary_denial_says_come_back_soon_but_not_all_at_once() {
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..=255_u8 {
        let id = HoldId::new([number; 16]);
        let retry = |expires_in| match Unpaid::insufficient(Detail::TemporarilyHeld, id, expires_in) {
            Unpaid::Insufficient { retry_after, .. } => retry_after,
            other => panic!("{other:?}"),
        };
        let soon = retry(Some(at(60_000))).unwrap();
        assert!(soon <= at(4_000), "{soon:?}");
        seen.insert(soon.as_millis().div_ceil(1000));
        assert_eq!(retry(Some(at(60_000))), Some(soon));
        assert!(retry(Some(at(3))).unwrap() <= at(3));
        assert_eq!(retry(None), None);
    }
    assert!([1, 2, 3, 4].iter().all(|second| seen.contains(second)), "{seen:?}");
}

#[test]
fn an_empty_account_and_a_silent_service_deny() {
    let (mut holds, mut service) = (RemoteHolds::new(orb_rules()), Service::new());
    let ids: Vec<_> = (0..20).map(|number| start(&mut holds, &mut service, number, at(0))).collect();
    let id = command(99).id;
    let call = called(holds.hold(command(99), at(0)));
    let denied = Unpaid::insufficient(Detail::TemporarilyHeld, id, Some(at(60_000)));
    assert_eq!(held(&mut holds, &mut service, id, &call, at(0)), HoldStep::Deny(denied));
    for id in ids {
        holds.ended(id, HandlerOutcome::Status(200), None, None, at(1));
    }
    assert_eq!(settle(&mut holds, &mut service, at(1)), 1, "one message for all");
    let call = called(holds.hold(command(99), at(2)));
    let denied = Unpaid::Insufficient { detail: Detail::Insufficient, retry_after: None };
    assert_eq!(held(&mut holds, &mut service, id, &call, at(2)), HoldStep::Deny(denied));
    // After the timeout the call is denied, and its hold is voided, even if it comes later.
    let call = called(holds.hold(command(98), at(10)));
    let denied = HoldStep::Deny(Unpaid::Unavailable);
    assert_eq!(holds.held(command(98).id, None, at(2010), at(2010)), denied);
    assert_eq!(settle(&mut holds, &mut service, at(2010)), 1);
    assert_eq!(service.answer(&call, at(2011)).0, 409);
    // What a service of something else answers.
    for (status, body) in [(401, "{}"), (200, "{\"hold\":\"held\",\"state\":\"expired\"}")] {
        let _ = called(holds.hold(command(97), at(3000)));
        let reply = LedgerReply { status, body: body.as_bytes() };
        assert_eq!(holds.held(command(97).id, Some(reply), at(3000), at(3000)), denied, "{status} {body}");
    }
    // It might be held, so it is asked again until the timeout, and then voided.
    for (start, body) in [(4000, "<html>"), (14_000, "{}")] {
        let (id, start) = (command(90).id, at(start));
        let _ = called(holds.hold(command(90), start));
        let reply = LedgerReply { status: 200, body: body.as_bytes() };
        let HoldStep::Wait(until) = holds.held(id, Some(reply), start, start) else {
            panic!("{body}");
        };
        let _ = called(holds.waited(id, until));
        let late = start + at(2000);
        assert_eq!(holds.held(id, Some(reply), late, late), denied, "{body}");
        assert_eq!(settle(&mut holds, &mut service, late), 1, "{body}");
    }
}

#[test]
fn one_message_extends_all_running_calls() {
    let (mut holds, mut service) = (RemoteHolds::new(orb_rules()), Service::new());
    let ids: Vec<_> = (0..3).map(|number| start(&mut holds, &mut service, number, at(0))).collect();
    let beat = holds.next_call(at(20_000)).unwrap();
    assert_eq!(beat.path, "/v1/extend");
    let commands: Value = serde_json::from_str(&beat.body).unwrap();
    assert_eq!(commands.as_array().unwrap().len(), 3);
    let (status, body) = service.answer(&beat, at(20_000));
    holds.called(beat.number, Some(LedgerReply { status, body: &body }), at(20_010));
    assert_eq!(holds.next_call(at(20_010)), None);
    for now in [40_000, 60_000, 80_000] {
        assert_eq!(settle(&mut holds, &mut service, at(now)), 1);
    }
    holds.ended(ids[0], HandlerOutcome::Status(200), None, None, at(81_000));
    assert_eq!(settle(&mut holds, &mut service, at(81_000)), 1);
    assert_eq!(service.balance().posted.get(), 95);
}

/// Settlements that never cease hold no extension up, and one that waits for long is sent once.
#[test]
fn extensions_go_before_settlements() {
    let (mut holds, mut service) = (RemoteHolds::new(orb_rules()), Service::new());
    let ids: Vec<_> = (0..3).map(|number| start(&mut holds, &mut service, number, at(0))).collect();
    holds.ended(ids[0], HandlerOutcome::Status(200), None, None, at(1));
    for now in [20_000, 40_000] {
        let beat = holds.next_call(at(now)).unwrap();
        assert_eq!(beat.path, "/v1/extend", "{now}");
        holds.called(beat.number, None, at(now));
        assert_eq!(holds.wake(), Some(Duration::ZERO), "the settlement waits");
    }
    let sent = holds.next_call(at(40_000)).unwrap();
    let commands: Value = serde_json::from_str(&sent.body).unwrap();
    assert_eq!((sent.path, commands.as_array().unwrap().len()), ("/v1/settle", 1));
}

/// Any answer that isn't one receipt for each settlement counts as lost, or as refused for the settlement with the error.
#[test]
fn a_settlement_is_done_only_by_its_receipt() {
    let table: [(u16, &str, usize, u64); 8] = [
        (200, "[]", 1, 0),
        (200, "[{}]", 1, 0),
        (200, "[{\"at\":1},{\"at\":1}]", 1, 0),
        (200, "null", 1, 0),
        (401, "[{\"at\":1}]", 1, 0),
        (200, "[{\"error\":\"busy\"}]", 1, 0),
        (200, "[{\"error\":\"settled\"}]", 0, 1),
        (200, "[{\"at\":1}]", 0, 0),
    ];
    for (status, body, settling, lost) in table {
        let (mut holds, mut service) = (RemoteHolds::new(orb_rules()), Service::new());
        let id = start(&mut holds, &mut service, 1, at(0));
        holds.ended(id, HandlerOutcome::Status(200), None, None, at(1));
        let call = holds.next_call(at(1)).unwrap();
        holds.called(call.number, Some(LedgerReply { status, body: body.as_bytes() }), at(2));
        assert_eq!((holds.settling(), holds.lost()), (settling, lost), "{status} {body}");
    }
}

#[test]
fn a_full_queue_denies_and_a_caller_who_leaves_voids() {
    let mut rules = orb_rules();
    rules.queue = 1;
    let (mut holds, mut service) = (RemoteHolds::new(rules), Service::new());
    let id = start(&mut holds, &mut service, 1, at(0));
    holds.ended(id, HandlerOutcome::Status(200), None, None, at(1));
    assert_eq!(holds.hold(command(2), at(2)), HoldStep::Deny(Unpaid::Unavailable));
    assert_eq!(settle(&mut holds, &mut service, at(3)), 1);
    // Its caller leaves while it waits, and the service gets the void before the hold.
    let call = called(holds.hold(command(2), at(4)));
    holds.not_run(command(2).id, at(5));
    assert_eq!(settle(&mut holds, &mut service, at(6)), 1);
    assert_eq!(service.answer(&call, at(7)).0, 409);
    assert_eq!(service.balance().available.get(), 95);
}

/// Every message may be lost, before or after it is done. What ran and succeeded is charged exactly once.
#[test]
fn nothing_is_charged_twice_over_a_bad_network() {
    for seed in 1..200_u64 {
        let (mut holds, mut service) = (RemoteHolds::new(orb_rules()), Service::new());
        let mut random = Random::new(seed);
        let mut chance = |of: u64| random.below(of);
        let (mut now, mut charged) = (at(0), 0);
        for number in 0..12 {
            let id = command(number).id;
            let mut step = holds.hold(command(number), now);
            let runs = loop {
                now += at(1 + chance(20));
                step = match step {
                    HoldStep::Run => break true,
                    HoldStep::Deny(unpaid) => {
                        assert_eq!(unpaid, Unpaid::Unavailable);
                        break false;
                    }
                    HoldStep::Wait(until) => {
                        now = now.max(until);
                        holds.waited(id, now)
                    }
                    HoldStep::Call(call) => match chance(4) {
                        0 => holds.held(id, None, now, now),
                        1 => {
                            service.answer(&call, now);
                            holds.held(id, None, now, now)
                        }
                        _ => held(&mut holds, &mut service, id, &call, now),
                    },
                };
            };
            if runs && chance(3) > 0 {
                charged += 5;
                holds.ended(id, HandlerOutcome::Status(200), None, None, now);
            } else if runs {
                holds.ended(id, HandlerOutcome::Failed, None, None, now);
            }
            while let Some(call) = holds.next_call(now) {
                let (status, body) = service.answer(&call, now);
                let is_lost = chance(2) == 0;
                holds.called(call.number, (!is_lost).then_some(LedgerReply { status, body: &body }), now);
            }
        }
        while holds.settling() > 0 {
            now = now.max(holds.wake().unwrap());
            settle(&mut holds, &mut service, now);
        }
        let balance = service.balance();
        assert_eq!((holds.lost(), balance.posted.get(), balance.held.get()), (0, 100 - charged, 0), "seed {seed}");
        assert_eq!(json!(service.0.verify())["found"], json!([]), "seed {seed}");
    }
}

/// The log has a failure once, with the service's own reason, and once that it is over.
#[test]
fn a_notice_has_the_reason_of_the_service() {
    const URL: &str = "http://127.0.0.1:9186";

    let mut holds = RemoteHolds::new(orb_rules());
    let mut said = |status: u16, body: &str| {
        let reply = if status == 0 { Err(body) } else { Ok(LedgerReply { status, body: body.as_bytes() }) };
        let notice = holds.notice(URL, reply)?;
        let text = notice.text.strip_prefix("the ledger http://127.0.0.1:9186: ").unwrap().to_owned();
        Some((notice.level.as_str(), text))
    };
    let warning = |text: &str| Some(("warning", text.to_owned()));
    let again = Some(("info", "it answers again".to_owned()));
    // What is well isn't logged.
    assert_eq!(said(200, "[]"), None);
    let full = r#"{"error":"unknown","message":"the ledger has stopped: sqlite: database or disk is full"}"#;
    assert_eq!(said(503, full), warning("status 503: the ledger has stopped: sqlite: database or disk is full"));
    // The same failure: in other words, of a settlement.
    assert_eq!(said(503, r#"{"error":"unknown","message":"postgres: base/16384/2602: No space left"}"#), None);
    assert_eq!(said(200, &format!("[{full}]")), None);
    assert_eq!(said(200, r#"[{"at":1,"state":"voided"}]"#), again);
    assert_eq!(said(200, r#"[{"at":1},{"error":"unknown","message":"it has stopped"}]"#), warning("it has stopped"));
    // A command that can never be done is no failure of the service.
    assert_eq!(said(200, r#"[{"error":"unknown_hold","message":"no hold has this id"}]"#), again);
    assert_eq!(
        said(503, r#"{"error":"busy","message":"too many commands at once"}"#),
        warning("status 503: too many commands at once")
    );
    assert_eq!(said(401, r#"{"error":"unauthorized","message":"x"}"#), warning("status 401, so its secret is wrong"));
    assert_eq!(said(0, "ECONNREFUSED"), warning("ECONNREFUSED instead of an answer"));
    assert_eq!(said(0, "ECONNREFUSED"), None);
    assert_eq!(said(0, ""), warning("no answer"));
    assert_eq!(said(200, "{}"), again);
    // What isn't the service's own words isn't logged, such as a proxy's page.
    for body in ["<html>Bad Gateway</html>", "", "[]", "{\"error\":\"busy\"}", "{\"error\":1,\"message\":2}", "\u{ff}"]
    {
        assert_eq!(said(200, "{}"), None);
        assert_eq!(said(502, body), warning("status 502"), "{body}");
        assert_eq!(said(200, "{}"), again);
    }
    // One line of at most 300 characters.
    let long = format!("a\\r\\n\\t b\\u0000c\\u2028d\\u0085{}", "é".repeat(1_000));
    let long = said(422, &format!(r#"{{"error":"zero","message":"{long}"}}"#)).unwrap().1;
    assert_eq!(long, format!("status 422: a b c d {}…", "é".repeat(292)));
}
