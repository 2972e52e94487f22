//! Values of which the specification shows only some.

/// An enum of the values that the specification shows, and `Other` for any other value, which is
/// accepted and kept.
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
            /// A value that the specification doesn't show, kept unchanged.
            Other(String),
        }

        impl $name {
            /// The value as a string.
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
