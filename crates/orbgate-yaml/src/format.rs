//! The properties of a format that the reader's messages need.

use crate::diagnostics::quoted;

/// The properties of a format that messages need.
#[derive(Debug)]
pub struct Format {
    /// The name of such a file, with its article: `a settings file`.
    pub file: &'static str,
    /// How such a file starts, for authors of an empty file: ``a settings file starts with
    /// `version: 1` ``.
    pub start: &'static str,
    /// Whether this is a key at any level of a file. With it, `key:value` without the space is
    /// detected.
    pub has_key: fn(&str) -> bool,
    /// Strings that can contain braces, which have a meaning in YAML's flow style.
    pub braced: Option<Braced>,
    /// Why a key that contains a colon isn't a missing space after a key: `a name has no space`.
    pub key_with_colon: Option<&'static str>,
}

/// Strings with braces, which must be quoted in flow style.
#[derive(Debug)]
pub struct Braced {
    /// The name of such a string, with its article: `a pattern with braces`.
    pub name: &'static str,
    /// Whether a string is one, judging by its form.
    pub is: fn(&str) -> bool,
}

impl Format {
    /// The message for `key:value`, which YAML reads as one string.
    #[must_use]
    pub fn missing_space(&self, line: &str) -> Option<String> {
        let (key, value) = line.split_once(':')?;
        let is_separate = value.is_empty() || value.starts_with([' ', '\t', '\n', '\r']);
        if is_separate || !(self.has_key)(key) {
            return None;
        }
        let value = value.lines().next().unwrap_or_default();
        let (found, meant) = (format!("{key}:{value}"), format!("{key}: {value}"));
        Some(format!("{} needs a space after the `:`: write {}", quoted(&found), quoted(&meant)))
    }

    /// The message for a string with braces that isn't quoted in flow style.
    pub(crate) fn unquoted_braces(&self, text: &str) -> String {
        let name = self.braced.as_ref().map_or("a text with braces", |braced| braced.name);
        let text = quoted(&format!("'{text}'"));
        format!("in flow style {name} must be quoted: write {text}")
    }
}
