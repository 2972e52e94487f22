//! Keys in a file, for issuers whose keys can't be fetched, for example inside a private network.

use core::fmt;
use std::sync::Arc;

use crate::jwk::KeyRules;
use crate::keys::KeySet;
use crate::opaque::SecretSource;

/// The file with an issuer's keys, and the keys once it has been read.
#[derive(Clone)]
pub(crate) struct JwksFile {
    pub(crate) path: String,
    pub(crate) source: SecretSource,
    pub(crate) keys: Option<Arc<KeySet>>,
}

impl JwksFile {
    pub(crate) fn new(path: String) -> Self {
        Self { source: SecretSource::Keys(path.clone()), path, keys: None }
    }

    /// Reads the keys, even if they have been read before.
    pub(crate) fn read(
        &self,
        rules: &KeyRules,
        read: impl FnOnce(&SecretSource) -> std::io::Result<Vec<u8>>,
    ) -> Result<Arc<KeySet>, String> {
        let named = |what: &dyn fmt::Display| format!("{}: {what}", self.source);
        let bytes = read(&self.source).map_err(|error| named(&error))?;
        let set = KeySet::from_jwks_with(&bytes, rules).map_err(|error| named(&error))?;
        match set.unpublished() {
            Some(warning) => Err(named(&format_args!("key {}: {}", warning.index, warning.message))),
            None => Ok(Arc::new(set)),
        }
    }
}

/// Two are equal if they name the same file, whatever it contains.
impl PartialEq for JwksFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for JwksFile {}

impl fmt::Debug for JwksFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JwksFile").field(&self.path).finish()
    }
}
