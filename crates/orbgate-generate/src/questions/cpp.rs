//! The questions in C++.

use super::shape::{Field, Missing, Shape, Shapes, Type};
use crate::table::MADE;
use crate::words::unreserved;

/// Structs, each after those that it consists of, and a function for each question.
pub(crate) fn header(shapes: &Shapes) -> String {
    let mut made = Vec::new();
    let mut text = format!(
        "// The questions that an engine answers about its policy, typed. Each answer has the fields of `orbgate QUESTION --json`.\n//\n\
         // {MADE}\n#ifndef ORBGATE_QUESTIONS_HPP\n#define ORBGATE_QUESTIONS_HPP\n\n#include <cstdint>\n#include <map>\n\
         #include <optional>\n#include <string>\n#include <vector>\n\n#include \"orbgate_json.hpp\"\n\nnamespace orbgate::questions {{\n"
    );
    for shape in &shapes.shapes {
        add(shapes, shape, &mut text, &mut made);
    }
    for question in &shapes.questions {
        let (name, arguments, answer) = (question.name, question.arguments, question.answer);
        let default = match shapes.find(arguments).fields.is_empty() {
            true => " = {}",
            false => "",
        };
        text += &format!(
            "\n// {}\ninline Result<{answer}> {name}(const Engine &engine, const {arguments} &arguments{default})\n{{\n    \
             return detail::answered<{answer}>(engine, \"{name}\", arguments);\n}}\n",
            question.about
        );
    }
    text + "\n} // namespace orbgate::questions\n\n#undef ORBGATE_FIELDS\n\n#endif // ORBGATE_QUESTIONS_HPP\n"
}

fn add(shapes: &Shapes, shape: &Shape, text: &mut String, made: &mut Vec<&'static str>) {
    if made.contains(&shape.name) {
        return;
    }
    made.push(shape.name);
    for field in &shape.fields {
        if let Type::Shape(name) | Type::Shapes(name) = field.kind {
            add(shapes, shapes.find(name), text, made);
        }
    }
    *text += &format!("\n// {}\nstruct {} {{\n", shape.about, shape.name);
    for field in &shape.fields {
        let start = match (field.is_optional(), field.kind) {
            (false, Type::Integer | Type::Amount) => " = 0",
            (false, Type::Flag) => " = false",
            _ => "",
        };
        *text += &format!("    // {}\n    {} {}{start};\n", field.about, kind(field), variable(field));
    }
    let gap = if shape.fields.is_empty() { "" } else { "\n" };
    *text += &format!("{gap}    ORBGATE_FIELDS({})\n}};\n", wrapped(&shape.fields));
}

fn variable(field: &Field) -> String {
    unreserved(field.name.to_owned())
}

/// The names of the fields; those that are left out are in parentheses.
fn wrapped(fields: &[Field]) -> String {
    let mut lines = vec![String::new()];
    for (at, field) in fields.iter().enumerate() {
        let name = match field.missing {
            Missing::Never | Missing::Null => variable(field),
            Missing::LeftOut | Missing::LeftOutIfEmpty => format!("({})", variable(field)),
        };
        let name = name + if at + 1 < fields.len() { ", " } else { "" };
        let last = lines.last_mut().unwrap();
        match last.len() + name.len() < 120 {
            true => *last += &name,
            false => lines.push(name),
        }
    }
    let lines: Vec<_> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n                   ")
}

fn kind(field: &Field) -> String {
    let kind = match field.kind {
        Type::Text => "std::string".to_owned(),
        Type::Integer | Type::Amount => "std::uint64_t".to_owned(),
        Type::Flag => "bool".to_owned(),
        Type::Texts => "std::vector<std::string>".to_owned(),
        Type::TextLists => "std::vector<std::vector<std::string>>".to_owned(),
        Type::TextsByText => "std::map<std::string, std::string>".to_owned(),
        Type::Shape(name) => name.to_owned(),
        Type::Shapes(name) => format!("std::vector<{name}>"),
    };
    match field.is_optional() {
        true => format!("std::optional<{kind}>"),
        false => kind,
    }
}
