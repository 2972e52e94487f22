//! Listens on a TCP address or a Unix socket.

use core::net::IpAddr;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

use crate::config::address::Address;

/// A connection of either kind.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A listening socket. Dropping it removes the Unix socket that it created.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
    /// A Unix socket that the service manager created and keeps.
    Passed(UnixListener),
}

impl Listener {
    pub(crate) async fn open(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            Address::Unix(path) => {
                take_away(path).await?;
                Ok(Self::Unix(UnixListener::bind(path)?, path.clone()))
            }
        }
    }

    /// The next connection, and its address. A Unix socket has no address.
    pub(crate) async fn accept(&self) -> io::Result<(Box<dyn Stream>, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok((Box::new(stream), Some(peer.ip())))
            }
            Self::Unix(listener, _) | Self::Passed(listener) => Ok((Box::new(listener.accept().await?.0), None)),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes the socket of a program that has ended. Anything else at the path is kept, and is an error.
async fn take_away(path: &Path) -> io::Result<()> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    let in_use = || io::Error::from(io::ErrorKind::AddrInUse);
    if !metadata.file_type().is_socket() || tokio::net::UnixStream::connect(path).await.is_ok() {
        return Err(in_use());
    }
    std::fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixListener;

    use super::Listener;
    use crate::config::address::Address;

    #[tokio::test]
    async fn only_the_socket_of_an_ended_program_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let [file, used, ended] = ["file", "used", "ended"].map(|name| folder.join(name));
        std::fs::write(&file, "kept").unwrap();
        let listener = UnixListener::bind(&used).unwrap();
        drop(UnixListener::bind(&ended).unwrap());
        for (path, opens) in [(&file, false), (&used, false), (&ended, true)] {
            let opened = Listener::open(&Address::Unix(path.clone())).await;
            assert_eq!(opened.is_ok(), opens, "{path:?}");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
        assert!(used.exists());
        drop(listener);
    }
}
