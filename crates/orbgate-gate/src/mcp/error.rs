//! What is wrong with a setting or a policy.

/// A setting of an MCP endpoint that is invalid, or a policy that doesn't fit it: one line for each error.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines.join("\n"))]
pub struct McpError {
    pub(super) lines: Vec<String>,
}

impl McpError {
    pub(crate) fn of(line: String) -> Self {
        Self { lines: vec![line] }
    }

    /// One line for each error.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

orbgate_yaml::debug_as_display!(McpError);
