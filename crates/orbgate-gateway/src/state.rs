//! What answers now: the configuration with its policy, keys and audit. It is swapped whole.

use core::fmt;
use core::net::SocketAddr;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orbgate::Engine;
use orbgate_token::{FetchSettings, KeyFetcher, Verifier};
use orbgate_tower::{
    AuditLog, Engines, GateLayer, LoadError, PublicRoutesError, Watch, WatchSettings,
};
use rustls::ServerConfig;

use crate::config::Config;
use crate::files::{self, Ending};
use crate::listen::Address;
use crate::tls::TlsFiles;
use crate::tokenless::Tokenless;

/// How often files are looked at.
pub(crate) const INTERVAL: Duration = Duration::from_secs(2);

/// What answers now.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) gate: GateLayer<KeyFetcher>,
    pub(crate) keys: Keys,
    /// Decides who may ask by AuthZEN; none where callers send no token.
    pub(crate) callers: Option<GateLayer<KeyFetcher>>,
    /// Of each listener, in their order.
    pub(crate) tls: Vec<Option<Arc<ServerConfig>>>,
    policy: Policy,
    audit: Option<OpenAudit>,
}

/// The audit, and whether its file is to be opened again.
#[derive(Clone, Debug)]
struct OpenAudit {
    log: AuditLog,
    moved: Arc<AtomicBool>,
}

/// The file of an audit. One that was renamed is opened again when an operator says so.
struct AuditFile {
    path: PathBuf,
    file: File,
    moved: Arc<AtomicBool>,
}

impl Write for AuditFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.moved.swap(false, Ordering::Relaxed) {
            match append(&self.path) {
                Ok(file) => self.file = file,
                Err(error) => {
                    let file = self.path.display();
                    tracing::error!(%file, %error, "the audit cannot be opened again: lines still go to the file that was open");
                }
            }
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The keys of a file of issuers.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// The file's text: while it is the same, no fetched key is lost.
    text: String,
    pub(crate) fetcher: KeyFetcher,
    /// The issuers whose keys can never be fetched.
    unfetchable: Vec<String>,
}

/// The policy in force, and the thread that follows its file.
#[derive(Clone, Debug)]
struct Policy {
    engines: Engines,
    watch: Option<Arc<Watch>>,
    tokenless: Tokenless,
}

impl State {
    /// Loads everything that the configuration file names, and opens its audit.
    pub(crate) fn start(file: &Path) -> Result<Self, StartError> {
        let audit = |path: &Option<PathBuf>| path.as_deref().map(audit).transpose();
        Self::load(file, None, audit)
    }

    /// The same to look at it. No audit is made: it would be of the user who looks, and the gateway's own user could not write it.
    pub(crate) fn look(file: &Path) -> Result<Self, StartError> {
        Self::load(file, None, |path| {
            path.as_deref().map_or(Ok(None), could_audit)
        })
    }

    /// The same anew; of the former state, what has not changed.
    pub(crate) fn again(file: &Path, former: &Self) -> Result<Self, StartError> {
        Self::load(file, Some(former), |_| Ok(former.audit.clone()))
    }

    fn load(
        file: &Path,
        former: Option<&Self>,
        audit: impl FnOnce(&Option<PathBuf>) -> Result<Option<OpenAudit>, StartError>,
    ) -> Result<Self, StartError> {
        let text = read(file)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let config = Config::from_yaml(&text, folder);
        let config = config
            .map_err(|error| StartError::Invalid(error.in_file(&file.display().to_string())))?;
        let require_seal = config.policy.require_seal;
        let listeners = config.listeners.iter();
        let tls = listeners.map(|it| it.tls.as_ref().map(|tls| tls.load(it.mode)).transpose());
        // One file's errors do not hide another's.
        let mut errors = Vec::new();
        if let Some(former) = former {
            kept(former.config.refuse_moved(&config), &mut errors);
        }
        let ended = former.map_or_else(Ending::default, |former| former.config.ending);
        let error = config.ending.error_after(ended, require_seal);
        errors.extend(error.map(|error| StartError::Incomplete(file.to_owned(), error)));
        let tls: Vec<_> = tls.filter_map(|tls| kept(tls, &mut errors)).collect();
        let keys = Keys::load(
            &config.tokens,
            require_seal,
            config.limits.connections,
            former.map(|former| &former.keys),
        );
        let keys = kept(keys, &mut errors);
        let same_policy = former.filter(|former| former.config.policy == config.policy);
        let policy = match same_policy {
            Some(former) => Ok(former.policy.clone()),
            None => Policy::load(&config, former.map(|former| &former.policy)),
        };
        let policy = kept(policy, &mut errors);
        let audit = kept(audit(&config.audit), &mut errors);
        let (Some(keys), Some(policy), Some(audit), []) = (keys, policy, audit, &*errors) else {
            return Err(StartError::Several(errors));
        };
        let gate = GateLayer::outermost(policy.engines.clone(), keys.fetcher.clone());
        let gate = gate.challenge(config.challenge.clone());
        let gate = gate.cors_preflight(config.policy.cors_preflight);
        let gate = if config.flat_403 {
            gate.flat_403()
        } else {
            gate
        };
        let gate = match &audit {
            Some(audit) => gate.audit(audit.log.clone()),
            None => gate,
        };
        let callers = config.authzen.callers.clone().map(|engine| {
            let engines = Engines::new(engine);
            let gate = GateLayer::outermost(engines, keys.fetcher.clone());
            gate.challenge(config.challenge.clone())
        });
        Ok(Self {
            config,
            gate,
            keys,
            callers,
            tls,
            policy,
            audit,
        })
    }

    /// Whether it can allow anything: there is always a policy, and keys once an issuer has given some.
    pub(crate) fn is_ready(&self) -> bool {
        let issuers = self.keys.fetcher.status();
        issuers.iter().any(|issuer| issuer.keys > 0)
    }

    /// Every file that is followed: with the configuration, those that it names.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let tls = self.config.listeners.iter();
        let tls = tls.filter_map(|listener| listener.tls.as_ref());
        core::iter::once(self.config.tokens.as_path()).chain(tls.flat_map(TlsFiles::paths))
    }

    /// Lets the policy's file be read at once.
    pub(crate) fn read_policy(&self) {
        if let Some(watch) = &self.policy.watch {
            watch.read_now();
        }
    }

    /// The text of the policy in force, if it comes from its file, what passes without a token, and the folder to keep both.
    pub(crate) fn accepted(&self) -> Option<(&Path, Arc<Vec<u8>>, &Tokenless)> {
        let text = self.policy.watch.as_ref()?.text()?;
        Some((self.config.state.as_deref()?, text, &self.policy.tokenless))
    }

    /// What can be meant, and probably isn't.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.config.warnings();
        let unfetchable = self.keys.unfetchable.iter();
        warnings.extend(unfetchable.map(|issuer| {
            format!("the keys of `{issuer}` can never be fetched: that needs `https`, a `jwks_uri` with it, or an issuer on this machine")
        }));
        warnings
    }

    /// Lets the next line of the audit go to the file that has its name then.
    pub(crate) fn open_audit_again(&self) {
        if let Some(audit) = &self.audit {
            audit.moved.store(true, Ordering::Relaxed);
        }
    }

    /// Waits until the audit is written.
    pub(crate) fn flush(&self) {
        if let Some(audit) = &self.audit {
            audit.log.flush();
        }
    }
}

impl Config {
    /// Refuses what only a restart can change: sockets are open, and their limits are in use.
    fn refuse_moved(&self, new: &Self) -> Result<(), StartError> {
        let addresses = |config: &Self| -> Vec<_> {
            let listeners = config.listeners.iter();
            listeners
                .map(|listener| (listener.mode, listener.address.clone()))
                .collect()
        };
        let moved = [
            ("listeners", addresses(self) != addresses(new)),
            ("admin", self.admin != new.admin),
            ("audit", self.audit != new.audit),
            ("state", self.state != new.state),
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
    /// A question that waits for keys holds a connection, so as many may wait as there may be connections, half of them only for a
    /// second. Keys of issuers that haven't changed stay.
    fn load(
        file: &Path,
        require_seal: bool,
        connections: usize,
        former: Option<&Self>,
    ) -> Result<Self, StartError> {
        let text = read(file)?;
        let ended =
            former.map_or_else(Ending::default, |former| Ending::of(former.text.as_bytes()));
        if let Some(error) = Ending::of(text.as_bytes()).error_after(ended, require_seal) {
            return Err(StartError::Incomplete(file.to_owned(), error));
        }
        if let Some(former) = former.filter(|former| former.text == text) {
            return Ok(former.clone());
        }
        let verifier = Verifier::from_yaml(&text);
        let verifier = verifier
            .map_err(|error| StartError::Invalid(error.in_file(&file.display().to_string())))?;
        let unfetchable = verifier.unfetchable().map(str::to_owned).collect();
        let fetcher = match former {
            Some(former) => former.fetcher.replaced_by(verifier),
            None => {
                let settings = FetchSettings {
                    max_waiting: u32::try_from(connections).unwrap_or(u32::MAX),
                    ..FetchSettings::default()
                };
                let tls = KeyFetcher::system_tls().map_err(StartError::Certificates)?;
                KeyFetcher::with(verifier, settings, tls)
            }
        };
        let fetcher = fetcher.map_err(|error| StartError::Certificates(io::Error::other(error)))?;
        Ok(Self {
            text,
            fetcher,
            unfetchable,
        })
    }
}

impl Policy {
    /// Follows the policy's file. Its version is compared with the policy in force, or at the start with the one that was accepted
    /// last: a restart, or a change of a setting, lets nothing pass that would be refused otherwise.
    fn load(config: &Config, former: Option<&Self>) -> Result<Self, StartError> {
        let settings = &config.policy;
        let (public, tokenless) = (settings.public.clone(), Tokenless::of(settings));
        let Some(file) = &settings.file else {
            let engines = match public {
                Some(public) => Engines::external().public_routes(public),
                None => Ok(Engines::external()),
            };
            return Ok(Self {
                engines: engines.map_err(StartError::Public)?,
                watch: None,
                tokenless,
            });
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
        // A new watch would not know how the version in force ends.
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
            // A policy that was refused leaves the one before, which may overlap.
            let checked = public.check(&engines.load());
            checked.map_err(StartError::Public)?;
        }
        Ok(Self {
            engines,
            watch: Some(Arc::new(watch)),
            tokenless,
        })
    }
}

/// The policy that was accepted last.
fn accepted(state: &Path) -> Result<Option<Arc<Engine>>, StartError> {
    let file = accepted_in(state);
    match Engines::from_file(&file) {
        Ok(engines) => Ok(Some(engines.load())),
        Err(LoadError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {
            // A folder that is not there can't keep it.
            let refuse = |error| StartError::Unreadable(state.to_owned(), error);
            std::fs::read_dir(state).map(|_| None).map_err(refuse)
        }
        Err(error) => Err(StartError::Policy(file, error)),
    }
}

pub(crate) fn accepted_in(state: &Path) -> PathBuf {
    state.join("policy.yaml")
}

/// What there is, or its error with the others.
pub(crate) fn kept<T>(result: Result<T, StartError>, errors: &mut Vec<StartError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

fn audit(path: &Path) -> Result<OpenAudit, StartError> {
    let moved = Arc::<AtomicBool>::default();
    let file = append(path).map(|file| AuditFile {
        path: path.to_owned(),
        file,
        moved: Arc::clone(&moved),
    });
    let log = file.and_then(AuditLog::to_writer);
    let log = log.map_err(|error| StartError::Audit(path.to_owned(), error))?;
    Ok(OpenAudit { log, moved })
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// Refuses what cannot be an audit: a file that cannot be written, or has no folder to be made in.
fn could_audit(path: &Path) -> Result<Option<OpenAudit>, StartError> {
    let opened = match OpenOptions::new().append(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            std::fs::read_dir(folder.unwrap_or(Path::new("."))).map(drop)
        }
        opened => opened.map(drop),
    };
    let refuse = |error| StartError::Audit(path.to_owned(), error);
    opened.map(|()| None).map_err(refuse)
}

fn read(file: &Path) -> Result<String, StartError> {
    files::text(file).map_err(|error| StartError::Unreadable(file.to_owned(), error))
}

/// Why a gateway does not start, or does not take a new configuration.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Several reasons, each of another file.
    Several(Vec<StartError>),
    /// A file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The audit cannot be written.
    Audit(PathBuf, io::Error),
    /// A file does not mark its end as it must.
    Incomplete(PathBuf, &'static str),
    /// The policy in force cannot be kept in `state`.
    State(PathBuf, io::Error),
    /// A file has errors: a line for each, with its location.
    Invalid(String),
    /// The policy is not used.
    Policy(PathBuf, LoadError),
    /// The public routes overlap the policy.
    Public(PublicRoutesError),
    /// These settings let requests pass without a token that needed one before, and `refuse_wider` is set.
    Wider(Vec<String>),
    /// The system has no certificates to trust.
    Certificates(io::Error),
    /// What the service manager passes is no socket to listen at.
    Sockets(io::Error),
    /// The service manager passes a socket for this address, and no listener has it.
    Unasked(String),
    /// Nothing can listen at an address.
    Listen(String, io::Error),
    /// Nobody listens where the proxy to probe should.
    Proxy(SocketAddr, io::Error),
    /// The threads of the server cannot be started.
    Runtime(io::Error),
    /// These keys have changed, and take effect only at a start.
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
                write!(f, "the accepted policy {}: {error}", file.display())
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
            Self::Unasked(address) => write!(
                f,
                "`LISTEN_FDS` has a socket for {address}, and no listener has this address"
            ),
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
