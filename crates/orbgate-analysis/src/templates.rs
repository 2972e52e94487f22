//! The templates of a policy, and targets that match them.

use std::collections::{BTreeSet, HashMap, HashSet};

use orbgate::Engine;
use orbgate::sorted::set_of;

pub(crate) use crate::meetings::Shape;

/// A template and the methods that it declares; a closed one declares none.
pub(crate) struct Template<'e> {
    shape: Vec<Option<&'e str>>,
    methods: Vec<&'e str>,
    /// The positions of its routes in the policy, one for each method.
    routes: Vec<u32>,
}

impl<'e> Template<'e> {
    pub(crate) fn shape(&self) -> &Shape<'e> {
        &self.shape
    }

    /// The positions of its routes in the policy, one for each method.
    pub(crate) fn routes(&self) -> &[u32] {
        &self.routes
    }

    pub(crate) fn methods(&self) -> &[&'e str] {
        &self.methods
    }

    /// The positions of its parameters.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = usize> {
        let segments = self.shape.iter().enumerate();
        segments.filter_map(|(position, literal)| literal.is_none().then_some(position))
    }

    /// Each literal with the length of its template and its position.
    fn literals(&self) -> impl Iterator<Item = (usize, usize, &'e str)> {
        let length = self.shape.len();
        let segments = self.shape.iter().enumerate();
        segments.filter_map(move |(position, literal)| Some((length, position, (*literal)?)))
    }
}

impl<'e> AsRef<Shape<'e>> for Template<'e> {
    fn as_ref(&self) -> &Shape<'e> {
        &self.shape
    }
}

/// The shape of a template as an engine lists it. If the policy's paths end in a slash, the last segment is an empty
/// literal. So a template of a policy with `trailing_slash: always` never equals one of another policy, except for the
/// root.
pub(crate) fn shape(template: &str) -> Vec<Option<&str>> {
    let segments = template.split('/').skip(1);
    let segments = segments.filter(|_| template != "/");
    segments.map(|segment| (!segment.starts_with('{')).then_some(segment)).collect()
}

/// Whether some path matches both. Literals that differ in case never match the same path.
pub(crate) fn fit_together(one: &Shape<'_>, two: &Shape<'_>) -> bool {
    let mut segments = one.iter().zip(two);
    one.len() == two.len() && segments.all(|(one, two)| one.is_none() || two.is_none() || one == two)
}

pub(crate) struct Templates<'e> {
    list: Vec<Template<'e>>,
    by_shape: HashMap<Vec<Option<&'e str>>, usize>,
}

impl<'e> Templates<'e> {
    pub(crate) fn of(engine: &'e Engine) -> Self {
        let mut templates = Self { list: Vec::new(), by_shape: HashMap::new() };
        for route in engine.routes() {
            templates.add(shape(route.template()), Some((route.method(), route.index())));
        }
        for closed in engine.closed() {
            templates.add(shape(closed.template()), None);
        }
        templates
    }

    fn add(&mut self, shape: Vec<Option<&'e str>>, route: Option<(&'e str, u32)>) {
        let at = *self.by_shape.entry(shape).or_insert_with_key(|shape| {
            self.list.push(Template { shape: shape.clone(), methods: Vec::new(), routes: Vec::new() });
            self.list.len().saturating_sub(1)
        });
        if let (Some(template), Some((method, route))) = (self.list.get_mut(at), route) {
            template.methods.push(method);
            template.routes.push(route);
        }
    }

    pub(crate) fn list(&self) -> impl Iterator<Item = &Template<'e>> {
        self.list.iter()
    }

    pub(crate) fn get(&self, shape: &Shape<'_>) -> Option<&Template<'e>> {
        self.list.get(*self.by_shape.get(shape)?)
    }

    /// The positions of routes whose method and template the other policy lacks.
    pub(crate) fn routes_lacking_in(&self, other: &Templates<'_>) -> HashSet<u32> {
        let lacking = |template: &Template<'e>| {
            let there = other.get(&template.shape).map_or(&[][..], Template::methods);
            let there: HashSet<_> = there.iter().collect();
            let routes = template.methods.iter().zip(&template.routes);
            let lacking = routes.filter(|(method, _)| !there.contains(method));
            lacking.map(|(_, route)| *route).collect::<Vec<_>>()
        };
        self.list.iter().flat_map(lacking).collect()
    }
}

/// Builds targets whose values aren't literals of either policy.
pub(crate) struct Spelling<'e> {
    /// By the length of the path, and the position in it.
    literals: HashSet<(usize, usize, &'e str)>,
    /// A value that isn't a literal, in any letter case.
    value: String,
}

impl<'e> Spelling<'e> {
    pub(crate) fn new(policies: [&Templates<'e>; 2]) -> Self {
        Self::other_than(policies, core::iter::empty())
    }

    /// The same for one policy, with values that also differ from these strings.
    pub(crate) fn apart_from<'t>(policy: &Templates<'e>, texts: impl Iterator<Item = &'t str>) -> Self {
        Self::other_than([policy, policy], texts)
    }

    fn other_than<'t>(policies: [&Templates<'e>; 2], texts: impl Iterator<Item = &'t str>) -> Self {
        let templates = policies.into_iter().flat_map(Templates::list);
        let literals: HashSet<_> = templates.flat_map(Template::literals).collect();
        let lower = |(_, _, literal): &(_, _, &str)| literal.to_ascii_lowercase();
        let own = literals.iter().map(lower);
        let taken: HashSet<_> = own.chain(texts.map(str::to_ascii_lowercase)).collect();
        // As short as possible, because both policies reject a target that is too long.
        let mut values = (1..=u64::MAX).map(|number| number.to_string());
        let value = values.find(|value| !taken.contains(value));
        Self { literals, value: value.unwrap_or_default() }
    }

    /// The most general target of a template.
    pub(crate) fn of(&self, shape: &Shape<'_>) -> String {
        target(shape.iter().map(|segment| segment.unwrap_or(&self.value)))
    }

    /// The most general target that matches both templates. If their literals differ in case, it has
    /// those of the first.
    pub(crate) fn of_both(&self, first: &Shape<'_>, second: &Shape<'_>) -> String {
        let segments = first.iter().zip(second);
        target(segments.map(|(one, two)| one.or(*two).unwrap_or(&self.value)))
    }

    /// The same with values that equal literals of the other template except for case; `None` if there
    /// is no such value.
    pub(crate) fn in_other_case(&self, shape: &Shape<'_>, other: &Shape<'_>) -> Option<String> {
        let mut changed = false;
        let mut segment = |(position, (own, other)): (usize, (&Option<&str>, &Option<&str>))| {
            let Some(literal) = own.or(*other) else {
                return self.value.clone();
            };
            let variant = own.is_none().then(|| self.other_case(literal, shape.len(), position));
            changed |= variant.iter().any(Option::is_some);
            variant.flatten().unwrap_or_else(|| literal.to_owned())
        };
        let segments = shape.iter().zip(other).enumerate();
        let segments: Vec<_> = segments.map(&mut segment).collect();
        changed.then(|| target(segments.iter().map(String::as_str)))
    }

    /// A value that differs from the literal only in case, and that isn't a literal at this position of a path of
    /// this length, unless all such values are literals. `None` if the literal has no letter.
    fn other_case(&self, literal: &str, length: usize, position: usize) -> Option<String> {
        let letters = literal.bytes().filter(u8::is_ascii_alphabetic).count();
        let mut variants = (1..1_u32 << letters.min(16)).map(|flips| in_case(literal, flips));
        let last = variants.clone().next_back();
        variants.find(|variant| !self.literals.contains(&(length, position, variant.as_str()))).or(last)
    }

    /// A target of a template whose first value contains an escape.
    pub(crate) fn with_escape(&self, shape: &Shape<'_>) -> Option<String> {
        let position = shape.iter().position(Option::is_none)?;
        Some(self.with_value(shape, position, &format!("{0}%20{0}", self.value)))
    }

    /// A target of a template, with this value for the parameter at a position.
    pub(crate) fn with_value(&self, shape: &Shape<'_>, position: usize, value: &str) -> String {
        let value_at = |at| {
            if at == position { value } else { self.value.as_str() }
        };
        let segments = shape.iter().enumerate();
        target(segments.map(|(at, segment)| segment.unwrap_or_else(|| value_at(at))))
    }

    /// The literals that one of the policies lacks at a position in templates of this length, with one
    /// character escaped. Most literals have no character that can be escaped.
    pub(crate) fn escapable(&self, old: &Templates<'_>, new: &Templates<'_>) -> BTreeSet<(usize, usize, String)> {
        let [old, new] = [old, new].map(|templates| {
            let literals = templates.list.iter().flat_map(Template::literals);
            let escaped =
                literals.filter_map(|(length, position, literal)| Some((length, position, escaped(literal)?)));
            set_of(escaped)
        });
        old.symmetric_difference(&new).cloned().collect()
    }
}

/// A literal with one of its characters escaped, if it has one that can be: not a letter, digit, `-`, `.`,
/// `_` or `~` (P16).
fn escaped(literal: &str) -> Option<String> {
    let at = literal.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-._~".contains(letter)))?;
    let (before, after) = literal.split_at_checked(at)?;
    let mut letters = after.chars();
    let letter = u32::from(letters.next()?);
    Some(format!("{before}%{letter:02X}{}", letters.as_str()))
}

/// The literal with a different case for those of its first letters whose bits are set.
fn in_case(literal: &str, mut flips: u32) -> String {
    let mut letter = |letter: char| {
        if !letter.is_ascii_alphabetic() {
            return letter;
        }
        let flip = flips & 1 == 1;
        flips >>= 1;
        match (flip, letter.is_ascii_lowercase()) {
            (false, _) => letter,
            (true, true) => letter.to_ascii_uppercase(),
            (true, false) => letter.to_ascii_lowercase(),
        }
    };
    literal.chars().map(&mut letter).collect()
}

fn target<'a>(segments: impl Iterator<Item = &'a str>) -> String {
    let mut target = String::new();
    for segment in segments {
        target.push('/');
        target.push_str(segment);
    }
    if target.is_empty() {
        target.push('/');
    }
    target
}
