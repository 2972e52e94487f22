//! Reads one flag from a request's body, and passes the body on unchanged.

use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use orbgate_gate::{McpFault, allows_bonus_orbs};

/// A request's body after the layer: first the part that the layer has read, then the rest.
///
/// On most routes nothing is read, and this is the original body.
#[derive(Debug)]
pub struct RequestBody<B: Body> {
    /// The data of all frames that were read, joined, because a client could send one frame per
    /// byte.
    read: Bytes,
    trailers: Option<HeaderMap>,
    failure: Option<B::Error>,
    rest: Option<B>,
}

impl<B: Body> RequestBody<B> {
    pub(crate) const fn untouched(body: B) -> Self {
        Self { read: Bytes::new(), trailers: None, failure: None, rest: Some(body) }
    }
}

impl<B: Body<Data = Bytes> + Unpin> RequestBody<B> {
    /// Reads up to `limit` bytes. Stops at the frame that exceeds the limit, and doesn't read a body
    /// whose stated length is larger. Uses memory for at most twice the limit and one frame.
    pub(crate) async fn read_up_to(body: B, limit: u64) -> Self {
        let mut this = Self::untouched(body);
        let mut read = BytesMut::new();
        while let Some(rest) = this.rest.as_mut() {
            let left = limit.checked_sub(u64::try_from(read.len()).unwrap_or(u64::MAX));
            if left.is_none_or(|left| rest.size_hint().lower() > left) {
                break;
            }
            match rest.frame().await {
                None => this.rest = None,
                Some(Err(error)) => {
                    this.failure = Some(error);
                    this.rest = None;
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => read.extend_from_slice(&data),
                    // Trailers are the last frame.
                    Err(frame) => {
                        this.trailers = frame.into_trailers().ok();
                        this.rest = None;
                    }
                },
            }
        }
        this.read = read.freeze();
        this
    }

    pub(crate) const fn whole(&self) -> Result<&Bytes, McpFault> {
        match (&self.failure, &self.rest) {
            (Some(_), _) => Err(McpFault::Unreadable),
            (None, Some(_)) => Err(McpFault::TooLarge),
            (None, None) => Ok(&self.read),
        }
    }

    /// Whether the whole body allows bonus orbs; false if it exceeds the limit.
    pub(crate) fn allows_bonus_orbs(&self) -> bool {
        self.whole().is_ok_and(|body| allows_bonus_orbs(body))
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for RequestBody<B>
where
    B::Error: Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        if !this.read.is_empty() {
            let read = core::mem::take(&mut this.read);
            return Poll::Ready(Some(Ok(Frame::data(read))));
        }
        if let Some(trailers) = this.trailers.take() {
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        if let Some(failure) = this.failure.take() {
            return Poll::Ready(Some(Err(failure)));
        }
        match this.rest.as_mut() {
            Some(rest) => Pin::new(rest).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.read.is_empty()
            && self.trailers.is_none()
            && self.failure.is_none()
            && self.rest.as_ref().is_none_or(B::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        if self.failure.is_some() {
            return SizeHint::default();
        }
        let read = u64::try_from(self.read.len()).unwrap_or(u64::MAX);
        let rest = self.rest.as_ref().map_or_else(|| SizeHint::with_exact(0), B::size_hint);
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(read));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(read));
        }
        hint
    }
}
