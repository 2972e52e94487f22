//! The files for TLS at an address.

use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// The server's certificate, followed by the intermediate certificates.
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    /// The authorities of client certificates. Without it, clients need no certificate.
    pub(crate) client_ca: Option<PathBuf>,
}

impl TlsFiles {
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let own = [self.certificate.as_path(), self.key.as_path()];
        own.into_iter().chain(self.client_ca.as_deref())
    }
}
