//! Reads the input files of commands, and standard input for `-`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::Command;

/// The file name that means standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

pub(crate) struct Input {
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

pub(crate) fn cannot_read(name: &str, error: &io::Error) -> String {
    format!("cannot read {name}: {error}")
}

/// The file's contents in a git commit. The error explains why they can't be read.
pub(crate) fn committed(path: &Path, commit: &str) -> Result<Vec<u8>, String> {
    let name = path.file_name().filter(|_| path != Path::new(STANDARD_INPUT));
    let name = name.ok_or_else(|| format!("`{}` is in no commit", path.display()))?;
    if commit.starts_with('-') {
        return Err(format!("`{commit}` is not the name of a commit"));
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let mut object = OsString::from(format!("{commit}:./"));
    object.push(name);
    let mut git = Command::new("git");
    git.arg("-C").arg(folder.unwrap_or(Path::new(".")));
    let output = git.args(["cat-file", "blob"]).arg(object).output();
    let output = output.map_err(|error| format!("cannot run git: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("git has no `{}` in `{commit}`: {}", path.display(), why.trim()))
}
