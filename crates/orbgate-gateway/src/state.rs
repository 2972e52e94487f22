//! The active state: the configuration with its policy, keys and audit log. It is replaced as a
//! whole.

use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orbgate::Engine;
use orbgate_token::{FetchSettings, KeyFetcher, KeyStatus, SecretSource, Verifier};
use orbgate_tower::{Engines, GateLayer, LoadError, PublicRoutesError, Watch, WatchSettings};
use rustls::ServerConfig;

use crate::audit::OpenAudit;
use crate::config::{Config, LedgerConfig, Limits};
use crate::files::{self, Ending};
use crate::ledger::{self, OpenLedger};
use crate::listen::Address;
use crate::mode::Mode;
use crate::tls::TlsFiles;
use crate::tokenless::Tokenless;

/// How often files are checked for changes.
pub(crate) const INTERVAL: Duration = Duration::from_secs(2);

/// The active state.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) gate: GateLayer<KeyFetcher>,
    pub(crate) keys: Keys,
    /// Decides which callers may use AuthZEN; `None` if callers send no token.
    pub(crate) callers: Option<GateLayer<KeyFetcher>>,
    /// The TLS settings of each listener, in order.
    pub(crate) tls: Vec<Option<Arc<ServerConfig>>>,
    /// The ledger of the mode `ledger`. A check doesn't open it.
    pub(crate) ledger: Option<OpenLedger>,
    policy: Policy,
    audit: Option<OpenAudit>,
}

/// The keys for a file of issuers.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// The file's contents. While they are unchanged, fetched keys are kept.
    text: String,
    pub(crate) fetcher: KeyFetcher,
    /// The files with the secrets of the clients that ask about opaque tokens.
    secrets: Vec<PathBuf>,
}

/// The bytes of a request's head that remain for everything but its token.
const BESIDES_TOKEN: usize = 4096;

/// The active policy, and the thread that follows its file.
#[derive(Clone, Debug)]
struct Policy {
    engines: Engines,
    watch: Option<Arc<Watch>>,
    tokenless: Tokenless,
}

impl State {
    /// Loads everything that the configuration file names, and opens its audit log.
    pub(crate) fn start(file: &Path) -> Result<Self, StartError> {
        Self::load(file, None, true, |path| path.as_deref().map(OpenAudit::open).transpose())
    }

    /// The same, for a check. Doesn't create the audit log or a ledger, because they would belong to the user who runs the check, and
    /// the gateway's own user couldn't write it.
    pub(crate) fn look(file: &Path) -> Result<Self, StartError> {
        Self::load(file, None, false, |path| path.as_deref().map_or(Ok(()), OpenAudit::check).map(|()| None))
    }

    /// Loads everything again, and keeps unchanged parts of the previous state.
    pub(crate) fn again(file: &Path, former: &Self) -> Result<Self, StartError> {
        Self::load(file, Some(former), true, |_| Ok(former.audit.clone()))
    }

    fn load(
        file: &Path,
        former: Option<&Self>,
        opens_ledger: bool,
        audit: impl FnOnce(&Option<PathBuf>) -> Result<Option<OpenAudit>, StartError>,
    ) -> Result<Self, StartError> {
        let text = read(file)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let config = Config::from_yaml(&text, folder);
        let config = config.map_err(|error| StartError::Invalid(error.in_file(&file.display().to_string())))?;
        let require_seal = config.policy.require_seal;
        let listeners = config.listeners.iter();
        let tls = listeners.map(|it| it.tls.as_ref().map(|tls| tls.load(it.mode)).transpose());
        // Errors in one file don't hide errors in another.
        let mut errors = Vec::new();
        if let Some(former) = former {
            kept(former.config.refuse_moved(&config), &mut errors);
        }
        let ended = former.map_or_else(Ending::default, |former| former.config.ending);
        let error = config.ending.error_after(ended, require_seal);
        errors.extend(error.map(|error| StartError::Incomplete(file.to_owned(), error)));
        let tls: Vec<_> = tls.filter_map(|tls| kept(tls, &mut errors)).collect();
        let keys = Keys::load(&config.tokens, require_seal, config.limits, former.map(|former| &former.keys));
        let keys = kept(keys, &mut errors);
        let same_policy = former.filter(|former| former.config.policy == config.policy);
        let policy = match same_policy {
            Some(former) => Ok(former.policy.clone()),
            None => Policy::load(&config, former.map(|former| &former.policy)),
        };
        let policy = kept(policy, &mut errors);
        let audit = kept(audit(&config.audit), &mut errors);
        let ledger = kept(ledger(&config, former, opens_ledger), &mut errors);
        let (Some(keys), Some(policy), Some(audit), Some(ledger), []) = (keys, policy, audit, ledger, &*errors) else {
            return Err(StartError::Several(errors));
        };
        let gate = GateLayer::outermost(policy.engines.clone(), keys.fetcher.clone());
        let gate = gate.challenge(config.challenge.clone());
        let gate = gate.cors_preflight(config.policy.cors_preflight);
        let gate = if config.flat_403 { gate.flat_403() } else { gate };
        let gate = if config.debug { gate.debug() } else { gate };
        let gate = match &audit {
            Some(audit) => gate.audit(audit.log()),
            None => gate,
        };
        let callers = config.authzen.callers.clone().map(|engine| {
            let engines = Engines::new(engine);
            let gate = GateLayer::outermost(engines, keys.fetcher.clone());
            gate.challenge(config.challenge.clone())
        });
        Ok(Self { config, gate, keys, callers, tls, ledger, policy, audit })
    }

    /// Whether it can allow anything. There is always a policy; keys are available after an issuer has
    /// returned some. An issuer of opaque tokens has no keys and counts until its endpoint fails.
    ///
    /// Without a listener that decides, keys don't count. A ledger must answer.
    pub(crate) async fn is_ready(&self) -> Result<(), &'static str> {
        let decides = self.config.listeners.iter().any(|listener| listener.mode != Mode::Ledger);
        if decides && !self.has_keys() {
            return Err("no keys");
        }
        match &self.ledger {
            Some(ledger) if !ledger::is_ready(&ledger.store).await => Err("no ledger"),
            _ => Ok(()),
        }
    }

    pub(crate) fn has_keys(&self) -> bool {
        let issuers = self.keys.fetcher.status();
        // An invented token must not take the gateway out of service.
        let fails = |issuer: &KeyStatus| issuer.failure.as_ref().is_some_and(|failure| !failure.is_of_token());
        let counts = |issuer: &KeyStatus| issuer.keys > 0 || issuer.is_opaque && !fails(issuer);
        issuers.iter().any(counts)
    }

    /// All files that are followed: the configuration, and the files that it names.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let tls = self.config.listeners.iter();
        let tls = tls.filter_map(|listener| listener.tls.as_ref());
        let files = core::iter::once(self.config.tokens.as_path());
        let files = files.chain(tls.flat_map(TlsFiles::paths));
        let of_ledger = self.config.ledger.iter().flat_map(LedgerConfig::secrets);
        let files = files.chain(of_ledger.map(|(_, file)| file));
        files.chain(self.keys.secrets.iter().map(PathBuf::as_path))
    }

    /// Makes the policy file be read at once.
    pub(crate) fn read_policy(&self) {
        if let Some(watch) = &self.policy.watch {
            watch.read_now();
        }
    }

    /// The contents of the active policy (if it comes from its file), the list of requests that need no token, and the
    /// folder for both.
    pub(crate) fn accepted(&self) -> Option<(&Path, Arc<Vec<u8>>, &Tokenless)> {
        let text = self.policy.watch.as_ref()?.text()?;
        Some((self.config.state.as_deref()?, text, &self.policy.tokenless))
    }

    /// The active policy, and its file; `None` for the built-in one.
    pub(crate) fn policy(&self) -> (Option<&Path>, Arc<Engine>) {
        (self.config.policy.file.as_deref(), self.policy.engines.load())
    }

    /// Warnings about settings that are probably mistakes.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.config.warnings()
    }

    /// Reopens the audit log's file by its name for the next line.
    pub(crate) fn open_audit_again(&self) {
        if let Some(audit) = &self.audit {
            audit.reopen();
        }
    }

    /// Waits until the audit log is written.
    pub(crate) fn flush(&self) {
        if let Some(audit) = &self.audit {
            audit.flush();
        }
    }
}

impl Config {
    /// Rejects changes that need a restart, because the sockets are open and their limits are in
    /// use.
    fn refuse_moved(&self, new: &Self) -> Result<(), StartError> {
        let addresses = |config: &Self| -> Vec<_> {
            let listeners = config.listeners.iter();
            listeners.map(|listener| (listener.mode, listener.address.clone())).collect()
        };
        let moved = [
            ("listeners", addresses(self) != addresses(new)),
            ("admin", self.admin != new.admin),
            ("audit", self.audit != new.audit),
            ("state", self.state != new.state),
            (
                "ledger",
                self.ledger.as_ref().zip(new.ledger.as_ref()).is_some_and(|(ledger, new)| ledger.has_moved(new)),
            ),
            ("limits", self.limits != new.limits),
        ];
        let moved = moved.into_iter().filter(|(_, has_moved)| *has_moved);
        let moved: Vec<_> = moved.map(|(key, _)| key).collect();
        match moved.as_slice() {
            [] => Ok(()),
            _ => Err(StartError::NeedsRestart(moved)),
        }
    }
}

impl Keys {
    /// A request that waits for keys holds a connection, so at most as many can wait as there can be connections, and
    /// half of them only for a second. Keys of unchanged issuers are kept.
    fn load(file: &Path, require_seal: bool, limits: Limits, former: Option<&Self>) -> Result<Self, StartError> {
        let text = read(file)?;
        let ended = former.map_or_else(Ending::default, |former| Ending::of(former.text.as_bytes()));
        if let Some(error) = Ending::of(text.as_bytes()).error_after(ended, require_seal) {
            return Err(StartError::Incomplete(file.to_owned(), error));
        }
        // A secret may be another one under the same text.
        let same = |former: &&Self| former.text == text && former.secrets.is_empty();
        if let Some(former) = former.filter(same) {
            return Ok(former.clone());
        }
        let verifier = Verifier::from_yaml(&text);
        let verifier = verifier.map_err(|error| StartError::Invalid(error.in_file(&file.display().to_string())))?;
        // A longer token would get a 431, and so never the 401 that its caller can do something about.
        let (token, all) = (verifier.longest_token(), limits.header_bytes);
        if all.saturating_sub(token) < BESIDES_TOKEN {
            return Err(StartError::Invalid(format!(
                "{}: tokens of {token} bytes (`max_token_bytes`) leave less than {BESIDES_TOKEN} of the {all} bytes of \
                 `limits.header_bytes`: reduce the first or increase the second",
                file.display()
            )));
        }
        let verifier = verifier.with_secrets(SecretSource::read);
        let verifier = verifier.map_err(|error| StartError::Invalid(format!("{}: {error}", file.display())))?;
        let secrets = verifier.secrets().filter_map(|source| match source {
            SecretSource::File(path) | SecretSource::Keys(path) => Some(PathBuf::from(path)),
            SecretSource::Env(_) => None,
        });
        let secrets = secrets.collect();
        // Also on reload: what a start refuses can't be loaded.
        let tls = KeyFetcher::tls_for(&verifier).map_err(StartError::Certificates)?;
        let fetcher = match former {
            Some(former) => former.fetcher.replaced_by(verifier),
            None => {
                let settings = FetchSettings {
                    max_waiting: u32::try_from(limits.connections).unwrap_or(u32::MAX),
                    ..FetchSettings::default()
                };
                KeyFetcher::with(verifier, settings, tls)
            }
        };
        let fetcher = fetcher.map_err(|error| StartError::Invalid(format!("{}: {error}", file.display())))?;
        Ok(Self { text, fetcher, secrets })
    }
}

impl Policy {
    /// Follows the policy file. Its version is compared with the active policy or, at the start, with the policy that
    /// was accepted last. So a restart, or a change of a setting, can't admit a version that would otherwise be
    /// rejected.
    fn load(config: &Config, former: Option<&Self>) -> Result<Self, StartError> {
        let settings = &config.policy;
        let (public, tokenless) = (settings.public.clone(), Tokenless::of(settings));
        let Some(file) = &settings.file else {
            let engines = match public {
                Some(public) => Engines::external().public_routes(public),
                None => Ok(Engines::external()),
            };
            return Ok(Self { engines: engines.map_err(StartError::Public)?, watch: None, tokenless });
        };
        if settings.refuse_wider {
            let state = config.state.as_deref();
            let before = match former {
                Some(former) => Some(former.tokenless.clone()),
                None => state.map(Tokenless::accepted).transpose()?.flatten(),
            };
            before.map_or(Ok(()), |before| tokenless.refuse_wider(&before))?;
        }
        let mut watch = WatchSettings::every(INTERVAL);
        // A new watch wouldn't know how the active version ends.
        let text = former.and_then(|former| former.watch.as_ref()?.text());
        let ending = text.map_or_else(Ending::default, |text| Ending::of(&text));
        if settings.require_seal || ending.sealed {
            watch = watch.require_seal();
        }
        if ending.marked {
            watch = watch.require_end();
        }
        let former = match former {
            Some(former) => Some(former.engines.load()),
            None => config.state.as_deref().map(accepted).transpose()?.flatten(),
        };
        if settings.refuse_wider {
            watch = watch.refuse_wider();
        }
        let engines = match former {
            Some(former) => {
                watch = watch.compare_first();
                Engines::new(former)
            }
            None => {
                if settings.refuse_wider {
                    let has_state = config.state.is_some();
                    tracing::warn!(
                        has_state,
                        "the first policy is compared with no other: `refuse_wider` needs `state`, which keeps the one that was accepted"
                    );
                }
                Engines::external()
            }
        };
        let engines = engines.with_public_routes(public.clone());
        let watch = engines.watch(file, watch);
        let watch = watch.map_err(|error| StartError::Policy(file.clone(), error))?;
        if let Some(public) = &public {
            // If a policy was rejected, the previous one stays active, and might overlap.
            let checked = public.check(&engines.load());
            checked.map_err(StartError::Public)?;
        }
        Ok(Self { engines, watch: Some(Arc::new(watch)), tokenless })
    }
}

/// The ledger with the secrets as they are now. An open one stays open.
fn ledger(config: &Config, former: Option<&State>, opens: bool) -> Result<Option<OpenLedger>, StartError> {
    let Some(config) = &config.ledger else { return Ok(None) };
    let secrets = ledger::secrets(config)?;
    let store = match former.and_then(|former| former.ledger.as_ref()) {
        Some(former) => Arc::clone(&former.store),
        None if opens => ledger::open(config)?,
        None => return Ok(None),
    };
    Ok(Some(OpenLedger::new(store, secrets)))
}

/// The policy that was accepted last.
fn accepted(state: &Path) -> Result<Option<Arc<Engine>>, StartError> {
    let file = accepted_in(state);
    match Engines::from_file(&file) {
        Ok(engines) => Ok(Some(engines.load())),
        Err(LoadError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {
            // The policy can't be stored in a folder that doesn't exist.
            let refuse = |error| StartError::State(state.to_owned(), error);
            std::fs::read_dir(state).map(|_| None).map_err(refuse)
        }
        Err(error) => Err(StartError::Policy(file, error)),
    }
}

pub(crate) fn accepted_in(state: &Path) -> PathBuf {
    state.join("policy.yaml")
}

/// The value, or `None` after adding its error to the others.
pub(crate) fn kept<T>(result: Result<T, StartError>, errors: &mut Vec<StartError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

fn read(file: &Path) -> Result<String, StartError> {
    files::text(file).map_err(|error| StartError::Unreadable(file.to_owned(), error))
}

/// Why a gateway doesn't start, or rejects a new configuration.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Several errors, each in a different file.
    Several(Vec<StartError>),
    /// A file can't be read.
    Unreadable(PathBuf, io::Error),
    /// The audit log can't be written.
    Audit(PathBuf, io::Error),
    /// A file doesn't mark its end as required.
    Incomplete(PathBuf, &'static str),
    /// The active policy can't be stored in `state`.
    State(PathBuf, io::Error),
    /// A file has errors: one line for each, with its location.
    Invalid(String),
    /// The policy was rejected.
    Policy(PathBuf, LoadError),
    /// The public routes overlap the policy.
    Public(PublicRoutesError),
    /// These settings allow requests without a token that needed one before, and `refuse_wider` is set.
    Wider(Vec<String>),
    /// The system has no trusted certificates.
    Certificates(io::Error),
    /// The service manager passed something that isn't a listening socket.
    Sockets(io::Error),
    /// The service manager passed a socket for this address, but no listener uses it.
    Unasked(String),
    /// Listening on an address fails.
    Listen(String, io::Error),
    /// No proxy accepts connections at this address.
    Proxy(SocketAddr, io::Error),
    /// The server's threads can't be started.
    Runtime(io::Error),
    /// These keys have changed, and take effect only after a restart.
    NeedsRestart(Vec<&'static str>),
}

impl StartError {
    pub(crate) fn listen(address: &Address, error: io::Error) -> Self {
        Self::Listen(address.to_string(), error)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Several(errors) => {
                let lines: Vec<_> = errors.iter().map(Self::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            Self::Unreadable(file, error) => write!(f, "{}: {error}", file.display()),
            Self::Audit(file, error) => write!(f, "the audit {}: {error}", file.display()),
            Self::Incomplete(file, error) => write!(f, "{}: {error}", file.display()),
            Self::State(file, error) => {
                write!(f, "`state`, {}: {error}", file.display())
            }
            Self::Invalid(lines) => f.write_str(lines),
            Self::Policy(file, LoadError::Unsound(error)) => {
                let file = file.display().to_string();
                write!(f, "{}", error.in_file(&file))
            }
            Self::Policy(file, error) => write!(f, "{}: {error}", file.display()),
            Self::Public(error) => error.fmt(f),
            Self::Wider(settings) => write!(
                f,
                "without a token, more would pass than before: {}; `refuse_wider: false` allows it",
                settings.join(", ")
            ),
            Self::Certificates(error) => write!(f, "the system's certificates: {error}"),
            Self::Sockets(error) => write!(f, "the sockets of `LISTEN_FDS`: {error}"),
            Self::Unasked(address) => {
                write!(f, "`LISTEN_FDS` has a socket for {address}, and no listener has this address")
            }
            Self::Listen(address, error) => write!(f, "listening at {address}: {error}"),
            Self::Proxy(address, error) => write!(f, "no proxy listens at {address}: {error}"),
            Self::Runtime(error) => write!(f, "starting the server: {error}"),
            Self::NeedsRestart(keys) => {
                let has = if keys.len() == 1 { "has" } else { "have" };
                let keys = keys.join("`, `");
                write!(f, "`{keys}` {has} changed, which takes a restart")
            }
        }
    }
}

impl core::error::Error for StartError {}

#[cfg(test)]
mod tests {
    use std::fs;

    use orbgate_gate::Credentials;
    use orbgate_token::VerifiedToken;

    use super::{State, accepted, accepted_in};

    /// Otherwise it would be forgotten, and a wider policy accepted.
    #[test]
    fn an_accepted_policy_that_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        assert!(accepted(&state).is_err(), "no folder");
        fs::create_dir_all(&state).unwrap();
        assert!(accepted(&state).unwrap().is_none());
        fs::create_dir(accepted_in(&state)).unwrap();
        assert!(accepted(&state).is_err());
    }

    #[tokio::test]
    async fn a_flushed_audit_has_every_line() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write(
            "gateway.yaml",
            "orbgate_gateway: 1\ntokens: tokens.yaml\naudit: audit.jsonl\nlisteners: [{ mode: authzen, listen: unix:/a }]\n",
        );
        write("tokens.yaml", include_str!("../../../examples/gateway/tokens.yaml"));
        let state = State::start(&folder.join("gateway.yaml")).unwrap();
        let engine = state.gate.engines().load();
        let decision = engine.decide_scope("read:orbs", None, false);
        for _ in 0..500 {
            let nobody = Credentials::<VerifiedToken>::None;
            state.gate.note(&decision, &nobody);
        }
        state.flush();
        let audit = fs::read_to_string(folder.join("audit.jsonl")).unwrap();
        assert_eq!(audit.lines().count(), 500);
    }
}
