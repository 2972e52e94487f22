//! Advice on templates as the route tables of web frameworks write them: Rails, Laravel, ASP.NET, Express, FastAPI, Flask,
//! Django, Slim, Next.js, Go.
//!
//! Some of them are valid here and mean something else: `:id` is a literal.

use orbgate_yaml::quoted;

/// The most routes that a message proposes.
const PROPOSED: usize = 4;
/// The longest template that gets advice, in bytes. Messages cut what is longer.
const LONGEST: usize = 120;

/// What to write instead of a template of another format; `None` if it isn't one, or if what it means can't be
/// proposed. Each proposed template is valid and means nothing else. Without a method, templates are proposed, not routes.
pub(super) fn advice(method: &str, template: &str, is_template: fn(&str) -> bool) -> Option<String> {
    let starts = ["/", "(/", "[/", "{/"].iter().any(|start| template.starts_with(start));
    let is_query = |after: &str| after.contains('=') && !after.contains('/');
    if !starts || template.len() > LONGEST || template.split_once('?').is_some_and(|(_, after)| is_query(after)) {
        return None;
    }
    let path = template.strip_suffix('/').unwrap_or(template);
    let Meant { templates, has_optional, has_rest, has_format, is_cut } = Meant::of(path);
    if templates.is_empty() || templates == [path] || templates == [template] {
        return None;
    }
    let space = if method.is_empty() { "" } else { " " };
    let routes: Vec<_> = templates.iter().map(|template| format!("{method}{space}{template}")).collect();
    let is_ours = |template: &String| is_template(template) && Meant::of(template).templates == [template.as_str()];
    if !templates.iter().all(is_ours) || routes.iter().any(|route| route.len() > LONGEST) {
        return None;
    }
    let what = match (has_rest, has_optional) {
        (true, _) => {
            "has a part of any number of segments, and a parameter takes one: write a route for each number of segments, such as"
        }
        (_, true) if is_cut => "has optional parts, and a template has none: write a route for each case, such as",
        (_, true) => "has an optional part, and a template has none: write",
        _ => "is in another format: a parameter is a whole segment such as `{id}`, without type or pattern; write",
    };
    let routes = routes.iter().map(|route| quoted(route)).collect::<Vec<_>>().join(" and ");
    let format = if has_format { "; `.json` stands for each format" } else { "" };
    Some(format!("{} {what} {routes}{format}", quoted(template)))
}

/// The templates that one of another format means, and what it has that templates don't have.
struct Meant {
    templates: Vec<String>,
    has_optional: bool,
    has_rest: bool,
    /// Whether a literal `.json` stands for the formats of a path.
    has_format: bool,
    /// Whether more could be proposed.
    is_cut: bool,
}

impl Meant {
    fn of(template: &str) -> Self {
        let mut meant =
            Self { templates: Vec::new(), has_optional: false, has_rest: false, has_format: false, is_cut: false };
        meant.without_groups(template, PROPOSED);
        meant
    }

    /// Adds what a template means, without and with each optional group: `(/:type)`, `{/:type}`, `[/{type}]`.
    fn without_groups(&mut self, template: &str, left: usize) {
        let group = template.bytes().enumerate().find_map(|(start, _)| group(template.get(start..)?, start));
        match group {
            // A template has few groups: what is nested deeper is left out.
            Some((start, inner, end)) if left > 0 => {
                self.has_optional = true;
                let (before, after) =
                    (template.get(..start).unwrap_or_default(), template.get(end..).unwrap_or_default());
                self.without_groups(&[before, after].concat(), left.saturating_sub(1));
                self.without_groups(&[before, inner, after].concat(), left.saturating_sub(1));
            }
            Some(_) => self.is_cut = true,
            None => self.add(template),
        }
    }

    /// Adds what a template without groups means.
    fn add(&mut self, template: &str) {
        // A slash in brackets belongs to a pattern.
        let mut depth = 0_usize;
        let is_slash = |c: char| {
            match c {
                '{' | '(' | '[' => depth = depth.saturating_add(1),
                '}' | ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == '/' && depth == 0
        };
        let segments: Vec<_> = template.split(is_slash).skip(1).map(|segment| self.segment(segment)).collect();
        let optional = segments.iter().filter(|segment| segment.is_optional).count();
        let is_rest = segments.iter().any(|segment| segment.is_rest);
        self.has_optional |= optional > 0;
        self.has_rest |= is_rest;
        // An optional segment is there only together with all before it.
        for kept in 0..=optional {
            for is_long in [false, true].into_iter().take(usize::from(is_rest).saturating_add(1)) {
                let mut template = String::new();
                let mut left = kept;
                for segment in &segments {
                    if segment.is_optional {
                        match left.checked_sub(1) {
                            Some(less) => left = less,
                            None => continue,
                        }
                    }
                    template.push('/');
                    segment.push_to(&mut template);
                    if let Some(name) = segment.name.filter(|_| is_long && segment.is_rest) {
                        template.extend(["/{", name, "2}"]);
                    }
                }
                if template.is_empty() {
                    template.push('/');
                }
                if self.templates.contains(&template) {
                    continue;
                }
                if self.templates.len() >= PROPOSED {
                    self.is_cut = true;
                    return;
                }
                self.templates.push(template);
            }
        }
    }

    fn segment<'t>(&mut self, text: &'t str) -> Segment<'t> {
        let plain = Segment { literal: text, name: None, is_optional: false, is_rest: false };
        let Some(Parameter { before, name, is_optional, is_rest, after }) = parameter(text) else {
            return plain;
        };
        let is_whole = before.is_empty() && after.is_empty();
        if name == "format" && before.ends_with('.') && after.is_empty() {
            self.has_format = true;
            return Segment { literal: before, name: Some(".json"), ..plain };
        }
        // `/files*` is `/files` and what is below it.
        let literal = if is_rest && after.is_empty() { before } else { "" };
        Segment { literal, name: Some(name), is_optional: is_optional && is_whole, is_rest }
    }
}

/// A segment of a template.
struct Segment<'t> {
    /// A literal, also before [`Self::name`].
    literal: &'t str,
    /// The name of a parameter, or `.json`.
    name: Option<&'t str>,
    is_optional: bool,
    is_rest: bool,
}

impl Segment<'_> {
    /// Adds the segment as a policy writes it.
    fn push_to(&self, template: &mut String) {
        template.push_str(self.literal);
        match self.name {
            None => {}
            Some(".json") => template.push_str("json"),
            Some(name) => {
                let slash = if self.literal.is_empty() { "" } else { "/" };
                template.extend([slash, "{", name, "}"]);
            }
        }
    }
}

/// The optional group that a string starts with: where it starts and ends, and its content.
fn group(text: &str, start: usize) -> Option<(usize, &str, usize)> {
    // Of other brackets, `(` holds a pattern, `[` a name, and `{` both.
    let is_group = matches!(
        *text.as_bytes().first_chunk()?,
        [b'(', b'/' | b':' | b'*', _]
            | [b'(', b'.', b':' | b'a'..=b'z']
            | [b'[', b'/' | b'{', _]
            | [b'{', b'/' | b'.' | b'-', _]
    );
    let (inner, end) = enclosed(text).filter(|_| is_group)?;
    let mark = usize::from(text.get(end..).is_some_and(|after| after.starts_with('?')));
    Some((start, inner, start.saturating_add(end).saturating_add(mark)))
}

/// The content of the brackets that a string starts with, and where the rest starts.
fn enclosed(text: &str) -> Option<(&str, usize)> {
    let open = text.bytes().next()?;
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        _ => return None,
    };
    let mut depth = 0_usize;
    let end = text.bytes().position(|byte| {
        depth = if byte == open { depth.saturating_add(1) } else { depth.saturating_sub(usize::from(byte == close)) };
        depth == 0
    })?;
    Some((text.get(1..end)?, end.saturating_add(1)))
}

/// A parameter in a segment.
struct Parameter<'t> {
    before: &'t str,
    name: &'t str,
    is_optional: bool,
    /// Whether it takes several segments.
    is_rest: bool,
    after: &'t str,
}

/// The first parameter of a segment, in any format.
fn parameter(segment: &str) -> Option<Parameter<'_>> {
    let mut last = b'/';
    let start = segment.bytes().position(|byte| {
        let before = core::mem::replace(&mut last, byte);
        matches!(byte, b'{' | b'<' | b'[' | b'*') || byte == b':' && !before.is_ascii_alphanumeric()
    })?;
    let (before, text) = segment.split_at_checked(start)?;
    let (mut inner, end) = enclosed(text).unwrap_or((text, 0));
    let (mut is_optional, mut is_rest, mut after) = (false, text.starts_with('*'), text.get(end..)?);
    let name = match text.bytes().next()? {
        // `:id`, `:id(\d+)`, `:id{[0-9]+}`, `*rest`
        mark @ (b':' | b'*') => {
            let named = text.trim_start_matches(char::from(mark));
            let name = identifier(named, b"_");
            if is_rest && !before.is_empty() && !named.is_empty() {
                return Some(Parameter { before, name: "rest", is_optional, is_rest, after: named });
            }
            after = named.get(name.len()..)?;
            if let Some((pattern, end)) = enclosed(after).filter(|_| after.starts_with(['(', '{'])) {
                is_rest |= is_any(pattern);
                after = after.get(end..)?;
            }
            if name.is_empty() && mark == b':' {
                return None;
            }
            name
        }
        // `<id>`, `<int:id>`
        b'<' => {
            let (kind, name) = inner.split_once(':').unwrap_or_default();
            is_rest = kind == "path";
            if !name.is_empty() {
                inner = name;
            }
            identifier(inner, b"_-")
        }
        // `[id]`, `[...rest]`, `[[...rest]]`
        b'[' => {
            if let Some((within, _)) = enclosed(inner).filter(|_| inner.starts_with('[')) {
                (inner, is_optional) = (within, true);
            }
            is_rest = inner.starts_with("...");
            identifier(inner.trim_start_matches('.'), b"_-")
        }
        // `{id}`, `{id?}`, `{id:int}`, `{id=1}`, `{id:path}`, `{*rest}`, `{rest...}`
        _ => {
            let named = inner.trim_start_matches('*');
            let name = identifier(named, b"_-.");
            let name = name.strip_suffix("...").unwrap_or(name);
            let rest = named.get(name.len()..)?;
            is_rest = named.len() < inner.len() || rest == "..." || rest.strip_prefix(':').is_some_and(is_any);
            is_optional = rest.ends_with('?') && !is_rest || rest.contains('=');
            if !matches!(rest, "" | "?" | "...") && !rest.starts_with([':', '=']) {
                return None;
            }
            name
        }
    };
    if after.starts_with('?') || text.starts_with(':') && after.starts_with(['*', '+']) {
        is_optional |= after.starts_with('?');
        is_rest |= !after.starts_with('?');
        after = after.get(1..)?;
    }
    let name = match name {
        // Neither `*` nor a format without a name says one.
        "" if is_rest => "rest",
        "" => return None,
        name => name,
    };
    Some(Parameter { before, name, is_optional, is_rest, after })
}

/// Whether a type or pattern of a parameter takes slashes.
fn is_any(pattern: &str) -> bool {
    matches!(pattern, "path" | ".*" | ".+" | ".*?" | ".+?") || pattern.contains('/') && !pattern.contains("^/")
}

/// The name that a string starts with: letters, digits and these characters.
fn identifier<'t>(text: &'t str, others: &[u8]) -> &'t str {
    let starts = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || others.contains(&byte);
    let length = text.bytes().position(|byte| !is_part(byte)).unwrap_or(text.len());
    text.get(..length).filter(|_| starts).unwrap_or_default()
}
