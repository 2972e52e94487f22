//! From a read of the file to what a host activates, counts and logs.

use core::time::Duration;
use std::io;

use orbgate::Engine;
use orbgate_token::ConfigError;

use super::{Compare, Current, Follower, LoadError, LoadRules, Look};
use crate::names;

/// A read of the file.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "each caller has all of it")]
pub struct FileRead<'f> {
    /// Its contents, or why it can't be read.
    pub text: Result<&'f [u8], &'f str>,
    /// Its name, for errors and the log.
    pub file: &'f str,
    /// An operator waits for the result.
    pub is_told: bool,
    /// The time on a clock that is never set.
    pub now: Duration,
}

/// What to activate, to count and to log.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reloaded {
    /// The engine to activate.
    pub engine: Option<Engine>,
    /// The counter's label; empty if there is nothing to count.
    pub result: &'static str,
    /// What to log; empty if there is nothing.
    pub message: String,
    /// What to log as a warning; empty if there is nothing.
    pub warning: String,
    /// Why the version is rejected.
    pub error: Option<LoadError>,
}

impl LoadRules {
    /// Judges the file as it is now. Without a follower, its version counts at once, but must have the end marker. Before a
    /// version is accepted, `secrets` reads the secrets again.
    pub fn reload(
        &self,
        read: &FileRead<'_>,
        mut follower: Option<&mut Follower>,
        current: &Current<'_>,
        compare: Compare,
        secrets: impl FnOnce() -> Result<(), ConfigError>,
    ) -> Reloaded {
        let is_quiet = !read.is_told && follower.as_ref().is_some_and(|follower| follower.is_quiet());
        let look = match &mut follower {
            Some(follower) => follower.look(read.text.ok(), read.is_told, read.now),
            None => Look::Load,
        };
        let text = match (look, read.text) {
            (Look::Wait, _) => return Reloaded::default(),
            (_, Err(failure)) => return rejected(read.file, LoadError::Unreadable(io::Error::other(failure))),
            (_, Ok(text)) => text,
        };
        let (mut rules, mut current) = (*self, *current);
        match &follower {
            Some(follower) => current.ending = follower.ending(),
            None => rules.require_end = true,
        }
        let loaded = match current.engine {
            // What isn't active can't be compared.
            None if rules.refuse_wider => Err(LoadError::Wider("there isn't one".to_owned())),
            active => rules.load(text, &current, compare).and_then(|version| {
                let is_active = is_quiet && active.is_some_and(|active| active.digest() == version.engine.digest());
                let read = if is_active { Ok(()) } else { secrets() };
                read.map(|()| (version, is_active)).map_err(LoadError::Secrets)
            }),
        };
        match loaded {
            Ok((version, is_active)) => {
                if let Some(follower) = follower {
                    follower.took(text, version.ending);
                }
                let warning = version.warning;
                if is_active {
                    return Reloaded { warning, ..Reloaded::default() };
                }
                let message = format!("a policy is active: {}{}", prefix(read.file), version.engine.digest());
                let (engine, result) = (Some(version.engine), names::LOAD_LOADED);
                Reloaded { engine, result, message, warning, error: None }
            }
            Err(error) => {
                if let Some(follower) = follower {
                    follower.refused(text, &error, read.now);
                }
                rejected(read.file, error)
            }
        }
    }
}

fn rejected(file: &str, error: LoadError) -> Reloaded {
    let message = format!("the previous policy stays active: {}", error.in_file(file));
    Reloaded { result: error.result(), message, error: Some(error), ..Reloaded::default() }
}

fn prefix(file: &str) -> String {
    if file.is_empty() { String::new() } else { format!("{file}: ") }
}
