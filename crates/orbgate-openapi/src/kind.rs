//! Stable codes for the reasons why no policy can express an operation of a document.

use core::fmt;

use orbgate::Location;

orbgate::codes! {
    /// Why no policy can express an operation. A later release can add a kind, but never renames or removes one.
    #[derive(PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Cause {
        SeveralScopes: "several_scopes", "the operation needs several scopes at once";
        Alternatives: "alternatives", "the operation has alternative security requirements";
        SeveralSchemes: "several_schemes", "the operation needs several security schemes at once";
        NoScope: "no_scope", "the operation needs a token but no scope";
        NoSecurity: "no_security", "the operation has no `security`";
        Open: "open", "anyone can call it: `security: []`";
        Optional: "optional", "security is optional: one alternative is `{}`";
        OtherScheme: "other_scheme", "the security scheme has no scopes, or isn't the selected one";
        UnknownScheme: "unknown_scheme", "the security scheme isn't declared";
        Scope: "scope", "a policy can't have this scope";
        Path: "path", "a policy can't have this path: a parameter within a segment, a regular expression, a trailing slash";
        Method: "method", "the path item's key isn't an OpenAPI method";
        Duplicate: "duplicate", "several operations have the same method and, except for parameter names, the same path";
        Servers: "servers", "the operation has its own servers, with another path or a variable";
        Reference: "reference", "the operation is a reference: `$ref`";
        Orbs: "orbs", "a policy can't express what the call consumes, or it contradicts the scope";
        Malformed: "malformed", "it violates the OpenAPI format, or is a YAML alias";
        TakesOver: "takes_over", "the route would decide calls of an operation that is left out";
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why no policy can express an operation, with the location in the document.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) kind: Cause,
    pub(super) location: Location,
    pub(super) message: String,
}

impl Problem {
    pub(super) fn new(kind: Cause, location: Location, message: impl Into<String>) -> Self {
        Self { kind, location, message: message.into() }
    }
}
