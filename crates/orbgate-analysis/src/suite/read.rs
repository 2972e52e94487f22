//! Reads a test file: YAML with locations. Cases are table lines or mappings, and properties are lines.

use orbgate::policy::Diagnostic;
use orbgate::{Location, TokenKind};
use orbgate_yaml::{
    Content, Diagnostics, Format, Node, Owner, Shape, Spanned, Value, Values, Version, document, quoted,
};
use serde::Deserialize;

use super::cases::{Case, Stated, Suite};
use super::words::expected;
use crate::diff::Asked;

/// What the reader of YAML must know of the format.
const FORMAT: Format = Format {
    file: "a test file",
    start: "a test file starts with `orbgate_test: 1`",
    has_key: |key| Document::SHAPE.has_key(key),
    braced: None,
    key_with_colon: None,
};

document! {
    struct Document {
        /// The version of the format.
        orbgate_test: Version,
        /// The policy, in this file's folder; the built-in one if absent.
        policy: Option<Spanned<String>>,
        /// The cases; required if there are no properties.
        cases: Option<Spanned<Vec<CaseDocument>>>,
        /// The properties.
        properties: Option<Spanned<Vec<Spanned<String>>>>,
    }

    struct Mapping ("this case") {
        /// The name of the case.
        name: Option<Spanned<String>>,
        /// The request.
        request: Spanned<String>,
        /// The token; `none` if absent.
        token: Option<Spanned<String>>,
        /// The expected decision.
        expect: Spanned<String>,
        /// The expected route.
        route: Option<Spanned<String>>,
    }
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum CaseDocument {
    /// `REQUEST | TOKEN | EXPECTED`, and the route if wanted.
    Line(Spanned<String>),
    Mapping(Mapping),
}

impl Value for CaseDocument {
    const SHAPE: Shape = Shape::Either(&[String::SHAPE, Mapping::SHAPE]);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        match node.kind {
            Content::Mapping(_) => Self::Mapping(Mapping::read(node, owner, values)),
            _ => {
                let what = "a case, `REQUEST | TOKEN | EXPECTED` or a mapping,";
                Self::Line(values.text(node, what))
            }
        }
    }

    fn stand_in(location: orbgate_yaml::Location) -> Self {
        Self::Line(Value::stand_in(location))
    }
}

impl Suite {
    /// Reads a test file, as strictly as a policy is read.
    ///
    /// # Errors
    ///
    /// Returns every error of the file, in order; never empty.
    pub fn from_bytes(bytes: &[u8]) -> Result<Suite, Vec<Diagnostic>> {
        let document = document::<Spanned<Document>>("the test file");
        let suite = orbgate_yaml::read(bytes, &FORMAT, document, |document, diagnostics| judge(&document, diagnostics));
        suite.map_err(|diagnostics| {
            let diagnostic = |diagnostic: orbgate_yaml::Diagnostic| Diagnostic {
                location: location(diagnostic.location),
                message: diagnostic.message,
            };
            diagnostics.into_iter().map(diagnostic).collect()
        })
    }
}

fn judge(document: &Spanned<Document>, diagnostics: &mut Diagnostics) -> Suite {
    let Document { policy, cases, properties, .. } = &document.value;
    if let Some(policy) = policy
        && policy.value == "-"
    {
        let message =
            "`policy` is a file in this one's folder, and `-` is standard input: a file of that name is `./-`";
        diagnostics.push(policy.location, message);
    }
    match (cases, properties) {
        // A file without cases and properties would pass with every policy.
        (None, None) => {
            let message = "the test file is missing the key `cases`".to_owned();
            diagnostics.lacking(document.location, "cases", message);
        }
        _ => {
            refuse_empty(cases.as_ref(), "there is no case", diagnostics);
            refuse_empty(properties.as_ref(), "there is no property", diagnostics);
        }
    }
    let cases = cases.iter().flat_map(|cases| &cases.value);
    let properties = properties.iter().flat_map(|lines| &lines.value);
    Suite {
        policy: policy.as_ref().map(|policy| (policy.value.clone(), location(policy.location))),
        cases: cases.filter_map(|it| case(it, diagnostics)).collect(),
        properties: properties.filter_map(|it| stated(it, diagnostics)).collect(),
    }
}

fn refuse_empty<T>(list: Option<&Spanned<Vec<T>>>, message: &str, diagnostics: &mut Diagnostics) {
    if let Some(list) = list
        && list.value.is_empty()
    {
        diagnostics.push_new(list.location, message);
    }
}

const fn location(location: orbgate_yaml::Location) -> Location {
    let orbgate_yaml::Location { line, column } = location;
    Location { line, column }
}

/// The parts of a case, with their locations.
struct Parts<'d> {
    location: orbgate_yaml::Location,
    name: &'d str,
    request: (&'d str, orbgate_yaml::Location),
    token: (&'d str, orbgate_yaml::Location),
    expect: (&'d str, orbgate_yaml::Location),
    route: Option<(&'d str, orbgate_yaml::Location)>,
}

fn case(document: &CaseDocument, diagnostics: &mut Diagnostics) -> Option<Case> {
    let parts = match document {
        CaseDocument::Line(line) if diagnostics.stand_at(line.location) => return None,
        CaseDocument::Line(line) => parts_of_line(line, diagnostics)?,
        CaseDocument::Mapping(mapping) => parts_of_mapping(mapping),
    };
    let (asked, allow_bonus_orbs) = request(parts.request, diagnostics)?;
    let token = token(parts.token, diagnostics)?;
    let mut expected = expected(parts.expect, diagnostics)?;
    expected.route = match parts.route {
        Some((route, location)) => Some(route_cell(route, location, diagnostics)?),
        None => None,
    };
    Some(Case {
        location: location(parts.location),
        name: parts.name.to_owned(),
        asked,
        token,
        allow_bonus_orbs,
        expected,
    })
}

fn stated(line: &Spanned<String>, diagnostics: &mut Diagnostics) -> Option<Stated> {
    if diagnostics.stand_at(line.location) {
        return None;
    }
    match line.value.parse() {
        Ok(property) => Some(Stated { location: location(line.location), text: line.value.clone(), property }),
        Err(message) => {
            diagnostics.push_new(line.location, message);
            None
        }
    }
}

fn parts_of_line<'d>(line: &'d Spanned<String>, diagnostics: &mut Diagnostics) -> Option<Parts<'d>> {
    let cells: Vec<_> = line.value.split(" | ").map(str::trim).collect();
    let (cells, route) = match cells.as_slice() {
        [request, token, expect] => ([*request, *token, *expect], None),
        [request, token, expect, route] => ([*request, *token, *expect], Some((*route, line.location))),
        _ => {
            let message = format!(
                "a case has three or four cells between ` | `, `REQUEST | TOKEN | EXPECTED | ROUTE`, not {}: {}",
                cells.len(),
                quoted(&line.value)
            );
            diagnostics.push_new(line.location, message);
            return None;
        }
    };
    let [request, token, expect] = cells.map(|cell| (cell, line.location));
    if let Some(message) = malformed(request.0) {
        diagnostics.push_new(line.location, message);
        return None;
    }
    Some(Parts { location: line.location, name: &line.value, request, token, expect, route })
}

fn parts_of_mapping(mapping: &Mapping) -> Parts<'_> {
    let text = |text: &'_ Spanned<String>| text.location;
    let name = mapping.name.as_ref().unwrap_or(&mapping.request);
    let token = mapping.token.as_ref();
    Parts {
        location: name.location,
        name: &name.value,
        request: (&mapping.request.value, text(&mapping.request)),
        token: token.map_or((NO_TOKEN, mapping.request.location), |token| (&token.value, token.location)),
        expect: (&mapping.expect.value, text(&mapping.expect)),
        route: mapping.route.as_ref().map(|route| (route.value.as_str(), text(route))),
    }
}

/// `METHOD TARGET`, or `scope SCOPE`, followed by ` bonus` if the request allows bonus orbs.
fn request((text, location): (&str, orbgate_yaml::Location), diagnostics: &mut Diagnostics) -> Option<(Asked, bool)> {
    let (call, bonus) = match text.strip_suffix(" bonus") {
        Some(call) => (call, true),
        None => (text, false),
    };
    let call = match call.split_once(' ') {
        Some(("scope", name)) => Asked::Scope(name.to_owned()),
        Some((method, target)) => Asked::Call { method: method.to_owned(), target: target.to_owned() },
        None => {
            let message = format!(
                "a request is `METHOD TARGET` or `scope SCOPE`, and ` bonus` where bonus orbs are allowed, not {}",
                quoted(text)
            );
            diagnostics.push_new(location, message);
            return None;
        }
    };
    Some((call, bonus))
}

/// The error in a line that isn't a request, such as `Scope read:a` or `GET  /a`. Every policy would deny it.
/// Mappings can contain such requests.
fn malformed(request: &str) -> Option<String> {
    let (call, bonus) = match request.strip_suffix(" bonus") {
        Some(call) => (call, " bonus"),
        None => (request, ""),
    };
    let (first, rest) = call.split_once(' ')?;
    // A case can use a method that is too long.
    let is_word = first.bytes().all(|byte| byte.is_ascii_uppercase()) && !first.is_empty();
    if (is_word || first == "scope") && !rest.is_empty() && !rest.contains(' ') {
        return None;
    }
    let words: Vec<_> = call.split_whitespace().collect();
    let advice = match words.as_slice() {
        [first, rest] if first.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            let first = match first.to_ascii_uppercase() {
                scope if scope == "SCOPE" || scope == "SCOPES" => "scope".to_owned(),
                method => method,
            };
            let written = format!("{first} {rest}{bonus}");
            format!("write {}, or a mapping", quoted(&written))
        }
        _ => "a line has `METHOD TARGET` or `scope SCOPE` with one space; or write a mapping".to_owned(),
    };
    Some(format!("{} is malformed: {advice} where it must be so", quoted(request)))
}

const NO_TOKEN: &str = "none";

/// `none`, or the kind and the scopes.
fn token(
    (text, location): (&str, orbgate_yaml::Location),
    diagnostics: &mut Diagnostics,
) -> Option<Option<(TokenKind, String)>> {
    let (kind, scopes) = text.split_once(' ').unwrap_or((text, ""));
    let kind = match kind {
        NO_TOKEN if scopes.is_empty() => return Some(None),
        "user" => TokenKind::User,
        "organisation" => TokenKind::Organisation,
        "unknown" => TokenKind::Unknown,
        _ => {
            let message = format!(
                "a token is `none`, or `user`, `organisation` or `unknown` with its scopes, as in `user read:a read:b`, not {}",
                quoted(text)
            );
            diagnostics.push_new(location, message);
            return None;
        }
    };
    Some(Some((kind, scopes.to_owned())))
}

/// The route of a decision: `METHOD /template`, or only the template.
fn route_cell(text: &str, location: orbgate_yaml::Location, diagnostics: &mut Diagnostics) -> Option<String> {
    let template = text.split_once(' ').map_or(text, |(_, template)| template);
    if template.starts_with('/') {
        return Some(text.to_owned());
    }
    let message = format!(
        "a route is `METHOD /template`, or `/template` for `method_not_declared`, not {}; a status is a word of what is expected, as in `deny 403`",
        quoted(text)
    );
    diagnostics.push_new(location, message);
    None
}
