//! Sockets that the service manager opened: systemd's socket activation (`LISTEN_FDS`).

use core::net::SocketAddr;
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use listenfd::ListenFd;

use super::listen::Listener;
use crate::config::address::Address;

/// The sockets that no listener has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    tcp: Vec<(SocketAddr, TcpListener)>,
    unix: Vec<(PathBuf, UnixListener)>,
}

impl Sockets {
    /// The sockets that the environment passes to this process. Fails for anything but a listening socket
    /// with an address.
    pub(crate) fn passed() -> io::Result<Self> {
        let mut passed = ListenFd::from_env();
        let mut sockets = Self::default();
        for at in 0..passed.len() {
            if let Ok(Some(listener)) = passed.take_tcp_listener(at) {
                listener.set_nonblocking(true)?;
                sockets.tcp.push((listener.local_addr()?, listener));
            } else if let Some(listener) = passed.take_unix_listener(at)? {
                listener.set_nonblocking(true)?;
                let address = listener.local_addr()?;
                let path = address.as_pathname().ok_or(io::ErrorKind::AddrNotAvailable)?;
                sockets.unix.push((path.to_owned(), listener));
            }
        }
        Ok(sockets)
    }

    /// The socket with this address, if it was passed.
    pub(crate) fn take(&mut self, address: &Address) -> io::Result<Option<Listener>> {
        Ok(match address {
            Address::Tcp(address) => match self.tcp.iter().position(|(own, _)| own == address) {
                Some(at) => Some(Listener::Tcp(self.tcp.swap_remove(at).1.try_into()?)),
                None => None,
            },
            Address::Unix(path) => match self.unix.iter().position(|(own, _)| own == path) {
                Some(at) => Some(Listener::Passed(self.unix.swap_remove(at).1.try_into()?)),
                None => None,
            },
        })
    }

    /// The address of a socket that no listener took.
    pub(crate) fn left(&self) -> Option<Address> {
        let tcp = self.tcp.iter().map(|(address, _)| Address::Tcp(*address));
        let unix = self.unix.iter().map(|(path, _)| Address::Unix(path.clone()));
        tcp.chain(unix).next()
    }
}
