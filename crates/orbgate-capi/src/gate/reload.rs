//! Judges a version of the policy that a host has read: whether it becomes active, and what to count and to log.

use core::time::Duration;
use std::io;

use orbgate::Engine;
use orbgate_gate::{Changes, Current, Follower, LoadError, LoadRules, Look};

use super::messages::Reload;
use super::object::OrbgateGate;
use super::verifier::reader;
use crate::error::OrbgateError;
use crate::status::{OrStatus, OrbgateStatus};

/// What to do, to count and to log.
#[derive(Default)]
pub(super) struct Reloaded {
    pub(super) is_loaded: bool,
    /// The counter's label; empty if there is nothing to say.
    pub(super) result: &'static str,
    pub(super) message: String,
    pub(super) warning: String,
    pub(super) error: Option<OrbgateError>,
}

/// Looks at a file, without waiting for it or for the clock. Without a follower, its version counts at once, but must be marked.
pub(super) fn reload(
    gate: &OrbgateGate,
    active: Option<&Engine>,
    mut follower: Option<&mut Follower>,
    asked: &Reload<'_>,
    secrets: &[Option<Vec<u8>>],
) -> OrStatus<Reloaded> {
    let now = Duration::from_millis(asked.monotonic_ms);
    let read = asked.failure.is_empty().then_some(asked.policy);
    let look = match (&mut follower, read) {
        (Some(follower), text) => follower.look(text, asked.is_told, now),
        (None, Some(_)) => Look::Load,
        (None, None) => Look::Unreadable,
    };
    let text = asked.policy;
    let mut rules = LoadRules::new();
    rules.require_end = follower.is_none();
    rules.require_seal = asked.require_seal;
    rules.refuse_wider = asked.refuse_wider;
    let ending = follower.as_ref().map(|follower| follower.ending()).unwrap_or_default();
    let loaded = match look {
        Look::Wait => return Ok(Reloaded::default()),
        Look::Unreadable => Err(LoadError::Unreadable(io::Error::other(asked.failure))),
        // What isn't active can't be compared.
        Look::Load if rules.refuse_wider && active.is_none() => Err(LoadError::Wider("there isn't one".to_owned())),
        Look::Load => {
            let (public, served) = (gate.gate.rules().public.as_deref(), gate.served());
            let current = Current { engine: active, public, mcp: &[], served: &served, ending };
            rules.load(text, &current, compare)
        }
    };
    let keys = gate.gate.keys();
    let (result, error) = match loaded {
        Ok(version) => match keys.read_secrets(reader(secrets, keys.secrets().count())?) {
            Ok(()) => {
                if let Some(follower) = follower {
                    follower.took(text, version.ending);
                }
                let (digest, Changes { wider, narrower, removed, .. }) = (version.engine.digest(), &version.changes);
                return Ok(Reloaded {
                    is_loaded: true,
                    result: orbgate_gate::names::LOAD_LOADED,
                    message: match cfg!(feature = "analysis") {
                        true => format!(
                            "a policy is active: {digest}: {wider} wider, {narrower} narrower, {removed} removed"
                        ),
                        false => format!("a policy is active: {digest}"),
                    },
                    warning: version.warning,
                    error: None,
                });
            }
            Err(error) => {
                if let Some(follower) = follower {
                    // The file of a secret may be right later.
                    follower.postponed(text, now);
                }
                (orbgate_gate::names::LOAD_REFUSED, OrbgateError::tokens(&error))
            }
        },
        Err(error) => {
            if let (Some(follower), true) = (follower, read.is_some()) {
                follower.refused(text, &error, now);
            }
            (error.result(), refusal(&error))
        }
    };
    let message = format!("the previous policy stays active: {}", error.parts().1);
    Ok(Reloaded { result, message, error: Some(error), ..Reloaded::default() })
}

fn refusal(error: &LoadError) -> OrbgateError {
    let status = match error {
        LoadError::Unsound(error) => return OrbgateError::policy(None, error),
        LoadError::Unreadable(_) => OrbgateStatus::Io,
        LoadError::Public(_) => OrbgateStatus::InvalidConfiguration,
        _ => OrbgateStatus::InvalidPolicy,
    };
    OrbgateError::new(status, None, error.to_string())
}

#[cfg(feature = "analysis")]
fn compare(old: &Engine, new: &Engine) -> Changes {
    let summary = orbgate_analysis::Summary::between(old, new);
    let orbgate_analysis::Summary { wider, narrower, removed, widens, text, .. } = summary;
    Changes { wider, narrower, removed, widens, text }
}

/// Without the comparison, which takes an eighth of a small library, any other policy might allow more.
#[cfg(not(feature = "analysis"))]
fn compare(_: &Engine, _: &Engine) -> Changes {
    Changes { widens: true, text: "this library compares no policies".to_owned(), ..Changes::default() }
}
