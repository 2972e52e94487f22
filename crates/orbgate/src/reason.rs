//! Why a request was allowed or denied: frozen strings with frozen numbers, the same in every language.

use core::fmt;

/// Why a request was allowed or denied, in the order in which the reasons are tried.
///
/// Strings and numbers are frozen: a later release may add a reason, never rename, renumber or
/// remove one. Number 0 is no reason at all; whoever meets it must deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Reason {
    /// The request has no single, safe spelling; [`Detail`] names the rule it breaks.
    MalformedRequest = 1,
    /// No token was supplied.
    NoToken = 2,
    /// The token layer refused the token, or its kind is unknown.
    InvalidToken = 3,
    /// No template has the path's shape; or, asked by scope, the policy has no such scope.
    NoRoute = 4,
    /// The most specific template that fits the path does not declare the method.
    MethodNotDeclared = 5,
    /// The scope applies only to a user's token (specification §5.6), and this is an organisation's.
    UserTokenRequired = 6,
    /// The scope applies only to a user's token, and the policy lets organisations through without it.
    ScopeNotApplicable = 7,
    /// The token does not carry the route's scope (specification §5.5 and §7).
    ScopeMissing = 8,
    /// The token carries the route's scope.
    ScopeHeld = 9,
}

impl Reason {
    /// Every reason, in the order of the numbers.
    pub const ALL: [Self; 9] = [
        Self::MalformedRequest,
        Self::NoToken,
        Self::InvalidToken,
        Self::NoRoute,
        Self::MethodNotDeclared,
        Self::UserTokenRequired,
        Self::ScopeNotApplicable,
        Self::ScopeMissing,
        Self::ScopeHeld,
    ];

    /// The reason's frozen string, as in `scope_missing`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MalformedRequest => "malformed_request",
            Self::NoToken => "no_token",
            Self::InvalidToken => "invalid_token",
            Self::NoRoute => "no_route",
            Self::MethodNotDeclared => "method_not_declared",
            Self::UserTokenRequired => "user_token_required",
            Self::ScopeNotApplicable => "scope_not_applicable",
            Self::ScopeMissing => "scope_missing",
            Self::ScopeHeld => "scope_held",
        }
    }

    /// The HTTP status of a denial; `None` for the reasons that allow.
    ///
    /// The specification shows only the 403; the other statuses are HTTP's own, and an enforcement
    /// point may flatten every denial to 403.
    #[must_use]
    pub const fn status(self) -> Option<u16> {
        match self {
            Self::MalformedRequest => Some(400),
            Self::NoToken | Self::InvalidToken => Some(401),
            Self::NoRoute => Some(404),
            Self::MethodNotDeclared => Some(405),
            Self::UserTokenRequired | Self::ScopeMissing => Some(403),
            Self::ScopeNotApplicable | Self::ScopeHeld => None,
        }
    }

    /// One sentence for a person: lower case, no final period.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::MalformedRequest => "the request has no single, safe spelling",
            Self::NoToken => "no token was supplied",
            Self::InvalidToken => "the token was refused, or its kind is unknown",
            Self::NoRoute => "the policy has no such route or scope",
            Self::MethodNotDeclared => "the route does not declare this method",
            Self::UserTokenRequired => "the scope applies only to a user's token",
            Self::ScopeNotApplicable => {
                "the scope applies only to a user's token; organisations pass without it"
            }
            Self::ScopeMissing => "the token does not carry the required scope",
            Self::ScopeHeld => "the token carries the required scope",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Which rule a malformed request breaks; rule numbers are those of ARCHITECTURE.md.
///
/// Strings and numbers are frozen, like those of [`Reason`]. Number 0 is no detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Detail {
    /// P1: the method is not `[A-Z]{1,16}`.
    Method = 1,
    /// P2: the target is empty or over 8,192 bytes, has over 32 segments, or one over 256 bytes.
    Length = 2,
    /// P3: a byte outside 0x21–0x7E, anywhere in the target.
    Byte = 3,
    /// P4: a `#`, anywhere in the target.
    Fragment = 4,
    /// P5: the target does not start with `/`.
    Form = 5,
    /// P7: a `\` in the path.
    Backslash = 6,
    /// P8: a `;` in the path.
    MatrixParam = 7,
    /// P9: a character that RFC 3986 never allows raw in a path.
    PathChar = 8,
    /// P12: a `%` in the path, under the `strict` profile.
    Percent = 9,
    /// P13: a `%` without two hexadecimal digits after it.
    BadEscape = 10,
    /// P14: an escaped control character.
    EncodedControl = 11,
    /// P15: an escaped `/ \ ; ? # %`.
    EncodedDelimiter = 12,
    /// P16: an escaped letter, digit, `-`, `.`, `_` or `~`.
    EncodedUnreserved = 13,
    /// P17: an escaped byte from 0x80 up.
    NonAscii = 14,
    /// P18: an escaped space at an end of a segment.
    Whitespace = 15,
    /// P10: an empty segment, or a trailing `/`.
    EmptySegment = 16,
    /// P11: a segment of nothing but dots.
    DotSegment = 17,
    /// P19: a segment that decodes to a literal of the policy.
    NonCanonicalLiteral = 18,
    /// P21: the path differs only in case from a more specific template.
    AmbiguousCase = 19,
}

impl Detail {
    /// Every detail, in the order of the numbers.
    pub const ALL: [Self; 19] = [
        Self::Method,
        Self::Length,
        Self::Byte,
        Self::Fragment,
        Self::Form,
        Self::Backslash,
        Self::MatrixParam,
        Self::PathChar,
        Self::Percent,
        Self::BadEscape,
        Self::EncodedControl,
        Self::EncodedDelimiter,
        Self::EncodedUnreserved,
        Self::NonAscii,
        Self::Whitespace,
        Self::EmptySegment,
        Self::DotSegment,
        Self::NonCanonicalLiteral,
        Self::AmbiguousCase,
    ];

    /// The detail's frozen string, as in `empty_segment`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Length => "length",
            Self::Byte => "byte",
            Self::Fragment => "fragment",
            Self::Form => "form",
            Self::Backslash => "backslash",
            Self::MatrixParam => "matrix_param",
            Self::PathChar => "path_char",
            Self::Percent => "percent",
            Self::BadEscape => "bad_escape",
            Self::EncodedControl => "encoded_control",
            Self::EncodedDelimiter => "encoded_delimiter",
            Self::EncodedUnreserved => "encoded_unreserved",
            Self::NonAscii => "non_ascii",
            Self::Whitespace => "whitespace",
            Self::EmptySegment => "empty_segment",
            Self::DotSegment => "dot_segment",
            Self::NonCanonicalLiteral => "non_canonical_literal",
            Self::AmbiguousCase => "ambiguous_case",
        }
    }

    /// One sentence for a person: lower case, no final period.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Method => "a method is 1 to 16 capital letters",
            Self::Length => {
                "a target has 1 to 8,192 bytes, at most 32 segments, each at most 256 bytes"
            }
            Self::Byte => "a target has only visible ASCII characters",
            Self::Fragment => "a target never carries a `#`",
            Self::Form => "a target starts with `/`",
            Self::Backslash => "a path never carries a `\\`",
            Self::MatrixParam => "a path never carries a `;`",
            Self::PathChar => "the path carries a character that must be escaped there",
            Self::Percent => "this policy accepts no percent-encoding in a path",
            Self::BadEscape => "a `%` needs two hexadecimal digits after it",
            Self::EncodedControl => "the path escapes a control character",
            Self::EncodedDelimiter => "the path escapes a delimiter",
            Self::EncodedUnreserved => "the path escapes a character that needs no escape",
            Self::NonAscii => "the path escapes a byte outside ASCII",
            Self::Whitespace => "a segment starts or ends with an escaped space",
            Self::EmptySegment => "the path has an empty segment or a trailing `/`",
            Self::DotSegment => "a segment of the path is nothing but dots",
            Self::NonCanonicalLiteral => "a segment is an escaped spelling of a literal",
            Self::AmbiguousCase => "the path differs only in case from a more specific route",
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
#[allow(clippy::as_conversions, reason = "the numbers are what is tested")]
mod tests {
    use super::*;

    /// Strings, numbers and statuses are a contract with every language: this list only ever grows.
    #[test]
    fn reasons_are_frozen() {
        let frozen = [
            ("malformed_request", 1, Some(400)),
            ("no_token", 2, Some(401)),
            ("invalid_token", 3, Some(401)),
            ("no_route", 4, Some(404)),
            ("method_not_declared", 5, Some(405)),
            ("user_token_required", 6, Some(403)),
            ("scope_not_applicable", 7, None),
            ("scope_missing", 8, Some(403)),
            ("scope_held", 9, None),
        ];
        let now = Reason::ALL.map(|reason| (reason.as_str(), reason as u8, reason.status()));
        assert_eq!(now, frozen);
    }

    #[test]
    fn details_are_frozen() {
        let frozen = [
            "method",
            "length",
            "byte",
            "fragment",
            "form",
            "backslash",
            "matrix_param",
            "path_char",
            "percent",
            "bad_escape",
            "encoded_control",
            "encoded_delimiter",
            "encoded_unreserved",
            "non_ascii",
            "whitespace",
            "empty_segment",
            "dot_segment",
            "non_canonical_literal",
            "ambiguous_case",
        ];
        assert_eq!(Detail::ALL.map(Detail::as_str), frozen);
        assert!(
            Detail::ALL
                .iter()
                .zip(1..)
                .all(|(detail, number)| *detail as u8 == number)
        );
    }
}
