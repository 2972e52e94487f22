//! The questions in Java.

use super::shape::{Field, Missing, Shape, Shapes, Type};
use crate::table::MADE;
use crate::words::{camel, pascal, unreserved};

fn word(field: &Field) -> String {
    unreserved(camel(field.name))
}

/// `Questions.java`
pub(crate) fn types(shapes: &Shapes) -> String {
    let made = code(MADE);
    let mut text = format!(
        "package io.github.orbgate;\n\nimport java.util.List;\nimport java.util.Map;\nimport java.util.Optional;\nimport java.util.OptionalLong;\n\n\
         /**\n * The arguments and the answers of the questions that an engine answers about its policy. Each answer has the fields of\n \
         * {{@code orbgate QUESTION --json}}.\n *\n * <p>{made}\n */\npublic final class Questions {{\n    private Questions() {{}}\n"
    );
    for shape in &shapes.shapes {
        text += &record(shape, shapes.is_given(shape));
    }
    text + "}\n"
}

fn record(shape: &Shape, is_given: bool) -> String {
    let name = shape.name;
    let mut text = format!("\n    /**\n     * {}\n", code(shape.about));
    if !shape.fields.is_empty() {
        text += "     *\n";
    }
    for field in &shape.fields {
        text += &format!("     * @param {} {}\n", word(field), about(field));
    }
    let fields: Vec<_> = shape.fields.iter().map(annotated).collect();
    text += &format!("     */\n    public record {name}({}) {{", fields.join(", "));
    let optional: Vec<_> = shape.fields.iter().filter(|field| is_left_out(field)).collect();
    if !is_given || optional.is_empty() {
        return text + "}\n";
    }
    let required = shape.fields.iter().filter(|field| !is_left_out(field));
    let required: Vec<_> = required.map(component).collect();
    let all = shape.fields.iter().map(|field| match is_left_out(field) {
        true => empty(field).to_owned(),
        false => word(field),
    });
    let all: Vec<_> = all.collect();
    let what = match required.is_empty() {
        true => "Makes it without values.",
        false => "Makes it from the required values.",
    };
    text += &format!(
        "\n        /** {what} */\n        public {name}({}) {{\n            this({});\n        }}\n",
        required.join(", "),
        all.join(", ")
    );
    for field in optional {
        let all = shape.fields.iter().map(|other| match other.name == field.name {
            true => given(field),
            false => word(other),
        });
        let (with, all) = (pascal(field.name), all.collect::<Vec<_>>().join(", "));
        text += &format!(
            "\n        /** A copy with this value. {} */\n        public {name} with{with}({} {}) {{\n            \
             return new {name}({all});\n        }}\n",
            code(field.about),
            plain(field),
            word(field),
        );
    }
    text + "    }\n"
}

fn about(field: &Field) -> String {
    let about = code(field.about);
    let (first, rest) = about.split_at(1);
    let about = match first == "{" {
        true => about.clone(),
        false => format!("{}{rest}", first.to_lowercase()),
    };
    about.trim_end_matches('.').to_owned()
}

fn component(field: &Field) -> String {
    let kind = match (field.is_optional(), field.kind) {
        (true, Type::Integer | Type::Amount) => "OptionalLong".to_owned(),
        (true, _) => format!("Optional<{}>", plain(field)),
        (false, _) => plain(field),
    };
    kind + " " + &word(field)
}

/// With what `Json` needs to know.
fn annotated(field: &Field) -> String {
    match is_left_out(field) {
        true => format!("@LeftOut {}", component(field)),
        false => component(field),
    }
}

const fn is_left_out(field: &Field) -> bool {
    matches!(field.missing, Missing::LeftOut | Missing::LeftOutIfEmpty)
}

fn plain(field: &Field) -> String {
    match field.kind {
        Type::Text => "String".to_owned(),
        Type::Integer | Type::Amount => "long".to_owned(),
        Type::Flag => "boolean".to_owned(),
        Type::Texts => "List<String>".to_owned(),
        Type::TextLists => "List<List<String>>".to_owned(),
        Type::TextsByText => "Map<String, String>".to_owned(),
        Type::Shape(name) => name.to_owned(),
        Type::Shapes(name) => format!("List<{name}>"),
    }
}

/// What a field is whose value is left out.
const fn empty(field: &Field) -> &'static str {
    match (field.missing, field.kind) {
        (Missing::LeftOut, Type::Integer) => "OptionalLong.empty()",
        (Missing::LeftOut, _) => "Optional.empty()",
        (_, Type::Text) => "\"\"",
        (_, Type::Flag) => "false",
        (_, Type::TextsByText) => "Map.of()",
        _ => "List.of()",
    }
}

fn given(field: &Field) -> String {
    let name = word(field);
    match field.missing {
        Missing::LeftOut => format!("Optional.of({name})"),
        _ => name,
    }
}

/// The methods of `Engine`.
pub(crate) fn methods(shapes: &Shapes) -> String {
    let methods = shapes.questions.iter().map(|question| {
        let (arguments, answer) = (question.arguments, question.answer);
        let (parameter, argument) = match shapes.find(arguments).fields.is_empty() {
            true => (String::new(), format!("new Questions.{arguments}()")),
            false => (format!("Questions.{arguments} arguments"), "arguments".to_owned()),
        };
        let tag = match parameter.is_empty() {
            true => "",
            false => "\n     * @param arguments the question's arguments",
        };
        format!(
            "    /**\n     * {}\n     *{tag}\n     * @return the answer\n     * @throws OrbgateException if the arguments are invalid\n     */\n    \
             public Questions.{answer} {}({parameter}) {{\n        return ask(\"{}\", {argument}, Questions.{answer}.class);\n    }}\n\n",
            question.about,
            camel(question.name),
            question.name
        )
    });
    methods.collect()
}

/// Code as Javadoc writes it.
fn code(text: &str) -> String {
    let mut parts = text.to_owned();
    while parts.contains('`') {
        parts = parts.replacen('`', "{@code ", 1).replacen('`', "}", 1);
    }
    parts
}
