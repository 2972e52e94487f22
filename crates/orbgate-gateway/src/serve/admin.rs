//! Serves health, readiness and metrics to operators.

use core::net::IpAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::authorize::answers::{HttpAnswer, OVERLOADED};
use crate::authorize::errors::{ErrorLog, RequestError};
use crate::authorize::state::State;
use crate::protocols::ledger::{is_ready, measure};
use crate::protocols::service::{Entrance, Protocol, Service};

/// The address of `/healthz`, `/readyz` and `/metrics`.
pub(crate) struct Admin {
    current: Arc<ArcSwap<State>>,
    counted: PrometheusHandle,
    errors: ErrorLog,
}

impl Admin {
    pub(crate) fn new(current: Arc<ArcSwap<State>>, counted: PrometheusHandle) -> Self {
        Self { current, counted, errors: ErrorLog::new("admin") }
    }

    /// What is missing to answer: keys, or the ledger.
    async fn lacks(&self) -> Option<String> {
        let state = self.current.load_full();
        if !state.can_decide() {
            return Some("no keys".to_owned());
        }
        let ledger = is_ready(&state.ledger.as_ref()?.store).await;
        ledger.err().map(|why| format!("no ledger: {why}"))
    }
}

impl Entrance for Admin {
    /// Nothing is decided here, so access is controlled by the address only.
    fn trusts(&self, _: Option<IpAddr>) -> bool {
        true
    }

    fn note(&self, error: RequestError) {
        self.errors.note(error);
    }
}

impl Service for Admin {
    type Entrance = Self;
    type Body = Full<Bytes>;

    const PROTOCOL: Protocol = Protocol::Http1;

    fn entrance(&self) -> &Self {
        self
    }

    async fn overloaded(&self, _: Request<Incoming>) -> HttpAnswer {
        let mut response = HttpAnswer::default();
        *response.status_mut() = OVERLOADED;
        response
    }

    async fn answer(&self, request: Request<Incoming>) -> HttpAnswer {
        // A server sends no body in response to `HEAD`.
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let (status, text) = match (method, request.uri().path()) {
            (&Method::GET, "/healthz") => {
                match self.current.load().ledger.as_ref().and_then(|it| it.store.ledger.stopped()) {
                    None => (StatusCode::OK, "ok\n".to_owned()),
                    // Only a restart helps.
                    Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
                }
            }
            (&Method::GET, "/readyz") => match self.lacks().await {
                None => (StatusCode::OK, "ready\n".to_owned()),
                Some(lacks) => (StatusCode::SERVICE_UNAVAILABLE, format!("{lacks}\n")),
            },
            (&Method::GET, "/metrics") => {
                if let Some(ledger) = &self.current.load_full().ledger {
                    measure(&ledger.store).await;
                }
                (StatusCode::OK, self.counted.render())
            }
            _ => (StatusCode::NOT_FOUND, String::new()),
        };
        let mut response = HttpAnswer::new(Full::from(text));
        *response.status_mut() = status;
        response
    }
}
