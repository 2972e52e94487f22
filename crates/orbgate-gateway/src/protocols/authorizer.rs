//! Responds to the proxies of one listener.

use core::net::IpAddr;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use rustls::ServerConfig;

use crate::authorize::answers::{HttpAnswer, OVERLOADED, REFUSED, answer, refused};
use crate::authorize::errors::{ErrorLog, RequestError};
use crate::authorize::question::Question;
use crate::authorize::state::State;
use crate::config::mode::Mode;
use crate::config::{Limits, ListenerConfig};
use crate::protocols::body::Bodies;
use crate::protocols::service::{Entrance, Protocol, Service};

/// Responds to proxies of one mode at one listener.
#[derive(Debug)]
pub(crate) struct Authorizer {
    index: usize,
    mode: Mode,
    current: Arc<ArcSwap<State>>,
    limit: usize,
    under_way: AtomicUsize,
    /// The bodies of requests that aren't under way yet.
    pub(crate) bodies: Bodies,
    errors: ErrorLog,
}

impl Authorizer {
    pub(crate) fn new(index: usize, listener: &ListenerConfig, limits: Limits, current: Arc<ArcSwap<State>>) -> Self {
        Self {
            index,
            mode: listener.mode,
            current,
            limit: limits.requests,
            under_way: AtomicUsize::new(0),
            bodies: Bodies::new(limits.requests),
            errors: ErrorLog::new(&listener.address.to_string()),
        }
    }

    pub(crate) const fn mode(&self) -> Mode {
        self.mode
    }

    /// A permit for an authorization request. `None`, and an error is recorded, if all permits are in use.
    ///
    /// A request whose body is still being read doesn't hold a permit, because a client can leave it unfinished for as long
    /// as `idle_seconds`. Requests that wait for keys don't either, because clients can make them wait with forged tokens. They
    /// have the limit of the keys instead.
    pub(crate) fn permit(&self) -> Option<Permit<'_>> {
        let permit = Permit::new(&self.under_way);
        let waiting = self.current.load().keys.fetcher.waiting();
        let limit = self.limit.saturating_add(usize::try_from(waiting).unwrap_or_default());
        if permit.number > limit {
            self.note(RequestError::Overloaded);
            return None;
        }
        Some(permit)
    }

    /// The response to a request that isn't read, because there are too many.
    pub(crate) fn past_capacity(&self) -> HttpAnswer {
        refused(&self.current.load().config.promises, OVERLOADED)
    }

    /// The response to an authorization request, or to an invalid one.
    pub(crate) async fn ask(&self, question: Result<Question<'_>, RequestError>) -> HttpAnswer {
        let state = self.current.load_full();
        let promises = &state.config.promises;
        match question.and_then(|question| question.unforged(promises)) {
            Ok(question) => {
                let request = question.request();
                state.gate.ask(request, |it| answer(self.mode, promises, &it)).await
            }
            Err(error) => {
                self.note(error);
                let status = match error {
                    RequestError::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                    RequestError::MessageTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                    RequestError::Overloaded => OVERLOADED,
                    _ => REFUSED,
                };
                refused(promises, status)
            }
        }
    }
}

/// A running authorization request, until this is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    under_way: &'a AtomicUsize,
    /// The number of running requests, including this one.
    number: usize,
}

impl<'a> Permit<'a> {
    fn new(under_way: &'a AtomicUsize) -> Self {
        let number = under_way.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        Self { under_way, number }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Entrance for Authorizer {
    fn trusts(&self, peer: Option<IpAddr>) -> bool {
        let state = self.current.load();
        let listener = state.config.listeners.get(self.index);
        let Some(peer) = peer else { return true };
        listener.is_some_and(|listener| match &listener.trusted {
            None => matches!(listener.mode, Mode::Authzen | Mode::Ledger),
            Some(blocks) => blocks.iter().any(|block| block.contains(peer)),
        })
    }

    fn asks_by_target(&self) -> bool {
        self.mode == Mode::EnvoyHttp
    }

    fn tls(&self) -> Option<Arc<ServerConfig>> {
        self.current.load().tls.get(self.index)?.clone()
    }

    fn note(&self, error: RequestError) {
        self.errors.note(error);
    }
}

impl Service for Authorizer {
    type Entrance = Self;
    type Body = Full<Bytes>;

    const PROTOCOL: Protocol = Protocol::Http1;

    fn entrance(&self) -> &Self {
        self
    }

    async fn overloaded(&self, _: Request<Incoming>) -> HttpAnswer {
        self.past_capacity()
    }

    async fn answer(&self, request: Request<Incoming>) -> HttpAnswer {
        let Some(_permit) = self.permit() else {
            return self.past_capacity();
        };
        let (parts, _) = request.into_parts();
        self.ask(Question::read(self.mode, &parts)).await
    }
}
