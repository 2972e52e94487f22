//! The examples of READMEs and pages are real: each is run, and prints what the page says.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use orbgate_testing::pages;

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
fn pages_with_files_show_what_the_command_prints() {
    for (page, least) in [("docs/tutorial/first-policy.md", 5), ("docs/mcp.md", 1)] {
        let Some(page) = of_the_repository(page) else {
            return;
        };
        let text = std::fs::read_to_string(&page).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for block in text.split("```yaml\n# ").skip(1) {
            let (name, rest) = block.split_once('\n').unwrap();
            let (content, _) = rest.split_once("```").unwrap();
            std::fs::write(folder.path().join(name), format!("# {name}\n{content}")).unwrap();
        }
        check(&page, least, folder.path());
    }
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
        "# All options\n\nWhat `orbgate --help` and the help of each command print: `ORBGATE_UPDATE=1 cargo test -p orbgate-cli --all-features \
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

/// What a reader copies has no error and no finding but notes, is formatted, and passes a review as a first policy.
#[test]
fn the_policies_of_the_pages_pass_every_check() {
    let (mut count, mut wrong) = (0, String::new());
    let empty = file("empty.yaml", "orbgate: 1\napis: {}\n...\n");
    for page in own_pages() {
        for (line, policy) in pages::policies(&pages::read(&page)) {
            for arguments in [
                &["check", "-"][..],
                &["lint", "-"],
                &["fmt", "--check", "-"],
                &["review", &empty, "-", "--allow-wider"],
            ] {
                let ran = orbgate_reading(arguments, policy.as_bytes());
                if (ran.code, &*ran.err) != (0, "") {
                    wrong += &format!("{}:{line}: {arguments:?}: {}{}\n", page.display(), ran.err, ran.out);
                }
            }
            count += 1;
        }
    }
    assert_eq!(wrong, "");
    assert!(count >= 15 || own_pages().next().is_none(), "{count} policies");
}

/// Commands in running text and in blocks without output: each has such arguments and options.
#[test]
fn the_commands_of_the_pages_exist() {
    let (mut count, mut wrong) = (0, String::new());
    for page in own_pages() {
        for (line, words) in pages::commands(&pages::read(&page), &["orbgate"]) {
            let words: Vec<_> = words.iter().map(|word| &**word).chain(["--help"]).collect();
            let ran = orbgate(&words);
            if (ran.code, &*ran.err) != (0, "") {
                wrong += &format!("{}:{line}: {words:?}: {}\n", page.display(), ran.err);
            }
            count += 1;
        }
    }
    assert_eq!(wrong, "");
    assert!(count >= 80 || own_pages().next().is_none(), "{count} commands");
}

/// The pages but those whose examples are tables of tests, in which most are wrong: other tests read these.
fn own_pages() -> impl Iterator<Item = PathBuf> {
    let root = of_the_repository("docs").map(|_| pages::root());
    let tables = ["policy/lint.md", "policy/valid.md"];
    root.into_iter()
        .flat_map(move |root| pages::pages().filter(move |page| tables.iter().all(|table| *page != root.join(table))))
}

#[test]
fn the_page_of_tests_has_cases_that_pass() {
    let Some(path) = of_the_repository("docs/testing.md") else {
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```yaml\n").skip(1).filter_map(|block| block.split("```").next());
    let blocks: Vec<_> = blocks.filter(|block| block.contains("orbgate_test: 1")).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/shop.yaml");
        let file = file("page.test.yaml", block.replace("shop.yaml", shop));
        let ran = orbgate(&["test", &file]);
        assert_eq!((ran.code, &*ran.err), (0, ""), "{}", ran.out);
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
