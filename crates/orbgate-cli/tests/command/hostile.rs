//! What the command is given by others: names that a terminal would obey, and no standard output.
#![cfg(unix)]

use std::fs::{self, File};
use std::process::Stdio;

use crate::{BAD, SHOP, command, file, finish};

/// A file name that clears the screen and sets the title.
const NAME: &str = "clear\x1b[2J\x1b]0;title\x07.yaml";
const SHOWN: &str = "clear\\u{1b}[2J\\u{1b}]0;title\\u{7}.yaml";

#[test]
fn control_characters_of_a_file_name_are_shown() {
    let good = file(NAME, SHOP);
    let bad = file(&format!("bad-{NAME}"), BAD);
    let missing = format!("{good}-missing");
    let warned = SHOP.replace("GET /items/{id}", "GET /items/:id");
    let warned = file(&format!("warned-{NAME}"), warned);
    let ask = ["GET", "/v1/items", "--token", "user", "--scopes", "read:items"];
    let decide = |policy| [&["decide", "--policy", policy], &ask[..]].concat();
    for arguments in [
        vec!["check", &good],
        vec!["check", &bad],
        vec!["check", &missing],
        vec!["check", &warned],
        decide(&good),
        decide(&bad),
        decide(&missing),
        vec!["validate", "run-request", &good],
        vec!["validate", "run-request", &missing],
        vec!["replay", &missing],
    ] {
        let ran = coloured(&arguments);
        assert!(ran.contains(SHOWN), "{ran:?}");
    }
    // The usage repeats what it did not understand.
    for argument in [NAME, "--flag\x1b[2J\x07", "check --a\x1b]0;title\x07"] {
        let ran = coloured(&argument.split(' ').collect::<Vec<_>>());
        assert!(ran.contains("error: "), "{ran:?}");
    }
    for path in [good, bad, warned] {
        fs::remove_file(path).unwrap();
    }
}

/// What a person's terminal with colours would get: nothing that it obeys but colours.
fn coloured(arguments: &[&str]) -> String {
    let mut command = command(arguments);
    command.env("CLICOLOR_FORCE", "1");
    let ran = finish(command, b"");
    let both = format!("{}{}", ran.out, ran.err);
    for obeyed in ["\x1b[2J", "\x1b]", "\x07"] {
        assert!(!both.contains(obeyed), "{both:?}");
    }
    both
}

/// Who wants only the exit code closes standard output (`>&-`), or sends it to /dev/null, opened as programs do.
#[test]
fn without_a_standard_output_the_exit_code_is_the_answer() {
    for (ask, code) in [
        ("decide GET /api/v1/external/orbs --token user --scopes read:orbs", 0),
        ("decide GET /api/v1/external/orbs", 1),
        ("decide GET", 2),
        ("table --format csv", 0),
    ] {
        let shell = format!("exec \"$0\" {ask} >&-");
        let mut closed = std::process::Command::new("sh");
        closed.args(["-c", &shell, env!("CARGO_BIN_EXE_orbgate")]);
        closed.stdout(Stdio::piped()).stderr(Stdio::piped());
        assert_eq!(finish(closed, b"").code, code, "{ask}");
        for null in [File::create("/dev/null"), File::options().read(true).write(true).open("/dev/null")] {
            let mut command = command(&ask.split(' ').collect::<Vec<_>>());
            command.stdout(null.unwrap());
            assert_eq!(finish(command, b"").code, code, "{ask}");
        }
    }
}
