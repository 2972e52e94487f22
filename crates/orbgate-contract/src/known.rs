//! Values of which the specification shows only some.

/// An enum of the values that are shown, and `Other` for the rest, which are kept, not refused.
macro_rules! known {
    ($(#[$doc:meta])* $name:ident { $($(#[$mark:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
        #[serde(from = "String")]
        pub enum $name {
            $(
                #[doc = concat!("`", $text, "`")]
                $(#[$mark])*
                $variant,
            )+
            /// A value that the specification does not show, kept as it is.
            Other(String),
        }

        impl $name {
            /// The value as it is written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($text => Self::$variant,)+
                    _ => Self::Other(text),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(crate) use known;
