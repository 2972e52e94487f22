//! The address of a listener: TCP or a Unix socket.

use core::fmt;
use core::net::SocketAddr;
use core::str::FromStr;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    Tcp(SocketAddr),
    /// The path of a socket. Any program that can write to it can send requests.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("unix:") {
            Some(path) if path.starts_with('/') => Ok(Self::Unix(path.into())),
            Some(_) => Err("a Unix socket has an absolute path"),
            None => match text.parse() {
                Ok(address) => Ok(Self::Tcp(address)),
                Err(_) => Err("it is neither an IP address with a port nor `unix:` and a path"),
            },
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
