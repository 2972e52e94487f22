//! Steps that needn't run again on a developer's machine, because nothing that they read has changed since they
//! passed.

use core::hash::{Hash as _, Hasher as _};
use std::fs;
use std::hash::DefaultHasher;
use std::path::PathBuf;

use anyhow::Result;

use crate::kit::program::Program;
use crate::kit::project::Project;

/// Other programs that affect results, by version.
const TOOLS: [&str; 6] = [
    "rustc --version --verbose",
    "cc --version",
    "go version",
    "java --version",
    "node --version",
    "python3 --version",
];

/// A step's inputs now, and the file in which they are recorded when it passes.
#[derive(Debug)]
pub(crate) struct Inputs {
    digest: String,
    file: PathBuf,
}

impl Inputs {
    /// Reads the files that git would, because ignored files are generated. `None` if git fails, in which case nothing
    /// is skipped.
    pub(crate) fn of(project: &Project, step: &str, paths: &[&str]) -> Option<Self> {
        let list = Program::parse("git ls-files --cached --others --exclude-standard --");
        let list = list.within(&project.root);
        let files = list.args(paths).read().ok()?;
        let mut hasher = DefaultHasher::new();
        for file in files.lines() {
            // A deleted file, or a link to a folder, has only a name and no bytes.
            (file, fs::read(project.root.join(file)).ok()).hash(&mut hasher);
        }
        for tool in TOOLS {
            Program::parse(tool).read().ok().hash(&mut hasher);
        }
        Some(Self {
            digest: format!("{:016x}", hasher.finish()),
            file: project.target.join("xtask").join("passed").join(step),
        })
    }

    /// Whether the step passed with these inputs.
    pub(crate) fn have_passed(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|digest| digest == self.digest)
    }

    /// Records that it passed.
    pub(crate) fn note(&self) -> Result<()> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(fs::write(&self.file, &self.digest)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_it_passed_with_counts() {
        let home = tempfile::tempdir().unwrap();
        let inputs = |digest: &str| Inputs { digest: digest.to_owned(), file: home.path().join("passed/fmt") };
        assert!(!inputs("1").have_passed());
        inputs("1").note().unwrap();
        assert!(inputs("1").have_passed());
        assert!(!inputs("2").have_passed());
    }

    #[test]
    fn a_step_reads_what_is_not_committed_and_not_what_is_made() {
        let project = Project::read().unwrap();
        let of = |folders: &[&str]| Inputs::of(&project, "fmt", folders).unwrap().digest;
        let rust = of(&["crates"]);
        assert_eq!(rust, of(&["crates", "target"]));
        assert_ne!(rust, of(&["crates", "bindings"]));
    }
}
