//! Documents for the property tests: valid ones, made from the specification's tables, and ways to break them.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::specification::TABLES;

/// Any JSON value of small size.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        number(),
        text(),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let members = vec(("[a-z_/~\"é]{0,6}", inner.clone()), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![any::<String>(), "[ -~]{0,12}"].prop_map(Value::from)
}

fn number() -> impl Strategy<Value = Value> {
    let float = prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
    prop_oneof![float.prop_map(|float| json!(float)), integer()]
}

fn integer() -> impl Strategy<Value = Value> {
    any::<i64>().prop_map(Value::from)
}

/// Members that the specification does not list.
fn unknown() -> impl Strategy<Value = Map<String, Value>> {
    let name = "(x-[a-z~/. ]{0,4}|unknown|Prompt|)";
    vec((name, any_json()), 0..3).prop_map(|members| members.into_iter().collect())
}

/// An object with the members of a table and unknown ones. Those that aren't required are there or not.
fn object(table: &str) -> BoxedStrategy<Value> {
    let (_, rows) = TABLES.into_iter().find(|(name, _)| *name == table).unwrap();
    let rows = rows.lines().map(|row| row.split_whitespace().collect::<Vec<_>>()).filter(|row| !row.is_empty());
    let (names, values): (Vec<_>, Vec<_>) = rows
        .map(|row| {
            let (name, kind) = (row[0], row[1..].join(" "));
            let value = match kind.strip_suffix(" required") {
                Some(kind) => value(name, kind).prop_map(Some).boxed(),
                None => prop::option::of(value(name, &kind)).boxed(),
            };
            (name, value)
        })
        .unzip();
    let members = (values, unknown()).prop_map(move |(values, unknown)| {
        let listed = names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
        unknown.into_iter().chain(listed).collect::<Map<_, _>>().into()
    });
    members.boxed()
}

/// Values of a type in a table.
fn value(name: &str, kind: &str) -> BoxedStrategy<Value> {
    match kind {
        // The specification shows three roles, and any other is accepted.
        "string" if name == "role" => {
            prop::sample::select(&["user", "system", "assistant", "tool"][..]).prop_map(Value::from).boxed()
        }
        "string" => text().boxed(),
        "uuid" => "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}".prop_map(Value::from).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" => integer().boxed(),
        "number" => number().boxed(),
        "any" => any_json().boxed(),
        "array" => vec(any_json(), 0..2).prop_map(Value::from).boxed(),
        // Each run has one; `record` removes it from a message.
        "Timer or null" => object("Timer"),
        _ => {
            if let Some(kind) = kind.strip_suffix(" or null") {
                prop::option::of(value(name, kind)).prop_map(|value| json!(value)).boxed()
            } else if let Some(kind) = kind.strip_prefix("array of ") {
                vec(value(name, kind), 0..3).prop_map(Value::from).boxed()
            } else {
                object(kind.trim_start_matches("object "))
            }
        }
    }
}

/// A run request that strict validation accepts.
pub(crate) fn request() -> impl Strategy<Value = Value> {
    object("RunRequest")
}

/// A run record that strict validation accepts.
pub(crate) fn record() -> impl Strategy<Value = Value> {
    object("RunRecord").prop_map(|mut record| {
        let metrics = &mut record["metrics"];
        add_up(metrics);
        if !metrics["duration"].is_null() {
            metrics["duration"] = metrics["timer"]["elapsed_time"].clone();
        }
        for message in record["messages"].as_array_mut().unwrap() {
            add_up(&mut message["metrics"]);
            message["metrics"]["timer"] = Value::Null;
            if message["role"] != "user" {
                message.as_object_mut().unwrap().remove("input");
            }
        }
        record
    })
}

/// Gives metrics the right sum, which fits into 64 bits.
fn add_up(metrics: &mut Value) {
    let [input, output] = ["input_tokens", "output_tokens"].map(|name| {
        let half = metrics[name].as_i64().unwrap() / 2;
        metrics[name] = half.into();
        half
    });
    metrics["total_tokens"] = (input + output).into();
}

/// The pointers of all values within a value, the value itself first.
pub(crate) fn pointers(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    collect(value, String::new(), &mut all);
    all
}

fn collect(value: &Value, at: String, all: &mut Vec<String>) {
    all.push(at.clone());
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                collect(element, format!("{at}/{index}"), all);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(member, format!("{at}/{name}"), all);
            }
        }
        _ => {}
    }
}
