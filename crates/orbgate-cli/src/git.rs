//! Reads a file from a git commit.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::args::STANDARD_INPUT;

/// The file's contents in a commit. The error explains why they can't be read.
pub(crate) fn read(path: &Path, commit: &str) -> Result<Vec<u8>, String> {
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
