//! The requirements of routes that need more or other than their own scope.

use std::collections::hash_map::Entry;

use super::entries::id;
use super::templates::{Template, Templates};
use crate::policy::Requirement;
use crate::tables::seeded::SeededMap;
use crate::tables::{NO_SCOPE, Run};

/// The different requirements, in the order of the routes, and the number of each route's.
#[derive(Default)]
pub(super) struct Requirements {
    pub(super) rows: Vec<Run>,
    /// As in [`Tables::alternatives`](crate::tables::Tables::alternatives).
    pub(super) scopes: Vec<u16>,
    /// By the position of a route among the routes of all scopes, its requirement.
    of_routes: SeededMap<u64, u32>,
}

impl Requirements {
    /// `names` are the sorted names of all scopes.
    pub(super) fn of_all(templates: &Templates<'_>, names: &[&[u8]]) -> Self {
        let mut all = Self::default();
        let mut known: SeededMap<Vec<&str>, u32> = SeededMap::default();
        for template in &templates.routes {
            let Some(requirement) = template.route.and_then(|(_, rule)| rule.requirement()) else {
                continue;
            };
            let number = match known.entry(requirement.alternatives().collect()) {
                Entry::Occupied(number) => *number.get(),
                Entry::Vacant(free) => *free.insert(all.add(requirement, names)),
            };
            all.of_routes.insert(u64::from(template.position), number);
        }
        all
    }

    fn add(&mut self, requirement: &Requirement, names: &[&[u8]]) -> u32 {
        let start = id(self.scopes.len());
        for alternative in requirement.alternatives() {
            let ids = alternative.split(' ').map(|scope| {
                let position = names.binary_search(&scope.as_bytes()).ok();
                u16::try_from(position?).ok()
            });
            let ids: Option<Vec<_>> = ids.collect();
            debug_assert!(ids.is_some(), "the reader refuses a scope that the policy lacks");
            let separator = (id(self.scopes.len()) > start).then_some(NO_SCOPE);
            self.scopes.extend(ids.into_iter().flat_map(|ids| separator.into_iter().chain(ids)));
        }
        let length = id(self.scopes.len()).saturating_sub(start);
        self.rows.push(Run { start, length });
        id(self.rows.len()).saturating_sub(1)
    }

    /// The requirement of a route.
    pub(super) fn of(&self, route: &Template<'_>) -> Option<u32> {
        self.of_routes.get(&u64::from(route.position)).copied()
    }
}
