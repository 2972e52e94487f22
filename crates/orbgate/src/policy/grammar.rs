//! The small grammars of a policy: methods, templates, base paths, scope tokens, names.
//!
//! Each function returns one message that explains why a string, as the file spells it, is invalid.

use orbgate_yaml::{is_hidden, quoted};

use super::foreign;
use crate::tables::terms::{MAX_SEGMENT_BYTES, MAX_SEGMENTS, MAX_TARGET_BYTES, is_literal, is_method};

/// The method and path template of a route, or an error message.
pub(super) fn route(text: &str) -> Result<(&str, &str), String> {
    // A method is short, so a vectorised search wouldn't pay off.
    let space = text.bytes().position(|byte| byte == b' ');
    let Some((method, template)) = space.and_then(|space| text.split_at_checked(space)) else {
        let lacks = if text.starts_with('/') { "a method" } else { "a path" };
        return Err(format!("route {} lacks {lacks}: write it like `GET /path`", quoted(text)));
    };
    let template = template.get(1..).unwrap_or_default();
    if !is_method(method.as_bytes()) {
        return Err(no_method(text, method));
    }
    if !template.starts_with('/') && template.trim_start_matches(' ').starts_with('/') {
        return Err(format!("route {} has more than one space between its method and its path", quoted(text)));
    }
    self::template(method, template)?;
    Ok((method, template))
}

/// The error message for a method that isn't one. Other formats list several, or write them in lower case.
fn no_method(text: &str, method: &str) -> String {
    let list = text.split('/').next().filter(|list| list.contains([',', '|']));
    let meant = list.unwrap_or(method).to_ascii_uppercase();
    let methods: Vec<_> = meant.split([' ', ',', '|']).filter(|method| !method.is_empty()).collect();
    let must = format!("method {} must be 1 to 16 letters from `A` to `Z`", quoted(method));
    match methods.as_slice() {
        [method] if is_method(method.as_bytes()) => format!("{must}: write `{method}`"),
        [_, _, ..] if methods.iter().all(|method| is_method(method.as_bytes())) => {
            let all: Vec<_> = methods.iter().map(|method| format!("`{method}`")).collect();
            format!("a route has one method: write one with each of {}", all.join(" and "))
        }
        _ => must,
    }
}

/// Checks a path template. Its method is for advice.
pub(super) fn template(method: &str, template: &str) -> Result<(), String> {
    if !template.starts_with('/') {
        return Err(
            advice(method, template).unwrap_or_else(|| format!("path {} must start with `/`", quoted(template)))
        );
    }
    // `GET /` means the base path itself.
    if template != "/"
        && let Err(diagnostic) = check_segments(template)
    {
        if let Some(advice) = advice(method, template) {
            return Err(advice);
        }
        let query = template.split_once('?');
        if let Some((path, _)) = query.filter(|(path, _)| check_segments(path).is_ok()) {
            return Err(format!("a template has no query: write {} instead of {}", quoted(path), quoted(template)));
        }
        let slashes = check_slashes(template).map_err(|error| match template.ends_with('/') {
            true => format!("{error}: `trailing_slash: always` adds one to every path"),
            false => error,
        });
        return Err(slashes.err().unwrap_or(diagnostic));
    }
    Ok(())
}

/// What to write instead of a template in the format of a web framework. Some are valid, and mean something else.
#[must_use]
pub fn advice(method: &str, template: &str) -> Option<String> {
    foreign::advice(method, template, |template| {
        template == "/" || check_segments(template).is_ok() && check_slashes(template).is_ok()
    })
}

/// Checks the segments of a template. The template has no query, and its slashes are valid.
fn check_segments(template: &str) -> Result<(), String> {
    // A path with more segments is rejected anyway, and must not take long.
    let mut parameters = [""; MAX_SEGMENTS];
    for segment in segments(template) {
        check_segment(segment, template)?;
        if !segment.starts_with('{') {
            continue;
        }
        let same_or_free = |known: &&mut &str| **known == segment || known.is_empty();
        match parameters.iter_mut().find(same_or_free) {
            Some(free) if free.is_empty() => *free = segment,
            None => {}
            Some(_) => {
                return Err(format!("parameter {} appears twice in {}", quoted(segment), quoted(template)));
            }
        }
    }
    Ok(())
}

/// Checks the slashes of a path.
fn check_slashes(path: &str) -> Result<(), String> {
    if path.ends_with('/') {
        return Err(format!("path {} must not end with `/`", quoted(path)));
    }
    if path.contains("//") {
        return Err(format!("path {} has an empty segment", quoted(path)));
    }
    Ok(())
}

/// Whether a string looks like a route with parameters, valid or not.
pub(super) fn looks_like_a_template(text: &str) -> bool {
    let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase());
    text.split_once(' ')
        .is_some_and(|(method, template)| is_word(method) && template.starts_with('/') && template.contains('{'))
}

/// Checks a base path.
pub(super) fn base_path(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    if !text.starts_with('/') {
        return Err(format!("base path {} must start with `/`, or be empty: `\"\"`", quoted(text)));
    }
    check_slashes(text)?;
    for segment in segments(text) {
        if segment.contains(['{', '}']) {
            return Err(format!("base path {} must be literal, not {}", quoted(text), quoted(segment)));
        }
        check_segment(segment, text)?;
    }
    Ok(())
}

/// A segment that other formats read as a parameter (`:id`), in the spelling of a policy (`{id}`).
#[must_use]
pub fn parameter_of_another_format(segment: &str) -> Option<String> {
    let parameter = format!("{{{}}}", segment.strip_prefix(':')?);
    check_segment(&parameter, &parameter).is_ok().then_some(parameter)
}

/// The path template that requests are compared with, in two parts. Each part is empty or starts with a
/// slash, so no segment spans both.
pub(crate) const fn full_template<'a>(base_path: &'a str, template: &'a str) -> [&'a str; 2] {
    match template.as_bytes() {
        b"/" if !base_path.is_empty() => [base_path, ""],
        _ => [base_path, template],
    }
}

/// The segments of a path: the string after each slash.
pub(crate) fn segments(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path.strip_prefix('/');
    core::iter::from_fn(move || {
        let path = rest?;
        // Segments are short, so a vectorised search wouldn't pay off.
        let end = path.bytes().position(|byte| byte == b'/');
        let (segment, behind) = path.split_at_checked(end.unwrap_or(path.len()))?;
        rest = behind.get(1..);
        Some(segment)
    })
}

/// The number of leading segments that two full templates share, and the rest of the second template.
pub(crate) fn common_segments<'t>([base_path, before]: [&str; 2], template: [&'t str; 2]) -> (usize, [&'t str; 2]) {
    let [same_base_path, path] = template;
    // The routes of an api share the same base path. If two apis have equal base paths, comparing them isn't worth the
    // time.
    if !core::ptr::eq(base_path, same_base_path) {
        return (0, template);
    }
    let bytes = common_bytes(before.as_bytes(), path.as_bytes());
    let is_end = |path: &str| path.as_bytes().get(bytes).is_none_or(|byte| *byte == b'/');
    let mut common = path.get(..bytes).unwrap_or_default();
    if !(is_end(before) && is_end(path)) {
        // The last common segment might be incomplete.
        let slash = common.bytes().rposition(|byte| byte == b'/');
        common = common.get(..slash.unwrap_or(0)).unwrap_or_default();
    }
    let rest = path.get(common.len()..).unwrap_or_default();
    let count = slashes(base_path).saturating_add(slashes(common));
    (count, ["", rest])
}

/// The number of leading bytes that two strings share, compared eight at a time.
fn common_bytes(one: &[u8], two: &[u8]) -> usize {
    let words = one.as_chunks::<8>().0.iter().zip(two.as_chunks().0);
    let words = words.take_while(|(a, b)| a == b).count();
    let start = words.saturating_mul(8);
    let [one, two] = [one, two].map(|text| text.get(start..).unwrap_or_default());
    let rest = one.iter().zip(two).take_while(|(a, b)| a == b);
    rest.count().saturating_add(start)
}

/// The number of slashes in a path.
pub(super) fn slashes(path: &str) -> usize {
    path.bytes().filter(|byte| *byte == b'/').count()
}

/// Checks that a request can match the full template of these two within the limits on targets.
pub(super) fn within_limits(base_path: &str, template: &str) -> Result<(), String> {
    let parts = full_template(base_path, template);
    let shown = || quoted(&parts.concat());
    let bytes: usize = parts.map(str::len).iter().sum();
    if bytes > MAX_TARGET_BYTES {
        return Err(format!("the full path {} has {bytes} bytes; the limit is {MAX_TARGET_BYTES}", shown()));
    }
    // A segment takes at least two bytes, so most paths needn't be counted.
    if bytes <= MAX_SEGMENTS.saturating_mul(2) {
        return Ok(());
    }
    let count: usize = parts.map(slashes).iter().sum();
    if count > MAX_SEGMENTS {
        return Err(format!("the full path {} has {count} segments; the limit is {MAX_SEGMENTS}", shown()));
    }
    if bytes <= MAX_SEGMENT_BYTES {
        return Ok(());
    }
    let mut segments = parts.iter().flat_map(|part| segments(part));
    match segments.find(|segment| segment.len() > MAX_SEGMENT_BYTES) {
        Some(segment) => {
            Err(format!("segment {} has {} bytes; the limit is {MAX_SEGMENT_BYTES}", quoted(segment), segment.len()))
        }
        None => Ok(()),
    }
}

/// RFC 6749 §3.3: `1*( %x21 / %x23-5B / %x5D-7E )`.
pub(super) fn scope(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("a scope must not be empty".into());
    }
    within_length(text, MAX_SCOPE, || format!("scope {}", quoted(text)))?;
    match text.chars().find(|c| !matches!(c, '\u{21}' | '\u{23}'..='\u{5b}' | '\u{5d}'..='\u{7e}')) {
        Some(c) => {
            Err(format!("scope {} has {}, which isn't allowed in a scope (RFC 6749 §3.3)", quoted(text), character(c)))
        }
        None => Ok(()),
    }
}

/// An alternative: scopes separated by one space, as in OAuth.
pub(super) fn alternative(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("an alternative must not be empty".into());
    }
    if text.split(' ').any(str::is_empty) {
        return Err(format!("one space separates the scopes of an alternative: {}", quoted(text)));
    }
    text.split(' ').try_for_each(scope)
}

/// A human-readable name: one line of visible characters.
pub(super) fn name(text: &str, what: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err(format!("{what} must not be empty"));
    }
    let shown = || format!("{what} {}", quoted(text));
    match text.chars().find(|c| is_hidden(*c) || matches!(c, '\t' | '\n' | '\r')) {
        Some(c) => Err(unseen(&shown(), c)),
        None => within_length(text, MAX_NAME, shown),
    }
}

/// What a scope permits: human-readable, and possibly several lines.
pub(super) fn permits(text: &str) -> Result<(), String> {
    match text.chars().find(|c| is_hidden(*c) || *c == '\r') {
        Some(c) => Err(unseen("`permits`", c)),
        None => within_length(text, MAX_PERMITS, || "`permits`".to_owned()),
    }
}

// Listings repeat these strings for each route, so their length bounds the output for a file of 8 MiB.

/// The maximum length of the name of a policy, an api or a heading, in characters.
pub(super) const MAX_NAME: usize = 256;
/// The maximum length of a scope, in characters.
pub(super) const MAX_SCOPE: usize = 1_024;
/// The maximum length of `permits`, in characters.
pub(super) const MAX_PERMITS: usize = 1_024;

/// The maximum number of alternatives of a requirement, including the owner's.
pub(super) const MAX_ALTERNATIVES: usize = 128;

/// The maximum number of routes of a policy, and of closed templates.
pub(super) const MAX_ROUTES: usize = 200_000;

fn within_length(text: &str, most: usize, shown: impl Fn() -> String) -> Result<(), String> {
    if text.len() <= most {
        return Ok(());
    }
    let count = text.chars().count();
    if count <= most {
        return Ok(());
    }
    Err(format!("{} has {count} characters; the limit is {most}", shown()))
}

fn unseen(what: &str, c: char) -> String {
    let kind = match c.is_control() {
        true => "a control character",
        false => "an invisible character",
    };
    format!("{what} has {}, {kind}", character(c))
}

fn check_segment(segment: &str, path: &str) -> Result<(), String> {
    if let Some(name) = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'))
        && (is_name(name) || !name.contains(['{', '}']))
    {
        let must = "a parameter's name must be a letter or `_`, then letters, digits, `_`, `.` or `-`";
        return if is_name(name) { Ok(()) } else { Err(format!("{must}, not {}", quoted(segment))) };
    }
    // Checks all segments, which is faster than stopping at the first error.
    if !segment.bytes().fold(true, |all, byte| all & is_literal(byte)) {
        return Err(no_literal(segment, path));
    }
    if segment.bytes().all(|byte| byte == b'.') {
        return Err(format!("path {} has the segment {}, which is all dots", quoted(path), quoted(segment)));
    }
    if segment.bytes().all(|byte| byte == b'*') {
        return Err(format!(
            "path {} has the wildcard {}; a parameter like `{{id}}` takes one segment, and nothing takes more",
            quoted(path),
            quoted(segment)
        ));
    }
    Ok(())
}

/// The error message for a segment with a character that a literal can't contain.
fn no_literal(segment: &str, path: &str) -> String {
    if segment.contains(['{', '}']) {
        return format!("a parameter must be a whole segment, such as `{{id}}`, not {}", quoted(segment));
    }
    let wrong = |c: &char| !u8::try_from(*c).is_ok_and(is_literal);
    let wrong = segment.chars().find(wrong).map(character);
    format!("path {} has {}, which isn't allowed in a path", quoted(path), wrong.unwrap_or_else(|| quoted(segment)))
}

/// Whether this is a valid parameter name.
fn is_name(name: &str) -> bool {
    let mut letters = name.bytes();
    let starts_well = letters.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    starts_well && letters.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

fn character(c: char) -> String {
    if is_hidden(c) || c.is_whitespace() {
        return format!("the character U+{:04X}", u32::from(c));
    }
    format!("the character {}", quoted(c.encode_utf8(&mut [0; 4])))
}

/// The first item with which the sizes of all before and its own exceed a limit.
pub(super) fn first_beyond<T: Copy>(
    limit: usize,
    items: impl IntoIterator<Item = T>,
    size: impl Fn(T) -> usize,
) -> Option<T> {
    let mut left = Some(limit);
    items.into_iter().find(|item| {
        left = left.and_then(|left| left.checked_sub(size(*item)));
        left.is_none()
    })
}
