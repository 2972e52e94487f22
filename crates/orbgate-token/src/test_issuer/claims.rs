//! What the tokens of a test issuer state.

use orbgate::TokenKind;
use serde_json::{Map, Value, json};

use crate::proof::confirmation::hash;
use crate::proof::rules::ProofMethod;

/// The audience, if none is set.
pub(super) const AUDIENCE: &str = "https://service.test";

/// The longest time for which tokens of a test issuer are valid: a year.
const MOST_SECONDS: i64 = 31_536_000;

/// The claims that have an option of their own, or none.
const OWN: [(&str, &str); 8] = [
    ("aud", "set it with the option `audience`"),
    ("client_id", "set it with the option `client`"),
    ("exp", "set it with the option `expires_in`"),
    ("iat", "it is the time of the request"),
    ("iss", "it is always the issuer's address"),
    ("scope", "request scopes with each token"),
    ("sub", "set it with the option `subject`"),
    ("token_kind", "set it with the option `kind`"),
];

/// What the tokens of a [`TestIssuer`](crate::TestIssuer) state.
///
/// ```
/// use orbgate_token::{TestClaims, TestIssuer};
///
/// let claims = TestClaims::default().set("subject", "ada")?.set("claim", "tenant=acme")?;
/// let issuer = TestIssuer::new("https://issuer.test")?.claims(claims);
/// # Ok::<(), orbgate_token::TestIssuerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TestClaims {
    pub(super) audience: String,
    pub(super) subject: String,
    pub(super) client: String,
    pub(super) kind: TokenKind,
    pub(super) expires_in: i64,
    /// What a token is bound to: a key's thumbprint, and a certificate's.
    pub(super) jkt: Option<String>,
    pub(super) x5t: Option<String>,
    pub(super) extra: Map<String, Value>,
}

/// Why there is no issuer, or no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TestIssuerError {
    /// No key could be generated.
    #[error("the system gives no randomness for a key")]
    NoKey,
    /// An option has a value that it can't have.
    #[error("{option}: {problem}")]
    #[non_exhaustive]
    Option {
        /// The option's name.
        option: String,
        /// What to write instead.
        problem: String,
    },
}

impl TestIssuerError {
    pub(super) fn option(option: &str, problem: impl Into<String>) -> Self {
        Self::Option { option: option.to_owned(), problem: problem.into() }
    }
}

impl Default for TestClaims {
    /// A user named `subject`, whose client is `client`. Tokens are for [`TestIssuer::AUDIENCE`](crate::TestIssuer::AUDIENCE) and
    /// expire in ten minutes.
    fn default() -> Self {
        Self {
            audience: AUDIENCE.to_owned(),
            subject: "subject".to_owned(),
            client: "client".to_owned(),
            kind: TokenKind::User,
            expires_in: 600,
            jkt: None,
            x5t: None,
            extra: Map::new(),
        }
    }
}

impl TestClaims {
    /// The names of the options that [`set`](Self::set) takes.
    pub const OPTIONS: [&'static str; 8] =
        ["audience", "subject", "client", "kind", "expires_in", "jkt", "x5t", "claim"];

    /// Sets an option by its name in a command line or a query:
    ///
    /// | option | value |
    /// |---|---|
    /// | `audience`, `subject`, `client` | the claim `aud`, `sub` or `client_id` |
    /// | `kind` | `user` or `organisation` |
    /// | `expires_in` | the number of seconds until a token expires; a negative number makes expired tokens |
    /// | `jkt`, `x5t` | what a token is bound to: the member `jkt` or `x5t#S256` of the claim `cnf`, a SHA-256 in base64url |
    /// | `claim` | an additional claim: `NAME=TEXT`, or `NAME:=JSON`. A claim whose value is null is left out |
    ///
    /// # Errors
    ///
    /// Fails if there is no such option, or if the value isn't valid. The error names the option.
    pub fn set(mut self, option: &str, value: &str) -> Result<Self, TestIssuerError> {
        let wrong = |problem: &str| TestIssuerError::option(option, problem);
        match option {
            "audience" => self.audience = text(option, value)?,
            "subject" => self.subject = text(option, value)?,
            "client" => self.client = text(option, value)?,
            "kind" => {
                self.kind = match TokenKind::from_name(value) {
                    TokenKind::Unknown => return Err(wrong("write `user` or `organisation`")),
                    kind => kind,
                }
            }
            "expires_in" => {
                let seconds = value.parse().ok().filter(|seconds| (-MOST_SECONDS..=MOST_SECONDS).contains(seconds));
                let problem = format!("write a number of seconds from -{MOST_SECONDS} to {MOST_SECONDS}");
                self.expires_in = seconds.ok_or_else(|| wrong(&problem))?;
            }
            "jkt" | "x5t" if self.extra.contains_key("cnf") => return Err(wrong("the option `claim` has set `cnf`")),
            "jkt" => self.jkt = Some(thumbprint(option, value)?),
            "x5t" => self.x5t = Some(thumbprint(option, value)?),
            "claim" => {
                let (name, value) = value.split_once('=').ok_or_else(|| wrong("write `NAME=TEXT` or `NAME:=JSON`"))?;
                let (name, value) = match name.strip_suffix(':') {
                    Some(name) => {
                        (name, serde_json::from_str(value).map_err(|error| wrong(&format!("`{name}`: {error}")))?)
                    }
                    None => (name, Value::from(value)),
                };
                return self.claim(name, value);
            }
            _ => return Err(wrong(&format!("not an option; there are {}", Self::OPTIONS.join(", ")))),
        }
        Ok(self)
    }

    /// Adds a claim. One whose value is null is left out.
    ///
    /// # Errors
    ///
    /// Fails if the name is empty, or that of a claim with its own option.
    pub fn claim(mut self, name: &str, value: Value) -> Result<Self, TestIssuerError> {
        let own = OWN.iter().find(|(own, _)| *own == name);
        let problem = match own {
            Some((_, instead)) => format!("`{name}`: {instead}"),
            None if name.is_empty() => "the name is empty".to_owned(),
            None if name == "cnf" && (self.jkt.is_some() || self.x5t.is_some()) => {
                "`cnf`: the options `jkt` and `x5t` set it".to_owned()
            }
            None => {
                self.extra.insert(name.to_owned(), value);
                return Ok(self);
            }
        };
        Err(TestIssuerError::option("claim", problem))
    }

    /// All claims of a token with these scopes; `changed` replaces them.
    pub(super) fn all(&self, iss: &str, scopes: &str, changed: &Map<String, Value>, now: i64) -> Value {
        let usual = [
            ("iss", Value::from(iss)),
            ("aud", json!(self.audience)),
            ("sub", json!(self.subject)),
            ("client_id", json!(self.client)),
            ("iat", json!(now)),
            ("exp", json!(now.saturating_add(self.expires_in))),
            ("token_kind", json!(self.kind.as_str())),
            ("scope", json!(scopes)),
        ];
        let mut all: Map<_, _> = usual.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        let cnf = [(ProofMethod::Dpop, &self.jkt), (ProofMethod::Mtls, &self.x5t)];
        let cnf =
            cnf.into_iter().filter_map(|(method, hash)| Some((method.member().to_owned(), json!(hash.as_ref()?))));
        let cnf: Map<_, _> = cnf.collect();
        if !cnf.is_empty() {
            all.insert("cnf".to_owned(), cnf.into());
        }
        all.extend(self.extra.clone());
        all.extend(changed.clone());
        all.retain(|_, value| !value.is_null());
        Value::Object(all)
    }
}

/// A SHA-256 in base64url.
fn thumbprint(option: &str, value: &str) -> Result<String, TestIssuerError> {
    let problem = "write a SHA-256 in base64url, which has 43 characters";
    match hash(value) {
        Some(_) => Ok(value.to_owned()),
        None => Err(TestIssuerError::option(option, problem)),
    }
}

/// A name that a log can show.
fn text(option: &str, value: &str) -> Result<String, TestIssuerError> {
    match value {
        "" => Err(TestIssuerError::option(option, "must not be empty")),
        _ if value.contains(char::is_control) => Err(TestIssuerError::option(option, "has a control character")),
        _ => Ok(value.to_owned()),
    }
}
