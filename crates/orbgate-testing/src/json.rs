//! JSON as committed: in few lines, and so that a change shows in those that it concerns.

use serde_json::Value;

/// The most characters of a line that has several values.
const WIDTH: usize = 120;

/// Prints a document, with a newline at the end. An object or array that fits on a line is on one.
pub fn print(document: &Value) -> String {
    let mut text = String::new();
    add(&mut text, 0, "", document, "\n");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), *document);
    text
}

/// Adds a value, which begins with its key and ends with what follows it, in lines that are indented.
fn add(text: &mut String, indent: usize, key: &str, value: &Value, end: &str) {
    let margin = " ".repeat(indent);
    let whole = format!("{margin}{key}{}{end}", on_a_line(value));
    let (open, items, close): (_, Vec<_>, _) = match value {
        _ if whole.trim_end_matches('\n').chars().count() <= WIDTH => return text.push_str(&whole),
        Value::Array(items) => ("[", items.iter().map(|item| (String::new(), item)).collect(), "]"),
        Value::Object(items) => ("{", items.iter().map(|(name, item)| (named(name), item)).collect(), "}"),
        _ => return text.push_str(&whole),
    };
    text.push_str(&format!("{margin}{key}{open}\n"));
    for (at, (key, item)) in items.iter().enumerate() {
        add(text, indent + 2, key, item, if at + 1 == items.len() { "\n" } else { ",\n" });
    }
    text.push_str(&format!("{margin}{close}{end}"));
}

fn on_a_line(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(on_a_line).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(items) if items.is_empty() => "{}".to_owned(),
        Value::Object(items) => {
            let items: Vec<_> = items.iter().map(|(name, item)| named(name) + &on_a_line(item)).collect();
            format!("{{ {} }}", items.join(", "))
        }
        value => value.to_string(),
    }
}

fn named(name: &str) -> String {
    format!("{}: ", Value::from(name))
}
