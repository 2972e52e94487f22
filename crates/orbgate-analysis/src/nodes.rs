//! The nodes of a policy's text with their locations, for questions about how a policy is written.

use orbgate_yaml::{Diagnostic, Format, Node};
use serde::de::IgnoredAny;

const FORMAT: Format = Format {
    file: "a policy file",
    start: "a policy starts with `orbgate: 1`",
    has_key: |_| false,
    braced: None,
    key_with_colon: None,
};

/// Shows the root of a policy's text.
///
/// # Errors
///
/// The errors of a text that is not YAML.
pub(crate) fn visit(text: &str, mut root: impl FnMut(&Node<'_>)) -> Result<(), Vec<Diagnostic>> {
    let visit = |node: &Node<'_>, _: &mut _| {
        root(node);
        Some(IgnoredAny)
    };
    orbgate_yaml::read(text.as_bytes(), &FORMAT, visit, |_, _| ())
}
