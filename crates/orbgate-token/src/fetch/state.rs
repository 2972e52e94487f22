//! What is known of every issuer's keys at one time.

use super::client::FetchError;
use super::when::{Cause, Times};
use crate::keys::Keys;

/// All that is known at one time; readers take it whole.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    pub(super) keys: Keys,
    pub(super) issuers: Vec<State>,
}

/// What is known of one issuer's keys.
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) times: Option<Times>,
    pub(super) failure: Option<FetchError>,
}

impl Snapshot {
    /// Nothing is known of that many issuers.
    pub(super) fn of(issuers: usize) -> Self {
        Self {
            keys: Keys::new(),
            issuers: vec![State::default(); issuers],
        }
    }

    pub(super) fn times(&self, issuer: usize) -> Option<Times> {
        self.issuers.get(issuer)?.times
    }

    pub(super) fn is_failing(&self, issuer: usize) -> bool {
        let state = self.issuers.get(issuer);
        state.is_some_and(|state| state.failure.is_some())
    }

    pub(super) fn set_times(&mut self, issuer: usize, times: Option<Times>) {
        if let Some(state) = self.issuers.get_mut(issuer) {
            state.times = times;
        }
    }

    pub(super) fn set_failure(&mut self, issuer: usize, failure: Option<FetchError>) {
        if let Some(state) = self.issuers.get_mut(issuer) {
            state.failure = failure;
        }
    }

    /// Why an issuer's keys may have to be fetched, apart from what a token names.
    pub(super) fn cause(&self, issuer: usize) -> Cause {
        match self.times(issuer) {
            None => Cause::NoKeys,
            Some(_) => Cause::Due,
        }
    }

    /// Whether an issuer's keys are still those of another snapshot.
    pub(super) fn is_same(&self, other: &Self, issuer: usize) -> bool {
        let fetched = |snapshot: &Self| snapshot.times(issuer).map(|times| times.fetched);
        fetched(self) == fetched(other)
    }
}
