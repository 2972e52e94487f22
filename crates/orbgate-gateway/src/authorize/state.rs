//! The active state: the configuration with its policy, keys and audit log. It is replaced as a
//! whole.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orbgate::Engine;
use orbgate_gate::{ChargedBy, GateCharges};
use orbgate_token::{DerivedScopes, KeyFetcher, KeyStatus};
use orbgate_tower::{Engines, GateLayer};
use rustls::ServerConfig;

use super::audit::OpenAudit;
use super::keys::Keys;
use super::ledger::{self, OpenLedger};
use super::policy::Policy;
use super::tls;
use super::tokenless::Tokenless;
use crate::config::error::{StartError, kept};
use crate::config::files::{self, Ending};
use crate::config::mode::Mode;
use crate::config::tls::TlsFiles;
use crate::config::{Config, LedgerConfig};

#[derive(Debug)]
pub(crate) struct State {
    /// The contents of the configuration file.
    text: String,
    pub(crate) config: Config,
    pub(crate) gate: GateLayer<KeyFetcher>,
    pub(crate) keys: Keys,
    /// Decides which callers may use AuthZEN; `None` if callers send no token.
    pub(crate) callers: Option<GateLayer<KeyFetcher>>,
    pub(crate) tls: Vec<Option<Arc<ServerConfig>>>,
    /// The ledger of the mode `ledger`. A check doesn't open it.
    pub(crate) ledger: Option<OpenLedger>,
    policy: Policy,
    audit: Option<OpenAudit>,
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
        let text = files::text(file).map_err(StartError::unreadable(file))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let config = Config::from_yaml(&text, folder);
        let config = config.map_err(|error| StartError::Invalid(error.in_file(&file.display().to_string())))?;
        let require_seal = config.policy.require_seal;
        let listeners = config.listeners.iter();
        let tls = listeners.map(|it| it.tls.as_ref().map(|tls| tls::load(tls, it.mode)).transpose());
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
        Ok(Self { text, config, gate, keys, callers, tls, ledger, policy, audit })
    }

    /// Whether it can allow anything. There is always a policy; keys are available after an issuer has
    /// returned some. An issuer of opaque tokens has no keys and counts until its endpoint fails.
    ///
    /// Without a listener that decides, keys don't count.
    pub(crate) fn can_decide(&self) -> bool {
        !self.decides() || self.has_keys()
    }

    /// Whether a listener decides. One that serves a ledger doesn't.
    pub(crate) fn decides(&self) -> bool {
        self.config.listeners.iter().any(|listener| listener.mode != Mode::Ledger)
    }

    /// Logs which calls the service behind the proxy must charge, now and whenever a policy is loaded.
    pub(crate) fn state_charging(&self) {
        if self.decides() {
            // Only a gate with a ledger can refuse.
            let _ = self.policy.engines.charged(&GateCharges::new(ChargedBy::Service));
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

    /// Whether it was loaded from these contents of the configuration file, the first, and of the file of issuers.
    pub(crate) fn is_of(&self, files: &[(PathBuf, io::Result<Vec<u8>>)]) -> bool {
        let is = |text: &io::Result<Vec<u8>>, own: &str| text.as_ref().is_ok_and(|text| text == own.as_bytes());
        let issuers = files.iter().find(|(file, _)| *file == self.config.tokens);
        files.first().is_some_and(|(_, text)| is(text, &self.text))
            && issuers.is_none_or(|(_, text)| is(text, self.keys.text()))
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
        let mut warnings = self.config.warnings();
        let tokens = self.config.tokens.display().to_string();
        // The keys were loaded from this text.
        if self.decides()
            && let Ok(mut derived) = DerivedScopes::from_yaml(self.keys.text(), &tokens)
        {
            let (file, engine) = self.policy();
            let file = file.map_or_else(|| "built in".into(), |file| file.display().to_string());
            let lacking = derived.lacking(engine.scope_table().map(|scope| (scope.name(), scope.location())));
            warnings.extend(lacking.into_iter().map(|(at, message)| format!("{file}:{at}: {message}")));
            warnings.extend(derived.unused().into_iter().map(|(at, message)| format!("{tokens}:{at}: {message}")));
        }
        warnings
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

/// The ledger with the secrets as they are now. An open one stays open.
fn ledger(config: &Config, former: Option<&State>, opens: bool) -> Result<Option<OpenLedger>, StartError> {
    let Some(config) = &config.ledger else { return Ok(None) };
    let secrets = ledger::secrets(config)?;
    let store = match former.and_then(|former| former.ledger.as_ref()) {
        Some(former) => former.store.clone(),
        None if opens => ledger::open(config)?,
        None => return ledger::look(config).map(|()| None),
    };
    Ok(Some(OpenLedger::new(store, secrets)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use orbgate_gate::Credentials;
    use orbgate_token::VerifiedToken;

    use super::State;

    #[tokio::test]
    async fn a_flushed_audit_has_every_line() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write(
            "gateway.yaml",
            "orbgate_gateway: 1\ntokens: tokens.yaml\naudit: audit.jsonl\nlisteners: [{ mode: authzen, listen: unix:/a }]\n",
        );
        write("tokens.yaml", include_str!("../../../../examples/gateway/tokens.yaml"));
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
