//! A scope in several apis, such as two versions of one service, is one scope: its settings must be equal in all
//! of them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use orbgate_yaml::{Diagnostics, Location, Spanned, first_location, quoted};

use super::document::{ApiDocument, Document, OrbsDocument, ScopeDocument, is_set};

/// Reports scopes whose settings differ between two apis, or that state `permits` twice. Those of `or` and `and` are
/// compared later, as requirements.
pub(super) fn check(document: &Document, diagnostics: &mut Diagnostics) {
    let mut firsts: HashMap<&str, First<'_>> = HashMap::new();
    for (index, (_, api)) in document.apis.0.iter().enumerate() {
        for (name, scope) in &api.scopes.0 {
            let own = InApi { name, api, scope };
            let permits = scope.permits.as_ref().map(|permits| permits.location);
            let first = match firsts.entry(&name.value) {
                Entry::Vacant(free) => free.insert(First { index, own, permits }),
                Entry::Occupied(first) => first.into_mut(),
            };
            // Twice in one api is a duplicate key, which is reported separately.
            if first.index == index {
                continue;
            }
            own.check_token(first.own, diagnostics);
            own.check_orbs(first.own, diagnostics);
            own.check_sensitive(first.own, diagnostics);
            match (first.permits, permits) {
                (Some(first), Some(again)) => own.report(" and has `permits` in both", [first, again], diagnostics),
                (first_permits, permits) => first.permits = first_permits.or(permits),
            }
        }
    }
}

/// The first occurrence of a scope.
struct First<'d> {
    /// The position of its api among all.
    index: usize,
    own: InApi<'d>,
    /// The first occurrence of `permits`, in this api or in a later one.
    permits: Option<Location>,
}

/// A scope as one api defines it.
#[derive(Clone, Copy)]
struct InApi<'d> {
    name: &'d Spanned<String>,
    api: &'d ApiDocument,
    scope: &'d ScopeDocument,
}

impl InApi<'_> {
    fn check_token(self, first: Self, diagnostics: &mut Diagnostics) {
        if let Some(key) = different_token_key(self.api, first.api, diagnostics) {
            let locations = [first.name.location, self.name.location];
            self.report(&format!(" with different `{key}`"), locations, diagnostics);
        }
    }

    fn check_orbs(self, first: Self, diagnostics: &mut Diagnostics) {
        if let (Some((own, location)), Some((other, first))) = (self.orbs(diagnostics), first.orbs(diagnostics))
            && own != other
        {
            self.report(" with different `orbs`", [first, location], diagnostics);
        }
    }

    fn check_sensitive(self, first: Self, diagnostics: &mut Diagnostics) {
        let location = |of: Self| of.scope.sensitive.as_ref().map_or(of.name.location, |key| key.location);
        let locations = [location(first), location(self)];
        let has_error = locations.iter().any(|location| diagnostics.stand_at(*location));
        if is_set(&first.scope.sensitive) != is_set(&self.scope.sensitive) && !has_error {
            self.report(" with different `sensitive`", locations, diagnostics);
        }
    }

    /// `orbs` and its location, unless it already has an error, which is enough, or is missing although a route needs it.
    fn orbs(self, diagnostics: &Diagnostics) -> Option<(Option<OrbsDocument>, Location)> {
        let is_missing = || !self.scope.routes.all_state_orbs() || diagnostics.is_misspelt(self.name.location, "orbs");
        match &self.scope.orbs {
            Some(orbs) => (!diagnostics.stand_at(orbs.location)).then_some((Some(orbs.value), orbs.location)),
            None => (!is_missing()).then_some((None, self.name.location)),
        }
    }

    fn report(self, what: &str, [first, own]: [Location; 2], diagnostics: &mut Diagnostics) {
        let (name, first) = (quoted(&self.name.value), first_location(first, own));
        diagnostics.push(own, format!("scope {name} is in two apis{what} (first on {first})"));
    }
}

/// The key about tokens that two apis state differently, unless these keys already have errors, which are enough.
pub(super) fn different_token_key(
    one: &ApiDocument,
    other: &ApiDocument,
    diagnostics: &Diagnostics,
) -> Option<&'static str> {
    let has_diagnostic = |api: &ApiDocument| {
        api.token.is_some() != api.organisation.is_some()
            || api.token.as_ref().is_some_and(|it| diagnostics.stand_at(it.location))
            || api.organisation.as_ref().is_some_and(|it| diagnostics.stand_at(it.location))
    };
    let rule = |api: &ApiDocument| api.organisation.as_ref().map(|rule| rule.value);
    match (rule(one), rule(other)) {
        _ if has_diagnostic(one) || has_diagnostic(other) => None,
        (one, other) if one == other => None,
        (Some(_), Some(_)) => Some("organisation"),
        _ => Some("token"),
    }
}
