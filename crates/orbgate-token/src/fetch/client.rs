//! One `GET` with limits: no redirect is followed, no connection is kept, and the body is limited.

use core::fmt;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CACHE_CONTROL};
use hyper::{Request, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::ClientConfig;

use crate::keys::{KEY_SET_BYTES, KeySetError};

/// Fetches small JSON documents.
pub(super) struct Client {
    hyper: HyperClient<HttpsConnector<HttpConnector>, Empty<Bytes>>,
}

/// A document, and for how long it may be used.
pub(super) struct Document {
    pub(super) body: Bytes,
    pub(super) cache_control: Option<String>,
}

impl Client {
    pub(super) fn new(tls: ClientConfig) -> Self {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http() // a loopback address may go without; `check::is_safe_url` judges each URL
            .enable_http1()
            .build();
        // Fetches are minutes apart: the other side would close an idle connection.
        let hyper = HyperClient::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build(connector);
        Self { hyper }
    }

    pub(super) async fn get(&self, url: &str) -> Result<Document, FetchError> {
        let uri: Uri = url.parse().map_err(|_| FetchError::BadUrl)?;
        let request = Request::get(uri)
            .header(ACCEPT, "application/json")
            .body(Empty::new())
            .map_err(|_| FetchError::BadUrl)?;
        let response = self.hyper.request(request).await;
        let response = response.map_err(|_| FetchError::Unreachable)?;
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status(response.status().as_u16()));
        }
        let cache_control = response.headers().get(CACHE_CONTROL);
        let cache_control = cache_control.and_then(|value| value.to_str().ok());
        let cache_control = cache_control.map(str::to_owned);
        let body = Limited::new(response.into_body(), KEY_SET_BYTES).collect();
        let body = body.await.map_err(|error| {
            if error.is::<http_body_util::LengthLimitError>() {
                FetchError::TooLarge
            } else {
                FetchError::Unreachable
            }
        })?;
        Ok(Document {
            body: body.to_bytes(),
            cache_control,
        })
    }
}

/// Why keys could not be fetched. It quotes nothing of what was received.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FetchError {
    /// The issuer is not a URL that keys may be fetched from: `https`, or a loopback address.
    BadUrl,
    /// No connection, an untrusted certificate, or an answer that is not HTTP or broke off.
    Unreachable,
    /// Any answer but 200; redirects are not followed.
    Status(u16),
    /// The answer has more than 256 KiB.
    TooLarge,
    /// It took too long altogether.
    Timeout,
    /// The discovery document is not a JSON object with `issuer` and `jwks_uri`.
    BadDiscovery,
    /// The discovery document is of another issuer.
    WrongIssuer,
    /// The fetched document is not a usable key set.
    KeySet(KeySetError),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadUrl => "keys are fetched over https or from this very machine only",
            Self::Unreachable => "the issuer cannot be reached, or is not trusted",
            Self::Status(status) => return write!(f, "the issuer answered {status}"),
            Self::TooLarge => "the issuer's answer has more than 262144 bytes",
            Self::Timeout => "the issuer took too long",
            Self::BadDiscovery => "the issuer's discovery document is not what OpenID Connect says",
            Self::WrongIssuer => "the discovery document is of another issuer",
            Self::KeySet(error) => return fmt::Display::fmt(error, f),
        })
    }
}

impl core::error::Error for FetchError {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::FetchError;

    #[test]
    fn each_failure_has_words_of_its_own() {
        let all = [
            FetchError::BadUrl,
            FetchError::Unreachable,
            FetchError::Status(503),
            FetchError::Status(301),
            FetchError::TooLarge,
            FetchError::Timeout,
            FetchError::BadDiscovery,
            FetchError::WrongIssuer,
        ];
        let words: HashSet<_> = all.iter().map(ToString::to_string).collect();
        assert_eq!(words.len(), all.len());
        assert!(words.iter().all(|words| words.contains(' ')), "{words:?}");
    }
}
