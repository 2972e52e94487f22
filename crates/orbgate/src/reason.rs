//! Why a request was allowed or denied: frozen strings with frozen numbers, the same in every language.

/// An enum of frozen codes, each with its frozen string and one sentence for a person.
macro_rules! codes {
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$doc:meta])* $code:ident $(= $number:literal)?: $string:literal, $explanation:literal;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $code $(= $number)?,)*
        }

        impl $name {
            /// Every one, in the order of the numbers.
            pub const ALL: [Self; [$($string),*].len()] = [$(Self::$code),*];

            /// The frozen string, in lower case with underscores.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $string,)*
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

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
pub(crate) use codes;

codes! {
    /// Why a request was allowed or denied, in the order in which the reasons are tried.
    ///
    /// Strings and numbers are frozen: a later release may add a reason, never rename, renumber or
    /// remove one. Number 0 is not a reason: a caller that meets it must deny.
    #[repr(u8)]
    pub enum Reason {
        /// The request has no single, safe spelling; [`Detail`] names the rule it breaks.
        MalformedRequest = 1: "malformed_request", "the request has no single, safe spelling";
        /// No token was supplied.
        NoToken = 2: "no_token", "no token was supplied";
        /// The token layer refused the token, or its kind is unknown.
        InvalidToken = 3: "invalid_token", "the token was refused, or its kind is unknown";
        /// No template fits the path; or, asked by scope, the policy has no such scope.
        NoRoute = 4: "no_route", "the policy has no such route or scope";
        /// The most specific template that fits the path does not declare the method.
        MethodNotDeclared = 5: "method_not_declared", "the route does not declare this method";
        /// The scope applies only to a user's token (specification §5.6), and this is an organisation's.
        UserTokenRequired = 6: "user_token_required", "the scope applies only to a user's token";
        /// The scope applies only to a user's token, and the policy lets organisations through without it.
        ScopeNotApplicable = 7: "scope_not_applicable",
            "the scope applies only to a user's token; organisations pass without it";
        /// The token does not carry the route's scope (specification §5.5 and §7).
        ScopeMissing = 8: "scope_missing", "the token does not carry the required scope";
        /// The token carries the route's scope.
        ScopeHeld = 9: "scope_held", "the token carries the required scope";
    }
}

impl Reason {
    /// The HTTP status of a denial that says nothing of its own: that of the specification. Every language takes it from
    /// here.
    pub const DEFAULT_STATUS: u16 = 403;

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
            Self::UserTokenRequired | Self::ScopeMissing => Some(Self::DEFAULT_STATUS),
            Self::ScopeNotApplicable | Self::ScopeHeld => None,
        }
    }
}

codes! {
    /// Which rule a malformed request breaks; [`Detail::rule`] is its number in ARCHITECTURE.md.
    ///
    /// Strings and numbers are frozen, like those of [`Reason`]. Number 0 is no detail.
    #[repr(u8)]
    pub enum Detail {
        /// The method is not `[A-Z]{1,16}`.
        Method = 1: "method", "a method is 1 to 16 capital letters";
        /// The target is empty or over 8,192 bytes, has over 32 segments, or one over 256 bytes.
        Length = 2: "length", "a target has 1 to 8,192 bytes, at most 32 segments, each at most 256 bytes";
        /// A byte outside 0x21–0x7E, anywhere in the target.
        Byte = 3: "byte", "a target has only visible ASCII characters";
        /// A `#`, anywhere in the target.
        Fragment = 4: "fragment", "a target never carries a `#`";
        /// The target does not start with `/`.
        Form = 5: "form", "a target starts with `/`";
        /// A `\` in the path.
        Backslash = 6: "backslash", "a path never carries a `\\`";
        /// A `;` in the path.
        MatrixParam = 7: "matrix_param", "a path never carries a `;`";
        /// A character that RFC 3986 never allows raw in a path.
        PathChar = 8: "path_char", "the path carries a character that must be escaped there";
        /// A `%` in the path, under the `strict` profile.
        Percent = 9: "percent", "this policy accepts no percent-encoding in a path";
        /// A `%` without two hexadecimal digits after it.
        BadEscape = 10: "bad_escape", "a `%` needs two hexadecimal digits after it";
        /// An escaped control character.
        EncodedControl = 11: "encoded_control", "the path escapes a control character";
        /// An escaped `/ \ ; ? # %`.
        EncodedDelimiter = 12: "encoded_delimiter", "the path escapes a delimiter";
        /// An escaped letter, digit, `-`, `.`, `_` or `~`.
        EncodedUnreserved = 13: "encoded_unreserved", "the path escapes a character that needs no escape";
        /// An escaped byte from 0x80 up.
        NonAscii = 14: "non_ascii", "the path escapes a byte outside ASCII";
        /// An escaped space at an end of a segment.
        Whitespace = 15: "whitespace", "a segment starts or ends with an escaped space";
        /// An empty segment, or a trailing `/`.
        EmptySegment = 16: "empty_segment", "the path has an empty segment or a trailing `/`";
        /// A segment of nothing but dots.
        DotSegment = 17: "dot_segment", "a segment of the path is nothing but dots";
        /// A segment that decodes to a literal of the policy.
        NonCanonicalLiteral = 18: "non_canonical_literal", "a segment is an escaped spelling of a literal";
        /// The path differs only in case from a more specific template.
        AmbiguousCase = 19: "ambiguous_case", "the path differs only in case from a more specific route";
    }
}

impl Detail {
    /// The rule's number in the table of ARCHITECTURE.md, without its `P`.
    #[must_use]
    pub const fn rule(self) -> u8 {
        match self {
            Self::Method => 1,
            Self::Length => 2,
            Self::Byte => 3,
            Self::Fragment => 4,
            Self::Form => 5,
            Self::Backslash => 7,
            Self::MatrixParam => 8,
            Self::PathChar => 9,
            Self::EmptySegment => 10,
            Self::DotSegment => 11,
            Self::Percent => 12,
            Self::BadEscape => 13,
            Self::EncodedControl => 14,
            Self::EncodedDelimiter => 15,
            Self::EncodedUnreserved => 16,
            Self::NonAscii => 17,
            Self::Whitespace => 18,
            Self::NonCanonicalLiteral => 19,
            Self::AmbiguousCase => 21,
        }
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
        let frozen = "method length byte fragment form backslash matrix_param path_char percent bad_escape encoded_control \
            encoded_delimiter encoded_unreserved non_ascii whitespace empty_segment dot_segment non_canonical_literal \
            ambiguous_case";
        assert_eq!(Detail::ALL.map(Detail::as_str).join(" "), frozen);
        let mut numbered = Detail::ALL.iter().zip(1..);
        assert!(numbered.all(|(detail, number)| *detail as u8 == number));
    }
}
