//! What lint looks for: stable codes, each with its level and one sentence.

use core::fmt;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Likely not what was meant.
    Warning,
    /// Certainly not what was meant.
    Error,
}

impl Level {
    /// Every level, the lowest first.
    pub const ALL: [Self; 3] = [Self::Note, Self::Warning, Self::Error];

    /// The level in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Codes with their strings, levels and explanations.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident: $string:literal, $level:ident, $explanation:literal;)*) => {
        /// What lint looks for. A later release may add a code, never rename or remove one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $code,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: [Self; [$($string),*].len()] = [$(Self::$code),*];

            /// The stable string, in lower case with underscores.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $string,)*
                }
            }

            /// The default level.
            #[must_use]
            pub const fn level(self) -> Level {
                match self {
                    $(Self::$code => Level::$level,)*
                }
            }

            /// One sentence for a person: lower case, no final period.
            #[must_use]
            pub const fn explanation(self) -> &'static str {
                match self {
                    $(Self::$code => $explanation,)*
                }
            }
        }
    };
}

codes! {
    /// Two routes of one method fit one path under different scopes or orbs.
    Overlap: "overlap", Warning, "two routes of one method fit one path, under different scopes or orbs";
    /// A template hides a route of a more general one from some paths, and does not declare its method.
    ShadowedRoute: "shadowed_route", Warning, "some paths of a route are denied, because a more specific template lacks its method";
    /// A scope for inference is in an api where any token will do.
    InferenceElsewhere: "inference_elsewhere", Error, "a scope for inference is in an api where any token will do";
    /// A `GET` consumes orbs, and the policy does not say how many.
    UnstatedGet: "unstated_get", Warning, "a call that only reads consumes orbs without a stated amount";
    /// Two scopes differ in one character.
    SimilarScopes: "similar_scopes", Warning, "two scopes differ in one character";
    /// Two names differ only in case or plural.
    CaseOrPlural: "case_or_plural", Warning, "two names differ only in case or plural";
    /// A literal like `:id`.
    ColonLiteral: "colon_literal", Warning, "a literal looks like a parameter of another format";
    /// Two literals differ in one character.
    SimilarLiterals: "similar_literals", Warning, "two literals of paths differ in one character";
    /// A method that HTTP does not have.
    UnknownMethod: "unknown_method", Warning, "a method is none of HTTP's";
    /// A scope has no route.
    ScopeWithoutRoutes: "scope_without_routes", Note, "a scope has no route";
    /// A scope does not say what it permits.
    NoPermits: "no_permits", Note, "a scope does not say what it permits";
    /// The file lacks the end marker.
    NoEndMarker: "no_end_marker", Note, "the file does not end in `...`, so a part of it cannot be told from the whole";
    /// A suppression lacks a code or a reason.
    BadSuppression: "bad_suppression", Error, "a suppression lacks a known code or a reason";
    /// A suppression suppresses nothing.
    UnusedSuppression: "unused_suppression", Warning, "a suppression suppresses nothing";
}

impl Code {
    /// The code of this string.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
