//! What of a document is kept: values that determine which call needs which scope. Everything else, which is nearly the
//! whole document, is skipped.

use orbgate_yaml::Keep;

/// The parts of a value that are kept, by its location in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    All,
    Root,
    Info,
    Components,
    Paths,
    PathItem,
    /// Operations by their methods.
    Operations,
    Operation,
    /// A list. Nothing depends on it but notes, so errors in it don't matter.
    Parameters,
    Parameter,
    Schema,
}

/// The key that merges another mapping into this one, if it isn't quoted.
pub(super) const MERGE: &str = "<<";

impl Keep for Part {
    /// A valid document has at most seven levels.
    const DEPTH: usize = 16;
    const VALUES: usize = 4_000_000;

    fn of(self, key: &str) -> Option<Self> {
        Some(match (self, key) {
            (Self::Parameters, _) | (Self::Parameter | Self::Schema, MERGE) => return None,
            (Self::Parameter, "schema") => Self::Schema,
            (Self::Parameter, "name" | "in" | "description" | "pattern") | (Self::Schema, "pattern") => Self::All,
            (Self::Parameter | Self::Schema, _) => return None,
            (Self::All, _) | (_, MERGE) => Self::All,
            (Self::Root, "openapi" | "swagger" | "security" | "servers" | "x-orbs-policy" | "orbgate") => Self::All,
            (Self::Root, "info") => Self::Info,
            (Self::Root, "components") => Self::Components,
            (Self::Root, "paths") => Self::Paths,
            (Self::Info, "title") => Self::All,
            (Self::Components, "securitySchemes") => Self::All,
            (Self::Root | Self::Info | Self::Components, _) => return None,
            (Self::PathItem, "servers" | "$ref" | "x-orbs-api") => Self::All,
            (Self::PathItem, "x-orbs-operations") => Self::Operations,
            (Self::PathItem | Self::Operation, "parameters") => Self::Parameters,
            (Self::PathItem, "summary" | "description") => return None,
            (Self::Paths | Self::PathItem, key) if key.starts_with("x-") => return None,
            (Self::Paths, _) => Self::PathItem,
            (Self::PathItem | Self::Operations, _) => Self::Operation,
            (Self::Operation, "security" | "servers" | "$ref" | "operationId" | "summary" | "deprecated") => Self::All,
            (Self::Operation, key) if key.starts_with("x-orbs") => Self::All,
            (Self::Operation, _) => return None,
        })
    }

    /// A list at a position where none belongs is skipped.
    fn item(self) -> Option<Self> {
        match self {
            Self::All => Some(Self::All),
            Self::Parameters => Some(Self::Parameter),
            _ => None,
        }
    }

    fn is_strict(self) -> bool {
        !matches!(self, Self::Parameters | Self::Parameter | Self::Schema)
    }
}
