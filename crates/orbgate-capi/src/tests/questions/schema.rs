//! A JSON Schema for each question: of its answer, with its arguments in `$defs`.

use serde_json::{Map, Value, json};

use super::{Field, MADE, Missing, Shape, Shapes, Type};

/// Paths and documents.
pub(super) fn files(shapes: &Shapes) -> Vec<(String, String)> {
    let file = |question: &super::Question| {
        let mut within = shapes.within(question.arguments);
        for shape in shapes.within(question.answer) {
            if within.iter().all(|found| found.name != shape.name) {
                within.push(shape);
            }
        }
        let definitions: Map<String, Value> =
            within.iter().map(|shape| (shape.name.to_owned(), object(shape))).collect();
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$comment": MADE,
            "title": format!("orbgate: {}", question.name),
            "description": format!("{} Arguments: #/$defs/{}.", question.about, question.arguments),
            "$ref": format!("#/$defs/{}", question.answer),
            "$defs": definitions,
        });
        let text = serde_json::to_string_pretty(&schema).unwrap();
        let path = format!("policy/questions/{}.schema.json", question.name);
        (path, text + "\n")
    };
    shapes.questions.iter().map(file).collect()
}

fn object(shape: &Shape) -> Value {
    let fields = shape.fields.iter();
    let properties: Map<String, Value> = fields.map(|field| (field.name.to_owned(), property(field))).collect();
    let required = shape.fields.iter();
    let required = required.filter(|field| matches!(field.missing, Missing::Never | Missing::Null));
    let required: Vec<_> = required.map(|field| field.name).collect();
    json!({
        "type": "object",
        "description": shape.about,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(field: &Field) -> Value {
    let reference = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let mut schema = match field.kind {
        Type::Text => json!({"type": "string"}),
        Type::Integer | Type::Amount => json!({"type": "integer", "minimum": 0}),
        Type::Flag => json!({"type": "boolean"}),
        Type::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Type::TextsByText => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Type::Shape(name) => reference(name),
        Type::Shapes(name) => json!({"type": "array", "items": reference(name)}),
    };
    if field.missing == Missing::Null {
        schema = json!({"anyOf": [schema, {"type": "null"}]});
    }
    schema["description"] = json!(field.about);
    schema
}
