//! The names of an issuer's keys, by which its errors are located.

use orbgate_yaml::Value as _;

use crate::config::document::IssuerDocument;

/// The name of a key of an issuer, as the file spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyName(&'static str);

impl KeyName {
    pub(crate) const fn new(name: &'static str) -> Self {
        assert!(IssuerDocument::SHAPE.has_key(name), "no issuer has this key");
        Self(name)
    }

    pub(crate) const fn text(self) -> &'static str {
        self.0
    }
}

/// The name of a key. One that no issuer has doesn't compile.
macro_rules! key {
    ($name:literal) => {{
        const NAME: $crate::key_name::KeyName = $crate::key_name::KeyName::new($name);
        NAME
    }};
}
pub(crate) use key;
