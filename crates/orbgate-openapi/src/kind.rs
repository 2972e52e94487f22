//! Why no policy can say what an operation of a document does: stable codes.

use core::fmt;

use orbgate::Location;

orbgate::codes! {
    /// Why no policy can say what an operation does. A later release may add a kind, never rename or remove one.
    #[derive(PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Cause {
        SeveralScopes: "several_scopes", "several scopes are needed at once";
        Alternatives: "alternatives", "there are several ways to be allowed";
        SeveralSchemes: "several_schemes", "several security schemes are needed at once";
        NoScope: "no_scope", "a token is needed, and no scope";
        NoSecurity: "no_security", "nothing is said of security";
        Open: "open", "everybody may call it: `security: []`";
        Optional: "optional", "security is optional: one way to be allowed is `{}`";
        OtherScheme: "other_scheme", "the security scheme has no scopes, or is not the one that was asked for";
        UnknownScheme: "unknown_scheme", "the security scheme is not declared";
        Scope: "scope", "the scope is none that a policy can have";
        Path: "path", "the path is none that a policy can have: a parameter within a segment, a regular expression, a trailing slash";
        Method: "method", "the key of the path is not a method of the format";
        Duplicate: "duplicate", "several operations have one method and, except for the names of parameters, one path";
        Servers: "servers", "it has servers of its own, with another path or a variable";
        Reference: "reference", "it is written elsewhere: `$ref`";
        Orbs: "orbs", "what a call consumes cannot be said in a policy, or contradicts what is said of its scope";
        Malformed: "malformed", "it is written as the format does not allow, or by an alias of YAML";
        TakesOver: "takes_over", "it would decide calls of an operation that is left out";
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why no policy can say what one operation does, and where that is written.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) kind: Cause,
    pub(super) location: Location,
    pub(super) message: String,
}

impl Problem {
    pub(super) fn new(kind: Cause, location: Location, message: impl Into<String>) -> Self {
        Self {
            kind,
            location,
            message: message.into(),
        }
    }
}
