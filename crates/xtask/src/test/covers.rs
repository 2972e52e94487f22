//! Which paths a check covers: those that its words name, and the sources of what is built for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};
use cargo_metadata::{DependencyKind, MetadataCommand, Package};

use crate::kit::project::Project;

/// What a language's package is built from, without its own folder.
const BINDINGS: [(&str, &[&str]); 6] = [
    ("bindings/c", &["crates/orbgate-capi"]),
    ("bindings/cpp", &["bindings/c"]),
    ("bindings/go", &["bindings/c", "crates/orbgate-wasm"]),
    ("bindings/java", &["bindings/c"]),
    ("bindings/node", &["bindings/c", "crates/orbgate-wasm"]),
    ("bindings/python", &["crates/orbgate-python"]),
];

/// What a package of cargo's uses of this repository, by folder.
#[derive(Debug)]
struct Uses {
    /// For what others get.
    built: Vec<String>,
    /// The same, and what only its tests use.
    tested: Vec<String>,
}

/// The packages of this repository, by folder.
#[derive(Debug)]
pub(crate) struct Covers(BTreeMap<String, Uses>);

impl Covers {
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let mut all = BTreeMap::new();
        for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
            let metadata = MetadataCommand::new().manifest_path(project.root.join(manifest)).no_deps().exec()?;
            for package in &metadata.packages {
                let folder = package.manifest_path.parent().context("a manifest without a folder")?;
                all.insert(within(project, folder.as_std_path())?, Uses::of(project, package)?);
            }
        }
        Ok(Self(all))
    }

    /// The words of a check as git's pathspecs. After `+` comes the folder of a package of cargo's or of a language: all of it, and the sources of
    /// what it is built and tested with.
    pub(crate) fn paths(&self, words: &[&str]) -> Vec<String> {
        let mut paths = BTreeSet::new();
        for word in words {
            match word.strip_prefix('+') {
                None => _ = paths.insert((*word).to_owned()),
                Some(folder) => self.whole(folder, &mut paths),
            }
        }
        paths.into_iter().collect()
    }

    fn whole(&self, folder: &str, paths: &mut BTreeSet<String>) {
        paths.insert(folder.to_owned());
        if let Some((_, parts)) = BINDINGS.iter().find(|(binding, _)| *binding == folder) {
            parts.iter().for_each(|part| self.whole(part, paths));
        }
        if let Some(uses) = self.0.get(folder) {
            uses.tested.iter().for_each(|used| self.sources(used, paths));
        }
    }

    fn sources(&self, folder: &str, paths: &mut BTreeSet<String>) {
        let new = paths.insert(format!("{folder}/src"));
        paths.extend(["Cargo.toml", "build.rs"].map(|file| format!("{folder}/{file}")));
        if let (true, Some(uses)) = (new, self.0.get(folder)) {
            uses.built.iter().for_each(|used| self.sources(used, paths));
        }
    }
}

impl Uses {
    fn of(project: &Project, package: &Package) -> Result<Self> {
        let (mut built, mut tested) = (Vec::new(), Vec::new());
        for dependency in &package.dependencies {
            let Some(path) = &dependency.path else { continue };
            let folder = within(project, path.as_std_path())?;
            if dependency.kind != DependencyKind::Development {
                built.push(folder.clone());
            }
            tested.push(folder);
        }
        Ok(Self { built, tested })
    }
}

/// A folder as seen from the root.
fn within(project: &Project, folder: &Path) -> Result<String> {
    let folder = folder.strip_prefix(&project.root)?.to_str().context("a folder that is no text")?;
    Ok(folder.replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::test::step::Step;

    #[test]
    fn a_check_covers_what_it_is_built_with() {
        let covers = Covers::read(&Project::read().unwrap()).unwrap();
        let of = |words: &[&str]| covers.paths(words);
        let has = |paths: &[String], path: &str| paths.iter().any(|other| other == path);
        let gateway = of(&["+crates/orbgate-gateway"]);
        assert!(has(&gateway, "crates/orbgate-gateway"));
        // By way of another, and for its tests.
        assert!(
            ["orbgate", "orbgate-yaml", "orbgate-testing"]
                .iter()
                .all(|name| has(&gateway, &format!("crates/{name}/src")))
        );
        // What others need for their tests it doesn't have.
        assert!(!has(&gateway, "crates/orbgate-contract/src"));
        assert!(has(&of(&["+fuzz"]), "crates/orbgate-token/src"));
        let go = of(&["+bindings/go"]);
        assert!(["bindings/c", "crates/orbgate-gate/src", "crates/orbgate-wasm"].iter().all(|path| has(&go, path)));
        assert_eq!(of(&["policy", ":!docs"]), [":!docs", "policy"]);
    }

    /// A word that names nothing would cover nothing.
    #[test]
    fn every_word_after_a_plus_is_a_package() {
        let covers = Covers::read(&Project::read().unwrap()).unwrap();
        let is_binding = |folder: &str| BINDINGS.iter().any(|(binding, _)| *binding == folder);
        let words = Step::all().flat_map(|step| step.covers.iter().filter_map(|word| word.strip_prefix('+')));
        for folder in words.chain(BINDINGS.iter().flat_map(|(_, parts)| parts.iter().copied())) {
            assert!(covers.0.contains_key(folder) || is_binding(folder), "{folder}");
        }
    }

    #[test]
    fn every_language_is_built_from_something() {
        let root = Project::read().unwrap().root;
        let folders = fs::read_dir(root.join("bindings")).unwrap().map(|entry| entry.unwrap().path());
        let mut folders: Vec<_> =
            folders.filter(|path| path.is_dir()).map(|path| path.file_name().unwrap().to_owned()).collect();
        folders.sort();
        assert_eq!(folders, BINDINGS.map(|(folder, _)| folder.trim_start_matches("bindings/")));
    }
}
