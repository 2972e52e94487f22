//! The questions' arguments and answers, as `shapes.txt` has them, in every language and as a JSON Schema.

mod check;
mod cpp;
mod go;
mod java;
#[allow(unreachable_pub, reason = "a module of another crate")]
#[path = "../../../../orbgate-testing/src/json.rs"]
mod json;
mod schema;
mod typescript;

use super::committed::{compare, compare_section};

/// What a comment of each made file says.
const MADE: &str = "Made of crates/orbgate-capi/src/generate/shapes.txt by `cargo xtask codes`; not to be edited.";

struct Shapes {
    /// The names of the fields of answers: field 1, field 2 and so on.
    names: Vec<&'static str>,
    questions: Vec<Question>,
    shapes: Vec<Shape>,
}

struct Question {
    name: &'static str,
    arguments: &'static str,
    answer: &'static str,
    about: &'static str,
}

struct Shape {
    name: &'static str,
    about: &'static str,
    fields: Vec<Field>,
}

#[derive(Clone, Copy)]
struct Field {
    name: &'static str,
    kind: Type,
    missing: Missing,
    about: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    Integer,
    /// An integer that can be as large as 2^63 - 1.
    Amount,
    Flag,
    TextsByText,
    Texts,
    /// Lists of strings.
    TextLists,
    Shape(&'static str),
    Shapes(&'static str),
}

/// What stands for a value that isn't there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// There is always one.
    Never,
    Null,
    LeftOut,
    /// An empty or false value is left out.
    LeftOutIfEmpty,
}

/// The names of the fields of answers, in the order of their numbers, from 1.
pub(super) fn names() -> Vec<&'static str> {
    let lines = include_str!("../shapes.txt").lines().filter_map(|line| line.strip_prefix("* "));
    lines.flat_map(|line| line.split(' ')).collect()
}

impl Shapes {
    fn read() -> Self {
        let (mut questions, mut shapes) = (Vec::new(), Vec::<Shape>::new());
        let (shapes_text, _) = include_str!("../shapes.txt").split_once("\n== Messages\n").unwrap();
        for line in shapes_text.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '*'])) {
            if let Some(question) = line.strip_prefix("? ") {
                let (name, rest) = question.split_once(": ").unwrap();
                let (types, about) = rest.split_once(": ").unwrap();
                let (arguments, answer) = types.split_once(" -> ").unwrap();
                questions.push(Question { name, arguments, answer, about });
            } else if let Some(name) = line.strip_prefix("  + ") {
                let other = shapes.iter().find(|shape| shape.name == name);
                let fields = other.unwrap().fields.clone();
                shapes.last_mut().unwrap().fields.extend(fields);
            } else if let Some(field) = line.strip_prefix("  ") {
                shapes.last_mut().unwrap().fields.push(Field::read(field));
            } else {
                let (name, about) = line.split_once(": ").unwrap();
                let fields = Vec::new();
                shapes.push(Shape { name, about, fields });
            }
        }
        let shapes = Self { names: names(), questions, shapes };
        for shape in shapes.shapes.iter().filter(|shape| shapes.is_answered(shape)) {
            shape.fields.iter().for_each(|field| assert!(shapes.number(field.name) > 0));
        }
        shapes
    }

    /// The number of the field with this name.
    fn number(&self, name: &str) -> usize {
        let mut at = self.names.iter().enumerate().filter(|(_, known)| **known == name);
        let number = at.next().unwrap_or_else(|| panic!("`{name}` has no number")).0 + 1;
        assert!(at.next().is_none(), "`{name}` has two numbers");
        number
    }

    /// The names as string literals of any language, several on each line.
    fn literals(&self, indent: &str) -> String {
        let mut lines = vec![indent.to_owned() + "\"\","];
        for name in &self.names {
            let last = lines.last_mut().unwrap();
            match last.len() + name.len() > 134 {
                true => lines.push(format!("{indent}\"{name}\",")),
                false => *last += &format!(" \"{name}\","),
            }
        }
        lines.join("\n") + "\n"
    }

    fn find(&self, name: &str) -> &Shape {
        self.shapes.iter().find(|shape| shape.name == name).unwrap_or_else(|| panic!("there is no shape {name}"))
    }

    /// This shape and those that it consists of, each once.
    fn within(&self, name: &str) -> Vec<&Shape> {
        let mut shapes = vec![self.find(name)];
        let mut next = 0;
        while next < shapes.len() {
            for field in &shapes[next].fields {
                if let Type::Shape(name) | Type::Shapes(name) = field.kind
                    && shapes.iter().all(|shape| shape.name != name)
                {
                    shapes.push(self.find(name));
                }
            }
            next += 1;
        }
        shapes
    }

    /// Whether callers make such values.
    fn is_given(&self, shape: &Shape) -> bool {
        self.is_in(shape, |question| question.arguments)
    }

    /// Whether answers consist of such values.
    fn is_answered(&self, shape: &Shape) -> bool {
        self.is_in(shape, |question| question.answer)
    }

    fn is_in(&self, shape: &Shape, part: impl Fn(&Question) -> &'static str) -> bool {
        let mut questions = self.questions.iter();
        questions.any(|question| {
            let within = self.within(part(question));
            within.iter().any(|it| it.name == shape.name)
        })
    }
}

impl Field {
    fn read(line: &'static str) -> Self {
        let (name, rest) = line.split_once(": ").unwrap();
        let (kind, about) = rest.split_once(": ").unwrap();
        let (kind, missing) = match (kind.strip_suffix("|null"), name.chars().last()) {
            (Some(kind), _) => (kind, Missing::Null),
            (None, Some('?')) => (kind, Missing::LeftOut),
            (None, Some('*')) => (kind, Missing::LeftOutIfEmpty),
            (None, _) => (kind, Missing::Never),
        };
        let kind = match kind {
            "string" => Type::Text,
            "integer" => Type::Integer,
            "amount" => Type::Amount,
            "boolean" => Type::Flag,
            "{string}" => Type::TextsByText,
            "[string]" => Type::Texts,
            "[[string]]" => Type::TextLists,
            list if list.starts_with('[') => Type::Shapes(list.trim_matches(['[', ']'])),
            shape => Type::Shape(shape),
        };
        Self { name: name.trim_end_matches(['?', '*']), kind, missing, about }
    }

    /// Whether a language needs a type for "maybe".
    const fn is_optional(&self) -> bool {
        matches!(self.missing, Missing::Null | Missing::LeftOut)
    }
}

/// The name of a field, or with an underscore where the language keeps the word for itself.
fn unreserved(name: String) -> String {
    match &*name {
        "new" | "template" => name + "_",
        _ => name,
    }
}

/// `left_out` as `leftOut`.
fn camel(name: &str) -> String {
    let pascal = pascal(name);
    let (first, rest) = pascal.split_at(1);
    format!("{}{rest}", first.to_lowercase())
}

/// `left_out` as `LeftOut`.
fn pascal(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        format!("{}{rest}", first.to_uppercase())
    });
    words.collect()
}

/// The names for the library.
fn literals(shapes: &Shapes) -> String {
    let literals = shapes.literals("    ");
    format!(
        "//! The numbers of the fields of answers. {MADE}\n\nuse phf::{{OrderedSet, phf_ordered_set}};\n\n\
         /// The names of the fields of answers, each at its number. There is no field 0.\n\
         #[rustfmt::skip]\npub(super) static NAMES: OrderedSet<&'static str> = phf_ordered_set! {{\n{literals}}};\n"
    )
}

#[test]
fn every_language_has_the_questions() {
    let shapes = Shapes::read();
    let of_c = include_str!("../../ask.rs");
    for question in &shapes.questions {
        assert!(of_c.contains(&format!("`{}`", question.name)));
    }
    let names: Vec<_> = shapes.questions.iter().map(|question| question.name).collect();
    assert_eq!(names, orbgate_analysis::QUESTIONS);
    compare("policy/questions.schema.json", &json::print(&schema::document(&shapes)));
    compare("crates/orbgate-analysis/src/ask/names.rs", &literals(&shapes));
    let go = "bindings/go/orbgate";
    compare(&format!("{go}/questions/questions.go"), &go::types(&shapes));
    compare(&format!("{go}/internal/answers/names.go"), &go::names(&shapes));
    compare(&format!("{go}/questions.go"), &go::methods(&shapes));
    // crates/orbgate-wasm/npm has a link to it.
    compare("bindings/node/questions.d.ts", &typescript::types(&shapes));
    let methods = typescript::methods(&shapes);
    compare_section("bindings/node/index.d.ts", "questions", &methods);
    let java = "bindings/java/src/main/java/io/github/orbgate";
    compare(&format!("{java}/Questions.java"), &java::types(&shapes));
    compare_section(&format!("{java}/Fields.java"), "names", &shapes.literals("        "));
    compare_section(&format!("{java}/Engine.java"), "questions", &java::methods(&shapes));
    compare("bindings/cpp/include/orbgate_questions.hpp", &cpp::header(&shapes));
    compare_section("bindings/cpp/include/orbgate_json.hpp", "names", &shapes.literals("    "));
}
