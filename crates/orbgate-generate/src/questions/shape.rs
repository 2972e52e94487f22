//! The questions' arguments and answers, as `shapes.txt` has them.

use crate::table;

pub(crate) struct Shapes {
    /// The names of the fields of answers: field 1, field 2 and so on.
    pub(crate) names: Vec<&'static str>,
    pub(crate) questions: Vec<Question>,
    pub(crate) shapes: Vec<Shape>,
}

pub(crate) struct Question {
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static str,
    pub(crate) answer: &'static str,
    pub(crate) about: &'static str,
}

pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) fields: Vec<Field>,
}

#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Type,
    pub(crate) missing: Missing,
    pub(crate) about: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
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
pub(crate) enum Missing {
    /// There is always one.
    Never,
    Null,
    LeftOut,
    /// An empty or false value is left out.
    LeftOutIfEmpty,
}

/// The names of the fields of answers, in the order of their numbers, from 1.
pub(crate) fn names() -> Vec<&'static str> {
    let lines = table::questions().filter_map(|(_, line)| line.strip_prefix("* "));
    lines.flat_map(|line| line.split(' ')).collect()
}

impl Shapes {
    pub(crate) fn read() -> Self {
        let (mut questions, mut shapes) = (Vec::new(), Vec::<Shape>::new());
        for line in table::questions().filter(|(_, line)| !line.starts_with('*')) {
            table::read(line, |line| {
                if let Some(question) = line.strip_prefix("? ") {
                    let (name, rest) = question.split_once(": ")?;
                    let (types, about) = rest.split_once(": ")?;
                    let (arguments, answer) = types.split_once(" -> ")?;
                    questions.push(Question { name, arguments, answer, about });
                } else if let Some(name) = line.strip_prefix("  + ") {
                    let fields = shapes.iter().find(|shape| shape.name == name)?.fields.clone();
                    shapes.last_mut()?.fields.extend(fields);
                } else if let Some(field) = line.strip_prefix("  ") {
                    shapes.last_mut()?.fields.push(Field::read(field)?);
                } else {
                    let (name, about) = line.split_once(": ")?;
                    shapes.push(Shape { name, about, fields: Vec::new() });
                }
                Some(())
            });
        }
        let shapes = Self { names: names(), questions, shapes };
        for shape in shapes.shapes.iter().filter(|shape| shapes.is_answered(shape)) {
            shape.fields.iter().for_each(|field| assert!(shapes.number(field.name) > 0));
        }
        shapes
    }

    /// The number of the field with this name.
    pub(crate) fn number(&self, name: &str) -> usize {
        let mut at = self.names.iter().enumerate().filter(|(_, known)| **known == name);
        let number = at.next().unwrap_or_else(|| panic!("`{name}` has no number")).0 + 1;
        assert!(at.next().is_none(), "`{name}` has two numbers");
        number
    }

    /// The names as string literals of any language, several on each line.
    pub(crate) fn literals(&self, indent: &str) -> String {
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

    pub(crate) fn find(&self, name: &str) -> &Shape {
        self.shapes.iter().find(|shape| shape.name == name).unwrap_or_else(|| panic!("there is no shape {name}"))
    }

    /// This shape and those that it consists of, each once.
    pub(crate) fn within(&self, name: &str) -> Vec<&Shape> {
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
    pub(crate) fn is_given(&self, shape: &Shape) -> bool {
        self.is_in(shape, |question| question.arguments)
    }

    /// Whether answers consist of such values.
    pub(crate) fn is_answered(&self, shape: &Shape) -> bool {
        self.is_in(shape, |question| question.answer)
    }

    pub(crate) fn is_in(&self, shape: &Shape, part: impl Fn(&Question) -> &'static str) -> bool {
        let mut questions = self.questions.iter();
        questions.any(|question| {
            let within = self.within(part(question));
            within.iter().any(|it| it.name == shape.name)
        })
    }
}

impl Field {
    fn read(line: &'static str) -> Option<Self> {
        let (name, rest) = line.split_once(": ")?;
        let (kind, about) = rest.split_once(": ")?;
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
        Some(Self { name: name.trim_end_matches(['?', '*']), kind, missing, about })
    }

    /// Whether a language needs a type for "maybe".
    pub(crate) const fn is_optional(&self) -> bool {
        matches!(self.missing, Missing::Null | Missing::LeftOut)
    }
}
