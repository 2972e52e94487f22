//! Where a password comes from: the connection string, a variable, or a file.
#![allow(clippy::disallowed_methods, reason = "a store is the edge: it reads its password")]

use std::fs;
use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The longest file that is read.
const MOST: u64 = 4 << 20;

/// A password, or the file that has it. It has no `Debug`.
#[derive(Clone)]
pub(crate) enum Password {
    /// In the connection string, or none.
    Given,
    /// From a variable.
    Known(String),
    /// The only content of a file.
    File(PathBuf),
    /// A line of a file for many databases.
    Passfile(PathBuf),
}

impl Password {
    /// The order is libpq's: the connection string, the variable, the file.
    pub(crate) fn new(
        config: &Config,
        file: Option<PathBuf>,
        passfile: Option<String>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        match (config.get_password().filter(|password| !password.is_empty()), file) {
            (Some(_), Some(_)) => Err("the connection string has a `password`, so a file of it is unused".to_owned()),
            (Some(_), None) => Ok(Self::Given),
            (None, Some(file)) => Ok(Self::File(file)),
            (None, None) => Ok(match (variable("PGPASSWORD"), passfile.or_else(|| variable("PGPASSFILE"))) {
                (Some(password), _) => Self::Known(password),
                (None, Some(passfile)) => Self::Passfile(passfile.into()),
                (None, None) => {
                    let usual = variable("HOME").map(|home| Path::new(&home).join(".pgpass"));
                    usual.filter(|file| file.exists()).map_or(Self::Given, Self::Passfile)
                }
            }),
        }
    }

    /// Reads the password for these hosts.
    pub(crate) fn read(&self, config: &Config) -> Result<Option<Vec<u8>>, String> {
        match self {
            Self::Given => Ok(None),
            Self::Known(password) => Ok(Some(password.clone().into_bytes())),
            Self::File(file) => {
                let text = read(file)?;
                let password = text.strip_suffix(b"\n").unwrap_or(&text);
                let password = password.strip_suffix(b"\r").unwrap_or(password);
                if password.is_empty() || password.iter().any(u8::is_ascii_control) {
                    return Err(format!("{}: it must be one line, the password", file.display()));
                }
                Ok(Some(password.to_vec()))
            }
            Self::Passfile(file) => {
                is_private(file)?;
                let text = String::from_utf8(read(file)?).map_err(|_| format!("{}: it isn't UTF-8", file.display()))?;
                of_hosts(config, &text).map_err(|why| format!("{}: {why}", file.display()))
            }
        }
    }
}

/// The contents of a regular file.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, String> {
    let why = |error: std::io::Error| format!("{}: {error}", file.display());
    let found = fs::metadata(file).map_err(why)?;
    if !found.is_file() || found.len() > MOST {
        return Err(format!("{}: it isn't a regular file of at most {MOST} bytes", file.display()));
    }
    fs::read(file).map_err(why)
}

/// The rule of libpq, which ignores the file otherwise.
#[cfg(unix)]
fn is_private(file: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;

    let found = fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
    if found.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(format!("{}: others may read the passwords: `chmod 600` it", file.display()))
}

#[cfg(not(unix))]
const fn is_private(_: &Path) -> Result<(), String> {
    Ok(())
}

/// The password of these hosts, from lines of `host:port:database:user:password`. The driver sends one to all of them.
fn of_hosts(config: &Config, text: &str) -> Result<Option<Vec<u8>>, String> {
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let mut passwords = Vec::new();
    for (index, host) in config.get_hosts().iter().enumerate() {
        let port = config.get_ports().get(index).or_else(|| config.get_ports().first()).copied().unwrap_or(5432);
        let port = port.to_string();
        let names = match host {
            Host::Tcp(name) => vec![name.clone()],
            #[cfg(unix)]
            Host::Unix(path) => vec![path.display().to_string(), "localhost".to_owned()],
        };
        let line = text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let [host, line_port, line_database, line_user, password, ..] = fields(line)[..] else {
                return None;
            };
            let is = |field: &str, value: &str| field == "*" || literal(field) == value;
            let is_host = names.iter().any(|name| is(host, name));
            (is_host && is(line_port, &port) && is(line_database, database) && is(line_user, user))
                .then(|| literal(password))
        });
        passwords.push(line);
    }
    passwords.dedup();
    match <[_; 1]>::try_from(passwords) {
        Ok([password]) => Ok(password.map(String::into_bytes)),
        Err(_) => Err("it has different passwords for the hosts, of which all would get the same".to_owned()),
    }
}

/// The fields of a line, as they are written: `\` is before a character that is meant literally, such as `:`.
fn fields(line: &str) -> Vec<&str> {
    let mut is_literal = false;
    let is_end = |letter: char| {
        let was = is_literal;
        is_literal = letter == '\\' && !was;
        letter == ':' && !was
    };
    line.split(is_end).collect()
}

fn literal(field: &str) -> String {
    let mut letters = field.chars();
    core::iter::from_fn(|| {
        letters.next().map(|letter| if letter == '\\' { letters.next().unwrap_or(letter) } else { letter })
    })
    .collect()
}
