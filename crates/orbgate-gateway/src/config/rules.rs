//! Document → configuration: interprets the plain data.

use core::num::NonZeroU64;
use core::time::Duration;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use orbgate_tower::{Challenge, CorsPreflight, FullChallenge, PublicRoutes};
use orbgate_yaml::{self as yaml, Diagnostics, Location, Spanned, first_location, quoted};

use super::address::Address;
use super::authzen::{self, AuthzenConfig};
use super::document::{ChallengeDocument, Document, LimitsDocument, ListenerDocument, PreflightDocument, TlsDocument};
use super::files::Ending;
use super::ledger;
use super::mode::Mode;
use super::promises::Promises;
use super::settings::{Config, Limits, ListenerConfig, PolicySettings};
use super::tls::TlsFiles;

/// The configuration that a document describes, or `None` and every error in it.
///
/// Here and below, each mapping is taken apart without `..`, so that a new key without a reader doesn't compile.
pub(super) fn config(document: &Document, folder: &Path, diagnostics: &mut Diagnostics) -> Option<Config> {
    let Document {
        orbgate_gateway: _,
        policy,
        require_seal,
        refuse_wider,
        public,
        cors_preflight,
        tokens,
        listeners,
        admin,
        audit,
        debug,
        state,
        headers,
        identity,
        challenge,
        realm,
        resource_metadata,
        flat_403,
        authzen,
        ledger,
        limits,
    } = document;
    let is_set = |flag: &Option<Spanned<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
    let file = |name: &Spanned<String>| folder.join(&name.value);
    if policy.is_none() {
        let locations = [refuse_wider.as_ref().map(|it| it.location), state.as_ref().map(|it| it.location)];
        for location in locations.into_iter().flatten() {
            diagnostics.push_new(location, "it is about a policy file, and there is no `policy`".to_owned());
        }
    }
    let asked = authzen.as_ref().map_or_else(AuthzenConfig::default, |it| authzen::config(it, diagnostics));
    authzen::refuse_unused(authzen.as_ref(), listeners, diagnostics);
    let served = ledger.as_ref().map(|it| ledger::config(it, folder, diagnostics));
    ledger::refuse_unused(ledger.as_ref(), listeners, diagnostics);
    let listening = listeners_of(listeners, folder, &asked, diagnostics);
    let for_operators = admin.as_ref().and_then(|text| address(text, diagnostics));
    one_each(listeners, admin.as_ref(), diagnostics);
    let promises = promises(headers.as_ref(), is_set(identity), diagnostics);
    let challenge = challenge_of(challenge.as_ref(), realm, resource_metadata, diagnostics);
    let public = public_routes(public.as_ref(), diagnostics);
    let limits = limits.as_ref().map_or(Limits::USUAL, |document| limits_of(document, diagnostics));
    Some(Config {
        policy: PolicySettings {
            file: policy.as_ref().map(file),
            require_seal: is_set(require_seal),
            refuse_wider: is_set(refuse_wider),
            public: public?,
            cors_preflight: match cors_preflight.as_ref().map(|it| it.value) {
                Some(PreflightDocument::Pass) => CorsPreflight::Pass,
                Some(PreflightDocument::Deny) | None => CorsPreflight::Deny,
            },
        },
        tokens: file(tokens),
        listeners: listening,
        admin: for_operators,
        audit: audit.as_ref().map(file),
        debug: is_set(debug),
        state: state.as_ref().map(file),
        ending: Ending::default(),
        promises: promises?,
        challenge,
        flat_403: is_set(flat_403),
        authzen: asked,
        ledger: served,
        limits,
    })
}

/// The routes that need no token, or `None` after recording their errors.
fn public_routes(
    public: Option<&Spanned<Vec<Spanned<String>>>>,
    diagnostics: &mut Diagnostics,
) -> Option<Option<Arc<PublicRoutes>>> {
    let Some(Spanned { location, value }) = public else {
        return Some(None);
    };
    match PublicRoutes::new(value.iter().map(|route| route.value.as_str())) {
        Ok(public) => Some(Some(Arc::new(public))),
        Err(error) => {
            for line in error.lines() {
                let is_it =
                    |route: &&Spanned<String>| line.starts_with(&format!("public route {}: ", quoted(&route.value)));
                let location = value.iter().find(is_it).map_or(*location, |route| route.location);
                diagnostics.push_new(location, line.clone());
            }
            None
        }
    }
}

fn listeners_of(
    listeners: &Spanned<Vec<ListenerDocument>>,
    folder: &Path,
    authzen: &AuthzenConfig,
    diagnostics: &mut Diagnostics,
) -> Vec<ListenerConfig> {
    let Spanned { location, value } = listeners;
    if value.is_empty() {
        diagnostics.push_new(*location, "there must be a listener".to_owned());
    }
    let listeners = value.iter();
    listeners.filter_map(|document| listener(document, folder, authzen, diagnostics)).collect()
}

fn listener(
    document: &ListenerDocument,
    folder: &Path,
    authzen: &AuthzenConfig,
    diagnostics: &mut Diagnostics,
) -> Option<ListenerConfig> {
    let ListenerDocument { mode, listen, trusted_proxies, tls } = document;
    let trusted = trusted_proxies.as_ref();
    let blocks = trusted.map_or(&[][..], |trusted| &trusted.value);
    let blocks = blocks.iter().filter_map(|text| match text.value.0.parse() {
        Ok(block) => Some(block),
        Err(why) => {
            let what = quoted(&text.value.0);
            diagnostics.push_new(text.location, format!("{what} is no block of trusted addresses: {why}"));
            None
        }
    });
    let blocks = blocks.collect::<Vec<_>>();
    let address = address(listen, diagnostics)?;
    if diagnostics.stand_at(mode.location) {
        return None; // the rest depends on the mode
    }
    let file = |name: &Spanned<String>| folder.join(&name.value);
    let tls = tls.as_ref().map(|TlsDocument { certificate, key, client_ca }| TlsFiles {
        certificate: file(certificate),
        key: file(key),
        client_ca: client_ca.as_ref().map(file),
    });
    let is_authzen = mode.value == Mode::Authzen;
    if is_authzen && let Some(message) = authzen::strangers(&address, authzen, tls.as_ref()) {
        diagnostics.push_new(listen.location, message.to_owned());
    }
    let is_ledger = mode.value == Mode::Ledger;
    if is_ledger && let Some(message) = ledger::exposed(&address, tls.as_ref()) {
        diagnostics.push_new(listen.location, message.to_owned());
    }
    match (&address, trusted) {
        // Callers of these modes authenticate, or are on this machine.
        (Address::Tcp(_), None) if is_authzen || is_ledger => {}
        (Address::Tcp(_), None) => {
            let message = "`trusted_proxies` must list the addresses of the proxies";
            diagnostics.push_new(listen.location, message.to_owned());
        }
        (Address::Tcp(_), Some(trusted)) if trusted.value.is_empty() => {
            let message = "`trusted_proxies` is empty, so no address is accepted";
            diagnostics.push_new(trusted.location, message.to_owned());
        }
        (Address::Unix(_), Some(trusted)) => {
            let message = "a Unix socket has no addresses: its folder's permissions decide who connects";
            diagnostics.push_new(trusted.location, message.to_owned());
        }
        _ => {}
    }
    Some(ListenerConfig { mode: mode.value, address, trusted: trusted.map(|_| blocks), tls })
}

fn address(text: &Spanned<yaml::Address>, diagnostics: &mut Diagnostics) -> Option<Address> {
    let address = text.value.0.parse();
    let refuse = |why: &&str| {
        let what = quoted(&text.value.0);
        diagnostics.push_new(text.location, format!("nothing can listen at {what}: {why}"));
    };
    address.inspect_err(refuse).ok()
}

/// Rejects a listening address that occurs twice.
fn one_each(
    listeners: &Spanned<Vec<ListenerDocument>>,
    admin: Option<&Spanned<yaml::Address>>,
    diagnostics: &mut Diagnostics,
) {
    let locations = listeners.value.iter().map(|it| &it.listen);
    let mut seen: HashMap<&str, Location> = HashMap::new();
    for text in locations.chain(admin) {
        if let Some(first) = seen.insert(&text.value.0, text.location) {
            let (what, first) = (quoted(&text.value.0), first_location(first, text.location));
            diagnostics.push_new(text.location, format!("{what} is taken ({first})"));
        }
    }
}

fn promises(prefix: Option<&Spanned<String>>, identity: bool, diagnostics: &mut Diagnostics) -> Option<Promises> {
    let Some(prefix) = prefix else {
        return Promises::new(Promises::PREFIX, identity).ok();
    };
    let promises = Promises::new(&prefix.value, identity);
    let refuse = |why: &&str| {
        let what = quoted(&prefix.value);
        diagnostics.push_new(prefix.location, format!("{what} is no prefix of headers: {why}"));
    };
    promises.inspect_err(refuse).ok()
}

fn challenge_of(
    challenge: Option<&Spanned<ChallengeDocument>>,
    realm: &Option<Spanned<String>>,
    metadata: &Option<Spanned<String>>,
    diagnostics: &mut Diagnostics,
) -> Challenge {
    let challenge = challenge.map_or(ChallengeDocument::Minimal, |challenge| challenge.value);
    if challenge != ChallengeDocument::Full {
        for (key, text) in [("realm", realm), ("resource_metadata", metadata)] {
            if let Some(text) = text {
                let message = format!("`{key}` requires `challenge: full`");
                diagnostics.push_new(text.location, message);
            }
        }
    }
    let mut full = FullChallenge::new();
    let mut take = |text: &Option<Spanned<String>>, set: fn(FullChallenge, &str) -> Result<FullChallenge, _>| {
        let Some(text) = text else { return };
        match set(full.clone(), &text.value) {
            Ok(with) => full = with,
            Err(error) => {
                let error: orbgate_tower::ChallengeError = error;
                diagnostics.push_new(text.location, error.to_string());
            }
        }
    };
    take(realm, FullChallenge::realm);
    take(metadata, FullChallenge::resource_metadata);
    match challenge {
        ChallengeDocument::Minimal => Challenge::Minimal,
        ChallengeDocument::Full => Challenge::Full(full),
        ChallengeDocument::None => Challenge::None,
    }
}

impl Limits {
    pub(crate) const USUAL: Self = Self {
        connections: 1_024,
        requests: 256,
        header_bytes: 32_768,
        idle: Duration::from_secs(75),
        drain: Duration::from_secs(10),
    };
}

fn limits_of(document: &LimitsDocument, diagnostics: &mut Diagnostics) -> Limits {
    let mut within = |number: &Option<Spanned<NonZeroU64>>, least: u64, most: u64| {
        let number = number.as_ref()?;
        let value = number.value.get();
        if !(least..=most).contains(&value) {
            let message = format!("it must be from {least} to {most}");
            diagnostics.push_new(number.location, message);
        }
        Some(value)
    };
    let size = |number: Option<u64>, usual| number.and_then(|it| it.try_into().ok()).unwrap_or(usual);
    let time = |number: Option<u64>, usual| number.map_or(usual, Duration::from_secs);
    let usual = Limits::USUAL;
    let LimitsDocument { connections, requests, header_bytes, idle_seconds, drain_seconds } = document;
    Limits {
        connections: size(within(connections, 1, 100_000), usual.connections),
        requests: size(within(requests, 1, 100_000), usual.requests),
        // hyper's buffer has at least 8 KiB.
        header_bytes: size(within(header_bytes, 8_192, 1_048_576), usual.header_bytes),
        idle: time(within(idle_seconds, 1, 3_600), usual.idle),
        drain: time(within(drain_seconds, 1, 600), usual.drain),
    }
}
