//! Navigates between routes and scopes, and makes the outline of a policy.

use core::ops::Range as Span;

use gen_lsp_types::{DocumentSymbol, SymbolKind};
use orbgate::{Engine, Route, Scope, ScopeInApi};

use crate::document::{Named, Valid};
use crate::encoding::Encoding;

/// The location of a name's scope.
pub(crate) fn definition(valid: &Valid, name: Named) -> Option<Span<usize>> {
    let scope = valid.scope_of(name)?;
    Some(span(valid, Named::Scope(scope.index())))
}

/// The locations of the routes that have a name's scope, first those that it owns, and, if requested, of the scope itself.
pub(crate) fn references(valid: &Valid, name: Named, declaration: bool) -> Vec<Span<usize>> {
    let Some(scope) = valid.scope_of(name) else {
        return Vec::new();
    };
    let apis = scope.apis().filter(|_| declaration);
    let own = apis.map(|in_api| valid.text.word(in_api.location()));
    let routes = scope.routes().chain(routes_elsewhere(&valid.engine, scope));
    let routes = routes.map(|route| span(valid, Named::Route(route.index())));
    own.chain(routes).collect()
}

/// The routes of other scopes that accept this one, or need it as well.
pub(crate) fn routes_elsewhere<'e>(engine: &'e Engine, scope: Scope<'e>) -> impl Iterator<Item = Route<'e>> {
    engine.routes().filter(move |route| {
        let mut all = route.requirement().alternatives().flatten();
        route.scope() != scope && all.any(|other| other == scope)
    })
}

/// The scopes of all apis in order, each with its routes.
pub(crate) fn outline(valid: &Valid, encoding: Encoding) -> Vec<DocumentSymbol> {
    let scopes = valid.engine.scopes_in_apis();
    scopes.map(|in_api| of_scope(valid, in_api, encoding)).collect()
}

fn of_scope(valid: &Valid, in_api: ScopeInApi<'_>, encoding: Encoding) -> DocumentSymbol {
    let own = valid.text.word(in_api.location());
    let routes = in_api.routes();
    let spans = routes.map(|route| span(valid, Named::Route(route.index())));
    let end = spans.map(|span| span.end).fold(own.end, usize::max);
    let routes = in_api.routes();
    let routes = routes.map(|route| of_route(valid, route, encoding));
    DocumentSymbol {
        children: Some(routes.collect()),
        ..symbol(valid, in_api.scope().name(), in_api.api(), SymbolKind::Key, (own.clone(), own.start..end), encoding)
    }
}

fn of_route(valid: &Valid, route: Route<'_>, encoding: Encoding) -> DocumentSymbol {
    let own = span(valid, Named::Route(route.index()));
    let spans = (own.clone(), own);
    symbol(valid, route.as_str(), "", SymbolKind::Method, spans, encoding)
}

fn symbol(
    valid: &Valid,
    name: &str,
    detail: &str,
    kind: SymbolKind,
    (own, whole): (Span<usize>, Span<usize>),
    encoding: Encoding,
) -> DocumentSymbol {
    #[allow(deprecated, reason = "the protocol still has the field, and it is left out")]
    DocumentSymbol {
        name: name.to_owned(),
        detail: (!detail.is_empty()).then(|| detail.to_owned()),
        kind,
        tags: None,
        deprecated: None,
        range: encoding.range(&valid.text, whole),
        selection_range: encoding.range(&valid.text, own),
        children: None,
    }
}

/// The location of a name.
fn span(valid: &Valid, named: Named) -> Span<usize> {
    valid.spans.get(&named).cloned().unwrap_or_default()
}
