//! The state of every issuer's keys at one moment.

use core::time::Duration;
use std::sync::Arc;

use super::error::FetchError;
use super::when::{Cause, Due, Times};
use crate::keys::{KeySet, KeyWarning, Keys};
use crate::verifier::Verifier;

/// The state at one moment; readers take it as a whole.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    pub(super) keys: Keys,
    pub(super) issuers: Vec<State>,
}

#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) times: Option<Times>,
    pub(super) failure: Option<FetchError>,
    /// The attempt that failed took longer than a brief wait.
    is_slow: bool,
    /// Counts the changes of its keys: new ones, or none any more.
    generation: u64,
}

impl Snapshot {
    /// The initial state of this many issuers, without keys.
    pub(super) fn of(issuers: usize) -> Self {
        Self { keys: Keys::new(), issuers: vec![State::default(); issuers] }
    }

    pub(super) fn times(&self, issuer: usize) -> Option<Times> {
        self.issuers.get(issuer)?.times
    }

    pub(super) fn is_failing(&self, issuer: usize) -> bool {
        let state = self.issuers.get(issuer);
        state.is_some_and(|state| state.failure.is_some())
    }

    /// Whether the issuer fails, and took its time for that: a token that waits for it would wait in vain.
    pub(super) fn is_failing_slowly(&self, issuer: usize) -> bool {
        let state = self.issuers.get(issuer);
        state.is_some_and(|state| state.failure.is_some() && state.is_slow)
    }

    /// Which keys of the issuer these are.
    pub(super) fn generation(&self, issuer: usize) -> u64 {
        self.issuers.get(issuer).map_or(0, |state| state.generation)
    }

    /// What a token of the issuer does about its keys.
    pub(super) fn due(&self, issuer: usize, now: Duration) -> Due {
        match self.times(issuer) {
            None => Due::Now,
            Some(times) if self.is_failing(issuer) => times.due_while_failing(now),
            Some(times) => times.due(now),
        }
    }

    /// Why an issuer's keys may have to be fetched, apart from what a token names.
    pub(super) fn cause(&self, issuer: usize) -> Cause {
        match self.times(issuer) {
            None => Cause::NoKeys,
            Some(_) => Cause::Due,
        }
    }

    pub(super) fn put(&mut self, issuer: usize, name: &str, keys: Arc<KeySet>, times: Option<Times>) {
        self.keys = core::mem::take(&mut self.keys).with(name, keys);
        self.change(issuer, times);
    }

    /// The keys that this verifier has from files.
    pub(super) fn put_files(&mut self, verifier: &Verifier) {
        let named = (0..self.issuers.len()).filter_map(|issuer| Some((issuer, verifier.named(issuer)?)));
        for (issuer, (rules, name)) in named {
            if let Some(keys) = rules.jwks_file.as_ref().and_then(|file| file.keys.as_ref()) {
                self.put(issuer, name, Arc::clone(keys), None);
            }
        }
    }

    pub(super) fn remove(&mut self, issuer: usize, name: &str) {
        self.keys = core::mem::take(&mut self.keys).without(name);
        self.change(issuer, None);
    }

    /// How old an issuer's keys are, which are here already.
    pub(super) fn set_times(&mut self, issuer: usize, times: Option<Times>) {
        if let Some(state) = self.issuers.get_mut(issuer) {
            state.times = times;
        }
    }

    fn change(&mut self, issuer: usize, times: Option<Times>) {
        if let Some(state) = self.issuers.get_mut(issuer) {
            state.times = times;
            state.generation = state.generation.saturating_add(1);
        }
    }

    pub(super) fn set_failure(&mut self, issuer: usize, failure: Option<FetchError>, is_slow: bool) {
        if let Some(state) = self.issuers.get_mut(issuer) {
            state.failure = failure;
            state.is_slow = is_slow;
        }
    }
}

/// The state of an issuer's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyStatus<T = std::time::Instant> {
    /// The issuer.
    pub issuer: String,
    /// Whether its tokens are opaque. If they are, its introspection endpoint checks them, and it has no keys.
    pub is_opaque: bool,
    /// The number of usable keys.
    pub keys: usize,
    /// When they were fetched; `None` if there aren't any, or if they are from a file.
    pub fetched: Option<T>,
    /// The keys that were left out, with the reasons.
    pub warnings: Vec<KeyWarning>,
    /// Why the last attempt failed; `None` if it succeeded.
    pub failure: Option<FetchError>,
}

/// The last notices about one issuer.
#[derive(Clone, Debug, Default)]
pub(super) struct Noticed {
    pub(super) failure: Option<FetchError>,
    pub(super) warnings: Vec<KeyWarning>,
    /// The time of the notice of its failure, or of its end.
    pub(super) at: Option<Duration>,
}
