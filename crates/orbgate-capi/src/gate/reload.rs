//! Judges a version of the policy that a host has read: whether it becomes active, and what to count and to log.

use core::time::Duration;

use orbgate::Engine;
use orbgate_gate::{Changes, Current, Ending, FileRead, Follower, LoadError, LoadRules, Reloaded};
use orbgate_token::ConfigError;

use super::messages::Reload;
use super::object::OrbgateGate;
use super::verifier::reader;
use crate::error::OrbgateError;
use crate::status::{OrStatus, OrbgateStatus};

/// Looks at a file, without waiting for it or for the clock.
pub(super) fn reload(
    gate: &OrbgateGate,
    engine: Option<&Engine>,
    follower: Option<&mut Follower>,
    question: &Reload<'_>,
    secrets: &[Option<Vec<u8>>],
) -> OrStatus<Reloaded> {
    let mut rules = LoadRules::new();
    rules.require_seal = question.require_seal;
    rules.refuse_wider = question.refuse_wider;
    let (public, mcp) = (gate.gate.rules().public.as_deref(), gate.gate.rules().mcp.as_deref());
    let served = gate.served();
    let charges = [gate.charges(question.has_ledger, &question.amounts)];
    let ending = Ending::default();
    let current = Current { engine, public, mcp: mcp.as_slice(), served: &served, charges: &charges, ending };
    let text = if question.failure.is_empty() { Ok(question.policy) } else { Err(question.failure) };
    let now = Duration::from_millis(question.monotonic_ms);
    let read = FileRead { text, file: question.file, is_told: question.is_told, now };
    let keys = gate.gate.keys();
    let secret = reader(secrets, keys.secrets().count())?;
    Ok(rules.reload(&read, follower, &current, compare, || match question.secrets_failure {
        "" => keys.read_secrets(secret),
        failure => Err(ConfigError::of_secrets(failure.lines().map(str::to_owned).collect())),
    }))
}

/// An error for the host's language.
pub(super) fn refusal(error: &LoadError, file: &str) -> OrbgateError {
    let status = match error {
        LoadError::Unsound(error) => return OrbgateError::policy((!file.is_empty()).then(|| file.to_owned()), error),
        LoadError::Secrets(error) => return OrbgateError::tokens(error),
        LoadError::Unreadable(_) => OrbgateStatus::Io,
        LoadError::Public(_) => OrbgateStatus::InvalidConfiguration,
        _ => OrbgateStatus::InvalidPolicy,
    };
    OrbgateError::new(status, None, error.in_file(file))
}

fn compare(old: &Engine, new: &Engine) -> Changes {
    let summary = orbgate_analysis::Summary::between(old, new);
    let orbgate_analysis::Summary { wider, narrower, removed, widens, text, .. } = summary;
    Changes { wider, narrower, removed, widens, text }
}
