//! Routes that nearly decide a call, and why they do not.

use core::fmt;

use orbgate::{Decision, Engine, Route};

use crate::questions::route_of;

/// A route that nearly decides a call, and why it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearMiss<'e> {
    /// The route.
    pub route: Route<'e>,
    /// Why it does not decide the call.
    pub why: Miss,
    /// A target that the route decides, where the call's seems to be misspelt.
    pub meant: Option<String>,
}

/// Why a route does not decide a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Miss {
    /// It fits, and so does this template, which is more specific and comes first.
    LessSpecific(String),
    /// One segment is another one.
    Segment {
        /// Which, from 1.
        place: usize,
        /// The call's.
        found: String,
        /// The route's.
        expected: String,
    },
    /// The call has one segment more or less.
    Segments {
        /// How many the call has.
        found: usize,
        /// How many the route has.
        expected: usize,
    },
}

/// So many are named, the nearest first.
const NAMED: usize = 3;
/// Two words are near if they differ in so many characters.
const NEAR: usize = 2;
/// Longer words are not compared: nobody misspells them.
const LONGEST: usize = 64;

/// The routes of the method that nearly decide a call: those that fit and are less specific than the template that
/// does, those that differ in a few characters of one segment, and those that have one segment more or less. At most
/// three, the nearest first. Time is linear in the number of routes.
///
/// ```
/// use orbgate::Engine;
///
/// let near = orbgate_analysis::near_misses(Engine::external(), "GET", "/api/v1/external/voxie/7");
/// assert_eq!(near[0].route.as_str(), "GET /api/v1/external/voxies/{voxieId}");
/// assert_eq!(near[0].why.to_string(), "segment 4 is `voxie`, not `voxies`");
/// assert_eq!(near[0].meant.as_deref(), Some("/api/v1/external/voxies/7"));
/// ```
#[must_use]
pub fn near_misses<'e>(engine: &'e Engine, method: &str, target: &str) -> Vec<NearMiss<'e>> {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let decided = route_of(engine, method, target);
    let decides = match &decided {
        Ok(route) => Some(route.template()),
        Err(Decision::Deny(deny)) => deny.route().map(|route| route.template()),
        Err(Decision::Allow(_)) => None,
    };
    let found: Vec<_> = segments(path).collect();
    let of_the_method = engine.routes().filter(|route| route.method() == method);
    let mut near: Vec<_> = of_the_method
        .filter(|route| decides != Some(route.template()))
        .filter_map(|route| {
            let (distance, why, meant) = miss(&found, route.template(), decides)?;
            // Only what the route does decide is worth typing.
            let meant = meant.filter(|meant| route_of(engine, method, meant) == Ok(route));
            let near = NearMiss { route, why, meant };
            // Where something decides already, only what fits as well is worth a word.
            let worth = decides.is_none() || matches!(near.why, Miss::LessSpecific(_));
            worth.then_some((distance, near))
        })
        .collect();
    near.sort_by_key(|(distance, near)| (*distance, near.route.place()));
    near.truncate(NAMED);
    near.into_iter().map(|(_, near)| near).collect()
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

/// How far a template is from a path, why it does not decide it, and the path that was meant.
fn miss(
    found: &[&str],
    template: &str,
    decides: Option<&str>,
) -> Option<(usize, Miss, Option<String>)> {
    let expected: Vec<_> = segments(template).collect();
    let differs =
        |(found, expected): &(&&str, &&str)| !expected.starts_with('{') && found != expected;
    let pairs = found.iter().zip(&expected);
    let mut wrong = pairs.clone().enumerate().filter(|(_, pair)| differs(pair));
    let first = wrong.next();
    if found.len() != expected.len() {
        let nearly =
            found.len().abs_diff(expected.len()) == 1 && first.is_none() && !found.is_empty();
        let why = Miss::Segments {
            found: found.len(),
            expected: expected.len(),
        };
        return nearly.then_some((NEAR.saturating_add(1), why, None));
    }
    let Some((place, (given, literal))) = first else {
        return Some((0, Miss::LessSpecific(decides?.to_owned()), None));
    };
    if wrong.next().is_some() || given.len() > LONGEST || literal.len() > LONGEST {
        return None;
    }
    let (small, expected_small) = (given.to_ascii_lowercase(), literal.to_ascii_lowercase());
    let distance = strsim::osa_distance(&small, &expected_small);
    if distance > NEAR || distance >= literal.len() {
        return None;
    }
    let meant = pairs.map(|(found, expected)| match expected.starts_with('{') {
        true => *found,
        false => *expected,
    });
    let meant: String = meant.flat_map(|segment| ["/", segment]).collect();
    let why = Miss::Segment {
        place: place.saturating_add(1),
        found: (*given).to_owned(),
        expected: (*literal).to_owned(),
    };
    Some((distance, why, Some(meant)))
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LessSpecific(template) => write!(f, "fits, but `{template}` is more specific"),
            Self::Segment {
                place,
                found,
                expected,
            } => write!(f, "segment {place} is `{found}`, not `{expected}`"),
            Self::Segments { found, expected } => {
                write!(f, "has {expected} segments, and the call {found}")
            }
        }
    }
}

/// The scope among these, separated by spaces, that is nearly the one which is needed.
///
/// ```
/// let near = orbgate_analysis::near_scope("read:items", "write:items read:item");
/// assert_eq!(near, Some("read:item"));
/// ```
#[must_use]
pub fn near_scope<'s>(needed: &str, carried: &'s str) -> Option<&'s str> {
    let carried = carried
        .split(' ')
        .filter(|scope| scope.len() <= LONGEST && *scope != needed);
    let distance = |scope: &str| {
        strsim::osa_distance(&scope.to_ascii_lowercase(), &needed.to_ascii_lowercase())
    };
    let near = carried.map(|scope| (distance(scope), scope));
    let near = near
        .filter(|(distance, _)| *distance <= NEAR && distance.saturating_mul(3) <= needed.len());
    near.min().map(|(_, scope)| scope)
}
