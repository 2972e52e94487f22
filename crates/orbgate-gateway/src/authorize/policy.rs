//! The active policy, which follows its file.

use core::time::Duration;
use std::io;
use std::path::Path;
use std::sync::Arc;

use orbgate::Engine;
use orbgate_tower::{Engines, LoadError, Watch, WatchSettings};

use super::tokenless::{Tokenless, accepted_in};
use crate::config::Config;
use crate::config::error::StartError;
use crate::config::files::Ending;

/// How often files are checked for changes.
pub(crate) const INTERVAL: Duration = Duration::from_secs(2);

/// The active policy, and the thread that follows its file.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) engines: Engines,
    pub(super) watch: Option<Arc<Watch>>,
    pub(super) tokenless: Tokenless,
}

impl Policy {
    /// Follows the policy file. Its version is compared with the active policy or, at the start, with the policy that
    /// was accepted last. So a restart, or a change of a setting, can't admit a version that would otherwise be
    /// rejected.
    pub(super) fn load(config: &Config, former: Option<&Self>) -> Result<Self, StartError> {
        let settings = &config.policy;
        let (public, tokenless) = (settings.public.clone(), Tokenless::of(settings));
        let Some(file) = &settings.file else {
            let engines = match public {
                Some(public) => Engines::external().public_routes(public),
                None => Ok(Engines::external()),
            };
            return Ok(Self { engines: engines.map_err(StartError::Public)?, watch: None, tokenless });
        };
        if settings.refuse_wider {
            let state = config.state.as_deref();
            let before = match former {
                Some(former) => Some(former.tokenless.clone()),
                None => state.map(Tokenless::accepted).transpose()?.flatten(),
            };
            before.map_or(Ok(()), |before| tokenless.refuse_wider(&before))?;
        }
        let mut watch = WatchSettings::every(INTERVAL);
        // A new watch wouldn't know how the active version ends.
        let text = former.and_then(|former| former.watch.as_ref()?.text());
        let ending = text.map_or_else(Ending::default, |text| Ending::of(&text));
        if settings.require_seal || ending.sealed {
            watch = watch.require_seal();
        }
        if ending.marked {
            watch = watch.require_end();
        }
        let former = match former {
            Some(former) => Some(former.engines.load()),
            None => config.state.as_deref().map(accepted).transpose()?.flatten(),
        };
        if settings.refuse_wider {
            watch = watch.refuse_wider();
        }
        let engines = match former {
            Some(former) => {
                watch = watch.compare_first();
                Engines::new(former)
            }
            None => {
                if settings.refuse_wider {
                    let has_state = config.state.is_some();
                    tracing::warn!(
                        has_state,
                        "the first policy is compared with no other: `refuse_wider` needs `state`, which keeps the one that was accepted"
                    );
                }
                Engines::external()
            }
        };
        let engines = engines.with_public_routes(public.clone());
        let watch = engines.watch(file, watch);
        let watch = watch.map_err(|error| StartError::Policy(file.clone(), error))?;
        if let Some(public) = &public {
            // If a policy was rejected, the previous one stays active, and might overlap.
            let checked = public.check(&engines.load());
            checked.map_err(StartError::Public)?;
        }
        Ok(Self { engines, watch: Some(Arc::new(watch)), tokenless })
    }
}

fn accepted(state: &Path) -> Result<Option<Arc<Engine>>, StartError> {
    let file = accepted_in(state);
    match Engines::from_file(&file) {
        Ok(engines) => Ok(Some(engines.load())),
        Err(LoadError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {
            // The policy can't be stored in a folder that doesn't exist.
            let refuse = |error| StartError::State(state.to_owned(), error);
            std::fs::read_dir(state).map(|_| None).map_err(refuse)
        }
        Err(error) => Err(StartError::Policy(file, error)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{accepted, accepted_in};

    /// Otherwise it would be forgotten, and a wider policy accepted.
    #[test]
    fn an_accepted_policy_that_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        assert!(accepted(&state).is_err(), "no folder");
        fs::create_dir_all(&state).unwrap();
        assert!(accepted(&state).unwrap().is_none());
        fs::create_dir(accepted_in(&state)).unwrap();
        assert!(accepted(&state).is_err());
    }
}
