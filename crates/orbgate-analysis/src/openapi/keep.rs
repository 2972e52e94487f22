//! Which values of a document are kept when it is read: those that say which call needs which scope. The rest, which
//! is nearly all of a document, is skipped.

/// What is kept of a value, by its place in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// With all that is in it.
    All,
    /// Nothing of it.
    Nothing,
    Root,
    Info,
    Components,
    Paths,
    PathItem,
    /// Operations by their methods.
    Operations,
    Operation,
}

/// The key that merges another mapping into this one.
pub(super) const MERGE: &str = "<<";

impl Keep {
    /// The value of a key.
    pub(super) fn of(self, key: &str) -> Self {
        match (self, key) {
            (Self::All, _) => Self::All,
            (Self::Nothing, _) => Self::Nothing,
            (_, MERGE) => Self::All,
            (
                Self::Root,
                "openapi" | "swagger" | "security" | "servers" | "x-orbs-policy" | "orbgate",
            ) => Self::All,
            (Self::Root, "info") => Self::Info,
            (Self::Root, "components") => Self::Components,
            (Self::Root, "paths") => Self::Paths,
            (Self::Info, "title") => Self::All,
            (Self::Components, "securitySchemes") => Self::All,
            (Self::Root | Self::Info | Self::Components, _) => Self::Nothing,
            (Self::PathItem, "servers" | "$ref") => Self::All,
            (Self::PathItem, "x-orbs-operations") => Self::Operations,
            (Self::PathItem, "summary" | "description" | "parameters") => Self::Nothing,
            (Self::Paths | Self::PathItem, key) if key.starts_with("x-") => Self::Nothing,
            (Self::Paths, _) => Self::PathItem,
            (Self::PathItem | Self::Operations, _) => Self::Operation,
            (
                Self::Operation,
                "security" | "servers" | "$ref" | "operationId" | "summary" | "deprecated",
            ) => Self::All,
            (Self::Operation, key) if key.starts_with("x-orbs") => Self::All,
            (Self::Operation, _) => Self::Nothing,
        }
    }

    /// An item of a list. Where a list does not belong, nothing of it is kept.
    pub(super) const fn item(self) -> Self {
        match self {
            Self::All => Self::All,
            _ => Self::Nothing,
        }
    }
}
