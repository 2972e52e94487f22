//! The grammar of `grammar.rs`, as far as regular expressions can express it. A test compares the two.

pub(super) const NAME: &str = r"^[^\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff]+$";
pub(super) const TEXT: &str = r"^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff]*$";
pub(super) const SCOPE: &str = r"^[!#-\[\]-~]+$";
pub(super) const SCOPES: &str = r"^[!#-\[\]-~]+( [!#-\[\]-~]+)*$";
pub(super) const BASE_PATH: &str = r"^(/(?!(\.+|\*+)(/|$))[A-Za-z0-9._~!$&'()*+,=:@-]+)*$";
pub(super) const TEMPLATE: &str =
    r"^(/|(/(\{[A-Za-z_][A-Za-z0-9_.-]*\}|(?!(\.+|\*+)(/|$))[A-Za-z0-9._~!$&'()*+,=:@-]+))+)$";
pub(super) const ROUTE: &str =
    r"^[A-Z]{1,16} (/|(/(\{[A-Za-z_][A-Za-z0-9_.-]*\}|(?!(\.+|\*+)(/|$))[A-Za-z0-9._~!$&'()*+,=:@-]+))+)$";

/// A schema of the whole policy that applies to each of its scopes.
pub(super) fn each_scope(scope: schemars::Schema) -> schemars::Schema {
    schemars::json_schema!({ "properties": { "apis": { "additionalProperties": {
        "properties": { "scopes": { "additionalProperties": scope } },
    } } } })
}

pub(super) fn pattern(pattern: &str, most: usize) -> schemars::Schema {
    schemars::json_schema!({ "pattern": pattern, "maxLength": most })
}
