//! The calls that a property applies to.

use core::fmt;
use core::str::FromStr;

use orbgate::is_method;
use orbgate_yaml::quoted;

use crate::templates::Shape;

/// Calls of a route, of a method and a path with `*`, by scope without a route, or all calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    pub(super) pattern: Pattern,
    /// The original string.
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// `*`
    All,
    /// `scope SCOPE`
    Scope(String),
    /// `METHOD /path`, or any method.
    Paths { method: Option<String>, paths: Paths },
}

/// The paths that a template of the policy decides, or all paths of a pattern, whichever templates decide
/// them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Paths {
    /// `None` for any segment.
    segments: Vec<Option<String>>,
    /// Whether one or more further segments follow.
    longer: bool,
    /// Whether only the template with this shape is meant: it contains `{name}` and no `*`.
    pub(super) is_template: bool,
}

impl Paths {
    /// The paths with as many segments as this template, in the form of a shape; `None` if there aren't any. If only one template is
    /// meant, other templates have none.
    pub(super) fn like(&self, template: &Shape<'_>) -> Option<Vec<Option<&str>>> {
        self.form_like(template).filter(|own| !self.is_template || own == template)
    }

    /// The same, including paths of other templates.
    pub(super) fn form_like(&self, template: &Shape<'_>) -> Option<Vec<Option<&str>>> {
        let slash = usize::from(template.last() == Some(&Some("")));
        let length = template.len().saturating_sub(slash);
        // For the path `/*`, the path `/` has no segment.
        let longer = self.longer && (length > self.segments.len() || self.segments.is_empty());
        if template.len() != self.segments.len() && !longer {
            return None;
        }
        let own = self.segments.iter().map(Option::as_deref);
        let more = core::iter::repeat(None);
        let exact = template.len() == self.segments.len() && !self.longer;
        let own: Vec<_> = own.chain(more).take(template.len()).collect();
        // A `*` within a literal is probably meant as a pattern, unless the policy has that literal.
        let is_pattern = |(own, segment): (&Option<&str>, &Option<&str>)| {
            segment.is_none() && own.is_some_and(|own| own.contains('*'))
        };
        let is_like = (exact || longer) && !own.iter().zip(template).any(is_pattern);
        is_like.then_some(own)
    }

    /// Whether they include all paths that a template decides.
    pub(super) fn have_all_of(&self, template: &Shape<'_>) -> bool {
        let own = self.like(template);
        own.is_some_and(|own| {
            let mut segments = own.iter().zip(template);
            segments.all(|(own, segment)| own.is_none() || own == segment)
        })
    }
}

impl Calls {
    /// The literals in the calls.
    pub(super) fn literals(&self) -> impl Iterator<Item = &str> {
        let segments = match &self.pattern {
            Pattern::Paths { paths, .. } => paths.segments.as_slice(),
            Pattern::All | Pattern::Scope(_) => &[],
        };
        segments.iter().flatten().map(String::as_str)
    }
}

/// `*`, `scope SCOPE`, `METHOD /path` or `/path`. A path with `{name}` is a template of the policy, and means all paths
/// that the template decides. A segment `*` is any one segment, and a final `*` is one or more segments. In a path that
/// contains both, `{name}` is also any one segment.
impl FromStr for Calls {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pattern = match text.split_once(' ') {
            None if text == "*" => Some(Pattern::All),
            Some(("scope", name)) => is_scope(name).then(|| Pattern::Scope(name.to_owned())),
            Some((method, path)) => paths(path).filter(|_| is_method(method.as_bytes())).map(|paths| {
                let method = Some(method.to_owned());
                Pattern::Paths { method, paths }
            }),
            None => paths(text).map(|paths| Pattern::Paths { method: None, paths }),
        };
        match pattern {
            Some(pattern) => Ok(Self { pattern, text: text.to_owned() }),
            None => Err(format!(
                "calls are `/path`, `METHOD /path`, `scope SCOPE` or `*`, where a segment may be `*`, not {}",
                quoted(text)
            )),
        }
    }
}

fn is_scope(name: &str) -> bool {
    !name.is_empty() && !name.contains(' ')
}

/// A path whose segments are valid literals, `*` or `{name}`.
fn paths(path: &str) -> Option<Paths> {
    let path = path.strip_prefix('/')?;
    let segments: Vec<_> = match path {
        "" => Vec::new(),
        path => path.split('/').collect(),
    };
    let is_template = path.contains('{') && !segments.contains(&"*");
    let last = segments.len().saturating_sub(1);
    let (segments, longer) = match segments.split_last() {
        Some((&"*", segments)) => (segments, true),
        _ => (segments.as_slice(), false),
    };
    let segments = (0..).zip(segments).map(|(at, segment)| match *segment {
        "*" => Some(None),
        // The trailing slash that some policies require.
        "" if at == last && at > 0 => Some(Some(String::new())),
        parameter if parameter.starts_with('{') && parameter.ends_with('}') => Some(None),
        literal => is_literal(literal).then(|| Some(literal.to_owned())),
    });
    Some(Paths { segments: segments.collect::<Option<_>>()?, longer, is_template })
}

/// Whether it is a valid literal of a policy.
fn is_literal(text: &str) -> bool {
    let only = |byte: u8| text.bytes().all(|of_text| of_text == byte);
    text.bytes().all(orbgate::is_literal) && !only(b'.') && !only(b'*')
}

impl fmt::Display for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
