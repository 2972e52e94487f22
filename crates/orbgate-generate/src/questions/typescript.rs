//! The questions in TypeScript.

use super::shape::{Field, Missing, Shapes, Type};
use crate::table::MADE;
use crate::words::camel;

/// `questions.d.ts`
pub(crate) fn types(shapes: &Shapes) -> String {
    let mut text = format!(
        "/**\n * The arguments and the answers of the questions that an engine answers about its policy. Each answer is the JSON of\n \
         * `orbgate QUESTION --json`.\n *\n * {MADE}\n */\n"
    );
    for shape in &shapes.shapes {
        text += &format!("\n/** {} */\nexport interface {} {{\n", shape.about, shape.name);
        for field in &shape.fields {
            text += &format!("  /** {} */\n  readonly {}\n", field.about, property(field));
        }
        text += "}\n";
    }
    text += "\n/** Each question with its arguments and its answer. */\nexport interface Questions {\n";
    for question in &shapes.questions {
        let (name, given, answer) = (question.name, question.arguments, question.answer);
        text += &format!("  readonly {name}: readonly [{given}, {answer}];\n");
    }
    text + "}\n"
}

fn property(field: &Field) -> String {
    let kind = match field.kind {
        Type::Text => "string".to_owned(),
        Type::Integer => "number".to_owned(),
        Type::Amount => "bigint".to_owned(),
        Type::Flag => "boolean".to_owned(),
        Type::Texts => "readonly string[]".to_owned(),
        Type::TextLists => "readonly (readonly string[])[]".to_owned(),
        Type::TextsByText => "Readonly<Record<string, string>>".to_owned(),
        Type::Shape(name) => name.to_owned(),
        Type::Shapes(name) => format!("readonly {name}[]"),
    };
    match field.missing {
        Missing::Never => format!("{}: {kind};", field.name),
        Missing::Null => format!("{}: {kind} | null;", field.name),
        Missing::LeftOut | Missing::LeftOutIfEmpty => {
            format!("{}?: {kind};", field.name)
        }
    }
}

/// The methods of `Engine`.
pub(crate) fn methods(shapes: &Shapes) -> String {
    let methods = shapes.questions.iter().map(|question| {
        let arguments = match shapes.find(question.arguments).fields.is_empty() {
            true => String::new(),
            false => format!("given: questions.{}", question.arguments),
        };
        format!(
            "  /** {} Throws an `OrbgateError` for invalid arguments. */\n  {}({arguments}): questions.{};\n",
            question.about,
            camel(question.name),
            question.answer
        )
    });
    methods.collect()
}
