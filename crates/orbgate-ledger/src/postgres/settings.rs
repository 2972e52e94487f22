//! A connection string: where the database is, and how its connections are secured. An error never quotes a part of the string
//! that might be a password.

use core::net::IpAddr;
use core::sync::atomic::AtomicBool;
use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};

use crate::error::Error;
use crate::postgres::client::Client;
use crate::postgres::failed::Failed;
use crate::postgres::password::Password;
use crate::postgres::tls::{Connector, Roots, Tls};

/// The keywords. Those of libpq that are missing, such as `sslcert`, are unknown.
const KEYWORDS: [&str; 21] = [
    "user",
    "password",
    "passfile",
    "dbname",
    "host",
    "hostaddr",
    "port",
    "sslmode",
    "sslrootcert",
    "sslnegotiation",
    "channel_binding",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "load_balance_hosts",
    "options",
    "application_name",
];

/// How long an address and a TLS handshake may take each, unless the connection string says it.
const PATIENCE: Duration = Duration::from_secs(3);

/// How each connection is made: the first one, and those that come after a loss.
pub(crate) struct Settings {
    pub(crate) config: Config,
    tls: Option<Tls>,
    password: Password,
}

impl Settings {
    /// From a connection string, the file of a password if that is elsewhere, and the variables of a process.
    pub(crate) fn new(
        url: &str,
        password_file: Option<PathBuf>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        Self::read(url, password_file, variable).map_err(|why| Error::Unknown(format!("postgres: {why}")))
    }

    fn read(
        url: &str,
        password_file: Option<PathBuf>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let mut given = pairs(url)?;
        let mut take = |keyword: &str| {
            let at = given.iter().position(|(given, _)| given == keyword)?;
            Some(given.swap_remove(at).1)
        };
        let (mode, roots, passfile) = (take("sslmode"), take("sslrootcert"), take("passfile"));
        let mut config = config(&given)?;
        if config.get_hosts().is_empty() {
            // The driver names the server by its host.
            let addresses = config.get_hostaddrs().to_vec();
            if addresses.is_empty() {
                return Err("the connection string has no `host`".to_owned());
            }
            for address in addresses {
                config.host(address.to_string());
            }
        }
        let roots = Roots::new(roots, variable);
        let tls = tls(&config, mode.as_deref(), roots)?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        let password = Password::new(&config, password_file, passfile, variable)?;
        Ok(Self { config, tls, password })
    }

    /// The same settings for another thread.
    pub(crate) fn another(&self) -> Self {
        Self { config: self.config.clone(), tls: self.tls.clone(), password: self.password.clone() }
    }

    /// Connects. Files are read each time, so that a new certificate or password is used.
    pub(crate) fn connect(&self, has_warned: &Arc<AtomicBool>) -> Result<Client, Failed> {
        let mut config = self.config.clone();
        let (password, connector) = self.files().map_err(Failed::Wrong)?;
        if let Some(password) = password {
            config.password(password);
        }
        match connector {
            None => Client::connect(&config, NoTls, Arc::clone(has_warned)),
            Some(connector) => Client::connect(&config, connector, Arc::clone(has_warned)),
        }
    }

    /// Reads the files of a connection: a password and certificates.
    pub(crate) fn files(&self) -> Result<(Option<Vec<u8>>, Option<Connector>), Error> {
        let wrong = |why: String| Error::Unknown(format!("postgres: {why}"));
        let patience = self.config.get_connect_timeout().copied().unwrap_or(PATIENCE);
        let password = self.password.read(&self.config).map_err(wrong)?;
        let connector = self.tls.as_ref().map(|tls| tls.connector(patience)).transpose().map_err(wrong)?;
        Ok((password, connector))
    }
}

/// Whether connections are encrypted, and what is verified. Only sockets and loopback addresses are plain without being asked to.
fn tls(config: &Config, mode: Option<&str>, roots: Roots) -> Result<Option<Tls>, String> {
    let ends = ends(config);
    let are_sockets = ends.iter().all(|end| *end == End::Socket);
    let tls = match mode {
        None if roots.are_given() => return Err("`sslrootcert` needs `sslmode=verify-full`".to_owned()),
        None => {
            let far = ends.iter().find(|end| **end == End::Far);
            return far.map_or(Ok(None), |_| {
                Err("the connection would not be encrypted: add `sslmode=verify-full`, and `sslrootcert=FILE` if the \
                     certificate of the server isn't from one of the system's authorities. `sslmode=disable` allows a \
                     plain connection, for a private network"
                    .to_owned())
            });
        }
        Some("disable") if roots.are_given() => {
            return Err("`sslrootcert` verifies nothing with `sslmode=disable`".to_owned());
        }
        Some("disable") => return Ok(None),
        Some(mode @ ("allow" | "prefer")) => {
            return Err(format!(
                "`sslmode={mode}` would continue without encryption if TLS fails: use `verify-full`, `verify-ca` or \
                 `require`, or `disable` for a plain connection"
            ));
        }
        Some("require") => Tls::require(roots)?,
        Some("verify-ca") => Tls::verify_ca(roots)?,
        Some("verify-full") => Tls::verify_full(roots),
        Some(_) => return Err("`sslmode` must be `disable`, `require`, `verify-ca` or `verify-full`".to_owned()),
    };
    // As with libpq, which has no TLS over a socket.
    if are_sockets {
        return Ok(None);
    }
    if ends.contains(&End::Socket) {
        return Err("`sslmode` can't secure a socket: name either sockets or other hosts".to_owned());
    }
    Ok(Some(tls))
}

/// Where a connection leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    #[cfg_attr(not(unix), allow(dead_code, reason = "the driver has none there"))]
    Socket,
    Loopback,
    Far,
}

/// Where each connection leads. An address is used instead of its host.
fn ends(config: &Config) -> Vec<End> {
    let near = |is_loopback| if is_loopback { End::Loopback } else { End::Far };
    if !config.get_hostaddrs().is_empty() {
        return config.get_hostaddrs().iter().map(|address| near(is_loopback(*address))).collect();
    }
    let end = |host: &Host| match host {
        Host::Tcp(name) => near(name == "localhost" || name.parse().is_ok_and(is_loopback)),
        #[cfg(unix)]
        Host::Unix(_) => End::Socket,
    };
    config.get_hosts().iter().map(end).collect()
}

const fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// The driver's own settings.
fn config(given: &[(String, String)]) -> Result<Config, String> {
    let mut text = String::new();
    for (keyword, value) in given {
        let value = value.replace('\\', "\\\\").replace('\'', "\\'");
        text.push_str(&format!("{keyword}='{value}' "));
    }
    text.parse().map_err(|error: tokio_postgres::Error| {
        // It names only the keyword.
        let why = core::error::Error::source(&error).map(ToString::to_string);
        why.unwrap_or_else(|| "the connection string is invalid".to_owned())
    })
}

/// The keywords and values of a URL, or of `keyword=value`. None is repeated.
fn pairs(url: &str) -> Result<Vec<(String, String)>, String> {
    let url_text = ["postgres://", "postgresql://"].iter().find_map(|prefix| url.strip_prefix(prefix));
    let given = match url_text {
        Some(rest) => of_url(rest, url.len().saturating_sub(rest.len()))?,
        None if url.contains("://") || url.starts_with("postgres:") || url.starts_with("postgresql:") => {
            return Err("the URL of a database starts with `postgres://` or `postgresql://`".to_owned());
        }
        None => of_words(url)?,
    };
    for (index, Pair { keyword, at, .. }) in given.iter().enumerate() {
        if !KEYWORDS.contains(&keyword.as_str()) {
            let position = at.saturating_add(1);
            return Err(format!("an unknown keyword at byte {position} of the connection string"));
        }
        if given.iter().take(index).any(|before| before.keyword == *keyword) {
            return Err(format!("the connection string has `{keyword}` twice"));
        }
    }
    Ok(given.into_iter().map(|pair| (pair.keyword, pair.value)).collect())
}

struct Pair {
    keyword: String,
    value: String,
    /// Where the keyword is.
    at: usize,
}

/// After `postgres://`: `user:password@host:port,host:port/dbname?keyword=value&keyword=value`.
fn of_url(rest: &str, start: usize) -> Result<Vec<Pair>, String> {
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, dbname) = before.split_once('/').unwrap_or((before, ""));
    // An `@`, `/` or `?` in a password would make a part of it a host.
    if dbname.contains('@') || query.contains('@') || authority.matches('@').count() > 1 {
        return Err(
            "in the URL of a database, write the characters `@`, `/` and `?` of a name or password as `%40`, `%2F` \
                    and `%3F`"
                .to_owned(),
        );
    }
    let (login, hosts) = authority.split_once('@').unwrap_or(("", authority));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (hosts, ports) = of_hosts(hosts)?;
    let mut pairs = Vec::new();
    for (keyword, value) in
        [("user", user), ("password", password), ("host", &*hosts), ("port", &*ports), ("dbname", dbname)]
    {
        if !value.is_empty() {
            pairs.push(Pair { keyword: keyword.to_owned(), value: decoded(value)?, at: start });
        }
    }
    let mut at = start.saturating_add(before.len()).saturating_add(1);
    for part in query.split('&').filter(|_| !query.is_empty()) {
        let Some((keyword, value)) = part.split_once('=') else {
            return Err(format!("no `=` after the keyword at byte {} of the connection string", at.saturating_add(1)));
        };
        pairs.push(Pair { keyword: decoded(keyword)?, value: decoded(value)?, at });
        at = at.saturating_add(part.len()).saturating_add(1);
    }
    Ok(pairs)
}

/// The hosts of a URL and their ports, each with commas between them. Without any port, none are given.
fn of_hosts(text: &str) -> Result<(String, String), String> {
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    for part in text.split(',') {
        let wrong = || "a host of the URL is invalid".to_owned();
        let (host, port) = match part.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or_else(wrong)?;
                let port = if port.is_empty() { "" } else { port.strip_prefix(':').ok_or_else(wrong)? };
                (host, port)
            }
            None => part.split_once(':').unwrap_or((part, "")),
        };
        hosts.push(host);
        ports.push(port);
    }
    let ports = if ports.iter().all(|port| port.is_empty()) { String::new() } else { ports.join(",") };
    Ok((hosts.join(","), ports))
}

/// A string with `%40` as `@`.
fn decoded(text: &str) -> Result<String, String> {
    let wrong = || "a `%` in the URL of a database isn't followed by two hexadecimal digits of UTF-8".to_owned();
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2).ok_or_else(wrong)?;
        let digits = core::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        bytes.push(digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or_else(wrong)?);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// `keyword=value keyword='a value'`, in which `\` is before a character that is meant literally.
fn of_words(text: &str) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let at = text.len().saturating_sub(rest.len());
        let end = rest.find(|letter: char| letter == '=' || letter.is_whitespace()).unwrap_or(rest.len());
        let (keyword, after) = rest.split_at(end);
        let Some(after) = after.trim_start().strip_prefix('=') else {
            return Err(format!("no `=` after the keyword at byte {} of the connection string", at.saturating_add(1)));
        };
        let after = after.trim_start();
        let (value, after) = word(after).ok_or_else(|| {
            format!("no end of the value of the keyword at byte {} of the connection string", at.saturating_add(1))
        })?;
        pairs.push(Pair { keyword: keyword.to_owned(), value, at });
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// A value, and what comes after it; none if its quotation mark or escape has no end.
fn word(text: &str) -> Option<(String, &str)> {
    let (is_quoted, text) = text.strip_prefix('\'').map_or((false, text), |text| (true, text));
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.push(letters.next()?.1),
            '\'' if is_quoted => {
                let after = letters.as_str();
                return after.chars().next().is_none_or(char::is_whitespace).then_some((value, after));
            }
            letter if !is_quoted && letter.is_whitespace() => {
                return text.split_at_checked(at).map(|(_, after)| (value, after));
            }
            letter => value.push(letter),
        }
    }
    (!is_quoted).then_some((value, ""))
}

#[cfg(all(test, unix))]
#[allow(clippy::disallowed_methods, clippy::string_slice, reason = "a test writes files, and cuts strings of ASCII")]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::path::PathBuf;
    use std::thread;

    use tokio_postgres::Config;
    use tokio_postgres::config::SslMode;

    use super::Settings;
    use crate::postgres::failed::Failed;

    /// Pairs of a variable's name and value.
    fn with(url: &str, file: Option<&str>, variables: &[(&str, &str)]) -> Result<Settings, String> {
        let variable =
            |name: &str| variables.iter().find(|(given, _)| *given == name).map(|(_, value)| (*value).to_owned());
        Settings::new(url, file.map(PathBuf::from), &variable).map_err(|error| error.to_string())
    }

    fn settings(url: &str) -> Result<Settings, String> {
        with(url, None, &[])
    }

    #[test]
    fn the_words_of_another_driver_are_refused_without_a_password() {
        for (db, position) in [("Host=db.test;Password=hunter2", 1), ("host=localhost Password=hunter2", 16)] {
            let why = settings(db).err().unwrap();
            assert_eq!(why, format!("postgres: an unknown keyword at byte {position} of the connection string"));
        }
    }

    #[test]
    fn a_string_is_read_as_the_driver_reads_it() {
        for url in [
            "host=/run/postgresql user=orbs dbname=orbs",
            "host = localhost  user='o r\\'b\\\\s' password=a\\ b port=5433",
            "postgres://orbs@localhost/orbs",
            "postgresql://orbs:s%2Fe%40c@127.0.0.1:5433/orbs?connect_timeout=10&target_session_attrs=read-write",
            "postgres:///orbs?host=/run/postgresql&user=orbs",
            "postgres://orbs@%2Frun%2Fpostgresql/orbs",
            "postgres://[::1]:5433,localhost:5434/orbs",
        ] {
            let driver: Config = url.parse().unwrap();
            let own = settings(url).unwrap_or_else(|error| panic!("{url}: {error}")).config;
            assert_eq!(own.get_user(), driver.get_user(), "{url}");
            assert_eq!(own.get_password(), driver.get_password(), "{url}");
            assert_eq!(own.get_dbname(), driver.get_dbname(), "{url}");
            assert_eq!(own.get_hosts(), driver.get_hosts(), "{url}");
            let patience = driver.get_connect_timeout().unwrap_or(&super::PATIENCE);
            assert_eq!(own.get_connect_timeout(), Some(patience), "{url}");
            // From a URL, the driver also has the port that isn't given.
            assert!(own.get_ports().is_empty() || own.get_ports() == driver.get_ports(), "{url}");
            assert_eq!(own.get_ssl_mode(), SslMode::Disable, "{url}");
        }
    }

    /// Whoever has taken the port of a server, or a server that hangs.
    #[test]
    fn a_server_that_never_finishes_its_handshake_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("host=127.0.0.1 port={port} user=orbs sslmode=require connect_timeout=1");
        let silent = thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut request = [0; 8];
            client.read_exact(&mut request).unwrap();
            client.write_all(b"S").unwrap();
            // Until the client has given up.
            let _ = client.read_to_end(&mut Vec::new());
        });
        let failed = settings(&url).unwrap().connect(&std::sync::Arc::default()).err().unwrap();
        assert!(matches!(&failed, Failed::Lost(why) if why.contains("didn't answer in time")), "{failed:?}");
        silent.join().unwrap();
    }

    #[test]
    fn only_sockets_and_loopback_addresses_are_plain_unasked() {
        let home = tempfile::tempdir().unwrap();
        for plain in [
            "host=/run/postgresql",
            "host=localhost",
            "host=127.0.0.1",
            "host=127.8.9.1",
            "host=::1",
            "host=::ffff:127.0.0.1",
            "host=/tmp,localhost",
            "host=db.test hostaddr=127.0.0.1",
            "hostaddr=::1",
            "host=db.test sslmode=disable",
            "postgres://10.0.0.1/orbs?sslmode=disable",
            "host=/tmp sslmode=verify-full",
        ] {
            let settings = settings(plain).unwrap_or_else(|error| panic!("{plain}: {error}"));
            assert!(settings.tls.is_none() && settings.config.get_ssl_mode() == SslMode::Disable, "{plain}");
        }
        let file = home.path().join("root.crt");
        for tls in ["require", "verify-full", "verify-ca"] {
            let url = format!("host=db.test sslmode={tls} sslrootcert={}", file.display());
            let settings = settings(&url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert!(settings.tls.is_some() && settings.config.get_ssl_mode() == SslMode::Require, "{url}");
        }
        let not_encrypted = "would not be encrypted: add `sslmode=verify-full`";
        for (url, why) in [
            ("host=db.test", not_encrypted),
            ("host=localhost,db.test", not_encrypted),
            ("host=/tmp,db.test", not_encrypted),
            ("host=localhost hostaddr=10.0.0.1", not_encrypted),
            ("host=/tmp hostaddr=10.0.0.1", not_encrypted),
            ("hostaddr=10.0.0.1", not_encrypted),
            ("host=128.0.0.1", not_encrypted),
            ("host=localhost.db.test", not_encrypted),
            ("host=127.1", not_encrypted),
            ("host=''", not_encrypted),
            ("postgres://orbs@db.test/orbs", not_encrypted),
            ("host=localhost sslmode=prefer", "`sslmode=prefer` would continue without encryption"),
            ("host=/tmp sslmode=allow", "`sslmode=allow` would continue without encryption"),
            ("host=db.test sslmode=Require", "must be `disable`, `require`, `verify-ca` or `verify-full`"),
            ("host=db.test sslmode=''", "must be `disable`, `require`, `verify-ca` or `verify-full`"),
            ("host=db.test sslmode=verify-ca", "needs `sslrootcert=FILE`"),
            ("host=db.test sslmode=verify-ca sslrootcert=system", "`verify-ca` accepts any name"),
            ("host=db.test sslmode=require sslrootcert=system", "`require` accepts any name"),
            ("host=localhost sslrootcert=root.crt", "`sslrootcert` needs `sslmode=verify-full`"),
            ("host=db.test sslmode=disable sslrootcert=root.crt", "verifies nothing with `sslmode=disable`"),
            ("host=/tmp,db.test sslmode=verify-full", "name either sockets or other hosts"),
            ("user=orbs", "no `host`"),
            ("postgres:///orbs", "no `host`"),
        ] {
            let error = settings(url).err().unwrap_or_else(|| panic!("{url}"));
            assert!(error.starts_with("postgres: ") && error.contains(why), "{url}: {error}");
        }
    }

    /// As with libpq, it makes `require` verify.
    #[test]
    fn the_usual_file_of_authorities_is_used_if_it_exists() {
        let home = tempfile::tempdir().unwrap();
        let variables = [("HOME", home.path().to_str().unwrap())];
        let connect = |mode: &str| {
            let settings = with(&format!("host=db.test sslmode={mode}"), None, &variables)?;
            settings.tls.unwrap().connector(super::PATIENCE).map(drop)
        };
        assert_eq!(connect("require"), Ok(()));
        assert!(connect("verify-ca").is_err());
        std::fs::create_dir(home.path().join(".postgresql")).unwrap();
        let file = home.path().join(".postgresql/root.crt");
        std::fs::write(&file, "").unwrap();
        for mode in ["require", "verify-ca", "verify-full"] {
            let error = connect(mode).unwrap_err();
            assert_eq!(error, format!("{}: it has no certificate in PEM", file.display()), "{mode}");
        }
        assert_ne!(connect("verify-full sslrootcert=system"), connect("verify-full"));
    }

    /// Each string has a mistake, most of them in the password.
    #[test]
    fn no_error_has_a_part_of_a_password() {
        let strings = [
            "host=db.test password=hunter2secret",
            "host=localhost password=hunter2 secret",
            "host=localhost password=hunter2 secret=1",
            "host=localhost password='hunter2'secret",
            "host=localhost password='hunter2secret",
            "host=localhost password=hunter2secret\\",
            "host=localhost password=hunter2 password=secret",
            "host=localhost passwort=hunter2secret",
            "host=localhost port=hunter2secret",
            "host=localhost sslmode=hunter2secret",
            "host=localhost hostaddr=hunter2secret",
            "host=localhost channel_binding=hunter2secret",
            "postgres://orbs:hunter2secret@db.test/orbs",
            "postgres://orbs:hunter2/secret@localhost/orbs",
            "postgres://orbs:hunter2@secret@localhost/orbs",
            "postgres://orbs:hunter2?secret@localhost/orbs",
            "postgres://orbs:hunter2@secret/5@localhost/orbs",
            "postgres://orbs:hunter2%secret@localhost/orbs",
            "postgres://orbs:hunter2%ffsecret@localhost/orbs",
            "postgres://orbs:hunter2secret@localhost:port/orbs",
            "postgres://orbs@localhost/orbs?password=hunter2&secret",
            "postgres://orbs@localhost/orbs?password=hunter2&secret=1",
            "postgres://orbs:hunter2[secret/x",
            "postgres:/orbs:hunter2secret@localhost/orbs",
            "mysql://orbs:hunter2secret@localhost/orbs",
            "hunter2secret",
        ];
        for url in strings {
            let error = settings(url).err().unwrap_or_else(|| panic!("{url}"));
            assert!(!error.contains("hunter") && !error.contains("secret"), "{url}: {error}");
        }
        // Whatever is cut out of a string, or doubled.
        for url in
            ["host=db.test user=o password='hunter2 secret' sslmode=x", "postgres://o:hunter2secret@db.test/a?port=x"]
        {
            for start in 0..url.len() {
                for end in start..=url.len() {
                    for text in [[&url[..start], &url[end..]].concat(), [&url[..end], &url[start..]].concat()] {
                        let error = settings(&text).err().unwrap_or_default();
                        assert!(!error.contains("hunt") && !error.contains("secr"), "{text}: {error}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_password_comes_from_the_first_place_that_has_one() {
        use std::os::unix::fs::PermissionsExt as _;

        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            path.display().to_string()
        };
        let lines = "# localhost:*:*:*:comment\nlocalhost:5432:orbs:orbs:one\nlocalhost:5433:*:orbs:two\\:with\\:colons\\\\\n\
                     localhost:5434:*:orbs:four:rest\n\\*:5435:*:*:star\n\\:\\:1:*:*:*:three\r\nother:*:*:*:other\n*:*:*:nobody:none\n";
        let passfile = write("pass", lines);
        let read = |url: &str, file: Option<&str>, variables: &[(&str, &str)]| {
            let settings = with(url, file, variables)?;
            let read = settings.password.read(&settings.config)?;
            let given = settings.config.get_password().map(<[u8]>::to_vec);
            Ok::<_, String>(read.or(given).map(|password| String::from_utf8(password).unwrap()))
        };
        let is = |url: &str, variables: &[(&str, &str)], password: Option<&str>| {
            assert_eq!(read(url, None, variables), Ok(password.map(str::to_owned)), "{url} {variables:?}");
        };
        let base = "user=orbs dbname=orbs host=localhost";
        let by_file = format!("{base} passfile={passfile}");
        is(base, &[], None);
        is(&by_file, &[], Some("one"));
        is(&format!("{by_file} port=5433"), &[], Some("two:with:colons\\"));
        // As libpq reads it: the next `:` ends the password, and `\*` is a star.
        is(&format!("{by_file} port=5434"), &[], Some("four"));
        is(&format!("{by_file} port=5435"), &[], None);
        is(&by_file.replace("localhost", "/run/postgresql"), &[], Some("one"));
        is(&by_file.replace("localhost", "::1"), &[], Some("three"));
        is(&by_file.replace("user=orbs", "user=other"), &[], None);
        is(&by_file, &[("PGPASSWORD", "four")], Some("four"));
        is(&format!("{by_file} password=five"), &[("PGPASSWORD", "four")], Some("five"));
        is(base, &[("PGPASSFILE", &passfile)], Some("one"));
        is(base, &[("PGPASSFILE", ""), ("PGPASSWORD", "")], None);
        is(base, &[("HOME", home.path().to_str().unwrap())], None);
        is(base, &[("HOME", "")], None);
        write(".pgpass", "*:*:*:*:six");
        is(base, &[("HOME", home.path().to_str().unwrap())], Some("six"));
        // One password goes to all hosts.
        is(&by_file.replace("localhost", "localhost,localhost"), &[], Some("one"));
        let two = read(&by_file.replace("localhost", "localhost,other sslmode=disable"), None, &[]);
        assert_eq!(
            two,
            Err(format!("{passfile}: it has different passwords for the hosts, of which all would get the same"))
        );

        let single = write("single", "seven\n");
        assert_eq!(read(base, Some(&single), &[("PGPASSWORD", "four")]), Ok(Some("seven".to_owned())));
        assert!(read(&format!("{base} password=five"), Some(&single), &[]).unwrap_err().contains("has a `password`"));
        for text in ["", "\n", "a\nb\n", "a\0"] {
            let file = write("single", text);
            assert_eq!(
                read(base, Some(&file), &[]),
                Err(format!("{file}: it must be one line, the password")),
                "{text:?}"
            );
        }
        let none = home.path().join("none").display().to_string();
        let folder = home.path().display().to_string();
        for file in [none, folder] {
            assert!(read(base, Some(&file), &[]).unwrap_err().starts_with(&file));
            assert!(read(base, None, &[("PGPASSFILE", &file)]).unwrap_err().starts_with(&file));
        }
        std::fs::set_permissions(&passfile, std::fs::Permissions::from_mode(0o640)).unwrap();
        let open = read(&by_file, None, &[]).unwrap_err();
        assert_eq!(open, format!("{passfile}: others may read the passwords: `chmod 600` it"));
    }
}
