//! Strings as a policy has them, and whether it accepts them.

use orbgate::{Orbs, Policy};
use orbgate_analysis::shown::{json, one_line};
use orbgate_yaml::quoted;

/// Whether a policy accepts a string as its name.
pub(super) fn takes_name(name: &str) -> bool {
    let text = format!("orbgate: 1\nname: {}\napis: {{}}\n", scalar(name));
    Policy::from_yaml(&text).is_ok()
}

/// Whether a policy accepts a string as a scope's `permits`.
pub(super) fn takes_permits(permits: &str) -> bool {
    let scope = format!("permits: {}\n        routes: []", scalar(permits));
    let text = format!("orbgate: 1\napis:\n  api:\n    scopes:\n      s:\n        {scope}\n");
    Policy::from_yaml(&text).is_ok()
}

/// The policy reader's error for a string as a scope.
pub(super) fn scope_diagnostic(scope: &str) -> Option<String> {
    let scope = scalar(scope);
    let text = format!("orbgate: 1\napis:\n  api:\n    scopes:\n      {scope}: {{ routes: [] }}\n");
    let error = Policy::from_yaml(&text).err()?;
    Some(error.diagnostics().first()?.message.clone())
}

/// A YAML string on one line: plain if every reader reads it as a string, otherwise quoted.
pub(super) fn scalar(text: &str) -> String {
    // Words that would pass the checks below, but that some reader doesn't read as a string.
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"];
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-.{}:".contains(c);
    let mut words = text.split(' ');
    let plain = starts_well
        && words.all(|word| !word.is_empty() && !word.ends_with(':') && word.chars().all(is_plain))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    match plain {
        true => text.to_owned(),
        // YAML supports all JSON escapes.
        false => json(&serde_json::to_string(text).unwrap_or_default()).into_owned(),
    }
}

/// The policy reader's error for a string as a base path.
pub(super) fn base_path_diagnostic(base_path: &str) -> Option<String> {
    let base_path = scalar(base_path);
    let text = format!("orbgate: 1\napis:\n  api:\n    base_path: {base_path}\n    scopes: {{}}\n");
    let error = Policy::from_yaml(&text).err()?;
    Some(error.diagnostics().first()?.message.clone())
}

/// An option and its value in the syntax of a shell.
pub(super) fn option_of(option: &str, value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+,".contains(&byte);
    let word = match !value.is_empty() && value.bytes().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    };
    // Otherwise, it would be an option itself.
    let between = if value.starts_with('-') { "=" } else { " " };
    format!("{option}{between}{word}")
}

/// The maximum number of alternatives in a message.
const SHOWN: usize = 4;

/// Alternatives in a message.
pub(super) fn any_of(mut alternatives: impl Iterator<Item = String>) -> String {
    let shown: Vec<_> = alternatives.by_ref().take(SHOWN).map(|alternative| quoted(&alternative)).collect();
    let more = if alternatives.next().is_some() { " or …" } else { "" };
    shown.join(" or ") + more
}

/// What a call consumes, in a message.
pub(super) fn words(orbs: Option<Orbs>) -> String {
    match orbs {
        None => "nothing of orbs".to_owned(),
        Some(Orbs::Free) => "`orbs: false`".to_owned(),
        Some(Orbs::Unstated) => "`orbs: true`".to_owned(),
        Some(Orbs::Amount(amount)) => format!("`orbs: {amount}`"),
    }
}

/// A comment on one line. A string in the document must not become a comment that `lint` obeys.
pub(super) fn harmless(text: &str) -> String {
    one_line(text).replace("orbgate-lint:", "orbgate-lint :")
}
