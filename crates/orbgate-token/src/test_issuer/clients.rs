//! Clients that register themselves (RFC 7591).

use serde_json::{Map, Value, json};

use super::oauth::{OAuthError, secret};

/// The grants that a client can register, of the many that there are.
pub(super) const GRANTS: [&str; 3] = ["authorization_code", "client_credentials", "refresh_token"];
/// How a client can authenticate at the token endpoint.
pub(super) const METHODS: [&str; 3] = ["client_secret_basic", "client_secret_post", "none"];
const MOST_BYTES: usize = 2048;

/// A registered client.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) id: String,
    /// `None`: a public client.
    pub(super) secret: Option<String>,
    pub(super) method: &'static str,
    pub(super) grants: Vec<&'static str>,
    pub(super) redirect_uris: Vec<String>,
    name: Option<String>,
}

impl Client {
    /// The client that this metadata describes.
    pub(super) fn register(body: &[u8]) -> Result<Self, OAuthError> {
        let wrong = |text: &str| OAuthError::new("invalid_client_metadata", text);
        let mut metadata: Map<String, Value> =
            serde_json::from_slice(body).map_err(|_| wrong("the body must be a JSON object"))?;
        metadata.retain(|_, value| !value.is_null());
        let method = match metadata.get("token_endpoint_auth_method") {
            None => "client_secret_basic",
            Some(given) => {
                let known = METHODS.into_iter().find(|method| given == method);
                known.ok_or_else(|| wrong(&format!("token_endpoint_auth_method: there are {}", METHODS.join(", "))))?
            }
        };
        let given = strings(&metadata, "grant_types").map_err(wrong)?;
        let given = given.unwrap_or_else(|| vec!["authorization_code".to_owned()]);
        // Clients register for every issuer that they can use. The response states what this one has.
        let mut grants: Vec<_> = GRANTS.into_iter().filter(|grant| given.iter().any(|given| given == grant)).collect();
        if method == "none" {
            // It has no credentials.
            grants.retain(|grant| *grant != "client_credentials");
        }
        if !grants.iter().any(|grant| *grant != "refresh_token") {
            return Err(wrong("grant_types: authorization_code, or client_credentials with a secret"));
        }
        let redirect_uris = strings(&metadata, "redirect_uris").map_err(wrong)?.unwrap_or_default();
        if redirect_uris.is_empty() && grants.contains(&"authorization_code") {
            return Err(OAuthError::new("invalid_redirect_uri", "redirect_uris: at least one is needed"));
        }
        if let Some(uri) = redirect_uris.iter().find(|uri| !is_redirect(uri)) {
            let text =
                format!("`{}`: must be https, on this machine, or of an app, without a fragment", uri.escape_default());
            return Err(OAuthError::new("invalid_redirect_uri", &text));
        }
        let name = metadata.get("client_name").and_then(Value::as_str).map(str::to_owned);
        let own = if method == "none" { None } else { Some(secret()?) };
        Ok(Self { id: secret()?, secret: own, method, grants, redirect_uris, name })
    }

    /// The response to its registration.
    pub(super) fn registered(&self, now: u64) -> Value {
        let mut all = json!({
            "client_id": self.id, "client_id_issued_at": now, "token_endpoint_auth_method": self.method,
            "grant_types": self.grants, "redirect_uris": self.redirect_uris,
            "response_types": if self.grants.contains(&"authorization_code") { vec!["code"] } else { Vec::new() },
        });
        let secret = self
            .secret
            .iter()
            .flat_map(|secret| [("client_secret", json!(secret)), ("client_secret_expires_at", json!(0))]);
        let name = self.name.iter().map(|name| ("client_name", json!(name)));
        if let Value::Object(all) = &mut all {
            all.extend(secret.chain(name).map(|(name, value)| (name.to_owned(), value)));
        }
        all
    }
}

fn strings(metadata: &Map<String, Value>, name: &'static str) -> Result<Option<Vec<String>>, &'static str> {
    let Some(value) = metadata.get(name) else { return Ok(None) };
    let strings = value.as_array().and_then(|all| all.iter().map(|one| one.as_str().map(str::to_owned)).collect());
    strings.map(Some).ok_or("grant_types and redirect_uris must be lists of strings")
}

/// Whether this can receive codes: a page over TLS, a program on this machine, or an app that has a scheme of its own.
fn is_redirect(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once("://") else { return false };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let (host, _) =
        authority.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).unwrap_or((authority, ""));
    let is_allowed = match scheme {
        "https" => !host.is_empty(),
        "http" => ["127.0.0.1", "localhost", "[::1]"].contains(&host),
        // Browsers run or read these.
        "javascript" | "data" | "vbscript" | "file" | "blob" => false,
        _ => scheme.starts_with(|first: char| first.is_ascii_lowercase()) && scheme.bytes().all(is_of_scheme),
    };
    is_allowed && uri.len() <= MOST_BYTES && uri.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#')
}

const fn is_of_scheme(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'-' | b'.')
}
