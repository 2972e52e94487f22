//! What clients send that want to stop a gateway, or to be answered about something else than they ask.

use core::time::Duration;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use envoy_types::ext_authz::v3::pb::{CheckRequest, CheckResponse, HttpResponse};
use envoy_types::pb::envoy::service::auth::v3::AttributeContext;
use envoy_types::pb::envoy::service::auth::v3::attribute_context::{HttpRequest, Request};
use prost::Message as _;

use crate::operation::Ca;
use crate::support::frames::{
    ACK, CONTINUATION, DATA, END, END_HEADERS, Field, HEADERS, PING, PREFACE, RESET, SETTINGS, Seen, WINDOW_UPDATE,
    block, frame, read,
};
use crate::support::wire::{ask, request};
use crate::support::{Gateway, Issuer, folder, free_port};

mod unfinished;

const ORBS: &str = "/api/v1/external/orbs";

/// How long a connection that asks nothing may be there: `idle_seconds` and `drain_seconds`, and what a busy machine adds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A gateway with an address for each protocol.
struct Attacked {
    gateway: Gateway,
    issuer: Issuer,
    nginx: String,
    grpc: String,
    authzen: String,
    tls: String,
}

impl Attacked {
    fn start(name: &str, limits: &str) -> Self {
        let (issuer, folder) = (Issuer::start(), folder(&format!("attacked-{name}")));
        Ca::new().sign().write(&folder);
        let [nginx, grpc, authzen, tls] = [(); 4].map(|()| format!("127.0.0.1:{}", free_port()));
        let trusted = "trusted_proxies: [127.0.0.1]";
        let config = format!(
            "listeners:\n  - {{ mode: nginx, listen: {nginx}, {trusted} }}\n  \
             - {{ mode: envoy_grpc, listen: {grpc}, {trusted} }}\n  \
             - {{ mode: authzen, listen: {authzen} }}\n  \
             - {{ mode: nginx, listen: {tls}, {trusted}, tls: {{ certificate: server.pem, key: server.key }} }}\n\
             limits: {{ {limits} }}\n"
        );
        let gateway = Gateway::start(folder, &issuer, &config);
        Self { gateway, issuer, nginx, grpc, authzen, tls }
    }

    /// A question as a message, with more headers.
    fn message(&self, more: &[(&str, &str)]) -> Vec<u8> {
        let bearer = self.issuer.bearer();
        let own = [("authorization", bearer.as_str())];
        let headers = own.iter().chain(more);
        let http = HttpRequest {
            method: "GET".to_owned(),
            path: ORBS.to_owned(),
            headers: headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..HttpRequest::default()
        };
        let request = Request { http: Some(http), ..Request::default() };
        let attributes = AttributeContext { request: Some(request), ..AttributeContext::default() };
        let message = CheckRequest { attributes: Some(attributes) };
        framed(0, &message.encode_to_vec())
    }

    /// It serves as before, over both versions of HTTP.
    fn serves(&self) {
        assert_eq!(ask(&self.nginx, &self.issuer.question(&[])).status, 200);
        let seen = check(&self.grpc, &[], &self.message(&[]));
        assert_eq!(code(&seen), Some(0), "{seen:?}");
    }

    /// While a listener has a flood, the others serve as before, and this one answers, too: as before, or that it has too many
    /// questions (the README, "more questions than the limit"), because each stream that is open may be one.
    fn answers_beside(&self, flood: &str) {
        let answer = ask(&self.nginx, &self.issuer.question(&[]));
        assert_eq!(answer.status, 200, "{flood}");
        let seen = check(&self.grpc, &[], &self.message(&[]));
        assert!(matches!(code(&seen), Some(0 | 14)), "{flood}: {seen:?}");
    }

    /// Once the flood's connections are gone, it serves as before: as soon as it has noticed that.
    fn serves_after(&self, flood: &str) {
        let start = Instant::now();
        while code(&check(&self.grpc, &[], &self.message(&[]))) != Some(0) {
            assert!(start.elapsed() < PATIENCE, "{flood}");
            thread::sleep(Duration::from_millis(10));
        }
        self.serves();
    }

    /// A number of its process, as the system has it: kB of memory, or threads.
    fn of_process(&self, what: &str) -> u64 {
        let file = format!("/proc/{}/status", self.gateway.running.child.id());
        let text = std::fs::read_to_string(file).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(what));
        let words = line.unwrap().trim_start_matches(':').split_whitespace();
        words.clone().next().unwrap().parse().unwrap()
    }
}

/// A message of gRPC: whether it is compressed, how long it is, and itself.
fn framed(flag: u8, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[flag], &length[..], message].concat()
}

const CHECK: [Field<'_>; 5] = [
    (b":method", b"POST"),
    (b":scheme", b"http"),
    (b":authority", b"localhost"),
    (b":path", b"/envoy.service.auth.v3.Authorization/Check"),
    (b"content-type", b"application/grpc"),
];

/// A connection of HTTP/2 on which nothing was asked yet.
fn connect(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let start = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    stream.write_all(&start).unwrap();
    stream
}

/// A question of gRPC, whose fields are replaced by those of the same name.
fn check(address: &str, fields: &[Field<'_>], body: &[u8]) -> Seen {
    let mut stream = connect(address);
    let usual = CHECK.iter();
    let usual = usual.filter(|(name, _)| !fields.iter().any(|(other, _)| other == name));
    let mut all: Vec<_> = usual.chain(fields).copied().collect();
    // Pseudo-headers come first.
    all.sort_by_key(|(name, _)| !name.starts_with(b":"));
    let head = block(&all);
    let mut bytes = frame(HEADERS, 0, 1, &[]);
    let pieces = head.chunks(16_384).count();
    for (at, piece) in head.chunks(16_384).enumerate() {
        let flags = if at + 1 == pieces { END_HEADERS } else { 0 };
        bytes.extend(frame(CONTINUATION, flags, 1, piece));
    }
    let pieces = body.chunks(16_384).count();
    for (at, piece) in body.chunks(16_384).enumerate() {
        bytes.extend(frame(DATA, u8::from(at + 1 == pieces) * END, 1, piece));
    }
    if body.is_empty() {
        bytes.extend(frame(DATA, END, 1, &[]));
    }
    let _ = stream.write_all(&bytes);
    read(&mut stream).unwrap_or_default()
}

/// The code of the answer in a message, none without one.
fn code(seen: &Seen) -> Option<i32> {
    let message = CheckResponse::decode(seen.data.get(5..)?).unwrap();
    Some(message.status.unwrap().code)
}

/// The status with which a message denies.
fn denied(seen: &Seen) -> Option<i32> {
    let message = CheckResponse::decode(seen.data.get(5..)?).unwrap();
    match message.http_response {
        Some(HttpResponse::DeniedResponse(denied)) => Some(denied.status?.code),
        _ => None,
    }
}

#[test]
fn a_head_has_as_many_bytes_as_it_may_and_not_one_more() {
    const LIMIT: usize = 9_000;
    let attacked = Attacked::start("head", &format!("header_bytes: {LIMIT}"));
    let empty = attacked.issuer.question(&[("X-Long", "")]).len();
    let questions = [0, 1].map(|more| {
        let long = "a".repeat(LIMIT - empty + more);
        attacked.issuer.question(&[("X-Long", &long)])
    });
    assert_eq!(questions[0].len(), LIMIT);
    for question in &questions {
        let expected = if question.len() > LIMIT { 431 } else { 200 };
        let answer = ask(&attacked.nginx, question);
        assert_eq!(answer.status, expected, "{answer:?}");
        // In pieces, which the gateway reads by themselves.
        let mut stream = TcpStream::connect(&attacked.nginx).unwrap();
        for piece in question.chunks(1_000) {
            let _ = stream.write_all(piece);
            thread::sleep(Duration::from_millis(5));
        }
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let status = format!("HTTP/1.1 {expected} ");
        assert!(text.starts_with(status.as_bytes()));
    }
    let errors = ["orbgate_gateway_errors_total", "headers_too_large"];
    let counted = |position: &str| attacked.gateway.counted(&[&errors[..], &[position]].concat());
    assert_eq!(counted(&attacked.nginx), 2);
    // The operators' address has a limit of its own.
    for (bytes, status) in [(8_192, 200), (8_193, 431)] {
        let head = |long: usize| request(b"GET", b"/healthz", &[("X-Long", &*"a".repeat(long))]);
        let head = head(bytes - head(0).len());
        assert_eq!(head.len(), bytes);
        assert_eq!(ask(&attacked.gateway.admin, &head).status, status, "{bytes}");
    }

    // There are 100, and five of them are the question's own.
    for (more, expected) in [(95, 200), (96, 431)] {
        let question = attacked.issuer.question(&vec![("X-A", ""); more]);
        assert_eq!(ask(&attacked.nginx, &question).status, expected, "{more}");
    }
    assert_eq!(counted(&attacked.nginx), 3);

    // HTTP/2 counts 32 bytes more for each field (RFC 9113, 6.5.2).
    let size = |(name, value): &Field<'_>| name.len() + value.len() + 32;
    let own = CHECK.iter().map(size).sum::<usize>() + size(&(b"x-long", b""));
    let message = attacked.message(&[]);
    for more in [0, 1] {
        let long = "a".repeat(LIMIT - own + more);
        let seen = check(&attacked.grpc, &[(b"x-long", long.as_bytes())], &message);
        match more {
            0 => assert_eq!((seen.status, code(&seen)), (200, Some(0)), "{seen:?}"),
            _ => assert_eq!((seen.status, code(&seen)), (431, None), "{seen:?}"),
        }
    }
    // And so are the headers in a message counted.
    let bearer = attacked.issuer.bearer();
    let own = size(&(b"authorization", bearer.as_bytes())) + size(&(b"x-long", b""));
    for more in [0, 1] {
        let long = "a".repeat(LIMIT - own + more);
        let seen = check(&attacked.grpc, &[], &attacked.message(&[("x-long", &long)]));
        let expected = [(Some(0), None), (Some(7), Some(431))][more];
        assert_eq!((code(&seen), denied(&seen)), expected, "{seen:?}");
    }
    assert_eq!(counted(&attacked.grpc), 1);
}

/// Sends these bytes, then one of the others at a time, and waits until the connection is closed. It must be.
fn trickles(address: &str, name: &str, first: &[u8], then: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let _ = stream.write_all(first);
    let begun = Instant::now();
    let mut bytes = then.iter().cycle();
    loop {
        assert!(begun.elapsed() < PATIENCE, "{name}: it is still there");
        let mut piece = [0; 4_096];
        match stream.read(&mut piece) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
        let Some(byte) = bytes.next() else { continue };
        if stream.write_all(&[*byte]).is_err() {
            return;
        }
    }
}

/// Asks again and again and reads nothing, until it cannot write for a while; then the connection must be closed.
fn never_reads(address: &str, first: &[u8], question: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    stream.write_all(first).unwrap();
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < PATIENCE, "it still has a connection");
        match stream.write(question) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

/// Answers pings and asks nothing, and waits until the connection is closed. It must be.
fn only_pongs(address: &str) {
    let mut stream = connect(address);
    let begun = Instant::now();
    let mut head = [0; 9];
    while stream.read_exact(&mut head).is_ok() {
        assert!(begun.elapsed() < PATIENCE, "it is still there");
        let length = usize::from(head[2]);
        let mut payload = vec![0; length];
        stream.read_exact(&mut payload).unwrap();
        if head[3] == PING && head[4] & ACK == 0 {
            let _ = stream.write_all(&frame(PING, ACK, 0, &payload));
        }
        if head[3] == SETTINGS && head[4] & ACK == 0 {
            let _ = stream.write_all(&frame(SETTINGS, ACK, 0, &[]));
        }
        // And pings by itself.
        let _ = stream.write_all(&frame(PING, 0, 0, b"12345678"));
    }
    assert!(begun.elapsed() < PATIENCE, "it is still there");
}

#[test]
fn a_connection_that_asks_nothing_has_an_end() {
    let limits = "connections: 16, requests: 4, idle_seconds: 1, drain_seconds: 1";
    let attacked = Attacked::start("slow", limits);
    let head =
        |more: &str| format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n{more}").into_bytes();
    let half = head("");
    let body = head("Content-Length: 1000000\r\n\r\n");
    let chunks = head("Transfer-Encoding: chunked\r\n\r\n");
    let start = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    let headers = frame(HEADERS, END_HEADERS, 1, &block(&CHECK));
    let open = [start.clone(), headers.clone()].concat();
    // Of which every byte is one of a head that goes on.
    let unfinished = frame(HEADERS, 0, 1, &block(&CHECK));
    let unfinished = [start.clone(), unfinished].concat();
    let pings = frame(PING, 0, 0, b"12345678");
    // A message whose answer has no room on the way.
    let no_window = [PREFACE, &frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0])].concat();
    let message = attacked.message(&[]);
    let no_window = [no_window, headers, frame(DATA, END, 1, &message)].concat();
    let question = attacked.issuer.question(&[]);
    // Without `Connection: close` there are more of them on a connection.
    let question = String::from_utf8(question).unwrap();
    let question = question.replace("Connection: close\r\n", "").repeat(50);
    let Attacked { nginx, grpc, authzen, tls, .. } = &attacked;
    let hello = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3];
    let slow: [(&str, &str, &[u8], &[u8]); 14] = [
        ("nothing", nginx, b"", b""),
        ("a head", nginx, &half, b"X-A: b\r\n"),
        ("empty lines", nginx, b"", b"\r\n"),
        ("a body", nginx, &body, b"a"),
        ("a body of chunks", nginx, &chunks, b"1\r\na\r\n"),
        ("a body that is read", authzen, &body, b" "),
        ("chunks that are read", authzen, &chunks, b"1\r\n \r\n"),
        ("a handshake", tls, &hello, b"a"),
        ("no handshake", tls, b"", b""),
        ("a preface", grpc, b"", b"PRI * HTTP/2.0"),
        ("nothing after the preface", grpc, &start, b""),
        ("a message", grpc, &open, b""),
        ("fields", grpc, &unfinished, &frame(CONTINUATION, 0, 1, b"")),
        ("pings", grpc, &open, &pings),
    ];
    thread::scope(|scope| {
        for (name, address, first, then) in slow {
            scope.spawn(move || trickles(address, name, first, then));
        }
        scope.spawn(|| only_pongs(grpc));
        scope.spawn(|| trickles(grpc, "no window", &no_window, b""));
        scope.spawn(|| never_reads(nginx, b"", question.as_bytes()));
        scope.spawn(|| never_reads(grpc, &start, &pings.repeat(100)));
    });
    attacked.serves();
}

#[test]
fn a_flood_of_frames_takes_neither_memory_nor_threads() {
    let attacked = Attacked::start("flood", "idle_seconds: 5");
    attacked.serves();
    let threads = attacked.of_process("Threads");
    let head = block(&CHECK);
    let ask = |stream: u32| frame(HEADERS, END_HEADERS, stream, &head);
    let numbers = || (0..20_000_u32).map(|at| 2 * at + 1);
    // CVE-2023-44487: each is asked and taken back at once.
    let rapid = numbers().flat_map(|it| [ask(it), frame(RESET, 0, it, &[0, 0, 0, 8])].concat());
    // Its other way (CVE-2025-8671): each is asked in a way that makes the gateway take it back.
    let made = numbers().flat_map(|it| [ask(it), frame(WINDOW_UPDATE, 0, it, &[0; 4])].concat());
    let endless = core::iter::repeat_n(frame(CONTINUATION, 0, 1, &[]), 200_000);
    let endless = [vec![frame(HEADERS, 0, 1, &head)], endless.collect()].concat();
    let long = block(&[(b"x-a", &[b'a'; 16_000])]);
    let large = core::iter::repeat_n(frame(CONTINUATION, 0, 1, &long), 2_000);
    let large = [vec![frame(HEADERS, 0, 1, &head)], large.collect()].concat();
    // One field of a table, again and again: few bytes that are many.
    let bomb = [&[0x40, 3], &b"x-a"[..], &[0x7f, 0xa1, 0x1e], &[b'a'; 4_000]].concat();
    let bomb = [head.clone(), bomb, vec![0xbe; 10_000]].concat();
    let bombs = numbers().take(200).flat_map(|it| frame(HEADERS, END_HEADERS, it, &bomb));
    // Streams that nobody ends, far more than there may be.
    let open = numbers().flat_map(|it| [ask(it), frame(DATA, 0, it, b"\0")].concat());
    let empty = [ask(1), frame(DATA, 0, 1, &[]).repeat(200_000)].concat();
    // Messages in crumbs, whose ends are far.
    let crumbs = numbers().take(100).map(&ask);
    let crumbs: Vec<_> = crumbs.chain(numbers().take(100).map(|it| frame(DATA, 0, it, b"\0").repeat(4_000))).collect();
    let settings = frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9]).repeat(100_000);
    let table: [(&str, Vec<u8>); 11] = [
        ("rapid reset", rapid.collect()),
        ("made to reset", made.collect()),
        ("empty continuations", endless.concat()),
        ("large continuations", large.concat()),
        ("fields of a table", bombs.collect()),
        ("open streams", open.collect()),
        ("empty data", empty),
        ("crumbs", crumbs.concat()),
        ("settings", settings),
        ("pings", frame(PING, 0, 0, b"12345678").repeat(200_000)),
        ("unknown frames", frame(99, 0, 0, &[0; 100]).repeat(100_000)),
    ];
    let mut grown = Vec::new();
    // The most that it has ever had: what is freed after a flood was there.
    let mut before = attacked.of_process("VmHWM");
    let mut note = |name| {
        let after = attacked.of_process("VmHWM");
        grown.push((name, after.saturating_sub(before)));
        before = before.max(after);
    };
    for (name, bytes) in table {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut stream = connect(&attacked.grpc);
                    stream.set_write_timeout(Some(PATIENCE)).unwrap();
                    let mut reader = stream.try_clone().unwrap();
                    scope.spawn(move || {
                        let _ = std::io::copy(&mut reader, &mut std::io::sink());
                    });
                    let _ = stream.write_all(&bytes);
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                });
            }
            attacked.answers_beside(name);
        });
        attacked.serves_after(name);
        note(name);
    }
    // Over HTTP/1, messages in chunks of a byte, whose ends are far.
    let head = "POST /access/v1/evaluation HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunks = [head, &"1\r\n \r\n".repeat(200_000)].concat();
    let open: Vec<_> = (0..32)
        .map(|_| {
            let mut stream = TcpStream::connect(&attacked.authzen).unwrap();
            stream.write_all(chunks.as_bytes()).unwrap();
            stream
        })
        .collect();
    // What has come is read by then, and waited for is the rest.
    thread::sleep(Duration::from_secs(2));
    attacked.serves();
    note("chunks of a byte");
    drop(open);
    // Some MB, once.
    let all: u64 = grown.iter().map(|(_, grown)| grown).sum();
    assert!(all < 16 * 1_024, "kB: {grown:?}");
    assert_eq!(attacked.of_process("Threads"), threads);
    attacked.serves();
}

#[test]
fn only_one_whole_message_is_a_question_of_grpc() {
    let attacked = Attacked::start("grpc", "idle_seconds: 1, drain_seconds: 1");
    let right = attacked.message(&[]);
    let message = &right[5..];
    let lies = |length: u32| [&[0], &length.to_be_bytes()[..], message].concat();
    let length = u32::try_from(message.len()).unwrap();
    let table: [(&str, &[Field<'_>], Vec<u8>, i32); 13] = [
        ("nothing", &[], Vec::new(), 403),
        ("half of a head", &[], vec![0, 0, 0], 403),
        ("an empty message", &[], framed(0, &[]), 403),
        ("two messages", &[], right.repeat(2), 403),
        ("more than it says", &[], lies(length - 1), 403),
        ("less than it says", &[], lies(length + 1), 403),
        ("4 GiB, it says", &[], lies(u32::MAX), 403),
        ("compressed, it says", &[], framed(1, message), 403),
        ("compressed in a way", &[(b"grpc-encoding", b"gzip")], framed(1, &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), 403),
        ("an unknown flag", &[], framed(2, message), 403),
        ("no message", &[], framed(0, b"\xff\xff\xff"), 403),
        ("JSON", &[(b"content-type", b"application/json")], right.clone(), 403),
        ("two types", &[(b"content-type", b"application/grpc"), (b"content-type", b"text/plain")], right.clone(), 403),
    ];
    for (name, fields, body, expected) in table {
        let seen = check(&attacked.grpc, fields, &body);
        assert_eq!(denied(&seen), Some(expected), "{name}: {seen:?}");
        assert_eq!(code(&seen), Some(7), "{name}");
    }
    // The encoding is of compressed messages, and this one is none.
    for fields in [
        &[(b"grpc-encoding".as_slice(), b"gzip".as_slice())][..],
        &[(b"content-type", b"application/grpc+proto")],
        &[(b"te", b"trailers"), (b"grpc-timeout", b"1n")],
    ] {
        let seen = check(&attacked.grpc, fields, &right);
        assert_eq!(code(&seen), Some(0), "{fields:?} {seen:?}");
    }
    // One byte more than there may be. Half of it must be read before the other half may come.
    let large = framed(0, &vec![0; 1024 * 1024 + 1]);
    let mut stream = connect(&attacked.grpc);
    let mut frames = vec![frame(HEADERS, END_HEADERS, 1, &block(&CHECK))];
    frames.extend(large.chunks(16_384).map(|piece| frame(DATA, 0, 1, piece)));
    let (first, second) = frames.split_at(40);
    let until = |stream: &mut TcpStream, wanted| {
        let mut head = [0; 9];
        while (head[3], head[8]) != wanted {
            stream.read_exact(&mut head).unwrap();
            let mut payload = vec![0; usize::from(head[2])];
            stream.read_exact(&mut payload).unwrap();
        }
    };
    // Until they are agreed to, the gateway's windows are not active.
    until(&mut stream, (SETTINGS, 0));
    stream.write_all(&frame(SETTINGS, ACK, 0, &[])).unwrap();
    until(&mut stream, (WINDOW_UPDATE, 0));
    stream.write_all(&first.concat()).unwrap();
    until(&mut stream, (WINDOW_UPDATE, 1));
    stream.write_all(&second.concat()).unwrap();
    let seen = read(&mut stream).unwrap();
    assert_eq!(denied(&seen), Some(413), "{seen:?}");
    // Without an end there is no question.
    let mut stream = connect(&attacked.grpc);
    let head = frame(HEADERS, END_HEADERS, 1, &block(&CHECK));
    stream.write_all(&[head, frame(DATA, 0, 1, &right)].concat()).unwrap();
    let seen = read(&mut stream).unwrap();
    assert_eq!(denied(&seen), Some(403), "{seen:?}");
    // Another service is not here.
    let path: &[Field<'_>] = &[(b":path", b"/envoy.service.auth.v2.Authorization/Check")];
    let seen = check(&attacked.grpc, path, &right);
    assert_eq!((seen.status, code(&seen)), (200, None), "{seen:?}");
}

/// Writes these bytes, and reads everything until the connection ends: the statuses.
fn statuses(address: &str, bytes: &[u8]) -> Vec<u16> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = stream.write_all(bytes);
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    let text = String::from_utf8(received).unwrap();
    let answers = text.split("HTTP/1.1 ").skip(1);
    answers.map(|answer| answer[..3].parse().unwrap()).collect()
}

#[test]
fn each_question_on_a_connection_has_its_own_answer() {
    let attacked = Attacked::start("http1", "idle_seconds: 1, drain_seconds: 1");
    let open = |target: &str, more: &str, body: &str| {
        let bearer = attacked.issuer.bearer();
        format!(
            "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: {bearer}\r\nX-Original-Method: GET\r\nX-Original-URI: {target}\r\n{more}\r\n{body}"
        )
    };
    let (allowed, refused) = (open(ORBS, "", ""), open("/secret", "", ""));
    let pipelined = format!("{allowed}{refused}{allowed}{refused}{refused}{allowed}");
    assert_eq!(statuses(&attacked.nginx, pipelined.as_bytes()), [200, 403, 200, 403, 403, 200]);
    // A question within another's body is none: no answer to it comes instead of the next one's.
    let sized = format!("Content-Length: {}\r\n", allowed.len());
    let within = open("/secret", &sized, &allowed);
    let chunk = format!("{:x}\r\n{allowed}\r\n0\r\n", allowed.len());
    let te = "Transfer-Encoding: chunked\r\n";
    let chunked = open("/secret", te, &format!("{chunk}\r\n"));
    let trailers = open("/secret", te, &format!("{chunk}X-Original-URI: {ORBS}\r\nAuthorization: x\r\n\r\n"));
    for bytes in [within, chunked, trailers] {
        let followed = format!("{bytes}{refused}");
        let actual = statuses(&attacked.nginx, followed.as_bytes());
        assert!(actual == [403, 403] || actual == [403], "{actual:?}\n{followed}");
    }
    // Two lengths: one answer, or none, and the end of the connection.
    let both = |first: &str, second: &str| open("/secret", &format!("{first}{second}"), "0\r\n\r\n");
    let table = [
        both(te, "Content-Length: 5\r\n"),
        both("Content-Length: 5\r\n", te),
        both("Content-Length: 5\r\n", "Content-Length: 0\r\n"),
        both("Content-Length: 5, 0\r\n", ""),
        both("Content-Length: +5\r\n", ""),
        both("Transfer-Encoding: chunked, identity\r\n", ""),
        both("Transfer-Encoding: xchunked\r\n", ""),
        both("Transfer-Encoding : chunked\r\n", ""),
        both("Transfer-Encoding:\x0bchunked\r\n", ""),
        both(te, "Transfer-Encoding: identity\r\n"),
    ];
    for bytes in table {
        let followed = format!("{bytes}{allowed}");
        let actual = statuses(&attacked.nginx, followed.as_bytes());
        let is_refused = actual.len() <= 1 && actual.iter().all(|it| [400, 403].contains(it));
        assert!(is_refused, "{actual:?}\n{followed}");
    }
    attacked.serves();
}
