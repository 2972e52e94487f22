//! Introspection endpoints on loopback (RFC 7662): one that is right, and some that fail, redirect, or answer too much.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use anyhow::Result;

use crate::exchange::issuer::{Conduct, accept, send};

struct Endpoint {
    conduct: Conduct,
    /// The credentials that it accepts.
    authorization: String,
    /// What it says about each token; of all others, that they are inactive.
    answers: BTreeMap<String, String>,
    /// The tokens that it was asked about.
    tokens: Vec<String>,
}

/// All endpoints on one port, each at its name.
#[derive(Clone)]
pub(crate) struct Endpoints {
    address: String,
    all: Arc<Mutex<BTreeMap<String, Endpoint>>>,
    /// Requests that no gate may send.
    wrong: Arc<Mutex<Vec<String>>>,
}

/// A request's method, path, headers and body.
struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Endpoints {
    /// Serves until the program ends.
    pub(crate) fn serve() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let endpoints =
            Self { address: listener.local_addr()?.to_string(), all: Arc::default(), wrong: Arc::default() };
        let serving = endpoints.clone();
        accept(listener, move |stream| serving.answer(stream));
        Ok(endpoints)
    }

    pub(crate) fn add(&self, name: &str, conduct: Conduct, authorization: &str) {
        let endpoint =
            Endpoint { conduct, authorization: authorization.to_owned(), answers: BTreeMap::new(), tokens: Vec::new() };
        self.all.lock().unwrap().insert(name.to_owned(), endpoint);
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    fn with<T>(&self, name: &str, f: impl FnOnce(&mut Endpoint) -> T) -> T {
        f(self.all.lock().unwrap().get_mut(name).expect(name))
    }

    /// From now on, the endpoint says this about a token.
    pub(crate) fn says(&self, name: &str, token: &str, answer: &str) {
        let (token, answer) = (token.to_owned(), answer.to_owned());
        self.with(name, |endpoint| endpoint.answers.insert(token, answer));
    }

    pub(crate) fn turns(&self, name: &str, conduct: Conduct) {
        self.with(name, |endpoint| endpoint.conduct = conduct);
    }

    /// From now on, the endpoint accepts these credentials.
    pub(crate) fn knows(&self, name: &str, authorization: &str) {
        self.with(name, |endpoint| authorization.clone_into(&mut endpoint.authorization));
    }

    /// How often an endpoint was asked about a token.
    pub(crate) fn asked(&self, name: &str, token: &str) -> usize {
        self.with(name, |endpoint| endpoint.tokens.iter().filter(|it| *it == token).count())
    }

    /// How many questions an endpoint got.
    pub(crate) fn asked_in_all(&self, name: &str) -> usize {
        self.with(name, |endpoint| endpoint.tokens.len())
    }

    /// Requests that no gate may send, until now.
    pub(crate) fn wrong(&self) -> Vec<String> {
        core::mem::take(&mut *self.wrong.lock().unwrap())
    }

    fn answer(&self, mut stream: TcpStream) -> Option<()> {
        let request = Request::read(&stream)?;
        let name = request.path.strip_prefix('/')?;
        let (token, wrong) = match request.token() {
            Ok(token) => (token, None),
            Err(wrong) => (String::new(), Some(wrong)),
        };
        let known = {
            let mut all = self.all.lock().unwrap();
            let known = all.get_mut(name).map(|endpoint| {
                endpoint.tokens.push(token.clone());
                let answer = endpoint.answers.get(&token).cloned();
                let authorization = request.one("authorization");
                let is_client = authorization == Some(&endpoint.authorization);
                (endpoint.conduct, is_client, answer)
            });
            known.filter(|_| wrong.is_none())
        };
        while self.all.lock().unwrap().get(name).is_some_and(|endpoint| endpoint.conduct == Conduct::Holds) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let Some((conduct, is_client, answer)) = known else {
            let wrong = wrong.unwrap_or_else(|| "nothing is there".to_owned());
            let (method, path) = (&request.method, &request.path);
            let wrong = format!("{method} {path}: {wrong}");
            self.wrong.lock().unwrap().push(wrong);
            return send(&mut stream, "400 No", "", "");
        };
        let answer = answer.unwrap_or_else(|| r#"{"active":false}"#.to_owned());
        if conduct == Conduct::Right && !is_client {
            return send(&mut stream, "401 Unauthorized", "", &answer);
        }
        // To another path of this server, with the method and the body.
        conduct.answer(&mut stream, &answer, "307 Temporary Redirect", &self.url("moved"))
    }
}

impl Request {
    fn read(stream: &TcpStream) -> Option<Self> {
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Self { method, path, headers, body: String::new() };
        let length = request.one("content-length");
        let length = length.map_or(Ok(0), |length| length.parse()).ok()?;
        let read = reader.take(length).read_to_string(&mut request.body).ok()?;
        (u64::try_from(read).ok()? == length).then_some(request)
    }

    /// The value of a header that occurs once.
    fn one(&self, name: &str) -> Option<&String> {
        let mut values = self.headers.iter().filter(|(key, _)| key == name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value)
    }

    /// The token that it asks about, or what is wrong with the question.
    fn token(&self) -> Result<String, String> {
        let is = |name: &str, value: &str| match self.one(name) {
            Some(actual) if actual == value => Ok(()),
            actual => Err(format!("`{name}` is {actual:?}")),
        };
        if self.method != "POST" {
            return Err("not a POST".to_owned());
        }
        is("content-type", "application/x-www-form-urlencoded")?;
        is("accept", "application/json")?;
        if self.one("authorization").is_none() {
            return Err("no credentials, or several".to_owned());
        }
        let fields: Vec<_> = self.body.split('&').collect();
        match fields[..] {
            [token, "token_type_hint=access_token"] if token.starts_with("token=") => {
                decoded(&token["token=".len()..]).ok_or_else(|| "not a form".to_owned())
            }
            _ => Err("not a question about an access token".to_owned()),
        }
    }
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}
