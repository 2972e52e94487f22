//! What browsers need of an endpoint's responses, for the pages of its origins (CORS).

use std::borrow::Cow;

use super::endpoint::Mcp;
use crate::answer::{Denial, ResponseHeaders};
use crate::request::Request;

/// Whether or not a policy declares them: a page must be able to read that one isn't.
const METHODS: &str = "POST, GET, DELETE";

/// What clients send, in any version of the protocol.
const SENT: &str = "accept, authorization, content-type, dpop, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id";

/// The start of the headers that repeat a tool's arguments (SEP-2243). The tool chooses the rest.
const PARAMETER: &str = "mcp-param-";

/// What clients read: which scope to ask for, and the session of an older version.
const READ: &str = "WWW-Authenticate, Mcp-Session-Id";

/// For how many seconds a browser need not ask again.
const MAX_AGE: &str = "3600";

impl Mcp {
    /// The page's origin that a request states, if it is one of the endpoint's.
    pub(crate) fn page(&self, origins: &[&[u8]]) -> Option<&str> {
        let [origin] = origins else { return None };
        self.origins.iter().find(|known| known.as_bytes() == *origin).map(String::as_str)
    }

    /// The response to the question whether a page may send a request. It needs no token, because browsers send none.
    pub(crate) fn preflight(&self, request: &Request<'_>) -> Option<Denial> {
        let page = self.page(request.origin).filter(|_| request.method == b"OPTIONS")?;
        let requested =
            request.access_control_request_headers.iter().flat_map(|value| value.split(|byte| *byte == b','));
        let parameters = requested.filter_map(|name| parameter(name.trim_ascii()));
        let allowed: Vec<_> = core::iter::once(SENT.to_owned()).chain(parameters).collect();
        let mut headers = self.response_headers(Some(page));
        headers.extend([
            ("access-control-allow-methods", METHODS.into()),
            ("access-control-allow-headers", allowed.join(", ").into()),
            ("access-control-max-age", MAX_AGE.into()),
        ]);
        Some(Denial { status: 204, headers, ..Denial::default() })
    }

    /// The headers of the response to a request from this page, or from no page. An endpoint without origins has none, because no
    /// page can send it a request.
    pub(super) fn response_headers(&self, page: Option<&str>) -> ResponseHeaders {
        if self.origins.is_empty() {
            return Vec::new();
        }
        // A cache must not give a page the response to another one.
        let vary = ("vary", "Origin".into());
        let Some(page) = page else { return vec![vary] };
        let page = Cow::Owned(page.to_owned());
        vec![vary, ("access-control-allow-origin", page), ("access-control-expose-headers", READ.into())]
    }
}

/// The name of a header that repeats an argument, as browsers write it.
fn parameter(name: &[u8]) -> Option<String> {
    let name = str::from_utf8(name).ok()?.to_ascii_lowercase();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let rest = name.strip_prefix(PARAMETER)?;
    (!rest.is_empty() && rest.bytes().all(is_token)).then_some(name)
}
