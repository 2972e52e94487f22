//! The section "Try it with a client" of docs/mcp.md, typed as it is: unmodified clients of two SDKs, a server and the test issuer.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::{NODE_PACKAGES, is_set_up, root};

/// As in a shell that people type in: every job is a group of processes, and all of them end.
const START: &str = "set -m; trap 'for job in $(jobs -p); do kill -- -$job; done 2> /dev/null' EXIT\n";

const PYTHON: &str = "sh bindings/python/gate/setup.sh && \
                      target/xtask/gate-python/bin/pip install --quiet --disable-pip-version-check 'mcp>=2.3'";

/// For the Node package.
const LIBRARY: &str = "cargo build --quiet -p orbgate-capi";

/// The first block whose fence begins like this, below a heading.
fn block<'p>(page: &'p str, heading: &str, fence: &str) -> &'p str {
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, block) = below.split_once(&format!("```{fence}\n")).unwrap();
    block.split("```").next().unwrap()
}

/// What the commands print with this server and this client.
fn typed(server: &str, client: &str) -> (String, String) {
    let page = fs::read_to_string(root().join("docs/mcp.md")).unwrap();
    let section = "Try it with a client";
    let held = ["9000", "8000"].map(|port| (port, TcpListener::bind("127.0.0.1:0").unwrap()));
    // In letters first, because a free port may contain another one.
    let ports = held.each_ref().map(|(port, held)| (*port, held.local_addr().unwrap().port().to_string()));
    drop(held);
    let on_free_ports = |text: &str| {
        let text = text.replace("9000", "@issuer@").replace("8000", "@server@");
        text.replace("@issuer@", &ports[0].1).replace("@server@", &ports[1].1)
    };
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("shop.yaml", block(&page, "The policy", "yaml")),
        ("guide.py", block(&page, "In Python", "python")),
        ("guide.mjs", block(&page, "In Node", "js")),
        ("server.py", block(&page, section, "python server.py")),
        ("server.mjs", block(&page, section, "js server.mjs")),
        ("client.py", block(&page, section, "python client.py")),
        ("client.mjs", block(&page, section, "js client.mjs")),
    ] {
        fs::write(folder.path().join(name), on_free_ports(text)).unwrap();
    }
    let node = root().join("bindings/node").canonicalize().unwrap();
    let packages = folder.path().join("node_modules");
    fs::create_dir(&packages).unwrap();
    for package in ["@modelcontextprotocol", "express"] {
        symlink(node.join("node_modules").join(package), packages.join(package)).unwrap();
    }
    symlink(&node, packages.join("orbgate")).unwrap();
    let commands = block(&page, section, "sh");
    assert!(commands.contains("orbgate token issue ") && commands.contains("python client.py\n"), "{commands}");
    let commands = commands.replace("orbgate token issue ", "orbgate token issue --port 9000 ");
    let commands = commands.replace("python client.py\n", &format!("{client}\n"));
    let commands = on_free_ports(&commands.replace("python server.py", server));
    let command = Path::new(env!("CARGO_BIN_EXE_orbgate")).parent().unwrap();
    let python = root().canonicalize().unwrap().join("target/xtask/gate-python/bin");
    let path = format!("{}:{}:{}", python.display(), command.display(), std::env::var("PATH").unwrap());
    let ran = Command::new("timeout")
        .args(["120", "bash", "-c", &format!("{START}{commands}")])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("PYTHONUNBUFFERED", "1")
        .env("ORBGATE_LIBRARY", root().canonicalize().unwrap().join("target/debug/liborbgate.so"))
        .output()
        .unwrap();
    let expected = block(&page, section, "text").to_owned();
    assert!(ran.status.success(), "{client}: {}", String::from_utf8_lossy(&ran.stderr));
    (String::from_utf8(ran.stdout).unwrap(), expected)
}

#[test]
#[ignore = "the step `gates` runs it"]
fn unmodified_clients_step_up_by_the_page_alone() {
    if is_set_up(PYTHON) && is_set_up(NODE_PACKAGES) && is_set_up(LIBRARY) {
        for (server, client) in [
            ("python server.py", "python client.py"),
            ("python server.py", "node client.mjs"),
            ("node server.mjs", "node client.mjs"),
        ] {
            let (printed, expected) = typed(server, client);
            assert_eq!(printed, expected, "{server}, {client}");
        }
    }
}
