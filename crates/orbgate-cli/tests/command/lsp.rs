//! `orbgate lsp` at the other end of an editor's pipes. What it says is tested in `orbgate-lsp`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout};

use serde_json::{Value, json};

use crate::{SHOP, command, orbgate_reading};

/// An editor that has started the command.
struct Editor {
    server: Child,
    output: BufReader<ChildStdout>,
}

impl Editor {
    fn start(arguments: &[&str]) -> Self {
        let mut server = command(arguments);
        let mut server = server.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        Self { server, output }
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let input = self.server.stdin.as_mut().unwrap();
        input.write_all(framed(&message.to_string()).as_bytes()).unwrap();
    }

    fn next(&mut self) -> Value {
        let mut header = String::new();
        self.output.read_line(&mut header).unwrap();
        let length = header.strip_prefix("Content-Length: ").unwrap();
        let mut body = vec![0; length.trim().parse().unwrap()];
        self.output.read_line(&mut header).unwrap();
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn leave(mut self) -> i32 {
        drop(self.server.stdin.take());
        self.server.wait().unwrap().code().unwrap()
    }
}

fn framed(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn an_editor_is_served_until_it_goes() {
    for arguments in [&["lsp"][..], &["lsp", "--stdio"]] {
        let mut editor = Editor::start(arguments);
        editor.send(json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } }));
        assert_eq!(editor.next()["result"]["capabilities"]["hoverProvider"], true);
        editor.send(json!({ "method": "initialized", "params": {} }));
        let text = SHOP.replace("orbs: 3", "orbs: 0");
        assert_ne!(text, SHOP);
        let document = json!({ "uri": "file:///policy.yaml", "languageId": "yaml", "version": 7, "text": text });
        editor.send(json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } }));
        let told = editor.next();
        assert_eq!(told["method"], "textDocument/publishDiagnostics");
        let message = told["params"]["diagnostics"][0]["message"].as_str().unwrap();
        assert!(message.ends_with("write `false`"), "{message}");
        editor.send(json!({ "id": "2", "method": "shutdown" }));
        assert_eq!(editor.next(), json!({ "jsonrpc": "2.0", "id": "2", "result": null }));
        editor.send(json!({ "method": "exit" }));
        assert_eq!(editor.leave(), 0);
    }
    let editor = Editor::start(&["lsp"]);
    assert_eq!(editor.leave(), 1);
}

#[test]
fn what_is_no_editor_is_told() {
    for (input, message) in
        [("GET / HTTP/1.1\r\n\r\n", "`Content-Length`\n"), ("Content-Length: 9999999\r\n\r\n{}", "end of file\n")]
    {
        let ran = orbgate_reading(&["lsp"], input.as_bytes());
        assert_eq!((ran.code, &*ran.out, ran.err.lines().count()), (2, "", 1));
        assert!(ran.err.starts_with("error: standard input ") && ran.err.ends_with(message));
    }
    let exit = framed(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    let ran = orbgate_reading(&["lsp"], exit.as_bytes());
    assert_eq!((ran.code, &*ran.out, &*ran.err), (1, "", ""));
}
