//! `cargo xtask release-check`: whether this commit can be released as the version that it states.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use xshell::cmd;

use crate::kit::project::Project;
use crate::release::promises;

#[derive(Debug, Args)]
pub(crate) struct ReleaseCheck {
    /// Leaves out the checks that build: the generated files, and Rust's promises since the last release
    #[arg(long)]
    quick: bool,
}

/// What states the version, or takes it from there, as it is written.
const STATED: [(&str, &str); 13] = [
    ("Cargo.lock", "name = \"orbgate\"\nversion = \"@\""),
    ("CHANGELOG.md", "\n## @ "),
    ("bindings/c/include/orbgate.h", "#define ORBGATE_VERSION \"@\""),
    ("bindings/java/README.md", "orbgate</artifactId>\n  <version>@<"),
    ("bindings/java/pom.xml", "orbgate</artifactId>\n  <version>@<"),
    ("bindings/node/package.json", "\n  \"version\": \"@\""),
    ("bindings/node/package-lock.json", "\n  \"version\": \"@\""),
    ("bindings/node/package-lock.json", "\"name\": \"orbgate\",\n      \"version\": \"@\""),
    ("crates/orbgate-wasm/npm/package.json", "\n  \"version\": \"@\""),
    ("explorer/package.json", "\n  \"version\": \"@\""),
    ("bindings/python/pyproject.toml", "dynamic = [\"version\"]"),
    ("policy/README.md", "/raw/v@/policy/policy.schema.json"),
    ("Cargo.toml", "[workspace.package]\nversion = \"@\""),
];

/// Guides that name the files of a release.
const GUIDES: [&str; 4] =
    ["bindings/c/README.md", "bindings/java/README.md", "bindings/node/README.md", "crates/orbgate-cli/README.md"];

impl ReleaseCheck {
    /// `gaps` are the long checks whose record doesn't hold.
    pub(crate) fn run(&self, project: &Project, gaps: Vec<String>) -> Result<()> {
        let released = &project.version;
        let shell = project.shell()?;
        let version = released.to_string();
        let mut behind = versions(&project.root, &version)?;
        let last = promises::last_release(&shell, released)?;
        match &last {
            Some(last) => behind.extend(promises::broken(&shell, last, released)?),
            None => println!("no earlier release: nothing to compare"),
        }
        let changelog = fs::read_to_string(project.root.join("CHANGELOG.md"))?;
        behind.extend(undated(&changelog, &version));
        let locked = cmd!(shell, "cargo metadata --locked --format-version 1").ignore_status().output()?;
        if !locked.status.success() {
            behind.push("Cargo.lock is not that of the manifests: cargo update --workspace".to_owned());
        }
        let changed = cmd!(shell, "git status --porcelain").read()?;
        behind.extend(changed.lines().map(|line| format!("not committed: {}", line.trim())));
        behind.extend(gaps);
        ensure!(behind.is_empty(), "not ready for {version}:\n  {}", behind.join("\n  "));
        if !self.quick {
            project.run("generated", &[""; 0])?;
            if let Some(last) = &last {
                project.run("promises", &[format!("v{last}")])?;
            }
        }
        println!("ready for {version}: git tag v{version} && git push origin v{version}");
        Ok(())
    }
}

/// The files that state another version.
fn versions(root: &Path, version: &str) -> Result<Vec<String>> {
    let mut behind = Vec::new();
    for (file, text) in STATED {
        let text = text.replace('@', version);
        let stated = fs::read_to_string(root.join(file)).with_context(|| file.to_owned())?;
        if !stated.contains(&text) {
            behind.push(format!("{file} does not state {text:?}"));
        }
    }
    for file in GUIDES {
        let text = fs::read_to_string(root.join(file)).with_context(|| file.to_owned())?;
        let named: Vec<_> = named(&text).collect();
        let other = named.iter().find(|named| *named != version);
        match other {
            Some(other) => behind.push(format!("{file} names files of version {other}")),
            None if named.is_empty() => behind.push(format!("{file} names no file of a release")),
            None => {}
        }
    }
    // Every crate of the workspace is asked for in the version that it has.
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    for line in manifest.lines().filter(|line| line.contains("path = \"crates/")) {
        if !line.contains(&format!("version = \"{version}\"")) {
            behind.push(format!("Cargo.toml: {line}"));
        }
    }
    Ok(behind)
}

/// The versions in the names of our files that a guide has.
fn named(guide: &str) -> impl Iterator<Item = String> {
    let of_a_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let words = guide.split(move |c| !of_a_name(c));
    let ours = words.filter(|word| word.contains("orbgate"));
    let parts = ours.flat_map(|word| word.split(['-', '_']));
    parts.filter_map(|part| {
        let version: Vec<_> = part.splitn(4, '.').take(3).collect();
        let is_number = |text: &&str| text.parse::<u32>().is_ok();
        (version.len() == 3 && version.iter().all(is_number)).then(|| version.join("."))
    })
}

/// What is wrong with the changelog: its newest section is this version's, with the day.
fn undated(changelog: &str, version: &str) -> Option<String> {
    let heading = changelog.lines().find_map(|line| line.strip_prefix("## "));
    let heading = heading.unwrap_or("nothing");
    let day = heading.strip_prefix(&format!("{version} – "));
    let is_day = |day: &str| {
        let parts: Vec<_> = day.split('-').map(str::len).collect();
        parts == [4, 2, 2] && day.chars().all(|c| c.is_ascii_digit() || c == '-')
    };
    match day.is_some_and(is_day) {
        true => None,
        false => Some(format!("CHANGELOG.md begins with `{heading}`, not with `{version} – YEAR-MONTH-DAY`")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{named, undated, versions};

    #[test]
    fn every_file_states_the_same_version() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
        let version = manifest.split("\nversion = \"").nth(1).unwrap();
        let version = version.split('"').next().unwrap();
        assert_eq!(versions(&root, version).unwrap(), Vec::<String>::new());
        let behind = versions(&root, "7.0.0").unwrap();
        let crates = manifest.matches("path = \"crates/").count();
        assert_eq!(behind.len(), 16 + crates, "{behind:?}");
    }

    #[test]
    fn guides_name_files_with_their_version() {
        let guide = "`tar -xzf a/liborbgate-0.1.0-x86_64-linux-gnu.tar.gz` ./orbgate_0.1.2_amd64.deb koffi-3.0.0.tgz liborbgate.so.1";
        assert_eq!(named(guide).collect::<Vec<_>>(), ["0.1.0", "0.1.2"]);
    }

    #[test]
    fn a_release_has_its_day_in_the_changelog() {
        let section = |heading: &str| undated(&format!("# Changelog\n\n## {heading}\n\n- a\n"), "0.1.0");
        assert_eq!(section("0.1.0 – 2026-12-01"), None);
        for heading in ["0.1.0 – not released yet", "0.1.1 – 2026-12-01", "0.1.0", "0.1.0 – 01-12-2026"] {
            assert!(section(heading).unwrap().contains(heading));
        }
        assert!(undated("# Changelog\n", "0.1.0").is_some());
    }
}
