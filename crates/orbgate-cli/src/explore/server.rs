//! The server of the explorer: two answers, for one person on this machine.

use core::hash::{Hash as _, Hasher as _};
use std::hash::DefaultHasher;
use std::io;
use std::path::{Path, PathBuf};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, ETAG, HOST, HeaderName, HeaderValue, IF_NONE_MATCH};
use hyper::{Method, Request, Response, StatusCode};

use crate::input::{self, STANDARD_INPUT};
use crate::loopback;
use crate::output::{self, Exit, Stop};
use crate::policy_file::READ_LIMIT;

const POLICY_PATH: &str = "/policy";

pub(super) fn run(page: &str, policy: Option<PathBuf>, port: u16) -> Result<Exit, Stop> {
    if policy.as_deref() == Some(Path::new(STANDARD_INPUT)) {
        let message = "standard input can be read only once: give a file, which is followed";
        return Err(Stop::Error(message.to_owned()));
    }
    if let Some(path) = &policy {
        // A file that isn't there is said now, not in the browser.
        input::read(path, READ_LIMIT).map_err(Stop::Error)?;
    }
    let page = match policy {
        Some(_) => following(page).ok_or_else(|| Stop::Error("the page is damaged".to_owned()))?,
        None => page.to_owned(),
    };
    let listen = |error: io::Error| Stop::Error(format!("cannot listen on port {port}: {error}"));
    loopback::runtime().map_err(listen)?.block_on(async {
        let listener = loopback::listen(port).await.map_err(listen)?;
        let port = listener.local_addr().map_err(listen)?.port();
        output::print(|out| writeln!(out, "http://127.0.0.1:{port}/"))?;
        let server = Server { page: Bytes::from(page), policy, port };
        loopback::serve(listener, move |request| server.answer(request)).await
    })
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
    page: Bytes,
    policy: Option<PathBuf>,
    port: u16,
}

impl Server {
    fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        // Any name can lead to this address, and pages of that name could then read the file.
        let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port));
        let mut named = request.headers().get_all(HOST).iter();
        let host = named.next().filter(|_| named.next().is_none());
        if !host.is_some_and(|host| hosts.iter().any(|own| host == own)) {
            let message = format!("ask for http://{}/\n", hosts[0]);
            return text(StatusCode::MISDIRECTED_REQUEST, message);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        }
        match (&*request.uri().to_string(), &self.policy) {
            ("/", _) => response(StatusCode::OK, "text/html; charset=utf-8", self.page.clone()),
            (POLICY_PATH, Some(path)) => match input::read(path, READ_LIMIT) {
                Ok(text) => policy(text, request.headers().get(IF_NONE_MATCH)),
                Err(message) => text(StatusCode::SERVICE_UNAVAILABLE, message),
            },
            _ => text(StatusCode::NOT_FOUND, "nothing here\n"),
        }
    }
}

/// Nothing of it is kept, shown in another page, or read as what it isn't.
const HEADERS: [(&str, &str); 7] = [
    ("allow", "GET, HEAD"),
    ("cache-control", "no-store"),
    ("content-security-policy", "frame-ancestors 'none'"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
];

fn response(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let kind = [(CONTENT_TYPE, HeaderValue::from_static(kind))];
    let fixed = HEADERS.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    response.headers_mut().extend(kind.into_iter().chain(fixed));
    response
}

fn text(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    response(status, "text/plain; charset=utf-8", body)
}

/// The file's text, unless the page has it already.
fn policy(file: Vec<u8>, known: Option<&HeaderValue>) -> Response<Full<Bytes>> {
    let mut hasher = DefaultHasher::new();
    file.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let mut response = match known.is_some_and(|known| *known == tag) {
        true => text(StatusCode::NOT_MODIFIED, ""),
        false => text(StatusCode::OK, file),
    };
    // Quotes and hexadecimal digits: every such string is a value.
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;
    use std::io::{Read as _, Write as _};
    use std::net::{Shutdown, TcpStream};
    use std::{fs, thread};

    use super::*;
    use crate::loopback::MOST_HEAD;

    const PAGE: &str = "<head><meta content=\"default-src 'none'; connect-src 'none'\">\
        <meta name=\"orbgate-follow\" content=\"\"></head>connect-src 'none'";

    /// Starts a server, and returns its port.
    fn server(policy: Option<PathBuf>) -> u16 {
        let page = Bytes::from(following(PAGE).unwrap());
        let (sender, receiver) = std::sync::mpsc::channel();
        thread::spawn(move || {
            loopback::runtime().unwrap().block_on(async {
                let listener = loopback::listen(0).await.unwrap();
                let port = listener.local_addr().unwrap().port();
                sender.send(port).unwrap();
                let server = Server { page, policy, port };
                loopback::serve(listener, move |request| server.answer(request)).await
            })
        });
        receiver.recv().unwrap()
    }

    /// What it sends for these bytes, in which `PORT` is its port.
    fn ask(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let request = request.replace("PORT", &port.to_string());
        // The server may answer and close the connection before it has read everything.
        let _ = stream.write_all(request.as_bytes());
        let _ = stream.shutdown(Shutdown::Write);
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        String::from_utf8(response).unwrap()
    }

    fn status(response: &str) -> &str {
        response.split(' ').nth(1).unwrap_or_default()
    }

    fn body(response: &str) -> &str {
        response.split_once("\r\n\r\n").unwrap().1
    }

    #[test]
    fn the_page_may_ask_only_this_server_and_only_where_it_follows_a_file() {
        let page = following(PAGE).unwrap();
        assert!(page.starts_with("<head><meta content=\"default-src 'none'; connect-src 'self'\">"));
        assert!(page.contains("content=\"/policy\""));
        assert!(page.ends_with("</head>connect-src 'none'"));
        assert_eq!(following("<head></head>"), None);
        assert_eq!(following(&format!("{}{PAGE}", "connect-src 'none'")), None);
    }

    #[test]
    fn foreign_hosts_and_methods_are_refused() {
        let port = server(None);
        for host in ["127.0.0.1:PORT", "localhost:PORT"] {
            let response = ask(port, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            assert_eq!(status(&response), "200");
            assert!(response.contains("\r\ncross-origin-resource-policy: same-origin\r\n"));
            assert_eq!(body(&response), following(PAGE).unwrap());
        }
        for host in [
            "Host: attacker.example:PORT\r\n",
            "Host: attacker.example\r\n",
            "Host: 127.0.0.1\r\n",
            "Host: 127.0.0.1:1\r\n",
            "Host: 127.0.0.1:PORT.attacker.example\r\n",
            "Host: localhost:PORT@attacker.example\r\n",
            "Host: [::1]:PORT\r\n",
            "Host: 127.0.0.1:PORT\r\nHost: attacker.example\r\n",
            "Host:\r\n",
            "",
        ] {
            let response = ask(port, &format!("GET / HTTP/1.1\r\n{host}\r\n"));
            assert_eq!(status(&response), "421", "{host}");
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
            let request = format!("{method} / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n");
            assert_eq!(status(&ask(port, &request)), "405", "{method}");
        }
        for bad in ["GET /\r\n\r\n", "\0\r\n\r\n", "GET / HTTP/1.1\r\n : x\r\n\r\n"] {
            assert_eq!(status(&ask(port, bad)), "400", "{bad:?}");
        }
        for unfinished in ["", "GET / HTTP/1.1\r\n"] {
            assert_ne!(status(&ask(port, unfinished)), "200", "{unfinished:?}");
        }
        // The server reads all of it: a connection that it closed with unread bytes might lose the response.
        let long = format!("{:x<MOST_HEAD$}", "GET / HTTP/1.1\r\nX: ");
        assert_eq!(status(&ask(port, &long)), "431");
    }

    #[test]
    fn nothing_but_the_page_and_the_file_is_served() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "orbgate: 1\n").unwrap();
        let port = server(Some(file.path().to_owned()));
        let get = |path: &str, more: &str| {
            let head = format!("GET {path} HTTP/1.1\r\nHost: localhost:PORT\r\n{more}\r\n");
            ask(port, &head)
        };
        let first = get("/policy", "");
        assert_eq!((status(&first), body(&first)), ("200", "orbgate: 1\n"));
        let (_, tag) = first.split_once("etag: ").unwrap();
        let (tag, _) = tag.split_once("\r\n").unwrap();
        let known = format!("If-None-Match: {tag}\r\n");
        let same = get("/policy", &known);
        assert_eq!((status(&same), body(&same)), ("304", ""));
        fs::write(file.path(), "orbgate: 2\n").unwrap();
        assert_eq!(status(&get("/policy", &known)), "200");
        for path in
            ["/policy/", "/policy?x", "//policy", "/../policy", "/etc/passwd", "http://localhost:PORT/policy", "*"]
        {
            assert_eq!(status(&get(path, "")), "404", "{path}");
        }
        drop(file);
        assert_eq!(status(&get("/policy", "")), "503");
        let head = ask(port, "HEAD / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n");
        assert_eq!((status(&head), body(&head)), ("200", ""));
        // Without a file, there is none to read.
        let request = "GET /policy HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n";
        assert_eq!(status(&ask(server(None), request)), "404");
    }
}
