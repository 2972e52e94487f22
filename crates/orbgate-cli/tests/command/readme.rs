//! The examples of both READMEs are real: each is run, and prints what the README says. Their links and
//! tables are, too.

#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::of_the_repository;

/// What comes after `$ ` is typed; the lines below it are the output.
///
/// `UPDATE_README=1 cargo test -p orbgate-cli readme` writes what is printed into the README.
#[test]
fn the_readme_shows_what_the_command_prints() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    check(readme.as_ref(), 8);
}

#[test]
fn the_projects_readme_shows_what_the_command_prints() {
    if let Some(readme) = of_the_repository("README.md") {
        check(&readme, 1);
    }
}

/// The project's README is also the library's, on its own pages and in the registry: there only whole
/// addresses lead somewhere.
#[test]
fn the_projects_readme_links_to_what_is_there() {
    const TREE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/");
    let Some(path) = of_the_repository("README.md") else {
        return;
    };
    let readme = std::fs::read_to_string(path).unwrap();
    let mut links = 0;
    for rest in readme.split(TREE).skip(1) {
        let link = rest
            .split([')', '>', '"', '\'', '#', '?', ' ', '\n'])
            .next()
            .unwrap();
        let path = link
            .strip_prefix("blob/main/")
            .or_else(|| link.strip_prefix("tree/main/"));
        let path = path.unwrap_or_else(|| panic!("{link} is no path on the main branch"));
        assert!(of_the_repository(path).is_some());
        links += 1;
    }
    assert!(links >= 8, "{links} links");
    for rest in readme.split("](").skip(1) {
        let target = rest.split(')').next().unwrap();
        assert!(
            target.starts_with("https://") || target.starts_with('#'),
            "{target} leads nowhere on the library's pages"
        );
    }
    assert!(!readme.contains("@@"), "a placeholder is left over");
}

#[test]
fn the_architecture_names_every_file_of_the_core() {
    let Some(path) = of_the_repository("ARCHITECTURE.md") else {
        return;
    };
    let architecture = std::fs::read_to_string(path).unwrap();
    for (directory, prefix) in [
        ("crates/orbgate/src", ""),
        ("crates/orbgate/src/policy", "policy/"),
    ] {
        for entry in std::fs::read_dir(of_the_repository(directory).unwrap()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".rs") {
                let shown = format!("`{prefix}{name}`");
                assert!(architecture.contains(&shown), "{shown} is not there");
            }
        }
    }
}

fn check(path: &Path, least: usize) {
    let readme = std::fs::read_to_string(path).unwrap();
    let mut real = String::new();
    let mut examples = 0;
    for (index, piece) in readme.split("```").enumerate() {
        if index > 0 {
            real.push_str("```");
        }
        let session = piece.strip_prefix("console\n").filter(|_| index % 2 == 1);
        let Some(session) = session else {
            real.push_str(piece);
            continue;
        };
        real.push_str("console\n");
        for typed in session.lines().filter_map(|line| line.strip_prefix("$ ")) {
            examples += 1;
            real.push_str(&format!("$ {typed}\n{}", printed(typed)));
        }
    }
    assert!(examples >= least, "{examples} examples");
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(path, &real).unwrap();
    }
    assert!(readme == real, "the README should read:\n{real}");
}

/// What a shell prints, on both of its outputs.
fn printed(typed: &str) -> String {
    let command = Path::new(env!("CARGO_BIN_EXE_orbgate"))
        .parent()
        .unwrap()
        .to_str()
        .unwrap();
    let path = format!("{command}:{}", std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {typed}\n}} 2>&1")])
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}
