//! The codes of an answer and their names, which are the core's.

use core::ffi::c_char;

use orbgate::{Detail, Reason, TokenKind};

use crate::arguments::{Out, bytes};
use crate::status::{OrbgateStatus, caught, guard};
use crate::text::OrbgateStr;

/// What a decision says. All zeros is not a decision: deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OrbgateEffect {
    /// No decision was made.
    Invalid = 0,
    /// The call must be refused.
    Deny = 1,
    /// The call may be made.
    Allow = 2,
}

/// Why a request was allowed or denied. Numbers and names are frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OrbgateReason {
    /// No reason: no decision was made.
    None = 0,
    /// The request has no single, safe spelling; the detail names the rule. Status 400.
    MalformedRequest = 1,
    /// No token was supplied. Status 401.
    NoToken = 2,
    /// The token was refused, or its kind is unknown. Status 401.
    InvalidToken = 3,
    /// The policy has no such route or scope. Status 404.
    NoRoute = 4,
    /// The route does not declare this method. Status 405.
    MethodNotDeclared = 5,
    /// The scope applies only to a user's token. Status 403.
    UserTokenRequired = 6,
    /// Allowed: the scope applies only to a user's token, and organisations pass without it.
    ScopeNotApplicable = 7,
    /// The token does not carry the required scope. Status 403.
    ScopeMissing = 8,
    /// Allowed: the token carries the required scope.
    ScopeHeld = 9,
}

/// Which rule a malformed request breaks. Numbers and names are frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OrbgateDetail {
    /// No detail: the request is not malformed.
    None = 0,
    /// A method is 1 to 16 capital letters.
    Method = 1,
    /// A target has 1 to 8,192 bytes, at most 32 segments, each at most 256 bytes.
    Length = 2,
    /// A target has only visible ASCII characters.
    Byte = 3,
    /// A target never carries a `#`.
    Fragment = 4,
    /// A target starts with `/`.
    Form = 5,
    /// A path never carries a backslash.
    Backslash = 6,
    /// A path never carries a `;`.
    MatrixParam = 7,
    /// The path carries a character that must be escaped there.
    PathChar = 8,
    /// This policy accepts no percent-encoding in a path.
    Percent = 9,
    /// A `%` needs two hexadecimal digits after it.
    BadEscape = 10,
    /// The path escapes a control character.
    EncodedControl = 11,
    /// The path escapes a delimiter.
    EncodedDelimiter = 12,
    /// The path escapes a character that needs no escape.
    EncodedUnreserved = 13,
    /// The path escapes a byte outside ASCII.
    NonAscii = 14,
    /// A segment starts or ends with an escaped space.
    Whitespace = 15,
    /// The path has an empty segment or a trailing `/`.
    EmptySegment = 16,
    /// A segment of the path is nothing but dots.
    DotSegment = 17,
    /// A segment is an escaped spelling of a literal.
    NonCanonicalLiteral = 18,
    /// The path differs only in case from a more specific route.
    AmbiguousCase = 19,
}

/// Whose token it is. Functions take it as a `uint32_t`, columns as a `uint8_t`; any other number is an
/// invalid argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OrbgateTokenKind {
    /// Not known, or none of the others: denied as `invalid_token`.
    Unknown = 0,
    /// A user's.
    User = 1,
    /// An organisation's.
    Organisation = 2,
    /// No token was supplied: denied as `no_token`.
    None = 255,
}

/// The core's reason of this number.
pub(crate) fn reason(number: u8) -> Option<Reason> {
    Reason::ALL
        .into_iter()
        .find(|it| reason_number(*it) == number)
}

/// The core's detail of this number.
pub(crate) fn detail(number: u8) -> Option<Detail> {
    Detail::ALL
        .into_iter()
        .find(|it| detail_number(*it) == number)
}

#[expect(
    clippy::as_conversions,
    reason = "the number of a code is its discriminant"
)]
#[inline(always)]
pub(crate) const fn reason_number(reason: Reason) -> u8 {
    reason as u8
}

#[expect(
    clippy::as_conversions,
    reason = "the number of a code is its discriminant"
)]
#[inline(always)]
pub(crate) const fn detail_number(detail: Detail) -> u8 {
    detail as u8
}

/// A text that is there for the whole program, or none.
fn static_text(find: impl FnOnce() -> Option<&'static str>) -> OrbgateStr {
    OrbgateStr::optional(caught(|| Ok(find())).ok().flatten())
}

/// A status's name, as in `invalid_argument`; no text for an unknown number.
///
/// Ownership: the text is static.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_status_name(status: i32) -> OrbgateStr {
    #[expect(
        clippy::as_conversions,
        reason = "the number of a code is its discriminant"
    )]
    let is_it = |it: &OrbgateStatus| *it as i32 == status;
    static_text(|| {
        let mut all = OrbgateStatus::ALL.into_iter();
        all.find(is_it).map(OrbgateStatus::name)
    })
}

/// An effect's name, `allow` or `deny`; no text for any other number.
///
/// Ownership: the text is static.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_effect_name(effect: u8) -> OrbgateStr {
    static_text(|| effect_name(effect))
}

#[expect(
    clippy::as_conversions,
    reason = "the number of a code is its discriminant"
)]
pub(crate) const fn effect_name(effect: u8) -> Option<&'static str> {
    const DENY: u8 = OrbgateEffect::Deny as u8;
    const ALLOW: u8 = OrbgateEffect::Allow as u8;
    match effect {
        DENY => Some("deny"),
        ALLOW => Some("allow"),
        _ => None,
    }
}

/// A reason's name, as in `scope_missing`; no text for an unknown number.
///
/// Ownership: the text is static.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_reason_name(reason: u8) -> OrbgateStr {
    static_text(|| self::reason(reason).map(Reason::as_str))
}

/// A reason in one sentence for a person; no text for an unknown number.
///
/// Ownership: the text is static.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_reason_explanation(reason: u8) -> OrbgateStr {
    static_text(|| self::reason(reason).map(Reason::explanation))
}

/// The HTTP status of a denial for this reason; 0 for reasons that allow and for unknown numbers.
///
/// Ownership: nothing.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_reason_http_status(reason: u8) -> u16 {
    let status = || self::reason(reason).and_then(Reason::status);
    caught(|| Ok(status())).ok().flatten().unwrap_or(0)
}

/// A detail's name, as in `empty_segment`; no text for an unknown number.
///
/// Ownership: the text is static.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_detail_name(detail: u8) -> OrbgateStr {
    static_text(|| self::detail(detail).map(Detail::as_str))
}

/// A detail in one sentence for a person; no text for an unknown number.
///
/// Ownership: the text is static.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_detail_explanation(detail: u8) -> OrbgateStr {
    static_text(|| self::detail(detail).map(Detail::explanation))
}

/// The token kind of a name, `user` or `organisation`; any other text is
/// `ORBGATE_TOKEN_KIND_UNKNOWN`, which is denied.
///
/// Ownership: nothing; `name` is only read.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_token_kind_from_name(
    name: *const c_char,
    name_len: usize,
    out: *mut u32,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (name, out) = unsafe { (bytes(name, name_len)?, Out::new(out)?) };
        let kind = TokenKind::from_name(str::from_utf8(name).unwrap_or_default());
        #[expect(
            clippy::as_conversions,
            reason = "the number of a kind is its discriminant"
        )]
        // SAFETY: the caller's, see the preamble.
        unsafe {
            out.write(kind as u32);
        }
        Ok(())
    })
}
