//! Reading the files that a command names.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::args::STANDARD_INPUT;

/// What is in a file, or on standard input for `-`, up to so many bytes; the error says why there is nothing
/// to read.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    if path == Path::new(STANDARD_INPUT) {
        let content = io::stdin().lock().take(limit).read_to_end(&mut bytes);
        content.map_err(|error| format!("cannot read standard input: {error}"))?;
    } else {
        let content = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
        content.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    }
    Ok(bytes)
}
