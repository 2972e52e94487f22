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
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use core::pin::Pin;
    use core::task::{Context, Poll, Waker};
    use std::io;

    use tokio::io::AsyncWrite;

    use super::WithoutFragments;

    /// The calls that it got.
    #[derive(Default)]
    struct Told(Vec<&'static str>);

    impl AsyncWrite for Told {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.0.push("write");
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.0.push("flush");
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.0.push("shutdown");
            Poll::Ready(Ok(()))
        }
    }

    /// TLS keeps what isn't flushed, and ends the connection only on a shutdown.
    #[test]
    fn what_is_written_is_passed_on_to_its_end() {
        let mut stream = WithoutFragments(Told::default());
        let mut context = Context::from_waker(Waker::noop());
        let mut stream_at = Pin::new(&mut stream);
        assert!(stream_at.as_mut().poll_write(&mut context, b"#").is_ready());
        assert!(stream_at.as_mut().poll_flush(&mut context).is_ready());
        assert!(stream_at.as_mut().poll_shutdown(&mut context).is_ready());
        assert_eq!(stream.0.0, ["write", "flush", "shutdown"]);
    }
}
