//! The JSON Schemas, generated from the types.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The JSON Schema of the documents that a type writes, which strict validation requires:
/// pretty-printed, with a newline at the end.
pub(crate) fn of<T: JsonSchema>() -> String {
    let mut schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    RecursiveTransform(absent_not_null).transform(&mut schema);
    format!("{:#}\n", schema.as_value())
}

/// An optional member is an `Option` in the type, which the schema would also make nullable. But a typed
/// member without a value is left out and never null.
fn absent_not_null(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for (name, property) in properties {
        let is_required = |required: Vec<Value>| required.iter().any(|key| key == name);
        if required.clone().is_some_and(is_required) {
            continue;
        }
        if let Some(kind) = property.get_mut("type")
            && let [one, null] = kind.as_array().map_or(&[][..], Vec::as_slice)
            && null == "null"
        {
            *kind = one.clone();
        }
    }
}
