//! The queue of incoming messages. Messages that a later message makes obsolete are skipped.

use std::collections::VecDeque;

use gen_lsp_types::json_rpc::Id;
use gen_lsp_types::{CancelNotification, DidChangeTextDocumentNotification, LspNotificationMethod, Notification};
use serde_json::Value;

use crate::wire::Incoming;

/// The messages to handle, in order.
#[derive(Debug, Default)]
pub(crate) struct Queue(VecDeque<Waiting>);

/// A queued message.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) message: Incoming,
    pub(crate) fate: Fate,
}

/// The state of a queued request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It must be answered.
    Open,
    /// The client has cancelled it.
    Cancelled,
    /// Its document has changed since.
    Outdated,
}

impl Queue {
    /// Adds a message. A change of a document replaces an earlier change, so that fast typing doesn't fill
    /// the queue.
    pub(crate) fn push(&mut self, message: Incoming) {
        if let Some(params) = notified(&message, &CancelNotification::METHOD) {
            let id = params.get("id").cloned().map(serde_json::from_value);
            if let Some(Ok(id)) = id {
                self.cancel(&id);
            }
            return;
        }
        if let Some(document) = changed(&message) {
            self.0.retain(|waiting| changed(&waiting.message) != Some(document));
            for waiting in &mut self.0 {
                if is_request(&waiting.message) && uri(&waiting.message) == Some(document) {
                    waiting.fate = Fate::Outdated;
                }
            }
        }
        self.0.push_back(Waiting { message, fate: Fate::Open });
    }

    /// The next message to handle.
    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        self.0.pop_front()
    }

    fn cancel(&mut self, id: &Id) {
        for waiting in &mut self.0 {
            if matches!(&waiting.message, Incoming::Message(message) if message.id() == Some(id)) {
                waiting.fate = Fate::Cancelled;
            }
        }
    }
}

/// The parameters of a notification with this method.
fn notified<'m>(message: &'m Incoming, method: &LspNotificationMethod<'_>) -> Option<&'m Value> {
    match message {
        Incoming::Message(message) if message.id().is_none() => {
            let same = LspNotificationMethod::from(message.method()) == *method;
            same.then(|| message.params()).flatten()
        }
        _ => None,
    }
}

/// The document that a message changes.
fn changed(message: &Incoming) -> Option<&str> {
    notified(message, &DidChangeTextDocumentNotification::METHOD)?;
    uri(message)
}

const fn is_request(message: &Incoming) -> bool {
    matches!(message, Incoming::Message(message) if message.id().is_some())
}

/// The document that a message concerns.
fn uri(message: &Incoming) -> Option<&str> {
    match message {
        Incoming::Message(message) => message.params()?.pointer("/textDocument/uri")?.as_str(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Fate, Queue};
    use crate::wire::Incoming;

    fn message(mut value: Value) -> Incoming {
        value["jsonrpc"] = json!("2.0");
        Incoming::Message(serde_json::from_value(value).unwrap())
    }

    fn change(uri: &str, version: i32) -> Incoming {
        let document = json!({ "uri": uri, "version": version });
        message(json!({ "method": "textDocument/didChange", "params": { "textDocument": document } }))
    }

    fn hover(uri: &str, id: i32) -> Incoming {
        let params = json!({ "textDocument": { "uri": uri } });
        message(json!({ "id": id, "method": "textDocument/hover", "params": params }))
    }

    /// For each message that is left: the last word of its method, its version or id, and its
    /// state.
    fn left(mut queue: Queue) -> Vec<(String, String, Fate)> {
        let mut left = Vec::new();
        while let Some(waiting) = queue.pop() {
            let Incoming::Message(message) = waiting.message else {
                panic!("no message");
            };
            let name = message.method().rsplit('/').next().unwrap().to_owned();
            let params = message.params().unwrap();
            let version = &params["textDocument"]["version"];
            let number = message.id().map_or(version.to_string(), |id| format!("{id:?}"));
            left.push((name, number, waiting.fate));
        }
        left
    }

    fn row(name: &str, number: &str, fate: Fate) -> (String, String, Fate) {
        (name.to_owned(), number.to_owned(), fate)
    }

    #[test]
    fn only_the_last_change_of_a_document_is_done() {
        let mut queue = Queue::default();
        queue.push(change("a", 1));
        queue.push(change("b", 1));
        queue.push(hover("a", 1));
        queue.push(hover("b", 2));
        queue.push(change("a", 2));
        queue.push(hover("a", 3));
        let expected = [
            row("didChange", "1", Fate::Open),
            row("hover", "Number(1)", Fate::Outdated),
            row("hover", "Number(2)", Fate::Open),
            row("didChange", "2", Fate::Open),
            row("hover", "Number(3)", Fate::Open),
        ];
        assert_eq!(left(queue), expected);
    }

    #[test]
    fn a_request_is_cancelled_while_it_waits() {
        let mut queue = Queue::default();
        queue.push(hover("a", 1));
        for id in [json!(1), json!(2), json!("1"), json!(null), json!([])] {
            queue.push(message(json!({ "method": "$/cancelRequest", "params": { "id": id } })));
        }
        queue.push(message(json!({ "method": "$/cancelRequest" })));
        assert_eq!(queue.0.len(), 2, "what is not a cancellation is passed on");
        queue.0.pop_back();
        assert_eq!(left(queue), [row("hover", "Number(1)", Fate::Cancelled)]);
    }
}
