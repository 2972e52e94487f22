//! Tests of a token's claims: of its kind, of what is required, and of the scopes that it earns.

use core::fmt;
use core::time::Duration;
use std::borrow::Cow;

use orbgate_yaml::other_reading;
use serde_json::Value;

use crate::json::Object;
use crate::proof::rules::ProofMethod;
use crate::scope::{ClaimPath, Found};

/// One test of a token's claims.
///
/// A claim of another type than the test expects fails the test. It is never an error of the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimTest {
    pub(crate) claim: ClaimPath,
    pub(crate) test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Equals(ClaimValue),
    OneOf(Vec<ClaimValue>),
    Contains(String),
    ContainsWord(String),
    WithinSeconds(u64),
    Present,
    Absent,
    EqualsClaim(ClaimPath),
    DiffersFromClaim(ClaimPath),
    /// The claim is what this proves. A token with it is accepted only with the proof.
    Proof(ProofMethod),
    /// A test of a file that has an error, with each that is written there. A file with it is refused, and it causes no second
    /// error.
    Faulty(Vec<Self>),
}

/// A value that a claim can have. The string `true` isn't the boolean, and the string `1` isn't the number.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "no other value of JSON can be compared exactly")]
pub enum ClaimValue {
    /// A string.
    Text(String),
    /// `true` or `false`.
    Bool(bool),
    /// A whole number. In JSON, `1.0` is `1`.
    Number(i64),
}

impl<T: Into<String>> From<T> for ClaimValue {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

impl ClaimValue {
    fn is(&self, found: &Found<'_>) -> bool {
        match (self, found) {
            (Self::Text(expected), Found::Text(text)) => expected == text,
            (Self::Bool(expected), Found::Other(value)) => value.as_bool() == Some(*expected),
            (Self::Number(expected), Found::Other(value)) => whole(value) == Some(*expected),
            _ => false,
        }
    }
}

/// The first number above which floating-point numbers aren't exact.
const END_OF_EXACT: u64 = 1 << 53;

/// A whole number, however it is written.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        // Its magnitude fits a duration exactly, which spares a conversion that could round.
        let magnitude = Duration::try_from_secs_f64(number.abs()).ok()?.as_secs();
        let magnitude = i64::try_from(magnitude).ok().filter(|_| magnitude < END_OF_EXACT)?;
        Some(if number < 0.0 { magnitude.saturating_neg() } else { magnitude })
    })
}

/// A NumericDate (RFC 7519 §2): a number from 0 up to the point where whole seconds stop being exact.
pub(crate) fn date(value: &Value) -> Option<Duration> {
    let time = match value.as_u64() {
        Some(seconds) => Some(Duration::from_secs(seconds)),
        None => value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    };
    time.filter(|time| time.as_secs() < END_OF_EXACT)
}

/// The times at which tests hold, since 1970. It is kept with a token's claims, because they can be used again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    from: Duration,
    until: Duration,
}

impl Window {
    const ALWAYS: Self = Self { from: Duration::ZERO, until: Duration::MAX };

    fn and(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), until: self.until.min(other.until) }
    }

    /// Since when it holds.
    pub(crate) const fn from(self) -> Duration {
        self.from
    }

    /// Whether it is now, for clocks that differ by this much.
    pub(crate) fn has(self, now: Duration, skew: Duration) -> bool {
        self.from <= now.saturating_add(skew) && now <= self.until.saturating_add(skew)
    }
}

/// The times at which all these tests hold; `None` if they never do.
pub(crate) fn window(tests: &[ClaimTest], claims: &Object<'_>) -> Option<Window> {
    tests.iter().try_fold(Window::ALWAYS, |window, test| Some(window.and(test.window(claims)?)))
}

impl Test {
    /// The values of which the claim must have one, if the test names them.
    pub(crate) const fn values(&self) -> Option<&[ClaimValue]> {
        match self {
            Self::Equals(value) => Some(core::slice::from_ref(value)),
            Self::OneOf(values) => Some(values.as_slice()),
            _ => None,
        }
    }
}

/// As the configuration spells it.
impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equals(value) => write!(f, "equals: {value}"),
            Self::OneOf(values) => {
                let values: Vec<_> = values.iter().map(ToString::to_string).collect();
                write!(f, "one_of: [{}]", values.join(", "))
            }
            Self::Contains(text) => write!(f, "contains: {}", spelt(text)),
            Self::ContainsWord(word) => write!(f, "contains_word: {}", spelt(word)),
            Self::WithinSeconds(seconds) => write!(f, "within_seconds: {seconds}"),
            Self::Present => f.write_str("present: true"),
            Self::Absent => f.write_str("present: false"),
            Self::EqualsClaim(other) => write!(f, "equals_claim: {other}"),
            Self::DiffersFromClaim(other) => write!(f, "differs_from_claim: {other}"),
            Self::Proof(method) => write!(f, "proof: {}", method.as_str()),
            Self::Faulty(_) => f.write_str("faulty"),
        }
    }
}

impl fmt::Display for ClaimValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&spelt(text)),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// A string, in quotes if it would be another value without them.
fn spelt(text: &str) -> Cow<'_, str> {
    if other_reading(text).is_some() { format!("'{text}'").into() } else { text.into() }
}

/// Whether a string between spaces can be this word.
pub(crate) fn is_word(word: &str) -> bool {
    !word.is_empty() && !word.contains(' ')
}

impl ClaimTest {
    pub(crate) fn new(claim: impl Into<ClaimPath>, test: Test) -> Self {
        Self { claim: claim.into(), test }
    }

    /// The claim is exactly this value, of the same type.
    #[must_use]
    pub fn equals(claim: impl Into<ClaimPath>, value: impl Into<ClaimValue>) -> Self {
        Self::new(claim, Test::Equals(value.into()))
    }

    /// The claim is exactly one of these values, of the same type.
    #[must_use]
    pub fn one_of<T: Into<ClaimValue>>(claim: impl Into<ClaimPath>, values: impl IntoIterator<Item = T>) -> Self {
        Self::new(claim, Test::OneOf(values.into_iter().map(Into::into).collect()))
    }

    /// The claim is a list with this string in it, or exactly this string.
    #[must_use]
    pub fn contains(claim: impl Into<ClaimPath>, text: impl Into<String>) -> Self {
        Self::new(claim, Test::Contains(text.into()))
    }

    /// The claim is a string that has this word between spaces.
    #[must_use]
    pub fn contains_word(claim: impl Into<ClaimPath>, word: impl Into<String>) -> Self {
        Self::new(claim, Test::ContainsWord(word.into()))
    }

    /// The claim is a date, in seconds since 1970, that isn't older than this and not in the future. Clocks may differ by the
    /// issuer's [`skew`](crate::Issuer::skew). It is tested at each use of a token, even if the claims are cached.
    #[must_use]
    pub fn within_seconds(claim: impl Into<ClaimPath>, seconds: u64) -> Self {
        Self::new(claim, Test::WithinSeconds(seconds))
    }

    /// The claim is present and not null.
    #[must_use]
    pub fn present(claim: impl Into<ClaimPath>) -> Self {
        Self::new(claim, Test::Present)
    }

    /// The claim is absent. An absent claim proves nothing, so combine this test with another.
    #[must_use]
    pub fn absent(claim: impl Into<ClaimPath>) -> Self {
        Self::new(claim, Test::Absent)
    }

    /// Both claims are present and the same string. For example, `sub` and `client_id` are equal in
    /// a client-credentials token (RFC 9068 §5 warns that a user's `sub` can look like a client's).
    #[must_use]
    pub fn equals_claim(claim: impl Into<ClaimPath>, other: impl Into<ClaimPath>) -> Self {
        Self::new(claim, Test::EqualsClaim(other.into()))
    }

    /// Both claims are present and different strings.
    #[must_use]
    pub fn differs_from_claim(claim: impl Into<ClaimPath>, other: impl Into<ClaimPath>) -> Self {
        Self::new(claim, Test::DiffersFromClaim(other.into()))
    }

    /// The token is bound to a key by this method, which the issuer's [`proof`](crate::Issuer::proof) must name: then its sender
    /// has proved that it has the key. Only for [`Issuer::derive`](crate::Issuer::derive).
    #[must_use]
    pub fn proof(method: ProofMethod) -> Self {
        Self::new(ClaimPath::nested(["cnf", method.member()]), Test::Proof(method))
    }

    /// Whether passing the test proves anything about a token.
    pub(crate) const fn is_positive(&self) -> bool {
        !matches!(self.test, Test::Absent)
    }

    /// The test as it is written, or each of several.
    pub(crate) const fn written(&self) -> &[Test] {
        match &self.test {
            Test::Faulty(tests) => tests.as_slice(),
            test => core::slice::from_ref(test),
        }
    }

    /// Whether the test depends on the time.
    pub(crate) fn is_dated(&self) -> bool {
        self.written().iter().any(|test| matches!(test, Test::WithinSeconds(_)))
    }

    /// Whether it has no error of its own.
    pub(crate) fn is_right(&self) -> bool {
        let is_right = match &self.test {
            Test::OneOf(values) => !values.is_empty(),
            Test::ContainsWord(word) => is_word(word),
            Test::WithinSeconds(seconds) => *seconds > 0,
            Test::EqualsClaim(other) | Test::DiffersFromClaim(other) => other.is_named() && *other != self.claim,
            Test::Faulty(_) => false,
            Test::Equals(_) | Test::Contains(_) | Test::Present | Test::Absent | Test::Proof(_) => true,
        };
        is_right && self.claim.is_named()
    }

    /// Whether a claim with this value can pass the test.
    fn accepts(&self, value: &ClaimValue) -> bool {
        match (&self.test, value) {
            (Test::Equals(expected), _) => expected == value,
            (Test::OneOf(expected), _) => expected.contains(value),
            (Test::Contains(expected), ClaimValue::Text(text)) => expected == text,
            (Test::ContainsWord(word), ClaimValue::Text(text)) => text.split(' ').any(|other| other == word),
            (Test::EqualsClaim(_) | Test::DiffersFromClaim(_) | Test::Proof(_), ClaimValue::Text(_)) => true,
            (Test::WithinSeconds(_), ClaimValue::Number(_)) => true,
            (Test::Present, _) => true,
            _ => false,
        }
    }

    /// Whether no token passes both tests, each of which some token passes.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        let no_value = |one: &Self, other: &Self| {
            let values = one.test.values();
            values.is_some_and(|values| !values.iter().any(|value| other.accepts(value)))
        };
        let is_of_text = |test: &Test| {
            matches!(test, Test::Contains(_) | Test::ContainsWord(_) | Test::EqualsClaim(_) | Test::DiffersFromClaim(_))
        };
        self.claim == other.claim
            && self.is_right()
            && other.is_right()
            && match (&self.test, &other.test) {
                _ if self.is_positive() != other.is_positive() => true,
                _ if no_value(self, other) || no_value(other, self) => true,
                (Test::EqualsClaim(one), Test::DiffersFromClaim(two))
                | (Test::DiffersFromClaim(one), Test::EqualsClaim(two)) => one == two,
                // A string passes the second, and only this string the first.
                (Test::Contains(text), Test::ContainsWord(word)) | (Test::ContainsWord(word), Test::Contains(text)) => {
                    !text.split(' ').any(|other| other == word)
                }
                (Test::WithinSeconds(_), test) | (test, Test::WithinSeconds(_)) => is_of_text(test),
                _ => false,
            }
    }

    /// Whether the test holds at this time, for clocks that differ by this much.
    pub(crate) fn holds(&self, claims: &Object<'_>, now: Duration, skew: Duration) -> bool {
        self.window(claims).is_some_and(|window| window.has(now, skew))
    }

    /// The times at which the test holds; `None` if it never does.
    pub(crate) fn window(&self, claims: &Object<'_>) -> Option<Window> {
        let found = self.claim.find(claims);
        let text = found.as_ref().and_then(Found::text);
        let two = |other: &ClaimPath| Some((text?, other.find(claims)?.text()?));
        let holds = match &self.test {
            Test::Equals(value) => found.is_some_and(|found| value.is(&found)),
            Test::OneOf(values) => found.is_some_and(|found| values.iter().any(|value| value.is(&found))),
            Test::Contains(expected) => match found {
                Some(Found::Text(whole)) => whole == expected,
                Some(Found::Other(Value::Array(items))) => items.iter().any(|item| item.as_str() == Some(expected)),
                _ => false,
            },
            Test::ContainsWord(word) => text.is_some_and(|text| text.split(' ').any(|other| other == word)),
            Test::WithinSeconds(seconds) => {
                let date = match found {
                    Some(Found::Other(value)) => date(value)?,
                    _ => return None,
                };
                return Some(Window { from: date, until: date.saturating_add(Duration::from_secs(*seconds)) });
            }
            Test::Present => found.is_some_and(|found| !matches!(found, Found::Other(Value::Null))),
            Test::Absent => found.is_none(),
            Test::EqualsClaim(other) => two(other).is_some_and(|(one, other)| one == other),
            Test::DiffersFromClaim(other) => two(other).is_some_and(|(one, other)| one != other),
            Test::Proof(_) => text.is_some(),
            Test::Faulty(_) => false,
        };
        holds.then_some(Window::ALWAYS)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use serde_json::{Value, json};

    use super::{ClaimTest, ClaimValue};
    use crate::json::Object;
    use crate::scope::ClaimPath;

    const SKEW: Duration = Duration::from_secs(60);

    fn holds(test: &ClaimTest, claims: &Value, now: Duration) -> bool {
        let text = claims.to_string();
        test.holds(&Object::parse(text.as_bytes()).unwrap(), now, SKEW)
    }

    fn of(value: Value) -> Value {
        json!({ "a": value })
    }

    #[test]
    fn values_are_compared_by_type() {
        let table = [
            (ClaimValue::from("1"), of(json!("1")), true),
            (ClaimValue::from("1"), of(json!(1)), false),
            (ClaimValue::from("true"), of(json!(true)), false),
            (ClaimValue::from("a"), of(json!(["a"])), false),
            (ClaimValue::Bool(true), of(json!(true)), true),
            (ClaimValue::Bool(true), of(json!("true")), false),
            (ClaimValue::Bool(true), of(json!(1)), false),
            (ClaimValue::Bool(false), of(json!(null)), false),
            (ClaimValue::Bool(false), json!({}), false),
            (ClaimValue::Number(1), of(json!(1)), true),
            (ClaimValue::Number(1), of(json!(1.0)), true),
            (ClaimValue::Number(1), of(json!(1.5)), false),
            (ClaimValue::Number(1), of(json!("1")), false),
            (ClaimValue::Number(0), of(json!(-0.0)), true),
            (ClaimValue::Number(-3), of(json!(-3)), true),
            (ClaimValue::Number(-3), of(json!(-3.0)), true),
            (ClaimValue::Number(-3), of(json!(3)), false),
            (ClaimValue::Number(i64::MAX), of(json!(i64::MAX)), true),
            (ClaimValue::Number(i64::MAX), of(json!(u64::MAX)), false),
            (ClaimValue::Number(i64::MAX), of(json!(9.3e18)), false),
            (ClaimValue::Number(1 << 53), of(json!(9_007_199_254_740_992.0)), false),
        ];
        for (value, claims, expected) in table {
            assert_eq!(holds(&ClaimTest::equals("a", value.clone()), &claims, SKEW), expected, "{value:?} {claims}");
            let one_of = ClaimTest::one_of("a", [ClaimValue::from("other"), value.clone()]);
            assert_eq!(holds(&one_of, &claims, SKEW), expected, "{value:?} {claims}");
        }
    }

    #[test]
    fn a_claim_can_contain_a_text() {
        let member = ClaimTest::contains("a", "b c");
        for claims in [json!("b c"), json!(["b c"]), json!([1, null, "b c"])] {
            assert!(holds(&member, &of(claims.clone()), SKEW), "{claims}");
        }
        for claims in [json!("b"), json!("b c d"), json!(["b", "c"]), json!([["b c"]]), json!({"b c": 1}), json!(null)]
        {
            assert!(!holds(&member, &of(claims.clone()), SKEW), "{claims}");
        }
        let word = ClaimTest::contains_word("a", "b");
        for claims in [json!("b"), json!("a b"), json!("a  b c")] {
            assert!(holds(&word, &of(claims.clone()), SKEW), "{claims}");
        }
        for claims in [json!("bc"), json!("a\tb"), json!("a,b"), json!(["b"]), json!(["a b"]), json!("")] {
            assert!(!holds(&word, &of(claims.clone()), SKEW), "{claims}");
        }
    }

    #[test]
    fn a_date_is_neither_old_nor_in_the_future() {
        let test = ClaimTest::within_seconds("a", 300);
        let at = |date: Value, now: f64| holds(&test, &of(date), Duration::from_secs_f64(now));
        for (date, now, expected) in [
            (json!(1_000), 1_000.0, true),
            (json!(1_000), 1_300.0, true),
            (json!(1_000), 1_360.0, true),
            (json!(1_000), 1_360.5, false),
            (json!(1_000.5), 1_360.5, true),
            (json!(1_000), 940.0, true),
            (json!(1_000), 939.5, false),
            (json!("1000"), 1_000.0, false),
            (json!(-1), 0.0, false),
            (json!(1_u64 << 53), 1_000.0, false),
            (json!(null), 1_000.0, false),
            (json!([1_000]), 1_000.0, false),
        ] {
            assert_eq!(at(date.clone(), now), expected, "{date} {now}");
        }
        assert!(holds(&ClaimTest::within_seconds("a", u64::MAX), &of(json!(0)), Duration::MAX));
    }

    #[test]
    fn a_claim_can_be_inside_another() {
        let path = || ClaimPath::nested(["realm_access", "roles"]);
        let inside = json!({"realm_access": {"roles": ["admin"], "name": "x"}, "x": "x"});
        assert!(holds(&ClaimTest::contains(path(), "admin"), &inside, SKEW));
        assert!(holds(&ClaimTest::equals_claim(ClaimPath::nested(["realm_access", "name"]), "x"), &inside, SKEW));
        assert!(holds(&ClaimTest::absent(path()), &json!({"realm_access": "roles"}), SKEW));
        assert!(!holds(&ClaimTest::contains(path(), "admin"), &json!({"realm_access.roles": ["admin"]}), SKEW));
    }

    #[test]
    fn tests_that_no_token_passes_exclude_each_other() {
        let a = ["a", "b"];
        let tests = [
            ClaimTest::equals("c", "a"),
            ClaimTest::equals("c", "d e"),
            ClaimTest::one_of("c", a),
            ClaimTest::equals("c", ClaimValue::Number(1)),
            ClaimTest::contains("c", "a"),
            ClaimTest::contains("c", "b"),
            ClaimTest::contains_word("c", "e"),
            ClaimTest::within_seconds("c", 5),
            ClaimTest::equals_claim("c", "other"),
            ClaimTest::differs_from_claim("c", "other"),
            ClaimTest::present("c"),
            ClaimTest::absent("c"),
        ];
        // Each claim that some test might accept.
        let mut claims: Vec<Value> = ["a", "b", "d e", "e", "e a", "x"].into_iter().map(Value::from).collect();
        claims.extend([json!(1), json!(60), json!(["a", "b"]), json!(["b"]), json!(null), json!(true)]);
        let mut objects = vec![json!({"other": "x"})];
        for claim in claims {
            objects.extend(["x", "a", "b", "d e"].map(|other| json!({"c": claim, "other": other})));
        }
        for one in &tests {
            for other in &tests {
                let both = |claims: &Value| holds(one, claims, SKEW) && holds(other, claims, SKEW);
                assert_eq!(one.excludes(other), !objects.iter().any(both), "{one:?} {other:?}");
            }
        }
    }
}
