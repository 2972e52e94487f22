//! What cargo knows of the project. By hand, because a few of its fields are read; cargo_metadata has types for all of them.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::program::Program;

/// The workspace and its packages.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    /// Where cargo puts what it builds.
    pub(crate) target: PathBuf,
    packages: Vec<Package>,
}

/// A package of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) features: Vec<String>,
    /// The oldest Rust that it promises to build with.
    pub(crate) rust_version: Option<String>,
    published: bool,
}

impl Project {
    /// Asks cargo.
    pub(crate) fn read() -> Result<Self> {
        let text = Program::parse("cargo metadata --no-deps --format-version 1").read()?;
        Self::parse(&text).context("`cargo metadata` answered something unexpected")
    }

    fn parse(metadata: &str) -> Result<Self> {
        let metadata: Value = serde_json::from_str(metadata)?;
        let packages = metadata.get("packages").and_then(Value::as_array);
        let packages = packages
            .context("no `packages`")?
            .iter()
            .map(Package::parse);
        Ok(Self {
            root: text(&metadata, "workspace_root")?.into(),
            target: text(&metadata, "target_directory")?.into(),
            packages: packages.collect::<Result<_>>()?,
        })
    }

    /// The packages that users get from the registry.
    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.published)
    }

    /// The core.
    pub(crate) fn core(&self) -> Result<&Package> {
        let core = self
            .packages
            .iter()
            .find(|package| package.name == "orbgate");
        core.context("no package `orbgate`")
    }
}

impl Package {
    fn parse(package: &Value) -> Result<Self> {
        let features = package.get("features").and_then(Value::as_object);
        Ok(Self {
            name: text(package, "name")?,
            version: text(package, "version")?,
            features: features
                .into_iter()
                .flat_map(|features| features.keys().cloned())
                .collect(),
            rust_version: text(package, "rust_version").ok(),
            // null is any registry, a list is the registries: empty for `publish = false`.
            published: package.get("publish").is_none_or(Value::is_null),
        })
    }
}

fn text(value: &Value, key: &str) -> Result<String> {
    let text = value.get(key).and_then(Value::as_str);
    Ok(text.with_context(|| format!("no `{key}`"))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Project;

    #[test]
    fn packages_that_are_not_published_are_left_out() {
        let project = Project::parse(
            r#"{"workspace_root": "/w", "target_directory": "/w/target", "packages": [
                {"name": "orbgate", "version": "0.1.0", "publish": null, "rust_version": "1.88",
                 "features": {"yaml": ["dep:serde"], "default": ["yaml"]}},
                {"name": "xtask", "version": "0.0.0", "publish": [], "features": {}}]}"#,
        )
        .unwrap();
        let published: Vec<_> = project.published().map(|package| &package.name).collect();
        assert_eq!(published, ["orbgate"]);
        assert_eq!(project.core().unwrap().features, ["default", "yaml"]);
    }

    #[test]
    fn an_unexpected_answer_is_an_error() {
        assert!(Project::parse("{}").is_err());
    }
}
