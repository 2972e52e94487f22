//! A proxy that asks a gateway about each request, and makes the mistakes that a test wants.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use orbgate_gate::same_header;

use crate::support::wire::{self, Answer, ask, first};

#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
}

impl Message {
    fn read(stream: &mut TcpStream) -> Self {
        let head = String::from_utf8(wire::head(stream)).unwrap();
        let (line, fields) = head.split_once("\r\n").unwrap_or_default();
        let words: Vec<_> = line.split(' ').collect();
        Self {
            method: words.first().copied().unwrap_or_default().to_owned(),
            target: words.get(1).copied().unwrap_or_default().to_owned(),
            headers: wire::headers(fields),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let headers = self.headers.iter();
        let headers: Vec<_> = headers.map(|(name, value)| (&**name, &**value)).collect();
        wire::request(self.method.as_bytes(), self.target.as_bytes(), &headers)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        Some(first(&self.headers, name)).filter(|value| !value.is_empty())
    }

    pub(super) fn has_token(&self) -> bool {
        self.header("Authorization").is_some()
    }

    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.headers.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
    }

    /// The client's headers whose names begin like this in some spelling.
    pub(super) fn starting(&self, start: &str) -> impl Iterator<Item = (String, String)> {
        let begins = move |name: &str| {
            name.get(..start.len()).is_some_and(|name| same_header(name.as_bytes(), start.as_bytes()))
        };
        self.headers.iter().filter(move |(name, _)| begins(name)).cloned()
    }
}

type Edit = Box<dyn Fn(&mut Message) + Send>;
type Change = Box<dyn Fn(&Message, &mut Message) + Send>;
type Status = Box<dyn Fn(&Message) -> Option<u16> + Send>;
type Test = Box<dyn Fn(&Message) -> bool + Send>;

/// What a proxy does otherwise than it should.
pub(super) struct Mistake {
    /// Changes the request that the gateway is asked about. The client's own is the one that is sent.
    pub(super) asks: Edit,
    /// Whether a request is sent without a question.
    pub(super) unasked: Test,
    /// The status with which it answers a request itself, without a question.
    pub(super) answers: Status,
    /// Changes what the backend gets of the client's request.
    pub(super) sends: Change,
    /// Whether a request with `CONNECT` gets a tunnel to the backend.
    pub(super) tunnels: Test,
}

pub(super) fn none() -> Mistake {
    Mistake {
        asks: Box::new(|_| {}),
        unasked: Box::new(|_| false),
        answers: Box::new(|_| None),
        sends: Box::new(|_, _| {}),
        tunnels: Box::new(|_| false),
    }
}

pub(super) fn asks(asks: impl Fn(&mut Message) + Send + 'static) -> Mistake {
    Mistake { asks: Box::new(asks), ..none() }
}

pub(super) fn unasked(unasked: impl Fn(&Message) -> bool + Send + 'static) -> Mistake {
    Mistake { unasked: Box::new(unasked), ..none() }
}

pub(super) fn answers(answers: impl Fn(&Message) -> Option<u16> + Send + 'static) -> Mistake {
    Mistake { answers: Box::new(answers), ..none() }
}

pub(super) fn sends(sends: impl Fn(&Message, &mut Message) + Send + 'static) -> Mistake {
    Mistake { sends: Box::new(sends), ..none() }
}

impl Mistake {
    pub(super) fn serve(&self, mut client: TcpStream, gateway: &str, backend: &str) {
        let request = Message::read(&mut client);
        if request.method == "CONNECT" && (self.tunnels)(&request) {
            return tunnel(client, backend);
        }
        if let Some(status) = (self.answers)(&request) {
            return answer(&mut client, status);
        }
        let mut question = request.clone();
        (self.asks)(&mut question);
        let kept = ["authorization", "upgrade", "x-http-method", "x-method-over"];
        let mut subrequest = Message {
            method: "GET".to_owned(),
            target: "/".to_owned(),
            headers: kept.iter().flat_map(|it| question.starting(it)).collect(),
        };
        subrequest.set("X-Forwarded-Method", &question.method);
        subrequest.set("X-Forwarded-Uri", &question.target);
        let decided = match (self.unasked)(&request) {
            true => Answer::default(),
            false => ask(gateway, &subrequest.bytes()),
        };
        let status = if [0, 200].contains(&decided.status) {
            let mut sent = passed_on(&request, &decided);
            (self.sends)(&request, &mut sent);
            ask(backend, &sent.bytes()).status
        } else {
            decided.status
        };
        answer(&mut client, status);
    }
}

fn answer(client: &mut TcpStream, status: u16) {
    let line = format!("HTTP/1.1 {status} A\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let _ = client.write_all(line.as_bytes());
}

/// What a backend gets, with the promised headers of an allow.
fn passed_on(request: &Message, decided: &Answer) -> Message {
    let mut sent = request.clone();
    let own = ["x-", "upgrade", "http2-settings", "connection"];
    let own: Vec<_> = own.iter().flat_map(|it| request.starting(it)).collect();
    sent.headers.retain(|header| !own.contains(header));
    let promised = decided.headers.iter();
    let promised = promised.filter(|(name, _)| name.to_ascii_lowercase().starts_with("x-orb-"));
    sent.headers.extend(promised.cloned());
    sent
}

fn tunnel(mut client: TcpStream, backend: &str) {
    client.write_all(b"HTTP/1.1 200 A\r\n\r\n").unwrap();
    let mut inside = TcpStream::connect(backend).unwrap();
    inside.write_all(&wire::head(&mut client)).unwrap();
    let mut bytes = Vec::new();
    inside.read_to_end(&mut bytes).unwrap();
    client.write_all(&bytes).unwrap();
    let _ = client.shutdown(Shutdown::Both);
}
