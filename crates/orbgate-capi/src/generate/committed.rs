//! Committed files that are generated from the crate. `cargo xtask codes` writes them, by setting `ORBGATE_UPDATE`, and
//! tests compare them.

use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A whole file.
pub(super) fn compare(path: &str, text: &str) {
    let file = root().join(path);
    let committed = fs::read_to_string(&file).unwrap_or_default();
    if std::env::var_os("ORBGATE_UPDATE").is_some() {
        fs::write(&file, text).unwrap();
        return;
    }
    assert!(committed == text, "{path} is not what the crates say: cargo xtask codes");
}

/// The lines of a file between `cargo xtask codes: NAME` and `end of NAME`.
pub(super) fn compare_section(path: &str, name: &str, text: &str) {
    let file = fs::read_to_string(root().join(path)).unwrap();
    let lines: Vec<_> = file.split_inclusive('\n').collect();
    let find = |mark: String| {
        let has = |line: &&str| line.split(['-', '/', '#']).any(|part| part.trim() == mark);
        lines.iter().position(has).unwrap_or_else(|| panic!("{path} has no line `{mark}`"))
    };
    let start = find(format!("cargo xtask codes: {name}"));
    let end = find(format!("end of {name}"));
    let (head, tail) = (lines[..=start].concat(), lines[end..].concat());
    compare(path, &format!("{head}{text}{tail}"));
}
