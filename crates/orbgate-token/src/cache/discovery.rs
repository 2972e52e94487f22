//! Finds the URL of an issuer's keys (OpenID Connect Discovery 1.0 §4), and reads the fetched documents.

use core::time::Duration;

use super::error::FetchError;
use super::settings::FetchSettings;
use crate::check::is_safe_url;
use crate::issuer::Issuer;
use crate::json::Object;
use crate::keys::{KEY_SET_BYTES, KeySet};

/// A server's response to a fetch.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "what a host has of an HTTP response")]
pub struct Response<'a> {
    /// The status. Redirects are not followed.
    pub status: u16,
    /// The value of `Cache-Control`, if the response has one.
    pub cache_control: Option<&'a str>,
    /// The body, which can be omitted if the status isn't 200.
    pub body: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Discovery,
    Keys,
}

pub(super) enum Found {
    Url(String),
    /// Keys, and how long they are fresh.
    Keys(KeySet, Duration),
}

/// The document to fetch first.
pub(super) fn first(issuer: &Issuer) -> Result<(Stage, String), FetchError> {
    if let Some(url) = &issuer.jwks_uri {
        return Ok((Stage::Keys, url.clone()));
    }
    let name = issuer.issuer.as_str();
    if !is_safe_url(name) {
        return Err(FetchError::BadUrl);
    }
    let base = name.strip_suffix('/').unwrap_or(name);
    let url = format!("{base}/.well-known/openid-configuration");
    Ok((Stage::Discovery, url))
}

pub(super) fn read(
    stage: Stage,
    response: Response<'_>,
    issuer: &Issuer,
    settings: &FetchSettings,
) -> Result<Found, FetchError> {
    if response.status != 200 {
        return Err(FetchError::Status(response.status));
    }
    if response.body.len() > KEY_SET_BYTES {
        return Err(FetchError::TooLarge);
    }
    if stage == Stage::Discovery {
        return Ok(Found::Url(jwks_uri(response.body, &issuer.issuer)?));
    }
    let keys = KeySet::from_jwks_with(response.body, &issuer.key_rules);
    let ttl = settings.ttl_of(response.cache_control);
    Ok(Found::Keys(keys.map_err(FetchError::KeySet)?, ttl))
}

/// The address of the keys, from the discovery document of exactly this issuer.
fn jwks_uri(document: &[u8], issuer: &str) -> Result<String, FetchError> {
    let members = Object::parse(document).map_err(|_| FetchError::BadDiscovery)?;
    let (Some(claimed), Some(url)) = (members.text("issuer"), members.text("jwks_uri")) else {
        return Err(FetchError::BadDiscovery);
    };
    if claimed != issuer {
        return Err(FetchError::WrongIssuer(claimed.into()));
    }
    // Only an issuer on this machine may lead us to another address on it.
    let is_remote = issuer.starts_with("https://");
    if !is_safe_url(url) || (is_remote && !url.starts_with("https://")) {
        return Err(FetchError::BadUrl);
    }
    Ok(url.to_owned())
}
