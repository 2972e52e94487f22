//! Why a request was allowed or denied: frozen strings with frozen numbers, the same in every language.
//! `cargo xtask codes` writes them into the bindings and the pages.

use crate::codes;

codes! {
    /// Why a request was allowed or denied, in the order in which the reasons are tried.
    ///
    /// Strings and numbers are frozen: a later release can add a reason, but never renames, renumbers or removes one.
    /// Number 0 isn't a reason: a caller that reads 0 must deny.
    #[non_exhaustive]
    pub enum Reason: u8 {
        /// [`Detail`] names the rule that the request breaks.
        MalformedRequest = 1: "malformed_request", "the request has no single, safe spelling", Some(400);
        NoToken = 2: "no_token", "no token was supplied", Some(401);
        InvalidToken = 3: "invalid_token", "the token was refused, or its kind is unknown", Some(401);
        /// The path matches no route or, for a decision by scope, the policy doesn't define the scope.
        NoRoute = 4: "no_route", "the policy has no such route or scope", Some(404);
        /// The template is the most specific one that fits the path.
        MethodNotDeclared = 5: "method_not_declared", "the route does not declare this method", Some(405);
        /// The token is an organisation's (specification §5.6).
        UserTokenRequired = 6: "user_token_required", "the scope applies only to a user's token", Some(Self::DEFAULT_STATUS);
        ScopeNotApplicable = 7: "scope_not_applicable",
            "the scope applies only to a user's token; organisations pass without it", None;
        /// Specification §5.5 and §7.
        ScopeMissing = 8: "scope_missing", "the token does not carry the required scope", Some(Self::DEFAULT_STATUS);
        ScopeHeld = 9: "scope_held", "the token carries the required scope", None;
        /// Only gates return it: engines don't know public routes.
        PublicRoute = 10: "public_route", "the route needs no token", None;
        /// Only gates with a ledger return it, for a call that consumes. [`Detail`] names the cause; it is absent if the
        /// amount of the call couldn't be determined.
        InsufficientOrbs = 11: "insufficient_orbs", "the account doesn't have the orbs that the call consumes", Some(402);
        /// Only gates with a ledger return it, for a call that consumes.
        LedgerUnavailable = 12: "ledger_unavailable", "the ledger didn't answer in time", Some(503);
        /// Only gates return it, in place of [`Reason::ScopeMissing`], if only `earned:` scopes are missing that a login gives
        /// (RFC 9470).
        InsufficientUserAuthentication = 13: "insufficient_user_authentication",
            "the token lacks only scopes that a fresh or stronger login gives", Some(401);
    }
    /// The HTTP status of a denial; `None` for the reasons that allow.
    ///
    /// The specification shows only the 403. The others follow HTTP; an enforcement point may map every denial to 403.
    fn status -> Option<u16>;
}

codes! {
    /// The effect of a decision. There is no third effect: anything that isn't an allow is a denial.
    /// Number 0 isn't an effect.
    pub enum Effect: u8 {
        Deny = 1: "deny", "the call is denied";
        Allow = 2: "allow", "the call is allowed";
    }
}

impl Effect {
    /// Allow or deny.
    #[must_use]
    #[inline(always)]
    pub const fn of(is_allow: bool) -> Self {
        if is_allow { Self::Allow } else { Self::Deny }
    }
}

/// Which part of its policy a decision names.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Nothing,
    /// A template, represented by one of its routes.
    Template,
    /// A scope, and the route unless the decision was by scope.
    Scope,
}

impl Reason {
    /// The HTTP status of a denial whose reason has no status: 403, as in the specification. All languages take it from
    /// this constant.
    pub const DEFAULT_STATUS: u16 = 403;

    /// Whether the call is allowed: reasons that allow have no HTTP status.
    #[inline(always)]
    pub(crate) const fn is_allow(self) -> bool {
        self.status().is_none()
    }

    /// Whether the caller has no valid token: the decision depends on nothing that the token states, and a login or another
    /// token can change it.
    #[must_use]
    pub const fn is_without_token(self) -> bool {
        match self {
            Self::NoToken | Self::InvalidToken => true,
            Self::MalformedRequest
            | Self::NoRoute
            | Self::MethodNotDeclared
            | Self::UserTokenRequired
            | Self::ScopeNotApplicable
            | Self::ScopeMissing
            | Self::ScopeHeld
            | Self::PublicRoute
            | Self::InsufficientOrbs
            | Self::LedgerUnavailable
            | Self::InsufficientUserAuthentication => false,
        }
    }

    /// Whether engines return it. Only gates know public routes, ledgers and issuers.
    #[must_use]
    pub const fn is_of_engines(self) -> bool {
        !matches!(
            self,
            Self::PublicRoute | Self::InsufficientOrbs | Self::LedgerUnavailable | Self::InsufficientUserAuthentication
        )
    }

    /// The reason that an engine gives for the same denial: a gate says more exactly which scopes are missing. Compare
    /// decisions of gates with those of engines by it.
    #[must_use]
    pub const fn of_engine(self) -> Self {
        match self {
            Self::InsufficientUserAuthentication => Self::ScopeMissing,
            other => other,
        }
    }

    /// The part of the policy that a decision with this reason names.
    #[doc(hidden)]
    #[must_use]
    pub const fn named(self) -> Named {
        match self {
            Self::MalformedRequest | Self::NoToken | Self::InvalidToken | Self::NoRoute | Self::PublicRoute => {
                Named::Nothing
            }
            Self::MethodNotDeclared => Named::Template,
            Self::UserTokenRequired
            | Self::ScopeNotApplicable
            | Self::ScopeMissing
            | Self::ScopeHeld
            | Self::InsufficientOrbs
            | Self::LedgerUnavailable
            | Self::InsufficientUserAuthentication => Named::Scope,
        }
    }
}

codes! {
    /// Which rule a malformed request breaks ([`Detail::rule`] is its number in ARCHITECTURE.md), or why an account's orbs
    /// can't be held.
    ///
    /// Strings and numbers are frozen, like those of [`Reason`]. Number 0 isn't a detail.
    #[non_exhaustive]
    pub enum Detail: u8 {
        Method = 1: "method", "a method is 1 to 16 capital letters", 1;
        Length = 2: "length", "a target has 1 to 8,192 bytes, at most 32 segments, each at most 256 bytes", 2;
        Byte = 3: "byte", "a target has only visible ASCII characters", 3;
        Fragment = 4: "fragment", "a target never carries a `#`", 4;
        Form = 5: "form", "a target starts with `/`", 5;
        Backslash = 6: "backslash", "a path never carries a `\\`", 7;
        MatrixParam = 7: "matrix_param", "a path never carries a `;`", 8;
        /// RFC 3986 never allows it raw in a path.
        PathChar = 8: "path_char", "the path carries a character that must be escaped there", 9;
        /// Under the `strict` profile.
        Percent = 9: "percent", "this policy accepts no percent-encoding in a path", 12;
        BadEscape = 10: "bad_escape", "a `%` needs two hexadecimal digits after it", 13;
        EncodedControl = 11: "encoded_control", "the path escapes a control character", 14;
        /// One of `/ \ ; ? # %`.
        EncodedDelimiter = 12: "encoded_delimiter", "the path escapes a delimiter", 15;
        /// A letter, digit, `-`, `.`, `_` or `~`.
        EncodedUnreserved = 13: "encoded_unreserved", "the path escapes a character that needs no escape", 16;
        NonAscii = 14: "non_ascii", "the path escapes a byte outside ASCII", 17;
        Whitespace = 15: "whitespace", "a segment starts or ends with an escaped space", 18;
        EmptySegment = 16: "empty_segment", "the path has an empty segment or a trailing `/`", 10;
        DotSegment = 17: "dot_segment", "a segment of the path is nothing but dots", 11;
        /// A literal of the policy.
        NonCanonicalLiteral = 18: "non_canonical_literal", "a segment is an escaped spelling of a literal", 19;
        AmbiguousCase = 19: "ambiguous_case", "the path differs only in case from a more specific route", 21;
        /// Only gates return it: engines don't see headers.
        Upgrade = 20: "upgrade", "a request never asks for an upgrade to `h2c`", Self::NOT_OF_TARGETS;
        /// Only gates with a ledger return it, as the next two.
        Insufficient = 21: "insufficient", "the account has too few orbs", Self::NOT_OF_TARGETS;
        BonusNotAllowed = 22: "bonus_not_allowed", "bonus orbs would suffice, but the request doesn't allow them",
            Self::NOT_OF_TARGETS;
        TemporarilyHeld = 23: "temporarily_held", "other calls hold the missing orbs", Self::NOT_OF_TARGETS;
    }
    /// The rule's number in the table of ARCHITECTURE.md, without its `P`; 0 if it isn't about method and target.
    fn rule -> u8;
}

impl Detail {
    const NOT_OF_TARGETS: u8 = 0;

    /// Whether it names a rule about method and target, which engines apply. Gates return the others.
    #[must_use]
    pub const fn is_of_target(self) -> bool {
        self.rule() != Self::NOT_OF_TARGETS
    }

    /// The reason of the denials that it explains.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::Insufficient | Self::BonusNotAllowed | Self::TemporarilyHeld => Reason::InsufficientOrbs,
            _ => Reason::MalformedRequest,
        }
    }
}

crate::texts! { Effect Reason Detail }
