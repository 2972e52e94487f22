//! One issuer's keys: where they are (OpenID Connect Discovery 1.0 §4) and fetching them.

use core::time::Duration;

use serde_json::Value;

use super::client::{Client, FetchError};
use super::settings::FetchSettings;
use crate::check::is_safe_url;
use crate::issuer::Issuer;
use crate::json;
use crate::keys::KeySet;

/// Keys, and how long they are good for.
pub(super) struct Fetched {
    pub(super) keys: KeySet,
    pub(super) ttl: Duration,
}

/// Fetches an issuer's keys within the time that an attempt may take.
pub(super) async fn fetch(
    client: &Client,
    issuer: &Issuer,
    settings: &FetchSettings,
) -> Result<Fetched, FetchError> {
    let attempt = tokio::time::timeout(settings.timeout, fetch_slowly(client, issuer, settings));
    attempt.await.unwrap_or(Err(FetchError::Timeout))
}

async fn fetch_slowly(
    client: &Client,
    issuer: &Issuer,
    settings: &FetchSettings,
) -> Result<Fetched, FetchError> {
    let url = match &issuer.jwks_uri {
        Some(url) => url.clone(),
        None => discover(client, &issuer.issuer).await?,
    };
    let document = client.get(&url).await?;
    let keys = KeySet::from_jwks_with(&document.body, &issuer.key_rules);
    Ok(Fetched {
        keys: keys.map_err(FetchError::KeySet)?,
        ttl: settings.ttl_of(document.cache_control.as_deref()),
    })
}

async fn discover(client: &Client, issuer: &str) -> Result<String, FetchError> {
    if !is_safe_url(issuer) {
        return Err(FetchError::BadUrl);
    }
    let base = issuer.strip_suffix('/').unwrap_or(issuer);
    let document = client
        .get(&format!("{base}/.well-known/openid-configuration"))
        .await?;
    let members = json::object(&document.body).map_err(|_| FetchError::BadDiscovery)?;
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    let (Some(found), Some(url)) = (text("issuer"), text("jwks_uri")) else {
        return Err(FetchError::BadDiscovery);
    };
    if found != issuer {
        return Err(FetchError::WrongIssuer);
    }
    // Only an issuer on this machine may lead us to another address on it.
    let is_remote = issuer.starts_with("https://");
    if !is_safe_url(url) || (is_remote && !url.starts_with("https://")) {
        return Err(FetchError::BadUrl);
    }
    Ok(url.to_owned())
}
