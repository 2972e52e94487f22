//! The decision, written a second time as plainly as possible: every template is tried on every
//! request, segment by segment, and every rule is a line. Shares no code with the engine.

use super::model::{Api, Full, Model, Orbs, Route, Scope, is_parameter};

/// A request as the tests think of it.
#[derive(Clone, Debug)]
pub struct Ask {
    pub method: Vec<u8>,
    pub target: Vec<u8>,
    /// Kind (`user`, `organisation`, anything else) and scope text.
    pub token: Option<(&'static str, Vec<u8>)>,
    pub bonus: bool,
}

/// An answer, field by field as the JSON interface has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub reason: &'static str,
    pub detail: Option<&'static str>,
    pub api: Option<String>,
    pub route: Option<String>,
    /// The route that the request is about, whatever the token.
    pub about: Option<String>,
    pub scope: Option<String>,
    /// The alternatives, where one scope isn't all.
    pub scopes: Option<Vec<Vec<String>>>,
    /// consumes, amount, bonus allowed
    pub orbs: Option<(bool, Option<u64>, bool)>,
}

fn deny(reason: &'static str) -> Answer {
    Answer { reason, ..Answer::default() }
}

/// Decides a request.
pub fn decide(policy: &Model, ask: &Ask) -> Answer {
    let routes = policy.routes();
    Answer { about: about(policy, &routes, ask), ..answer(policy, &routes, ask) }
}

/// The route that a request is about: the one that it is decided by when its token is some user's.
fn about(policy: &Model, routes: &[Full<'_>], ask: &Ask) -> Option<String> {
    let token = Some(("user", Vec::new()));
    let answer = answer(policy, routes, &Ask { token, ..ask.clone() });
    answer.scope.and(answer.route)
}

/// The decision.
fn answer(policy: &Model, routes: &[Full<'_>], ask: &Ask) -> Answer {
    if let Some(detail) = malformed(policy, ask) {
        return Answer { detail: Some(detail), ..deny("malformed_request") };
    }
    let (path, is_spelt_so) = segments(policy, &ask.target);
    let closed = policy.closed();
    let templates = routes.iter().map(|(_, _, _, full)| full).chain(closed.iter().map(|(_, full)| full));
    // Under `trailing_slash: always`, a path without its slash has no route.
    let templates: Vec<_> = templates.filter(|_| is_spelt_so).map(Vec::as_slice).collect();
    let fitting = best(&templates, |literal, position| literal.as_bytes() == path[position], path.len());
    let (kind, held) = match &ask.token {
        None => return deny("no_token"),
        Some((kind, scopes)) if *kind == "user" || *kind == "organisation" => (*kind, scopes),
        Some(_) => return deny("invalid_token"),
    };
    // These read the policy: nobody without a token learns which literals exist.
    if let Some(detail) = unsafe_beside_table(&templates, &path, fitting) {
        return Answer { detail: Some(detail), ..deny("malformed_request") };
    }
    let Some(winner) = fitting else {
        return deny("no_route");
    };
    if let Some((api, full)) = closed.iter().find(|(_, full)| literals(full).eq(literals(winner))) {
        return Answer { api: Some(api.name.clone()), route: Some(policy.path(full)), ..deny("method_not_declared") };
    }
    let mut same_shape: Vec<_> = routes.iter().filter(|(_, _, _, full)| literals(full).eq(literals(winner))).collect();
    same_shape.sort_by_key(|(_, _, route, _)| &route.method);
    let method_matches = |route: &Route| route.method.as_bytes() == ask.method;
    match same_shape.iter().find(|(_, _, route, _)| method_matches(route)) {
        None => {
            let (api, _, _, full) = &same_shape[0];
            Answer { api: Some(api.name.clone()), route: Some(policy.path(full)), ..deny("method_not_declared") }
        }
        Some((api, scope, route, full)) => {
            let text = format!("{} {}", route.method, policy.path(full));
            by_scope(api, scope, Some((route, text)), kind, held, ask.bonus)
        }
    }
}

/// Decides by scope.
pub fn decide_scope(policy: &Model, name: &[u8], ask: &Ask) -> Answer {
    let (kind, held) = match &ask.token {
        None => return deny("no_token"),
        Some((kind, scopes)) if *kind == "user" || *kind == "organisation" => (*kind, scopes),
        Some(_) => return deny("invalid_token"),
    };
    // Where several apis have it, the first by name.
    let mut apis: Vec<_> = policy.apis.iter().collect();
    apis.sort_by_key(|api| &api.name);
    for api in apis {
        for scope in &api.scopes {
            if scope.name.as_bytes() == name {
                let answer = by_scope(api, scope, None, kind, held, ask.bonus);
                // What the scope says of itself isn't so of all of its routes: that is unknown, and not free.
                let orbs = answer.orbs.filter(|orbs| orbs.0 || !has_paid_route(policy, &scope.name));
                return Answer { orbs, ..answer };
            }
        }
    }
    deny("no_route")
}

/// Whether a route of the scope, in any api, says that it is paid.
fn has_paid_route(policy: &Model, scope: &str) -> bool {
    let routes = policy.routes();
    routes.iter().any(|(_, of, route, _)| of.name == scope && matches!(route.orbs, Orbs::Yes | Orbs::Amount(_)))
}

fn by_scope(api: &Api, scope: &Scope, route: Option<(&Route, String)>, kind: &str, held: &[u8], bonus: bool) -> Answer {
    let alternatives = alternatives(scope, route.as_ref().map(|(route, _)| *route));
    let has = |scope: &String| held.split(|byte| *byte == b' ').any(|piece| piece == scope.as_bytes());
    let carries = alternatives.iter().any(|scopes| scopes.iter().all(has));
    let reason = match (api.organisation, kind) {
        (Some("deny"), "organisation") => "user_token_required",
        (Some(_), "organisation") => "scope_not_applicable",
        _ if carries => "scope_held",
        _ => "scope_missing",
    };
    let allowed = reason == "scope_held" || reason == "scope_not_applicable";
    let own = route.as_ref().map(|(route, _)| route.orbs).filter(|own| *own != Orbs::Absent);
    let orbs = match own.unwrap_or(scope.orbs) {
        Orbs::Amount(amount) => Some((true, Some(amount), bonus)),
        Orbs::Yes => Some((true, None, bonus)),
        Orbs::No => Some((false, Some(0), false)),
        Orbs::Absent => None,
    };
    Answer {
        reason,
        detail: None,
        api: Some(api.name.clone()),
        route: route.map(|(_, text)| text),
        about: None,
        scope: Some(scope.name.clone()),
        scopes: Some(alternatives).filter(|alternatives| alternatives.concat().len() > 1),
        orbs: orbs.filter(|_| allowed),
    }
}

/// What a token needs: all scopes of one of these. A route's own keys replace its scope's. By scope, no keys count.
fn alternatives(scope: &Scope, route: Option<&Route>) -> Vec<Vec<String>> {
    let keys = route.and_then(|route| route.keys.as_ref().or(scope.keys.as_ref())).cloned().unwrap_or_default();
    let sorted = |mut scopes: Vec<String>| {
        scopes.sort();
        scopes
    };
    let mut others: Vec<_> = keys.or.into_iter().map(sorted).collect();
    others.sort();
    let own = [vec![scope.name.clone()], sorted(keys.and)].concat();
    [vec![own], others].concat()
}

/// The segments of an accepted target, and whether it ends in a slash exactly if it has to.
fn segments<'t>(policy: &Model, target: &'t [u8]) -> (Vec<&'t [u8]>, bool) {
    let mut path = &target[..target.iter().position(|byte| *byte == b'?').unwrap_or(target.len())];
    if path == b"/" {
        return (Vec::new(), true);
    }
    let mut is_spelt_so = true;
    if policy.trailing_slash {
        match path.strip_suffix(b"/") {
            Some(rest) if path != b"//" => path = rest,
            Some(_) => {}
            None => is_spelt_so = false,
        }
    }
    let segments = path[1..].split(|byte| *byte == b'/');
    (segments.collect(), is_spelt_so)
}

/// Rules P1 to P18 and the limits, in their order.
fn malformed(policy: &Model, ask: &Ask) -> Option<&'static str> {
    let (method, target) = (&ask.method, &ask.target);
    if method.is_empty() || method.len() > 16 || method.iter().any(|b| !b.is_ascii_uppercase()) {
        return Some("method");
    }
    if target.is_empty() || target.len() > 8192 {
        return Some("length");
    }
    if target.iter().any(|byte| *byte < 0x21 || *byte > 0x7e) {
        return Some("byte");
    }
    if target.contains(&b'#') {
        return Some("fragment");
    }
    if target[0] != b'/' {
        return Some("form");
    }
    let path = &target[..target.iter().position(|byte| *byte == b'?').unwrap_or(target.len())];
    if path.contains(&b'\\') {
        return Some("backslash");
    }
    for at in 0..path.len() {
        if let Some(detail) = bad_byte(policy, path, at) {
            return Some(detail);
        }
    }
    let (segments, _) = segments(policy, target);
    if segments.iter().any(|segment| segment.is_empty()) {
        return Some("empty_segment");
    }
    if segments.iter().any(|segment| segment.iter().all(|byte| *byte == b'.')) {
        return Some("dot_segment");
    }
    if segments.len() > 32 || segments.iter().any(|segment| segment.len() > 256) {
        return Some("length");
    }
    None
}

fn bad_byte(policy: &Model, path: &[u8], at: usize) -> Option<&'static str> {
    if path[at] == b';' {
        return Some("matrix_param");
    }
    if b"\"<>^`{}|[]".contains(&path[at]) {
        return Some("path_char");
    }
    if path[at] != b'%' {
        return None;
    }
    if !policy.encoded_params {
        return Some("percent");
    }
    let hex = core::str::from_utf8(path.get(at + 1..at + 3).unwrap_or(b"")).unwrap_or("");
    if hex.len() != 2 || hex.chars().any(|digit| !digit.is_ascii_hexdigit()) {
        return Some("bad_escape");
    }
    let byte = u8::from_str_radix(hex, 16).unwrap();
    let segment_starts = at == 0 || path[at - 1] == b'/';
    let segment_ends = at + 3 == path.len() || path[at + 3] == b'/';
    if byte < 0x20 || byte == 0x7f {
        Some("encoded_control")
    } else if b"/\\;?#%".contains(&byte) {
        Some("encoded_delimiter")
    } else if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        Some("encoded_unreserved")
    } else if byte >= 0x80 {
        Some("non_ascii")
    } else if byte == b' ' && (segment_starts || segment_ends) {
        Some("whitespace")
    } else {
        None
    }
}

/// P19 and P21.
fn unsafe_beside_table(templates: &[&[&str]], path: &[&[u8]], winner: Option<&[&str]>) -> Option<&'static str> {
    let decoded: Vec<_> = path.iter().map(|segment| decode(segment)).collect();
    for full in templates {
        for (position, segment) in full.iter().enumerate() {
            if full.len() == path.len()
                && !is_parameter(segment)
                && path[position].contains(&b'%')
                && segment.as_bytes() == decoded[position]
            {
                return Some("non_canonical_literal");
            }
        }
    }
    let winner = winner?;
    let folded = |literal: &str, at: usize| literal.as_bytes().eq_ignore_ascii_case(&decoded[at]);
    let rival = best(templates, folded, path.len())?;
    kinds(rival).ne(kinds(winner)).then_some("ambiguous_case")
}

/// A segment with its escapes decoded once.
fn decode(segment: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut at = 0;
    while at < segment.len() {
        if segment[at] == b'%' {
            let hex = core::str::from_utf8(&segment[at + 1..at + 3]).unwrap();
            decoded.push(u8::from_str_radix(hex, 16).unwrap());
            at += 3;
        } else {
            decoded.push(segment[at]);
            at += 1;
        }
    }
    decoded
}

/// The most specific template of this length whose literals all fit: position by position, left to
/// right, a literal beats a parameter.
fn best<'r>(templates: &[&'r [&'r str]], fits: impl Fn(&str, usize) -> bool, length: usize) -> Option<&'r [&'r str]> {
    let mut best: Option<&[&str]> = None;
    for full in templates.iter().copied() {
        let fitting = full.len() == length
            && full.iter().enumerate().all(|(at, segment)| is_parameter(segment) || fits(segment, at));
        // `false` sorts before `true`: a literal before a parameter.
        if fitting && best.is_none_or(|best| kinds(full).lt(kinds(best))) {
            best = Some(full);
        }
    }
    best
}

/// Which segments are parameters.
fn kinds(template: &[&str]) -> impl Iterator<Item = bool> {
    template.iter().map(|segment| is_parameter(segment))
}

/// The segments, and nothing instead of a parameter.
fn literals<'a>(template: &'a [&'a str]) -> impl Iterator<Item = Option<&'a str>> {
    let literal = |segment: &&str| !is_parameter(segment);
    template.iter().map(move |segment| Some(*segment).filter(literal))
}
