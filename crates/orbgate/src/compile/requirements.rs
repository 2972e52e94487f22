//! The requirements of routes that need more or other than their own scope.

use std::collections::hash_map::Entry;

use super::entries::id;
use crate::policy::Requirement;
use crate::tables::seeded::SeededMap;
use crate::tables::{NO_SCOPE, Run};

/// The different requirements, in the order of the routes.
#[derive(Default)]
pub(super) struct Requirements<'p> {
    pub(super) rows: Vec<Run>,
    /// As in [`Tables::alternatives`](crate::tables::Tables::alternatives).
    pub(super) scopes: Vec<u16>,
    numbers: SeededMap<Vec<&'p str>, u32>,
}

impl<'p> Requirements<'p> {
    /// The number of a requirement. `names` are the sorted names of all scopes.
    pub(super) fn number(&mut self, requirement: &'p Requirement, names: &[&[u8]]) -> u32 {
        let free = match self.numbers.entry(requirement.alternatives().collect()) {
            Entry::Occupied(number) => return *number.get(),
            Entry::Vacant(free) => free,
        };
        let start = self.scopes.len();
        for alternative in requirement.alternatives() {
            let ids = alternative.split(' ').map(|scope| names.binary_search(&scope.as_bytes()).ok());
            let ids: Option<Vec<_>> = ids.map(|position| u16::try_from(position?).ok()).collect();
            debug_assert!(ids.is_some(), "the reader refuses a scope that the policy lacks");
            let separator = (self.scopes.len() > start).then_some(NO_SCOPE);
            self.scopes.extend(ids.into_iter().flat_map(|ids| separator.into_iter().chain(ids)));
        }
        self.rows.push(Run { start: id(start), length: id(self.scopes.len().saturating_sub(start)) });
        *free.insert(id(self.rows.len()).saturating_sub(1))
    }
}
