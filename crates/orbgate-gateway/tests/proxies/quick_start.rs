//! The tutorial for nginx as a whole: the command's test issuer, the gateway, a backend and each proxy, started as the page says.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::program::{Program, find};
use crate::support::{folder, free_port};

/// The ports of the page and of the examples; here they are free ones.
const PORTS: [&str; 8] = ["3000", "8080", "9000", "9180", "9181", "9182", "9183", "9184"];

/// As in a shell that people type in: every job is a group of processes, and all of them end.
const START: &str = "set -m; trap 'for job in $(jobs -p); do kill -- -$job; done 2> /dev/null' EXIT\n";

/// Instead of the page's pauses, which are too short for a busy machine: until the issuer serves, and until the proxy asks the gateway.
const WAIT_FOR_ISSUER: &str = "until curl -s -o /dev/null 127.0.0.1:9000/jwks; do sleep 0.1; done";
const WAIT_FOR_PROXY: &str = "until [ \"$(curl -s -o /dev/null -w '%{http_code}' 127.0.0.1:8080/api/v1/external/orbs)\" = 401 ] && \
                              curl -s -o /dev/null 127.0.0.1:3000; do sleep 0.1; done";

#[test]
#[ignore = "runs real proxies: cargo xtask test gateway"]
fn the_quick_start_reaches_401_403_and_200() {
    let binaries = Path::new(env!("CARGO_BIN_EXE_orbgate-gateway")).parent().unwrap();
    assert!(binaries.join("orbgate").exists(), "the command is missing: cargo build -p orbgate-cli --all-features");
    let page = include_str!("../../../../docs/tutorial/nginx.md");
    let (_, page) = page.split_once("```sh\ngit clone").unwrap();
    let (page, _) = page.split_once("```").unwrap();
    let from = page.find("cp -r examples/gateway trial").unwrap();
    let page = page[from..].replacen("sleep 1", WAIT_FOR_ISSUER, 1).replacen("sleep 2", WAIT_FOR_PROXY, 1).replacen(
        "orbgate token issue",
        "orbgate token issue --port 9000",
        1,
    );
    for kind in Program::ALL {
        let Some(binary) = find(kind) else { continue };
        let home = folder(&format!("quick-start-{kind:?}"));
        let ports = PORTS.map(|port| (port, free_port().to_string()));
        let on_free_ports = |text: String| {
            // In two steps, because a free port may contain another port.
            let marked = |text: String, (from, to): &(&str, String)| text.replace(from, &marker(to));
            let text = ports.iter().fold(text, marked);
            let number = |text: String, (_, to): &(&str, String)| text.replace(&marker(to), to);
            ports.iter().fold(text, number)
        };
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway");
        let copied = home.join("examples/gateway");
        let (example, _) = kind.example();
        copy(&examples, &copied, &on_free_ports);
        copy(&examples.join(example), &copied.join(example), &on_free_ports);
        let start = started_by(&copied.join(example));
        let nginx = "(cd nginx && nginx -p \"$PWD\" -c nginx.conf -g 'daemon off;') &";
        assert!(page.contains(nginx));
        // Two of Envoy on one machine need it.
        let start = start.replace("envoy -c", "envoy --use-dynamic-base-id -c");
        let script = page.replace(nginx, &format!("(cd {example} && {start}) &"));
        let script = on_free_ports(format!("{START}{script}"));

        let path =
            format!("{}:{}:{}", binaries.display(), binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let ran = Command::new("timeout")
            .args(["120", "bash", "-c", &script])
            .current_dir(&home)
            .env("PATH", path)
            .env("HOME", &home)
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&ran.stdout);
        let statuses: Vec<_> = stdout
            .lines()
            // HAProxy passes on the version of the backend's answer.
            .filter_map(|line| line.strip_prefix("HTTP/1.")?.get(2..5))
            .collect();
        // Traefik resolves the dots before it asks.
        let dots = if kind == Program::Traefik { "401" } else { "400" };
        let log = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(statuses, ["401", "403", "200", dots], "{kind:?}: {stdout}\n{log}");
        assert!(stdout.contains("\norbs\n"), "{kind:?}: {stdout}");
    }
}

/// A free port without its digits.
fn marker(port: &str) -> String {
    let letter = |digit: char| char::from(b'a' + u8::try_from(digit.to_digit(10).unwrap()).unwrap());
    format!("@{}@", port.chars().map(letter).collect::<String>())
}

/// Copies the files of a folder, without those of folders in it.
fn copy(from: &Path, to: &Path, edit: &dyn Fn(String) -> String) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if file.file_type().unwrap().is_file() {
            let text = fs::read_to_string(file.path()).unwrap();
            fs::write(to.join(file.file_name()), edit(text)).unwrap();
        }
    }
}

/// The command in the first line of an example's main file.
fn started_by(example: &Path) -> String {
    let files = fs::read_dir(example).unwrap();
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let mut commands = texts.filter_map(|text| {
        let command = text.lines().next()?.strip_prefix("# Start it: ")?;
        Some(command.to_owned())
    });
    commands.next().unwrap()
}
