//! Reads single values of a document, or says why no policy can express them.

use orbgate::{Location, Orbs};
use orbgate_yaml::{Content as Value, Diagnostics, Entry, Node, Values, amount, is_hidden, quoted};

use crate::words::{base_path_diagnostic, option_of};

orbgate::codes! {
    /// Why no policy can express an operation. A later release can add a kind, but never renames or removes one.
    #[derive(PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Cause {
        Requirement: "requirement", "a policy can't express what the operation needs: more than 128 alternatives or 256 scopes, or scopes for different tokens";
        SeveralSchemes: "several_schemes", "the operation needs several security schemes at once";
        NoScope: "no_scope", "the operation needs a token but no scope";
        NoSecurity: "no_security", "the operation has no `security`";
        Open: "open", "anyone can call it: `security: []`";
        Optional: "optional", "security is optional: one alternative is `{}`";
        OtherScheme: "other_scheme", "the security scheme has no scopes, or isn't the selected one";
        UnknownScheme: "unknown_scheme", "the security scheme isn't declared";
        Scope: "scope", "a policy can't have this scope";
        Path: "path", "a policy can't have this path: a parameter within a segment, a regular expression, a trailing slash";
        Method: "method", "the path item's key isn't an OpenAPI method";
        Duplicate: "duplicate", "several operations have the same method and, except for parameter names, the same path, but different requirements";
        Servers: "servers", "the operation has its own servers, with another path or a variable";
        Reference: "reference", "the operation is a reference: `$ref`";
        Orbs: "orbs", "`x-orbs` or `x-orbs-own` has a value that no policy can have";
        Malformed: "malformed", "it violates the OpenAPI format, or is a YAML alias";
        TakesOver: "takes_over", "the route would decide calls of an operation that is left out";
    }
}

orbgate::texts!(Cause);

orbgate::codes! {
    /// What you should know of an operation that was imported. A later release can add a kind, but never renames or removes
    /// one.
    #[derive(PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum NoteKind {
        Fragment: "fragment", "another operation with the same requirement is the same call, because a fragment never reaches a server";
        SameCall: "same_call", "another operation with the same requirement is the same call, except for the names of parameters";
        RequiredOptional: "required_optional", "security is optional, and the policy requires it: `--optional require`";
        UndeclaredScope: "undeclared_scope", "the security scheme doesn't declare the scope";
        DroppedAlternative: "dropped_alternative", "an alternative needs another security scheme: callers who use it are denied";
        CheckedElsewhere: "checked_elsewhere", "something in front must check a scheme, and the policy doesn't: `--elsewhere`";
        RedundantAlternative: "redundant_alternative", "an alternative isn't in the policy, because another one needs fewer of its scopes";
        AllOf: "all_of", "several scopes are needed at once; many documents mean any of them: `--all-of-as-any`";
        MultiSegment: "multi_segment", "a path parameter seems to take several segments, and a policy's parameter takes one: such calls are denied";
        Closed: "closed", "every call of the path is denied with 405, because a route with a parameter would decide it";
    }
}

orbgate::texts!(NoteKind);

/// The key of an operation whose `security` leaves out scopes that must be earned: all alternatives.
pub(super) const FULL_SECURITY: &str = "x-orbs-security";

/// The methods of OpenAPI 3.0 and 3.1, as written in a path item and in a request.
pub(super) const METHODS: [(&str, &str); 8] = [
    ("get", "GET"),
    ("put", "PUT"),
    ("post", "POST"),
    ("delete", "DELETE"),
    ("options", "OPTIONS"),
    ("head", "HEAD"),
    ("patch", "PATCH"),
    ("trace", "TRACE"),
];

/// Why no policy can express an operation, with the location in the document.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) kind: Cause,
    pub(super) location: Location,
    pub(super) message: String,
}

impl Problem {
    pub(super) fn new(kind: Cause, location: Location, message: impl Into<String>) -> Self {
        Self { kind, location, message: message.into() }
    }
}

pub(super) const fn location(node: &Node<'_>) -> Location {
    at(node.location)
}

pub(super) const fn at(location: orbgate_yaml::Location) -> Location {
    let orbgate_yaml::Location { line, column } = location;
    Location { line, column }
}

/// The entries of a mapping; `None` if it is something else.
pub(super) fn entries<'n, 'a>(node: &'n Node<'a>) -> Option<&'n [Entry<'a>]> {
    match &node.kind {
        Value::Mapping(entries) => Some(entries),
        _ => None,
    }
}

/// The value of a key, which occurs at most once.
pub(super) fn get<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    let entry = entries(node)?.iter().find(|entry| entry.key.text == key);
    entry.map(|entry| &entry.value)
}

/// The scalar as a string, even if it could be read as a number or another type.
pub(super) fn word<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.kind {
        Value::Scalar(scalar) => Some(&scalar.text),
        _ => None,
    }
}

/// A value that must be a string.
pub(super) fn text(node: &Node<'_>, what: &str) -> Result<String, Problem> {
    let mut diagnostics = Diagnostics::default();
    let text = Values::new(&mut diagnostics).text(node, what);
    match diagnostics.into_list().into_iter().next() {
        None => Ok(text.value),
        Some(diagnostic) => Err(Problem::new(Cause::Malformed, location(node), diagnostic.message)),
    }
}

/// The problem with a value of the wrong type, such as a mapping or a list.
pub(super) fn malformed(node: &Node<'_>, must: &str) -> Problem {
    let reason = match node.kind {
        Value::Refused => ", and an alias or a tag of YAML is not read",
        _ => "",
    };
    Problem::new(Cause::Malformed, location(node), format!("{must}{reason}"))
}

pub(super) fn orbs(node: &Node<'_>, what: &str) -> Result<Orbs, Problem> {
    let word = match &node.kind {
        Value::Scalar(scalar) if scalar.plain => Some(scalar.text.as_ref()),
        _ => None,
    };
    match (word, amount(node)) {
        (Some("false"), _) => Ok(Orbs::Free),
        (Some("true"), _) => Ok(Orbs::Unstated),
        (_, Some(amount)) => Ok(Orbs::Amount(amount)),
        _ => {
            let must = "must be `true`, `false` or a plain whole number from 1 to 9223372036854775807";
            let message = format!("{what} {must}");
            Err(Problem::new(Cause::Orbs, location(node), message))
        }
    }
}

/// Whether a policy accepts a human-readable string. Strings in a document can contain any
/// character.
pub(super) fn is_visible(text: &str) -> bool {
    !text.contains(|c| is_hidden(c) || c == '\r')
}

/// The path of the servers, without a final slash; empty if there are no servers. An error includes the advice which
/// option to use.
pub(super) fn base_path(servers: Option<&Node<'_>>) -> Result<String, (Problem, String)> {
    let Some(node) = servers else {
        return Ok(String::new());
    };
    let Value::Sequence(servers) = &node.kind else {
        return Err((malformed(node, "`servers` must be a list"), base_path_option(None)));
    };
    let mut first: Option<String> = None;
    for server in servers {
        let Some(url) = get(server, "url") else {
            return Err((malformed(server, "a server must be a mapping with a `url`"), base_path_option(None)));
        };
        let problem = |message| Problem::new(Cause::Servers, location(url), message);
        let written = text(url, "`url`").map_err(|problem| (problem, base_path_option(None)))?;
        let variables = get(server, "variables");
        let path = path(&without_variables_of_host(&written, variables)).map(str::to_owned);
        let path = path.map_err(|why| {
            (
                problem(format!("the path of server {} {why}", quoted(&written))),
                base_path_option(proposed(&written, variables).as_deref()),
            )
        })?;
        match &first {
            Some(first) if *first != path => {
                let message = format!("the servers have different paths, {} and {}", quoted(first), quoted(&path));
                return Err((problem(message), format!("for one of them, use `{}`", option_of("--base-path", first))));
            }
            _ => first = Some(path),
        }
    }
    Ok(first.unwrap_or_default())
}

/// The option for a base path that the servers don't show, with a path that is likely, if a policy can have it.
pub(super) fn base_path_option(likely: Option<&str>) -> String {
    match likely.filter(|path| base_path_diagnostic(path).is_none()) {
        Some(path) => format!("if it is {}, use `{}`", quoted(path), option_of("--base-path", path)),
        None => "set it with `--base-path PATH`".to_owned(),
    }
}

/// The address with the defaults of the variables before its path. They don't change the path, unless one of their values has
/// a slash.
fn without_variables_of_host(url: &str, variables: Option<&Node<'_>>) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let is_in_host = |variable: &Node<'_>| {
        let values = get(variable, "enum").map_or(&[][..], |values| match &values.kind {
            Value::Sequence(values) => values,
            _ => &[],
        });
        let default = get(variable, "default").into_iter();
        default.chain(values).all(|value| word(value).is_some_and(|word| !word.contains(['/', '?', '#', '{'])))
    };
    let known = |text: &str| with_defaults(text, variables, is_in_host);
    match (known(scheme), known(host)) {
        (Some(scheme), Some(host)) => format!("{scheme}://{host}{path}"),
        _ => url.to_owned(),
    }
}

/// A string with the defaults of its variables; `None` if one isn't declared, or isn't like this.
fn with_defaults(text: &str, variables: Option<&Node<'_>>, is: impl Fn(&Node<'_>) -> bool) -> Option<String> {
    let mut pieces = text.split('{');
    let mut replaced = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once('}')?;
        let variable = get(variables?, name).filter(|variable| is(variable))?;
        replaced.push_str(word(get(variable, "default")?)?);
        replaced.push_str(rest);
    }
    Some(replaced)
}

/// The likely path of an address: every variable has its default, or is only a part of the host, and a relative address
/// begins at the root.
fn proposed(url: &str, variables: Option<&Node<'_>>) -> Option<String> {
    let url = with_defaults(url, variables, |_| true).unwrap_or_else(|| url.to_owned());
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| rest.get(at..).unwrap_or_default()),
        None => url,
    };
    let path = path.trim_start_matches(['.', '/']).trim_end_matches('/');
    Some(if path.is_empty() { String::new() } else { format!("/{path}") })
}

/// The addresses of servers, for a comparison.
pub(super) fn urls<'n>(servers: &'n Node<'_>) -> Vec<&'n str> {
    match &servers.kind {
        Value::Sequence(servers) => servers.iter().filter_map(|server| word(get(server, "url")?)).collect(),
        _ => Vec::new(),
    }
}

/// The path of a server's address, or why it is unknown.
fn path(url: &str) -> Result<&str, &'static str> {
    // A variable could contain slashes.
    if url.contains(['{', '}']) {
        return Err("has a variable");
    }
    if url.contains(['?', '#']) {
        return Err("is followed by a query or a fragment");
    }
    let scheme = |scheme: &str| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let authority = match url.split_once("://") {
        Some((before, behind)) if scheme(before) => Some(behind),
        _ => url.strip_prefix("//"),
    };
    let path = match authority {
        Some(authority) => authority.find('/').map_or("", |at| authority.get(at..).unwrap_or_default()),
        None if url.starts_with('/') => url,
        None => return Err("is relative to where the document is found"),
    };
    Ok(path.strip_suffix('/').unwrap_or(path))
}
