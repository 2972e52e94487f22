//! Why a request was allowed or denied: frozen strings with frozen numbers, the same in every language.
//! `cargo xtask codes` writes them into the bindings and the pages.

use crate::codes;
use crate::tables::terms::Profile;

codes! {
    /// Why a request was allowed or denied, in the order in which the reasons are tried.
    ///
    /// Strings and numbers are frozen: a later release can add a reason, but never renames, renumbers or removes one.
    /// Number 0 isn't a reason: a caller that reads 0 must deny.
    #[non_exhaustive]
    pub enum Reason: u8 {
        /// [`Detail`] names the rule that the request breaks.
        MalformedRequest = 1: "malformed_request", "the request has no single, safe spelling",
            Row::denies(400, By::Engine, Named::Nothing);
        NoToken = 2: "no_token", "no token was supplied", Row::denies(401, By::Engine, Named::Nothing).without_token();
        InvalidToken = 3: "invalid_token", "the token was refused, or its kind is unknown",
            Row::denies(401, By::Engine, Named::Nothing).without_token();
        /// The path matches no route or, for a decision by scope, the policy doesn't define the scope.
        NoRoute = 4: "no_route", "the policy has no such route or scope", Row::denies(404, By::Engine, Named::Nothing);
        /// The template is the most specific one that fits the path.
        MethodNotDeclared = 5: "method_not_declared", "the route does not declare this method",
            Row::denies(405, By::Engine, Named::Template);
        /// The token is an organisation's (specification §5.6).
        UserTokenRequired = 6: "user_token_required", "the scope applies only to a user's token",
            Row::denies(Self::DEFAULT_STATUS, By::Engine, Named::Scope);
        ScopeNotApplicable = 7: "scope_not_applicable",
            "the scope applies only to a user's token; organisations pass without it", Row::allows(By::Engine, Named::Scope);
        /// Specification §5.5 and §7.
        ScopeMissing = 8: "scope_missing", "the token does not carry the required scope",
            Row::denies(Self::DEFAULT_STATUS, By::Engine, Named::Scope);
        ScopeHeld = 9: "scope_held", "the token carries the required scope", Row::allows(By::Engine, Named::Scope);
        /// Only gates return it: engines don't know public routes.
        PublicRoute = 10: "public_route", "the route needs no token", Row::allows(By::Gate, Named::Nothing);
        /// Only gates with a ledger return it, for a call that consumes. [`Detail`] names the cause; it is absent if the
        /// amount of the call couldn't be determined.
        InsufficientOrbs = 11: "insufficient_orbs", "the account doesn't have the orbs that the call consumes",
            Row::denies(402, By::Ledger, Named::Scope);
        /// Only gates with a ledger return it, for a call that consumes.
        LedgerUnavailable = 12: "ledger_unavailable", "the ledger didn't answer in time", Row::denies(503, By::Ledger, Named::Scope);
        /// Only gates return it, in place of [`Reason::ScopeMissing`], if only `earned:` scopes are missing that a login gives
        /// (RFC 9470).
        InsufficientUserAuthentication = 13: "insufficient_user_authentication",
            "the token lacks only scopes that a fresh or stronger login gives", Row::denies(401, By::Gate, Named::Scope);
    }
    #[doc(hidden)]
    #[inline(always)]
    fn row -> Row;
}

/// What follows from a reason. Whoever adds one says all of it in its row.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Row {
    status: Option<u16>,
    by: By,
    names: Named,
    without_token: bool,
}

/// Which part of Orbgate gives a reason. Only gates know public routes, issuers and logins, and only those with a ledger
/// know what an account has.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Engine,
    Gate,
    Ledger,
}

impl Row {
    const fn allows(by: By, names: Named) -> Self {
        Self { status: None, by, names, without_token: false }
    }

    const fn denies(status: u16, by: By, names: Named) -> Self {
        Self { status: Some(status), by, names, without_token: false }
    }

    const fn without_token(self) -> Self {
        Self { without_token: true, ..self }
    }
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

    /// The HTTP status of a denial; `None` for the reasons that allow.
    ///
    /// The specification shows only the 403. The others follow HTTP; an enforcement point may map every denial to 403.
    #[must_use]
    #[inline(always)]
    pub const fn status(self) -> Option<u16> {
        self.row().status
    }

    /// Whether the caller has no valid token: the decision depends on nothing that the token states, and a login or another
    /// token can change it.
    #[must_use]
    pub const fn is_without_token(self) -> bool {
        self.row().without_token
    }

    /// Which part of Orbgate gives it.
    #[doc(hidden)]
    #[must_use]
    pub const fn by(self) -> By {
        self.row().by
    }

    /// Whether engines return it. Only gates know public routes, ledgers and issuers.
    #[must_use]
    pub const fn is_of_engines(self) -> bool {
        match self.by() {
            By::Engine => true,
            By::Gate | By::Ledger => false,
        }
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
        self.row().names
    }
}

codes! {
    /// Which rule a malformed request breaks ([`Detail::rule`] is its number in ARCHITECTURE.md), why an account's orbs
    /// can't be held, or that a token isn't its sender's.
    ///
    /// Strings and numbers are frozen, like those of [`Reason`]. Number 0 isn't a detail.
    #[non_exhaustive]
    pub enum Detail: u8 {
        Method = 1: "method", "a method is 1 to 16 capital letters", Rule::target(1, 1);
        Length = 2: "length", "a target has 1 to 8,192 bytes, at most 32 segments, each at most 256 bytes", Rule::target(2, 10);
        Byte = 3: "byte", "a target has only visible ASCII characters", Rule::target(3, 3);
        Fragment = 4: "fragment", "a target never carries a `#`", Rule::target(4, 4);
        Form = 5: "form", "a target starts with `/`", Rule::target(5, 5);
        Backslash = 6: "backslash", "a path never carries a `\\`", Rule::target(7, 6);
        MatrixParam = 7: "matrix_param", "a path never carries a `;`", Rule::target(8, 7);
        /// RFC 3986 never allows it raw in a path.
        PathChar = 8: "path_char", "the path carries a character that must be escaped there", Rule::target(9, 7);
        /// Under the `strict` profile.
        Percent = 9: "percent", "this policy accepts no percent-encoding in a path", Rule::strict(12, 7);
        BadEscape = 10: "bad_escape", "a `%` needs two hexadecimal digits after it", Rule::escape(13, 7);
        EncodedControl = 11: "encoded_control", "the path escapes a control character", Rule::escape(14, 7);
        /// One of `/ \ ; ? # %`.
        EncodedDelimiter = 12: "encoded_delimiter", "the path escapes a delimiter", Rule::escape(15, 7);
        /// A letter, digit, `-`, `.`, `_` or `~`.
        EncodedUnreserved = 13: "encoded_unreserved", "the path escapes a character that needs no escape", Rule::escape(16, 7);
        NonAscii = 14: "non_ascii", "the path escapes a byte outside ASCII", Rule::escape(17, 7);
        Whitespace = 15: "whitespace", "a segment starts or ends with an escaped space", Rule::escape(18, 7);
        EmptySegment = 16: "empty_segment", "the path has an empty segment or a trailing `/`", Rule::target(10, 8);
        DotSegment = 17: "dot_segment", "a segment of the path is nothing but dots", Rule::target(11, 9);
        /// A literal of the policy.
        NonCanonicalLiteral = 18: "non_canonical_literal", "a segment is an escaped spelling of a literal", Rule::escape(19, 11);
        AmbiguousCase = 19: "ambiguous_case", "the path differs only in case from a more specific route", Rule::target(21, 12);
        /// Only gates return it: engines don't see headers.
        Upgrade = 20: "upgrade", "a request never asks for an upgrade to `h2c`", Rule::OF_HEADERS;
        /// Only gates with a ledger return it, as the next three.
        Insufficient = 21: "insufficient", "the account has too few orbs", Rule::OF_ORBS;
        BonusNotAllowed = 22: "bonus_not_allowed", "bonus orbs would suffice, but the request doesn't allow them",
            Rule::OF_ORBS;
        TemporarilyHeld = 23: "temporarily_held", "other calls hold the missing orbs", Rule::OF_ORBS;
        Frozen = 24: "frozen", "the account is frozen", Rule::OF_ORBS;
        /// Only gates return it: engines don't verify tokens.
        Proof = 25: "proof", "the token is valid, but nothing proves that it is its sender's", Rule::OF_PROOFS;
    }
    #[doc(hidden)]
    fn row -> Rule;
}

/// What follows from a detail. Whoever adds one says all of it in its row.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    number: u8,
    step: u8,
    of: Of,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Targets,
    /// Only under a profile that accepts no escapes.
    StrictTargets,
    /// Only under a profile that accepts escapes.
    Escapes,
    Headers,
    Orbs,
    Proofs,
}

impl Rule {
    const OF_HEADERS: Self = Self { number: 0, step: 0, of: Of::Headers };
    const OF_ORBS: Self = Self { number: 0, step: 0, of: Of::Orbs };
    const OF_PROOFS: Self = Self { number: 0, step: 0, of: Of::Proofs };

    const fn target(number: u8, step: u8) -> Self {
        Self { number, step, of: Of::Targets }
    }

    const fn strict(number: u8, step: u8) -> Self {
        Self { number, step, of: Of::StrictTargets }
    }

    const fn escape(number: u8, step: u8) -> Self {
        Self { number, step, of: Of::Escapes }
    }
}

impl Detail {
    /// The rule's number in the table of ARCHITECTURE.md, without its `P`; 0 if it isn't about method and target.
    #[must_use]
    pub const fn rule(self) -> u8 {
        self.row().number
    }

    /// The step at which the rule has been checked completely; 0 if it isn't about method and target. The rules of one
    /// step are checked together, byte by byte, so if one is broken, none of them is complete.
    #[doc(hidden)]
    #[must_use]
    pub const fn step(self) -> u8 {
        self.row().step
    }

    /// Whether it names a rule about method and target, which engines apply. Gates return the others.
    #[must_use]
    pub const fn is_of_target(self) -> bool {
        match self.row().of {
            Of::Targets | Of::StrictTargets | Of::Escapes => true,
            Of::Headers | Of::Orbs | Of::Proofs => false,
        }
    }

    /// The details of ledgers.
    #[doc(hidden)]
    pub fn of_ledgers() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|detail| matches!(detail.row().of, Of::Orbs))
    }

    /// Whether a policy with this profile has the rule.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_of(self, profile: Profile) -> bool {
        match (self.row().of, profile) {
            (Of::Targets, Profile::Strict | Profile::EncodedParams)
            | (Of::StrictTargets, Profile::Strict)
            | (Of::Escapes, Profile::EncodedParams) => true,
            (Of::StrictTargets, Profile::EncodedParams)
            | (Of::Escapes, Profile::Strict)
            | (Of::Headers | Of::Orbs | Of::Proofs, Profile::Strict | Profile::EncodedParams) => false,
        }
    }

    /// The reason of the denials that it explains.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self.row().of {
            Of::Targets | Of::StrictTargets | Of::Escapes | Of::Headers => Reason::MalformedRequest,
            Of::Orbs => Reason::InsufficientOrbs,
            Of::Proofs => Reason::InvalidToken,
        }
    }
}

crate::texts! { Effect Reason Detail }
