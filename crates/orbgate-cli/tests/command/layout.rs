//! `orbgate fmt`.

use std::fs;

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use crate::command;
use crate::{BAD, SHOP, file, orbgate, orbgate_reading};

const RAGGED: &str = "orbgate:   1\n\n\n\napis:\n      a:   # the only one\n          scopes:    {}\n";
const LAID_OUT: &str = "orbgate: 1\n\napis:\n  a:   # the only one\n    scopes: {}\n";

#[test]
fn a_file_is_laid_out_in_its_location_and_once_is_enough() {
    let (ragged, shop) = (file("fmt-ragged.yaml", RAGGED), file("fmt-shop.yaml", SHOP));
    let ran = orbgate(&["fmt", "--check", &ragged, &shop]);
    assert_eq!((ran.code, ran.out, ran.err), (1, format!("{ragged}: would change\n"), String::new()));
    assert_eq!(fs::read_to_string(&ragged).unwrap(), RAGGED);
    let ran = orbgate(&["fmt", &ragged, &shop]);
    assert_eq!((ran.code, ran.out, ran.err), (0, format!("{ragged}: formatted\n"), String::new()));
    assert_eq!(fs::read_to_string(&ragged).unwrap(), LAID_OUT);
    assert_eq!(fs::read_to_string(&shop).unwrap(), SHOP);
    for flags in [&["--check"][..], &[]] {
        let ran = orbgate(&[&["fmt", &ragged, &shop], flags].concat());
        assert_eq!((ran.code, &*ran.out), (0, ""));
    }
    let ran = orbgate(&["fmt", "--check", "--json", &ragged]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json, json!({"files": [{"file": ragged, "changed": false}]}));
}

#[test]
fn a_policy_whose_paths_end_in_a_slash_decides_the_same_afterwards() {
    let ragged = "orbgate:   1\ntrailing_slash:    always\napis:\n    a:\n        base_path: /v1\n        scopes:\n            s: { orbs: false, routes: [GET /a] }\n";
    let policy = file("fmt-always.yaml", ragged);
    let statuses = || {
        ["/v1/a/", "/v1/a", "/v1/a//"].map(|target| {
            let ran =
                orbgate(&["decide", "GET", target, "--policy", &policy, "--token", "user", "--scopes", "s", "--json"]);
            let json: Value = serde_json::from_str(&ran.out).unwrap();
            (json["reason"].clone(), json["policy"].clone())
        })
    };
    let before = statuses();
    let reasons = before.iter().map(|(reason, _)| reason.clone());
    let expected = ["scope_held", "no_route", "malformed_request"];
    assert_eq!(Value::from_iter(reasons), json!(expected));
    assert_eq!(orbgate(&["fmt", "--seal", &policy]).code, 0);
    let text = fs::read_to_string(&policy).unwrap();
    assert!(text.contains("\ntrailing_slash: always\n"), "{text}");
    assert_eq!(statuses(), before);
}

#[test]
fn a_seal_is_written_kept_and_taken_off() {
    let sealed = file("fmt-sealed.yaml", RAGGED);
    let seal = |flags: &[&str]| orbgate(&[&["fmt", &sealed], flags].concat());
    let read = || fs::read_to_string(&sealed).unwrap();
    assert_eq!(seal(&["--seal", "--check"]).code, 1);
    assert_eq!(seal(&["--seal"]).out, format!("{sealed}: formatted\n"));
    let text = read();
    let (before, digest) = text.split_once("... # sha256:").unwrap();
    assert_eq!((before, digest.len()), (LAID_OUT, 65));
    for flags in [&["--seal"][..], &[], &["--check"]] {
        let ran = seal(flags);
        assert_eq!((ran.code, &*ran.out, &*ran.err), (0, "", ""));
        assert_eq!(read(), text);
    }
    assert_eq!(orbgate(&["check", &sealed]).code, 0);

    let changed = text.replace("the only one", "the last one");
    fs::write(&sealed, &changed).unwrap();
    let refused = orbgate(&["check", &sealed]);
    let message = format!("{sealed}:6:5: the seal ");
    assert!(refused.code == 1 && refused.out.contains(&message), "{}", refused.out);
    let ran = seal(&["--check", "--json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json, json!({"files": [{"file": sealed, "changed": true, "unsealed": true}]}));
    let ran = seal(&[]);
    assert_eq!((ran.code, ran.err.lines().count()), (0, 1));
    assert!(ran.err.starts_with(&format!("{sealed}: ")) && ran.err.contains("`--seal`"));
    assert_eq!(read(), LAID_OUT.replace("the only one", "the last one") + "...\n");
    fs::write(&sealed, &changed).unwrap();
    // A text that somebody has changed is not sealed again without a word.
    for (flags, code, verb) in [(&["--seal", "--check"][..], 1, "would be"), (&["--seal"], 0, "is")] {
        let ran = seal(flags);
        let start = format!("{sealed}: ");
        let replaced = format!(" and {verb} replaced");
        assert!(ran.code == code && ran.err.starts_with(&start) && ran.err.contains(&replaced), "{}", ran.err);
    }
    assert_eq!(orbgate(&["check", &sealed]).code, 0);
    assert_eq!(seal(&["--seal"]).err, "");
}

#[test]
fn standard_input_goes_to_standard_output() {
    let ran = orbgate_reading(&["fmt", "-"], RAGGED.as_bytes());
    assert_eq!((ran.code, &*ran.out, &*ran.err), (0, LAID_OUT, ""));
    let ran = orbgate_reading(&["fmt", "-", "--check"], RAGGED.as_bytes());
    assert_eq!((ran.code, &*ran.out), (1, "-: would change\n"));
}

#[test]
fn a_bad_file_is_2_and_stays_as_it_is() {
    let (bad, ragged) = (file("fmt-bad.yaml", BAD), file("fmt-beside-bad.yaml", RAGGED));
    let ran = orbgate(&["fmt", &bad, "/nowhere.yaml", &ragged]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.starts_with(&format!("{bad}:7:15: ")), "{}", ran.err);
    assert!(ran.err.contains("error: cannot read `/nowhere.yaml`: "), "{}", ran.err);
    assert_eq!(fs::read_to_string(&bad).unwrap(), BAD);
    assert_eq!(fs::read_to_string(&ragged).unwrap(), LAID_OUT);
    assert_eq!(orbgate(&["fmt"]).code, 2);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_mode_stays() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let target = file("fmt-target.yaml", RAGGED);
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let link = format!("{target}.link");
    let _ = fs::remove_file(&link);
    symlink(&target, &link).unwrap();
    assert_eq!(orbgate(&["fmt", &link]).code, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), LAID_OUT);
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
}

/// A link under the name that a process of this number might use leads nowhere.
#[cfg(unix)]
#[test]
fn a_planted_link_is_not_followed_and_nothing_is_left_behind() {
    use std::os::unix::fs::PermissionsExt;
    let folder = format!("{}/fmt-planted", env!("CARGO_TARGET_TMPDIR"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let policy = file("fmt-planted/policy.yaml", RAGGED);
    let victim = file("fmt-victim.yaml", "of somebody else");
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o600)).unwrap();
    // `exec` keeps the number.
    let script = r#"ln -s "$2" "$1.$$.tmp" && exec "$0" fmt "$1""#;
    let status = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_orbgate"), &policy, &victim])
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "of somebody else");
    assert_eq!(fs::read_to_string(&policy).unwrap(), LAID_OUT);
    assert!(!fs::symlink_metadata(&policy).unwrap().is_symlink());
    // The policy and the link.
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

#[test]
fn the_new_text_of_standard_input_is_not_dropped_for_json() {
    let ran = orbgate_reading(&["fmt", "-", "--json"], RAGGED.as_bytes());
    assert_eq!((ran.code, &*ran.out), (2, ""));
    let expected = "error: `--json` ";
    assert!(ran.err.starts_with(expected), "{}", ran.err);
    let ran = orbgate_reading(&["fmt", "-", "--json", "--check"], RAGGED.as_bytes());
    assert_eq!(ran.code, 1, "{}", ran.err);
    let help = orbgate(&["fmt", "--help"]).out;
    assert!(help.contains("CRLF"), "{help}");
}

#[test]
fn a_gateways_files_are_sealed_as_they_are() {
    for (name, text) in [
        ("fmt-gateway.yaml", "# Ours.\norbgate_gateway:   1\n"),
        ("fmt-tokens.yaml", "orbgate_token:   1\nissuers: []\n"),
        ("fmt-flow.yaml", "{ issuers: [],\n  \"orbgate_token\":   1 }\n"),
    ] {
        let file = &*file(name, text);
        let seal = |more: &[&str]| orbgate(&[&["fmt", "--seal", file], more].concat());
        assert_eq!(seal(&["--check"]).code, 1);
        assert_eq!(seal(&[]).code, 0);
        assert_eq!(fs::read_to_string(file).unwrap(), orbgate_yaml::seal(text));
        let again = seal(&["--check"]);
        assert_eq!((again.code, again.err.as_str()), (0, ""));
        // A text that was changed since gets a new one, and that is said.
        let changed = fs::read_to_string(file).unwrap().replace(":   1", ": 1");
        fs::write(file, changed).unwrap();
        assert!(seal(&[]).err.contains(" is replaced"));
        // Without the seal it's no policy.
        assert_eq!(orbgate(&["fmt", file]).code, 2);
    }
}

/// Killed while it writes, or soon before or after, `fmt` leaves the old or the new file, and nothing that is half written.
/// Only a kill between the naming of the new file and its renaming leaves another file, with the whole new text.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_fmt_leaves_no_file_behind() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("policy.yaml");
    let policy = |spaces: &str| {
        let routes: String = (0..3_000).map(|number| format!("          -{spaces}GET /a{number}\n")).collect();
        format!(
            "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        orbs: false\n        routes:\n{routes}...\n"
        )
    };
    let (old, new) = (policy("   "), policy(" "));
    let (mut kills, mut named) = (0, 0);
    for _ in 0..12 {
        fs::write(&path, &old).unwrap();
        let mut child = command(&["fmt", path.to_str().unwrap()]).spawn().unwrap();
        let files = format!("/proc/{}/fd", child.id());
        let is_another = |file: fs::DirEntry| {
            fs::read_link(file.path()).is_ok_and(|file| file.starts_with(folder.path()) && file != path)
        };
        while child.try_wait().unwrap().is_none() {
            if fs::read_dir(&files).is_ok_and(|mut files| files.any(|file| file.is_ok_and(is_another))) {
                child.kill().unwrap();
                kills += 1;
                break;
            }
        }
        child.wait().unwrap();
        for left in fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).filter(|file| *file != path) {
            assert_eq!(fs::read_to_string(&left).unwrap(), new, "{}", left.display());
            fs::remove_file(left).unwrap();
            named += 1;
        }
        assert!([&old, &new].contains(&&fs::read_to_string(&path).unwrap()));
    }
    assert!(kills > named, "{kills} kills, {named} of them after the writing");
}
