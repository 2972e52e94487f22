//! The server: the life cycle of a session, and the dispatch of messages.

mod answers;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;

use gen_lsp_types::json_rpc::{Error, Id, RequestObject, ResponseObject};
use gen_lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionRequest, DefinitionRequest, Diagnostic,
    DidChangeTextDocumentNotification, DidCloseTextDocumentNotification, DidOpenTextDocumentNotification,
    DocumentFormattingRequest, DocumentSymbolRequest, ErrorCodes, ExitNotification, HoverRequest, InitializeRequest,
    InitializeResult, LspErrorCodes, LspNotificationMethod, LspRequestMethod, MarkupKind, MessageType, Notification,
    PublishDiagnosticsNotification, PublishDiagnosticsParams, ReferencesRequest, Request, ServerCapabilities,
    ServerInfo, ShowMessageNotification, ShowMessageParams, ShutdownRequest, TextDocumentContentChangeEvent,
    TextDocumentSyncKind, TextDocumentSyncOptions, Uri,
};
use orbgate_analysis::Levels;
use serde_json::Value;

use crate::document::Document;
use crate::encoding::Encoding;
use crate::queue::{Fate, Queue, Waiting};
use crate::wire::{self, Incoming};
use crate::{diagnostics, navigation, settings};

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client requested a shutdown and then exited: exit code 0.
    Orderly,
    /// The client exited without that: exit code 1, as the protocol requires.
    Abrupt,
}

/// How many messages wait between the two threads; further ones wait in the client's pipe.
const WAITING: usize = 64;

/// Serves one client until it exits. A separate thread reads `input` until the end of that stream. It can outlive the
/// session if a client keeps the stream open after sending `exit`.
///
/// # Errors
///
/// Errors of the streams, and [`io::ErrorKind::InvalidData`] if the input violates the protocol.
pub fn serve(mut input: impl BufRead + Send + 'static, output: &mut dyn Write) -> io::Result<End> {
    let (sender, receiver) = mpsc::sync_channel(WAITING);
    thread::spawn(move || {
        loop {
            let read = wire::read(&mut input).transpose();
            let Some(read) = read else {
                return;
            };
            let failed = read.is_err();
            if sender.send(read).is_err() || failed {
                return;
            }
        }
    });
    Server::new(output).run(&receiver)
}

/// The state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    New,
    Running,
    ShutDown,
}

struct Server<'o> {
    output: &'o mut dyn Write,
    stage: Stage,
    encoding: Encoding,
    levels: Levels,
    hover_kind: MarkupKind,
    documents: BTreeMap<String, Document>,
}

/// A result, or an error.
type Answer<T> = Result<T, Error>;

impl<'o> Server<'o> {
    fn new(output: &'o mut dyn Write) -> Self {
        Self {
            output,
            stage: Stage::New,
            encoding: Encoding::default(),
            levels: Levels::default(),
            hover_kind: MarkupKind::Markdown,
            documents: BTreeMap::new(),
        }
    }

    fn run(&mut self, receiver: &Receiver<io::Result<Incoming>>) -> io::Result<End> {
        let mut queue = Queue::default();
        let mut open = true;
        loop {
            // Queues everything that has arrived before handling the next message, which might be obsolete by now.
            while open {
                match receiver.try_recv() {
                    Ok(message) => queue.push(message?),
                    Err(TryRecvError::Disconnected) => open = false,
                    Err(TryRecvError::Empty) => break,
                }
            }
            if let Some(waiting) = queue.pop() {
                if is_exit(&waiting.message) {
                    return Ok(self.end());
                }
                self.take(waiting)?;
            } else if let Some(uri) = self.unseen() {
                self.publish(&uri)?;
            } else {
                match receiver.recv() {
                    Ok(message) => queue.push(message?),
                    Err(_) => return Ok(self.end()),
                }
            }
        }
    }

    const fn end(&self) -> End {
        match self.stage {
            Stage::ShutDown => End::Orderly,
            Stage::New | Stage::Running => End::Abrupt,
        }
    }

    /// A document that hasn't been checked yet.
    fn unseen(&self) -> Option<String> {
        let mut documents = self.documents.iter();
        let unseen = documents.find(|(_, document)| document.checked.is_none());
        unseen.map(|(uri, _)| uri.clone())
    }

    fn take(&mut self, waiting: Waiting) -> io::Result<()> {
        match waiting.message {
            Incoming::Malformed(message) => self.respond_error(Id::Null, error(ErrorCodes::ParseError, message)),
            Incoming::TooLong(length) => self
                .show(format!("orbgate: a message of {length} bytes was not read: {} are the limit", wire::MOST_BYTES)),
            Incoming::Message(message) => {
                let (method, id, params) = message.into_parts();
                let params = params.unwrap_or_default();
                match id {
                    // A response, although the server sends no requests.
                    _ if method.is_empty() => Ok(()),
                    None => self.note(&method, params),
                    Some(id) => match self.gate(&method, waiting.fate) {
                        Ok(()) => self.request(&method, id, params),
                        Err(error) => self.respond_error(id, error),
                    },
                }
            }
        }
    }

    /// Fails if a request may not be handled now.
    fn gate(&self, method: &str, fate: Fate) -> Answer<()> {
        let initialize = LspRequestMethod::from(method) == InitializeRequest::METHOD;
        match (fate, self.stage) {
            (Fate::Cancelled, _) => Err(lsp_error(LspErrorCodes::RequestCancelled, "cancelled")),
            (_, Stage::New) if !initialize => {
                let message = "`initialize` comes first".to_owned();
                Err(error(ErrorCodes::ServerNotInitialized, message))
            }
            (_, Stage::ShutDown) => {
                let message = "the server is shut down".to_owned();
                Err(error(ErrorCodes::InvalidRequest, message))
            }
            (_, Stage::Running) if initialize => {
                let message = "`initialize` comes once".to_owned();
                Err(error(ErrorCodes::InvalidRequest, message))
            }
            (Fate::Outdated, _) => {
                let message = "the document has changed";
                Err(lsp_error(LspErrorCodes::ContentModified, message))
            }
            (Fate::Open, _) => Ok(()),
        }
    }

    fn request(&mut self, method: &str, id: Id, params: Value) -> io::Result<()> {
        let method = LspRequestMethod::from(method);
        if method == InitializeRequest::METHOD {
            let answer = self.initialize(&params);
            self.respond::<InitializeRequest>(id, answer)
        } else if method == ShutdownRequest::METHOD {
            self.stage = Stage::ShutDown;
            self.respond::<ShutdownRequest>(id, Ok(()))
        } else if method == HoverRequest::METHOD {
            self.answer::<HoverRequest>(id, params, |server, params| {
                let at = params.text_document_position_params;
                server.hover(&at.text_document.uri, at.position)
            })
        } else if method == DefinitionRequest::METHOD {
            self.answer::<DefinitionRequest>(id, params, |server, params| {
                let at = params.text_document_position_params;
                server.definition(&at.text_document.uri, at.position)
            })
        } else if method == ReferencesRequest::METHOD {
            self.answer::<ReferencesRequest>(id, params, |server, params| {
                let at = params.text_document_position_params;
                let with_scope = params.context.include_declaration;
                server.references(&at.text_document.uri, at.position, with_scope)
            })
        } else if method == DocumentSymbolRequest::METHOD {
            self.answer::<DocumentSymbolRequest>(id, params, |server, params| {
                let encoding = server.encoding;
                let document = server.seen(&params.text_document.uri)?;
                let valid = document.valid.as_ref();
                Ok(valid.map(|valid| navigation::outline(valid, encoding).into()))
            })
        } else if method == DocumentFormattingRequest::METHOD {
            self.answer::<DocumentFormattingRequest>(id, params, |server, params| {
                server.lay_out(&params.text_document.uri)
            })
        } else if method == CodeActionRequest::METHOD {
            self.answer::<CodeActionRequest>(id, params, |server, params| server.fixes(&params))
        } else {
            let message = "no such method".to_owned();
            self.respond_error(id, error(ErrorCodes::MethodNotFound, message))
        }
    }

    /// Handles a notification from the client, which gets no response.
    fn note(&mut self, method: &str, params: Value) -> io::Result<()> {
        if self.stage != Stage::Running {
            return Ok(());
        }
        let method = LspNotificationMethod::from(method);
        let wrong = if method == DidOpenTextDocumentNotification::METHOD {
            told::<DidOpenTextDocumentNotification>(params).map(|params| {
                let opened = params.text_document;
                let document = Document::new(opened.uri.clone(), opened.version, opened.text);
                self.documents.insert(opened.uri.0, document);
            })
        } else if method == DidChangeTextDocumentNotification::METHOD {
            told::<DidChangeTextDocumentNotification>(params).and_then(|params| {
                let changed = params.text_document;
                let document = self.documents.get_mut(&changed.text_document_identifier.uri.0);
                let document = document.ok_or("a document was changed that is not open")?;
                match params.content_changes.into_iter().next_back() {
                    Some(TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole)) => {
                        document.change(changed.version, whole.text)
                    }
                    Some(_) => {
                        return Err("a part of a text was sent, and not the whole".to_owned());
                    }
                    None => document.version = changed.version,
                }
                Ok(())
            })
        } else if method == DidCloseTextDocumentNotification::METHOD {
            let closed = told::<DidCloseTextDocumentNotification>(params);
            match closed {
                Ok(params) => {
                    let uri = params.text_document.uri;
                    self.documents.remove(&uri.0);
                    return self.diagnose(uri, None, Vec::new());
                }
                Err(wrong) => Err(wrong),
            }
        } else {
            Ok(())
        };
        match wrong {
            Ok(()) => Ok(()),
            Err(wrong) => self.show(format!("orbgate: {wrong}")),
        }
    }

    fn initialize(&mut self, params: &Value) -> Answer<InitializeResult> {
        // Reads only the needed members, because clients send many others.
        let at = |pointer: &str| params.pointer(pointer).cloned().unwrap_or_default();
        let levels = settings::read(&at("/initializationOptions"));
        self.levels = levels.map_err(|message| {
            let message = format!("`initializationOptions`: {message}");
            error(ErrorCodes::InvalidParams, message)
        })?;
        let encodings = serde_json::from_value(at("/capabilities/general/positionEncodings"));
        self.encoding = Encoding::negotiate(&encodings.unwrap_or_else(|_| Vec::new()));
        let kinds = at("/capabilities/textDocument/hover/contentFormat");
        if let Ok(kinds) = serde_json::from_value::<Vec<MarkupKind>>(kinds)
            && !kinds.contains(&MarkupKind::Markdown)
        {
            self.hover_kind = MarkupKind::PlainText;
        }
        self.stage = Stage::Running;
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Full),
            ..TextDocumentSyncOptions::default()
        };
        let actions = CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QuickFix]),
            ..CodeActionOptions::default()
        };
        Ok(InitializeResult {
            capabilities: ServerCapabilities {
                position_encoding: Some(self.encoding.kind()),
                text_document_sync: Some(sync.into()),
                hover_provider: Some(true.into()),
                definition_provider: Some(true.into()),
                references_provider: Some(true.into()),
                document_symbol_provider: Some(true.into()),
                document_formatting_provider: Some(true.into()),
                code_action_provider: Some(actions.into()),
                ..ServerCapabilities::default()
            },
            server_info: Some(ServerInfo {
                name: "orbgate".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        })
    }

    /// Checks a document, unless that was already done, and sends the results.
    fn publish(&mut self, uri: &str) -> io::Result<()> {
        let Some(document) = self.documents.get_mut(uri) else {
            return Ok(());
        };
        if document.checked.is_some() {
            return Ok(());
        }
        document.look(&self.levels);
        let (uri, version) = (document.uri.clone(), document.version);
        let diagnostics = diagnostics::of(document, self.encoding);
        self.diagnose(uri, Some(version), diagnostics)
    }

    fn diagnose(&mut self, uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic>) -> io::Result<()> {
        self.tell::<PublishDiagnosticsNotification>(PublishDiagnosticsParams { uri, version, diagnostics })
    }

    /// Shows a message to the user.
    fn show(&mut self, message: String) -> io::Result<()> {
        self.tell::<ShowMessageNotification>(ShowMessageParams { kind: MessageType::Error, message })
    }

    fn tell<N: Notification>(&mut self, params: N::Params) -> io::Result<()> {
        wire::write(self.output, &RequestObject::from_notification::<N>(params))
    }

    /// Handles a request after parsing its parameters.
    fn answer<R: Request>(
        &mut self,
        id: Id,
        params: Value,
        answer: impl FnOnce(&mut Self, R::Params) -> Answer<R::Result>,
    ) -> io::Result<()> {
        let answer = match serde_json::from_value(params) {
            Ok(params) => answer(self, params),
            Err(wrong) => Err(error(ErrorCodes::InvalidParams, wrong.to_string())),
        };
        self.respond::<R>(id, answer)
    }

    fn respond<R: Request>(&mut self, id: Id, answer: Answer<R::Result>) -> io::Result<()> {
        match answer {
            Ok(result) => wire::write(self.output, &ResponseObject::from_success::<R>(id, result)),
            Err(error) => self.respond_error(id, error),
        }
    }

    fn respond_error(&mut self, id: Id, error: Error) -> io::Result<()> {
        wire::write(self.output, &ResponseObject::from_error(id, error))
    }
}

fn is_exit(message: &Incoming) -> bool {
    matches!(message, Incoming::Message(message)
        if message.id().is_none() && LspNotificationMethod::from(message.method()) == ExitNotification::METHOD)
}

/// The parameters of a notification.
fn told<N: Notification>(params: Value) -> Result<N::Params, String> {
    let params = serde_json::from_value(params);
    params.map_err(|error| format!("{}: {error}", N::METHOD))
}

const fn error(code: ErrorCodes, message: String) -> Error {
    Error { code, message, data: None }
}

fn lsp_error(code: LspErrorCodes, message: &str) -> Error {
    error(ErrorCodes::Custom(code.into()), message.to_owned())
}
