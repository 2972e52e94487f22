//! Issuers on loopback: valid ones, and some that are down, slow, send huge responses, or lie.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use serde_json::{Value, json};

use crate::exchange::recipe::Identity;
use crate::signer::Signer;

/// How a server responds: an issuer to a request for its keys, or an introspection endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conduct {
    Right,
    /// A minute of single bytes with pauses, so that each read gets data but the response exceeds the time limit.
    Drips,
    /// An endless body.
    Endless,
    /// The valid body with the wrong status.
    Fails,
    /// The valid body at another address.
    Redirects,
    /// An HTML page.
    Page,
    /// Closes the connection without a response.
    Closes,
    /// The valid keys, in a body that is too large.
    Huge,
    /// Discovery that names another issuer.
    SaysAnother,
    /// Discovery with keys on another machine, without TLS.
    SaysElsewhere,
    /// Includes the private key.
    SaysSecret,
    /// Two keys with the same name.
    SaysTwins,
    /// No response until its conduct changes.
    Holds,
}

impl Conduct {
    /// Responds with this body, or badly. A redirect has this status and leads there.
    pub(crate) fn answer(self, stream: &mut impl Write, body: &str, redirect: &str, to: &str) -> Option<()> {
        match self {
            Self::Closes => None,
            Self::Drips => drip(stream, body),
            Self::Endless => endless(stream),
            Self::Fails => send(stream, "500 Oh", "", body),
            Self::Page => send(stream, "200 OK", "", "<html>keys</html>"),
            Self::Redirects => send(stream, redirect, &format!("Location: {to}\r\n"), ""),
            _ => send(stream, "200 OK", "", body),
        }
    }
}

pub(crate) struct Issuer {
    pub(crate) signer: Signer,
    pub(crate) kid: String,
    others: Vec<Value>,
    pub(crate) conduct: Conduct,
    /// The number of requests for its keys.
    pub(crate) hits: usize,
    /// The number of bodies without an end that are being sent, or were read for too long.
    pub(crate) open: usize,
}

/// All issuers on one port, each below its name.
#[derive(Clone)]
pub(crate) struct Issuers {
    pub(crate) address: String,
    all: Arc<Mutex<BTreeMap<String, Issuer>>>,
}

impl Issuer {
    pub(crate) fn new(kid: &str, conduct: Conduct) -> Self {
        Self { signer: Signer::p256(), kid: kid.to_owned(), others: Vec::new(), conduct, hits: 0, open: 0 }
    }

    /// With additional keys that it never signs with.
    pub(crate) fn with(mut self, jwks: impl IntoIterator<Item = Value>) -> Self {
        self.others.extend(jwks);
        self
    }

    pub(crate) fn keys(&self) -> Value {
        let mut own = self.signer.jwk(&self.kid);
        let mut keys = self.others.clone();
        match self.conduct {
            Conduct::SaysSecret => own["d"] = "AAAA".into(),
            Conduct::SaysTwins => keys.push(Signer::p256().jwk(&self.kid)),
            Conduct::Huge => keys.push(json!({"kty": "RSA", "pad": "a".repeat(300_000)})),
            _ => {}
        }
        keys.insert(0, own);
        json!({ "keys": keys })
    }
}

impl Issuers {
    /// Serves until the program ends.
    pub(crate) fn serve(address: &str) -> Result<Self> {
        let listener = TcpListener::bind(address)?;
        let issuers = Self { address: listener.local_addr()?.to_string(), all: Arc::default() };
        issuers.also_on(listener);
        Ok(issuers)
    }

    /// Serves at an additional address.
    pub(crate) fn also_on(&self, listener: TcpListener) {
        let issuers = self.clone();
        accept(listener, move |stream| issuers.answer(stream));
    }

    pub(crate) fn add(&self, name: &str, issuer: Issuer) {
        self.all.lock().unwrap().insert(name.to_owned(), issuer);
    }

    /// Something of an issuer, or done to it.
    pub(crate) fn with<T>(&self, name: &str, f: impl FnOnce(&mut Issuer) -> T) -> T {
        f(self.all.lock().unwrap().get_mut(name).expect(name))
    }

    /// The `iss` of an issuer.
    pub(crate) fn name(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// Something about an issuer as its tokens name it.
    pub(crate) fn sign<T>(&self, name: &str, f: impl FnOnce(&Identity<'_>) -> T) -> T {
        let iss = self.name(name);
        self.with(name, |issuer| f(&Identity { name: &iss, signer: &issuer.signer, kid: &issuer.kid }))
    }

    fn answer(&self, mut stream: TcpStream) -> Option<()> {
        let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
        let line = lines.next()?.ok()?;
        lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
        let path = line.split(' ').nth(1)?.strip_prefix('/')?.to_owned();
        let (name, document) = path.split_once('/')?;
        let discovery = document == ".well-known/openid-configuration";
        self.all.lock().unwrap().get_mut(name)?.hits += usize::from(!discovery);
        let (conduct, keys) = loop {
            let (conduct, keys) = self.with(name, |issuer| (issuer.conduct, issuer.keys().to_string()));
            if conduct != Conduct::Holds || discovery {
                break (conduct, keys);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let body = match discovery {
            true => self.discovery(name, conduct).to_string(),
            false => keys,
        };
        let conduct = match document {
            "jwks" => conduct,
            _ if conduct == Conduct::Closes => conduct,
            _ => Conduct::Right,
        };
        let never_ends = matches!(conduct, Conduct::Drips | Conduct::Endless);
        self.with(name, |issuer| issuer.open += usize::from(never_ends));
        let sent = conduct.answer(&mut stream, &body, "302 Found", &format!("{}/moved", self.name(name)));
        // The client hangs up before the end.
        self.with(name, |issuer| issuer.open -= usize::from(never_ends && sent.is_none()));
        sent
    }

    fn discovery(&self, name: &str, conduct: Conduct) -> Value {
        let own = self.name(name);
        let (issuer, keys) = match conduct {
            Conduct::SaysAnother => (self.name("main"), format!("{own}/jwks")),
            Conduct::SaysElsewhere => (own, "http://192.0.2.1/jwks".to_owned()),
            _ => (own.clone(), format!("{own}/jwks")),
        };
        json!({"issuer": issuer, "jwks_uri": keys})
    }
}

/// Answers each connection in a thread of its own, until the program ends.
pub(crate) fn accept(listener: TcpListener, answer: impl Fn(TcpStream) -> Option<()> + Clone + Send + 'static) {
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || answer(stream));
        }
    });
}

pub(crate) fn send(stream: &mut impl Write, status: &str, headers: &str, body: &str) -> Option<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n");
    let head = format!("{head}Content-Type: application/json\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).ok()
}

fn drip(stream: &mut impl Write, body: &str) -> Option<()> {
    // Spaces change no JSON.
    let body = format!("{body:600}");
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let pieces = body.as_bytes().chunks(length.div_ceil(300));
    for piece in pieces {
        std::thread::sleep(Duration::from_millis(200));
        stream.write_all(piece).ok()?;
    }
    Some(())
}

/// Stops after 64 MiB, which a client should never read.
fn endless(stream: &mut impl Write) -> Option<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"keys\":[").ok()?;
    (0..1024).try_for_each(|_| stream.write_all(&[b' '; 65_536]).ok())
}
