//! From a read of the file to what a host activates, counts and logs.

use core::time::Duration;
use std::io;

use orbgate::Engine;
use orbgate_token::{ConfigError, NoticeLevel};

use super::{Compare, Current, LoadRules};
use crate::names;
use crate::orbs::statement::Statement;
use crate::reload::error::LoadError;
use crate::reload::follower::{Follower, Look};

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
    /// version is accepted, and whenever an operator requests a read of one that is active, `secrets` reads the secrets and
    /// the files of keys again.
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
            Some(follower) => follower.look(&[read.text.ok()], read.is_told, read.now),
            None => Look::Load,
        };
        let rejected = |error| rejected(current.engine, read.file, error);
        let text = match (look, read.text) {
            (Look::Wait, _) => return Reloaded::default(),
            (_, Err(failure)) => return rejected(LoadError::Unreadable(io::Error::other(failure))),
            (Look::Unchanged, Ok(_)) => {
                return match secrets() {
                    Ok(()) => Reloaded { message: active(current.engine, read.file), ..Reloaded::default() },
                    Err(error) => rejected(LoadError::Secrets(error)),
                };
            }
            (_, Ok(text)) => text,
        };
        let (mut rules, mut new) = (*self, *current);
        match &follower {
            Some(follower) => new.ending = follower.ending(),
            None => rules.require_end = true,
        }
        let loaded = match current.engine {
            // What isn't active can't be compared.
            None if rules.refuse_wider => Err(LoadError::Wider("there isn't one".to_owned())),
            before => rules.load(text, &new, compare).and_then(|version| {
                let is_active = is_quiet && before.is_some_and(|before| before.digest() == version.engine.digest());
                let read = if is_active { Ok(()) } else { secrets() };
                read.map(|()| (version, is_active)).map_err(LoadError::Secrets)
            }),
        };
        match loaded {
            Ok((version, is_active)) => {
                if let Some(follower) = follower {
                    follower.took(version.ending);
                }
                let mut warning = version.warning;
                if is_active {
                    return Reloaded { warning, ..Reloaded::default() };
                }
                let mut message = active(Some(&version.engine), read.file);
                for Statement { level, text } in version.charging {
                    match level {
                        NoticeLevel::Info => {
                            message.push_str("; ");
                            message.push_str(&text);
                        }
                        NoticeLevel::Warning | NoticeLevel::Error => {
                            warning.push_str(if warning.is_empty() { "" } else { "\n" });
                            warning.push_str(&text);
                        }
                    }
                }
                let (engine, result) = (Some(version.engine), names::LOAD_LOADED);
                Reloaded { engine, result, message, warning, error: None }
            }
            Err(error) => {
                if let Some(follower) = follower {
                    follower.failed(&error, read.now);
                }
                rejected(error)
            }
        }
    }
}

/// Names the policy that is active now.
fn active(engine: Option<&Engine>, file: &str) -> String {
    let file = if file.is_empty() { String::new() } else { format!("{file}: ") };
    engine.map_or_else(String::new, |engine| format!("a policy is active: {file}{}", engine.digest()))
}

fn rejected(active: Option<&Engine>, file: &str, error: LoadError) -> Reloaded {
    let which = active.map_or_else(String::new, |active| format!(" ({})", active.digest()));
    let message = format!("the previous policy stays active{which}: {}", error.in_file(file));
    Reloaded { result: error.result(), message, error: Some(error), ..Reloaded::default() }
}
