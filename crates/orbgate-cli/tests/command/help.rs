//! Help, version, completions, and what happens to those who type nothing.

use std::collections::BTreeSet;

use crate::{orbgate, orbgate_reading};

#[test]
fn every_help_has_a_summary_examples_and_exit_codes() {
    let mut summaries = BTreeSet::new();
    let mut commands = vec![String::new()];
    while let Some(command) = commands.pop() {
        let words: Vec<_> = command.split_whitespace().collect();
        for flag in ["-h", "--help"] {
            let ran = orbgate(&[&words, &[flag][..]].concat());
            assert_eq!((ran.code, &*ran.err), (0, ""));
            if flag == "--help" {
                commands.extend(subcommands(&ran.out).map(|name| format!("{command} {name}")));
            }
            let summary = ran.out.split("\n\n").next().unwrap_or_default();
            assert!(flag == "--help" || summaries.insert(summary.to_owned()), "{summary}");
            for part in ["Examples:\n  orbgate ", "Exit codes:\n  0  ", "\n  2  "] {
                assert!(ran.out.contains(part), "{part:?} in:\n{}", ran.out);
            }
            let without = "completions diff explore fmt init lsp manual mcp openapi orbs review serve token validate";
            let takes_policy = words.first().is_none_or(|name| !without.split(' ').any(|without| without == *name));
            assert_eq!(ran.out.contains("--policy <FILE>"), takes_policy, "{}", ran.out);
            assert!(!ran.out.contains('\x1b'));
            let widest = ran.out.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(100), "{widest:?} columns in:\n{}", ran.out);
        }
    }
}

/// The file that `--policy` would name is an argument. The parser's own tip would be to write `-- --policy`.
#[test]
fn a_command_without_policy_shows_where_its_files_go() {
    for (arguments, usage) in [
        (&["openapi", "export"][..], "orbgate openapi export [OPTIONS] <POLICY>"),
        (&["openapi", "check", "openapi.yaml"], "orbgate openapi check [OPTIONS] <DOCUMENT> <POLICY>"),
        (&["openapi", "check", "openapi.yaml", "policy.yaml"], "orbgate openapi check [OPTIONS] <DOCUMENT> <POLICY>"),
        (&["mcp", "import", "tools.json"], "orbgate mcp import [OPTIONS] <FILE>..."),
        (&["token", "explain"], "orbgate token explain [OPTIONS] --config <FILE> [FILE]"),
        (&["fmt"], "orbgate fmt [OPTIONS] <FILE>..."),
        (&["diff", "policy.yaml"], "orbgate diff [OPTIONS] <OLD> [NEW]"),
        (&["explore"], "orbgate explore [OPTIONS] [FILE]"),
    ] {
        for policy in [&["--policy", "policy.yaml"][..], &["--policy=policy.yaml"]] {
            let ran = orbgate(&[arguments, policy].concat());
            assert_eq!((ran.code, &*ran.out), (2, ""));
            let expected = format!(
                "error: `--policy` is for commands that decide by a policy; this one reads only the files among its arguments\n\n\
                 Usage: {usage}\n\nFor more information, try '--help'.\n"
            );
            assert_eq!(ran.err, expected);
        }
    }
    let ran = orbgate(&["test", "--policy", "fmt"]);
    assert!(ran.err.contains("<FILE>..."), "{}", ran.err);
}

/// The names under "Commands:".
fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let listed = help.split_once("Commands:\n").map_or("", |(_, commands)| commands);
    // A description that is longer than a line goes on below, further to the right.
    let listed = listed.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help")
}

/// The first command of the README is built without it.
#[cfg(not(feature = "lsp"))]
#[test]
fn a_command_without_the_language_server_says_how_to_get_it() {
    for arguments in [&["lsp"][..], &["lsp", "--stdio"]] {
        let ran = orbgate(arguments);
        assert_eq!((ran.code, &*ran.out), (2, ""));
        assert!(ran.err.contains("--features lsp\n"), "{}", ran.err);
    }
}

#[test]
fn the_version_has_the_name() {
    let ran = orbgate(&["--version"]);
    let version = concat!("orbgate ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!((ran.code, &*ran.out, &*ran.err), (0, version, ""));
}

#[test]
fn no_command_or_an_unknown_one_is_2() {
    assert_eq!(orbgate(&[]).code, 2);
    let ran = orbgate(&["decid"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("decide"), "a near miss is named: {}", ran.err);
}

#[test]
fn what_was_likely_meant_is_said() {
    let (policy, scopes) = ("`--policy policy.yaml`", "`--scopes`");
    for (arguments, tip) in [
        (&["table", "policy.yaml"][..], policy),
        (&["reach", "policy.yaml", "--token", "user"], policy),
        (&["decide", "GET", "/", "policy.yaml"], policy),
        (&["explain", "GET", "/", "--token", "user", "--scope", "read"], scopes),
        (&["decide", "--scope", "read", "GET", "/"], scopes),
        (&["reach", "--token", "user", "--scope", "read"], "'--scopes'"),
        (&["diff", "--policy", "p.yaml", "a", "b"], "arguments"),
    ] {
        let ran = orbgate(arguments);
        assert_eq!((ran.code, &*ran.out), (2, ""), "{arguments:?}");
        assert!(ran.err.contains(tip), "{arguments:?}: {}", ran.err);
    }
    let ran = orbgate(&["decide", "GET", "/v0", "--token", "user"]);
    assert!(ran.out.contains("`orbgate explain`"), "{}", ran.out);
    let ran = orbgate(&["explain", "GET", "/v0", "--token", "user"]);
    assert!(!ran.out.contains("`orbgate explain`"), "{}", ran.out);
}

#[test]
fn a_blank_line_is_called_one_by_every_command() {
    let blank = crate::file("blank.jsonl", " \n");
    for arguments in [
        &["replay", &blank][..],
        &["unused", &blank],
        &["needs", "--log", &blank],
        &["who", "GET", "/api/v1/external/orbs", "--tokens", &blank],
    ] {
        let ran = orbgate(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}");
        let is_named = ran.out.contains("\"blank line\"") || ran.err.contains(":1: blank line\n");
        assert!(is_named, "{arguments:?}: {ran:?}");
    }
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = orbgate(&["completions", shell]);
        assert_eq!((ran.code, &*ran.err), (0, ""));
        for word in [
            "orbgate",
            "decide",
            "replay",
            "allow-bonus-orbs",
            "allow-wider",
            "threshold",
            "sarif",
            "default-scope",
            "unused",
            "policy",
            "lenient",
        ] {
            assert!(ran.out.contains(word), "{word} for {shell}");
        }
    }
    let ran = orbgate(&["completions", "tcsh"]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
}

#[cfg(unix)]
#[test]
fn the_completions_are_scripts_that_shells_accept() {
    use std::io::ErrorKind;
    use std::process::Command;
    for shell in ["bash", "zsh", "fish"] {
        let script = orbgate(&["completions", shell]).out;
        let path = crate::file(&format!("completions.{shell}"), script);
        match Command::new(shell).args(["-n", &path]).output() {
            Ok(output) => assert!(output.status.success(), "{shell}: {output:?}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound, "{shell} is not here"),
        }
    }
}

#[test]
fn colours_can_be_forced_and_refused() {
    let arguments = ["decide", "GET", "/nowhere", "--token", "user"];
    let coloured = |variables: &[(&str, &str)]| {
        let mut command = crate::command(&arguments);
        command.envs(variables.iter().copied());
        crate::finish(command, b"").out.contains('\x1b')
    };
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("NO_COLOR", "1")]));
    assert!(!coloured(&[]));
}

#[test]
fn a_policy_is_looked_at_by_every_command_that_decides_or_shows() {
    let bad = crate::file("help-bad.yaml", crate::BAD);
    for command in [&["decide", "GET", "/v1/items"][..], &["replay"], &["table"]] {
        let ran = orbgate_reading(&[command, &["--policy", &bad]].concat(), b"");
        assert_eq!((ran.code, &*ran.out), (2, ""), "{command:?}");
        assert!(ran.err.starts_with(&format!("{bad}:7:15: ")), "{command:?}: {}", ran.err);
    }
}

/// Each command reads the file of `--policy`, or says that it takes none.
#[test]
fn a_policy_that_is_not_there_is_an_error_of_every_command() {
    let fine = crate::file("help-fine.yaml", crate::SHOP);
    let help = orbgate(&["--help"]).out;
    let commands: Vec<_> = subcommands(&help).collect();
    assert!(commands.len() > 15, "{commands:?}");
    for command in &commands {
        let more: &[&[&str]] = match *command {
            "decide" | "explain" => &[&["GET", "/"]],
            "needs" => &[&["GET /"]],
            "replay" | "table" | "lsp" => &[&[]],
            "reach" => &[&["--token", "user"]],
            "who" => &[&["GET", "/", "--tokens", &fine]],
            "diff" | "review" => &[&[&fine, &fine]],
            "openapi" => &[&["import", &fine], &["export", &fine], &["check", &fine, &fine]],
            "mcp" => &[&["import", &fine], &["probe", "http://127.0.0.1:1/"]],
            "validate" => &[&["run-request", &fine]],
            "orbs" => &[&["verify", "--db", &fine]],
            "token" => &[&["explain", "--config", &fine]],
            "completions" => &[&["bash"]],
            "serve" => &[&["--config", &fine]],
            "test" => &[&[concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/shop.test.yaml")]],
            _ => &[&[&fine]],
        };
        for more in more {
            let missing = &["--policy", "/nowhere.yaml"][..];
            let before = [missing, &[*command], *more].concat();
            let after = [&[*command], *more, missing].concat();
            for arguments in [before, after] {
                let ran = orbgate(&arguments);
                let is_named = ran.err.contains("cannot read `")
                    || ran.err.contains("`--policy` is for ")
                    || ran.err.contains("unexpected argument '--policy'");
                assert!((ran.code, is_named) == (2, true), "{arguments:?}: {ran:?}");
            }
        }
    }
}

#[cfg(feature = "manual")]
#[test]
fn every_command_has_a_manual_page() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("manual");
    std::fs::create_dir_all(&folder).unwrap();
    let ran = orbgate(&["manual", &folder.display().to_string()]);
    assert_eq!((ran.code, &*ran.out, &*ran.err), (0, "", ""));
    let page = std::fs::read_to_string(folder.join("orbgate.1")).unwrap();
    assert!(page.contains("Exit codes:"), "{page}");
    for name in ["decide", "replay", "openapi", "completions"] {
        assert!(page.contains(name), "{name}");
    }
    for name in ["decide", "openapi", "openapi-import", "lsp"] {
        let file = folder.join(format!("orbgate-{name}.1"));
        assert!(file.exists(), "{}", file.display());
    }
    assert!(!folder.join("orbgate-manual.1").exists());
    let ran = orbgate(&["manual", "/nowhere"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("/nowhere: "), "{}", ran.err);
}
