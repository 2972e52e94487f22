//! One request with limits: no redirect is followed, no connection is kept, and the body is limited. It goes through the
//! proxy of the environment, if there is one for its URL.

use core::error::Error;

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioExecutor;
use rustls::ClientConfig;

use crate::cache::{Fetch, FetchError, Post};
use crate::check::is_loopback;

pub(super) struct Client {
    tls: ClientConfig,
    /// `HTTPS_PROXY` and `NO_PROXY`, as they were at the start.
    proxies: Matcher,
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) cache_control: Option<String>,
    /// Empty where the status says that it is not wanted.
    pub(super) body: Bytes,
}

impl Client {
    pub(super) fn new(tls: ClientConfig) -> Self {
        Self { tls, proxies: Matcher::from_env() }
    }

    /// Connects to a server, or to a proxy.
    fn connector<C>(&self, inner: C) -> HttpsConnector<C> {
        let builder = HttpsConnectorBuilder::new().with_tls_config(self.tls.clone());
        // A loopback address may go without TLS; `check::is_safe_url` judges each URL.
        builder.https_or_http().enable_http1().wrap_connector(inner)
    }

    async fn request(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, FetchError> {
        let mut http = HttpConnector::new();
        // TLS is around it.
        http.enforce_http(false);
        // Fetches are minutes apart: the other side would close an idle connection.
        let mut builder = HyperClient::builder(TokioExecutor::new());
        let builder = builder.pool_max_idle_per_host(0);
        let proxy = self.proxies.intercept(request.uri());
        let response = match proxy.filter(|_| !is_loopback(&request.uri().to_string())) {
            None => builder.build(self.connector(http)).request(request).await,
            Some(proxy) => {
                let tunnel = Tunnel::new(proxy.uri().clone(), self.connector(http));
                let tunnel = match proxy.basic_auth() {
                    Some(credentials) => tunnel.with_auth(credentials.clone()),
                    None => tunnel,
                };
                builder.build(self.connector(tunnel)).request(request).await
            }
        };
        response.map_err(|error| unconnected(&error))
    }

    /// Fetches within the time and the bytes that are allowed.
    pub(super) async fn send(&self, fetch: &Fetch) -> Result<Answer, FetchError> {
        let answer = tokio::time::timeout(fetch.timeout, self.send_slowly(fetch));
        answer.await.unwrap_or(Err(FetchError::Timeout))
    }

    async fn send_slowly(&self, fetch: &Fetch) -> Result<Answer, FetchError> {
        let uri: Uri = fetch.url.parse().map_err(|_| FetchError::BadUrl)?;
        let request = match &fetch.post {
            None => Request::get(uri).body(Full::default()),
            Some(post) => {
                let authorization = HeaderValue::from_str(post.authorization());
                let mut authorization = authorization.map_err(|_| FetchError::BadUrl)?;
                authorization.set_sensitive(true);
                Request::post(uri)
                    .header(AUTHORIZATION, authorization)
                    .header(CONTENT_TYPE, Post::CONTENT_TYPE)
                    .body(post.body().to_owned().into())
            }
        };
        let mut request = request.map_err(|_| FetchError::BadUrl)?;
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(ACCEPT, json);
        let response = self.request(request).await?;
        let status = response.status();
        let cache_control = response.headers().get(CACHE_CONTROL);
        let cache_control = cache_control.and_then(|value| value.to_str().ok());
        let cache_control = cache_control.map(str::to_owned);
        let body = match status {
            StatusCode::OK => read(response.into_body(), fetch.max_bytes).await?,
            _ => Bytes::new(),
        };
        Ok(Answer { status: status.as_u16(), cache_control, body })
    }
}

/// The whole body, if it is not too large.
async fn read(body: Incoming, max_bytes: usize) -> Result<Bytes, FetchError> {
    let body = Limited::new(body, max_bytes).collect().await;
    match body {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(FetchError::TooLarge),
        Err(error) => Err(unconnected(&*error)),
    }
}

/// The innermost cause: the others only say that something failed. None of them has the address of a proxy, or what was sent.
fn unconnected(error: &(dyn Error + 'static)) -> FetchError {
    let causes = core::iter::successors(Some(error), |&error| error.source());
    FetchError::Unconnected(causes.last().unwrap_or(error).to_string().into())
}
