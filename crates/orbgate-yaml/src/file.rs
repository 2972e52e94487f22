//! Reads a regular file, up to the size limit.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::SystemTime;

use crate::text::MAX_BYTES;

/// The contents of a file at one moment.
///
/// The path must be a regular file. Reading a pipe could block for ever, and a device might have no end.
#[derive(Clone, Debug)]
pub struct RegularFile {
    bytes: Vec<u8>,
    modified: Option<SystemTime>,
}

impl RegularFile {
    /// Reads a file, up to one byte more than [`MAX_BYTES`]. The extra byte shows that the file is
    /// too large.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be read, and with [`io::ErrorKind::InvalidInput`] if it isn't a
    /// regular file.
    #[expect(clippy::disallowed_methods, reason = "an edge: it opens the file that its caller names")]
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true);
        // Opening a pipe would also block. Miri doesn't know the flag.
        #[cfg(all(unix, not(miri)))]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            let message = "not a regular file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let mut bytes = Vec::new();
        let limit = MAX_BYTES.saturating_add(1);
        (&file).take(limit).read_to_end(&mut bytes)?;
        // Read last, so that it shows a write during the read.
        let modified = file.metadata()?.modified().ok();
        Ok(Self { bytes, modified })
    }

    /// The contents of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The contents of the file, owned.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The time of the last write to the file; `None` if it isn't known.
    #[must_use]
    pub const fn modified(&self) -> Option<SystemTime> {
        self.modified
    }
}
