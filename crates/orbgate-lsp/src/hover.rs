//! The hover text for the route or scope at the cursor.

use orbgate::{Orbs, OrganisationRule, Route, Scope};
use orbgate_analysis::routes_beside;
use orbgate_analysis::shown::{prose, span};

use crate::document::{Named, Valid};
use crate::navigation::routes_elsewhere;

/// The maximum number of routes in the text.
const NAMED: usize = 5;

/// Markdown about a name. Its lines are also readable as plain text.
pub(crate) fn markdown(valid: &Valid, name: Named) -> Option<String> {
    let mut text = String::new();
    match name {
        Named::Route(index) => of_route(valid, valid.route(index)?, &mut text),
        Named::Scope(index) => of_scope(valid, valid.scope(index)?, &mut text),
    }
    Some(text)
}

fn of_route(valid: &Valid, route: Route<'_>, text: &mut String) {
    let scope = route.scope();
    line(text, &span(route.as_str()));
    line(text, "");
    let permits = scope.permits().map(|permits| format!(": {}", prose(permits)));
    let permits = permits.unwrap_or_default();
    let requirement = route.requirement();
    match requirement.is_one_scope() {
        true => line(text, &format!("- needs {}{permits}", span(scope.name()))),
        false => {
            let alternatives: Vec<_> = requirement.alternatives().map(|scopes| span(&scopes.to_string())).collect();
            line(text, &format!("- needs {}", alternatives.join(" or ")));
            line(text, &format!("- listed under {}{permits}", span(scope.name())));
        }
    }
    line(text, &format!("- {}", orbs(Some(route.orbs()))));
    line(text, &format!("- {}", tokens(scope)));
    let methods: Vec<_> = route.methods().map(span).collect();
    line(text, &format!("- declared on this path: {}", methods.join(", ")));
    let beside = routes_beside(&valid.engine, route);
    for other in beside.iter().take(NAMED) {
        let decides = match other.decides {
            Some(decides) if decides == route => "this route".to_owned(),
            Some(decides) => span(decides.as_str()),
            None => "nobody: a 405".to_owned(),
        };
        line(
            text,
            &format!(
                "- overlaps {} (line {}): {} is decided by {decides}",
                span(other.route.as_str()),
                other.route.location().line,
                span(&other.target)
            ),
        );
    }
    more(text, beside.len());
}

fn of_scope(valid: &Valid, scope: Scope<'_>, text: &mut String) {
    let apis: Vec<_> = scope.apis().map(|in_api| span(in_api.api())).collect();
    let kind = if apis.len() > 1 { "apis" } else { "api" };
    line(text, &format!("{} of {kind} {}", span(scope.name()), apis.join(", ")));
    line(text, "");
    if let Some(permits) = scope.permits() {
        line(text, &format!("- permits: {}", prose(permits)));
    }
    let price = match scope.orbs() {
        None if scope.routes().next().is_some() => "orbs: those of the route".to_owned(),
        price => orbs(price),
    };
    line(text, &format!("- {price}"));
    line(text, &format!("- {}", tokens(scope)));
    let mut routes = scope.routes();
    for route in routes.by_ref().take(NAMED) {
        line(text, &format!("- {} (line {})", span(route.as_str()), route.location().line));
    }
    more(text, routes.count().saturating_add(NAMED));
    let mut elsewhere = routes_elsewhere(&valid.engine, scope);
    for route in elsewhere.by_ref().take(NAMED) {
        line(text, &format!("- also for {} (line {})", span(route.as_str()), route.location().line));
    }
    more(text, elsewhere.count().saturating_add(NAMED));
    if scope.routes().next().is_none() && routes_elsewhere(&valid.engine, scope).next().is_none() {
        line(text, "- no route: it can only be asked for by its name");
    }
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Adds the number of further routes.
fn more(text: &mut String, all: usize) {
    let more = all.saturating_sub(NAMED);
    if more > 0 {
        line(text, &format!("- and {more} more"));
    }
}

fn orbs(orbs: Option<Orbs>) -> String {
    match orbs {
        Some(Orbs::Free) => "consumes no orbs".to_owned(),
        Some(Orbs::Unstated) => "consumes orbs, the amount is not stated".to_owned(),
        Some(Orbs::Amount(amount)) => format!("orbs: {amount}"),
        None => "orbs: not stated".to_owned(),
    }
}

/// Which kinds of token count.
fn tokens(scope: Scope<'_>) -> &'static str {
    match scope.organisation() {
        None => "any token may carry the scope",
        Some(OrganisationRule::Deny) => "only a user's token counts; an organisation's is denied",
        Some(OrganisationRule::AllowWithoutScope) => {
            "only a user's token needs the scope; an organisation's is allowed without it"
        }
    }
}
