//! Issuers of opaque tokens: their introspection endpoints (RFC 7662), and the credentials for these.

use core::fmt;
use core::time::Duration;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orbgate::policy::PolicyFile;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::key_name::{KeyName, key};

/// The introspection endpoint of an issuer, and how its responses are used. See [`Issuer::opaque`](crate::Issuer::opaque).
///
/// ```
/// use core::time::Duration;
/// use orbgate_token::{Opaque, SecretSource};
///
/// let secret = SecretSource::Env("INTROSPECTION_SECRET".to_owned());
/// let opaque = Opaque::new("https://id.example.com/introspect", "my-api", secret)
///     .max_cache(Duration::from_secs(30));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    pub(crate) endpoint: String,
    pub(crate) client: String,
    pub(crate) source: SecretSource,
    pub(crate) prefix: Option<String>,
    pub(crate) max_cache: Duration,
    /// The value of `Authorization`, once the secret has been read.
    pub(crate) authorization: Option<Secret>,
}

impl Opaque {
    /// An introspection endpoint, `https` or a loopback address, and the client with which this API authenticates there.
    #[must_use]
    pub fn new(endpoint: impl Into<String>, client_id: impl Into<String>, secret: SecretSource) -> Self {
        Self {
            endpoint: endpoint.into(),
            client: client_id.into(),
            source: secret,
            prefix: None,
            max_cache: Duration::from_secs(60),
            authorization: None,
        }
    }

    /// The prefix of the issuer's opaque tokens. If there are several issuers of opaque tokens, each needs a prefix, except one,
    /// which gets all other tokens.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// How long a response is used, and so how long a revoked token can still be accepted. Default: 60 s. Maximum: 3,600 s. A
    /// response is never used beyond the token's `exp`.
    #[must_use]
    pub const fn max_cache(mut self, longest: Duration) -> Self {
        self.max_cache = longest;
        self
    }

    /// Sets the secret. RFC 6749 §2.3.1: both parts are form-urlencoded before they are joined.
    fn with_secret(&mut self, secret: &str) {
        let (client, secret) = (form(&self.client), form(secret));
        let basic = format!("Basic {}", STANDARD.encode(format!("{client}:{secret}")));
        self.authorization = Some(Secret(basic.into()));
    }

    /// Reads the secret, unless it has been read.
    pub(crate) fn read_secret(
        &mut self,
        read: impl FnOnce(&SecretSource) -> std::io::Result<Vec<u8>>,
    ) -> Result<(), String> {
        if self.authorization.is_some() {
            return Ok(());
        }
        // Neither the value nor a decoding error, which may quote it, goes into a message.
        let named = |what: &dyn fmt::Display| format!("{}: {what}", self.source);
        let bytes = read(&self.source).map_err(|error| named(&error))?;
        let text = core::str::from_utf8(&bytes).map_err(|_| named(&"it is not UTF-8"))?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            return Err(named(&"it is empty"));
        }
        if text.len() > SECRET_BYTES {
            return Err(named(&"it has more than 4096 bytes"));
        }
        self.with_secret(text);
        Ok(())
    }

    /// The body that asks about a token (RFC 7662, section 2.1).
    pub(crate) fn body(token: &str) -> String {
        format!("token={}&token_type_hint=access_token", form(token))
    }
}

/// A longer text is no client's secret.
const SECRET_BYTES: usize = 4096;

/// What `application/x-www-form-urlencoded` leaves as it is. A space is `%20`, which every reader of forms takes as well as `+`.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

fn form(text: &str) -> String {
    utf8_percent_encode(text, KEPT).to_string()
}

/// The location of a client's secret. A configuration never contains the secret itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host must read each")]
pub enum SecretSource {
    /// A file with this absolute path. A line ending at the end of the file isn't part of the secret.
    File(String),
    /// An environment variable with this name.
    Env(String),
    /// Not a secret: a file with an [issuer's public keys](crate::Issuer::jwks_file), with this absolute path. Programs read it
    /// as they read secrets, at the start and on reload.
    Keys(String),
}

impl SecretSource {
    /// Reads the secret from this system. No other function of this crate reads files or environment variables.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be read or isn't a regular file, as [`PolicyFile::read`] does, or if the variable isn't
    /// set or isn't Unicode.
    #[expect(clippy::disallowed_methods, reason = "secrets are read when a host asks for it, never for a token")]
    pub fn read(&self) -> std::io::Result<Vec<u8>> {
        match self {
            Self::File(path) | Self::Keys(path) => PolicyFile::read(path).map(PolicyFile::into_bytes),
            Self::Env(name) => match std::env::var(name) {
                Ok(value) => Ok(value.into_bytes()),
                // Its error would show a value that isn't Unicode.
                Err(_) => {
                    Err(std::io::Error::new(std::io::ErrorKind::NotFound, "the variable is not set, or not Unicode"))
                }
            },
        }
    }

    /// Why it can't be one.
    pub(crate) fn diagnostic(&self) -> Option<(KeyName, &'static str)> {
        match self {
            Self::File(path) if !is_absolute(path) => Some((
                key!("client_secret_file"),
                "`client_secret_file` must be an absolute path: it depends on no working directory then",
            )),
            Self::Env(name) if name.is_empty() || name.contains(['=', '\0']) => {
                Some((key!("client_secret_env"), "`client_secret_env` must be the name of a variable"))
            }
            Self::Keys(path) if !is_absolute(path) => Some((
                key!("jwks_file"),
                "`jwks_file` must be an absolute path: it depends on no working directory then",
            )),
            _ => None,
        }
    }
}

/// On any system, because a configuration may be checked on another one.
fn is_absolute(path: &str) -> bool {
    let drive = matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    path.starts_with('/') || drive || Path::new(path).is_absolute()
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "`client_secret_file` {path}"),
            Self::Env(name) => write!(f, "`client_secret_env` {name}"),
            Self::Keys(path) => write!(f, "`jwks_file` {path}"),
        }
    }
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(Arc<str>);

impl Secret {
    /// The text, for the request that needs it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// Whether a token is meant as a JWT: three parts, or the five of an encrypted one, of which the first is an object in base64url.
/// Such a token is never sent to an issuer that its claims don't name.
pub(crate) fn is_jwt_shaped(token: &[u8]) -> bool {
    // `{` and whatever follows it.
    let begins_object = matches!(token, [b'e', b'w'..=b'z' | b'0'..=b'9' | b'-' | b'_', ..]);
    begins_object && matches!(memchr::memchr_iter(b'.', token).count(), 2 | 4)
}

#[cfg(test)]
mod tests {
    use super::{Opaque, SecretSource, is_absolute, is_jwt_shaped};

    fn opaque() -> Opaque {
        let source = SecretSource::Env("SOME_SECRET".to_owned());
        Opaque::new("https://id.example.com/introspect", "my api:1", source)
    }

    #[test]
    fn credentials_are_form_urlencoded_before_base64() {
        for text in ["a b+%:é\n", "a b+%:é\r\n", "a b+%:é"] {
            let mut opaque = opaque();
            opaque.read_secret(|_| Ok(text.as_bytes().to_vec())).unwrap();
            // my%20api%3A1:a%20b%2B%25%3A%C3%A9
            let basic = "Basic bXklMjBhcGklM0ExOmElMjBiJTJCJTI1JTNBJUMzJUE5";
            assert_eq!(opaque.authorization.as_ref().unwrap().reveal(), basic);
            let shown = format!("{opaque:?}");
            assert!(!shown.contains("a b+") && !shown.contains("bXkl"), "{shown}");
        }
        assert_eq!(Opaque::body("a-._~+/=="), "token=a-._%7E%2B%2F%3D%3D&token_type_hint=access_token");
    }

    #[test]
    fn a_secret_that_cannot_be_is_refused_and_not_quoted() {
        let table: [(&[u8], &str); 4] = [
            (b"", "it is empty"),
            (b"\n", "it is empty"),
            (b"p\xffq", "it is not UTF-8"),
            (&[b'p'; 4097], "it has more than 4096 bytes"),
        ];
        for (bytes, expected) in table {
            let error = opaque().read_secret(|_| Ok(bytes.to_vec())).unwrap_err();
            assert_eq!(error, format!("`client_secret_env` SOME_SECRET: {expected}"));
        }
        let missing = SecretSource::Env("ORBGATE_NO_SUCH_VARIABLE".to_owned());
        let error = Opaque::new("https://a", "b", missing).read_secret(SecretSource::read);
        assert_eq!(
            error.unwrap_err(),
            "`client_secret_env` ORBGATE_NO_SUCH_VARIABLE: the variable is not set, or not Unicode"
        );
    }

    /// A pipe without a writer would block for ever, and a device might have no end.
    #[cfg(all(unix, not(miri)))]
    #[test]
    fn a_secret_is_read_only_from_a_regular_file() {
        let pipe = std::env::temp_dir().join(format!("orbgate-secret-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let pipe = pipe.to_str().unwrap();
        for path in ["/dev/null", "/dev/zero", pipe, "/"] {
            let source = SecretSource::File(path.to_owned());
            let error = Opaque::new("https://a", "b", source).read_secret(SecretSource::read);
            assert_eq!(error.unwrap_err(), format!("`client_secret_file` {path}: not a regular file"));
        }
        std::fs::remove_file(pipe).unwrap();
    }

    #[test]
    fn paths_of_secrets_are_absolute_on_any_system() {
        assert!(["/run/secrets/a", "C:\\a", "d:/a"].iter().all(|path| is_absolute(path)));
        assert!(!["", "a", "./a", "C:a", "1:\\a"].iter().any(|path| is_absolute(path)));
    }

    #[test]
    fn only_what_is_meant_as_a_jwt_has_its_shape() {
        let table = [
            ("eyJhbGciOiJFUzI1NiJ9.e30.AA", true),
            ("eyJhbGciOiJFUzI1NiJ9.e30.", true),
            ("ewogImFsZyI6MX0.e30.AA", true),
            ("eyJhbGciOiJFUzI1NiJ9.a.b.c.d", true),
            ("eyJhbGciOiJFUzI1NiJ9", false),
            ("eyJhbGciOiJFUzI1NiJ9.a", false),
            ("v4.local.AAAA", false),
            ("ory_at_a.b", false),
            ("2YotnFZFEjr1zCsicMWpAA", false),
            ("", false),
            ("e", false),
        ];
        for (token, expected) in table {
            assert_eq!(is_jwt_shaped(token.as_bytes()), expected, "{token}");
        }
    }
}
