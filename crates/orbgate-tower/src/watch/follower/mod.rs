//! Decides what to do with each version of a policy file.

use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use arc_swap::ArcSwapOption;
use orbgate::policy::PolicyFile;
use orbgate::{Engine, PolicyError};
use orbgate_gate::names;

use super::attempt::Attempt;
use super::settings::WatchSettings;
use crate::adopt::{Candidate, Ending};
use crate::engines::Engines;
use crate::load_error::LoadError;
use crate::observe;

/// How long a version must rest if an operator waits for it and the interval is longer.
const SHORT_REST: Duration = Duration::from_secs(1);

/// The longest pause between two attempts to load a version.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

pub(super) struct Follower {
    path: PathBuf,
    engines: Engines,
    settings: WatchSettings,
    compile: Compile,
    /// How the active versions so far marked their end. The next version must do the same.
    ending: Ending,
    /// The version that was checked last; `None` after the file couldn't be read.
    judged: Option<Judged>,
    /// A version that must be read again before it is checked.
    resting: Option<Vec<u8>>,
    /// The contents of the active version.
    active: Arc<Text>,
}

/// The contents of the active version.
pub(super) type Text = ArcSwapOption<Vec<u8>>;

/// Compiles a policy, and compares it with the active engine.
type Compile = fn(&[u8], &Engine) -> Result<Candidate, PolicyError>;

struct Judged {
    text: Vec<u8>,
    verdict: Verdict,
}

pub(super) enum Verdict {
    Active,
    Refused,
    /// It failed, but the next attempt might succeed.
    Later(Retry),
}

pub(super) struct Retry {
    at: Instant,
    pause: Duration,
    /// The attempt that took too long, while its thread might still run.
    attempt: Option<Attempt<Result<Candidate, PolicyError>>>,
}

impl Follower {
    /// Follows a file of which no version has been checked.
    pub(super) fn new(path: PathBuf, engines: Engines, settings: WatchSettings, active: Arc<Text>) -> Self {
        Self {
            path,
            engines,
            settings,
            compile: Candidate::new,
            ending: Ending::default(),
            judged: None,
            resting: None,
            active,
        }
    }

    /// Records the result for a version.
    pub(super) fn judged(&mut self, text: Vec<u8>, verdict: Verdict) {
        self.judged = Some(Judged { text, verdict });
    }

    /// Records a version that became active.
    pub(super) fn took(&mut self, ending: Ending, text: Vec<u8>) {
        self.ending = self.ending.or(ending);
        self.active.store(Some(Arc::new(text.clone())));
        self.judged(text, Verdict::Active);
    }

    /// Makes a version active.
    pub(super) fn adopt(&mut self, candidate: Candidate, text: Vec<u8>) {
        self.took(candidate.version.ending, text);
        self.engines.adopt(candidate);
    }

    /// Counts and logs a rejection.
    pub(super) fn refuse(&self, refusal: &LoadError) {
        observe::reloaded(refusal.result());
        let file = self.path.display();
        tracing::error!(%file, "policy refused, the active one stays: {refusal}");
    }

    /// Whether the version that was checked last is active, and no other version waits.
    pub(super) fn is_current(&self) -> bool {
        let verdict = self.judged.as_ref().map(|judged| &judged.verdict);
        self.resting.is_none() && matches!(verdict, Some(Verdict::Active))
    }

    #[expect(clippy::disallowed_methods, reason = "a pause is measured, and nothing else depends on the time")]
    pub(super) fn follow(mut self, woken: &Receiver<()>) {
        let mut is_awaited = false;
        loop {
            let interval = self.settings.interval;
            let pause = if is_awaited { interval.min(SHORT_REST) } else { interval };
            let is_told = match woken.recv_timeout(pause) {
                Ok(()) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let read = PolicyFile::read(&self.path);
            if is_told {
                self.forget_refusal(read.as_ref().ok());
            }
            match read {
                Ok(file) => self.look(file.into_bytes(), Instant::now()),
                Err(error) => self.unreadable(&error, is_told),
            }
            is_awaited = (is_told || is_awaited) && self.resting.is_some();
        }
    }

    /// An operator who requests a read expects a result. A sealed file is complete, so it needn't rest.
    fn forget_refusal(&mut self, file: Option<&PolicyFile>) {
        let is_refused = |judged: &mut Judged| matches!(judged.verdict, Verdict::Refused);
        self.judged.take_if(is_refused);
        let whole = file.filter(|file| has_seal(file.bytes()));
        self.resting = whole.map(|file| file.bytes().to_vec());
    }

    /// Checks the file as it is now.
    fn look(&mut self, text: Vec<u8>, now: Instant) {
        match self.judged.take() {
            Some(judged) if judged.text == text => {
                self.resting = None;
                let verdict = match judged.verdict {
                    Verdict::Later(retry) => self.again(&text, retry, now),
                    verdict => verdict,
                };
                self.judged = Some(Judged { text, verdict });
            }
            _ if self.resting.as_ref() == Some(&text) => {
                self.resting = None;
                let verdict = self.judge(&text, self.settings.interval, now);
                self.judged = Some(Judged { text, verdict });
            }
            judged => {
                self.judged = judged;
                self.resting = Some(text);
            }
        }
        let active = self.is_current();
        observe::policy_waiting(!active);
        if active {
            observe::policy_read();
        }
    }

    /// Tries a version again, if it is due and the last attempt has ended.
    fn again(&mut self, text: &[u8], retry: Retry, now: Instant) -> Verdict {
        if now < retry.at {
            return Verdict::Later(retry);
        }
        let pause = retry.pause.saturating_mul(2);
        if retry.attempt.as_ref().is_some_and(Attempt::goes_on) {
            return later(retry.attempt, pause, now);
        }
        self.judge(text, pause, now)
    }

    /// Makes a version active, or reports why not. If the next attempt might succeed, it is made after the
    /// pause.
    fn judge(&mut self, text: &[u8], pause: Duration, now: Instant) -> Verdict {
        let (bytes, current) = (text.to_vec(), self.engines.load());
        let compile = self.compile;
        let attempt = Attempt::start(move || compile(&bytes, &current));
        let (refusal, attempt) = match attempt {
            Err(error) => (error, None),
            Ok(attempt) => match self.candidate(&attempt) {
                Ok(candidate) => {
                    self.adopt(candidate, text.to_vec());
                    return Verdict::Active;
                }
                Err(error) => (error, Some(attempt)),
            },
        };
        self.refuse(&refusal);
        if refusal.may_pass() { later(attempt, pause, now) } else { Verdict::Refused }
    }

    fn candidate(&self, attempt: &Attempt<Result<Candidate, PolicyError>>) -> Result<Candidate, LoadError> {
        let candidate = attempt.result_within(self.settings.deadline)??;
        self.settings.judge(&candidate.version, self.ending)?;
        self.engines.admits(&candidate.version.engine)?;
        self.settings.judge_changes(&candidate, &self.engines)?;
        Ok(candidate)
    }

    fn unreadable(&mut self, error: &std::io::Error, is_told: bool) {
        self.resting = None;
        // Reported once, until the file can be read again.
        if self.judged.take().is_some() || is_told {
            observe::reloaded(names::LOAD_UNREADABLE);
            let file = self.path.display();
            tracing::error!(%file, %error, "policy unreadable, the active one stays");
        }
    }
}

/// Whether a file has a seal. The policy reader checks whether the seal is valid.
fn has_seal(text: &[u8]) -> bool {
    core::str::from_utf8(text).is_ok_and(orbgate_analysis::is_sealed)
}

fn later(attempt: Option<Attempt<Result<Candidate, PolicyError>>>, pause: Duration, now: Instant) -> Verdict {
    let pause = pause.min(LONGEST_PAUSE);
    // If the clock can't represent the end of the pause, try at once.
    let at = now.checked_add(pause).unwrap_or(now);
    Verdict::Later(Retry { at, pause, attempt })
}

#[cfg(all(test, feature = "metrics"))]
mod tests;
