//! Where a ledger service is, and the secret for it.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where a ledger service is, as the settings of its gates state it: `https://…`, `http://` and a loopback address, or `unix:` and a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerAddress {
    /// Whether the connection is encrypted.
    pub is_tls: bool,
    /// The host in lower case, without the brackets of an IPv6 address; `localhost` over a socket.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What comes before the path of each message. It has no final `/`.
    pub prefix: String,
    /// The path of the Unix socket to connect to.
    pub socket: Option<String>,
}

impl LedgerAddress {
    /// Reads the URL of a service.
    ///
    /// # Errors
    ///
    /// Returns a message if it isn't one of the three, or if another computer could read the secret on its way. A path has letters,
    /// digits and `-._~`, and no dot segments, because clients differ in how they read others.
    pub fn new(url: &str) -> Result<Self, &'static str> {
        if let Some(path) = url.strip_prefix("unix:") {
            let is_path = path.starts_with('/') && !path.ends_with('/') && !path.contains(char::is_control);
            let socket = is_path.then(|| path.to_owned()).ok_or(WRONG)?;
            return Ok(Self { socket: Some(socket), host: "localhost".to_owned(), ..Self::at(false, "", 80) });
        }
        let (scheme, rest) = url.split_once("://").ok_or(WRONG)?;
        let is_tls = scheme.eq_ignore_ascii_case("https");
        if !is_tls && !scheme.eq_ignore_ascii_case("http") {
            return Err(WRONG);
        }
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let (host, port) = match authority.rfind(':').filter(|at| !authority.split_at(*at).1.contains(']')) {
            Some(at) => (authority.get(..at).unwrap_or_default(), authority.get(at.saturating_add(1)..)),
            None => (authority, None),
        };
        let is_digits = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
        let port = match port {
            Some(port) => Some(port).filter(is_digits).and_then(|port| port.parse().ok()).filter(|port| *port != 0),
            None => Some(if is_tls { 443 } else { 80 }),
        };
        let (host, is_loopback) = host_of(host).ok_or(WRONG)?;
        if !is_tls && !is_loopback {
            return Err(CLEAR);
        }
        let prefix = path.trim_end_matches('/');
        let is_segment = |segment: &str| {
            !segment.trim_matches('.').is_empty()
                && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
        };
        if !prefix.split('/').skip(1).all(is_segment) {
            return Err(WRONG);
        }
        Ok(Self { prefix: prefix.to_owned(), ..Self::at(is_tls, &host, port.ok_or(WRONG)?) })
    }

    fn at(is_tls: bool, host: &str, port: u16) -> Self {
        Self { is_tls, host: host.to_owned(), port, prefix: String::new(), socket: None }
    }

    /// The secret for a service in what a file or a setting says: without white space around it.
    ///
    /// # Errors
    ///
    /// Returns a message if a header can't have it.
    pub fn secret(text: &str) -> Result<&str, &'static str> {
        let secret = text.trim_ascii();
        let is_visible = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic());
        is_visible.then_some(secret).ok_or(SECRET)
    }
}

/// The URL to which the paths of messages are appended. Over a socket, its host is of no account.
impl fmt::Display for LedgerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_tls, host, port, prefix, socket: _ } = self;
        let scheme = if *is_tls { "https" } else { "http" };
        match host.contains(':') {
            true => write!(f, "{scheme}://[{host}]:{port}{prefix}"),
            false => write!(f, "{scheme}://{host}:{port}{prefix}"),
        }
    }
}

const WRONG: &str = "the URL of a ledger is `https://…`, `unix:` and a path, or `http://` and a loopback address";
const CLEAR: &str = "a ledger elsewhere needs `https://`: its secret would be sent in the clear";
const SECRET: &str = "a ledger's secret has only visible ASCII characters, and at least one";

/// A host in lower case, and whether it is this machine.
fn host_of(host: &str) -> Option<(String, bool)> {
    if let Some(address) = host.strip_prefix('[') {
        let address: Ipv6Addr = address.strip_suffix(']')?.parse().ok()?;
        return Some((address.to_string(), address.to_canonical().is_loopback()));
    }
    let name = host.to_ascii_lowercase();
    let last = name.rsplit('.').next()?;
    // Some clients read `127.1` and `0x7f000001` as addresses.
    if last.starts_with(|letter: char| letter.is_ascii_digit()) {
        let address: Ipv4Addr = name.parse().ok()?;
        return Some((name, IpAddr::V4(address).is_loopback()));
    }
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let is_loopback = name == "localhost";
    name.split('.').all(is_label).then_some((name, is_loopback))
}

#[cfg(test)]
mod tests {
    use super::{CLEAR, LedgerAddress, WRONG};

    /// The same rows run through every gate that charges.
    const ROWS: &str = include_str!("../../../../policy/cases/gate/ledgers.tsv");

    #[test]
    fn each_url_of_the_cases_is_read_or_refused() {
        let mut count = 0;
        for row in ROWS.lines().skip(1) {
            let (url, expected) = row.split_once('\t').unwrap();
            let read = LedgerAddress::new(url);
            let base = read.as_ref().map(ToString::to_string);
            let said = match &base {
                Ok(base) => base.as_str(),
                Err(message) if **message == CLEAR => "in the clear",
                Err(message) => (**message == WRONG).then_some("refused").unwrap(),
            };
            assert_eq!(said, expected, "{url}");
            if let Ok(address) = read {
                assert_eq!(address.socket.as_deref(), url.strip_prefix("unix:"), "{url}");
            }
            count += 1;
        }
        assert!(count > 40, "{count}");
    }

    #[test]
    fn a_secret_fits_in_a_header() {
        assert_eq!(LedgerAddress::secret(" a~!\r\n"), Ok("a~!"));
        for secret in ["", " \n", "a b", "a\0b", "é", "a\u{7f}"] {
            LedgerAddress::secret(secret).unwrap_err();
        }
    }
}
