//! The meaning of AuthZEN requests: subjects, actions and resources by the names that callers use, and the
//! callers themselves.

use std::collections::{BTreeMap, HashMap};

use orbgate::policy::Policy;
use orbgate::{Engine, Token, TokenKind};
use orbgate_yaml::{Diagnostics, Location, Spanned, first_location, quoted};

use super::address::Address;
use super::document::{
    ActionDocument, AuthzenDocument, KindDocument, ListenerDocument, ResourceDocument, SubjectDocument,
};
use super::mode::Mode;
use super::tls::TlsFiles;

/// The resource types that need no configuration.
pub(crate) const ROUTE: &str = "route";
pub(crate) const TARGET: &str = "target";
pub(crate) const SCOPE: &str = "scope";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Evaluation,
    Evaluations,
    Subjects,
    Resources,
    Actions,
}

impl Endpoint {
    /// Each endpoint with its path and its name in the metadata.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Evaluation, "/access/v1/evaluation", "access_evaluation_endpoint"),
        (Self::Evaluations, "/access/v1/evaluations", "access_evaluations_endpoint"),
        (Self::Subjects, "/access/v1/search/subject", "search_subject_endpoint"),
        (Self::Resources, "/access/v1/search/resource", "search_resource_endpoint"),
        (Self::Actions, "/access/v1/search/action", "search_action_endpoint"),
    ];

    pub(crate) fn at(wanted: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, path, _)| *path == wanted).map(|(endpoint, ..)| *endpoint)
    }
}

/// The endpoints as routes of a policy, because callers are authorized like all other requests.
pub(super) fn routes() -> impl Iterator<Item = String> {
    Endpoint::ALL.iter().map(|(_, path, _)| format!("POST {path}"))
}

#[derive(Clone, Debug, Default)]
pub(crate) struct AuthzenConfig {
    /// The address from outside: `https://` and a host.
    pub(crate) url: Option<String>,
    /// Decides which callers may use the API. Without it, any caller that can connect may.
    pub(crate) callers: Option<Engine>,
    /// Listed subjects, by type and then by id.
    subjects: BTreeMap<String, BTreeMap<String, Listed>>,
    actions: Vec<(String, String)>,
    resources: Vec<(String, Segment)>,
}

/// The properties of a subject that has no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    kind: TokenKind,
    scopes: String,
}

impl Listed {
    /// With a kind of this name; any other name means unknown.
    pub(crate) fn new(kind: &str, scopes: &str) -> Self {
        Self { kind: TokenKind::from_name(kind), scopes: scopes.to_owned() }
    }

    pub(crate) fn token(&self) -> Token<'_> {
        Token { kind: self.kind, scopes: self.scopes.as_str().into() }
    }
}

/// The position of an id in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    before: String,
    after: String,
}

impl Segment {
    const ID: &'static str = "{id}";

    /// The position in a path that has `{id}` as one of its segments.
    fn of(path: &str) -> Option<Self> {
        let (before, after) = path.split_once(Self::ID)?;
        let is_one = before.starts_with('/') && before.ends_with('/');
        let ends = after.is_empty() || after.starts_with('/');
        let has_more = before.contains(['{', '?']) || after.contains(['{', '?']);
        (is_one && ends && !has_more).then(|| Self { before: before.to_owned(), after: after.to_owned() })
    }

    pub(crate) fn target(&self, id: &str) -> String {
        format!("{}{id}{}", self.before, self.after)
    }

    pub(crate) fn id<'p>(&self, path: &'p str) -> Option<&'p str> {
        let id = path.strip_prefix(&self.before)?;
        let id = id.strip_suffix(&self.after)?;
        (!id.is_empty() && !id.contains('/')).then_some(id)
    }
}

impl AuthzenConfig {
    pub(crate) fn subject(&self, kind: &str, id: &str) -> Option<&Listed> {
        self.subjects.get(kind)?.get(id)
    }

    pub(crate) fn subjects_of(&self, kind: &str) -> impl Iterator<Item = (&String, &Listed)> {
        self.subjects.get(kind).into_iter().flatten()
    }

    /// The method that an action stands for: the configured method, or else the action's own name.
    pub(crate) fn method<'a>(&'a self, action: &'a str) -> &'a str {
        let set = self.actions.iter().find(|(name, _)| name == action);
        set.map_or(action, |(_, method)| method)
    }

    pub(crate) fn action_names(&self) -> impl Iterator<Item = &str> {
        self.actions.iter().map(|(name, _)| name.as_str())
    }

    pub(crate) fn resource(&self, kind: &str) -> Option<&Segment> {
        let set = self.resources.iter().find(|(name, _)| name == kind);
        set.map(|(_, segment)| segment)
    }
}

/// The settings in the document, and every error in them.
pub(super) fn config(document: &AuthzenDocument, diagnostics: &mut Diagnostics) -> AuthzenConfig {
    let AuthzenDocument { url, caller_scope, subjects, actions, resources } = document;
    let mut listed: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    let mut seen = HashMap::new();
    for SubjectDocument { kind, id, token_kind, scopes } in subjects.iter().flatten() {
        once(&mut seen, (&kind.value, &id.value), id, diagnostics);
        let token_kind = match token_kind.value {
            KindDocument::User => TokenKind::User,
            KindDocument::Organisation => TokenKind::Organisation,
        };
        let subject = Listed { kind: token_kind, scopes: scopes.value.clone() };
        let of_kind = listed.entry(kind.value.clone()).or_default();
        of_kind.insert(id.value.clone(), subject);
    }
    AuthzenConfig {
        url: url.as_ref().and_then(|text| checked_url(text, diagnostics)),
        callers: caller_scope.as_ref().and_then(|scope| callers(scope, diagnostics)),
        subjects: listed,
        actions: actions_of(actions.as_deref().unwrap_or_default(), diagnostics),
        resources: resources_of(resources.as_deref().unwrap_or_default(), diagnostics),
    }
}

fn actions_of(documents: &[ActionDocument], diagnostics: &mut Diagnostics) -> Vec<(String, String)> {
    let mut seen = HashMap::new();
    let actions = documents.iter().map(|ActionDocument { name, method }| {
        once(&mut seen, &name.value, name, diagnostics);
        let text = &method.value;
        if !orbgate::is_method(text.as_bytes()) {
            let message = format!("{} is no method: up to 16 capital letters", quoted(text));
            diagnostics.push_new(method.location, message);
        }
        (name.value.clone(), text.clone())
    });
    actions.collect()
}

fn resources_of(documents: &[ResourceDocument], diagnostics: &mut Diagnostics) -> Vec<(String, Segment)> {
    let mut seen = HashMap::new();
    let resources = documents.iter().filter_map(|ResourceDocument { kind, path }| {
        once(&mut seen, &kind.value, kind, diagnostics);
        if [ROUTE, TARGET, SCOPE].contains(&kind.value.as_str()) {
            let message = format!("{} has a meaning already", quoted(&kind.value));
            diagnostics.push_new(kind.location, message);
        }
        let segment = Segment::of(&path.value);
        if segment.is_none() {
            let message = format!(
                "{} is no path with `{}` as its only parameter, one whole segment",
                quoted(&path.value),
                Segment::ID
            );
            diagnostics.push_new(path.location, message);
        }
        Some((kind.value.clone(), segment?))
    });
    resources.collect()
}

fn once<K: Eq + core::hash::Hash>(
    seen: &mut HashMap<K, Location>,
    key: K,
    text: &Spanned<String>,
    diagnostics: &mut Diagnostics,
) {
    if let Some(first) = seen.insert(key, text.location) {
        let (what, first) = (quoted(&text.value), first_location(first, text.location));
        diagnostics.push_new(text.location, format!("{what} is there twice ({first})"));
    }
}

/// The identifier of a decision point. Its paths start at the root.
fn checked_url(text: &Spanned<String>, diagnostics: &mut Diagnostics) -> Option<String> {
    let parsed = text.value.parse::<http::Uri>().ok();
    let is_one = parsed.is_some_and(|uri| {
        let host = uri.authority().map_or("", http::uri::Authority::as_str);
        !host.contains('@') && text.value == format!("https://{host}") && !host.is_empty()
    });
    if !is_one {
        let what = quoted(&text.value);
        let message = format!("{what} is not `https://` and a host, without a path");
        diagnostics.push_new(text.location, message);
    }
    is_one.then(|| text.value.clone())
}

/// The policy for callers: every endpoint needs this scope.
fn callers(scope: &Spanned<String>, diagnostics: &mut Diagnostics) -> Option<Engine> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":._/-".contains(&byte);
    let (name, routes) = (&scope.value, routes().collect::<Vec<_>>().join(", "));
    let text = format!(
        "orbgate: 1\napis:\n  authzen:\n    base_path: ''\n    scopes:\n      '{name}': {{ orbs: false, routes: [{routes}] }}\n"
    );
    let policy = Policy::from_yaml(&text).ok();
    let policy = policy.filter(|_| name.bytes().all(is_plain));
    if policy.is_none() {
        let message = format!("{} is no scope of letters, digits and `:._/-`", quoted(name));
        diagnostics.push_new(scope.location, message);
    }
    policy.map(|policy| Engine::new(&policy))
}

/// Why any client could use this address, or `None` if that isn't so.
pub(super) fn strangers(address: &Address, authzen: &AuthzenConfig, tls: Option<&TlsFiles>) -> Option<&'static str> {
    let is_near = match address {
        Address::Unix(_) => true,
        Address::Tcp(address) => address.ip().is_loopback(),
    };
    let message = "strangers could ask here: set `caller_scope` in `authzen` or `client_ca` in `tls`, or listen at a loopback address or a Unix socket";
    let shows_certificate = tls.is_some_and(|tls| tls.client_ca.is_some());
    (!is_near && !shows_certificate && authzen.callers.is_none()).then_some(message)
}

/// Rejects settings for a mode that no listener has.
pub(super) fn refuse_unused(
    authzen: Option<&AuthzenDocument>,
    listeners: &Spanned<Vec<ListenerDocument>>,
    diagnostics: &mut Diagnostics,
) {
    // The mode might be missing by mistake, so a listener without one counts.
    let is_asked = |it: &ListenerDocument| it.mode.value == Mode::Authzen || diagnostics.stand_at(it.mode.location);
    if authzen.is_some() && !listeners.value.iter().any(is_asked) {
        let message = "no listener has the mode `authzen`, so nobody can ask";
        diagnostics.push_new(listeners.location, message.to_owned());
    }
}
