//! The body of a request, with a limit on its bytes and on its time.

use core::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLarge,
    TooSlow,
    /// It ended before its end, or is in no right form.
    NotWhole,
}

/// A whole body, of at most that number of bytes.
///
/// It is copied as it comes. To keep its pieces would take forty bytes for each where each has one.
pub(crate) async fn whole(
    mut body: Incoming,
    most: usize,
    patience: Duration,
) -> Result<Bytes, Unread> {
    let read = async {
        let mut whole = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Unread::NotWhole)?;
            let Some(piece) = frame.data_ref() else {
                continue;
            };
            if piece.len() > most.saturating_sub(whole.len()) {
                return Err(Unread::TooLarge);
            }
            whole.extend_from_slice(piece);
        }
        Ok(whole.freeze())
    };
    let read = tokio::time::timeout(patience, read).await;
    read.unwrap_or(Err(Unread::TooSlow))
}
