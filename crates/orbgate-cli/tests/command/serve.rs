//! `orbgate serve` starts the gateway, wherever that is in `PATH`. What the gateway does is tested with it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::{command, finish};

#[test]
fn a_gateway_in_the_path_is_started_with_its_arguments_and_ends_as_it_does() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("orbgate-gateway");
    fs::write(&program, "#!/bin/sh\nprintf '[%s]' \"$@\"\necho $$ >&2\nexit 7\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for (arguments, passed) in [
        (&["serve", "--config", "a b.yaml"][..], "[--config][a b.yaml]"),
        (&["serve", "--config", "g.yaml", "--check"], "[--check][--config][g.yaml]"),
        (&["serve", "--config=--check"], "[--config][--check]"),
    ] {
        let mut serve = command(arguments);
        serve.env("PATH", &folder);
        let ran = finish(serve, b"");
        assert_eq!((ran.code, &*ran.out), (7, passed));
    }
    // The gateway has taken its location: who signals the command signals the gateway.
    let mut serve = command(&["serve", "--config", "g.yaml"]);
    let child = serve.env("PATH", &folder).spawn().unwrap();
    let id = child.id().to_string();
    let logged = child.wait_with_output().unwrap().stderr;
    assert_eq!(String::from_utf8(logged).unwrap().trim(), id);
}

#[test]
fn without_a_gateway_it_says_how_to_get_one() {
    let mut serve = command(&["serve", "--config", "g.yaml"]);
    serve.env("PATH", "/nowhere");
    let ran = finish(serve, b"");
    assert_eq!((ran.code, &*ran.out), (2, ""));
    let how = "cargo install --locked --path crates/orbgate-gateway\n";
    assert!(ran.err.ends_with(how), "{}", ran.err);
}
