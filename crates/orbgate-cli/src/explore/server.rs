//! The server of the explorer: two answers, for one person on this machine.

use core::hash::{Hash as _, Hasher as _};
use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::hash::DefaultHasher;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use crate::args::STANDARD_INPUT;
use crate::input;
use crate::output::{self, Exit, Stop};
use crate::policy_file::READ_LIMIT;

/// The most bytes of a request's head.
const MOST_HEAD: usize = 16 * 1024;
/// Header fields of a request.
const MOST_FIELDS: usize = 64;
/// A browser opens some connections before it needs them.
const MOST_CONNECTIONS: usize = 32;
/// How long a connection may be silent.
const SILENCE: Duration = Duration::from_secs(10);

/// What the page asks for.
const POLICY_PATH: &str = "/policy";

/// Serves until it is ended.
pub(super) fn run(page: &str, policy: Option<PathBuf>, port: u16) -> Result<Exit, Stop> {
    if policy.as_deref() == Some(Path::new(STANDARD_INPUT)) {
        let message = "standard input can be read only once: give a file, which is followed";
        return Err(Stop::Error(message.to_owned()));
    }
    if let Some(path) = &policy {
        // A file that isn't there is said now, not in the browser.
        input::read(path, READ_LIMIT).map_err(Stop::Error)?;
    }
    let listen = |error: io::Error| Stop::Error(format!("cannot listen on port {port}: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(listen)?;
    let port = listener.local_addr().map_err(listen)?.port();
    let page = match policy {
        Some(_) => following(page).ok_or_else(|| Stop::Error("the page is damaged".to_owned()))?,
        None => page.to_owned(),
    };
    output::print(|out| writeln!(out, "http://127.0.0.1:{port}/"))?;
    let server = Arc::new(Server { page, policy, port });
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (server, open) = (Arc::clone(&server), Arc::clone(&open));
        thread::spawn(move || {
            // Whoever is at the other end has gone.
            let _ = server.serve(stream);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
    Ok(Exit::Fine)
}

/// The page that follows a file: it may ask this server, and no other.
fn following(page: &str) -> Option<String> {
    let changes = [
        ("connect-src 'none'", "connect-src 'self'".to_owned()),
        (
            "<meta name=\"orbgate-follow\" content=\"\">",
            format!("<meta name=\"orbgate-follow\" content=\"{POLICY_PATH}\">"),
        ),
    ];
    // Both are in the head, and the first of their kind.
    let (head, body) = page.split_once("</head>")?;
    let mut head = head.to_owned();
    for (old, new) in changes {
        if head.matches(old).count() != 1 {
            return None;
        }
        head = head.replacen(old, &new, 1);
    }
    Some(format!("{head}</head>{body}"))
}

struct Server {
    page: String,
    policy: Option<PathBuf>,
    port: u16,
}

struct Response {
    status: &'static str,
    kind: &'static str,
    tag: Option<String>,
    body: Vec<u8>,
}

impl Response {
    fn text(status: &'static str, body: impl Into<String>) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            tag: None,
            body: body.into().into_bytes(),
        }
    }
}

impl Server {
    /// One request, then the connection ends.
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        let mut head = Vec::new();
        let mut part = [0; 4096];
        while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < MOST_HEAD {
            let count = stream.read(&mut part)?;
            if count == 0 {
                return Ok(());
            }
            head.extend_from_slice(part.get(..count).unwrap_or_default());
        }
        let (response, with_body) = self.answer(&head);
        let Response {
            status,
            kind,
            tag,
            body,
        } = response;
        let tag = tag.map_or_else(String::new, |tag| format!("ETag: {tag}\r\n"));
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{tag}{HEADERS}\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        if with_body {
            stream.write_all(&body)?;
        }
        stream.flush()
    }

    /// The response to a request's head, and whether its body is sent.
    fn answer(&self, head: &[u8]) -> (Response, bool) {
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        if !request.parse(head).is_ok_and(|parsed| parsed.is_complete()) {
            return (Response::text("400 Bad Request", "no request\n"), true);
        }
        let field = |name: &str| {
            let mut found = request
                .headers
                .iter()
                .filter(|field| field.name.eq_ignore_ascii_case(name));
            match (found.next(), found.next()) {
                (Some(field), None) => str::from_utf8(field.value).ok(),
                _ => None,
            }
        };
        // Any name can lead to this address, and pages of that name could then read the file.
        let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port));
        if !field("host").is_some_and(|host| hosts.iter().any(|own| own == host)) {
            let message = format!("ask for http://{}/\n", hosts[0]);
            return (Response::text("421 Misdirected Request", message), true);
        }
        let is_head = match request.method {
            Some("GET") => false,
            Some("HEAD") => true,
            _ => {
                let response = Response::text("405 Method Not Allowed", "only GET and HEAD\n");
                return (response, true);
            }
        };
        let response = match (request.path, &self.policy) {
            (Some("/"), _) => Response {
                status: "200 OK",
                kind: "text/html; charset=utf-8",
                tag: None,
                body: self.page.clone().into_bytes(),
            },
            (Some(POLICY_PATH), Some(path)) => match input::read(path, READ_LIMIT) {
                Ok(text) => policy(text, field("if-none-match")),
                Err(message) => Response::text("503 Service Unavailable", message),
            },
            _ => Response::text("404 Not Found", "nothing here\n"),
        };
        (response, !is_head)
    }
}

/// Nothing of it is kept, shown in another page, or read as what it isn't.
const HEADERS: &str = "Allow: GET, HEAD\r\nCache-Control: no-store\r\nConnection: close\r\n\
    Content-Security-Policy: frame-ancestors 'none'\r\nCross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n";

/// The file's text, unless the page has it already.
fn policy(text: Vec<u8>, known: Option<&str>) -> Response {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let (status, body) = match known == Some(&*tag) {
        true => ("304 Not Modified", Vec::new()),
        false => ("200 OK", text),
    };
    Response {
        status,
        kind: "text/plain; charset=utf-8",
        tag: Some(tag),
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<head><meta content=\"default-src 'none'; connect-src 'none'\">\
        <meta name=\"orbgate-follow\" content=\"\"></head>connect-src 'none'";

    fn server(policy: Option<PathBuf>) -> Server {
        Server {
            page: following(PAGE).unwrap(),
            policy,
            port: 7000,
        }
    }

    fn status(server: &Server, head: &str) -> &'static str {
        server.answer(head.as_bytes()).0.status.get(..3).unwrap()
    }

    #[test]
    fn the_page_may_ask_only_this_server_and_only_where_it_follows_a_file() {
        let page = following(PAGE).unwrap();
        assert!(
            page.starts_with("<head><meta content=\"default-src 'none'; connect-src 'self'\">")
        );
        assert!(page.contains("content=\"/policy\""));
        assert!(page.ends_with("</head>connect-src 'none'"));
        assert_eq!(following("<head></head>"), None);
        assert_eq!(following(&format!("{}{PAGE}", "connect-src 'none'")), None);
    }

    #[test]
    fn foreign_hosts_and_methods_are_refused() {
        let server = server(None);
        for host in ["127.0.0.1:7000", "localhost:7000"] {
            assert_eq!(
                status(&server, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")),
                "200"
            );
        }
        for host in [
            "Host: attacker.example:7000\r\n",
            "Host: attacker.example\r\n",
            "Host: 127.0.0.1\r\n",
            "Host: 127.0.0.1:7001\r\n",
            "Host: 127.0.0.1:7000.attacker.example\r\n",
            "Host: localhost:7000@attacker.example\r\n",
            "Host: [::1]:7000\r\n",
            "Host: 127.0.0.1:7000\r\nHost: attacker.example\r\n",
            "Host:\r\n",
            "",
        ] {
            assert_eq!(
                status(&server, &format!("GET / HTTP/1.1\r\n{host}\r\n")),
                "421",
                "{host}"
            );
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT"] {
            let head = format!("{method} / HTTP/1.1\r\nHost: localhost:7000\r\n\r\n");
            assert_eq!(status(&server, &head), "405", "{method}");
        }
        for bad in ["", "GET /\r\n\r\n", "GET / HTTP/1.1\r\n", "\0\r\n\r\n"] {
            assert_eq!(status(&server, bad), "400", "{bad:?}");
        }
    }

    #[test]
    fn nothing_but_the_page_and_the_file_is_served() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "orbgate: 1\n").unwrap();
        let with = server(Some(file.path().to_owned()));
        let ask = |path: &str, more: &str| {
            let head = format!("GET {path} HTTP/1.1\r\nHost: localhost:7000\r\n{more}\r\n");
            with.answer(head.as_bytes()).0
        };
        let first = ask("/policy", "");
        assert_eq!(
            (first.status, &*first.body),
            ("200 OK", &b"orbgate: 1\n"[..])
        );
        let tag = first.tag.unwrap();
        let known = format!("If-None-Match: {tag}\r\n");
        let same = ask("/policy", &known);
        assert_eq!((same.status, same.body.len()), ("304 Not Modified", 0));
        std::fs::write(file.path(), "orbgate: 2\n").unwrap();
        assert_eq!(ask("/policy", &known).status, "200 OK");
        for path in [
            "/policy/",
            "/policy?x",
            "//policy",
            "/../policy",
            "/etc/passwd",
            "*",
        ] {
            assert_eq!(ask(path, "").status, "404 Not Found", "{path}");
        }
        drop(file);
        assert_eq!(ask("/policy", "").status, "503 Service Unavailable");
        // Without a file, there is none to read.
        assert_eq!(
            status(
                &server(None),
                "GET /policy HTTP/1.1\r\nHost: localhost:7000\r\n\r\n"
            ),
            "404"
        );
        let (_, with_body) = with.answer(b"HEAD / HTTP/1.1\r\nHost: localhost:7000\r\n\r\n");
        assert!(!with_body);
    }
}
