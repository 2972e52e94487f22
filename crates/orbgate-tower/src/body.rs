//! Reading a request's body for one flag, and passing it on as it was.

use core::pin::Pin;
use core::task::{Context, Poll};
use std::collections::VecDeque;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use serde::Deserialize;

/// A request's body behind the layer: what the layer has read of it, and then the rest.
///
/// On most routes nothing is read, and this is the body itself.
#[derive(Debug)]
pub struct RequestBody<B: Body> {
    read: VecDeque<Frame<B::Data>>,
    failure: Option<B::Error>,
    rest: Option<B>,
}

impl<B: Body> RequestBody<B> {
    pub(crate) const fn untouched(body: B) -> Self {
        Self {
            read: VecDeque::new(),
            failure: None,
            rest: Some(body),
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> RequestBody<B> {
    /// Reads up to `limit` bytes; a longer body is left at the frame that goes beyond, and a body that
    /// says its length beforehand is not begun.
    pub(crate) async fn read_up_to(body: B, limit: u64) -> Self {
        let mut this = Self::untouched(body);
        let mut left = limit;
        while let Some(rest) = this.rest.as_mut() {
            if rest.size_hint().lower() > left {
                return this;
            }
            match rest.frame().await {
                None => this.rest = None,
                Some(Err(error)) => {
                    this.failure = Some(error);
                    this.rest = None;
                }
                Some(Ok(frame)) => {
                    let length = frame.data_ref().map_or(0, Bytes::len);
                    // Empty frames cost the sender nothing; kept, they would cost memory without limit.
                    if length > 0 || frame.is_trailers() {
                        this.read.push_back(frame);
                    }
                    match left.checked_sub(u64::try_from(length).unwrap_or(u64::MAX)) {
                        Some(less) => left = less,
                        None => return this,
                    }
                }
            }
        }
        this
    }

    /// Whether the whole body is a JSON object that says `"allowBonusOrbsUse": true` (specification §2.1).
    /// Absent, of another type, said twice, beyond the limit: false.
    pub(crate) fn allows_bonus_orbs(&self) -> bool {
        if self.rest.is_some() || self.failure.is_some() {
            return false;
        }
        let data: Vec<&[u8]> = self
            .read
            .iter()
            .filter_map(|frame| frame.data_ref().map(AsRef::as_ref))
            .collect();
        serde_json::from_slice::<Flag>(&data.concat()).is_ok_and(|flag| flag.allow_bonus_orbs_use)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Flag {
    #[serde(default)]
    allow_bonus_orbs_use: bool,
}

impl<B: Body<Data = Bytes> + Unpin> Body for RequestBody<B>
where
    B::Error: Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        if let Some(frame) = this.read.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
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
            && self.failure.is_none()
            && self.rest.as_ref().is_none_or(B::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        if self.failure.is_some() {
            return SizeHint::default();
        }
        let read: usize = self
            .read
            .iter()
            .filter_map(|frame| frame.data_ref().map(Bytes::len))
            .sum();
        let read = u64::try_from(read).unwrap_or(u64::MAX);
        let rest = self
            .rest
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), B::size_hint);
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(read));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(read));
        }
        hint
    }
}
