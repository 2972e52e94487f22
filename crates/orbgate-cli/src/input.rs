//! Reads the input files of commands, and standard input for `-`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::args::STANDARD_INPUT;

/// A file to read.
pub(crate) struct Input {
    /// Its display name.
    pub(crate) name: String,
    pub(crate) reader: Box<dyn Read>,
    /// Its size in bytes, if known.
    pub(crate) size: Option<u64>,
}

impl Input {
    /// Opens a file. The error explains why it can't be read.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        if path == Path::new(STANDARD_INPUT) {
            return Ok(Self { name: "standard input".to_owned(), reader: Box::new(io::stdin().lock()), size: None });
        }
        let name = format!("`{}`", path.display());
        let open = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = open.map_err(|error| cannot_read(&name, &error))?;
        Ok(Self { name, reader: Box::new(file), size: metadata.is_file().then_some(metadata.len()) })
    }
}

/// The contents of a file, up to `limit` bytes. The error explains why it can't be read.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let Input { name, reader, .. } = Input::open(path)?;
    let mut bytes = Vec::new();
    let content = reader.take(limit).read_to_end(&mut bytes);
    content.map_err(|error| cannot_read(&name, &error))?;
    Ok(bytes)
}

/// The message for a file that can't be read.
pub(crate) fn cannot_read(name: &str, error: &io::Error) -> String {
    format!("cannot read {name}: {error}")
}
