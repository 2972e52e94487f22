//! Scopes that a token earns: names that begin with `earned:`, for what else its issuer states about it.

use core::time::Duration;
use std::collections::HashSet;

use crate::claim_test::{ClaimTest, ClaimValue, Test, Window, window};
use crate::json::Object;

/// The most names that one issuer derives.
pub(crate) const MOST: usize = 64;

/// The longest value of a challenge's parameter, in bytes. A challenge has at most three that are long, and proxies have a buffer of a
/// fixed size for the headers of a response: 4,096 bytes in nginx, which answers 500 or 502 if they don't fit.
#[doc(hidden)] // for gates
pub const LONGEST_PARAMETER: usize = 1_024;

/// A scope that a token has if its claims pass tests. See [`Issuer::derive`](crate::Issuer::derive).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derived {
    name: Box<str>,
    /// `None` for every token.
    tests: Option<Vec<ClaimTest>>,
}

/// The login that gives a token scopes (RFC 9470).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Login<'d> {
    /// The values of `acr` that are enough, in the order of the configuration; empty if any is.
    pub acr_values: Vec<&'d str>,
    /// How long ago the login can be, in seconds; `None` for any time.
    pub max_age: Option<u64>,
}

impl Derived {
    /// A scope of every token. Its name begins with `earned:`.
    #[must_use]
    pub fn always(name: impl Into<String>) -> Self {
        Self { name: name.into().into(), tests: None }
    }

    /// A scope of each token that passes all these tests. Its name begins with `earned:`.
    #[must_use]
    pub fn new(name: impl Into<String>, tests: impl IntoIterator<Item = ClaimTest>) -> Self {
        Self { name: name.into().into(), tests: Some(tests.into_iter().collect()) }
    }

    /// The name of the scope.
    #[must_use]
    pub const fn name(&self) -> &str {
        &self.name
    }

    /// The tests; `None` if every token has the scope.
    pub(crate) fn tests(&self) -> Option<&[ClaimTest]> {
        self.tests.as_deref()
    }

    /// Whether only a proof gives the scope.
    pub(crate) fn is_of_proof(&self) -> bool {
        let mut tests = self.tests().unwrap_or_default().iter().peekable();
        tests.peek().is_some() && tests.all(|test| matches!(test.test, Test::Proof(_)))
    }

    /// Adds what a login must be to give the scope; `None` if no login does.
    fn add_to<'d>(&'d self, login: &mut Wanted<'d>) -> Option<()> {
        let tests = self.tests().filter(|tests| !tests.is_empty())?;
        tests.iter().try_for_each(|test| match (test.claim.names(), &test.test) {
            ([claim], Test::WithinSeconds(seconds)) if claim == "auth_time" => {
                login.max_age = Some(login.max_age.map_or(*seconds, |least| least.min(*seconds)));
                Some(())
            }
            ([claim], _) if claim == "acr" => {
                let mut values = test.test.values()?.iter().map(|value| match value {
                    ClaimValue::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                let values: Vec<_> = values.by_ref().collect::<Option<_>>()?;
                let fit = match login.acr_values.take() {
                    Some(earlier) => {
                        let values: HashSet<_> = values.into_iter().collect();
                        earlier.into_iter().filter(|value| values.contains(value)).collect()
                    }
                    None => values,
                };
                login.acr_values = Some(fit);
                Some(())
            }
            _ => None,
        })
    }
}

#[derive(Default)]
struct Wanted<'d> {
    acr_values: Option<Vec<&'d str>>,
    max_age: Option<u64>,
}

/// One login that gives all these scopes; `None` if no login does.
pub(crate) fn login<'d, 'n>(derived: &'d [Derived], names: impl IntoIterator<Item = &'n str>) -> Option<Login<'d>> {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    names.dedup();
    let wanted = derived.iter().filter(|derived| names.binary_search(&derived.name()).is_ok());
    let (mut login, mut count) = (Wanted::default(), 0_usize);
    for derived in wanted {
        derived.add_to(&mut login)?;
        count = count.saturating_add(1);
    }
    let is_possible = login.acr_values.as_ref().is_none_or(|values| !values.is_empty());
    let Wanted { acr_values, max_age } = login;
    let login = Login { acr_values: acr_values.unwrap_or_default(), max_age };
    (is_possible && count > 0 && count == names.len()).then_some(login)
}

/// The scopes that a token's claims earn, each with the times at which it does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Earned(Vec<(usize, Window)>);

impl Earned {
    pub(crate) fn of(derived: &[Derived], claims: &Object<'_>) -> Self {
        let earned = derived.iter().enumerate().filter_map(|(index, derived)| {
            let tests = derived.tests().unwrap_or_default();
            Some((index, window(tests, claims)?))
        });
        Self(earned.collect())
    }

    /// The scopes that the token has now.
    pub(crate) fn names<'d>(
        &self,
        derived: &'d [Derived],
        now: Duration,
        skew: Duration,
    ) -> impl Iterator<Item = &'d str> {
        let now = self.0.iter().filter(move |(_, window)| window.has(now, skew));
        now.filter_map(|(index, _)| derived.get(*index)).map(Derived::name)
    }

    /// How many bytes it takes.
    pub(crate) const fn bytes(&self) -> usize {
        self.0.len().saturating_mul(size_of::<(usize, Window)>())
    }
}

/// A scope string with these scopes added. Without any, it is neither changed nor copied.
pub(crate) fn with<'d>(scopes: Box<str>, names: impl Iterator<Item = &'d str>) -> Box<str> {
    let mut names = names.peekable();
    if names.peek().is_none() {
        return scopes;
    }
    let mut all = String::from(scopes);
    for name in names {
        if !all.is_empty() {
            all.push(' ');
        }
        all.push_str(name);
    }
    all.into()
}

#[cfg(test)]
mod tests {
    use super::{Derived, Login, login};
    use crate::claim_test::{ClaimTest, ClaimValue};

    #[test]
    fn a_login_is_of_acr_and_auth_time_only() {
        let derived = [
            Derived::always("earned:any"),
            Derived::new("earned:mfa", [ClaimTest::one_of("acr", ["b", "a", "c"])]),
            Derived::new("earned:strong", [ClaimTest::one_of("acr", ["c", "b"])]),
            Derived::new("earned:other", [ClaimTest::equals("acr", "x")]),
            Derived::new("earned:recent", [ClaimTest::within_seconds("auth_time", 300)]),
            Derived::new("earned:fresh", [ClaimTest::equals("acr", "b"), ClaimTest::within_seconds("auth_time", 60)]),
            Derived::new("earned:admin", [ClaimTest::contains("roles", "admin")]),
            Derived::new("earned:both", [ClaimTest::equals("acr", "a"), ClaimTest::contains("roles", "admin")]),
            Derived::new("earned:number", [ClaimTest::equals("acr", ClaimValue::Number(2))]),
            Derived::new("earned:issued", [ClaimTest::within_seconds("iat", 60)]),
            Derived::new("earned:present", [ClaimTest::present("acr")]),
        ];
        let of = |names: &[&str]| login(&derived, names.iter().copied());
        let some = |acr: &[&'static str], max_age| Some(Login { acr_values: acr.to_vec(), max_age });
        for (names, expected) in [
            (&["earned:mfa"][..], some(&["b", "a", "c"], None)),
            (&["earned:strong", "earned:mfa", "earned:mfa"], some(&["b", "c"], None)),
            (&["earned:recent"], some(&[], Some(300))),
            (&["earned:recent", "earned:fresh"], some(&["b"], Some(60))),
            (&["earned:other", "earned:mfa"], None),
            (&["earned:any"], None),
            (&["earned:mfa", "earned:any"], None),
            (&["earned:admin"], None),
            (&["earned:both"], None),
            (&["earned:number"], None),
            (&["earned:issued"], None),
            (&["earned:present"], None),
            (&["earned:unknown"], None),
            (&["earned:mfa", "earned:unknown"], None),
            (&[], None),
        ] {
            assert_eq!(of(names), expected, "{names:?}");
        }
    }
}
