//! Tables of codes: each enum is written once, one row per code, with all its properties.

/// Defines an enum of frozen codes. A row has the variant, its number (if the enum has numbers), its frozen string, a
/// human-readable sentence and, if a function follows the enum, that function's result for the variant.
///
/// Not part of the public interface: the project's crates share it.
#[doc(hidden)]
#[macro_export]
macro_rules! codes {
    (
        $(#[$about:meta])*
        $visible:vis enum $name:ident $(: $repr:ident)? {
            $($(#[$doc:meta])* $code:ident $(= $number:literal)?: $string:literal, $sentence:literal, $cell:expr;)*
        }
        $(#[$about_cell:meta])*
        fn $column:ident -> $type:ty;
    ) => {
        $crate::codes! {
            $(#[$about])*
            $visible enum $name $(: $repr)? {
                $($(#[$doc])* $code $(= $number)?: $string, $sentence;)*
            }
        }

        impl $name {
            $(#[$about_cell])*
            #[must_use]
            $visible const fn $column(self) -> $type {
                match self {
                    $(Self::$code => $cell,)*
                }
            }
        }
    };
    (
        $(#[$about:meta])*
        $visible:vis enum $name:ident $(: $repr:ident)? {
            $($(#[$doc:meta])* $code:ident $(= $number:literal)?: $string:literal, $sentence:literal;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $(#[repr($repr)])?
        $visible enum $name {
            $(
                #[doc = concat!("`", $string, "`: ", $sentence, ".")]
                $(#[$doc])*
                $code $(= $number)?,
            )*
        }

        impl $name {
            /// All codes, in the order of the table.
            $visible const ALL: [Self; [$($string),*].len()] = [$(Self::$code),*];

            $(
                /// The frozen number.
                #[must_use]
                #[inline(always)]
                #[allow(clippy::as_conversions, reason = "the number of a code is its discriminant")]
                $visible const fn number(self) -> $repr {
                    self as $repr
                }
            )?

            /// The frozen string, in lower case with underscores.
            #[must_use]
            $visible const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $string,)*
                }
            }

            /// A human-readable sentence: lower case, no final period.
            #[must_use]
            $visible const fn explanation(self) -> &'static str {
                match self {
                    $(Self::$code => $sentence,)*
                }
            }
        }
    };
}

/// Implements `Display` and JSON with the frozen strings. A crate that uses it must have the feature `serde`.
///
/// Not part of the public interface: the project's crates share it.
#[doc(hidden)]
#[macro_export]
macro_rules! texts {
    ($($name:ident)*) => {$(
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
    )*};
}
