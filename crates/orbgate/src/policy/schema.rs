//! The policy format in other forms: its JSON Schema, for editors, and its table of keys, for a page.

use orbgate_yaml::Value as _;

use super::document::Document;
use super::model::Policy;

impl Policy {
    /// The JSON Schema of the policy format: pretty-printed, with a newline at the end.
    ///
    /// The schema checks less than [`Policy::from_yaml`]. Use it for completion and first hints in
    /// an editor.
    #[must_use]
    pub fn json_schema() -> String {
        let mut schema = schemars::schema_for!(Document);
        schema.insert("$id".to_owned(), Self::SCHEMA_URL.into());
        format!("{:#}\n", schema.as_value())
    }

    /// The table of the keys in `policy/README.md`.
    #[doc(hidden)]
    #[must_use]
    pub fn key_table() -> String {
        Document::SHAPE.table()
    }
}
