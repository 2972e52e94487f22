//! The values of commands and receipts: each is checked once, when it is made.

use core::error;
use core::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// The largest integer that every JSON reader keeps exactly: 2^53 − 1.
pub(crate) const MAX: u64 = (1 << 53) - 1;

/// A value that a command can't have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Invalid {
    /// An amount over 2^53 − 1.
    Amount,
    /// A time or duration over 2^53 − 1 milliseconds.
    Time,
    /// An id that isn't 1 to 128 visible ASCII characters.
    Id,
    /// An account that isn't 1 to 512 bytes without control characters.
    Account,
    /// A note over 512 bytes or with control characters.
    Note,
}

impl Display for Invalid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Amount => "an amount of orbs is an integer from 0 to 9007199254740991",
            Self::Time => "a time or duration is at most 9007199254740991 milliseconds",
            Self::Id => "an id is 1 to 128 visible ASCII characters",
            Self::Account => "an account is 1 to 512 bytes without control characters",
            Self::Note => "a note is at most 512 bytes without control characters",
        })
    }
}

impl error::Error for Invalid {}

/// Gives each variant its word.
macro_rules! words {
    ($visibility:vis $type:ident { $($variant:ident: $word:literal,)* }) => {
        #[allow(dead_code, reason = "each store needs only some of them")]
        impl $type {
            /// The word of it, the same in every language.
            #[must_use]
            $visibility const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];

            pub(crate) fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use words;

/// Defines a checked number.
macro_rules! number {
    ($(#[$meta:meta])* $name:ident, $invalid:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(try_from = "u64", into = "u64")]
        pub struct $name(#[cfg_attr(feature = "schema", schemars(range(max = 9_007_199_254_740_991_u64)))] u64);

        impl $name {
            /// 0.
            pub const ZERO: Self = Self(0);

            /// The largest one, 2^53 − 1.
            pub const MAX: Self = Self(MAX);

            /// Checks a number.
            ///
            /// # Errors
            ///
            /// The number is larger than 2^53 − 1.
            pub const fn new(number: u64) -> Result<Self, Invalid> {
                if number <= MAX { Ok(Self(number)) } else { Err($invalid) }
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }

            pub(crate) fn plus(self, more: Self) -> Option<Self> {
                self.0.checked_add(more.0).and_then(|sum| Self::new(sum).ok())
            }

            pub(crate) fn minus(self, less: Self) -> Option<Self> {
                self.0.checked_sub(less.0).map(Self)
            }
        }

        impl TryFrom<u64> for $name {
            type Error = Invalid;

            fn try_from(number: u64) -> Result<Self, Invalid> {
                Self::new(number)
            }
        }

        impl From<$name> for u64 {
            fn from(number: $name) -> Self {
                number.0
            }
        }
    };
}

number! {
    /// An amount of orbs, at most 2^53 − 1.
    Orbs, Invalid::Amount
}

number! {
    /// A time in milliseconds since 1970-01-01T00:00:00Z, or a duration in milliseconds, at most 2^53 − 1.
    Millis, Invalid::Time
}

impl Display for Orbs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, formatter)
    }
}

/// Defines a checked string.
macro_rules! name {
    ($(#[$meta:meta])* $name:ident, $max:expr, $invalid:expr, $accepts:expr) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(#[cfg_attr(feature = "schema", schemars(length(max = $max)))] String);

        impl $name {
            /// Checks a string.
            ///
            /// # Errors
            ///
            /// The string is too long, or has a character that isn't accepted.
            pub fn new(text: impl Into<String>) -> Result<Self, Invalid> {
                let (text, accepts): (String, fn(char) -> bool) = (text.into(), $accepts);
                if text.len() <= $max && text.chars().all(accepts) && (!text.is_empty() || $invalid == Invalid::Note) {
                    Ok(Self(text))
                } else {
                    Err($invalid)
                }
            }

            /// The string.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

name! {
    /// The caller's id of a command: 1 to 128 visible ASCII characters.
    Id, 128, Invalid::Id, |character| character.is_ascii_graphic()
}

name! {
    /// The name of an account: 1 to 512 bytes of UTF-8 without control characters.
    AccountId, 512, Invalid::Account, |character| !character.is_control()
}

name! {
    /// What a hold is for, such as a route and a policy's digest: at most 512 bytes without control characters. Can be
    /// empty.
    #[derive(Default)]
    Note, 512, Invalid::Note, |character| !character.is_control()
}

impl Note {
    /// The route of a call and the digest of the policy that decided it, if a gate has written the note.
    #[must_use]
    pub fn call(&self) -> Option<(&str, &str)> {
        let (route, policy) = self.0.rsplit_once(' ')?;
        let digest = policy.strip_prefix("sha256:")?;
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (is_digest && !route.is_empty()).then_some((route, policy))
    }
}

impl Id {
    /// One of the suite's own, which are all valid.
    pub(crate) const fn valid(text: String) -> Self {
        Self(text)
    }
}

impl AccountId {
    /// One of the suite's own, which are all valid.
    pub(crate) const fn valid(text: String) -> Self {
        Self(text)
    }
}

/// Whether orbs were paid for. Bonus orbs are eligible only if the caller of a service permits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bucket {
    /// Paid orbs.
    Paid,
    /// Bonus orbs.
    Bonus,
}

words! { pub Bucket {
    Paid: "paid",
    Bonus: "bonus",
} }

/// Which orbs a hold takes first, if it may take both kinds. The last rule is always the order in which they were
/// granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Bonus orbs, then those that expire soonest.
    #[default]
    BonusFirst,
    /// Paid orbs, then those that expire soonest.
    PaidFirst,
    /// Those that expire soonest, then bonus orbs.
    SoonestFirst,
}

words! { pub(crate) Order {
    BonusFirst: "bonus_first",
    PaidFirst: "paid_first",
    SoonestFirst: "soonest_first",
} }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_bounds() {
        assert_eq!(Orbs::new(MAX).map(Orbs::get), Ok(MAX));
        assert_eq!(Orbs::new(MAX + 1), Err(Invalid::Amount));
        assert_eq!(Orbs::MAX.plus(Orbs(1)), None);
        assert_eq!(Orbs::ZERO.minus(Orbs(1)), None);
        assert_eq!(Millis::new(MAX + 1), Err(Invalid::Time));
        assert!(Id::new("a").is_ok() && Id::new("~".repeat(128)).is_ok());
        for id in ["", " ", "a b", "é", "\n", &"a".repeat(129)] {
            assert_eq!(Id::new(id), Err(Invalid::Id), "{id}");
        }
        assert!(AccountId::new("https://issuer.example user é").is_ok());
        for account in ["", "\u{0}", "a\u{85}", &"é".repeat(257)] {
            assert_eq!(AccountId::new(account), Err(Invalid::Account), "{account}");
        }
        assert!(Note::new("").is_ok() && Note::new("\t").is_err());
    }
}
