//! A client over pipes, and the policy that it opens.

use std::io::{self, BufReader, PipeReader, PipeWriter, Write};
use std::thread::{self, JoinHandle};

use lsp_server::{Message, Notification, Request, RequestId};
use orbgate_lsp::{End, serve};
use serde_json::{Value, json};

/// A client, and the server that it talks to.
pub(crate) struct Client {
    pub(crate) input: Option<PipeWriter>,
    pub(crate) output: BufReader<PipeReader>,
    server: JoinHandle<io::Result<End>>,
    pub(crate) next: i32,
    /// The server's notifications that no test has read yet.
    pub(crate) told: Vec<Notification>,
}

impl Client {
    pub(crate) fn new() -> Self {
        let (input, to_server) = io::pipe().unwrap();
        let (from_server, mut output) = io::pipe().unwrap();
        let server = move || serve(BufReader::new(input), &mut output);
        Self {
            input: Some(to_server.try_clone().unwrap()),
            output: BufReader::new(from_server),
            server: {
                drop(to_server);
                thread::spawn(server)
            },
            next: 0,
            told: Vec::new(),
        }
    }

    /// A client that has initialized the server.
    pub(crate) fn ready(params: Value) -> Self {
        let mut client = Self::new();
        client.ask("initialize", params).unwrap();
        client.tell("initialized", json!({}));
        client
    }

    pub(crate) fn send(&mut self, message: &Message) {
        message.write(self.input.as_mut().unwrap()).unwrap();
    }

    pub(crate) fn raw(&mut self, body: &str) {
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        let method = method.to_owned();
        self.send(&Message::Notification(Notification { method, params }));
    }

    /// Sends a request, and does not wait.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let (id, method) = (RequestId::from(self.next), method.to_owned());
        self.send(&Message::Request(Request { id: id.clone(), method, params }));
        id
    }

    /// The answer, or the code of the error with its message.
    pub(crate) fn answer(&mut self, id: &RequestId) -> Result<Value, (i32, String)> {
        loop {
            match Message::read(&mut self.output).unwrap().expect("the server has gone") {
                Message::Response(response) if response.id == *id => {
                    let answer = response.response_result;
                    return answer.map_err(|error| (error.code, error.message));
                }
                Message::Notification(told) => self.told.push(told),
                message => panic!("{message:?}"),
            }
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.request(method, params);
        self.answer(&id)
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn change(&mut self, uri: &str, version: i32, text: &str) {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        self.tell("textDocument/didChange", params);
    }

    /// The parameters of the next notification with this method.
    pub(crate) fn heard(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.told.iter().position(|told| told.method == method) {
                return self.told.remove(at).params;
            }
            match Message::read(&mut self.output).unwrap().expect("the server has gone") {
                Message::Notification(told) => self.told.push(told),
                message => panic!("{message:?}"),
            }
        }
    }

    pub(crate) fn diagnostics(&mut self) -> Value {
        self.heard("textDocument/publishDiagnostics")
    }

    /// The client leaves, with or without `exit`.
    pub(crate) fn end(mut self) -> io::Result<End> {
        drop(self.input.take());
        self.server.join().unwrap()
    }
}

pub(crate) const URI: &str = "file:///a/policy.yaml";

pub(crate) const SHOP: &str = "\
orbgate: 1
apis:
  items:
    base_path: /v1
    scopes:
      read:items:
        permits: reads ![it](https://example.com/x.png) \u{1d11e}
        orbs: false
        routes: [GET /items, 'GET /items/{id}']
      order:items:
        permits: orders
        orbs: 3
        routes:
          - POST /items/order
          - route: GET /items/latest   # the newest
            orbs: 5
...
";

/// The location of a text in SHOP, in UTF-16.
pub(crate) fn location_of(text: &str) -> Value {
    let at = SHOP.find(text).unwrap_or_else(|| panic!("{text}"));
    let before = &SHOP[..at];
    let line = before.matches('\n').count();
    let character = before.rsplit('\n').next().unwrap().encode_utf16().count();
    json!({ "line": line, "character": character })
}

pub(crate) fn at(text: &str) -> Value {
    json!({ "textDocument": { "uri": URI }, "position": location_of(text) })
}

pub(crate) fn range_of(text: &str) -> Value {
    let start = location_of(text);
    let end = start["character"].as_u64().unwrap() + u64::try_from(text.encode_utf16().count()).unwrap();
    json!({ "start": start, "end": { "line": start["line"], "character": end } })
}
