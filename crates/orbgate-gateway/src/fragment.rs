//! Detects a `#` in a target. The URI type would silently drop it and everything after it.

use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that replaces each `#` with a byte that is invalid in a request's headers, so that such a request is
/// malformed.
///
/// Use it for a listener that authorizes the request's own target. A `#` elsewhere, in a header or a body, isn't part
/// of an authorization request.
pub(crate) struct WithoutFragments<S>(pub(crate) S);

/// DEL, which neither a target nor a header value can contain (RFC 9110, 5.5; RFC 3986, 2).
const REFUSED: u8 = 0x7f;

impl<S: AsyncRead + Unpin> AsyncRead for WithoutFragments<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.0).poll_read(context, buffer))?;
        let new = buffer.filled_mut().iter_mut().skip(before);
        for byte in new.filter(|byte| **byte == b'#') {
            *byte = REFUSED;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WithoutFragments<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
