//! The questions in Python.

use super::{Field, MADE, Missing, Shape, Shapes, Type};

/// `questions.py`
pub(super) fn module(shapes: &Shapes) -> String {
    let mut text = format!(
        "\"\"\"The questions that a policy answers, typed. Each answer is the JSON of `orbgate QUESTION --json`.\n\n{MADE}\n\"\"\"\n\n\
         from __future__ import annotations\n\nfrom typing import TYPE_CHECKING, TypedDict\n\n\
         if TYPE_CHECKING:\n    from ._policy import Policy\n"
    );
    for shape in &shapes.shapes {
        text += &class(shape);
    }
    for question in &shapes.questions {
        let (name, given, answer) = (question.name, question.arguments, question.answer);
        let (parameter, argument) = match shapes.find(given).fields.is_empty() {
            true => (String::new(), "{}"),
            false => (format!(", arguments: {given}"), "arguments"),
        };
        text += &format!(
            "\n\ndef {name}(policy: Policy{parameter}) -> {answer}:\n    \"\"\"{} Raises ValueError for invalid arguments.\"\"\"\n    \
             answer: {answer} = policy.ask(\"{name}\", {argument})\n    return answer\n",
            question.about
        );
    }
    text
}

/// A class for each shape. Fields that can be left out are in a class of their own, because `NotRequired` needs Python
/// 3.11.
fn class(shape: &Shape) -> String {
    let (required, left_out): (Vec<_>, Vec<_>) =
        shape.fields.iter().partition(|field| matches!(field.missing, Missing::Never | Missing::Null));
    let (name, about) = (shape.name, shape.about);
    match (required.is_empty(), left_out.is_empty()) {
        (_, true) => fields(&format!("{name}(TypedDict)"), about, &required),
        (true, false) => fields(&format!("{name}(TypedDict, total=False)"), about, &left_out),
        (false, false) => {
            let base = format!("_{name}");
            fields(&format!("{base}(TypedDict)"), "The required fields.", &required)
                + &fields(&format!("{name}({base}, total=False)"), about, &left_out)
        }
    }
}

fn fields(head: &str, about: &str, fields: &[&Field]) -> String {
    let mut text = format!("\n\nclass {head}:\n    \"\"\"{about}\"\"\"\n");
    for field in fields {
        text += &format!("\n    {}: {}\n    \"\"\"{}\"\"\"\n", field.name, annotation(field), field.about);
    }
    text
}

fn annotation(field: &Field) -> String {
    let kind = match field.kind {
        Type::Text => "str".to_owned(),
        Type::Integer | Type::Amount => "int".to_owned(),
        Type::Flag => "bool".to_owned(),
        Type::Texts => "list[str]".to_owned(),
        Type::TextLists => "list[list[str]]".to_owned(),
        Type::TextsByText => "dict[str, str]".to_owned(),
        Type::Shape(name) => name.to_owned(),
        Type::Shapes(name) => format!("list[{name}]"),
    };
    match field.missing {
        Missing::Null => format!("{kind} | None"),
        _ => kind,
    }
}
