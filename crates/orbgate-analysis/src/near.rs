//! Finds routes that almost match a call, and scopes that almost match a name.

use core::fmt;

use orbgate::sorted::sort_by_key;
use orbgate::{Decision, Detail, Engine, Route};
use orbgate_yaml::quoted;

use crate::questions::route_of;

/// A route that almost matches a call, and the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearMiss<'e> {
    /// The route.
    pub route: Route<'e>,
    /// The reason why it doesn't decide the call.
    pub why: Miss,
    /// A target that the route decides, if the call's target seems to be misspelt.
    pub meant: Option<String>,
}

/// Why a route doesn't decide a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Miss {
    /// It matches, but this more specific template also matches and is chosen.
    LessSpecific(String),
    /// It matches the path that the call seems to mean, but the call's spelling is invalid.
    Malformed(Detail),
    /// It matches, except for the trailing slash that the policy requires.
    Slash,
    /// It starts with this path, and the rest of it is the call's path.
    Start(String),
    /// One segment differs.
    Segment {
        /// The segment's position, from 1.
        location: usize,
        /// The segment in the call.
        found: String,
        /// The segment in the route.
        expected: String,
    },
    /// The call has one segment more or less.
    Segments {
        /// The number of segments in the call.
        found: usize,
        /// The number of segments in the route.
        expected: usize,
    },
}

/// The maximum number of routes, the nearest first.
const NAMED: usize = 3;
/// The maximum number of characters in which similar words differ.
const NEAR: usize = 2;
/// Longer words aren't compared, because people don't type them.
const LONGEST: usize = 64;

/// The routes of the method that almost match a call, at most three, the nearest first. Time is linear in the number
/// of routes. They are:
///
/// - routes that match, but are less specific than the template that decides the call;
/// - routes that match except for the call's spelling;
/// - routes that only have additional segments at the start of their path;
/// - routes that differ in a few characters of one segment;
/// - routes that have one segment more or less.
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
    let decided = route_of(engine, method, target);
    let (decides, malformed) = match &decided {
        Ok(route) => (Some(route.template()), None),
        Err(decision) => (decision_template(decision), decision.detail()),
    };
    let method = &*method.to_ascii_uppercase();
    let call = Call {
        segments: segments(target),
        slash: match target.split(['?', '#']).next() {
            Some(path) if engine.trailing_slash() => Some(path.ends_with('/')),
            _ => None,
        },
        decides,
        malformed,
    };
    let of_the_method = engine.routes().filter(|route| route.method() == method);
    let mut near: Vec<_> = of_the_method
        .filter(|route| decides != Some(route.template()))
        .filter_map(|route| {
            let (distance, why, meant) = call.miss(route.template())?;
            // A target that the route doesn't decide is of no use.
            let meant = meant.filter(|meant| meant != target && route_of(engine, method, meant) == Ok(route));
            let near = NearMiss { route, why, meant };
            // If a template already decides the call, only other matching templates are of
            // interest.
            let worth = decides.is_none() || matches!(near.why, Miss::LessSpecific(_));
            worth.then_some((distance, near))
        })
        .collect();
    sort_by_key(&mut near, |(distance, near)| (*distance, near.route.location()));
    // If a route matches except for the spelling, no other route was meant.
    if let Some((0, first)) = near.first()
        && malformed.is_some()
        && first.meant.is_some()
    {
        near.retain(|(distance, near)| *distance == 0 && near.meant.is_some());
    }
    near.truncate(NAMED);
    near.into_iter().map(|(_, near)| near).collect()
}

fn decision_template<'e>(decision: &Decision<'e>) -> Option<&'e str> {
    let of_route = decision.route().filter(|_| !decision.is_allow()).map(|route| route.template());
    of_route.or_else(|| decision.closed().map(|closed| closed.template()))
}

/// The segments of a target's path. For a malformed target, the segments that it seems to mean: without a server,
/// without empty segments, and with `.` and `..` resolved. A valid target contains none of these.
fn segments(target: &str) -> Vec<&str> {
    let mut path = target.split(['?', '#']).next().unwrap_or_default();
    if let Some((_, behind)) = path.split_once("://") {
        path = behind.find('/').and_then(|at| behind.get(at..)).unwrap_or_default();
    }
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    segments
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{')
}

/// The parts of a call in which a route can differ.
struct Call<'c> {
    segments: Vec<&'c str>,
    /// If paths end in a slash, whether the call's path does.
    slash: Option<bool>,
    decides: Option<&'c str>,
    malformed: Option<Detail>,
}

impl Call<'_> {
    /// The distance of a template from the call, the reason why it doesn't decide the call, and the
    /// path that was meant.
    fn miss(&self, template: &str) -> Option<(usize, Miss, Option<String>)> {
        let found = &self.segments;
        let expected: Vec<_> = segments(template);
        let differs = |(found, expected): &(&&str, &&str)| !is_parameter(expected) && found != expected;
        if let Some(miss) = self.lacks_start(&expected) {
            return Some(miss);
        }
        let pairs = found.iter().zip(&expected);
        let mut wrong = pairs.clone().enumerate().filter(|(_, pair)| differs(pair));
        let first = wrong.next();
        if found.len() != expected.len() {
            let nearly = found.len().abs_diff(expected.len()) == 1 && first.is_none() && !found.is_empty();
            let why = Miss::Segments { found: found.len(), expected: expected.len() };
            return nearly.then_some((NEAR.saturating_add(1), why, None));
        }
        let meant = pairs.map(|(found, expected)| match is_parameter(expected) {
            true => *found,
            false => *expected,
        });
        let meant: String = meant.flat_map(|segment| ["/", segment]).collect();
        let meant = meant + self.end();
        let Some((location, (given, literal))) = first else {
            return match (self.decides, self.malformed) {
                (Some(decides), _) => Some((0, Miss::LessSpecific(decides.to_owned()), None)),
                (None, Some(_)) if found.is_empty() => None,
                (None, Some(detail)) => Some((0, Miss::Malformed(detail), Some(meant))),
                (None, None) if self.slash == Some(false) => Some((0, Miss::Slash, Some(meant))),
                (None, None) => None,
            };
        };
        if wrong.next().is_some() || given.len() > LONGEST || literal.len() > LONGEST {
            return None;
        }
        let (small, expected_small) = (given.to_ascii_lowercase(), literal.to_ascii_lowercase());
        let distance = strsim::osa_distance(&small, &expected_small);
        if distance > NEAR || distance >= literal.len() {
            return None;
        }
        let why = Miss::Segment {
            location: location.saturating_add(1),
            found: (*given).to_owned(),
            expected: (*literal).to_owned(),
        };
        Some((distance, why, Some(meant)))
    }

    /// The end of paths: a slash or nothing.
    const fn end(&self) -> &'static str {
        if self.slash.is_some() { "/" } else { "" }
    }

    /// The same for a call that only lacks literals at the start of the template, usually its base path.
    fn lacks_start(&self, expected: &[&str]) -> Option<(usize, Miss, Option<String>)> {
        let lacking = expected.len().checked_sub(self.segments.len())?;
        let (start, rest) = expected.split_at_checked(lacking)?;
        let mut pairs = self.segments.iter().zip(rest);
        let fits = pairs.all(|(found, expected)| is_parameter(expected) || found == expected);
        // A template of only parameters would match anything.
        let says_something = rest.iter().any(|segment| !is_parameter(segment));
        let literals = !start.is_empty() && !start.iter().any(|segment| is_parameter(segment));
        if !(fits && says_something && literals) {
            return None;
        }
        let join = |segments: &[&str]| -> String { segments.iter().flat_map(|segment| ["/", segment]).collect() };
        let start = join(start);
        let meant = format!("{start}{}{}", join(&self.segments), self.end());
        Some((1, Miss::Start(start), Some(meant)))
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LessSpecific(template) => write!(f, "fits, but `{template}` is more specific"),
            Self::Malformed(detail) => write!(f, "fits, but {}", detail.explanation()),
            Self::Slash => f.write_str("fits, but for the `/` at its end"),
            Self::Start(start) => write!(f, "starts with `{start}`, which the call lacks"),
            Self::Segment { location, found, expected } => {
                write!(f, "segment {location} is `{found}`, not `{expected}`")
            }
            Self::Segments { found, expected } => {
                write!(f, "has {expected} segments, and the call {found}")
            }
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for NearMiss<'_> {
    /// `{"route","location","why","meant"}`, with the reason as a sentence.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;

        let mut json = serializer.serialize_struct("NearMiss", 4)?;
        json.serialize_field("route", self.route.as_str())?;
        json.serialize_field("location", &self.route.location())?;
        json.serialize_field("why", &format_args!("{}", self.why))?;
        json.serialize_field("meant", &self.meant)?;
        json.end()
    }
}

/// The scope among these, separated by spaces, that is most similar to the required one.
///
/// ```
/// let near = orbgate_analysis::near_scope("read:items", "write:items read:item");
/// assert_eq!(near, Some("read:item"));
/// ```
#[must_use]
pub fn near_scope<'s>(needed: &str, carried: &'s str) -> Option<&'s str> {
    let carried = carried.split(' ').filter(|scope| scope.len() <= LONGEST && *scope != needed);
    let distance = |scope: &str| strsim::osa_distance(&scope.to_ascii_lowercase(), &needed.to_ascii_lowercase());
    let near = carried.map(|scope| (distance(scope), scope));
    let near = near.filter(|(distance, _)| *distance <= NEAR && distance.saturating_mul(3) <= needed.len());
    near.min().map(|(_, scope)| scope)
}

/// An error message for each of these scopes, separated by spaces, that the policy doesn't define.
pub(crate) fn lacking(engine: &Engine, scopes: &str) -> Vec<String> {
    let scopes = scopes.split(' ').filter(|scope| !scope.is_empty());
    let lacking = scopes.filter(|scope| engine.find_scope(scope).is_none());
    lacking.map(|scope| unknown(engine, scope)).collect()
}

/// The error message for a scope that the policy doesn't define.
pub(crate) fn unknown(engine: &Engine, name: &str) -> String {
    let known: Vec<_> = engine.scope_table().map(|scope| scope.name()).collect();
    let advice = match near_scope(name, &known.join(" ")) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if name.contains(',') => "; scopes are separated by spaces".to_owned(),
        None => String::new(),
    };
    format!("the policy has no scope {}{advice}", quoted(name))
}
