//! The keys of the issuers in `tokens.yaml`.

use std::path::{Path, PathBuf};

use orbgate_token::{FetchSettings, KeyFetcher, SecretSource, Verifier};

use crate::config::Limits;
use crate::config::error::StartError;
use crate::config::files::{self, Ending};

/// The keys for a file of issuers.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// The file's contents. While they are unchanged, fetched keys are kept.
    text: String,
    pub(crate) fetcher: KeyFetcher,
    /// The files with the secrets of the clients that ask about opaque tokens.
    pub(super) secrets: Vec<PathBuf>,
}

/// The bytes of a request's head that remain for everything but its token.
const BESIDES_TOKEN: usize = 4096;

impl Keys {
    /// The file's contents.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A request that waits for keys holds a connection, so at most as many can wait as there can be connections, and
    /// half of them only for a second. Keys of unchanged issuers are kept.
    pub(super) fn load(
        file: &Path,
        require_seal: bool,
        limits: Limits,
        former: Option<&Self>,
    ) -> Result<Self, StartError> {
        let text = files::text(file).map_err(StartError::unreadable(file))?;
        let ended = former.map_or_else(Ending::default, |former| Ending::of(former.text.as_bytes()));
        if let Some(error) = Ending::of(text.as_bytes()).error_after(ended, require_seal) {
            return Err(StartError::Incomplete(file.to_owned(), error));
        }
        // A secret may be another one under the same text.
        let same = |former: &&Self| former.text == text && former.secrets.is_empty();
        if let Some(former) = former.filter(same) {
            return Ok(former.clone());
        }
        let verifier = Verifier::from_yaml(&text);
        let verifier = verifier.map_err(|error| StartError::Invalid(error.in_file(&file.display().to_string())))?;
        // A longer token would get a 431, and so never the 401 that its caller can do something about.
        let (token, all) = (verifier.longest_token(), limits.header_bytes);
        if all.saturating_sub(token) < BESIDES_TOKEN {
            return Err(StartError::Invalid(format!(
                "{}: tokens of {token} bytes (`max_token_bytes`) leave less than {BESIDES_TOKEN} of the {all} bytes of \
                 `limits.header_bytes`: reduce the first or increase the second",
                file.display()
            )));
        }
        let verifier = verifier.with_secrets(SecretSource::read);
        let verifier = verifier.map_err(|error| StartError::Invalid(format!("{}: {error}", file.display())))?;
        // A proxy in front ends the TLS of clients.
        let verifier = verifier.taking_dpop();
        let secrets = verifier.secrets().filter_map(|source| match source {
            SecretSource::File(path) | SecretSource::Keys(path) => Some(PathBuf::from(path)),
            SecretSource::Env(_) => None,
        });
        let secrets = secrets.collect();
        // Also on reload: what a start refuses can't be loaded.
        let tls = KeyFetcher::tls_for(&verifier).map_err(StartError::Certificates)?;
        let fetcher = match former {
            Some(former) => former.fetcher.replaced_by(verifier, tls),
            None => {
                let settings = FetchSettings {
                    max_waiting: u32::try_from(limits.connections).unwrap_or(u32::MAX),
                    ..FetchSettings::default()
                };
                KeyFetcher::with(verifier, settings, tls)
            }
        };
        let fetcher = fetcher.map_err(|error| StartError::Invalid(format!("{}: {error}", file.display())))?;
        Ok(Self { text, fetcher, secrets })
    }
}
