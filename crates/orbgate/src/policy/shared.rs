//! A scope in several apis, such as two versions of one service, is one scope: what is said of it must be equal.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use orbgate_yaml::{Faults, Place, Spanned, first_place, quoted};

use super::document::{ApiDocument, Document, ScopeDocument};

/// Reports scopes of which two apis say something different, or the same text twice.
pub(super) fn check(document: &Document, faults: &mut Faults) {
    let mut firsts: HashMap<&str, First<'_>> = HashMap::new();
    for (index, (_, api)) in document.apis.0.iter().enumerate() {
        for (name, scope) in &api.scopes.0 {
            let own = InApi { name, api, scope };
            match firsts.entry(&name.value) {
                Entry::Vacant(free) => {
                    free.insert(First {
                        index,
                        own,
                        permits: own.permits(),
                    });
                }
                // Twice in one api is a duplicate key, reported as such.
                Entry::Occupied(first) if first.get().index == index => {}
                Entry::Occupied(mut first) => {
                    own.check_token(first.get().own, faults);
                    own.check_orbs(first.get().own, faults);
                    own.check_permits(&mut first.get_mut().permits, faults);
                }
            }
        }
    }
}

/// A scope where it was seen first.
struct First<'d> {
    /// The place of its api among all.
    index: usize,
    own: InApi<'d>,
    /// Where `permits` was seen first, in this api or in a later one.
    permits: Option<Place>,
}

/// A scope as one api has it.
#[derive(Clone, Copy)]
struct InApi<'d> {
    name: &'d Spanned<String>,
    api: &'d ApiDocument,
    scope: &'d ScopeDocument,
}

impl InApi<'_> {
    fn check_token(self, first: Self, faults: &mut Faults) {
        if self.has_token_fault(faults) || first.has_token_fault(faults) {
            return;
        }
        let rule = |own: Self| own.api.organisation.as_ref().map(|rule| rule.value);
        let key = match (rule(self), rule(first)) {
            (own, first) if own == first => return,
            (Some(_), Some(_)) => "organisation",
            _ => "token",
        };
        let places = [first.name.place, self.name.place];
        self.report(&format!(", which differ in `{key}`"), places, faults);
    }

    /// Whether the keys about tokens have faults of their own, which say enough.
    fn has_token_fault(self, faults: &Faults) -> bool {
        let ApiDocument {
            token,
            organisation,
            ..
        } = self.api;
        token.is_some() != organisation.is_some()
            || token.as_ref().is_some_and(|it| faults.stand_at(it.place))
            || organisation
                .as_ref()
                .is_some_and(|it| faults.stand_at(it.place))
    }

    fn check_orbs(self, first: Self, faults: &mut Faults) {
        if self.has_orbs_fault(faults) || first.has_orbs_fault(faults) {
            return;
        }
        let orbs = |own: Self| own.scope.orbs.as_ref().map(|orbs| orbs.value);
        if orbs(self) != orbs(first) {
            let places = [first.orbs_place(), self.orbs_place()];
            self.report(" and differs in `orbs`", places, faults);
        }
    }

    fn orbs_place(self) -> Place {
        let orbs = self.scope.orbs.as_ref();
        orbs.map_or(self.name.place, |orbs| orbs.place)
    }

    /// Whether `orbs` has a fault of its own, which says enough, or is missing where it is required.
    fn has_orbs_fault(self, faults: &Faults) -> bool {
        match &self.scope.orbs {
            Some(orbs) => faults.stand_at(orbs.place),
            None => !self.scope.routes.is_empty() || faults.is_misspelt(self.name.place, "orbs"),
        }
    }

    fn permits(self) -> Option<Place> {
        self.scope.permits.as_ref().map(|permits| permits.place)
    }

    fn check_permits(self, first: &mut Option<Place>, faults: &mut Faults) {
        let Some(own) = self.permits() else { return };
        match *first {
            None => *first = Some(own),
            Some(first) => {
                self.report(" and has `permits` in both", [first, own], faults);
            }
        }
    }

    fn report(self, what: &str, [first, own]: [Place; 2], faults: &mut Faults) {
        let (name, first) = (quoted(&self.name.value), first_place(first, own));
        faults.push(
            own,
            format!("scope {name} is in two apis{what} (first on {first})"),
        );
    }
}
