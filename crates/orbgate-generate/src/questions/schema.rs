//! A JSON Schema of all questions: each answer by the question's name, and what answers and arguments consist of.

use serde_json::{Map, Value, json};

use super::shape::{Field, Missing, Shape, Shapes, Type};
use crate::table::MADE;

pub(crate) fn document(shapes: &Shapes) -> Value {
    let objects = shapes.shapes.iter().map(|shape| (shape.name.to_owned(), object(shape)));
    let answers = shapes.questions.iter().map(|question| {
        let about = format!("{} Arguments: #/$defs/{}.", question.about, question.arguments);
        (question.name.to_owned(), json!({"description": about, "$ref": format!("#/$defs/{}", question.answer)}))
    });
    let definitions: Map<String, Value> = objects.chain(answers).collect();
    let any = shapes.questions.iter().map(|question| json!({"$ref": format!("#/$defs/{}", question.name)}));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": MADE,
        "title": "orbgate: questions",
        "description": "The answer of a question; that of `explain` is #/$defs/explain.",
        "anyOf": any.collect::<Vec<_>>(),
        "$defs": definitions,
    })
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
        Type::TextLists => json!({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
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
