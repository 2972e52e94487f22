//! Scopes that a token earns: what a configuration may say of them, and which tokens have them, compared with a reading of
//! the same tests that shares nothing with the library.

use core::time::Duration;

use orbgate::policy::Policy;
use orbgate::{Engine, Request, Token};
use orbgate_testing::expected::Expected;
use orbgate_testing::random::Random;
use orbgate_testing::signer::{AUDIENCE, ISSUER, NOW, Signer, at, claims, header, keys, now, with};
use orbgate_token::{
    ClaimPath, ClaimTest, Derived, FetchSettings, Issuer, Judged, KeyCache, KindRules, Now, Response, Verifier,
};
use serde_json::{Map, Value, json};

fn file(derive: &str) -> String {
    format!(
        "orbgate_token: 1\nissuers:\n  - issuer: {ISSUER}\n    audience: {AUDIENCE}\n    kind: user\n    \
         algorithms: [ES256]\n    derive:\n{derive}"
    )
}

#[test]
fn each_error_of_derived_scopes_has_its_location() {
    let many: Vec<_> = (0..65).map(|number| format!("      earned:{number}: always\n")).collect();
    let table = [
        "      {}\n",
        "      []\n",
        "      earned:a: sometimes\n      earned:b: {}\n      earned:c: []\n      earned:d:\n      earned:e: 5\n",
        "      read:a: always\n      earned:: always\n      'earned:a b': always\n      Earned:a: always\n      earned:a: always\n      'earned:é': always\n",
        "      earned:a: always\n      earned:a: always\n",
        "      earned:a: { claim: x, present: false }\n      earned:b: [{ claim: x, present: false }, { claim: z, present: false }]\n",
        "      earned:a: { claim: x }\n      earned:b: [{ claim: '', equals: a }, { equals: a }]\n      earned:c: { claim: [a, ''], equals: a }\n",
        "      earned:a: { claim: x, equals: yes }\n      earned:b: { claim: x, one_of: [1.5, ~, 2001-01-01, 01, -5, true, [a]] }\n",
        "      earned:a: { proof: dpop }\n      earned:b: { claim: x, proof: mtls }\n      earned:c: [{ proof: x509 }, { proof: mtls, equals: a }]\n",
        "      earned:a: { claim: x, equals: 99999999999999999999 }\n      earned:b: { claim: x, contains: true, one_of: [a] }\n",
        "      earned:a:\n        - { claim: x, equals: a }\n        - { claim: x }\n        - { claim: x, equals: 1 }\n",
        "      earned:a:\n        - { claim: x, one_of: [] }\n        - { claim: v, contains_word: a b }\n        - { claim: z, contains_word: '' }\n",
        "      earned:a: { claim: auth_time, within_seconds: 0 }\n      earned:b: { claim: auth_time, within_seconds: 5m }\n",
        "      earned:a: { claim: a, equals_claim: a }\n      earned:b: { claim: [a, b], differs_from_claim: [a, b] }\n",
        "      earned:a: { claim: x, one_of: [True, off, 2.0, 1e3, -0, 010, 1.5, 9223372036854775808, -9223372036854775809] }\n      earned:b: { claim: t, within_seconds: 9223372036854775808 }\n",
        "      earned:a: { claim: x, one_of: a }\n      earned:b: { claim: [[a], ''], equals: [a] }\n      earned:c: { claim: x, matches: a }\n      earned:d: { claim: acr, one_of: [a b, phr, '\u{e9}'] }\n",
        "\n",
        "      earned:a: { claim: acr, one_of: [phr, 'a b'] }\n      earned:b: { claim: acr, equals: 'a\"b' }\n      earned:c: { claim: acr, equals: 'a\\b' }\n      earned:d: { claim: acr, equals: '' }\n      earned:e: { claim: [acr, x], equals: a b }\n",
        &many.concat(),
    ];
    let mut expected = Expected::default();
    for derive in table {
        let error = Verifier::from_yaml(&file(derive)).unwrap_err();
        expected.add(derive, error.in_file("t").lines());
    }
    for tests in [
        "kind: { user: [{ claim: a, within_seconds: 5 }], organisation: [{ claim: a, present: true }, { claim: b, contains_word: '' }] }",
        "kind: user\n    require: [a, { claim: b }, { claim: c, one_of: [] }, { claim: c, within_seconds: 5, contains: a }, '']",
    ] {
        let text = format!("orbgate_token: 1\nissuers:\n  - issuer: https://a\n    audience: b\n    {tests}\n");
        expected.add(tests, Verifier::from_yaml(&text).unwrap_err().in_file("t").lines());
    }
    let kind = || KindRules::Always(orbgate::TokenKind::User);
    let derived =
        [Derived::always("a"), Derived::new("earned:a", []), Derived::new("earned:a", [ClaimTest::absent("x")])];
    let error = Verifier::new([Issuer::new("https://a", "b", kind()).derive(derived)]).unwrap_err();
    expected.add("in Rust", error.to_string().lines());
    expected.keep(env!("CARGO_MANIFEST_DIR"), "derive: diagnostics");
}

#[test]
fn the_file_and_rust_describe_the_same_scopes() {
    let from_yaml = Verifier::from_yaml(&file(
        "      earned:any-token: always\n      earned:admin: { claim: [realm_access, roles], contains: admin }\n      \
         earned:mfa: { claim: acr, one_of: [phr, phrh] }\n      earned:fresh:\n        - { claim: auth_time, within_seconds: 300 }\n        \
         - { claim: amr, contains_word: otp }\n      earned:adult: { claim: adult, equals: true }\n      \
         earned:level: { claim: level, one_of: [-2, '3', false] }\n",
    ))
    .unwrap();
    use orbgate_token::ClaimValue::{Bool, Number, Text};
    let in_rust = Issuer::new(ISSUER, AUDIENCE, KindRules::Always(orbgate::TokenKind::User))
        .algorithms([orbgate_token::Algorithm::Es256])
        .derive([
            Derived::always("earned:any-token"),
            Derived::new("earned:admin", [ClaimTest::contains(ClaimPath::nested(["realm_access", "roles"]), "admin")]),
            Derived::new("earned:mfa", [ClaimTest::one_of("acr", ["phr", "phrh"])]),
        ])
        .derive([
            Derived::new(
                "earned:fresh",
                [ClaimTest::within_seconds("auth_time", 300), ClaimTest::contains_word("amr", "otp")],
            ),
            Derived::new("earned:adult", [ClaimTest::equals("adult", Bool(true))]),
            Derived::new("earned:level", [ClaimTest::one_of("level", [Number(-2), Text("3".into()), Bool(false)])]),
        ]);
    let in_rust = Verifier::new([in_rust]).unwrap();
    assert_eq!(format!("{from_yaml:?}"), format!("{in_rust:?}"));
    let names: Vec<_> = from_yaml.derived().flat_map(|(_, derived)| derived.iter().map(Derived::name)).collect();
    assert_eq!(names.len(), 6);
}

/// A fault of an entry: the keys that it takes, so that no other fault takes them, and what is said of it.
struct Fault(&'static [&'static str], fn(&mut Entry), &'static str);

/// A name, and tests of it.
struct Entry {
    name: &'static str,
    tests: Vec<Vec<(&'static str, String)>>,
}

impl Entry {
    fn set(&mut self, key: &'static str, value: impl Into<String>) {
        self.tests[0].retain(|(other, _)| *other != key);
        self.tests[0].push((key, value.into()));
    }

    fn add(&mut self, claim: &str, key: &'static str, value: &str) {
        self.tests.push(vec![("claim", claim.to_owned()), (key, value.to_owned())]);
    }

    fn written(&self) -> String {
        let test = |keys: &Vec<(&str, String)>| {
            let keys: Vec<_> = keys.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            format!("{{ {} }}", keys.join(", "))
        };
        self.tests.iter().map(test).collect::<Vec<_>>().join(", ")
    }
}

/// Faults in any list of tests. `right` is a test without an error, which another can contradict.
const FAULTS: &[Fault] = &[
    Fault(
        &["one_of", "right"],
        |e| e.set("one_of", "[phr, [a]]"),
        "an item of `one_of` must be a string, a boolean or a whole number",
    ),
    Fault(&["one_of", "right"], |e| e.set("one_of", "a"), "`one_of` must be a list"),
    Fault(&["one_of", "right", "empty"], |e| e.set("one_of", "[]"), "`one_of` is empty"),
    Fault(&["one_of", "right"], |e| e.set("one_of", "[phr, True]"), "write `true` or `'True'`"),
    Fault(&["one_of", "right"], |e| e.set("one_of", "[phr, 2.0]"), "write `2` or `'2.0'`"),
    Fault(&["right", "several"], |e| e.set("contains", "b"), "a test needs exactly one of"),
    Fault(&[], |e| e.set("matches", "b"), "unknown key `matches`"),
    Fault(&["claim", "right"], |e| e.tests[0].retain(|(key, _)| *key != "claim"), "missing the key `claim`"),
    Fault(&["claim", "right", "path"], |e| e.set("claim", "[a, '']"), "the name of a claim is empty"),
    Fault(&["claim", "right"], |e| e.set("claim", "[[a]]"), "an item of `claim` must be a string, not a list"),
    Fault(&["right"], |e| e.add("acr", "equals", "zzz"), "the tests of `acr` contradict each other"),
    Fault(&[], |e| e.add("w", "contains_word", "a b"), "`contains_word` must be one word"),
    Fault(&[], |e| e.add("s", "equals_claim", "s"), "a claim is compared with itself"),
    Fault(&["path"], |e| e.add("s", "differs_from_claim", "''"), "the name of a claim is empty"),
    Fault(&["several"], |e| e.tests.push(vec![("claim", "m".to_owned())]), "a test needs exactly one of"),
    Fault(&["empty"], |e| e.add("e", "one_of", "[]"), "`one_of` is empty"),
    Fault(&[], |e| e.add("p", "present", "maybe"), "`present` must be `true` or `false`"),
    Fault(&[], |e| e.add("q", "equals", "99999999999999999999"), "from -9223372036854775808 to 9223372036854775807"),
];

/// Faults in `derive` only, or not in `kind`.
const OWN_FAULTS: &[Fault] = &[
    Fault(&["claim", "one_of"], |e| e.set("one_of", "[phr, 'a b']"), "an `acr` of `a b` can't be in a challenge"),
    Fault(
        &["claim", "one_of"],
        |e| e.set("one_of", format!("[{}]", vec!["phrh"; 300].join(", "))),
        "`acr` have 1499 bytes",
    ),
    Fault(&["name"], |e| e.name = "read:a", "doesn't begin with `earned:`"),
    Fault(&["name"], |e| e.name = "'earned:a b'", "can't be a scope"),
    Fault(&["date"], |e| e.add("t", "within_seconds", "0"), "a plain whole number above 0, not `0`"),
    Fault(
        &["date"],
        |e| e.add("t", "within_seconds", "9223372036854775808"),
        "above 0, at most 9223372036854775807, not",
    ),
];

/// Two to four faults in one entry are as many errors, and each says its own.
#[test]
fn faults_neither_hide_each_other_nor_are_told_twice() {
    let mut random = Random::new(7_070);
    for round in 0..1_500 {
        let place = round % 3;
        let all: Vec<_> = FAULTS.iter().chain(OWN_FAULTS.iter().filter(|_| place == 0)).collect();
        let mut entry = Entry {
            name: "earned:a",
            tests: vec![
                vec![("claim", "acr".to_owned()), ("one_of", "[phr, phrh]".to_owned())],
                vec![("claim", "other".to_owned()), ("equals", "x".to_owned())],
            ],
        };
        let (mut taken, mut said) = (Vec::new(), Vec::new());
        for _ in 0..2 + random.below(3) {
            let Fault(keys, edit, text) = all[random.index(all.len())];
            if keys.iter().any(|key| taken.contains(key)) || said.contains(text) {
                continue;
            }
            taken.extend(*keys);
            edit(&mut entry);
            said.push(*text);
        }
        let (name, tests) = (entry.name, entry.written());
        let file = match place {
            0 => file(&format!("      {name}: [{tests}]\n")),
            1 => file(&format!("      earned:b: always\n    require: [{tests}]\n")),
            _ => file("      earned:b: always\n").replace("kind: user", &format!("kind: {{ user: [{tests}] }}")),
        };
        let error = Verifier::from_yaml(&file).err();
        let lines: Vec<_> = error.iter().flat_map(|error| error.diagnostics()).map(|it| it.message.clone()).collect();
        let times = |text: &&str| lines.iter().filter(|line| line.contains(*text)).count();
        assert!(lines.len() == said.len() && said.iter().all(|text| times(text) == 1), "{file}\n{said:#?}\n{lines:#?}");
    }
}

/// What a list lacks is said even if its name is wrong, and what one list lacks even if the other lacks it too.
#[test]
fn an_entry_and_its_name_are_checked_apart() {
    let lines =
        |file: &str| Verifier::from_yaml(file).unwrap_err().in_file("t").lines().map(str::to_owned).collect::<Vec<_>>();
    let many: String = (0..64).map(|number| format!("      earned:{number}: always\n")).collect();
    let found = lines(&file(&format!("{many}      read:a: []\n")));
    assert_eq!(found.len(), 3, "{found:?}");
    let found = lines(&file(&format!("{many}      'earned: ': {{ claim: x, present: false }}\n")));
    assert_eq!(found.len(), 3, "{found:?}");
    let kind = |kind: &str| lines(&file("      earned:b: always\n").replace("kind: user", &format!("kind: {kind}")));
    let absent = "[{ claim: x, present: false }]";
    assert_eq!(kind(&format!("{{ user: {absent}, organisation: {absent} }}")).len(), 3);
    assert_eq!(kind("{ user: [{ claim: x, within_seconds: 0 }] }").len(), 2);
    for one in ["{ user: 5 }", "{ usr: [] }", "{ user: [5] }", "{ user: [{ claim: x }] }", "{ user: [] }", "{}"] {
        assert_eq!(kind(one).len(), 1, "{one}: {:?}", kind(one));
    }
}

/// Limits are those of the claim, before names are dropped and added.
#[test]
fn limits_hold_for_the_claimed_scopes() {
    let verifier = Verifier::from_yaml(&file("      earned:any-token: always\n")).unwrap();
    let verify = |scope: &str| {
        let answer = with(with(claims(), "active", true), "scope", scope);
        let verified = verifier.verify_introspected("opaque", answer.to_string(), now());
        verified.map(|token| token.scopes().to_owned()).ok()
    };
    let most = vec!["a"; 256].join(" ");
    assert_eq!(verify(&most), Some(format!("{most} earned:any-token")));
    assert_eq!(verify(&vec!["earned:a"; 257].join(" ")), None);
    assert_eq!(verify(&vec!["earned:a"; 256].join(" ")).unwrap(), "earned:any-token");
    assert_eq!(verify(&"a".repeat(4_096)).unwrap().len(), 4_096 + " earned:any-token".len());
    assert_eq!(verify("").unwrap(), "earned:any-token");
}

/// The seconds at which a token has the scope, for a configuration and a way to ask.
fn seconds_with(scope: &str, seconds: &[u64], mut scopes_at: impl FnMut(u64) -> String) -> Vec<u64> {
    let has = |second: &u64| scopes_at(*second).split(' ').any(|name| name == scope);
    seconds.iter().copied().filter(has).collect()
}

/// One answer, or one checked signature, serves until it is too old; the date is tested each time.
#[test]
fn a_date_is_tested_each_time_a_token_comes() {
    let derive = "      earned:recent: { claim: auth_time, within_seconds: 300 }\n";
    let seconds = [0, 100, 239, 240, 241, 299, 400];
    let expected = [0, 100, 239, 240];
    let claims = with(with(claims(), "auth_time", NOW - 120), "exp", NOW + 3_600);
    // 300 seconds and a skew of 60 since the login, which was 120 seconds ago.
    let signer = Signer::p256();
    let jwks = json!({"keys": [signer.jwk("key-1")]}).to_string();
    let token = signer.token(&header(), &claims);
    let answer = with(claims, "active", true).to_string();
    let opaque = "    opaque: { endpoint: https://id.example.com/ask, client_id: c, client_secret_env: A, max_cache_seconds: 3600 }\n";
    let opaque = file(&format!("{derive}{opaque}")).replace("    algorithms: [ES256]\n", "");
    let signed = format!("{}    jwks_uri: https://id.example.com/keys\nremember_signatures: 10\n", file(derive));
    for (file, token, body) in [(opaque, "opaque-1", &answer), (signed, token.as_str(), &jwks)] {
        let verifier = Verifier::from_yaml(&file).unwrap().with_secrets(|_| Ok(b"s".to_vec())).unwrap();
        let cache = KeyCache::new(verifier, FetchSettings::default()).unwrap();
        let mut fetches = 0;
        let scopes_at = |second: u64| {
            let monotonic = Duration::from_secs(second);
            let now = Now { time: at(NOW + second), monotonic };
            let mut progress = cache.ask(monotonic);
            loop {
                let judged = cache.judge(token, &mut progress, now);
                while let Some(fetch) = cache.next_fetch(monotonic) {
                    fetches += 1;
                    let response = Response { status: 200, cache_control: None, body: body.as_bytes() };
                    cache.fetched(fetch.attempt, Ok(response), monotonic);
                }
                match judged {
                    Judged::Verdict(verdict) => return verdict.unwrap().scopes().to_owned(),
                    Judged::Wait(_) => {}
                    Judged::CheckSignature(_) => unreachable!("signatures are checked in place"),
                }
            }
        };
        assert_eq!(seconds_with("earned:recent", &seconds, scopes_at), expected);
        assert!(fetches >= 1);
        if token == "opaque-1" {
            assert_eq!(fetches, 1, "one answer serves for all");
        }
    }
}

/// A date in `require` is tested at each use, too.
#[test]
fn a_required_date_refuses_a_token_when_it_is_too_old() {
    let file = file("      earned:any-token: always\n    require: [{ claim: auth_time, within_seconds: 300 }]\n");
    let verifier = Verifier::from_yaml(&file).unwrap();
    let answer = with(with(claims(), "active", true), "auth_time", NOW - 120).to_string();
    let at = |second: u64| verifier.verify_introspected("opaque", &answer, at(NOW + second)).err();
    assert_eq!([at(0), at(240), at(241)], [None, None, Some(orbgate_token::TokenError::Claim)]);
    let explained = verifier.explain_introspected("opaque", &answer, orbgate_testing::signer::at(NOW + 241));
    let hint = "the test `within_seconds: 300` of `auth_time` in `require` fails, and the claim is 361 s old, and can be 360 s \
                old, with `skew_seconds`";
    assert_eq!(explained.hint.as_deref(), Some(hint));
}

#[test]
fn an_explanation_names_the_scopes_that_a_token_does_not_get() {
    let verifier = Verifier::from_yaml(&file(
        "      earned:any-token: always\n      earned:admin: { claim: [realm_access, roles], contains: admin }\n      \
         earned:recent: { claim: auth_time, within_seconds: 300 }\n      earned:soon: { claim: soon, within_seconds: 300 }\n      \
         earned:mfa: { claim: acr, one_of: [phr, 'true', -1] }\n      earned:both:\n        - { claim: acr, equals: pwd }\n        \
         - { claim: amr, contains_word: otp }\n",
    ))
    .unwrap();
    let signer = Signer::p256();
    let claims = with(with(claims(), "scope", "a earned:admin earned:x"), "auth_time", NOW - 500);
    let claims = with(claims, "soon", NOW + 90);
    let explained = verifier.explain(signer.token(&header(), &with(claims, "acr", "pwd")), None, now());
    assert_eq!(explained.scopes.as_deref(), Some("a earned:any-token"));
    assert_eq!(explained.dropped, ["earned:admin", "earned:x"]);
    let unearned: Vec<_> = explained.unearned.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    assert_eq!(
        unearned,
        [
            "earned:admin: the test `contains: admin` of `[realm_access, roles]` fails, and the claim is missing",
            "earned:recent: the test `within_seconds: 300` of `auth_time` fails, and the claim is 500 s old, and can be 360 s old, \
             with `skew_seconds`",
            "earned:soon: the test `within_seconds: 300` of `soon` fails, and the claim is 90 s in the future, and can be 60 s, \
             which is `skew_seconds`",
            "earned:mfa: the test `one_of: [phr, 'true', -1]` of `acr` fails, and the claim is a string",
            "earned:both: the test `contains_word: otp` of `amr` fails, and the claim is missing",
        ]
    );
}

/// What a test means, read from the file's JSON, by its page only.
mod reference {
    use serde_json::Value;

    fn claim<'c>(claims: &'c Value, path: &Value) -> Option<&'c Value> {
        match path {
            Value::String(name) => claims.get(name),
            Value::Array(names) => names.iter().try_fold(claims, |value, name| value.get(name.as_str()?)),
            _ => None,
        }
    }

    fn same(expected: &Value, actual: &Value) -> bool {
        match (expected, actual) {
            (Value::Number(one), Value::Number(two)) => one.as_f64() == two.as_f64(),
            _ => expected == actual,
        }
    }

    pub(super) fn holds(test: &Value, claims: &Value, now: f64, skew: f64) -> bool {
        let actual = claim(claims, &test["claim"]);
        let text = actual.and_then(Value::as_str);
        let (key, expected) = test.as_object().unwrap().iter().find(|(key, _)| *key != "claim").unwrap();
        match key.as_str() {
            "equals" => actual.is_some_and(|actual| same(expected, actual)),
            "one_of" => expected.as_array().unwrap().iter().any(|one| actual.is_some_and(|actual| same(one, actual))),
            "contains" => {
                actual == Some(expected)
                    || actual.and_then(Value::as_array).is_some_and(|items| items.contains(expected))
            }
            "contains_word" => text.is_some_and(|text| text.split(' ').any(|word| expected == word)),
            "within_seconds" => actual.and_then(Value::as_f64).is_some_and(|date| {
                (0.0..9_007_199_254_740_992.0).contains(&date)
                    && date - skew <= now
                    && now - date <= expected.as_f64().unwrap() + skew
            }),
            "present" => {
                actual.is_some_and(|actual| !actual.is_null()) && expected == true
                    || actual.is_none() && expected == false
            }
            "equals_claim" => text.is_some() && claim(claims, expected).and_then(Value::as_str) == text,
            "differs_from_claim" => {
                let other = claim(claims, expected).and_then(Value::as_str);
                text.is_some() && other.is_some() && other != text
            }
            _ => unreachable!("{key}"),
        }
    }
}

const NAMES: [&str; 6] = ["earned:a", "earned:b", "earned:c", "earned:d", "earned:e", "earned:f"];

const POLICY: &str = "orbgate: 1
name: p
apis:
  p:
    base_path: /p
    scopes:
      earned:a: { orbs: false, routes: [GET /a] }
      earned:b: { orbs: false, or: [read:x earned:c], routes: [GET /b] }
      earned:c: { orbs: false, and: earned:d, routes: [GET /c] }
      earned:d: { orbs: false, and: read:x, routes: [GET /d] }
      earned:e: { orbs: false, or: [earned:f], routes: [GET /e] }
      earned:f: { orbs: false, routes: [GET /f] }
      read:x: { orbs: false, or: [earned:a earned:e], routes: [GET /x] }
";

struct Made<'r>(&'r mut Random);

impl Made<'_> {
    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.0.index(of.len())].clone()
    }

    fn path(&mut self) -> Value {
        self.one(&[
            json!("x"),
            json!("y"),
            json!("auth_time"),
            json!(["o", "x"]),
            json!(["o", "y"]),
            json!(["x", "y"]),
            json!(["x"]),
        ])
    }

    fn value(&mut self) -> Value {
        self.one(&[
            json!("a"),
            json!("b"),
            json!("a b"),
            json!("1"),
            json!("true"),
            json!(1),
            json!(-1),
            json!(true),
            json!(false),
        ])
    }

    fn test(&mut self) -> Value {
        let claim = self.path();
        let word = self.one(&["a", "b", "true"]);
        let key = self.one(&[
            "equals",
            "one_of",
            "contains",
            "contains_word",
            "within_seconds",
            "present",
            "equals_claim",
            "differs_from_claim",
        ]);
        let value = match key {
            "equals" => self.value(),
            "one_of" => json!([self.value(), self.value()]),
            "contains" | "contains_word" => json!(word),
            "within_seconds" => json!(self.one(&[1, 60, 300])),
            "present" => json!(self.one(&[true, true, false])),
            _ => self.path(),
        };
        json!({"claim": claim, key: value})
    }

    fn derive(&mut self) -> Map<String, Value> {
        let mut derive = Map::new();
        for name in NAMES {
            let derivation = match self.0.below(6) {
                0 => continue,
                1 => json!("always"),
                2 => json!([self.test(), self.test()]),
                _ => self.test(),
            };
            derive.insert(name.to_owned(), derivation);
        }
        derive
    }

    fn claim(&mut self) -> Value {
        match self.0.below(8) {
            0 => json!(NOW - 400 + self.0.below(800)),
            1 => json!(float(NOW - 400 + self.0.below(800)) - 0.5),
            2 => json!([self.value(), self.value()]),
            3 => self.one(&[
                json!(null),
                json!(1.0),
                json!(1.5),
                json!({"y": "a"}),
                json!({"y": ["a"]}),
                json!([]),
                json!(-5),
                json!(1e300),
            ]),
            _ => self.value(),
        }
    }

    fn claims(&mut self) -> Value {
        let mut made = claims();
        for name in ["x", "y", "auth_time"] {
            if self.0.below(4) > 0 {
                made[name] = self.claim();
            }
        }
        if self.0.below(3) > 0 {
            made["o"] = json!({});
            for name in ["x", "y"] {
                if self.0.below(3) > 0 {
                    made["o"][name] = self.claim();
                }
            }
        }
        let scopes = ["read:x", "earned:a", "earned:b", "earned:e", "earned:none", "Earned:a", "read:y"];
        let scopes: Vec<_> = scopes.into_iter().filter(|_| self.0.below(3) == 0).collect();
        made["scope"] = scopes.join(" ").into();
        made
    }
}

/// Verifying a token and deciding with it is deciding with its claimed scopes, without those that must be earned, and with
/// those whose tests hold.
#[test]
fn deciding_with_a_verified_token_is_deciding_with_the_scopes_that_it_earned() {
    let engine = Engine::new(&Policy::from_yaml(POLICY).unwrap());
    let paths = ["/p/a", "/p/b", "/p/c", "/p/d", "/p/e", "/p/f", "/p/x"];
    let decide = |scopes: &str| {
        let token = Some(Token::user(scopes));
        paths.map(|path| {
            let request = Request { method: b"GET", target: path.as_bytes(), token, allow_bonus_orbs_use: false };
            engine.decide(&request).is_allow()
        })
    };
    let signer = Signer::p256();
    let keys = keys(&[signer.jwk("key-1")]);
    let mut random = Random::new(70);
    let mut made = Made(&mut random);
    let (mut tried, mut earned, mut allowed) = (0, [0; 2], 0);
    for round in 0..400 {
        let derive = made.derive();
        let skew = made.one(&[0, 60]);
        let issuer = json!({
            "issuer": ISSUER, "audience": AUDIENCE, "kind": "user", "algorithms": ["ES256"], "skew_seconds": skew,
            "derive": derive,
        });
        let file = format!("orbgate_token: 1\nissuers: {}\n", json!([issuer]));
        let verifier = match Verifier::from_yaml(&file) {
            Ok(verifier) => verifier,
            Err(error) => {
                let known = ["contradict each other", "nothing but absent claims", "compared with itself", "is empty"];
                for diagnostic in error.diagnostics() {
                    assert!(known.iter().any(|known| diagnostic.message.contains(known)), "{error}\n{file}");
                }
                continue;
            }
        };
        for _ in 0..12 {
            let claims = made.claims();
            let later = made.0.below(400);
            let holds = |derivation: &Value| {
                let holds = |test: &Value| reference::holds(test, &claims, float(NOW + later), f64::from(skew));
                match derivation {
                    Value::String(_) => true,
                    Value::Array(tests) => tests.iter().all(holds),
                    test => holds(test),
                }
            };
            let claimed = claims["scope"].as_str().unwrap().split(' ').filter(|name| !name.starts_with("earned:"));
            let names = derive.iter().filter(|(_, derivation)| holds(derivation)).map(|(name, _)| name.as_str());
            let expected: Vec<_> = claimed.filter(|name| !name.is_empty()).chain(names).collect();
            let expected = expected.join(" ");
            let time = at(NOW + later);
            let answer = with(claims.clone(), "active", true).to_string();
            let opaque = verifier.verify_introspected("opaque", answer, time).unwrap();
            let mut verified = vec![opaque];
            // A signature takes a hundred times as long.
            if round % 8 == 0 {
                verified.push(verifier.verify(signer.token(&header(), &claims), &keys, time).unwrap());
            }
            for token in verified {
                assert_eq!(sorted(token.scopes()), sorted(&expected), "{claims}\n{file}");
                assert_eq!(decide(token.scopes()), decide(&expected));
            }
            tried += 1;
            allowed += decide(&expected).iter().filter(|allowed| **allowed).count();
            for derivation in derive.values().filter(|derivation| !derivation.is_string()) {
                earned[usize::from(holds(derivation))] += 1;
            }
        }
    }
    // Both outcomes, often.
    assert!(
        tried > 1_000 && earned.iter().all(|count| *count > 500) && allowed > 1_000,
        "{tried} {earned:?} {allowed}"
    );
}

fn float(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}

fn sorted(scopes: &str) -> Vec<&str> {
    let mut names: Vec<_> = scopes.split(' ').collect();
    names.sort_unstable();
    names
}
