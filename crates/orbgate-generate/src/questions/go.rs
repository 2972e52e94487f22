//! The questions in Go.

use super::shape::{Field, Missing, Shapes, Type};
use crate::table::MADE;
use crate::words::pascal;

/// Package `questions`.
pub(crate) fn types(shapes: &Shapes) -> String {
    let mut text = format!(
        "// Package questions contains the arguments and the answers of the questions that an engine answers about its policy. Each\n\
         // answer is the JSON of `orbgate QUESTION --json`.\n//\n// {MADE}\npackage questions\n"
    );
    for shape in &shapes.shapes {
        text += &format!("\n// {}: {}\ntype {} struct", shape.name, shape.about, shape.name);
        if shape.fields.is_empty() {
            text += "{}\n";
            continue;
        }
        text += " {\n";
        let fields: Vec<_> = shape.fields.iter().map(row).collect();
        for ([name, kind, tag], field) in fields.iter().zip(&shape.fields) {
            text += &format!("\t// {}\n", field.about);
            text += &format!("\t{name} {kind} {tag}\n");
        }
        text += "}\n";
    }
    text
}

/// The names of fields, for the reader of answers.
pub(crate) fn names(shapes: &Shapes) -> String {
    format!(
        "package answers\n\n// {MADE}\n\n// The name of each field, at its number.\nvar names = [...]string{{\n{}}}\n",
        shapes.literals("\t")
    )
}

fn row(field: &Field) -> [String; 3] {
    let kind = match field.kind {
        Type::Text => "string".to_owned(),
        Type::Integer | Type::Amount => "uint64".to_owned(),
        Type::Flag => "bool".to_owned(),
        Type::Texts => "[]string".to_owned(),
        Type::TextLists => "[][]string".to_owned(),
        Type::TextsByText => "map[string]string".to_owned(),
        Type::Shape(name) => name.to_owned(),
        Type::Shapes(name) => format!("[]{name}"),
    };
    let pointer = match field.is_optional() && !kind.starts_with('[') {
        true => "*",
        false => "",
    };
    let option = match field.missing {
        Missing::Never | Missing::Null => "",
        Missing::LeftOut => ",omitzero",
        Missing::LeftOutIfEmpty => ",omitempty",
    };
    let tag = format!("`json:\"{}{option}\"`", field.name);
    [pascal(field.name), format!("{pointer}{kind}"), tag]
}

/// The methods of an engine.
pub(crate) fn methods(shapes: &Shapes) -> String {
    let mut text = format!(
        "package orbgate\n\nimport \"github.com/orbgate/orbgate/bindings/go/orbgate/questions\"\n\n// {MADE}\n"
    );
    for question in &shapes.questions {
        let (name, arguments, answer) = (pascal(question.name), question.arguments, question.answer);
        let has_arguments = !shapes.find(arguments).fields.is_empty();
        let (parameter, argument) = match has_arguments {
            true => (format!("arguments questions.{arguments}"), "arguments".to_owned()),
            false => (String::new(), format!("questions.{arguments}{{}}")),
        };
        let about = lower(question.about);
        text += &format!(
            "\n// {name} {about}\nfunc (e *Engine) {name}({parameter}) (*questions.{answer}, error) {{\n\
             \treturn answered[questions.{answer}](e, \"{}\", {argument})\n}}\n",
            question.name
        );
    }
    text
}

fn lower(sentence: &str) -> String {
    let (first, rest) = sentence.split_at(1);
    format!("{}{rest}", first.to_lowercase())
}
