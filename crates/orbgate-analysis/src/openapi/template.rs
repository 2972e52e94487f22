//! Which paths two templates have in common. One may be no template of a policy: what cannot be told counts as common.

/// A segment of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment<'t> {
    Literal(&'t str),
    Parameter,
    /// A parameter within a segment, or what a literal of a policy cannot have.
    Partial,
    /// What may be one segment or more.
    Rest,
}

/// A template's segments.
#[derive(Clone, Debug)]
pub(super) struct Template<'t>(Vec<Segment<'t>>);

impl<'t> Template<'t> {
    /// `None` where no path that is decided could be meant: one with an empty segment.
    pub(super) fn new(path: &'t str) -> Option<Self> {
        let end = path.find(['?', '#']).unwrap_or(path.len());
        let path = path.get(..end).unwrap_or_default();
        let path = path.strip_prefix('/').unwrap_or(path);
        if path.is_empty() {
            return Some(Self(Vec::new()));
        }
        let segments: Vec<_> = path.split('/').map(Segment::new).collect();
        let is_empty = |segment: &Segment<'_>| *segment == Segment::Literal("");
        (!segments.iter().any(is_empty)).then_some(Self(segments))
    }

    /// A template that a policy has: what is not a parameter is a literal, stars and all.
    pub(super) fn of_policy(path: &'t str) -> Self {
        let segment = |text: &'t str| match text {
            text if text.starts_with('{') => Segment::Parameter,
            text => Segment::Literal(text),
        };
        let path = path.strip_prefix('/').unwrap_or(path);
        let segments = path.split('/').filter(|_| !path.is_empty());
        Self(segments.map(segment).collect())
    }

    /// Whether a path fits both.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let (mut one, mut other) = (self.0.iter(), other.0.iter());
        loop {
            match (one.next(), other.next()) {
                (None, None) => return true,
                (Some(Segment::Rest), Some(_)) | (Some(_), Some(Segment::Rest)) => return true,
                (None, _) | (_, None) => return false,
                (Some(Segment::Literal(a)), Some(Segment::Literal(b)))
                    if !a.eq_ignore_ascii_case(b) =>
                {
                    return false;
                }
                _ => {}
            }
        }
    }

    /// Whether it is more concrete than the other one, or says the same: OpenAPI asks it first.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let within = |(one, other): (&Segment<'_>, &Segment<'_>)| match (one, other) {
            (_, Segment::Parameter) => *one != Segment::Rest,
            (Segment::Literal(_), Segment::Partial) => true,
            (Segment::Literal(a), Segment::Literal(b)) => a == b,
            _ => false,
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(within)
    }

    /// How many segments its paths have, unless there may be more.
    pub(super) fn length(&self) -> Option<usize> {
        (!self.0.contains(&Segment::Rest)).then_some(self.0.len())
    }
}

impl<'t> Segment<'t> {
    fn new(text: &'t str) -> Self {
        let open = text.matches('{').count();
        if open != text.matches('}').count() || text.contains('*') {
            return Self::Rest;
        }
        if let Some(name) = text
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
        {
            return match name {
                name if name.contains('+') => Self::Rest,
                name if is_name(name) => Self::Parameter,
                _ => Self::Partial,
            };
        }
        match text {
            text if open > 0 && text.contains('+') => Self::Rest,
            text if text.bytes().all(is_literal) => Self::Literal(text),
            _ => Self::Partial,
        }
    }
}

/// Whether nothing in a name hints at an expression.
fn is_name(name: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    !name.is_empty() && name.bytes().all(letters)
}

fn is_literal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!$&'()+,-.:=@_~".contains(&byte)
}

/// Whether two paths differ at most in the names of whole parameters.
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
