//! The types of a validated policy. Values of these types are always valid: only the reader makes them.

use std::sync::Arc;

use orbgate_yaml::Location as YamlLocation;

use super::diagnostic::location;
use crate::tables::terms::{Digest, Location, Orbs, OrganisationRule, Profile};

/// A validated route → scope → orb table, made by [`Policy::from_yaml`].
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) name: Option<String>,
    pub(super) target: Profile,
    pub(super) trailing_slash: bool,
    pub(super) apis: Vec<Api>,
    pub(super) headings: Vec<String>,
    pub(super) digest: Digest,
    pub(super) has_end_marker: bool,
    pub(super) is_sealed: bool,
}

impl Policy {
    /// The policy's name, if the file states one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The spellings of a request target that are accepted.
    #[must_use]
    pub const fn target(&self) -> Profile {
        self.target
    }

    /// Whether every accepted path ends in a slash: `trailing_slash: always`.
    #[must_use]
    pub const fn trailing_slash(&self) -> bool {
        self.trailing_slash
    }

    /// The apis, in the order of the file.
    #[must_use]
    pub fn apis(&self) -> &[Api] {
        &self.apis
    }

    /// The scope groups without routes (specification §4.2), in the order of the file.
    #[must_use]
    pub fn headings(&self) -> &[String] {
        &self.headings
    }

    /// The SHA-256 digest of the policy's canonical form. Everything counts except order, comments and layout.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether the file ends in YAML's end marker, the line `...`.
    ///
    /// A file that is still being written, or that was cut short, can be a valid policy with fewer routes. It lacks
    /// the marker, so reject a file without the marker if you read files that change.
    #[must_use]
    pub const fn has_end_marker(&self) -> bool {
        self.has_end_marker
    }

    /// Whether the file's end marker has a seal: `... # sha256:` and the digest of everything before that line.
    ///
    /// A wrong seal is an error, so a sealed policy is exactly what was sealed. It isn't cut short, and it isn't a
    /// mixture of two versions, which overwriting a file in place can leave.
    #[must_use]
    pub const fn is_sealed(&self) -> bool {
        self.is_sealed
    }
}

/// A group of scopes whose routes share a base path.
#[derive(Clone, Debug)]
pub struct Api {
    pub(super) name: String,
    pub(super) base_path: Option<String>,
    /// The location of the base path in the file.
    pub(super) base_path_location: YamlLocation,
    pub(super) organisation: Option<OrganisationRule>,
    pub(super) scopes: Vec<ScopeRule>,
    pub(super) closed: Vec<ClosedRule>,
}

impl Api {
    /// The api's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The literal path before every route of the api; `None` if the file states none.
    #[must_use]
    pub fn base_path(&self) -> Option<&str> {
        self.base_path.as_deref()
    }

    /// The location of the base path in the file or, without one, of the api's name.
    #[must_use]
    pub const fn base_path_location(&self) -> Location {
        location(self.base_path_location)
    }

    /// What an organisation's token gets in an api whose scopes apply only to a user's token
    /// (`token: user`, specification §5.6); `None` for every other api.
    #[must_use]
    pub const fn organisation(&self) -> Option<OrganisationRule> {
        self.organisation
    }

    /// The api's scopes, in the order of the file.
    #[must_use]
    pub fn scopes(&self) -> &[ScopeRule] {
        &self.scopes
    }

    /// The api's templates that declare no method, in the order of the file.
    #[must_use]
    pub fn closed(&self) -> &[ClosedRule] {
        &self.closed
    }
}

/// A template that declares no method, relative to the api's base path: every call of it is denied with
/// `method_not_declared`.
#[derive(Clone, Debug)]
pub struct ClosedRule {
    pub(super) template: String,
    pub(super) location: YamlLocation,
}

impl ClosedRule {
    /// The path template as written, without the api's base path.
    #[must_use]
    pub fn template(&self) -> &str {
        &self.template
    }

    /// The template's location in the file.
    #[must_use]
    pub const fn location(&self) -> Location {
        location(self.location)
    }
}

/// A scope in its api: one opaque OAuth scope (RFC 6749 §3.3), the action that it permits, and the routes that need it.
/// A scope of several apis is one scope: at most one api states `permits`, and all other settings are equal.
#[derive(Clone, Debug)]
pub struct ScopeRule {
    pub(super) name: String,
    pub(super) permits: Option<String>,
    pub(super) orbs: Option<Orbs>,
    pub(super) is_sensitive: bool,
    pub(super) requirement: Option<Arc<Requirement>>,
    pub(super) routes: Vec<RouteRule>,
    pub(super) location: YamlLocation,
}

impl ScopeRule {
    /// The scope's name: opaque, case-sensitive, no hierarchy.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The permitted action, if the file states one.
    #[must_use]
    pub fn permits(&self) -> Option<&str> {
        self.permits.as_deref()
    }

    /// The scope's own orbs, which are the default of its routes; `None` if the file states none, which is possible only if
    /// each route states its own.
    #[must_use]
    pub const fn orbs(&self) -> Option<Orbs> {
        self.orbs
    }

    /// Whether the file marks the scope with `sensitive: true`: a fact for audits, without effect on decisions.
    #[must_use]
    pub const fn is_sensitive(&self) -> bool {
        self.is_sensitive
    }

    /// What the scope's `or` and `and` state for its routes; `None` without them.
    #[must_use]
    pub fn requirement(&self) -> Option<&Requirement> {
        self.requirement.as_deref()
    }

    /// The routes that this scope owns, in the order of the file.
    #[must_use]
    pub fn routes(&self) -> &[RouteRule] {
        &self.routes
    }

    /// The location of the scope's name in the file.
    #[must_use]
    pub const fn location(&self) -> Location {
        location(self.location)
    }
}

/// A route as written in the file: method and path template, relative to the api's base path.
#[derive(Clone, Debug)]
pub struct RouteRule {
    /// `METHOD /template`.
    pub(super) text: String,
    /// The length of the method in bytes.
    pub(super) method_length: usize,
    pub(super) orbs: Option<Orbs>,
    /// What it needs, wherever that was written; only the scope if absent.
    pub(super) requirement: Option<Arc<Requirement>>,
    pub(super) states_requirement: bool,
    pub(super) location: YamlLocation,
}

impl RouteRule {
    /// The method, `[A-Z]{1,16}`.
    #[must_use]
    pub fn method(&self) -> &str {
        self.text.get(..self.method_length).unwrap_or_default()
    }

    /// The path template as written, without the api's base path.
    #[must_use]
    pub fn template(&self) -> &str {
        let behind_method = self.method_length.saturating_add(1);
        self.text.get(behind_method..).unwrap_or_default()
    }

    /// The route's own orbs, if the file states them; otherwise, its scope's apply.
    #[must_use]
    pub const fn orbs(&self) -> Option<Orbs> {
        self.orbs
    }

    /// What a call needs, as the route or its scope states it; `None` if it is only the scope.
    #[must_use]
    pub fn requirement(&self) -> Option<&Requirement> {
        self.requirement.as_deref()
    }

    /// Whether the route has keys `or` or `and` of its own, which replace its scope's.
    #[must_use]
    pub const fn states_requirement(&self) -> bool {
        self.states_requirement
    }

    /// The route's location in the file.
    #[must_use]
    pub const fn location(&self) -> Location {
        location(self.location)
    }
}

/// What a route needs if that isn't one scope: alternatives, each a set of scopes. A token needs all scopes of one.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The owner's first. Each is its scopes, separated by one space, and its location.
    pub(super) alternatives: Vec<(String, YamlLocation)>,
}

impl Requirement {
    /// The alternatives: scopes separated by one space. The first is the owner's, which begins with the owner; otherwise,
    /// scopes and alternatives are sorted by their bytes.
    pub fn alternatives(&self) -> impl ExactSizeIterator<Item = &str> {
        self.alternatives.iter().map(|(scopes, _)| scopes.as_str())
    }

    /// The total length of the alternatives, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.alternatives().map(str::len).sum()
    }
}

impl PartialEq for Requirement {
    /// Equal if tokens need the same, wherever it is written.
    fn eq(&self, other: &Self) -> bool {
        self.alternatives().eq(other.alternatives())
    }
}

impl Eq for Requirement {}
