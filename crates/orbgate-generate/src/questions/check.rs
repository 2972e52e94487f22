//! The committed answers compared with the shapes.

use std::collections::BTreeSet;

use orbgate::{Engine, Policy};
use orbgate_analysis::{Form, ask_in};
use serde_json::{Map, Value};

use super::shape::{Field, Missing, Shapes, Type};
use crate::root;

/// Which fields were seen with a value, and which without.
#[derive(Default)]
struct Seen {
    with: BTreeSet<String>,
    without: BTreeSet<String>,
}

impl Shapes {
    /// Compares a value with a shape: exactly its fields, each of its type.
    fn check(&self, value: &Value, name: &str, seen: &mut Seen) {
        let shape = self.find(name);
        let object = value.as_object();
        let object = object.unwrap_or_else(|| panic!("{name} is an object, not {value}"));
        for field in &shape.fields {
            self.check_field(object, field, name, seen);
        }
        let known = |key: &&String| shape.fields.iter().any(|field| field.name == *key);
        let unknown: Vec<_> = object.keys().filter(|key| !known(key)).collect();
        assert!(unknown.is_empty(), "{name} has no {unknown:?}");
    }

    fn check_field(&self, object: &Map<String, Value>, field: &Field, name: &str, seen: &mut Seen) {
        let at = format!("{name}.{}", field.name);
        let value = match (object.get(field.name), field.missing) {
            (None, Missing::LeftOut | Missing::LeftOutIfEmpty) | (Some(Value::Null), Missing::Null) => {
                seen.without.insert(at);
                return;
            }
            (value, _) => value.unwrap_or_else(|| panic!("{at} is missing")),
        };
        match field.kind {
            Type::Text => assert!(value.is_string(), "{at}: {value}"),
            Type::Integer | Type::Amount => assert!(value.is_u64(), "{at}: {value}"),
            Type::Flag => assert!(value.is_boolean(), "{at}: {value}"),
            Type::Texts => assert!(are_texts(value), "{at}: {value}"),
            Type::TextLists => assert!(value.as_array().unwrap().iter().all(are_texts), "{at}: {value}"),
            Type::TextsByText => assert!(value.as_object().unwrap().values().all(Value::is_string)),
            Type::Shape(name) => self.check(value, name, seen),
            Type::Shapes(name) => {
                let values = value.as_array().unwrap();
                values.iter().for_each(|value| self.check(value, name, seen));
            }
        }
        seen.with.insert(at);
    }

    /// The JSON of an answer that was written as fields.
    fn json(&self, mut bytes: &[u8], name: &str) -> Value {
        let mut object = Map::new();
        for field in &self.find(name).fields {
            let empty = match (field.missing, field.kind) {
                (Missing::Null, _) => Value::Null,
                (Missing::Never, Type::Flag) => Value::Bool(false),
                (Missing::Never, Type::Texts | Type::Shapes(_)) => Value::Array(Vec::new()),
                _ => continue,
            };
            object.insert(field.name.to_owned(), empty);
        }
        while let Some((number, value)) = take(&mut bytes) {
            let field = self.find(name).fields.iter().find(|field| self.number(field.name) == number);
            let field = field.unwrap_or_else(|| panic!("{name} has a field {number}"));
            let text = |value: &[u8]| Value::from(str::from_utf8(value).unwrap());
            let item = match field.kind {
                Type::Text | Type::Texts => text(value),
                Type::Integer | Type::Amount => Value::from(u64::from_le_bytes(value.try_into().unwrap())),
                Type::Flag => Value::from(value.is_empty()),
                Type::TextsByText => panic!("no answer has one"),
                Type::TextLists => {
                    let mut items = value;
                    std::iter::from_fn(|| take(&mut items)).map(|(_, item)| text(item)).collect()
                }
                Type::Shape(shape) | Type::Shapes(shape) => self.json(value, shape),
            };
            match field.kind {
                Type::Texts | Type::TextLists | Type::Shapes(_) => {
                    let list = object.entry(field.name).or_insert_with(|| Value::Array(Vec::new()));
                    list.as_array_mut().unwrap().push(item);
                }
                _ => drop(object.insert(field.name.to_owned(), item)),
            }
        }
        Value::Object(object)
    }
}

/// The next field: its number and its bytes.
fn take<'a>(bytes: &mut &'a [u8]) -> Option<(usize, &'a [u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    let (len, rest) = rest.split_first_chunk().unwrap();
    let (value, rest) = rest.split_at(u32::from_le_bytes(*len) as usize);
    *bytes = rest;
    Some((u32::from_le_bytes(*number) as usize, value))
}

fn are_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string))
}

#[test]
#[cfg(not(miri))] // it reads files
fn every_answer_has_its_shape() {
    let shapes = Shapes::read();
    let mut seen = Seen::default();
    let rows = std::fs::read_to_string(root().join("policy/cases/questions.jsonl")).unwrap();
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let mut questions = shapes.questions.iter();
        let question = questions.find(|question| row["question"] == question.name);
        let question = question.unwrap();
        shapes.check(&row["arguments"], question.arguments, &mut seen);
        shapes.check(&row["answer"], question.answer, &mut seen);
        let policy = row["engine"].as_str().map(|name| root().join(format!("policy/cases/policies/{name}.yaml")));
        let policy = policy.map(|path| Policy::from_yaml(&std::fs::read_to_string(path).unwrap()).unwrap());
        let engine = policy.as_ref().map_or_else(|| Engine::external().clone(), Engine::new);
        let fields = ask_in(&engine, question.name, &row["arguments"].to_string(), Form::Fields).unwrap();
        assert_eq!(shapes.json(&fields, question.answer), row["answer"], "{}", question.name);
    }
    let mut unseen = Vec::new();
    for shape in &shapes.shapes {
        let is_answer = shapes.questions.iter().any(|question| {
            let within = shapes.within(question.answer);
            within.iter().any(|it| it.name == shape.name)
        });
        for field in &shape.fields {
            let at = format!("{}.{}", shape.name, field.name);
            let is_always = !is_answer || field.missing == Missing::Never;
            if !seen.with.contains(&at) || !(is_always || seen.without.contains(&at)) {
                unseen.push(at);
            }
        }
    }
    // A comparison that isn't complete is an error, each policy of the cases has a name, and a question's calls have no times.
    assert_eq!(unseen, ["Comparison.verdict", "Table.name", "LastUse.time"]);
}
