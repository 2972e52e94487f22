//! The body of a response, whose end settles.

use core::pin::Pin;
use core::task::{Context, Poll};
use std::io::IoSlice;
use std::thread;

use bytes::{Buf, Bytes};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, StatusCode};
use http_body::{Body, Frame, SizeHint};
use orbgate_gate::HandlerOutcome;

use crate::ledger::held::Held;

/// A response's body after a [`ChargingLayer`](crate::ChargingLayer): the service's body, unchanged, or that of a denial. Its
/// end settles the orbs of a call, unless the response's head already did.
#[derive(Debug)]
pub struct ChargedBody<B> {
    body: B,
    /// The rest of a denial's body.
    denial: Bytes,
    call: Option<Call>,
}

/// A call whose answer isn't complete.
#[derive(Debug)]
struct Call {
    held: Held,
    /// If it ends as it began.
    success: HandlerOutcome,
    /// gRPC ends with a status.
    is_grpc: bool,
    /// The whole body was there at once: if it isn't read to its end, the caller doesn't want it.
    is_whole: bool,
    has_begun: bool,
    /// The MCP response in it says how the call has ended.
    is_read: bool,
}

impl<B: Body> ChargedBody<B> {
    pub(super) const fn free(body: B) -> Self {
        Self { body, denial: Bytes::new(), call: None }
    }

    pub(super) fn denial(denial: Bytes) -> Self
    where
        B: Default,
    {
        Self { body: B::default(), denial, call: None }
    }

    /// A body whose end settles.
    pub(super) fn new(body: B, mut held: Held, method: &Method, status: StatusCode, headers: &HeaderMap) -> Self {
        let is_grpc = is_grpc(headers);
        let success = match grpc_status(headers) {
            // An answer of nothing but a head.
            Some(status) if is_grpc => return Self::settled(body, held, HandlerOutcome::Grpc(status)),
            _ => HandlerOutcome::Status(status.as_u16()),
        };
        let has_no_body = *method == Method::HEAD
            || status.is_informational()
            || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let is_failure = status.is_client_error() || status.is_server_error();
        if is_failure || has_no_body || body.is_end_stream() && !is_grpc {
            return Self::settled(body, held, success);
        }
        let is_whole = !is_grpc && body.size_hint().exact().is_some();
        let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes())).collect();
        let is_read = held.response.as_mut().is_some_and(|response| response.begin(&lines));
        let call = Call { held, success, is_grpc, is_whole, has_begun: false, is_read };
        Self { body, denial: Bytes::new(), call: Some(call) }
    }

    fn settled(body: B, held: Held, outcome: HandlerOutcome) -> Self {
        held.settle(outcome);
        Self::free(body)
    }

    fn settle(&mut self, outcome: impl FnOnce(&Call) -> HandlerOutcome) {
        if let Some(call) = self.call.take() {
            let outcome = outcome(&call);
            call.held.settle(outcome);
        }
    }
}

impl Call {
    fn pass(&mut self, data: &impl Buf) {
        self.has_begun |= data.has_remaining();
        if let Some(response) = self.held.response.as_mut().filter(|_| self.is_read) {
            // Without taking it from the caller.
            let mut slices = [IoSlice::new(&[]); 16];
            let count = data.chunks_vectored(&mut slices);
            let slices = slices.get(..count).unwrap_or_default();
            if slices.iter().map(|slice| slice.len()).sum::<usize>() == data.remaining() {
                self.is_read = slices.iter().all(|slice| response.read(slice));
            } else {
                response.lose();
            }
        }
    }

    /// The outcome of an answer that fails now.
    const fn failure(&self) -> HandlerOutcome {
        if self.has_begun { HandlerOutcome::Broken } else { HandlerOutcome::Failed }
    }

    /// The outcome of an answer that ends now.
    const fn end(&self) -> HandlerOutcome {
        // A gRPC answer without its status is broken.
        if self.is_grpc { self.failure() } else { self.success }
    }
}

/// Whether an answer is gRPC's, whose status comes in a header or a trailer. gRPC-Web writes it into the body.
fn is_grpc(headers: &HeaderMap) -> bool {
    let of_grpc = headers.get(CONTENT_TYPE).and_then(|value| value.as_bytes().strip_prefix(b"application/grpc"));
    of_grpc.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';' | b' ')))
}

/// The status of a gRPC call. What isn't a number isn't a success.
fn grpc_status(headers: &HeaderMap) -> Option<u32> {
    let status = headers.get("grpc-status")?;
    Some(status.to_str().ok().and_then(|status| status.parse().ok()).unwrap_or(u32::MAX))
}

impl<B: Body<Data: From<Bytes>> + Unpin> Body for ChargedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.get_mut();
        if !this.denial.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(core::mem::take(&mut this.denial).into()))));
        }
        let polled = Pin::new(&mut this.body).poll_frame(context);
        match &polled {
            Poll::Pending => {}
            Poll::Ready(None) => this.settle(Call::end),
            Poll::Ready(Some(Err(_))) => this.settle(Call::failure),
            Poll::Ready(Some(Ok(frame))) => {
                if let (Some(call), Some(data)) = (&mut this.call, frame.data_ref()) {
                    call.pass(data);
                }
                let trailers = frame.trailers_ref().and_then(grpc_status);
                match trailers {
                    Some(status) if this.call.as_ref().is_some_and(|call| call.is_grpc) => {
                        this.settle(|_| HandlerOutcome::Grpc(status));
                    }
                    _ if this.body.is_end_stream() => this.settle(Call::end),
                    _ => {}
                }
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.denial.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.denial.len() {
            0 => self.body.size_hint(),
            len => SizeHint::with_exact(u64::try_from(len).unwrap_or(u64::MAX)),
        }
    }
}

impl<B> Drop for ChargedBody<B> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            let outcome = match thread::panicking() {
                true => call.failure(),
                false if call.is_whole => call.success,
                false => HandlerOutcome::Cancelled,
            };
            call.held.settle(outcome);
        }
    }
}
