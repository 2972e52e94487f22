//! Document → configuration: what the plain data means.

use core::time::Duration;
use std::collections::HashMap;
use std::path::Path;

use orbgate_tower::{Challenge, FullChallenge};
use orbgate_yaml::{Faults, Place, Spanned, first_place, quoted};

use super::authzen::{self, AuthzenConfig};
use super::document::{ChallengeDocument, Document, LimitsDocument, ListenerDocument};
use super::{Config, Limits, ListenerConfig, PolicySettings};
use crate::files::Ending;
use crate::listen::Address;
use crate::mode::Mode;
use crate::promises::Promises;
use crate::tls::TlsFiles;

/// The configuration that a document describes, or `None` and every fault in it.
pub(super) fn config(document: &Document, folder: &Path, faults: &mut Faults) -> Option<Config> {
    let is_set = |flag: &Option<Spanned<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
    let file = |name: &Spanned<String>| folder.join(&name.value);
    if document.policy.is_none() {
        let places = [
            document.refuse_wider.as_ref().map(|it| it.place),
            document.state.as_ref().map(|it| it.place),
        ];
        for place in places.into_iter().flatten() {
            push(
                faults,
                place,
                "it is about a policy file, and there is no `policy`".to_owned(),
            );
        }
    }
    let authzen = document.authzen.as_ref();
    let authzen = authzen.map_or_else(AuthzenConfig::default, |it| authzen::config(it, faults));
    authzen::refuse_unused(document, faults);
    let listeners = listeners(document, folder, &authzen, faults);
    let admin = document
        .admin
        .as_ref()
        .and_then(|text| address(text, faults));
    one_each(document, faults);
    let promises = promises(document.headers.as_ref(), faults);
    let challenge = challenge(document, faults);
    let limits = document.limits.as_ref();
    let limits = limits.map_or(Limits::USUAL, |document| self::limits(document, faults));
    Some(Config {
        policy: PolicySettings {
            file: document.policy.as_ref().map(file),
            require_seal: is_set(&document.require_seal),
            refuse_wider: is_set(&document.refuse_wider),
        },
        tokens: file(document.tokens.as_ref()?),
        listeners,
        admin,
        audit: document.audit.as_ref().map(file),
        state: document.state.as_ref().map(file),
        ending: Ending::default(),
        promises: promises?,
        challenge,
        flat_403: is_set(&document.flat_403),
        authzen,
        limits,
    })
}

fn listeners(
    document: &Document,
    folder: &Path,
    authzen: &AuthzenConfig,
    faults: &mut Faults,
) -> Vec<ListenerConfig> {
    let Some(Spanned { place, value }) = &document.listeners else {
        return Vec::new();
    };
    if value.is_empty() {
        push(faults, *place, "there must be a listener".to_owned());
    }
    let listeners = value.iter();
    listeners
        .filter_map(|document| listener(document, folder, authzen, faults))
        .collect()
}

fn listener(
    document: &ListenerDocument,
    folder: &Path,
    authzen: &AuthzenConfig,
    faults: &mut Faults,
) -> Option<ListenerConfig> {
    let trusted = document.trusted_proxies.as_ref();
    let blocks = trusted.map_or(&[][..], |trusted| &trusted.value);
    let blocks = blocks.iter().filter_map(|text| match text.value.parse() {
        Ok(block) => Some(block),
        Err(why) => {
            let what = quoted(&text.value);
            push(
                faults,
                text.place,
                format!("{what} is no block of trusted addresses: {why}"),
            );
            None
        }
    });
    let blocks = blocks.collect::<Vec<_>>();
    let (mode, listen) = (document.mode.as_ref(), document.listen.as_ref());
    let address = address(listen?, faults);
    let (mode, listen, address) = (mode?, listen?, address?);
    let file = |name: &Spanned<String>| folder.join(&name.value);
    let tls = document.tls.as_ref().map(|tls| TlsFiles {
        certificate: file(&tls.certificate),
        key: file(&tls.key),
        client_ca: tls.client_ca.as_ref().map(file),
    });
    let is_authzen = mode.value == Mode::Authzen;
    if is_authzen && let Some(message) = authzen::strangers(&address, authzen, tls.as_ref()) {
        push(faults, listen.place, message.to_owned());
    }
    match (&address, trusted) {
        // Callers of this mode authenticate, or are on this machine.
        (Address::Tcp(_), None) if is_authzen => {}
        (Address::Tcp(_), None) => {
            let message = "`trusted_proxies` must name the addresses that may ask";
            push(faults, listen.place, message.to_owned());
        }
        (Address::Tcp(_), Some(trusted)) if trusted.value.is_empty() => {
            let message = "`trusted_proxies` is empty, so nobody may ask";
            push(faults, trusted.place, message.to_owned());
        }
        (Address::Unix(_), Some(trusted)) => {
            let message =
                "a Unix socket has no addresses: the permissions of its folder say who may ask";
            push(faults, trusted.place, message.to_owned());
        }
        _ => {}
    }
    Some(ListenerConfig {
        mode: mode.value,
        address,
        trusted: trusted.map(|_| blocks),
        tls,
    })
}

fn address(text: &Spanned<String>, faults: &mut Faults) -> Option<Address> {
    let address = text.value.parse();
    let refuse = |why: &&str| {
        let what = quoted(&text.value);
        push(
            faults,
            text.place,
            format!("nothing can listen at {what}: {why}"),
        );
    };
    address.inspect_err(refuse).ok()
}

/// Refuses a place to listen that is there twice.
fn one_each(document: &Document, faults: &mut Faults) {
    let listeners = document.listeners.iter().flat_map(|it| &it.value);
    let places = listeners.filter_map(|listener| listener.listen.as_ref());
    let mut seen: HashMap<&str, Place> = HashMap::new();
    for text in places.chain(&document.admin) {
        if let Some(first) = seen.insert(&text.value, text.place) {
            let (what, first) = (quoted(&text.value), first_place(first, text.place));
            push(faults, text.place, format!("{what} is taken ({first})"));
        }
    }
}

fn promises(prefix: Option<&Spanned<String>>, faults: &mut Faults) -> Option<Promises> {
    let Some(prefix) = prefix else {
        return Promises::new(Promises::PREFIX).ok();
    };
    let promises = Promises::new(&prefix.value);
    let refuse = |why: &&str| {
        let what = quoted(&prefix.value);
        push(
            faults,
            prefix.place,
            format!("{what} is no prefix of headers: {why}"),
        );
    };
    promises.inspect_err(refuse).ok()
}

fn challenge(document: &Document, faults: &mut Faults) -> Challenge {
    let challenge = document.challenge.as_ref();
    let challenge = challenge.map_or(ChallengeDocument::Minimal, |challenge| challenge.value);
    let (realm, metadata) = (&document.realm, &document.resource_metadata);
    if challenge != ChallengeDocument::Full {
        for text in [realm, metadata].into_iter().flatten() {
            push(
                faults,
                text.place,
                "only `challenge: full` says it".to_owned(),
            );
        }
    }
    let mut full = FullChallenge::new();
    let mut take = |text: &Option<Spanned<String>>,
                    set: fn(FullChallenge, &str) -> Result<FullChallenge, _>| {
        let Some(text) = text else { return };
        match set(full.clone(), &text.value) {
            Ok(with) => full = with,
            Err(error) => {
                let error: orbgate_tower::ChallengeError = error;
                push(faults, text.place, error.to_string());
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
        questions: 256,
        header_bytes: 32_768,
        idle: Duration::from_secs(75),
        drain: Duration::from_secs(10),
    };
}

/// Each limit and its range.
fn limits(document: &LimitsDocument, faults: &mut Faults) -> Limits {
    let mut within = |number: &Option<Spanned<u64>>, least: u64, most: u64| {
        let number = number.as_ref()?;
        if !(least..=most).contains(&number.value) {
            let message = format!("it must be from {least} to {most}");
            push(faults, number.place, message);
        }
        Some(number.value)
    };
    let size =
        |number: Option<u64>, usual| number.and_then(|it| it.try_into().ok()).unwrap_or(usual);
    let time = |number: Option<u64>, usual| number.map_or(usual, Duration::from_secs);
    let usual = Limits::USUAL;
    Limits {
        connections: size(within(&document.connections, 1, 100_000), usual.connections),
        questions: size(within(&document.questions, 1, 100_000), usual.questions),
        // hyper's buffer has at least 8 KiB.
        header_bytes: size(
            within(&document.header_bytes, 8_192, 1_048_576),
            usual.header_bytes,
        ),
        idle: time(within(&document.idle_seconds, 1, 3_600), usual.idle),
        drain: time(within(&document.drain_seconds, 1, 600), usual.drain),
    }
}

/// Reports a fault, unless something is already wrong there.
pub(super) fn push(faults: &mut Faults, place: Place, message: String) {
    if !faults.stand_at(place) {
        faults.push(place, message);
    }
}
