//! Which versions of a policy become active, without a file.

use core::cell::Cell;
use core::time::Duration;

use orbgate::{Engine, Policy};
use orbgate_gate::{
    Changes, ChargedBy, Current, Ending, FileRead, Follower, GateCharges, LoadError, LoadRules, Look, PublicRoutes,
};
use orbgate_token::{ConfigError, Verifier};

const SECOND: Duration = Duration::from_secs(1);

fn engine(text: &str) -> Engine {
    Engine::new(&Policy::from_yaml(text).unwrap())
}

fn policy(routes: &str) -> String {
    format!("orbgate: 1\napis: {{ a: {{ base_path: '', scopes: {{ s: {{ orbs: false, routes: [{routes}] }} }} }} }}\n")
}

/// Stands for the comparison of `orbgate-analysis`: more routes are wider.
fn compare(old: &Engine, new: &Engine) -> Changes {
    let widens = new.routes().len() > old.routes().len();
    Changes { widens, text: "some".to_owned(), ..Changes::default() }
}

#[test]
fn pauses_grow_up_to_ten_minutes() {
    let mut follower = Follower::new(2 * SECOND);
    let mut now = Duration::ZERO;
    let look = |follower: &mut Follower, now| {
        let look = follower.look(&[Some(b"two")], false, now);
        if look == Look::Load {
            follower.failed(&LoadError::Panicked, now);
        }
        look
    };
    assert_eq!(look(&mut follower, now), Look::Wait, "it has to rest");
    now += 2 * SECOND;
    assert_eq!(look(&mut follower, now), Look::Load);
    for seconds in [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600] {
        assert_eq!(look(&mut follower, now + (seconds - 1) * SECOND), Look::Wait, "{seconds}");
        now += seconds * SECOND;
        assert_eq!(look(&mut follower, now), Look::Load, "{seconds}");
    }
    assert!(!follower.is_current());
    follower.took(Ending::default());
    assert_eq!(look(&mut follower, now), Look::Wait);
    assert!(follower.is_current());
}

#[test]
fn an_operator_waits_for_a_second_or_not_at_all() {
    let mut follower = Follower::new(60 * SECOND);
    let sealed = orbgate_yaml::seal("one: 1\n");
    let mut look = |text: &str, is_told, now| {
        let look = follower.look(&[Some(text.as_bytes())], is_told, now);
        if look == Look::Load {
            follower.refused();
        }
        (look, follower.pause())
    };
    assert_eq!(look(&sealed, false, SECOND), (Look::Load, 60 * SECOND));
    assert_eq!(look(&sealed, false, SECOND), (Look::Wait, 60 * SECOND), "it stays refused");
    assert_eq!(look(&sealed, true, SECOND), (Look::Load, 60 * SECOND), "it is told again");
    assert_eq!(look("two", true, SECOND), (Look::Wait, SECOND));
    assert_eq!(look("two", false, 2 * SECOND), (Look::Load, 60 * SECOND));
}

/// The process manager of a service signals every half second, although nothing more has changed.
#[test]
fn signals_delay_nothing() {
    let mut follower = Follower::new(60 * SECOND);
    let looks = [0, 500, 1_000, 1_500].map(|now| {
        let look = follower.look(&[Some(b"new")], true, Duration::from_millis(now));
        if look == Look::Load {
            follower.took(Ending::default());
        }
        look
    });
    assert_eq!(looks, [Look::Wait, Look::Wait, Look::Load, Look::Unchanged]);
}

/// A file that is being written is read twice within a millisecond, and has the same half both times.
#[test]
fn two_signals_are_no_rest() {
    let mut follower = Follower::new(2 * SECOND);
    let mut look = |text: &[u8], is_told, now| follower.look(&[Some(text)], is_told, Duration::from_millis(now));
    assert_eq!([0, 1, 2].map(|now| look(b"half", true, now)), [Look::Wait; 3]);
    assert_eq!([500, 1_000].map(|now| look(b"whole", false, now)), [Look::Wait; 2]);
    assert_eq!(look(b"whole", false, 1_500), Look::Load);
}

#[test]
fn a_lost_file_is_reported_once() {
    let mut follower = Follower::new(SECOND);
    let mut lost = |is_told| follower.look(&[None], is_told, SECOND);
    assert_eq!([lost(false), lost(false), lost(true)], [Look::Unreadable, Look::Wait, Look::Unreadable]);
    assert_eq!(follower.look(&[Some(b"one")], false, SECOND), Look::Wait);
    assert_eq!(follower.look(&[None], false, SECOND), Look::Wait, "no version has been checked since");
    for (now, look) in [(1, Look::Wait), (2, Look::Load)] {
        assert_eq!(follower.look(&[Some(b"one")], false, now * SECOND), look);
    }
    follower.took(Ending::default());
    assert_eq!(follower.look(&[None], false, 2 * SECOND), Look::Unreadable);
}

#[test]
fn why_a_version_is_rejected() {
    let active = engine(&policy("GET /a"));
    let public = PublicRoutes::new(["GET /docs/{page}"]).unwrap();
    let current = Current {
        engine: Some(&active),
        public: Some(&public),
        mcp: &[],
        served: &[],
        charges: &[],
        ending: Ending::default(),
    };
    let marked = Ending { marked: true, sealed: false };
    let sealed = Ending { marked: true, sealed: true };
    let rules = |change: fn(&mut LoadRules)| {
        let mut rules = LoadRules::new();
        change(&mut rules);
        rules
    };
    let strict = rules(|rules| rules.refuse_wider = true);
    let other = "target: encoded_params\n";
    for (rules, ending, text, result) in [
        (LoadRules::new(), Ending::default(), policy("GET /a, GET /b"), "loaded"),
        (LoadRules::new(), Ending::default(), policy("get /a"), "refused"),
        (LoadRules::new(), Ending::default(), policy("GET /docs/a"), "refused"),
        (LoadRules::new(), marked, policy("GET /a"), "unfinished"),
        (LoadRules::new(), sealed, policy("GET /a") + "...\n", "unsealed"),
        (LoadRules::new(), sealed, orbgate_yaml::seal(&policy("GET /a")), "loaded"),
        (rules(|rules| rules.require_end = true), Ending::default(), policy("GET /a"), "unfinished"),
        (rules(|rules| rules.require_seal = true), Ending::default(), policy("GET /a") + "...\n", "unsealed"),
        (strict, Ending::default(), policy("GET /a, GET /b"), "wider"),
        (strict, Ending::default(), policy("GET /c"), "loaded"),
        (strict, Ending::default(), other.to_owned() + &policy("GET /a"), "wider"),
    ] {
        let loaded = rules.load(text.as_bytes(), &Current { ending, ..current }, compare);
        assert_eq!(loaded.as_ref().map_or_else(LoadError::result, |_| "loaded"), result, "{text}");
    }
    let mut rules = LoadRules::new();
    rules.expected = Some(active.digest());
    assert!(rules.load(policy("GET /a").as_bytes(), &current, compare).is_ok());
    let unexpected = rules.load(policy("GET /b").as_bytes(), &current, compare).unwrap_err();
    assert_eq!(unexpected.result(), "unexpected");
}

/// What a gate states of its charging comes with each version, and a version whose calls it couldn't charge is rejected.
#[test]
fn a_version_that_could_not_be_charged_is_rejected() {
    let active = engine(&policy("GET /a"));
    let verifier = |account: &str| {
        let issuers =
            format!("orbgate_token: 1\nissuers: [{{ issuer: 'https://i.test', audience: a, kind: user{account} }}]\n");
        Verifier::from_yaml(&issuers).unwrap()
    };
    let paid = policy("GET /b").replace("orbs: false", "orbs: 5") + "...\n";
    let reload = |by: ChargedBy, account: &str, text: &str| {
        let charges = [GateCharges::new(by).with_accounts(verifier(account).accounts())];
        let ending = Ending::default();
        let current = Current { engine: Some(&active), public: None, mcp: &[], served: &[], charges: &charges, ending };
        let read = FileRead { text: Ok(text.as_bytes()), file: "p", is_told: false, now: SECOND };
        let reloaded = LoadRules::new().reload(&read, None, &current, compare, || Ok(()));
        (reloaded.result, reloaded.message, reloaded.warning)
    };
    let digest = engine(&paid).digest();
    let (ledger, account) = (|| ChargedBy::Ledger(Vec::new()), ", account: subject");
    let active = format!("a policy is active: p: {digest}");
    let changes = "the policy changes answers: some";
    let said = "routes that consume orbs: 1, such as `GET /b`; account of `https://i.test`: ";
    assert_eq!(
        reload(ledger(), account, &paid),
        ("loaded", format!("{active}; charging: in a ledger; {said}`sub`"), changes.to_owned())
    );
    let warning = format!("{changes}\ncharging: no ledger, so only the handlers can charge; {said}none");
    assert_eq!(reload(ChargedBy::Handlers, "", &paid), ("loaded", active, warning));
    let (result, message, _) = reload(ledger(), "", &paid);
    assert!(
        result == "refused" && message.contains(": p: no issuer of the token configuration has `account`, "),
        "{message}"
    );
    let (result, message, _) = reload(ledger(), account, &paid.replace("orbs: 5", "orbs: true"));
    assert!(result == "refused" && message.contains(": p: `GET /b` consumes orbs, but "), "{message}");
    let free = policy("GET /b") + "...\n";
    assert_eq!(reload(ledger(), "", &free).0, "loaded", "no call needs an account");
}

#[test]
fn what_is_said_of_a_version() {
    let active = engine(&policy("GET /a, GET /b"));
    let served = ["/a", "/c"].map(|template| ("GET".to_owned(), template.to_owned()));
    let current = Current {
        engine: Some(&active),
        public: None,
        mcp: &[],
        served: &served,
        charges: &[],
        ending: Ending::default(),
    };
    let warning = |text: &str| LoadRules::new().load(text.as_bytes(), &current, compare).unwrap().warning;
    assert_eq!(warning(&policy("GET /a, GET /b")), "", "the service lacked `GET /b` before");
    assert_eq!(
        warning(&policy("GET /b, 'GET /{id}', GET /d")),
        "the policy changes answers: some\nthe policy has no `GET /a`, and decides it as `GET /{id}`\n\
         the policy has no `GET /c`, and decides it as `GET /{id}`\nthe service has no `GET /{id}`\n\
         the service has no `GET /d`"
    );
    let closed = warning("orbgate: 1\napis: {}\n");
    assert!(closed.contains("every request that needs a token is denied"), "{closed}");
}

#[test]
fn what_a_host_does_with_each_read() {
    let active = engine(&policy("GET /a"));
    let current =
        Current { engine: Some(&active), public: None, mcp: &[], served: &[], charges: &[], ending: Ending::default() };
    let rules = LoadRules::new();
    let mut follower = Follower::new(SECOND);
    let secrets = Cell::new(Ok(()));
    let (read, clock) = (Cell::new(0), Cell::new(Duration::ZERO));
    let mut reload = |text: Result<&str, &'static str>, is_told| {
        clock.set(clock.get() + SECOND);
        let read_file = FileRead { text: text.map(str::as_bytes), file: "p", is_told, now: clock.get() };
        let reloaded = rules.reload(&read_file, Some(&mut follower), &current, compare, || {
            read.set(read.get() + 1);
            secrets.get().map_err(|it: &str| ConfigError::of_secrets(vec![it.to_owned()]))
        });
        assert_eq!(reloaded.engine.is_some(), reloaded.result == "loaded");
        assert_eq!(
            reloaded.error.as_ref().map_or("loaded", LoadError::result),
            if reloaded.result.is_empty() { "loaded" } else { reloaded.result }
        );
        (reloaded.result, reloaded.message + &reloaded.warning)
    };
    let nothing = || ("", String::new());
    let one = policy("GET /a");
    let two = policy("GET /b");
    assert_eq!([(); 3].map(|()| reload(Ok(&one), false)), [nothing(), nothing(), nothing()], "it is active already");
    assert_eq!(read.get(), 0);
    let is_active = format!("a policy is active: p: {}", active.digest());
    assert_eq!((reload(Ok(&one), true), read.get()), (("", is_active), 1), "an operator hears which one is active");
    secrets.set(Err("no secret"));
    let kept = format!("the previous policy stays active ({}): ", active.digest());
    assert_eq!((reload(Ok(&one), true), read.get()), (("refused", format!("{kept}no secret")), 2));
    secrets.set(Ok(()));
    assert_eq!(reload(Ok(&two), false), nothing(), "it has to rest");
    let digest = engine(&two).digest();
    let changes = "the policy changes answers: some";
    assert_eq!(reload(Ok(&two), false), ("loaded", format!("a policy is active: p: {digest}{changes}")));
    assert_eq!((reload(Ok(&two), false), read.get()), (nothing(), 3));
    let bad = "orbgate: 2\napis: {}\n";
    assert_eq!(reload(Ok(bad), true), nothing());
    let (result, message) = reload(Ok(bad), false);
    assert!(result == "refused" && message.starts_with(&format!("{kept}p:1:10: ")), "{message}");
    assert_eq!(reload(Ok(bad), false), nothing(), "it is said once");
    assert_eq!(reload(Ok(bad), true).0, "refused", "an operator hears it again");
    let lost = format!("{kept}p: the policy file cannot be read: gone");
    assert_eq!([(); 2].map(|()| reload(Err("gone"), false)), [("unreadable", lost), nothing()]);
    secrets.set(Err("no secret"));
    assert_eq!(reload(Ok(&one), false), nothing());
    assert_eq!(reload(Ok(&one), false), ("refused", format!("{kept}no secret")));
    clock.set(clock.get() - SECOND);
    assert_eq!(reload(Ok(&one), false), nothing(), "it is tried again after a pause");
    // Without a follower, a version counts at once, but must be marked.
    let once = |text: &str| {
        let read = FileRead { text: Ok(text.as_bytes()), file: "", is_told: false, now: SECOND };
        rules.reload(&read, None, &current, compare, || Ok(())).result
    };
    assert_eq!([once(&one), once(&(one.clone() + "...\n"))], ["unfinished", "loaded"]);
}
