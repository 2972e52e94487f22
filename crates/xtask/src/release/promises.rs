//! What the last release promised: what it exported, laid out and typed is still there.

use std::path::Path;

use anyhow::{Context as _, Result};
use cargo_metadata::semver::Version;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

/// Lists of the C ABI, which only grow, whatever the version.
const FROZEN: [&str; 2] = [
    "crates/orbgate-capi/symbols.txt",
    "crates/orbgate-capi/layout.tsv",
];

/// What the types of a language say. What is taken away or changed wants a version that says so.
const TYPED: [&str; 4] = [
    "bindings/node/index.d.ts",
    "bindings/node/wasm.d.mts",
    "bindings/python/python/orbgate/__init__.py",
    "bindings/python/python/orbgate/_native.pyi",
];

/// The released version before this one, of the tags that this commit is made on.
pub(crate) fn last_release(root: &Path, version: &Version) -> Result<Option<Version>> {
    let tags = git(root, "tag --merged HEAD --list v*")?.unwrap_or_default();
    let released = tags
        .lines()
        .filter_map(|tag| Version::parse(tag.strip_prefix('v')?).ok());
    Ok(released.filter(|released| released < version).max())
}

/// What is gone since a release, as this version must not have it.
pub(crate) fn broken(root: &Path, last: &Version, version: &Version) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    let files = FROZEN
        .into_iter()
        .chain(TYPED.into_iter().filter(|_| !may_break(last, version)));
    for file in files {
        // A file that the release did not have promised nothing.
        let Some(before) = git(root, &format!("show v{last}:{file}"))? else {
            continue;
        };
        let now = std::fs::read_to_string(root.join(file)).with_context(|| file.to_owned())?;
        let gone = gone(&before, &now).into_iter();
        broken.extend(gone.map(|line| format!("{file}: gone since {last}: {line}")));
    }
    Ok(broken)
}

/// Rust's own promises, by cargo-semver-checks against the tag.
pub(crate) fn check_rust(project: &Project, last: &Version) -> Result<()> {
    let check = setup::subcommand(project, "semver-checks")?;
    let check = check.arg("--baseline-rev").arg(format!("v{last}"));
    let names = project.published().map(|package| package.name.as_str());
    names
        .fold(check, |check, name| check.arg("--package").arg(name))
        .run()
}

/// Whether semantic versioning lets a version take away what another one had.
fn may_break(last: &Version, version: &Version) -> bool {
    match last.major {
        0 => (last.major, last.minor) != (version.major, version.minor),
        major => major != version.major,
    }
}

/// Lines that are there no more, comments apart. The number of an ABI grows, and so does a struct that says its first size.
fn gone<'t>(before: &'t str, now: &str) -> Vec<&'t str> {
    let may_grow = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        ["code", name, _] => name == "ORBGATE_ABI_VERSION",
        ["size", name, _] => before.contains(&format!("first_size\t{name}\t")),
        _ => false,
    };
    let stated = |line: &&str| {
        let comment = ["#", "/*", "*", "//"]
            .iter()
            .any(|mark| line.starts_with(mark));
        !line.is_empty() && !comment && !may_grow(line)
    };
    let is_gone = |line: &&str| !now.lines().any(|other| other.trim() == *line);
    before
        .lines()
        .map(str::trim)
        .filter(stated)
        .filter(is_gone)
        .collect()
}

/// What git says; nothing where it fails.
fn git(root: &Path, words: &str) -> Result<Option<String>> {
    let git = Program::parse("git").within(root);
    let output = words.split(' ').fold(git, Program::arg).output()?;
    Ok(output.success.then_some(output.stdout))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// A repository with a release 0.1.0 of our own files, and what was done to them behind it.
    fn repository(home: &Path, change: impl Fn(&str, String) -> String) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let run = |words: &str| assert!(git(home, words).unwrap().is_some(), "{words}");
        run("init --quiet");
        for tag in ["v0.1.0", "v0.9.9-other"] {
            for file in FROZEN.into_iter().chain(TYPED) {
                let text = fs::read_to_string(root.join(file)).unwrap();
                let text = if tag == "v0.1.0" {
                    text
                } else {
                    change(file, text)
                };
                fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
                fs::write(home.join(file), text).unwrap();
            }
            run("add --all");
            run("-c user.name=a -c user.email=a@b commit --quiet --allow-empty --message=a");
            run(&format!("tag {tag}"));
        }
        run("tag --delete v0.9.9-other");
    }

    fn checked(version: &str, change: impl Fn(&str, String) -> String) -> Vec<String> {
        let home = tempfile::tempdir().unwrap();
        repository(home.path(), change);
        let version = Version::parse(version).unwrap();
        let last = last_release(home.path(), &version).unwrap().unwrap();
        assert_eq!(last, Version::new(0, 1, 0));
        broken(home.path(), &last, &version).unwrap()
    }

    #[test]
    fn without_an_earlier_tag_there_is_nothing_to_compare() {
        let home = tempfile::tempdir().unwrap();
        repository(home.path(), |_, text| text);
        let first = last_release(home.path(), &Version::new(0, 1, 0)).unwrap();
        assert_eq!(first, None);
    }

    #[test]
    fn what_grows_breaks_nothing() {
        let grown = |file: &str, text: String| match file {
            "crates/orbgate-capi/symbols.txt" => text + "orbgate_zzz\n",
            "crates/orbgate-capi/layout.tsv" => text
                .replace("ORBGATE_ABI_VERSION\t", "ORBGATE_ABI_VERSION\t9")
                .replace("size\tOrbgateRoute\t", "size\tOrbgateRoute\t9")
                .replace("first_size\tOrbgateRoute\t9", "first_size\tOrbgateRoute\t"),
            "bindings/node/index.d.ts" => text + "export const more: number;\n",
            _ => format!("# a comment\n{text}"),
        };
        assert_eq!(checked("0.1.1", grown), Vec::<String>::new());
    }

    #[test]
    fn what_is_gone_is_named() {
        let shrunk = |_: &str, text: String| {
            text.replace("orbgate_engine_decide\n", "")
                .replace("offset\tOrbgateRoute.id\t8", "offset\tOrbgateRoute.id\t16")
                .replace("size\tOrbgateStr\t16", "size\tOrbgateStr\t24")
                .replace("export type TokenKind = ", "type TokenKind = ")
        };
        let frozen = [
            "crates/orbgate-capi/symbols.txt: gone since 0.1.0: orbgate_engine_decide",
            "crates/orbgate-capi/layout.tsv: gone since 0.1.0: size\tOrbgateStr\t16",
            "crates/orbgate-capi/layout.tsv: gone since 0.1.0: offset\tOrbgateRoute.id\t8",
        ];
        let broken = checked("0.1.1", shrunk);
        assert_eq!(broken[..3], frozen);
        assert!(
            broken[3]
                .starts_with("bindings/node/index.d.ts: gone since 0.1.0: export type TokenKind")
        );
        assert_eq!(broken.len(), 4, "{broken:?}");
        // A version that may break types may not break the ABI.
        assert_eq!(checked("0.2.0", shrunk), frozen);
    }
}
