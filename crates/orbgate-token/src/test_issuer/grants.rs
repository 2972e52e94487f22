//! Authorization codes with PKCE, refresh tokens and client credentials (OAuth 2.1). A code or refresh token works once: any
//! use of it, right or wrong, ends it, and a wrong one also ends what came from the same code.

use core::time::Duration;
use std::collections::VecDeque;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest as _, Sha256};

use super::clients::{Client, GRANTS};
use super::form::{Form, decoded};
use super::oauth::{OAuthError, secret};
use crate::scope::is_scope_text;

/// How long a code is valid.
const CODE: Duration = Duration::from_secs(60);
const REFRESH: Duration = Duration::from_secs(86_400);
/// The most clients, and the most codes and refresh tokens. The oldest go first.
const MOST: usize = 1024;

fn invalid_request(description: &str) -> OAuthError {
    OAuthError::new("invalid_request", description)
}

fn invalid_grant(description: &str) -> OAuthError {
    OAuthError::new("invalid_grant", description)
}

/// What a client may get tokens for.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Granted {
    pub(super) client: String,
    pub(super) scopes: String,
    /// The audience; `None`: the issuer's usual one.
    pub(super) resource: Option<String>,
    /// The client itself, without a user.
    pub(super) is_machine: bool,
}

/// A code or a refresh token.
struct Ticket {
    value: String,
    granted: Granted,
    expires: SystemTime,
    is_used: bool,
    /// The code from which it comes.
    family: String,
    code: Option<Code>,
}

/// What only a code has.
struct Code {
    redirect_uri: String,
    challenge: String,
}

/// The clients and their tickets.
#[derive(Default)]
pub(super) struct Grants {
    clients: VecDeque<Client>,
    tickets: VecDeque<Ticket>,
}

impl Grants {
    pub(super) fn register(&mut self, body: &[u8]) -> Result<Client, OAuthError> {
        let client = Client::register(body)?;
        push(&mut self.clients, client.clone());
        Ok(client)
    }

    fn client(&self, id: &str) -> Option<&Client> {
        self.clients.iter().find(|client| client.id == id)
    }

    /// Where the authorization endpoint sends the browser, with a code or an error. `Err`: nowhere, because the client
    /// or its address isn't known.
    pub(super) fn authorize(&mut self, query: &str, iss: &str, now: SystemTime) -> Result<String, OAuthError> {
        let query = Form::parse(query).ok_or_else(|| invalid_request("the query has a wrong escape"))?;
        let client = query.one("client_id")?.and_then(|id| self.client(id));
        let client = client.ok_or_else(|| invalid_request("client_id: not registered"))?.clone();
        let redirect_uri = query.one("redirect_uri")?.unwrap_or_default().to_owned();
        if !client.redirect_uris.contains(&redirect_uri) {
            return Err(invalid_request("redirect_uri: must be exactly one that the client registered"));
        }
        let mut answer = match self.code(&client, redirect_uri.clone(), &query, now) {
            Ok(code) => vec![("code", code)],
            Err(error) => vec![("error", error.error.to_owned()), ("error_description", error.description)],
        };
        if let Ok(Some(state)) = query.one("state") {
            answer.push(("state", state.to_owned()));
        }
        answer.push(("iss", iss.to_owned()));
        let pairs =
            answer.iter().map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
        let joined = pairs.collect::<Vec<_>>().join("&");
        let separator = if redirect_uri.contains('?') { '&' } else { '?' };
        Ok(format!("{redirect_uri}{separator}{joined}"))
    }

    fn code(
        &mut self,
        client: &Client,
        redirect_uri: String,
        query: &Form,
        now: SystemTime,
    ) -> Result<String, OAuthError> {
        query.one("state")?;
        if !client.grants.contains(&"authorization_code") {
            return Err(OAuthError::new("unauthorized_client", "it isn't registered for authorization_code"));
        }
        if query.one("response_type")? != Some("code") {
            return Err(OAuthError::new("unsupported_response_type", "response_type: must be code"));
        }
        if query.one("code_challenge_method")? != Some("S256") {
            return Err(invalid_request("code_challenge_method: must be S256"));
        }
        let challenge = query.one("code_challenge")?.unwrap_or_default();
        if challenge.len() != 43 || URL_SAFE_NO_PAD.decode(challenge).is_err() {
            return Err(invalid_request("code_challenge: must be the SHA-256 of the verifier as base64url"));
        }
        let code = Code { redirect_uri, challenge: challenge.to_owned() };
        let (scopes, resource) = (scopes(query)?, resource(query)?);
        let granted = Granted { client: client.id.clone(), scopes, resource, is_machine: false };
        let value = secret()?;
        self.add(value.clone(), value.clone(), granted, now.checked_add(CODE), Some(code));
        Ok(value)
    }

    fn add(
        &mut self,
        value: String,
        family: String,
        granted: Granted,
        expires: Option<SystemTime>,
        code: Option<Code>,
    ) {
        // Beyond the end of time, it has expired.
        let expires = expires.unwrap_or(SystemTime::UNIX_EPOCH);
        push(&mut self.tickets, Ticket { value, granted, expires, is_used: false, family, code });
    }

    /// What a request to the token endpoint is granted, and a refresh token if the client has them.
    pub(super) fn token(
        &mut self,
        authorization: Option<&str>,
        body: &[u8],
        now: SystemTime,
    ) -> Result<(Granted, Option<String>), OAuthError> {
        let form = core::str::from_utf8(body).ok().and_then(Form::parse);
        let form = form.ok_or_else(|| invalid_request("the form has a wrong escape"))?;
        let client = self.authenticate(authorization, &form)?;
        let grant = form.one("grant_type")?.unwrap_or_default();
        if !GRANTS.contains(&grant) {
            return Err(OAuthError::new("unsupported_grant_type", "grant_type: not one of this issuer"));
        }
        if !client.grants.contains(&grant) {
            return Err(OAuthError::new("unauthorized_client", "grant_type: the client isn't registered for it"));
        }
        if grant == "client_credentials" {
            let (scopes, resource) = (scopes(&form)?, resource(&form)?);
            return Ok((Granted { client: client.id, scopes, resource, is_machine: true }, None));
        }
        let is_code = grant == "authorization_code";
        let name = if is_code { "code" } else { "refresh_token" };
        let value = form.one(name)?.ok_or_else(|| invalid_request(&format!("{name}: missing")))?;
        let found = self.tickets.iter().position(|ticket| ticket.value == value && ticket.code.is_some() == is_code);
        let ticket = found.and_then(|at| self.tickets.get_mut(at));
        let ticket = ticket.ok_or_else(|| invalid_grant(&format!("{name}: unknown")))?;
        let is_first = !core::mem::replace(&mut ticket.is_used, true);
        let family = ticket.family.clone();
        let checked = match is_first {
            true => ticket.check(&client, &form, now),
            false => Err(invalid_grant(&format!("{name}: already used"))),
        };
        let granted = checked.inspect_err(|_| {
            let of_family = self.tickets.iter_mut().filter(|ticket| ticket.family == family);
            of_family.for_each(|ticket| ticket.is_used = true);
        })?;
        let mut refresh = None;
        if client.grants.contains(&"refresh_token") {
            let value = secret()?;
            // With all scopes, even if this token has fewer.
            let all = found
                .and_then(|at| self.tickets.get(at))
                .map_or_else(|| granted.clone(), |ticket| ticket.granted.clone());
            self.add(value.clone(), family, all, now.checked_add(REFRESH), None);
            refresh = Some(value);
        }
        Ok((granted, refresh))
    }

    /// The client, by the method that it registered and no other.
    fn authenticate(&self, authorization: Option<&str>, form: &Form) -> Result<Client, OAuthError> {
        let wrong = || OAuthError::new("invalid_client", "unknown client, or not authenticated as registered");
        let (id, secret) = (form.one("client_id")?, form.one("client_secret")?);
        let (id, secret, method) = match (authorization, secret) {
            (Some(_), Some(_)) => return Err(invalid_request("client_secret: sent twice")),
            (Some(header), None) => {
                let (own, secret) = basic(header).ok_or_else(wrong)?;
                if id.is_some_and(|id| id != own) {
                    return Err(wrong());
                }
                (own, Some(secret), "client_secret_basic")
            }
            (None, Some(secret)) => (id.unwrap_or_default().to_owned(), Some(secret.to_owned()), "client_secret_post"),
            (None, None) => (id.unwrap_or_default().to_owned(), None, "none"),
        };
        let client = self.client(&id).filter(|client| client.method == method && client.secret == secret);
        client.cloned().ok_or_else(wrong)
    }
}

impl Ticket {
    /// What it is worth to this client.
    fn check(&self, client: &Client, form: &Form, now: SystemTime) -> Result<Granted, OAuthError> {
        if self.granted.client != client.id {
            return Err(invalid_grant("issued to another client"));
        }
        if now >= self.expires {
            return Err(invalid_grant("expired"));
        }
        let mut granted = self.granted.clone();
        let given = resource(form)?;
        if given.is_some() && given != granted.resource {
            return Err(OAuthError::new("invalid_target", "resource: not the one that was granted"));
        }
        let Some(code) = &self.code else {
            if form.one("scope")?.is_some() {
                let fewer = scopes(form)?;
                let is_granted = |scope| granted.scopes.split(' ').any(|own| own == scope);
                if !fewer.is_empty() && !fewer.split(' ').all(is_granted) {
                    return Err(OAuthError::new("invalid_scope", "scope: more than was granted"));
                }
                granted.scopes = fewer;
            }
            return Ok(granted);
        };
        if form.one("redirect_uri")? != Some(&code.redirect_uri) {
            return Err(invalid_grant("redirect_uri: not that of the code"));
        }
        let verifier = form.one("code_verifier")?.unwrap_or_default();
        let is_verifier = (43..=128).contains(&verifier.len()) && verifier.bytes().all(is_unreserved);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        if !is_verifier || challenge != code.challenge {
            return Err(invalid_grant("code_verifier: not that of the code"));
        }
        Ok(granted)
    }
}

impl Form {
    /// A parameter, which may occur only once.
    fn one(&self, name: &'static str) -> Result<Option<&str>, OAuthError> {
        let mut all = self.all(name);
        let first = all.next();
        match all.next() {
            Some(_) => Err(invalid_request(&format!("{name}: occurs twice"))),
            None => Ok(first),
        }
    }
}

fn scopes(form: &Form) -> Result<String, OAuthError> {
    let scopes = form.one("scope")?.unwrap_or_default();
    let wrong = || OAuthError::new("invalid_scope", "scope: names must be separated by single spaces");
    is_scope_text(scopes).then(|| scopes.to_owned()).ok_or_else(wrong)
}

/// The service for which tokens are (RFC 8707).
fn resource(form: &Form) -> Result<Option<String>, OAuthError> {
    let wrong = |text| OAuthError::new("invalid_target", text);
    let mut all = form.all("resource");
    let (first, more) = (all.next(), all.next());
    let Some(resource) = first else { return Ok(None) };
    if more.is_some() {
        return Err(wrong("resource: only one can be the audience"));
    }
    let is_absolute = resource.split_once(':').is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
    let is_uri = is_absolute && resource.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
    is_uri
        .then(|| Some(resource.to_owned()))
        .ok_or_else(|| wrong("resource: must be an absolute URI without a fragment"))
}

/// The id and the secret of a header (RFC 6749 §2.3.1).
fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, value) = header.split_once(' ')?;
    let bytes = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(value).ok())??;
    let text = String::from_utf8(bytes).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some((decoded(id)?, decoded(secret)?))
}

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn push<T>(all: &mut VecDeque<T>, one: T) {
    if all.len() >= MOST {
        all.pop_front();
    }
    all.push_back(one);
}
