//! Finds out whether two templates match a common path. One of them might not be a valid policy template; if in
//! doubt, they do.

use orbgate::Policy;
use orbgate::policy::Api;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment<'t> {
    Literal(&'t str),
    Parameter,
    /// A string with characters that a policy's literal can't contain, which might be another
    /// spelling of a literal.
    Spelling(&'t str),
    /// A parameter within a segment.
    Partial,
    /// A string that might match one or more segments.
    Rest,
}

#[derive(Clone, Debug)]
pub(super) struct Template<'t> {
    segments: Vec<Segment<'t>>,
    /// Whether it includes a query, such as `/items?export=all`. A policy decides only by the path.
    has_query: bool,
}

impl<'t> Template<'t> {
    /// `None` for a path with an empty segment, because such a path is never allowed.
    pub(super) fn new(path: &'t str) -> Option<Self> {
        let end = path.find('?');
        let has_query = end.is_some();
        let path = path.get(..end.unwrap_or(path.len())).unwrap_or_default();
        let path = path.strip_prefix('/').unwrap_or(path);
        let segments = path.split('/').filter(|_| !path.is_empty());
        let segments: Vec<_> = segments.map(Segment::new).collect();
        let is_empty = |segment: &Segment<'_>| *segment == Segment::Literal("");
        (!segments.iter().any(is_empty)).then_some(Self { segments, has_query })
    }

    /// A policy's template: a segment that isn't a parameter is a literal, even if it contains
    /// asterisks.
    pub(super) fn of_policy(path: &'t str) -> Self {
        let segment = |text: &'t str| match text {
            text if text.starts_with('{') => Segment::Parameter,
            text => Segment::Literal(text),
        };
        let path = path.strip_prefix('/').unwrap_or(path);
        let segments = path.split('/').filter(|_| !path.is_empty());
        Self { segments: segments.map(segment).collect(), has_query: false }
    }

    /// Whether some path matches both.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let (mut one, mut other) = (self.segments.iter(), other.segments.iter());
        loop {
            match (one.next(), other.next()) {
                (None, None) => return true,
                (Some(Segment::Rest), Some(_)) | (Some(_), Some(Segment::Rest)) => return true,
                (None, _) | (_, None) => return false,
                (Some(Segment::Literal(a)), Some(Segment::Literal(b))) if !a.eq_ignore_ascii_case(b) => {
                    return false;
                }
                (Some(Segment::Literal(a)), Some(Segment::Spelling(b)))
                | (Some(Segment::Spelling(b)), Some(Segment::Literal(a)))
                    if !is_spelling(b, a) =>
                {
                    return false;
                }
                _ => {}
            }
        }
    }

    /// Whether a policy's template can be like this: segments that are literals or parameters, and no query.
    pub(super) fn is_plain(&self) -> bool {
        let is_plain = |segment: &Segment<'_>| matches!(segment, Segment::Literal(_) | Segment::Parameter);
        !self.has_query && self.segments.iter().all(is_plain)
    }

    /// Whether each segment is a literal, in any spelling, or a parameter, and there is no query.
    pub(super) fn has_whole_segments(&self) -> bool {
        !self.has_query && !self.segments.iter().any(|segment| matches!(segment, Segment::Partial | Segment::Rest))
    }

    /// Whether a policy that has both chooses this one for a path that matches both: a literal beats a parameter at the
    /// first segment where they differ.
    pub(super) fn is_chosen_before(&self, other: &Self) -> bool {
        let mut segments = self.segments.iter().zip(&other.segments);
        let first = segments.find(|(one, other)| core::mem::discriminant(*one) != core::mem::discriminant(*other));
        first.is_some_and(|(one, _)| matches!(one, Segment::Literal(_)))
    }

    /// Whether it is at least as specific as the other one, in which case OpenAPI matches it first. No path is more
    /// specific than a path with a query.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let within = |(one, other): (&Segment<'_>, &Segment<'_>)| match (one, other) {
            (_, Segment::Parameter) => *one != Segment::Rest,
            (Segment::Literal(_), Segment::Partial) => true,
            (Segment::Literal(a), Segment::Literal(b)) => a == b,
            (Segment::Spelling(a), Segment::Literal(b)) => is_spelling(a, b),
            _ => false,
        };
        !other.has_query
            && self.segments.len() == other.segments.len()
            && self.segments.iter().zip(&other.segments).all(within)
    }

    /// The number of segments of its paths, unless there can be more.
    pub(super) fn length(&self) -> Option<usize> {
        (!self.segments.contains(&Segment::Rest)).then_some(self.segments.len())
    }
}

impl<'t> Segment<'t> {
    fn new(text: &'t str) -> Self {
        let open = text.matches('{').count();
        if open != text.matches('}').count() || text.contains('*') {
            return Self::Rest;
        }
        if let Some(name) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            return match name {
                name if name.contains('+') => Self::Rest,
                name if is_name(name) => Self::Parameter,
                _ => Self::Partial,
            };
        }
        match text {
            text if open > 0 && text.contains('+') => Self::Rest,
            text if text.bytes().all(orbgate::is_literal) => Self::Literal(text),
            text if open == 0 => Self::Spelling(text),
            _ => Self::Partial,
        }
    }
}

/// Whether a name contains nothing that looks like an expression.
fn is_name(name: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    !name.is_empty() && name.bytes().all(letters)
}

/// Whether a string is another spelling of a literal, as `%61` is of `a`. Letter case is ignored.
fn is_spelling(text: &str, literal: &str) -> bool {
    let mut rest = text.as_bytes();
    let decoded = core::iter::from_fn(|| {
        let (byte, after) = match rest {
            [b'%', high, low, after @ ..] => (hexadecimal(*high, *low).unwrap_or(b'%'), after),
            [byte, after @ ..] => (*byte, after),
            [] => return None,
        };
        rest = after;
        Some(byte.to_ascii_lowercase())
    });
    decoded.eq(literal.bytes().map(|byte| byte.to_ascii_lowercase()))
}

fn hexadecimal(high: u8, low: u8) -> Option<u8> {
    let [high, low] = [high, low].map(|digit| char::from(digit).to_digit(16));
    u8::try_from(high?.saturating_mul(16).saturating_add(low?)).ok()
}

/// The path of a template as the engine matches it.
pub(super) fn full_path(policy: &Policy, api: &Api, template: &str) -> String {
    let base_path = api.base_path().unwrap_or_default();
    let mut path = match template {
        "/" if !base_path.is_empty() => base_path.to_owned(),
        template => format!("{base_path}{template}"),
    };
    if policy.trailing_slash() && path != "/" {
        path.push('/');
    }
    path
}

/// Whether two paths differ only in the names of whole parameters.
pub(super) fn is_same_shape(one: &str, other: &str) -> bool {
    shape(one) == shape(other)
}

/// A path without the names of its parameters.
pub(super) fn shape(path: &str) -> String {
    let segment = |segment: &str| match Segment::new(segment) {
        Segment::Parameter => "{}".to_owned(),
        _ => segment.to_owned(),
    };
    let segments: Vec<_> = path.split('/').map(segment).collect();
    segments.join("/")
}
