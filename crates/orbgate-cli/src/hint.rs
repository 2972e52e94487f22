//! Suggests a change that would allow a denied request.

use orbgate::{Decision, Deny, Detail, Engine, Profile, Reason};
use orbgate_analysis::{TriedAlternative, alternatives};

use crate::output::one_line;
use crate::policy_file::Source;
use crate::question::Question;

pub(crate) fn hint(question: &Question, deny: &Deny<'_>, source: &Source) -> Option<String> {
    let engine = source.engine();
    Some(match deny.reason() {
        Reason::MalformedRequest => return malformed(question, deny.detail()?, engine),
        Reason::NoToken => "say whose token it is: --token user|organisation --scopes 'a b'".to_owned(),
        Reason::NoRoute if question.scope.is_some() => {
            format!("`{}` lists the scopes of the policy", table(source))
        }
        Reason::NoRoute => match other_case(path(question)?, engine) {
            Some(path) => format!("a route differs only in case: {path}"),
            None => format!("`{}` lists the routes of the policy", table(source)),
        },
        Reason::MethodNotDeclared => {
            let methods: Vec<_> = deny.route().into_iter().flat_map(|route| route.methods()).collect();
            match methods.as_slice() {
                [] => "this path is closed: the policy declares no method here".to_owned(),
                methods => format!("declared here: {}", methods.join(", ")),
            }
        }
        Reason::UserTokenRequired => "ask with a user's token: --token user".to_owned(),
        Reason::ScopeMissing => scope_missing(question, &Decision::Deny(*deny))?,
        _ => return None,
    })
}

/// The command that lists the policy.
fn table(source: &Source) -> String {
    match source.path() {
        None => "orbgate table".to_owned(),
        Some(path) => format!("orbgate table --policy {}", one_line(path)),
    }
}

/// How to make a malformed request valid, if that is obvious.
fn malformed(question: &Question, detail: Detail, engine: &Engine) -> Option<String> {
    let target = question.target.as_ref()?.to_str()?;
    Some(match detail {
        Detail::Method => {
            let method = question.method.as_ref()?.to_str()?;
            let is_word = (1..=16).contains(&method.len()) && method.bytes().all(|byte| byte.is_ascii_alphabetic());
            if !is_word {
                return None;
            }
            format!("in capital letters: {}", method.to_ascii_uppercase())
        }
        Detail::Form => match target.split_once("://") {
            Some((_, rest)) => {
                let path = rest.find('/').and_then(|start| rest.get(start..))?;
                format!("the path without scheme and host: {path}")
            }
            None if target.is_empty() => return None,
            None => format!("with a `/` before it: /{target}"),
        },
        Detail::Fragment => {
            let (before, _) = target.split_once('#')?;
            format!("a `#` never reaches a server; without it: {before}")
        }
        Detail::Percent if engine.target() == Profile::Strict => {
            "a policy with `target: encoded_params` accepts escapes in parameters".to_owned()
        }
        Detail::EmptySegment => {
            let segments: Vec<_> = path(question)?.split('/').filter(|segment| !segment.is_empty()).collect();
            if segments.is_empty() {
                return None;
            }
            let what =
                if path(question)?.contains("//") { "without the empty segment" } else { "without the trailing `/`" };
            let end = if engine.trailing_slash() { "/" } else { "" };
            format!("{what}: /{}{end}", segments.join("/"))
        }
        Detail::AmbiguousCase => {
            format!("a route differs only in case: {}", other_case(path(question)?, engine)?)
        }
        _ => return None,
    })
}

/// What a token needs for a call, if a scope: `read:a and read:b, or admin`.
pub(crate) fn needed(decision: &Decision<'_>) -> Option<String> {
    let scope = decision.scope()?.name();
    let requirement = decision.requirement();
    Some(
        requirement
            .map_or_else(|| scope.to_owned(), |requirement| any_of(&alternatives(&requirement, ""), |it| &it.scopes)),
    )
}

/// The scopes of alternatives in words.
fn any_of<'a>(tried: &'a [TriedAlternative<'a>], scopes: impl Fn(&'a TriedAlternative<'a>) -> &'a [&'a str]) -> String {
    let all: Vec<_> = tried.iter().map(|tried| scopes(tried).join(" and ")).collect();
    all.join(", or ")
}

fn scope_missing(question: &Question, decision: &Decision<'_>) -> Option<String> {
    let needed = needed(decision)?;
    let carried = question.scopes.as_ref().map(|scopes| scopes.to_string_lossy());
    Some(match carried {
        Some(carried) if carried.contains(',') => {
            format!("needs {needed}; the token carries {carried}: scopes are separated by spaces, not by commas")
        }
        Some(carried) if !carried.is_empty() => {
            let tried = decision.requirement().map(|requirement| alternatives(&requirement, question.scopes()));
            let lacking = tried.map(|tried| format!(" and lacks {}", any_of(&tried, |it| &it.lacking)));
            format!("needs {needed}; the token carries {carried}{}", lacking.unwrap_or_default())
        }
        _ => format!("needs {needed}; the token carries no scope"),
    })
}

/// The path of the request, if it is valid UTF-8.
fn path(question: &Question) -> Option<&str> {
    question.target.as_ref()?.to_str()?.split('?').next()
}

/// The path with the letter case of a template that matches except for case. If several match, the
/// one with the first literal.
fn other_case(path: &str, engine: &Engine) -> Option<String> {
    let mut best: Option<(Vec<bool>, String)> = None;
    for route in engine.routes() {
        let Some((parameters, spelling)) = spelled(path, route.template()) else {
            continue;
        };
        // A literal beats a parameter at the first position where they differ, as in the engine.
        if best.as_ref().is_none_or(|(best, _)| parameters < *best) {
            best = Some((parameters, spelling));
        }
    }
    best.map(|(_, spelling)| spelling).filter(|spelling| spelling != path)
}

/// Which segments are parameters, and the path in the template's letter case.
fn spelled(path: &str, template: &str) -> Option<(Vec<bool>, String)> {
    let (mut given, mut parts) = (path.split('/'), template.split('/'));
    let (mut parameters, mut segments) = (Vec::new(), Vec::new());
    loop {
        let (segment, part) = match (given.next(), parts.next()) {
            (None, None) => return Some((parameters, segments.join("/"))),
            (Some(segment), Some(part)) => (segment, part),
            _ => return None,
        };
        let is_parameter = part.starts_with('{');
        if !is_parameter && !segment.eq_ignore_ascii_case(part) {
            return None;
        }
        parameters.push(is_parameter);
        segments.push(if is_parameter { segment } else { part });
    }
}
