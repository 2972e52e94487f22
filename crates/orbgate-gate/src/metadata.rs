//! The metadata of a protected resource (RFC 9728), which tells clients where to get a token.

use orbgate_token::Verifier;

use crate::answer::Denial;
use crate::challenge::{fits, is_https_url, is_quotable, requestable};
use crate::mcp::error::McpError as MetadataError;
use crate::request::Request;

/// The metadata of a protected resource (RFC 9728): its URL, and the issuers of its tokens. A gate with it
/// responds to `GET /.well-known/oauth-protected-resource` itself, with and without the resource's path after it, without a
/// token and for every origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    url: String,
    path: String,
    document: Box<[u8]>,
}

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The document has no secret, and its client can be a page.
const HEADERS: &[(&str, &str)] = &[("access-control-allow-origin", "*"), ("cache-control", "max-age=3600")];
const PREFLIGHT: &[(&str, &str)] = &[
    ("access-control-allow-origin", "*"),
    ("access-control-allow-methods", "GET"),
    ("access-control-allow-headers", "*"),
    ("access-control-max-age", "3600"),
];

impl Metadata {
    /// The metadata of this resource, an absolute `https` URL, or `http` on this machine. Its tokens are those that the verifier
    /// accepts. `scopes` are those that a client should ask for at first, separated by spaces; an empty string leaves them out, and
    /// so does a name that [must be earned](orbgate::is_earned).
    ///
    /// # Errors
    ///
    /// Fails if the URL has a query, a fragment or a trailing slash, or if it isn't one of an issuer's audiences: no token that
    /// a client gets with this metadata would be accepted.
    pub fn new(resource: &str, verifier: &Verifier, scopes: &str) -> Result<Self, MetadataError> {
        let error = |why: &str| MetadataError::of(format!("metadata: resource `{resource}` {why}"));
        let (scheme, rest) = resource.split_once("://").unwrap_or_default();
        let host = rest.split('/').next().unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let is_local = scheme == "http" && matches!(name, "localhost" | "127.0.0.1" | "[::1]");
        let is_url = is_https_url(resource) || is_local && is_quotable(resource) && !resource.contains(' ');
        if !is_url || resource.contains(['?', '#']) || resource.ends_with('/') {
            return Err(error("isn't an absolute `https` URL without query, fragment and final `/`"));
        }
        let path = rest.get(host.len()..).unwrap_or_default();
        let url = format!("{scheme}://{host}{WELL_KNOWN}{path}");
        if !fits(&url) {
            return Err(error("is too long for a challenge"));
        }
        let foreign = verifier.audiences().filter(|(_, audiences)| !audiences.iter().any(|it| it == resource));
        if let Some((issuer, _)) = foreign.into_iter().next() {
            return Err(error(&format!("isn't an audience of the issuer `{issuer}`")));
        }
        let issuers: Vec<_> = verifier.issuers().collect();
        let scopes = requestable(scopes);
        let mut document = serde_json::json!({
            "resource": resource,
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
        });
        if let Some(members) = document.as_object_mut() {
            if !scopes.is_empty() {
                members.insert("scopes_supported".to_owned(), scopes.into());
            }
            let algorithms = verifier.dpop_algorithms();
            let algorithms: Vec<_> = algorithms.split_ascii_whitespace().collect();
            if !algorithms.is_empty() {
                members.insert("dpop_signing_alg_values_supported".to_owned(), algorithms.into());
                members.insert("dpop_bound_access_tokens_required".to_owned(), verifier.requires_dpop().into());
            }
            if verifier.takes_certificates() {
                members.insert("tls_client_certificate_bound_access_tokens".to_owned(), true.into());
            }
        }
        Ok(Self { url, path: format!("{WELL_KNOWN}{path}"), document: document.to_string().into_bytes().into() })
    }

    /// The URL of the metadata, for challenges.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The response, if a request is for the metadata.
    pub(crate) fn response(&self, request: &Request<'_>) -> Option<Denial> {
        let path = request.target.split(|byte| *byte == b'?').next()?;
        if path != self.path.as_bytes() && path != WELL_KNOWN.as_bytes() {
            return None;
        }
        let (status, body, headers) = match request.method {
            b"GET" | b"HEAD" => (200, Some(self.document.clone()), HEADERS),
            b"OPTIONS" => (204, None, PREFLIGHT),
            _ => return None,
        };
        let headers = headers.iter().map(|(name, value)| (*name, (*value).into())).collect();
        Some(Denial { status, body, headers, ..Denial::default() })
    }
}
