//! Denials that a client of MCP understands.

use orbgate::Reason;

use super::call::McpCall;
use super::endpoint::Mcp;
use super::fault::McpFault;
use crate::answer::Answer;
use crate::credentials::Verified;
use crate::rules::Rules;

/// The code for an operation that isn't declared.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INVALID_PARAMS: i32 = -32602;
pub(super) const INVALID_REQUEST: i32 = -32600;
/// The code for a call whose orbs can't be held, one that servers may define.
pub(super) const UNPAID: i32 = -32000;

impl Rules {
    /// A result, whose denial an MCP client understands if the request was for an endpoint, and which a page may read.
    pub(crate) fn as_mcp<'e, T: Verified>(&self, mut answer: Answer<'e, T>) -> Answer<'e, T> {
        let (Some(mcp), Some(call)) = (&self.mcp, &answer.mcp) else {
            return answer;
        };
        let headers = mcp.response_headers(call.page.as_deref());
        let Some(denial) = &mut answer.denial else {
            return Answer { headers, ..answer };
        };
        denial.headers = headers;
        if self.is_flat() {
            return answer;
        }
        let reason = answer.decision.reason();
        let is_undeclared = matches!(reason, Reason::NoRoute | Reason::MethodNotDeclared);
        if is_undeclared {
            denial.allow = call.allow.clone();
            denial.status = match (&denial.allow, call.is_in_session()) {
                (Some(_), _) => 405,
                // A client takes a 404 for the end of its session.
                (None, true) => 400,
                (None, false) => 404,
            };
        }
        if call.fault == Some(McpFault::Busy) {
            (denial.status, denial.retry_after) = (429, Some(1));
        }
        if call.fault == Some(McpFault::Origin) {
            // No scope would help.
            (denial.status, denial.www_authenticate) = (403, None);
            return answer;
        }
        if matches!(denial.status, 400 | 402 | 404 | 429 | 503) {
            denial.body = Some(mcp.error(call, reason, denial.retry_after));
        }
        answer
    }
}

impl Mcp {
    /// The JSON-RPC error for a denied call. Without an `id` to echo, it has none, as MCP writes it.
    fn error(&self, call: &McpCall, reason: Reason, retry_after: Option<u64>) -> Box<[u8]> {
        let (code, message, data) = match (call.fault, reason) {
            (Some(McpFault::Version), _) => {
                let (code, message) = McpFault::Version.error();
                (code, message, Some(serde_json::json!({ "supported": self.versions, "requested": call.requested })))
            }
            (Some(fault), _) => {
                let (code, message) = fault.error();
                (code, message, None)
            }
            (None, Reason::InsufficientOrbs | Reason::LedgerUnavailable) => {
                let data = serde_json::json!({ "reason": reason.as_str(), "retryable": retry_after.is_some() });
                let message = match reason {
                    Reason::InsufficientOrbs => "the account doesn't have the orbs that the call consumes",
                    _ => "the ledger of orbs doesn't answer",
                };
                (UNPAID, message, Some(data))
            }
            (None, Reason::MalformedRequest) => (INVALID_REQUEST, "the request has no single, safe spelling", None),
            (None, _) => {
                (call.code, if call.code == METHOD_NOT_FOUND { "method not found" } else { "unknown name" }, None)
            }
        };
        let mut error = serde_json::json!({ "code": code, "message": message });
        if let (Some(data), Some(error)) = (data, error.as_object_mut()) {
            error.insert("data".to_owned(), data);
        }
        // The id isn't a value of the library, so that its bytes stay as they are.
        let id = call.id.as_deref().map(|id| format!("\"id\":{id},")).unwrap_or_default();
        format!("{{\"jsonrpc\":\"2.0\",{id}\"error\":{error}}}").into_bytes().into()
    }
}
