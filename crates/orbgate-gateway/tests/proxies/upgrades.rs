//! Upgrades: after a 101 the connection is a tunnel, and no gateway decides what is sent in it.

use core::time::Duration;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::Command;

use orbgate::Engine;

use super::backend::Backend;
use super::program::{Program, Proxy, find, get, package};
use super::{Bench, Caller, gateway};
use crate::support::frames::{END, END_HEADERS, Field, HEADERS, PREFACE, SETTINGS, block, frame};
use crate::support::wire::{Answer, answer, first};
use crate::support::{Issuer, Running, free_port};

const ORBS: &str = "/api/v1/external/orbs";

const CALLER: Caller<'_> = Caller { kind: "user", scopes: "read:orbs", seconds: 600 };

/// The lines with which Java's `HttpClient` offers HTTP/2, over every connection without TLS.
const JAVA: &str = "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: h2c\r\n";

const WEBSOCKET: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Lines that ask for another protocol than HTTP/1.1 and WebSocket.
const OTHERS: [&str; 11] = [
    JAVA,
    "Connection: Upgrade\r\nUpgrade: h2c\r\n",
    "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: H2C\r\n",
    "Connection: keep-alive, upgrade\r\nUpgrade: TLS/1.0\r\n",
    "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: websocket, h2c\r\n",
    "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: h2c, websocket\r\n",
    "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n",
    "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: h2c\r\nUpgrade: websocket\r\n",
    "Connection: Upgrade\r\nConnection: HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: h2c\r\n",
    "Connection: Upgrade\r\nUpgrade: websocket/13\r\n",
    "Connection: Upgrade\r\nUpgrade: anything\r\n",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    /// A server that takes every protocol that it is offered.
    Everything,
    /// hypercorn as it is installed, which takes h2c and WebSocket.
    Hypercorn,
}

/// A proxy with its example, or the example as it is for WebSockets.
struct Before {
    bench: Bench,
    _origin: Option<Running>,
}

impl Before {
    fn start(kind: Program, behind: Behind, edit: fn(&str, String) -> String) -> Option<Self> {
        let binary = find(kind)?;
        let (issuer, backend) = (Issuer::start(), Backend::start());
        let (address, origin) = match behind {
            Behind::Everything => (backend.address.clone(), None),
            Behind::Hypercorn => {
                let (address, origin) = hypercorn(&backend)?;
                (address, Some(origin))
            }
        };
        let listen = format!("127.0.0.1:{}", free_port());
        let mode = kind.mode();
        let gateway = gateway(&issuer.tokens_yaml(), &listen, mode, "");
        let mut proxy = Proxy::start_edited(kind, &binary, &listen, &address, edit);
        proxy.wait_for(&gateway, get);
        let bench =
            Bench { proxy, gateway, backend, issuer, engine: Engine::external().clone(), address: listen, mode };
        Some(Self { bench, _origin: origin })
    }

    /// Sends a request with these lines; and then, on the same connection, what its other side could take for another request.
    fn attempt(&self, line: &str, lines: &str, caller: Option<Caller<'_>>, then: &[u8]) -> Answer {
        let bench = &self.bench;
        let token = caller.map(|it| bench.issuer.expiring(it.kind, it.scopes, it.seconds));
        let bearer = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
        let bearer = bearer.unwrap_or_default();
        let head = format!("{line} HTTP/1.1\r\nHost: localhost\r\nX-Orb-Scope: client\r\n{bearer}{lines}\r\n");
        let called =
            bench.send(&format!("{line} {lines}"), caller, || talk(&bench.proxy.address, head.as_bytes(), then));
        for reached in &called.reached {
            for name in ["upgrade", "http2-settings"] {
                let value = first(&reached.headers, name);
                assert!(matches!(value, "" | "websocket"), "{line} {lines}: {reached:?}");
            }
        }
        called.answer
    }
}

/// Writes a head and reads that of its answer; then writes more, and reads all that comes.
fn talk(address: &str, head: &[u8], then: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = stream.write_all(head);
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(count @ 1..) => bytes.extend(&piece[..count]),
            _ => break,
        }
    }
    // What is undecided reaches the backend at once, or not at all.
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let _ = stream.write_all(then);
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        bytes.extend(&piece[..count]);
    }
    let _ = stream.shutdown(Shutdown::Both);
    answer(&bytes)
}

/// A request that no gateway has allowed, as it is in a tunnel of HTTP/2, and then as it is in one of HTTP/1.
fn undecided() -> [Vec<u8>; 2] {
    let fields: [Field<'_>; 6] = [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":authority", b"localhost"),
        (b":path", b"/api/v1/external/voxies"),
        (b"x-orb-decision", b"allow"),
        (b"x-orb-scope", b"client"),
    ];
    let http2 = [PREFACE.to_vec(), frame(SETTINGS, 0, 0, &[]), frame(HEADERS, END | END_HEADERS, 3, &block(&fields))];
    let http1 = b"POST /api/v1/external/voxies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nX-Orb-Decision: allow\r\nX-Orb-Scope: client\r\n\r\n";
    [http2.concat(), http1.to_vec()]
}

/// hypercorn with its defaults, which shows what reaches it to the backend that keeps it.
fn hypercorn(keeper: &Backend) -> Option<(String, Running)> {
    let home = package("").unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let port = keeper.address.rsplit(':').next().unwrap();
    let mut python = Command::new("python3");
    python
        .args(["-m", "hypercorn", "hypercorn_app:app", "--bind", &address])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxies"))
        .env("PYTHONPATH", home)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("KEEPER", port);
    let mut running = Running::start(&mut python);
    running.until("hypercorn listens", |_| TcpStream::connect(&address).is_ok());
    Some((address, running))
}

/// The example as it is for WebSockets: with the lines that its comments name.
pub(super) fn for_websockets(_: &str, text: String) -> String {
    let mut lines = text.lines().peekable();
    let mut changed = String::new();
    while let Some(line) = lines.next() {
        let comment = line.trim_start();
        let replaces = comment.ends_with("For WebSockets, instead of the next line:");
        if replaces || comment.ends_with("For WebSockets, also:") {
            while let Some(more) = lines.next_if(|more| more.trim_start().starts_with("#   ")) {
                changed += &more.replacen("#   ", "", 1);
                changed.push('\n');
            }
            if replaces {
                lines.next();
            }
        } else {
            changed += line;
            changed.push('\n');
        }
    }
    changed
}

/// By default there is no tunnel, whatever is behind the proxy.
fn nothing_is_tunnelled(kind: Program) {
    for behind in [Behind::Everything, Behind::Hypercorn] {
        let Some(before) = Before::start(kind, behind, |_, text| text) else {
            return;
        };
        for then in undecided() {
            for lines in OTHERS.iter().chain([&WEBSOCKET]) {
                for caller in [Some(CALLER), None] {
                    let answer = before.attempt(&format!("GET {ORBS}"), lines, caller, &then);
                    assert_ne!(answer.status, 101, "{kind:?} {behind:?} {lines}");
                }
            }
            let address = &before.bench.backend.address;
            for line in [format!("CONNECT {address}"), format!("CONNECT {ORBS}")] {
                let answer = before.attempt(&line, "", Some(CALLER), &then);
                assert!(answer.status >= 400, "{kind:?} {behind:?} {line}");
            }
        }
        let answer = before.attempt(&format!("GET {ORBS}"), JAVA, Some(CALLER), b"");
        let told = (answer.status, answer.body.as_str());
        assert_eq!(told, (200, "reached"), "{kind:?} {behind:?}");
    }
}

/// With the lines for WebSockets, the handshake is decided as the `GET` that it is, and no other protocol passes.
fn only_websockets_are_tunnelled(kind: Program) {
    let Some(before) = Before::start(kind, Behind::Everything, for_websockets) else {
        return;
    };
    for then in undecided() {
        for lines in OTHERS {
            for caller in [Some(CALLER), None] {
                let answer = before.attempt(&format!("GET {ORBS}"), lines, caller, &then);
                // Of two lines, one for a WebSocket passes, and no other does.
                let is_one_line = lines.matches("\r\nUpgrade: ").count() == 1;
                assert!(answer.status != 101 || !is_one_line, "{kind:?} {lines}");
            }
        }
    }
    drop(before);
    let Some(before) = Before::start(kind, Behind::Hypercorn, for_websockets) else {
        return;
    };
    // A frame of text, masked by zeros, and the same back without a mask.
    let (sent, echoed) = (b"\x81\x85\0\0\0\0hello", "\u{5}hello");
    let account = "/api/v1/external/account";
    let table = [(ORBS, Some(CALLER), 101), (ORBS, None, 401), (account, Some(CALLER), 403)];
    for (target, caller, status) in table {
        let answer = before.attempt(&format!("GET {target}"), WEBSOCKET, caller, sent);
        assert_eq!(answer.status, status, "{kind:?} {target}");
        let is_echoed = answer.body.ends_with(echoed);
        assert_eq!(is_echoed, status == 101, "{kind:?} {answer:?}");
    }
    // The gateway's headers stay, whatever the handshake names.
    let named = WEBSOCKET.replace("Connection: Upgrade", "Connection: Upgrade, X-Orb-Charge, X-Orb-Scope");
    let answer = before.attempt(&format!("GET {ORBS}"), &named, Some(CALLER), sent);
    assert_eq!(answer.status, 101, "{kind:?} {answer:?}");
    let answer = before.attempt(&format!("GET {ORBS}"), JAVA, Some(CALLER), b"");
    assert_eq!((answer.status, answer.body.as_str()), (200, "reached"));
}

fn everything(kind: Program) {
    nothing_is_tunnelled(kind);
    only_websockets_are_tunnelled(kind);
}

through_proxies! { everything;
    no_upgrade_passes_nginx_but_a_websocket_that_is_asked_for: Nginx,
    no_upgrade_passes_caddy_but_a_websocket_that_is_asked_for: Caddy,
    no_upgrade_passes_traefik_but_a_websocket_that_is_asked_for: Traefik,
    no_upgrade_passes_haproxy_but_a_websocket_that_is_asked_for: Haproxy,
    no_upgrade_passes_envoy_over_http_but_a_websocket_that_is_asked_for: EnvoyHttp,
    no_upgrade_passes_envoy_over_grpc_but_a_websocket_that_is_asked_for: EnvoyGrpc,
}
