//! The questions in C++.

use super::{Field, MADE, Missing, Shape, Shapes, Type, unreserved};

/// Structs, each after those that it consists of, and a function for each question.
pub(super) fn header(shapes: &Shapes) -> String {
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
    text + "\n} // namespace orbgate::questions\n\n#endif // ORBGATE_QUESTIONS_HPP\n"
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
        *text +=
            &format!("    // {}\n    {} {}{start};\n", field.about, kind(field), unreserved(field.name.to_owned()));
    }
    let visits: String = shape.fields.iter().map(visit).collect();
    let (self_name, visit_name) = match visits.is_empty() {
        true => ("", ""),
        false => ("self", "visit"),
    };
    *text += &format!(
        "\n    template <typename Self, typename Visit>\n    static void fields(Self &{self_name}, Visit &&{visit_name})\n    {{\n{visits}    }}\n}};\n"
    );
}

fn visit(field: &Field) -> String {
    let absent = match field.missing {
        Missing::Never | Missing::Null => "written",
        Missing::LeftOut | Missing::LeftOutIfEmpty => "left_out",
    };
    format!(
        "        visit(\"{}\", self.{}, detail::Absent::{absent});\n",
        field.name,
        unreserved(field.name.to_owned())
    )
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
