//! What the reader's messages must know of a format.

use crate::diagnostics::quoted;

/// What the messages must know of a format.
#[derive(Debug)]
pub struct Format {
    /// What such a file is, with its article: `a settings file`.
    pub file: &'static str,
    /// How one starts, for the author of an empty one: ``a settings file starts with `version: 1` ``.
    pub start: &'static str,
    /// Whether this is a key, anywhere in a file: so `key:value` without the space is noticed.
    pub has_key: fn(&str) -> bool,
    /// The texts that may have braces in them, which YAML's flow style takes for its own.
    pub braced: Option<Braced>,
    /// Why a key with a colon in it has no space after that colon: `a name has no space`.
    pub key_with_colon: Option<&'static str>,
}

/// Texts with braces in them, which must be quoted in flow style.
#[derive(Debug)]
pub struct Braced {
    /// What such a text is, with its article: `a pattern with braces`.
    pub name: &'static str,
    /// Whether a text is one, as far as that can be told at a glance.
    pub is: fn(&str) -> bool,
}

impl Format {
    /// What to say of `key:value`, which is one text for YAML.
    #[must_use]
    pub fn missing_space(&self, line: &str) -> Option<String> {
        let (key, value) = line.split_once(':')?;
        let is_separate = value.is_empty() || value.starts_with([' ', '\t', '\n', '\r']);
        if is_separate || !(self.has_key)(key) {
            return None;
        }
        let value = value.lines().next().unwrap_or_default();
        let (found, meant) = (format!("{key}:{value}"), format!("{key}: {value}"));
        Some(format!(
            "{} needs a space after the `:`: write {}",
            quoted(&found),
            quoted(&meant)
        ))
    }

    /// What to say of a text with braces that is not quoted in flow style.
    pub(crate) fn unquoted_braces(&self, text: &str) -> String {
        let name = self
            .braced
            .as_ref()
            .map_or("a text with braces", |braced| braced.name);
        let text = quoted(&format!("'{text}'"));
        format!("in flow style {name} must be quoted: write {text}")
    }
}
