//! Reads a request's body, with limits on its size and time.

use core::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

/// Why the body couldn't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLarge,
    TooSlow,
    /// It ended early, or its encoding is invalid.
    NotWhole,
}

/// The whole body, up to this number of bytes.
///
/// It is copied as it arrives. Keeping its chunks would take forty bytes for each, even if each
/// contains one byte.
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
