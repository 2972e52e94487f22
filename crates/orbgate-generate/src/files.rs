//! The committed files as they are made: in memory, so that nothing is written before everything is made.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

/// Files by their path in the repository, with the text that they shall have.
pub(crate) struct Files {
    root: PathBuf,
    made: BTreeMap<String, String>,
}

impl Files {
    pub(crate) const fn new(root: PathBuf) -> Self {
        Self { root, made: BTreeMap::new() }
    }

    /// A file of the repository as it is.
    pub(crate) fn committed(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.root.join(path)).with_context(|| format!("can't read {path}"))
    }

    /// A file as it is made, or as it is.
    pub(crate) fn text(&self, path: &str) -> Result<String> {
        self.made.get(path).map_or_else(|| self.committed(path), |made| Ok(made.clone()))
    }

    /// A whole file.
    pub(crate) fn whole(&mut self, path: &str, text: String) {
        let before = self.made.insert(path.to_owned(), text);
        assert!(before.is_none(), "{path} is made twice");
    }

    /// The lines of a file between `cargo xtask codes: NAME` and `end of NAME`.
    pub(crate) fn section(&mut self, path: &str, name: &str, text: &str) -> Result<()> {
        let file = self.text(path)?;
        let lines: Vec<_> = file.split_inclusive('\n').collect();
        let find = |mark: String| {
            let has = |line: &&str| line.split(['-', '/', '#']).any(|part| part.trim() == mark);
            let at = lines.iter().position(has);
            at.with_context(|| format!("{path} has no line `{mark}`"))
        };
        let start = find(format!("cargo xtask codes: {name}"))?;
        let end = find(format!("end of {name}"))?;
        let (head, tail) = (lines[..=start].concat(), lines[end..].concat());
        self.made.insert(path.to_owned(), format!("{head}{text}{tail}"));
        Ok(())
    }

    /// The paths of those that differ from what is committed.
    pub(crate) fn differing(&self) -> Vec<&str> {
        let differs = |(path, text): &(&String, &String)| self.committed(path).ok().as_ref() != Some(*text);
        self.made.iter().filter(differs).map(|(path, _)| path.as_str()).collect()
    }

    /// Writes those that differ, all or none: first under other names, and then in their places.
    pub(crate) fn write(&self) -> Result<Vec<&str>> {
        let differing = self.differing();
        let other = |path: &str| self.root.join(format!("{path}.new"));
        let written = differing.iter().try_for_each(|path| {
            fs::write(other(path), &self.made[*path]).with_context(|| format!("can't write {path}"))
        });
        if let Err(error) = written {
            for path in &differing {
                let _ = fs::remove_file(other(path));
            }
            return Err(error);
        }
        for path in &differing {
            fs::rename(other(path), self.root.join(path)).with_context(|| format!("can't replace {path}"))?;
        }
        Ok(differing)
    }
}
