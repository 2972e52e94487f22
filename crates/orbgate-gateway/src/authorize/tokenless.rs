//! The requests that need no token. Like a policy, the list is compared with the previously
//! accepted one.

use std::io;
use std::path::{Path, PathBuf};

use orbgate_tower::{CorsPreflight, PublicRoutes};
use serde::{Deserialize, Serialize};

use crate::config::PolicySettings;
use crate::config::error::StartError;
use crate::config::files;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tokenless {
    public: Vec<String>,
    cors_preflight: bool,
}

impl Tokenless {
    pub(crate) fn of(settings: &PolicySettings) -> Self {
        let public = settings.public.iter().flat_map(|public| PublicRoutes::iter(public));
        Self {
            public: public.map(str::to_owned).collect(),
            cors_preflight: settings.cors_preflight == CorsPreflight::Pass,
        }
    }

    /// The list that was accepted last with the policy in this folder; `None` if there is no policy
    /// yet.
    pub(crate) fn accepted(state: &Path) -> Result<Option<Self>, StartError> {
        let file = Self::file(state);
        let unreadable = |error| StartError::Unreadable(file.clone(), error);
        match files::text(&file) {
            Ok(text) => {
                let read = serde_json::from_str(&text);
                read.map(Some).map_err(|error| unreadable(error.into()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let has_policy = accepted_in(state).exists();
                Ok(has_policy.then(Self::default))
            }
            Err(error) => Err(unreadable(error)),
        }
    }

    pub(crate) fn keep(&self, state: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        files::replace(&Self::file(state), text.as_bytes())
    }

    fn file(state: &Path) -> PathBuf {
        state.join("public.json")
    }

    /// Rejects additions to the previous list.
    pub(crate) fn refuse_wider(&self, before: &Self) -> Result<(), StartError> {
        let public = self.public.iter().filter(|route| !before.public.contains(route));
        let mut wider: Vec<_> = public.map(|route| format!("`public: {route}`")).collect();
        if self.cors_preflight && !before.cors_preflight {
            wider.push("`cors_preflight: pass`".to_owned());
        }
        match wider.is_empty() {
            true => Ok(()),
            false => Err(StartError::Wider(wider)),
        }
    }
}

/// Where the accepted policy is kept.
pub(crate) fn accepted_in(state: &Path) -> PathBuf {
    state.join("policy.yaml")
}

#[cfg(test)]
mod tests {
    use super::Tokenless;

    #[test]
    fn a_list_that_is_kept_is_the_one_that_was_accepted() {
        let state = tempfile::tempdir().unwrap();
        let state = state.path();
        assert_eq!(Tokenless::accepted(state).unwrap(), None);
        let list = Tokenless { public: vec!["GET /a".to_owned()], cors_preflight: true };
        list.keep(state).unwrap();
        assert_eq!(Tokenless::accepted(state).unwrap(), Some(list));
        // One that cannot be read isn't forgotten.
        let file = Tokenless::file(state);
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(Tokenless::accepted(state).is_err());
    }

    #[test]
    fn only_what_is_new_is_wider() {
        let tokenless = |public: &[&str], cors_preflight| Tokenless {
            public: public.iter().map(|route| (*route).to_owned()).collect(),
            cors_preflight,
        };
        let before = tokenless(&["GET /a", "GET /b"], false);
        for (after, wider) in [
            (before.clone(), None),
            (tokenless(&["GET /b"], false), None),
            (tokenless(&["GET /b", "POST /b"], false), Some("`public: POST /b`")),
            (tokenless(&[], true), Some("`cors_preflight: pass`")),
        ] {
            let refused = after.refuse_wider(&before).err().map(|error| error.to_string());
            assert_eq!(refused.is_some(), wider.is_some(), "{refused:?}");
            let refused = refused.unwrap_or_default();
            assert!(refused.contains(wider.unwrap_or_default()), "{refused}");
        }
    }
}
