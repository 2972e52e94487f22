//! HTTP/2 before each proxy, in frames as no well-behaved client writes them. The invariant is that of HTTP/1.

use core::time::Duration;
use std::io::Write as _;
use std::net::TcpStream;

use super::program::Program;
use super::{Bench, Called, Caller};
use crate::support::frames::{END, END_HEADERS, Field, HEADERS, PREFACE, SETTINGS, block, frame, read};
use crate::support::wire::Answer;

const ORBS: &[u8] = b"/api/v1/external/orbs";

/// A call that `CALLER` may not make.
const SECRET: &[u8] = b"/api/v1/external/account";

const CALLER: Caller<'_> = Caller { kind: "user", scopes: "read:orbs read:files", seconds: 600 };

/// Asks once on a connection of its own.
fn ask(address: &str, fields: &[Field<'_>]) -> Answer {
    let bytes =
        [PREFACE.to_vec(), frame(SETTINGS, 0, 0, &[]), frame(HEADERS, END | END_HEADERS, 1, &block(fields))].concat();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = stream.write_all(&bytes);
    let seen = read(&mut stream).unwrap_or_default();
    Answer { status: seen.status, body: String::from_utf8_lossy(&seen.data).into_owned(), ..Answer::default() }
}

fn get(address: &str) {
    let fields: [Field<'_>; 4] =
        [(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"localhost"), (b":path", ORBS)];
    ask(address, &fields);
}

/// Calls with these fields; those that are usual and not among them come first.
fn call(bench: &Bench, fields: &[Field<'_>]) -> Called {
    let token = format!("Bearer {}", bench.issuer.token(CALLER.kind, CALLER.scopes));
    let usual: [Field<'_>; 5] = [
        (b":method", b"GET"),
        (b":scheme", b"http"),
        (b":authority", b"localhost"),
        (b":path", ORBS),
        (b"authorization", token.as_bytes()),
    ];
    let has = |name: &[u8]| fields.iter().any(|(other, _)| *other == name);
    let usual = usual.into_iter().filter(|(name, _)| !has(name));
    // Pseudo-headers come first, unless it is the case that they do not.
    let (pseudo, plain): (Vec<Field<'_>>, Vec<_>) = usual.partition(|(name, _)| name.starts_with(b":"));
    let own = fields.iter().copied().filter(|(_, value)| *value != ABSENT);
    let all: Vec<_> = pseudo.into_iter().chain(own).chain(plain).collect();
    let name = String::from_utf8_lossy(&fields.concat_names()).into_owned();
    bench.send(&name, Some(CALLER), || ask(&bench.proxy.address, &all))
}

/// The value of a usual field that is left out.
const ABSENT: &[u8] = b"absent";

trait ConcatNames {
    fn concat_names(&self) -> Vec<u8>;
}

impl ConcatNames for [Field<'_>] {
    fn concat_names(&self) -> Vec<u8> {
        let texts = self.iter();
        texts.flat_map(|(name, value)| [*name, b" ", *value, b"\n"].concat()).collect()
    }
}

fn everything(kind: Program) {
    // Two programs must be told that there is HTTP/2 without TLS.
    let change = match kind {
        Program::Nginx => ("listen 127.0.0.1:8080;", "listen 127.0.0.1:8080 http2;"),
        Program::Caddy => ("admin off", "admin off\n\tservers {\n\t\tprotocols h1 h2c\n\t}"),
        _ => ("", ""),
    };
    let Some(bench) = Bench::start_with(kind, change, get) else {
        return;
    };
    let called = call(&bench, &[]);
    assert_eq!((called.answer.status, called.reached.len()), (200, 1));
    let called = call(&bench, &[(b":path", SECRET)]);
    assert_eq!((called.answer.status, called.reached.len()), (403, 0));
    let called = call(&bench, &[(b"authorization", b"Bearer x")]);
    assert_eq!((called.answer.status, called.reached.len()), (401, 0));

    // Whatever is made of these, what arrives was allowed: the call holds it against the engine.
    let odd: &[&[u8]] = &[
        b"",
        b"*",
        b"api/v1/external/orbs",
        b"//localhost/api/v1/external/orbs",
        b"//api/v1/external/orbs",
        b"http://localhost/api/v1/external/orbs",
        b"http://localhost/api/v1/external/account",
        b"https://other/api/v1/external/orbs",
        b"/api/v1/external/orbs#x",
        b"/api/v1/external/orbs?x#y",
        b"/api/v1/external/account#/../orbs",
        b"/api/v1/external/orbs HTTP/1.1",
        b"/api/v1/external/orbs HTTP/1.1\r\nX-A: b",
        b"/api/v1/external/orbs\r\n\r\nGET /api/v1/external/account HTTP/1.1\r\nHost: a\r\n\r\n",
        b"/api/v1/external/orbs\n",
        b"/api/v1/external/orbs\t",
        b"/api/v1/external/orbs\0",
        b"/api/v1/external/orbs\x7f",
        b"/api/v1/external/orbs\xe9",
        b"/api/v1/external/orbs?\xe9",
        b"/api/v1/external/files/\xe9",
        b" /api/v1/external/orbs",
        b"/api/v1/external/orbs\\..\\account",
        b"/api/v1/external/orbs/../account",
        b"/api/v1/external/orbs/..;/account",
        b"/api/v1/external/%6frbs",
        b"/api/v1/external/account/%2e%2e/orbs",
        b"/api/v1/external/account/..%2forbs",
    ];
    for path in odd {
        call(&bench, &[(b":path", path)]);
    }
    let methods: &[&[u8]] = &[
        b"get",
        b"",
        b"PRI",
        b"GET ",
        b"GET /api/v1/external/account HTTP/1.1\r\nHost: a\r\n\r\nGET",
        b"GET /api/v1/external/account?",
        b"G\xcbT",
    ];
    for method in methods {
        call(&bench, &[(b":method", method)]);
    }
    let tables: &[&[Field<'_>]] = &[
        &[(b":path", ORBS), (b":path", SECRET)],
        &[(b":path", SECRET), (b":path", ORBS)],
        &[(b":method", b"GET"), (b":method", b"DELETE")],
        &[(b":method", b"DELETE"), (b":method", b"GET")],
        &[(b":authority", b"a"), (b":authority", b"b")],
        &[(b":scheme", b"http"), (b":scheme", b"https")],
        // After a plain field.
        &[(b"x-a", b"b"), (b":path", SECRET)],
        &[(b":unknown", b"x")],
        &[(b":status", b"200")],
        &[(b":protocol", b"websocket"), (b":method", b"CONNECT")],
        &[(b":method", b"CONNECT")],
        &[(b":method", b"CONNECT"), (b":path", ABSENT), (b":scheme", ABSENT)],
        &[(b":path", ABSENT)],
        &[(b":scheme", ABSENT)],
        &[(b":method", ABSENT)],
        &[(b":authority", ABSENT)],
        // Whose host?
        &[(b":authority", b"one.example"), (b"host", b"two.example")],
        &[(b":authority", ABSENT), (b"host", b"localhost")],
        &[(b"host", b"a"), (b"host", b"b")],
        &[(b":authority", b"localhost/api/v1/external/account?")],
        &[(b":authority", b"localhost/api/v1/external/account?"), (b":path", ORBS)],
        // HAProxy makes one target of both, asks about it, and sends it on.
        &[(b":path", SECRET), (b":authority", b"localhost/api/v1/external/orbs?")],
        &[(b":authority", b"user@localhost")],
        &[(b":authority", b"a\r\nX-Orb-Scope: client")],
        &[(b":scheme", b"http://localhost/api/v1/external/account?")],
        &[(b":scheme", b"https")],
        &[(b":scheme", b"file")],
        // What HTTP/2 forbids, and what ends a message in HTTP/1.
        &[(b"X-Upper", b"x")],
        &[(b"connection", b"x-orb-decision")],
        &[(b"connection", b"x-orb-charge, close")],
        &[(b"transfer-encoding", b"chunked")],
        &[(b"content-length", b"5")],
        &[(b"content-length", b"0"), (b"content-length", b"5")],
        &[(b"te", b"trailers, chunked")],
        &[(b"upgrade", b"h2c")],
        &[(b"x-a", b"b\r\nX-Orb-Scope: client")],
        &[(b"x-a", b"b\r\n\r\nGET /api/v1/external/account HTTP/1.1\r\nHost: a\r\n\r\n")],
        &[(b"x-a", b"b\nx-orb-scope: client")],
        &[(b"x-a\r\nx-orb-scope: client\r\nx-b", b"c")],
        &[(b"x-a: b\r\nx-orb-scope", b"client")],
        &[(b"", b"x")],
        &[(b"x orb scope", b"client")],
        // Lies, in every spelling that is one.
        &[(b"x-orb-decision", b"client"), (b"x-orb-scope", b"client")],
        &[(b"x_orb_scope", b"client"), (b"x-orb_token-kind", b"client")],
        &[(b"x.orb.scope", b"client")],
        &[(b"x!orb!token~subject", b"client")],
        &[(b"x-orb-token-subject", b"client")],
        &[(b"X-Orb-Scope", b"client")],
        &[(b"x-forwarded-uri", SECRET), (b"x-forwarded-method", b"PUT")],
        &[(b"x-original-uri", SECRET), (b"x-original-method", b"PUT")],
        &[(b"x-rewrite-url", SECRET)],
        &[(b"x-envoy-original-path", SECRET)],
        &[(b"x-http-method-override", b"DELETE")],
        &[(b"x.http.method.override", b"DELETE")],
    ];
    for fields in tables {
        call(&bench, fields);
    }
    // Nobody is let in by what is not asked about.
    let closed: &[&[Field<'_>]] = &[
        &[(b":path", SECRET), (b"x-forwarded-uri", ORBS)],
        &[(b":path", SECRET), (b"x-original-uri", ORBS)],
        &[(b":path", SECRET), (b"x_original_uri", ORBS)],
        &[(b":path", SECRET), (b"x-envoy-original-path", ORBS)],
        &[(b":path", SECRET), (b"x-rewrite-url", ORBS)],
        &[(b"authorization", b"Bearer x"), (b"authorization", b"Bearer y")],
        &[(b"authorization", ABSENT), (b"cookie", b"authorization=Bearer x")],
    ];
    for fields in closed {
        let called = call(&bench, fields);
        assert!(called.reached.is_empty(), "{:?}", called.reached);
        assert_ne!(called.answer.status, 200);
    }
    // And after all of it, it still serves.
    let called = call(&bench, &[]);
    assert_eq!((called.answer.status, called.reached.len()), (200, 1));
}

through_proxies! { everything;
    nginx_passes_on_over_http2_what_was_allowed_and_nothing_else: Nginx,
    caddy_passes_on_over_http2_what_was_allowed_and_nothing_else: Caddy,
    traefik_passes_on_over_http2_what_was_allowed_and_nothing_else: Traefik,
    haproxy_passes_on_over_http2_what_was_allowed_and_nothing_else: Haproxy,
    envoy_passes_on_over_http2_and_http_what_was_allowed_and_nothing_else: EnvoyHttp,
    envoy_passes_on_over_http2_and_grpc_what_was_allowed_and_nothing_else: EnvoyGrpc,
}
