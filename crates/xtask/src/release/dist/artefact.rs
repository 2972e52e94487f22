//! A file of a release.

use std::path::PathBuf;

/// A file of a release, and what it was built from.
#[derive(Debug)]
pub(super) struct Artefact {
    pub(super) file: PathBuf,
    /// The crate; none where there is no Rust in it.
    pub(super) package: String,
    /// The targets that it was built for; none for sources.
    pub(super) targets: Vec<String>,
    /// What it needs that is not Rust's, as package URLs.
    pub(super) needs: Vec<String>,
}

impl Artefact {
    pub(super) fn new(
        file: PathBuf,
        package: &str,
        targets: impl IntoIterator<Item = String>,
    ) -> Self {
        Self {
            file,
            package: package.to_owned(),
            targets: targets.into_iter().collect(),
            needs: Vec::new(),
        }
    }
}
