//! The examples of READMEs and pages are real: each is run, and prints what the page says.

#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::{file, of_the_repository, orbgate, orbgate_reading};

/// What comes after `$ ` is typed; the lines below it are the output.
///
/// `ORBGATE_UPDATE=1 cargo test -p orbgate-cli readme` writes what is printed into the README.
#[test]
fn the_readme_shows_what_the_command_prints() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    check(readme.as_ref(), 2, env!("CARGO_MANIFEST_DIR").as_ref());
}

#[test]
fn the_projects_pages_show_what_the_command_prints() {
    for page in [
        "README.md",
        "docs/calls.md",
        "docs/issuers.md",
        "docs/json.md",
        "docs/lint.md",
        "docs/openapi.md",
        "docs/reload.md",
        "docs/review.md",
        "docs/testing.md",
        "docs/unused.md",
    ] {
        if let Some(page) = of_the_repository(page) {
            check(&page, 1, env!("CARGO_MANIFEST_DIR").as_ref());
        }
    }
}

/// A reader starts in an empty folder, and saves the files whose names are in their first lines.
#[test]
fn the_tutorial_shows_what_the_command_prints() {
    let Some(page) = of_the_repository("docs/tutorial/first-policy.md") else {
        return;
    };
    let text = std::fs::read_to_string(&page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for block in text.split("```yaml\n# ").skip(1) {
        let (name, rest) = block.split_once('\n').unwrap();
        let (content, _) = rest.split_once("```").unwrap();
        std::fs::write(folder.path().join(name), format!("# {name}\n{content}")).unwrap();
    }
    check(&page, 5, folder.path());
}

/// A reader starts in an empty folder.
#[cfg(feature = "orbs")]
#[test]
fn the_page_of_orbs_shows_what_the_command_prints() {
    if let Some(page) = of_the_repository("docs/orbs.md") {
        check(&page, 10, tempfile::tempdir().unwrap().path());
    }
}

/// The help of every command, as released packages have them.
#[cfg(all(feature = "lsp", feature = "orbs", feature = "token"))]
#[test]
fn the_page_of_all_options_is_the_help() {
    let Some(page) = of_the_repository("docs/cli.md") else {
        return;
    };
    let help = |command: &str| {
        let typed = format!("orbgate {command} --help");
        let shown = printed(&typed.replace("  ", " "), page.parent().unwrap());
        shown.trim_end().to_owned()
    };
    let main = help("");
    let (_, commands) = main.split_once("\nCommands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let names = commands.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty() && name != "help").then_some(name)
    });
    let mut made = format!(
        "# All options\n\nWhat `orbgate --help` and `orbgate COMMAND --help` print: `ORBGATE_UPDATE=1 cargo test -p orbgate-cli --all-features \
         all_options` writes this page.\n\n```text\n{main}\n```\n"
    );
    for name in names {
        made.push_str(&format!("\n## {name}\n\n```text\n{}\n```\n", help(name)));
    }
    if std::env::var_os("ORBGATE_UPDATE").is_some() {
        std::fs::write(&page, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&page).unwrap();
    assert!(committed == made, "docs/cli.md should read:\n{made}");
}

/// What a reader copies has no error and no finding but notes.
#[test]
fn the_policies_of_the_pages_pass_lint() {
    let pages = [
        ("docs/tutorial/first-policy.md", "orbgate: 1"),
        ("policy/README.md", "orbgate: 1"),
        ("docs/testing.md", "orbgate_test: 1"),
    ];
    for (page, start) in pages {
        let Some(path) = of_the_repository(page) else {
            continue;
        };
        let text = std::fs::read_to_string(path).unwrap();
        let blocks = text.split("```yaml\n").skip(1).filter_map(|block| block.split("```").next());
        let blocks: Vec<_> = blocks.filter(|block| block.contains(start)).collect();
        assert!(!blocks.is_empty(), "{page}");
        for block in blocks {
            let ran = match start {
                "orbgate: 1" => orbgate_reading(&["lint", "-"], block.as_bytes()),
                _ => {
                    let file = file(
                        "page.test.yaml",
                        block.replace("shop.yaml", concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/shop.yaml")),
                    );
                    orbgate(&["test", &file])
                }
            };
            assert_eq!((ran.code, &*ran.err), (0, ""), "{page}: {}", ran.out);
        }
    }
}

fn check(path: &Path, least: usize, folder: &Path) {
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
            real.push_str(&format!("$ {typed}\n{}", printed(typed, folder)));
        }
    }
    assert!(examples >= least, "{examples} examples");
    if std::env::var_os("ORBGATE_UPDATE").is_some() {
        std::fs::write(path, &real).unwrap();
    }
    assert!(readme == real, "the README should read:\n{real}");
}

/// What a shell prints, on both of its outputs.
fn printed(typed: &str, folder: &Path) -> String {
    let command = Path::new(env!("CARGO_BIN_EXE_orbgate")).parent().unwrap().to_str().unwrap();
    let path = format!("{command}:{}", std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {typed}\n}} 2>&1")])
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .current_dir(folder)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}
