//! The secrets of the clients that ask about opaque tokens.

use std::io;

use orbgate_token::{SecretSource, Verifier};

use super::options::{ORBGATE_GATE_INTROSPECTION, Options};
use super::verifier::OrbgateVerifier;
use crate::arguments::{Sized32, first_size, shared, write_sized};
use crate::error::{OrbgateError, refused};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// In `OrbgateSecretSource.kind`: a file, by its absolute path.
pub const ORBGATE_SECRET_FILE: u32 = 1;
/// In `OrbgateSecretSource.kind`: an environment variable.
pub const ORBGATE_SECRET_ENV: u32 = 2;

/// In `OrbgateSecretSource.kind`: not a secret, but a file with an issuer's public keys, by its absolute path.
pub const ORBGATE_SECRET_KEYS: u32 = 3;

/// Where the secret of an introspecting client is. A configuration never contains the secret.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateSecretSource {
    /// Set it to `sizeof(OrbgateSecretSource)`, or use `orbgate_secret_source_init()`.
    pub struct_size: u32,
    /// An `ORBGATE_SECRET_*` number.
    pub kind: u32,
    /// The path of the file, or the name of the variable.
    pub name: OrbgateStr,
}

// SAFETY: integers and a string, the u32 first.
unsafe impl Sized32 for OrbgateSecretSource {
    const FIRST_SIZE: usize = first_size(24, 16);
}

/// Returns where one secret is, in the order of the issuers that have one: those of opaque tokens. Returns
/// `ORBGATE_STATUS_NOT_FOUND` if there are at most `index` secrets. `orbgate_gate_new` reads the secrets itself, except
/// in the WebAssembly module, whose host passes them in `OrbgateGateOptions.secrets`.
///
/// Ownership: the verifier owns the string in `out`, which is valid as long as the verifier.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_verifier_secret(
    verifier: *const OrbgateVerifier,
    index: usize,
    out: *mut OrbgateSecretSource,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let verifier = unsafe { shared(verifier) }?;
        let source = verifier.verifier.secrets().nth(index);
        let (kind, name) = match source.ok_or(OrbgateStatus::NotFound)? {
            SecretSource::File(path) => (ORBGATE_SECRET_FILE, path),
            SecretSource::Env(name) => (ORBGATE_SECRET_ENV, name),
            SecretSource::Keys(path) => (ORBGATE_SECRET_KEYS, path),
        };
        let source = OrbgateSecretSource { struct_size: 0, kind, name: OrbgateStr::new(name) };
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &source) }
    })
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
        let message = format!(
            "`opaque`: this program can't ask about opaque tokens, because it doesn't set ORBGATE_GATE_INTROSPECTION \
             ({ORBGATE_GATE_INTROSPECTION})"
        );
        return Err(refused(OrbgateStatus::InvalidConfiguration, &message));
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
