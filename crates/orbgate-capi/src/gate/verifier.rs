//! The accepted tokens of a gate, and the secrets of the clients that ask about opaque ones.

use std::io;

use orbgate_token::{SecretSource, Verifier};

use super::options::Options;
use crate::error::{OrbgateError, refused};
use crate::status::{OrStatus, OrbgateStatus};

/// Where a secret is.
///
/// In a file, by its absolute path.
pub const ORBGATE_SECRET_FILE: u32 = 1;
/// In an environment variable.
pub const ORBGATE_SECRET_ENV: u32 = 2;
/// It isn't a secret, but a file with an issuer's public keys, by its absolute path.
pub const ORBGATE_SECRET_KEYS: u32 = 3;

/// The verifier of a token configuration.
pub(super) fn read_verifier(yaml: &[u8]) -> Result<Verifier, OrbgateError> {
    let text = str::from_utf8(yaml).map_err(|error| {
        let message = format!("the token configuration is not UTF-8: {error}");
        OrbgateError::new(OrbgateStatus::InvalidConfiguration, None, message)
    })?;
    Verifier::from_yaml(text).map_err(|error| OrbgateError::tokens(&error))
}

/// Reads so many secrets in their order, those that aren't given from this system.
pub(super) fn reader(
    given: &[Option<Vec<u8>>],
    count: usize,
) -> OrStatus<impl FnMut(&SecretSource) -> io::Result<Vec<u8>>> {
    if !given.is_empty() && given.len() != count {
        return Err(OrbgateStatus::InvalidArgument);
    }
    let mut given = given.iter();
    Ok(move |source: &SecretSource| match given.next() {
        Some(Some(secret)) => Ok(secret.clone()),
        _ => read(source),
    })
}

/// The verifier of a new gate, with its secrets. They are read for each gate, so that a new gate has the current ones.
pub(super) fn with_secrets(verifier: &Verifier, options: &Options) -> Result<Verifier, OrbgateError> {
    let count = verifier.secrets().count();
    let secret = reader(&options.secrets, count)?;
    if verifier.has_opaque() && !options.introspection {
        let message = "`opaque`: this program can't ask about opaque tokens, because it doesn't set `introspection`";
        return Err(refused(OrbgateStatus::InvalidConfiguration, message));
    }
    let verifier = verifier.clone().with_secrets(secret);
    verifier.map_err(|error| OrbgateError::tokens(&error))
}

fn read(source: &SecretSource) -> io::Result<Vec<u8>> {
    if cfg!(target_family = "wasm") {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "the host has not passed it"));
    }
    source.read()
}
