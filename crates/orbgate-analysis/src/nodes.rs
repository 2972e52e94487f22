//! The nodes of a policy file with their locations, for checks of how a policy is written.

use orbgate_yaml::{Diagnostic, Format, Node};
use serde::de::IgnoredAny;

const FORMAT: Format = Format {
    file: "a policy file",
    start: "a policy starts with `orbgate: 1`",
    has_key: |_| false,
    braced: None,
    key_with_colon: None,
};

/// Visits the root of a policy file.
///
/// # Errors
///
/// Returns the errors if it isn't valid YAML.
pub(crate) fn visit(text: &str, mut root: impl FnMut(&Node<'_>)) -> Result<(), Vec<Diagnostic>> {
    let visit = |node: &Node<'_>, _: &mut _| {
        root(node);
        Some(IgnoredAny)
    };
    orbgate_yaml::read(text.as_bytes(), &FORMAT, visit, |_, _| ())
}
