//! What cargo knows of the project.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
pub(crate) use cargo_metadata::Package;
use cargo_metadata::{Metadata, MetadataCommand};

/// The workspace and its packages.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    /// Where cargo puts what it builds.
    pub(crate) target: PathBuf,
    metadata: Metadata,
}

impl Project {
    /// Asks cargo.
    pub(crate) fn read() -> Result<Self> {
        let metadata = MetadataCommand::new().no_deps().exec()?;
        Ok(Self {
            root: metadata.workspace_root.clone().into(),
            target: metadata.target_directory.clone().into(),
            metadata,
        })
    }

    /// The packages that users get from the registry.
    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        // None is any registry, a list is the registries: empty for `publish = false`.
        let packages = self.metadata.packages.iter();
        packages.filter(|package| package.publish.is_none())
    }

    /// The core.
    pub(crate) fn core(&self) -> Result<&Package> {
        let mut packages = self.metadata.packages.iter();
        let core = packages.find(|package| package.name == "orbgate");
        core.context("no package `orbgate`")
    }
}
