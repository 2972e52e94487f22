//! `orbgate init`: what it writes passes every check, and it overwrites nothing.

use std::fs;
use std::path::Path;

use crate::{file, orbgate};

#[test]
fn the_first_policy_passes_its_tests_and_lint() {
    let marker = file("init-marker", "");
    let folder = Path::new(&marker).parent().unwrap().join("init-new");
    let _ = fs::remove_dir_all(&folder);
    let path = |name: &str| folder.join(name).display().to_string();
    let ran = orbgate(&["init", &folder.display().to_string()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let files = ["policy.yaml", "policy.test.yaml", ".github/workflows/policy.yaml", ".pre-commit-config.yaml"];
    assert_eq!(ran.out.lines().collect::<Vec<_>>(), files.map(path));
    let pinned =
        concat!("use the release v", env!("CARGO_PKG_VERSION"), " of Orbgate: they fail until it is published.\n");
    assert!(ran.err.ends_with(pinned), "{}", ran.err);
    for name in &files[2..] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let version = concat!("v", env!("CARGO_PKG_VERSION"));
        assert!(text.contains(version) && !text.contains("VERSION"), "{text}");
    }
    let policy = fs::read_to_string(folder.join("policy.yaml")).unwrap();
    let line = concat!(
        "# yaml-language-server: $schema=https://github.com/orbgate/orbgate/raw/v",
        env!("CARGO_PKG_VERSION"),
        "/policy/policy.schema.json"
    );
    assert_eq!(policy.lines().next(), Some(line));
    for arguments in [["check", "policy.yaml"], ["lint", "policy.yaml"], ["test", "policy.test.yaml"]] {
        let ran = orbgate(&[arguments[0], &path(arguments[1])]);
        assert_eq!((ran.code, &*ran.err), (0, ""), "{}", ran.out);
        assert!(!ran.out.contains("warning"), "{}", ran.out);
    }
    fs::write(folder.join("policy.yaml"), "mine").unwrap();
    fs::remove_file(folder.join("policy.test.yaml")).unwrap();
    let ran = orbgate(&["init", &folder.display().to_string()]);
    assert_eq!((ran.code, ran.out), (0, format!("{}\n", path("policy.test.yaml"))));
    assert!(ran.err.contains("policy.yaml: exists already"), "{}", ran.err);
    assert_eq!(fs::read_to_string(folder.join("policy.yaml")).unwrap(), "mine");
}

#[test]
fn below_the_root_of_a_repository_there_is_a_warning() {
    let marker = file("init-below", "");
    let root = Path::new(&marker).parent().unwrap().join("init-root");
    let _ = fs::remove_dir_all(&root);
    // A worktree has a file there.
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join(".git"), "gitdir: /elsewhere\n").unwrap();
    let init = |folder: &Path| orbgate(&["init", &folder.display().to_string()]);
    let below = init(&root.join("services/a"));
    let shown = fs::canonicalize(&root).unwrap().display().to_string();
    let warning = format!("only at the root of the repository, which is `{shown}`\nNext: ");
    assert!(below.err.contains(&warning), "{}", below.err);
    assert_eq!((below.code, below.out.lines().count()), (0, 4));
    assert!(!init(&root).err.contains("warning"));
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let plain = file("init-plain", "");
    let ran = orbgate(&["init", &format!("{plain}/policies")]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
    assert_eq!(ran.err.lines().count(), 4, "{}", ran.err);
}
