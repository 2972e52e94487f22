//! The proxies: where each is found, how it is started, and which of its files is shipped.

use core::cell::Cell;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use orbgate_testing::skipped::missing;

use crate::support::wire::ask;
use crate::support::{Gateway, Running, folder, free_port};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Nginx,
    Caddy,
    Traefik,
    Haproxy,
    EnvoyHttp,
    EnvoyGrpc,
}

impl Program {
    pub(super) const ALL: [Self; 6] =
        [Self::Nginx, Self::Haproxy, Self::Caddy, Self::Traefik, Self::EnvoyHttp, Self::EnvoyGrpc];

    pub(super) const fn mode(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Caddy | Self::Traefik | Self::Haproxy => "forward_auth",
            Self::EnvoyHttp => "envoy_http",
            Self::EnvoyGrpc => "envoy_grpc",
        }
    }

    /// Where its example is, and what the page says to start it with.
    pub(super) const fn example(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Nginx => ("nginx", &["-p", ".", "-c", "nginx.conf", "-g", "daemon off;"]),
            Self::Caddy => ("caddy", &["run", "--config", "Caddyfile", "--adapter", "caddyfile"]),
            Self::Traefik => ("traefik", &["--configFile=traefik.yaml"]),
            Self::Haproxy => ("haproxy", &["-f", "haproxy.cfg"]),
            Self::EnvoyHttp => ("envoy-http", &["-c", "envoy.yaml", "--use-dynamic-base-id"]),
            Self::EnvoyGrpc => ("envoy-grpc", &["-c", "envoy.yaml", "--use-dynamic-base-id"]),
        }
    }
}

pub(super) struct Proxy {
    pub(super) address: String,
    running: Running,
}

impl Proxy {
    /// Starts it with its example, in which only the addresses are other ones.
    pub(super) fn start(kind: Program, binary: &Path, gateway: &str, backend: &str) -> Self {
        Self::start_with(kind, binary, gateway, backend, ("", ""))
    }

    /// Starts it with a line of its example changed, all of it that is the same.
    pub(super) fn start_with(
        kind: Program,
        binary: &Path,
        gateway: &str,
        backend: &str,
        (line, other): (&str, &str),
    ) -> Self {
        let is_there = Cell::new(false);
        let edit = |_: &str, text: String| {
            is_there.set(is_there.get() || text.contains(line));
            match line {
                "" => text,
                _ => text.replace(line, other),
            }
        };
        let proxy = Self::start_edited(kind, binary, gateway, backend, edit);
        assert!(is_there.get(), "{line}");
        proxy
    }

    /// Starts it with each file of its example as it is after this.
    pub(super) fn start_edited(
        kind: Program,
        binary: &Path,
        gateway: &str,
        backend: &str,
        edit: impl Fn(&str, String) -> String,
    ) -> Self {
        let (example, arguments) = kind.example();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway").join(example);
        let home = folder(&format!("home-{example}-{}", free_port()));
        let port = free_port();
        let port_of = |address: &str| address.rsplit(':').next().unwrap().to_owned();
        let ports = [
            ("8080", port.to_string()),
            ("9181", port_of(gateway)),
            ("9182", port_of(gateway)),
            ("9183", port_of(gateway)),
            ("9184", port_of(gateway)),
            ("3000", port_of(backend)),
        ];
        for file in fs::read_dir(source).unwrap() {
            let file = file.unwrap();
            let text = fs::read_to_string(file.path()).unwrap();
            let mut text = edit(file.file_name().to_str().unwrap(), text);
            for (from, to) in &ports {
                text = text.replace(&format!(":{from}"), &format!(":{to}"));
                text = text.replace(&format!("port_value: {from}"), &format!("port_value: {to}"));
            }
            fs::write(home.join(file.file_name()), text).unwrap();
        }
        let mut command = Command::new(binary);
        let mut running = Running::start(command.args(arguments).current_dir(&home).env("HOME", &home));
        let address = format!("127.0.0.1:{port}");
        running.until("the proxy listens", |_| TcpStream::connect(&address).is_ok());
        Self { address, running }
    }

    /// A proxy that has found its authorizer down may take a moment to ask again.
    pub(super) fn wait_for(&mut self, gateway: &Gateway, get: impl Fn(&str)) {
        let address = self.address.clone();
        self.running.until("the proxy asks the gateway", |_| {
            get(&address);
            gateway.counted(&["orbgate_decisions_total", "no_token"]) > 0
        });
    }

    /// Traefik listens before it has read its routes.
    pub(super) fn wait_for_routes(&mut self) {
        let request = b"GET /api/v1/external/orbs HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let address = self.address.clone();
        let routes = |_: &Running| ask(&address, request).status != 404;
        self.running.until("the proxy routes", routes);
    }
}

pub(super) fn get(address: &str) {
    let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    ask(address, request);
}

/// The program; none, and said why, if it cannot be had.
pub(super) fn find(kind: Program) -> Option<PathBuf> {
    let path = match kind {
        Program::Nginx => system("nginx"),
        Program::Haproxy => system("haproxy"),
        Program::Caddy => package("bin/caddy"),
        Program::Traefik => package("bin/traefik"),
        Program::EnvoyHttp | Program::EnvoyGrpc => package("envoy/_bin/envoy"),
    };
    or_skip(&format!("{kind:?}"), path.and_then(|path| not_too_old(kind, path)))
}

/// The program, unless it is older than the page says.
fn not_too_old(kind: Program, path: PathBuf) -> Result<PathBuf, String> {
    let (name, argument) = match kind {
        Program::Nginx => ("nginx", "-v"),
        Program::Haproxy => ("HAProxy", "-v"),
        Program::Caddy => ("Caddy", "version"),
        Program::Traefik => ("Traefik", "version"),
        Program::EnvoyHttp | Program::EnvoyGrpc => ("Envoy", "--version"),
    };
    let page = include_str!("../../../../docs/gateway/proxies.md");
    let mut rows = page.lines().filter_map(|row| row.strip_prefix(&format!("| {name} | ")));
    let oldest = version(rows.next().unwrap()).unwrap();
    let output = Command::new(&path).arg(argument).output().map_err(|error| format!("{}: {error}", path.display()))?;
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    match version(&text) {
        Some(version) if version >= oldest => Ok(path),
        version => Err(format!("{name} {version:?} is older than {oldest:?}")),
    }
}

/// The first two numbers in a text with a dot between them.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut words = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    words.find_map(|word| {
        let mut numbers = word.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    })
}

/// A program of the system that is no proxy.
pub(super) fn installed(name: &str) -> Option<PathBuf> {
    or_skip(name, system(name))
}

/// Says why something is skipped. In CI that is a failure.
fn or_skip(name: &str, path: Result<PathBuf, String>) -> Option<PathBuf> {
    match path {
        Ok(path) => Some(path),
        Err(why) => {
            missing(&format!("{name}: {why}"));
            None
        }
    }
}

fn system(name: &str) -> Result<PathBuf, String> {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
    let mut paths = folders.iter().map(|folder| Path::new(folder).join(name));
    paths.find(|path| path.exists()).ok_or_else(|| format!("`{name}` is missing: apt-get install {name}"))
}

/// A file of the Python packages, which pip fetches once for their versions.
pub(super) fn package(file: &str) -> Result<PathBuf, String> {
    static HOME: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let home = HOME.get_or_init(install).clone()?;
    Ok(home.join(file))
}

fn install() -> Result<PathBuf, String> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxies/requirements.txt");
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("proxies");
    let done = home.join("requirements.txt");
    // pip has finished when its list is there.
    if fs::read(&list).ok() == fs::read(&done).ok() {
        return Ok(home);
    }
    let _ = fs::remove_dir_all(&home);
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--target"]);
    let output = pip.arg(&home).arg("-r").arg(&list).output();
    let output = output.map_err(|error| format!("`python3`, whose pip brings proxies: {error}"))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("pip couldn't install Caddy, Envoy, Traefik and hypercorn:\n{error}"));
    }
    fs::copy(list, done).unwrap();
    Ok(home)
}
