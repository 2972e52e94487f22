//! The orbs of calls: which call holds, what outcomes mean, and what is sent to a ledger when.

use core::time::Duration;
use std::sync::Arc;

use orbgate::{Detail, Engine, Policy, Reason, Token, TokenKind};
use orbgate_gate::{
    Amount, Answer, Challenge, ChargedBy, Charging, CorsPreflight, Credentials, Gate, GateCharges, HandlerOutcome,
    HoldAnswer, HoldCommand, HoldId, Holds, Matched, OnCancelled, OrbRules, Output, PublicRoutes, Request, Rules,
    SettleAnswer, Settlement, Statement, Unpaid, Verified,
};
use orbgate_token::{NoticeLevel, Verifier};

use crate::answered;

/// A token with every scope and perhaps an account.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Holder(Option<&'static str>);

impl Verified for Holder {
    fn token(&self) -> Token<'_> {
        Token { kind: TokenKind::User, scopes: "free fixed open".into() }
    }

    fn account(&self) -> Option<&str> {
        self.0
    }
}

fn engine() -> Engine {
    let policy = "\
orbgate: 1
name: orbs
apis:
  a:
    base_path: ''
    scopes:
      free: { orbs: false, routes: [GET /free] }
      fixed: { orbs: true, routes: [{ route: POST /fixed, orbs: 5 }, { route: POST /huge, orbs: 9007199254740992 }] }
      open: { orbs: true, routes: ['POST /open/{id}'] }
";
    Engine::new(&Policy::from_yaml(policy).unwrap())
}

fn rules() -> Rules {
    let mut rules = Rules::new();
    rules.public = Some(Arc::new(PublicRoutes::new(["GET /healthz"]).unwrap()));
    rules.cors_preflight = CorsPreflight::Pass;
    rules
}

fn request<'r>(method: &'r str, target: &'r str) -> Request<'r> {
    Request { method: method.as_bytes(), target: target.as_bytes(), ..Request::default() }
}

fn ask<'e>(
    rules: &Rules,
    engine: &'e Engine,
    request: &Request<'_>,
    account: Option<&'static str>,
) -> Answer<'e, Holder> {
    answered(Gate::new(rules, ()).decide(engine, request, Credentials::Token(Holder(account))))
}

const fn of_policy(_: &orbgate::Route<'_>, _: &Holder) -> Amount {
    Amount::OfPolicy
}

pub(crate) const fn orb_rules() -> OrbRules {
    OrbRules::new(OnCancelled::Void)
}

fn charge(answer: &Answer<'_, Holder>, amount: Amount) -> Charging {
    orb_rules().charge(answer, |_, _| amount, [7; 16])
}

#[test]
fn only_an_allowed_call_that_consumes_holds() {
    let (rules, engine) = (rules(), engine());
    let preflight: &[&[u8]] = &[b"https://app.example"];
    let nothing = [
        request("GET", "/free"),
        request("GET", "/healthz"),
        request("HEAD", "/fixed"),
        request("POST", "/nowhere"),
        request("POST", "/fixed/"),
        Request { matched: Matched::Unknown, ..request("POST", "/fixed") },
        Request { origin: preflight, access_control_request_method: &[b"POST"], ..request("OPTIONS", "/fixed") },
    ];
    for request in nothing {
        let answer = ask(&rules, &engine, &request, Some("a"));
        let never = |_: &orbgate::Route<'_>, _: &Holder| panic!("{request:?}");
        assert_eq!(orb_rules().charge(&answer, never, [7; 16]), Charging::Nothing, "{request:?}");
    }
    let refused =
        Gate::new(&rules, ()).decide::<Holder>(&engine, &request("POST", "/fixed"), Credentials::Refused("x"));
    assert_eq!(charge(&answered(refused), Amount::OfPolicy), Charging::Nothing);

    let answer = ask(&rules, &engine, &request("POST", "/fixed"), Some("a"));
    let Charging::Hold(hold) = charge(&answer, Amount::OfPolicy) else {
        panic!("{answer:?}");
    };
    assert_eq!((&*hold.account, hold.amount, hold.bonus, hold.ttl), ("a", 5, false, Duration::from_secs(60)));
    assert_eq!(hold.id.to_string(), "07".repeat(16));
    assert_eq!(hold.note, format!("POST /fixed {}", engine.digest()));
    let Charging::Hold(hold) = charge(&answer.allowing_bonus_orbs(), Amount::Of(9)) else {
        panic!("it consumes");
    };
    assert_eq!((hold.amount, hold.bonus), (9, true));
}

#[test]
fn a_call_without_an_amount_or_an_account_is_denied() {
    let (rules, engine) = (rules(), engine());
    let charged =
        |target: &str, account, amount| charge(&ask(&rules, &engine, &request("POST", target), account), amount);
    let long: &'static str = "a".repeat(513).leak();
    for account in [None, Some(""), Some("a\n"), Some(long)] {
        assert_eq!(charged("/fixed", account, Amount::Of(0)), Charging::Deny(Unpaid::NoAccount), "{account:?}");
    }
    assert_eq!(charged("/open/1", Some("a"), Amount::OfPolicy), Charging::Deny(Unpaid::NoAmount));
    assert_eq!(charged("/fixed", Some("a"), Amount::Failed), Charging::Deny(Unpaid::NoAmount));
    assert_eq!(charged("/open/1", Some("a"), Amount::Of(0)), Charging::Nothing);
    let too_many = Charging::Deny(Unpaid::Insufficient { detail: Detail::Insufficient, retry_after: None });
    assert_eq!(charged("/huge", Some("a"), Amount::OfPolicy), too_many);
    assert_eq!(charged("/open/1", Some("a"), Amount::Of(u64::MAX)), too_many);
}

#[test]
fn routes_without_an_amount_are_found() {
    let error = OrbRules::check_amounts(&engine(), &[]).unwrap_err();
    assert_eq!(error.routes(), ["POST /open/{id}"]);
    let text = "`POST /open/{id}` consumes orbs, but neither the policy nor a function states how many";
    assert_eq!(error.to_string(), text);
    assert_eq!(OrbRules::check_amounts(&engine(), &["POST /open/{id}".to_owned()]), Ok(()));
}

/// Three issuers: `account` for both kinds or one, and for none.
fn issuers(accounts: [&str; 3]) -> Verifier {
    let kinds =
        ["{ user: [{ claim: k, equals: u }], organisation: [{ claim: k, equals: o }] }", "user", "organisation"];
    let issuer = |(number, (account, kind)): (usize, (&str, &str))| {
        format!("  - {{ issuer: 'https://{number}.test', audience: a, kind: {kind}{account} }}\n")
    };
    let issuers: String = accounts.into_iter().zip(kinds).enumerate().map(issuer).collect();
    Verifier::from_yaml(&format!("orbgate_token: 1\nissuers:\n{issuers}")).unwrap()
}

#[test]
fn a_gate_states_how_it_charges() {
    let free = "orbgate: 1\napis: { a: { base_path: '', scopes: { free: { orbs: false, routes: [GET /free] } } } }\n";
    let (paid, free) = (engine(), Engine::new(&Policy::from_yaml(free).unwrap()));
    let both = ", account: { claim: org }";
    let all = issuers([both, ", account: client", ", account: subject"]);
    let some = issuers([", account: { user: subject }", both, ""]);
    let none = issuers(["", "", ""]);
    let stated = |routes: &[&str]| ChargedBy::Ledger(routes.iter().map(ToString::to_string).collect());
    let open = stated(&["POST /open/{}"]);
    let of_all = "account of `https://0.test`: `org`; of `https://1.test`: `client_id`; of `https://2.test`: `sub`";
    let of_some = "account of `https://0.test`: user `sub`, organisation none; of `https://1.test`: `org`; of `https://2.test`: none";
    let of_none = "account of `https://0.test`: none; of `https://1.test`: none; of `https://2.test`: none";
    let three = "routes that consume orbs: 3, such as `POST /fixed`";
    let function = "a function states the amount of `GET /free`, which consumes none";
    let no_account = "no issuer of the token configuration has `account`, so a gate with a ledger would deny each call that \
                      consumes orbs (routes: 3, such as `POST /fixed`): add `account` to each issuer whose users or clients pay, \
                      for example `account: subject`";
    let (info, warning) = (NoticeLevel::Info, NoticeLevel::Warning);
    let handlers = ChargedBy::Handlers;
    let table = [
        (&handlers, &free, &all, info, format!("charging: no ledger; routes that consume orbs: 0; {of_all}")),
        (
            &handlers,
            &paid,
            &all,
            warning,
            format!("charging: no ledger, so only the handlers can charge; {three}; {of_all}"),
        ),
        (
            &handlers,
            &paid,
            &none,
            warning,
            format!("charging: no ledger, so only the handlers can charge; {three}; {of_none}"),
        ),
        (&open, &paid, &all, info, format!("charging: in a ledger; {three}; {of_all}")),
        (&open, &paid, &some, warning, format!("charging: in a ledger; {three}; {of_some}")),
        (&open, &free, &none, warning, format!("charging: in a ledger; routes that consume orbs: 0; {of_none}")),
        (
            &stated(&["POST /open/{a}", "GET /free"]),
            &paid,
            &all,
            warning,
            format!("charging: in a ledger; {three}; {function}; {of_all}"),
        ),
        (&ChargedBy::Service, &paid, &none, info, format!("charging: only by the service behind the proxy; {three}")),
    ];
    for (by, engine, verifier, level, text) in table {
        let charges = GateCharges::new(by.clone()).with_accounts(verifier.accounts());
        assert_eq!(charges.statement(engine), Ok(Statement { level, text }), "{by:?}");
    }
    let refused = |by: &ChargedBy, verifier: &Verifier| {
        GateCharges::new(by.clone())
            .with_accounts(verifier.accounts())
            .statement(&paid)
            .map_err(|error| error.to_string())
    };
    assert_eq!(refused(&open, &none), Err(no_account.to_owned()));
    let no_amount = "`POST /open/{id}` consumes orbs, but neither the policy nor a function states how many";
    assert_eq!(refused(&stated(&[]), &all), Err(no_amount.to_owned()));
    // Another verifier's tokens might have accounts.
    assert_eq!(GateCharges::new(open).statement(&paid).unwrap().text, format!("charging: in a ledger; {three}"));
}

#[test]
fn a_statement_names_a_few_issuers() {
    let issuers = |count: u32| {
        let issuer =
            |number| format!("  - {{ issuer: 'https://{number}.test', audience: a, kind: user, account: subject }}\n");
        let issuers: String = (0..count).map(issuer).collect();
        let verifier = Verifier::from_yaml(&format!("orbgate_token: 1\nissuers:\n{issuers}")).unwrap();
        GateCharges::new(ChargedBy::Handlers).with_accounts(verifier.accounts()).statement(&engine()).unwrap().text
    };
    assert!(issuers(20).ends_with("; of `https://19.test`: `sub`"));
    assert!(issuers(22).ends_with("; of `https://19.test`: `sub`; and of 2 more issuers"));
}

#[test]
fn each_denial_has_its_status_and_headers() {
    let engine = engine();
    let insufficient = |detail, retry_after| Unpaid::Insufficient { detail, retry_after };
    let wait = |milliseconds| Some(Duration::from_millis(milliseconds));
    let table = [
        (insufficient(Detail::Insufficient, None), "insufficient_orbs insufficient", 402, None),
        (insufficient(Detail::BonusNotAllowed, None), "insufficient_orbs bonus_not_allowed", 402, None),
        (insufficient(Detail::TemporarilyHeld, wait(0)), "insufficient_orbs temporarily_held", 402, Some(1)),
        (insufficient(Detail::TemporarilyHeld, wait(1_001)), "insufficient_orbs temporarily_held", 402, Some(2)),
        (insufficient(Detail::Frozen, None), "insufficient_orbs frozen", 402, None),
        (insufficient(Detail::Byte, None), "insufficient_orbs -", 402, None),
        (Unpaid::NoAmount, "insufficient_orbs -", 402, None),
        (Unpaid::Unavailable, "ledger_unavailable -", 503, Some(1)),
        (Unpaid::NoAccount, "invalid_token -", 401, None),
    ];
    let mut flat = rules();
    flat.flat_403 = true;
    let mut none = rules();
    none.challenge = Challenge::None;
    for (unpaid, expected, status, retry_after) in table {
        for rules in [rules(), flat.clone(), none.clone()] {
            let answer = ask(&rules, &engine, &request("POST", "/fixed"), Some("a"));
            let denied = rules.unpaid(answer, unpaid);
            let (decision, denial) = (denied.decision, denied.denial.clone().unwrap());
            let detail = decision.detail().map_or("-", Detail::as_str);
            assert_eq!(format!("{} {detail}", decision.reason()), expected);
            let is_flat = rules != self::rules() && unpaid != Unpaid::Unavailable;
            let (status, retry_after) = if is_flat { (403, None) } else { (status, retry_after) };
            assert_eq!((denial.status, denial.retry_after), (status, retry_after), "{unpaid:?}");
            // The policy's route, unless the token is invalid; for the log always.
            assert_eq!(decision.about().unwrap().as_str(), "POST /fixed");
            let named = decision.route_name().zip(decision.scope().map(|scope| scope.name()));
            let (refused, expected) = match unpaid {
                Unpaid::NoAccount => (Some("no_account"), None),
                _ => (None, Some(("POST /fixed", "fixed"))),
            };
            assert_eq!((denied.refused(), named), (refused, expected));
            assert_eq!((decision.charge(), decision.is_allow()), (None, false));
        }
    }
    // A denial stays what it is.
    let missing = ask(&rules(), &engine, &request("POST", "/nowhere"), Some("a"));
    assert_eq!(rules().unpaid(missing, Unpaid::NoAmount).decision.reason(), Reason::NoRoute);
}

#[test]
fn the_outcome_settles() {
    use Settlement::{Capture, Void};
    let table = [
        (HandlerOutcome::Status(200), Capture(5), Capture(5)),
        (HandlerOutcome::Status(101), Capture(5), Capture(5)),
        (HandlerOutcome::Status(399), Capture(5), Capture(5)),
        (HandlerOutcome::Status(400), Void, Void),
        (HandlerOutcome::Status(500), Void, Void),
        (HandlerOutcome::Status(0), Void, Void),
        (HandlerOutcome::Grpc(0), Capture(5), Capture(5)),
        (HandlerOutcome::Grpc(1), Void, Void),
        (HandlerOutcome::Failed, Void, Void),
        (HandlerOutcome::Cancelled, Void, Capture(5)),
        (HandlerOutcome::Broken, Void, Capture(5)),
        (HandlerOutcome::NotRun, Void, Void),
    ];
    for (outcome, voiding, capturing) in table {
        for (on_cancelled, expected) in [(OnCancelled::Void, voiding), (OnCancelled::Capture, capturing)] {
            let rules = OrbRules::new(on_cancelled);
            assert_eq!(rules.settlement(outcome, None, 5, None), expected, "{outcome:?}");
            for (stated, kept) in [(0, 0), (2, 2), (5, 5), (9, 5), (u64::MAX, 5)] {
                let expected = if expected == Void { Void } else { Capture(kept) };
                assert_eq!(rules.settlement(outcome, None, 5, Some(stated)), expected, "{outcome:?}");
            }
        }
        // What was stated so far, or nothing; what else succeeds or fails, does as before.
        let rules = OrbRules::new(OnCancelled::Stated);
        let settled = |stated| rules.settlement(outcome, None, 5, stated);
        let is_stopped = matches!(outcome, HandlerOutcome::Cancelled | HandlerOutcome::Broken);
        let (nothing, three) = if is_stopped { (Void, Capture(3)) } else { (voiding, capturing) };
        assert_eq!((settled(None), settled(Some(3)) == Void), (nothing, three == Void), "{outcome:?}");
    }
}

/// The caller left, and the service broke its answer off: each costs what its setting says, and the second what the first says
/// unless it has its own.
#[test]
fn a_caller_who_leaves_and_a_service_that_breaks_cost_apart() {
    let each = [OnCancelled::Capture, OnCancelled::Void, OnCancelled::Stated];
    let cost = |setting, stated: Option<u64>| match (setting, stated) {
        (OnCancelled::Capture, stated) => Settlement::Capture(stated.unwrap_or(5)),
        (OnCancelled::Stated, Some(stated)) => Settlement::Capture(stated),
        _ => Settlement::Void,
    };
    for left in each {
        for broken in each.map(Some).into_iter().chain([None]) {
            let mut rules = OrbRules::new(left);
            rules.on_broken = broken;
            for stated in [None, Some(0), Some(3)] {
                let settled = |outcome| rules.settlement(outcome, None, 5, stated);
                assert_eq!(settled(HandlerOutcome::Cancelled), cost(left, stated));
                assert_eq!(settled(HandlerOutcome::Broken), cost(broken.unwrap_or(left), stated), "{rules:?}");
            }
        }
    }
}

/// A bug of units once took an account's 98,387 orbs for a hold of 30.
#[test]
fn a_statement_over_the_ceiling_is_charged_up_to_it_and_told() {
    let most = (1 << 53) - 1;
    let table = [
        // The hold, the ceiling, what is stated, and what is charged.
        (30, 1, 30, 30),
        (30, 1, 31, 30),
        (30, 1, 98_387, 30),
        (30, 3, 90, 90),
        (30, 3, 91, 90),
        (30, u64::MAX, 98_387, 98_387),
        (30, u64::MAX, u64::MAX, most),
        (most, 2, u64::MAX, most),
    ];
    for (held, ceiling, stated, charged) in table {
        let mut rules = orb_rules();
        rules.ceiling = ceiling;
        let settled = rules.settlement(HandlerOutcome::Status(200), None, held, Some(stated));
        assert_eq!(settled, Settlement::Capture(charged), "{held} {ceiling} {stated}");
        let excess = rules.excess(id(7), held, Some(stated), settled);
        assert_eq!(excess.as_ref().map_or(0, |excess| excess.orbs), stated - charged);
        assert_eq!(excess.is_some(), stated > charged);
    }
    let rules = orb_rules();
    let excess = rules.excess(id(7), 30, Some(98_387), Settlement::Capture(30)).unwrap();
    assert_eq!(excess.statement.level.as_str(), "warning");
    assert_eq!(
        excess.statement.text,
        "a handler has stated 98387 orbs for a hold of 30: 30 are charged, because `ceiling` is 1; hold \
         07070707070707070707070707070707"
    );
    // What isn't charged at all is over no ceiling, and neither is what wasn't stated.
    assert_eq!(rules.excess(id(7), 30, Some(98_387), Settlement::Void), None);
    assert_eq!(rules.excess(id(7), 30, None, Settlement::Capture(30)), None);
}

#[test]
fn rules_that_can_charge_nothing_are_errors() {
    assert_eq!(orb_rules().check(), Ok(()));
    let with = |set: fn(&mut OrbRules)| {
        let mut rules = orb_rules();
        set(&mut rules);
        rules.check()
    };
    assert!(with(|rules| rules.ttl = Duration::from_millis(99)).is_err());
    assert!(with(|rules| rules.ttl = Duration::from_secs(86_401)).is_err());
    assert!(with(|rules| rules.timeout = Duration::ZERO).is_err());
    assert!(with(|rules| rules.timeout = Duration::from_secs(21)).is_err());
    assert!(with(|rules| rules.queue = 0).is_err());
    assert!(with(|rules| rules.ceiling = 0).is_err());
}

const fn at(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

const fn id(number: u8) -> HoldId {
    HoldId::new([number; 16])
}

pub(crate) fn command(number: u8) -> HoldCommand {
    let (rules, engine) = (rules(), engine());
    let answer = ask(&rules, &engine, &request("POST", "/fixed"), Some("a"));
    match orb_rules().charge(&answer, of_policy, [number; 16]) {
        Charging::Hold(command) => command,
        other => panic!("{other:?}"),
    }
}

fn outputs(holds: &mut Holds) -> Vec<Output> {
    core::iter::from_fn(|| holds.next()).collect()
}

/// A call whose handler runs.
fn running(holds: &mut Holds, number: u8, now: Duration) {
    holds.hold(command(number), now);
    holds.held(id(number), HoldAnswer::Held, now);
    assert_eq!(outputs(holds), [Output::Hold(command(number)), Output::Answer(id(number), Ok(()))]);
}

#[test]
fn a_call_is_held_then_runs_then_settles() {
    let mut holds = Holds::new(orb_rules());
    assert_eq!(holds.wake(), None);
    running(&mut holds, 1, at(0));
    holds.settle(id(1), Settlement::Capture(5), at(10));
    // Only the first outcome counts.
    holds.settle(id(1), Settlement::Void, at(10));
    assert_eq!(outputs(&mut holds), [Output::Settle(id(1), Settlement::Capture(5))]);
    assert_eq!(holds.settling(), 1);
    holds.settled(id(1), SettleAnswer::Settled, at(11));
    assert_eq!((holds.settling(), holds.lost()), (0, 0));
    holds.tick(at(60_000));
    assert_eq!((outputs(&mut holds), holds.wake()), (vec![], None));
}

#[test]
fn a_hold_whose_answer_is_lost_is_sent_again_until_the_timeout() {
    let mut holds = Holds::new(orb_rules());
    holds.hold(command(1), at(0));
    let (mut sent, mut now) = (0, at(0));
    while now < at(2_000) {
        assert_eq!(outputs(&mut holds), [Output::Hold(command(1))]);
        sent += 1;
        holds.held(id(1), HoldAnswer::Lost, now);
        now = holds.wake().unwrap();
        if now < at(2_000) {
            holds.tick(now);
        }
    }
    assert_eq!(sent, 40);
    // Until then, any answer counts.
    holds.held(id(1), HoldAnswer::Held, at(1_999));
    assert_eq!(outputs(&mut holds), [Output::Answer(id(1), Ok(()))]);
}

#[test]
fn a_call_that_isn_t_answered_in_time_is_denied_and_voided() {
    let mut holds = Holds::new(orb_rules());
    holds.hold(command(1), at(0));
    assert_eq!(holds.wake(), Some(at(2_000)));
    holds.tick(at(1_999));
    assert_eq!(outputs(&mut holds), [Output::Hold(command(1))]);
    holds.tick(at(2_000));
    let denied = Output::Answer(id(1), Err(Unpaid::Unavailable));
    assert_eq!(outputs(&mut holds), [denied, Output::Settle(id(1), Settlement::Void)]);
    // Its late answer changes nothing.
    holds.held(id(1), HoldAnswer::Held, at(2_001));
    assert_eq!(outputs(&mut holds), []);
    holds.settled(id(1), SettleAnswer::Settled, at(2_002));
    assert_eq!((holds.settling(), holds.wake()), (0, None));
}

#[test]
fn a_denial_and_a_refusal_end_the_call() {
    let denial = Unpaid::Insufficient { detail: Detail::Insufficient, retry_after: None };
    for (answer, unpaid) in [(HoldAnswer::Denied(denial), denial), (HoldAnswer::Refused, Unpaid::Unavailable)] {
        let mut holds = Holds::new(orb_rules());
        holds.hold(command(1), at(0));
        holds.held(id(1), answer, at(1));
        assert_eq!(outputs(&mut holds)[1..], [Output::Answer(id(1), Err(unpaid))]);
        assert_eq!(holds.wake(), None);
    }
}

#[test]
fn a_caller_who_leaves_before_the_answer_is_voided() {
    let mut holds = Holds::new(orb_rules());
    holds.hold(command(1), at(0));
    holds.settle(id(1), Settlement::Capture(5), at(1));
    assert_eq!(outputs(&mut holds), [Output::Hold(command(1)), Output::Settle(id(1), Settlement::Void)]);
}

#[test]
fn a_settlement_is_sent_again_until_its_hold_expires() {
    let mut holds = Holds::new(orb_rules());
    running(&mut holds, 1, at(0));
    holds.settle(id(1), Settlement::Capture(5), at(1));
    let (mut times, mut now) = (vec![], at(1));
    while holds.settling() > 0 {
        for output in outputs(&mut holds) {
            assert_eq!(output, Output::Settle(id(1), Settlement::Capture(5)));
            times.push(now.as_millis());
            holds.settled(id(1), SettleAnswer::Lost, now);
        }
        now = holds.wake().unwrap_or(now);
        holds.tick(now);
    }
    assert_eq!(times[..7], [1, 101, 301, 701, 1_501, 3_101, 6_301]);
    assert!(times.iter().all(|time| *time < 60_000), "{times:?}");
    assert_eq!((holds.settling(), holds.lost()), (0, 1));
}

#[test]
fn a_settlement_without_any_answer_is_sent_again() {
    let mut holds = Holds::new(orb_rules());
    running(&mut holds, 1, at(0));
    holds.settle(id(1), Settlement::Void, at(0));
    outputs(&mut holds);
    // The heartbeat has nothing to extend.
    holds.tick(at(20_000));
    assert_eq!(outputs(&mut holds), []);
    holds.tick(at(30_000));
    holds.tick(at(30_100));
    assert_eq!(outputs(&mut holds), [Output::Settle(id(1), Settlement::Void)]);
    holds.settled(id(1), SettleAnswer::Refused, at(30_101));
    assert_eq!((holds.settling(), holds.lost()), (0, 1));
}

#[test]
fn a_full_queue_denies_new_calls_only() {
    let mut rules = orb_rules();
    rules.queue = 2;
    let mut holds = Holds::new(rules);
    for number in 1..=3 {
        running(&mut holds, number, at(0));
    }
    for number in 1..=2 {
        holds.settle(id(number), Settlement::Void, at(0));
    }
    outputs(&mut holds);
    holds.hold(command(4), at(0));
    assert_eq!(outputs(&mut holds), [Output::Answer(id(4), Err(Unpaid::Unavailable))]);
    // One that runs is settled even so.
    holds.settle(id(3), Settlement::Capture(5), at(0));
    assert_eq!(outputs(&mut holds), [Output::Settle(id(3), Settlement::Capture(5))]);
    holds.settled(id(1), SettleAnswer::Settled, at(0));
    holds.settled(id(2), SettleAnswer::Settled, at(0));
    running(&mut holds, 4, at(0));
}

#[test]
fn one_heartbeat_extends_all_calls_that_run() {
    let mut holds = Holds::new(orb_rules());
    for number in 1..=3 {
        running(&mut holds, number, at(0));
    }
    holds.settle(id(2), Settlement::Void, at(5));
    outputs(&mut holds);
    assert_eq!(holds.wake(), Some(at(20_000)));
    holds.tick(at(20_000));
    assert_eq!(outputs(&mut holds), [Output::Extend { holds: vec![id(1), id(3)], beat: 1 }]);
    holds.extended(id(1), at(20_000));
    holds.settled(id(2), SettleAnswer::Settled, at(20_000));
    holds.tick(at(40_000));
    assert_eq!(outputs(&mut holds), [Output::Extend { holds: vec![id(1), id(3)], beat: 2 }]);
    // The extended one is settled for longer.
    for number in [1, 3] {
        holds.settle(id(number), Settlement::Capture(5), at(59_950));
        holds.settled(id(number), SettleAnswer::Lost, at(59_950));
    }
    assert_eq!((holds.settling(), holds.lost()), (1, 1));
}
