//! A scope in several apis, such as two versions of one service, is one scope: its settings must be equal in all
//! of them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use orbgate_yaml::{Diagnostics, Location, Spanned, first_location, quoted};

use super::document::{ApiDocument, Document, ScopeDocument};
use super::requirements;

/// Reports scopes whose settings differ between two apis, or that state `permits` twice.
pub(super) fn check(document: &Document, diagnostics: &mut Diagnostics) {
    let mut firsts: HashMap<&str, First<'_>> = HashMap::new();
    for (index, (_, api)) in document.apis.0.iter().enumerate() {
        for (name, scope) in &api.scopes.0 {
            let own = InApi { name, api, scope };
            match firsts.entry(&name.value) {
                Entry::Vacant(free) => {
                    free.insert(First { index, own, with_routes: own.with_routes(), permits: own.permits() });
                }
                // Twice in one api is a duplicate key, which is reported separately.
                Entry::Occupied(first) if first.get().index == index => {}
                Entry::Occupied(mut first) => {
                    own.check_token(first.get().own, diagnostics);
                    own.check_orbs(first.get().own, diagnostics);
                    own.check_requirement(first.get().with_routes.unwrap_or(own), diagnostics);
                    first.get_mut().meet(own);
                    own.check_permits(&mut first.get_mut().permits, diagnostics);
                }
            }
        }
    }
}

/// The first occurrence of a scope.
struct First<'d> {
    /// The position of its api among all.
    index: usize,
    own: InApi<'d>,
    /// The first occurrence with routes.
    with_routes: Option<InApi<'d>>,
    /// The first occurrence of `permits`, in this api or in a later one.
    permits: Option<Location>,
}

impl<'d> First<'d> {
    fn meet(&mut self, own: InApi<'d>) {
        self.with_routes = self.with_routes.or(own.with_routes());
    }
}

/// A scope as one api defines it.
#[derive(Clone, Copy)]
struct InApi<'d> {
    name: &'d Spanned<String>,
    api: &'d ApiDocument,
    scope: &'d ScopeDocument,
}

impl InApi<'_> {
    fn with_routes(self) -> Option<Self> {
        (!self.scope.routes.0.is_empty()).then_some(self)
    }

    fn check_token(self, first: Self, diagnostics: &mut Diagnostics) {
        if let Some(key) = requirements::different_token_key(self.api, first.api, diagnostics) {
            let locations = [first.name.location, self.name.location];
            self.report(&format!(" with different `{key}`"), locations, diagnostics);
        }
    }

    /// The keys for what the scope's routes need matter only where it has routes.
    fn check_requirement(self, first: Self, diagnostics: &mut Diagnostics) {
        let keys = [self, first].map(|own| requirements::Keys::of_scope(own.scope));
        let [own, other] = keys.map(requirements::Keys::scopes);
        if own == other || [self, first].iter().any(|own| own.scope.routes.0.is_empty()) {
            return;
        }
        let key = if own.0 == other.0 { "and" } else { "or" };
        let locations = [first.name.location, self.name.location];
        self.report(&format!(" with different `{key}`"), locations, diagnostics);
    }

    fn check_orbs(self, first: Self, diagnostics: &mut Diagnostics) {
        if self.has_orbs_diagnostic(diagnostics) || first.has_orbs_diagnostic(diagnostics) {
            return;
        }
        let orbs = |own: Self| own.scope.orbs.as_ref().map(|orbs| orbs.value);
        if orbs(self) != orbs(first) {
            let locations = [first.orbs_location(), self.orbs_location()];
            self.report(" with different `orbs`", locations, diagnostics);
        }
    }

    fn orbs_location(self) -> Location {
        let orbs = self.scope.orbs.as_ref();
        orbs.map_or(self.name.location, |orbs| orbs.location)
    }

    /// Whether `orbs` already has an error, which is enough, or is missing although it is required.
    fn has_orbs_diagnostic(self, diagnostics: &Diagnostics) -> bool {
        match &self.scope.orbs {
            Some(orbs) => diagnostics.stand_at(orbs.location),
            None => !self.scope.routes.0.is_empty() || diagnostics.is_misspelt(self.name.location, "orbs"),
        }
    }

    fn permits(self) -> Option<Location> {
        self.scope.permits.as_ref().map(|permits| permits.location)
    }

    fn check_permits(self, first: &mut Option<Location>, diagnostics: &mut Diagnostics) {
        let Some(own) = self.permits() else { return };
        match *first {
            None => *first = Some(own),
            Some(first) => {
                self.report(" and has `permits` in both", [first, own], diagnostics);
            }
        }
    }

    fn report(self, what: &str, [first, own]: [Location; 2], diagnostics: &mut Diagnostics) {
        let (name, first) = (quoted(&self.name.value), first_location(first, own));
        diagnostics.push(own, format!("scope {name} is in two apis{what} (first on {first})"));
    }
}
