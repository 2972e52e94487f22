//! What answers the proxies of one listener.

use core::net::IpAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use rustls::ServerConfig;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::answers::{HttpAnswer, OVERLOADED, REFUSED, answer, refused};
use crate::config::{Limits, ListenerConfig};
use crate::connection::{Entrance, Protocol, Service};
use crate::faults::{Fault, FaultLog};
use crate::mode::Mode;
use crate::question::Question;
use crate::state::State;

/// Answers proxies of one mode, at one place.
#[derive(Debug)]
pub(crate) struct Authorizer {
    /// Which of the listeners it is.
    index: usize,
    mode: Mode,
    current: Arc<ArcSwap<State>>,
    questions: Semaphore,
    faults: FaultLog,
}

impl Authorizer {
    pub(crate) fn new(
        index: usize,
        listener: &ListenerConfig,
        limits: Limits,
        current: Arc<ArcSwap<State>>,
    ) -> Self {
        Self {
            index,
            mode: listener.mode,
            current,
            questions: Semaphore::new(limits.questions),
            faults: FaultLog::new(&listener.address.to_string()),
        }
    }

    pub(crate) const fn mode(&self) -> Mode {
        self.mode
    }

    /// A place among the questions under way; none, and noted, if all are taken. It comes before anything is read.
    pub(crate) fn permit(&self) -> Option<SemaphorePermit<'_>> {
        let permit = self.questions.try_acquire().ok();
        if permit.is_none() {
            self.note(Fault::Overloaded);
        }
        permit
    }

    /// The answer to what is not read, because there is too much.
    pub(crate) fn past_capacity(&self) -> HttpAnswer {
        refused(&self.current.load().config.promises, OVERLOADED)
    }

    /// The answer to a question, or to what is none.
    pub(crate) async fn ask(&self, question: Result<Question<'_>, Fault>) -> HttpAnswer {
        let state = self.current.load_full();
        let promises = &state.config.promises;
        match question {
            Ok(question) => {
                let request = question.request();
                let asked = state
                    .gate
                    .ask(request, |it| answer(self.mode, promises, &it));
                asked.await
            }
            Err(fault) => {
                self.note(fault);
                let status = match fault {
                    Fault::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                    Fault::MessageTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                    _ => REFUSED,
                };
                refused(promises, status)
            }
        }
    }
}

impl Entrance for Authorizer {
    fn trusts(&self, peer: Option<IpAddr>) -> bool {
        let state = self.current.load();
        let listener = state.config.listeners.get(self.index);
        let Some(peer) = peer else { return true };
        listener.is_some_and(|listener| match &listener.trusted {
            None => listener.mode == Mode::Authzen,
            Some(blocks) => blocks.iter().any(|block| block.contains(peer)),
        })
    }

    fn asks_by_target(&self) -> bool {
        self.mode == Mode::EnvoyHttp
    }

    fn tls(&self) -> Option<Arc<ServerConfig>> {
        self.current.load().tls.get(self.index)?.clone()
    }

    fn note(&self, fault: Fault) {
        self.faults.note(fault);
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
