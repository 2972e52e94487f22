//! What the last release promised: what it exported, laid out and typed is still there.

use anyhow::Result;
use cargo_metadata::semver::Version;
use xshell::{Shell, cmd};

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
pub(crate) fn last_release(shell: &Shell, version: &Version) -> Result<Option<Version>> {
    let tags = git(shell, "tag --merged HEAD --list v*")?.unwrap_or_default();
    let released = tags.lines().filter_map(|tag| Version::parse(tag.strip_prefix('v')?).ok());
    Ok(released.filter(|released| released < version).max())
}

/// Everything that was removed since a release and that this version must not remove.
pub(crate) fn broken(shell: &Shell, last: &Version, version: &Version) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    let files = FROZEN.into_iter().chain(TYPED.into_iter().filter(|_| !may_break(last, version)));
    for file in files {
        // A file that the release did not have promised nothing.
        let Some(before) = git(shell, &format!("show v{last}:{file}"))? else {
            continue;
        };
        let now = shell.read_file(file)?;
        let gone = gone(&before, &now).into_iter();
        broken.extend(gone.map(|line| format!("{file}: gone since {last}: {line}")));
    }
    Ok(broken)
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
fn git(shell: &Shell, words: &str) -> Result<Option<String>> {
    let output = cmd!(shell, "git").args(words.split(' ')).ignore_status().output()?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// What two made-up versions promise: their symbols, their layout, and what they type.
    struct Promises {
        symbols: &'static str,
        layout: &'static str,
        types: &'static str,
    }

    const OLD: Promises = Promises {
        symbols: "# exported\norbgate_ask\norbgate_free\n",
        layout: "code\tORBGATE_ABI_VERSION\t65536\nsize\tRoute\t32\nfirst_size\tRoute\t32\noffset\tRoute.id\t8\nsize\tStr\t16\n",
        types: "export type Colour = 1;\n",
    };

    /// Adds a function, a field at the end of a struct that says its size, and a type.
    const GROWN: Promises = Promises {
        symbols: "# the exported\norbgate_ask\norbgate_free\norbgate_new\n",
        layout: "code\tORBGATE_ABI_VERSION\t65537\nsize\tRoute\t40\nfirst_size\tRoute\t32\noffset\tRoute.id\t8\nsize\tStr\t16\n",
        types: "export type Colour = 1;\nexport type More = 2;\n",
    };

    /// Takes away a function, moves a field, lets a struct grow that says no size, and hides a type.
    const SHRUNK: Promises = Promises {
        symbols: "orbgate_ask\n",
        layout: "code\tORBGATE_ABI_VERSION\t65536\nsize\tRoute\t32\nfirst_size\tRoute\t32\noffset\tRoute.id\t16\nsize\tStr\t24\n",
        types: "type Colour = 1;\n",
    };

    /// A repository with a release 0.1.0, and what it promises now as this version.
    fn checked(version: &str, now: &Promises) -> Vec<String> {
        let home = tempfile::tempdir().unwrap();
        let shell = Shell::new().unwrap();
        shell.change_dir(home.path());
        let version = Version::parse(version).unwrap();
        let run = |words: &str| assert!(git(&shell, words).unwrap().is_some(), "{words}");
        run("init --quiet");
        for (promises, tag) in [(&OLD, "v0.1.0"), (now, "other")] {
            let [symbols, layout, types] = [FROZEN[0], FROZEN[1], TYPED[0]];
            for (file, text) in [(symbols, promises.symbols), (layout, promises.layout), (types, promises.types)] {
                shell.write_file(file, text).unwrap();
            }
            run("add --all");
            run("-c user.name=a -c user.email=a@b commit --quiet --message=a");
            run(&format!("tag {tag}"));
        }
        let first = last_release(&shell, &Version::new(0, 1, 0)).unwrap();
        assert_eq!(first, None, "before the first there is nothing to compare");
        let last = last_release(&shell, &version).unwrap().unwrap();
        assert_eq!(last, Version::new(0, 1, 0));
        broken(&shell, &last, &version).unwrap()
    }

    #[test]
    fn what_grows_breaks_nothing() {
        assert_eq!(checked("0.1.1", &GROWN), Vec::<String>::new());
    }

    #[test]
    fn what_is_gone_is_named() {
        let expected = [
            "crates/orbgate-capi/symbols.txt: gone since 0.1.0: orbgate_free",
            "crates/orbgate-capi/layout.tsv: gone since 0.1.0: offset\tRoute.id\t8",
            "crates/orbgate-capi/layout.tsv: gone since 0.1.0: size\tStr\t16",
            "bindings/node/index.d.ts: gone since 0.1.0: export type Colour = 1;",
        ];
        assert_eq!(checked("0.1.1", &SHRUNK), expected);
        // A version that may break types may not break the ABI.
        assert_eq!(checked("0.2.0", &SHRUNK), expected[..3]);
    }

    /// The lists are there, and written as the made-up ones are.
    #[test]
    fn our_own_lists_are_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for file in FROZEN.into_iter().chain(TYPED) {
            let text = fs::read_to_string(root.join(file)).unwrap();
            assert!(!gone(&text, "").is_empty(), "{file} promises nothing");
            assert!(gone(&text, &text).is_empty(), "{file}");
        }
    }
}
