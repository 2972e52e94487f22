//! What the last release promised: what it exported, laid out and typed is still there.

use std::path::Path;

use anyhow::{Context as _, Result};
use cargo_metadata::semver::Version;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

/// Lists of the C ABI, which only grow, in every version: its functions, its structs and codes, and the messages of its gates.
const FROZEN: [&str; 3] =
    ["crates/orbgate-capi/symbols.txt", "crates/orbgate-capi/layout.tsv", "crates/orbgate-capi/messages.tsv"];

/// The types of a language. If one is removed or changed, the version must say so.
const TYPED: [&str; 4] = [
    "bindings/node/index.d.ts",
    "bindings/node/wasm.d.mts",
    "bindings/python/python/orbgate/__init__.py",
    "bindings/python/python/orbgate/_native.pyi",
];

/// The released version before this one, of the tags that this commit is made on.
pub(crate) fn last_release(root: &Path, version: &Version) -> Result<Option<Version>> {
    let tags = git(root, "tag --merged HEAD --list v*")?.unwrap_or_default();
    let released = tags.lines().filter_map(|tag| Version::parse(tag.strip_prefix('v')?).ok());
    Ok(released.filter(|released| released < version).max())
}

/// Everything that was removed since a release and that this version must not remove.
pub(crate) fn broken(root: &Path, last: &Version, version: &Version) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    let files = FROZEN.into_iter().chain(TYPED.into_iter().filter(|_| !may_break(last, version)));
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
    names.fold(check, |check, name| check.arg("--package").arg(name)).run()
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
        let comment = ["#", "/*", "*", "//"].iter().any(|mark| line.starts_with(mark));
        !line.is_empty() && !comment && !may_grow(line)
    };
    let is_gone = |line: &&str| !now.lines().any(|other| other.trim() == *line);
    before.lines().map(str::trim).filter(stated).filter(is_gone).collect()
}

/// What git says; nothing where it fails.
fn git(root: &Path, words: &str) -> Result<Option<String>> {
    let git = Program::parse("git").within(root);
    let output = words.split(' ').fold(git, Program::arg).output()?;
    Ok(output.success.then_some(output.stdout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_breaks_nothing_and_what_is_gone_is_named() {
        let before = "# exported\norbgate_ask\ncode\tORBGATE_ABI_VERSION\t65536\nsize\tRoute\t32\nfirst_size\tRoute\t32\nsize\tStr\t16\n";
        let grown = before.replace("65536", "65537").replace("size\tRoute\t32\nf", "size\tRoute\t40\nf");
        assert_eq!(gone(before, &grown.replace("# exported", "orbgate_new")), Vec::<&str>::new());
        let shrunk = before.replace("orbgate_ask", "").replace("Str\t16", "Str\t24");
        assert_eq!(gone(before, &shrunk), ["orbgate_ask", "size\tStr\t16"]);
    }

    #[test]
    fn a_version_breaks_types_if_its_number_says_so() {
        for (last, version, may) in [("0.1.0", "0.1.1", false), ("0.1.0", "0.2.0", true), ("1.0.0", "1.1.0", false)] {
            let [last, version] = [last, version].map(|text| Version::parse(text).unwrap());
            assert_eq!(may_break(&last, &version), may, "{last} {version}");
        }
    }

    /// The lists are there, and written as the made-up ones are.
    #[test]
    fn our_own_lists_are_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for file in FROZEN.into_iter().chain(TYPED) {
            let text = std::fs::read_to_string(root.join(file)).unwrap();
            assert!(!gone(&text, "").is_empty(), "{file} promises nothing");
            assert!(gone(&text, &text).is_empty(), "{file}");
        }
    }
}
