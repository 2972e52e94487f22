//! A test file: YAML with places, whose cases are lines of a table or mappings, and its properties lines.

use orbgate::policy::Fault;
use orbgate::{Place, TokenKind};
use orbgate_yaml::{Content, Faults, Format, Node, Owner, Spanned, Values, quoted};
use serde::Deserialize;

use super::words::expected;
use super::{Case, Stated, Suite};
use crate::diff::Asked;

/// What the reader of YAML must know of the format.
const FORMAT: Format = Format {
    file: "a test file",
    start: "a test file starts with `orbgate_test: 1`",
    keys: &[
        "orbgate_test",
        "policy",
        "cases",
        "properties",
        "name",
        "request",
        "token",
        "expect",
        "route",
    ],
    braced: None,
    key_with_colon: None,
};

#[derive(PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    orbgate_test: u64,
    #[serde(default)]
    policy: Option<Spanned<String>>,
    #[serde(default)]
    cases: Vec<CaseDocument>,
    #[serde(default)]
    properties: Vec<Spanned<String>>,
}

#[derive(PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum CaseDocument {
    /// `REQUEST | TOKEN | EXPECTED`, and the route if wanted.
    Line(Spanned<String>),
    Mapping(Mapping),
}

#[derive(PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mapping {
    #[serde(default)]
    name: Option<Spanned<String>>,
    request: Spanned<String>,
    #[serde(default)]
    token: Option<Spanned<String>>,
    expect: Spanned<String>,
    #[serde(default)]
    route: Option<Spanned<String>>,
}

/// Reads a test file.
pub(super) fn suite(bytes: &[u8]) -> Result<Suite, Vec<Fault>> {
    let suite = orbgate_yaml::read(bytes, &FORMAT, document, |document, faults| Suite {
        policy: document
            .policy
            .as_ref()
            .map(|policy| (policy.value.clone(), place(policy.place))),
        cases: document
            .cases
            .iter()
            .filter_map(|document| case(document, faults))
            .collect(),
        properties: document
            .properties
            .iter()
            .filter_map(|line| stated(line, faults))
            .collect(),
    });
    suite.map_err(|faults| {
        let fault = |fault: orbgate_yaml::Fault| Fault {
            place: place(fault.place),
            message: fault.message,
        };
        faults.into_iter().map(fault).collect()
    })
}

const fn place(place: orbgate_yaml::Place) -> Place {
    let orbgate_yaml::Place { line, column } = place;
    Place { line, column }
}

fn document(root: &Node<'_>, faults: &mut Faults) -> Option<Document> {
    let mut values = Values { faults };
    let owner = Owner {
        what: "the test file",
        place: root.place,
    };
    let keys = ["orbgate_test", "policy", "cases", "properties"];
    // A file without a case or property would pass with every policy.
    let has_properties = matches!(&root.kind, Content::Mapping(entries) if entries.iter().any(|entry| entry.key.text == "properties"));
    let required = if has_properties {
        &["orbgate_test"][..]
    } else {
        &["orbgate_test", "cases"]
    };
    let [version, policy, cases, properties] = values.fields(root, &owner, keys, required)?;
    if let Some(node) = version {
        values.version(node, "orbgate_test");
    }
    let policy = policy.map(|node| {
        let policy = values.text(node, "`policy`");
        if policy.value == "-" {
            let message = "`policy` is a file in this one's folder, and `-` is standard input: a file of that name is `./-`";
            values.faults.push(policy.place, message);
        }
        policy
    });
    for (list, message) in [
        (cases, "there is no case"),
        (properties, "there is no property"),
    ] {
        if let Some(node) = list
            && matches!(&node.kind, Content::Sequence(items) if items.is_empty())
        {
            values.faults.push(node.place, message);
        }
    }
    let cases = cases.map_or(&[][..], |node| values.list(node, "`cases`"));
    let properties = properties.map_or(&[][..], |node| values.list(node, "`properties`"));
    Some(Document {
        orbgate_test: 1,
        policy,
        cases: cases
            .iter()
            .filter_map(|node| case_document(node, &mut values))
            .collect(),
        properties: properties
            .iter()
            .map(|node| values.text(node, "a property"))
            .collect(),
    })
}

fn case_document(node: &Node<'_>, values: &mut Values<'_>) -> Option<CaseDocument> {
    if !matches!(node.kind, Content::Mapping(_)) {
        let what = "a case, `REQUEST | TOKEN | EXPECTED` or a mapping,";
        return Some(CaseDocument::Line(values.text(node, what)));
    }
    let owner = Owner {
        what: "this case",
        place: node.place,
    };
    let keys = ["name", "request", "token", "expect", "route"];
    let [name, request, token, expect, route] =
        values.fields(node, &owner, keys, &["request", "expect"])?;
    Some(CaseDocument::Mapping(Mapping {
        name: name.map(|node| values.text(node, "`name`")),
        request: values.text(request?, "`request`"),
        token: token.map(|node| values.text(node, "`token`")),
        expect: values.text(expect?, "`expect`"),
        route: route.map(|node| values.text(node, "`route`")),
    }))
}

/// The parts of a case, each with its place.
struct Parts<'d> {
    place: orbgate_yaml::Place,
    name: &'d str,
    request: (&'d str, orbgate_yaml::Place),
    token: (&'d str, orbgate_yaml::Place),
    expect: (&'d str, orbgate_yaml::Place),
    route: Option<(&'d str, orbgate_yaml::Place)>,
}

fn case(document: &CaseDocument, faults: &mut Faults) -> Option<Case> {
    let parts = match document {
        CaseDocument::Line(line) if faults.stand_at(line.place) => return None,
        CaseDocument::Line(line) => parts_of_line(line, faults)?,
        CaseDocument::Mapping(mapping) => parts_of_mapping(mapping),
    };
    let (asked, allow_bonus_orbs) = request(parts.request, faults)?;
    let token = token(parts.token, faults)?;
    let mut expected = expected(parts.expect, faults)?;
    expected.route = match parts.route {
        Some((route, place)) => Some(route_cell(route, place, faults)?),
        None => None,
    };
    Some(Case {
        place: place(parts.place),
        name: parts.name.to_owned(),
        asked,
        token,
        allow_bonus_orbs,
        expected,
    })
}

fn stated(line: &Spanned<String>, faults: &mut Faults) -> Option<Stated> {
    if faults.stand_at(line.place) {
        return None;
    }
    match line.value.parse() {
        Ok(property) => Some(Stated {
            place: place(line.place),
            text: line.value.clone(),
            property,
        }),
        Err(message) => {
            faults.push(line.place, message);
            None
        }
    }
}

fn parts_of_line<'d>(line: &'d Spanned<String>, faults: &mut Faults) -> Option<Parts<'d>> {
    let cells: Vec<_> = line.value.split(" | ").map(str::trim).collect();
    let (cells, route) = match cells.as_slice() {
        [request, token, expect] => ([*request, *token, *expect], None),
        [request, token, expect, route] => {
            ([*request, *token, *expect], Some((*route, line.place)))
        }
        _ => {
            let message = format!(
                "a case has three or four cells between ` | `, `REQUEST | TOKEN | EXPECTED | ROUTE`, not {}: {}",
                cells.len(),
                quoted(&line.value)
            );
            faults.push(line.place, message);
            return None;
        }
    };
    let [request, token, expect] = cells.map(|cell| (cell, line.place));
    if let Some(message) = malformed(request.0) {
        faults.push(line.place, message);
        return None;
    }
    Some(Parts {
        place: line.place,
        name: &line.value,
        request,
        token,
        expect,
        route,
    })
}

fn parts_of_mapping(mapping: &Mapping) -> Parts<'_> {
    let text = |text: &'_ Spanned<String>| text.place;
    let name = mapping.name.as_ref().unwrap_or(&mapping.request);
    let token = mapping.token.as_ref();
    Parts {
        place: name.place,
        name: &name.value,
        request: (&mapping.request.value, text(&mapping.request)),
        token: token.map_or((NO_TOKEN, mapping.request.place), |token| {
            (&token.value, token.place)
        }),
        expect: (&mapping.expect.value, text(&mapping.expect)),
        route: mapping
            .route
            .as_ref()
            .map(|route| (route.value.as_str(), text(route))),
    }
}

/// `METHOD TARGET`, or `scope SCOPE`; with ` bonus` at the end where the request allows bonus orbs.
fn request(
    (text, place): (&str, orbgate_yaml::Place),
    faults: &mut Faults,
) -> Option<(Asked, bool)> {
    let (asked, bonus) = match text.strip_suffix(" bonus") {
        Some(asked) => (asked, true),
        None => (text, false),
    };
    let asked = match asked.split_once(' ') {
        Some(("scope", name)) => Asked::Scope(name.to_owned()),
        Some((method, target)) => Asked::Call {
            method: method.to_owned(),
            target: target.to_owned(),
        },
        None => {
            let message = format!(
                "a request is `METHOD TARGET` or `scope SCOPE`, and ` bonus` where bonus orbs are allowed, not {}",
                quoted(text)
            );
            faults.push(place, message);
            return None;
        }
    };
    Some((asked, bonus))
}

/// What is wrong with a line whose words are not a request, such as `Scope read:a` or `GET  /a`: every policy
/// would deny it for that. Mappings may ask for such things.
fn malformed(request: &str) -> Option<String> {
    let (asked, bonus) = match request.strip_suffix(" bonus") {
        Some(asked) => (asked, " bonus"),
        None => (request, ""),
    };
    let (first, rest) = asked.split_once(' ')?;
    // A case may be about a method that is too long.
    let is_word = first.bytes().all(|byte| byte.is_ascii_uppercase()) && !first.is_empty();
    if (is_word || first == "scope") && !rest.is_empty() && !rest.contains(' ') {
        return None;
    }
    let words: Vec<_> = asked.split_whitespace().collect();
    let advice = match words.as_slice() {
        [first, rest] if first.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            let first = match first.to_ascii_uppercase() {
                scope if scope == "SCOPE" || scope == "SCOPES" => "scope".to_owned(),
                method => method,
            };
            let written = format!("{first} {rest}{bonus}");
            format!("write {}, or a mapping", quoted(&written))
        }
        _ => "a line has `METHOD TARGET` or `scope SCOPE` with one space; or write a mapping"
            .to_owned(),
    };
    Some(format!(
        "{} is malformed: {advice} where it must be so",
        quoted(request)
    ))
}

const NO_TOKEN: &str = "none";

/// `none`, or the kind and the scopes.
fn token(
    (text, place): (&str, orbgate_yaml::Place),
    faults: &mut Faults,
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
            faults.push(place, message);
            return None;
        }
    };
    Some(Some((kind, scopes.to_owned())))
}

/// The route of a decision: `METHOD /template`, or the template alone.
fn route_cell(text: &str, place: orbgate_yaml::Place, faults: &mut Faults) -> Option<String> {
    let template = text.split_once(' ').map_or(text, |(_, template)| template);
    if template.starts_with('/') {
        return Some(text.to_owned());
    }
    let message = format!(
        "a route is `METHOD /template`, or `/template` for `method_not_declared`, not {}; a status is expected by its reason",
        quoted(text)
    );
    faults.push(place, message);
    None
}
