//! The file that a policy is written in: a regular one, and no more of it than counts.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::SystemTime;

use super::model::Policy;

/// A policy file as it is at one time; [`Policy::from_bytes`] says what is in it.
///
/// Only a regular file is read: a pipe would make its reader wait for ever, and a device may have no end.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    bytes: Vec<u8>,
    modified: Option<SystemTime>,
}

impl PolicyFile {
    /// Reads a file, but no more than [`Policy::MAX_BYTES`] and one byte: that shows that it is too large.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, and [`io::ErrorKind::InvalidInput`] where it is not a regular file.
    #[expect(
        clippy::disallowed_methods,
        reason = "an edge: it opens the file that its caller names"
    )]
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true);
        // Opening a pipe would wait, too. Miri doesn't know the flag.
        #[cfg(all(unix, not(miri)))]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            let message = "not a regular file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let mut bytes = Vec::new();
        let limit = Policy::MAX_BYTES.saturating_add(1);
        (&file).take(limit).read_to_end(&mut bytes)?;
        // Asked for last, so that it shows a write during the read.
        let modified = file.metadata()?.modified().ok();
        Ok(Self { bytes, modified })
    }

    /// What is in the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What is in the file, to keep.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// When the file was last written to; `None` where that cannot be told.
    #[must_use]
    pub const fn modified(&self) -> Option<SystemTime> {
        self.modified
    }
}
