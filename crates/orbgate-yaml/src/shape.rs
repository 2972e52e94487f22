//! The shape of a configuration file: its keys, their values, and a table of both for a page.

/// The values of a key.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A value described in words.
    Value(&'static str),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of values of one shape.
    List(&'static Self),
    /// A mapping of keys to values.
    Mapping(&'static [Key]),
    /// Names that people choose, and a value of this shape for each.
    Named(&'static Self),
    /// A value of one of two shapes.
    Either(&'static [Self; 2]),
}

/// One key of a mapping. [`document!`](crate::document!) makes it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name of the key.
    pub name: &'static str,
    /// Its description: the comment on its field.
    pub about: &'static str,
    /// Whether a mapping without it is rejected.
    pub is_required: bool,
    /// Its values.
    pub shape: Shape,
}

/// Whether one of these keys, or a value below it, has this name. Constants have no loops over slices.
const fn one_has_key(keys: &[Key], name: &str) -> bool {
    match keys {
        [] => false,
        [key, rest @ ..] => {
            is_same(key.name.as_bytes(), name.as_bytes()) || key.shape.has_key(name) || one_has_key(rest, name)
        }
    }
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([first, one @ ..], [second, other @ ..]) => *first == *second && is_same(one, other),
        _ => false,
    }
}

impl Shape {
    /// Whether a file of this shape can have this key, at any depth.
    #[must_use]
    pub const fn has_key(self, name: &str) -> bool {
        match self {
            Self::Value(_) | Self::Choice(_) => false,
            Self::List(item) | Self::Named(item) => item.has_key(name),
            Self::Mapping(keys) => one_has_key(keys, name),
            Self::Either([one, other]) => one.has_key(name) || other.has_key(name),
        }
    }

    /// The keys as a Markdown table, with a row for each key at each level.
    #[must_use]
    pub fn table(self) -> String {
        let mut table = "| key | value | |\n|---|---|---|\n".to_owned();
        self.add_rows("", &mut Vec::new(), &mut table);
        table
    }

    /// Adds rows for the keys below this path, unless the table already contains a mapping with the
    /// same keys.
    fn add_rows(self, path: &str, seen: &mut Vec<&'static [Key]>, table: &mut String) {
        match self {
            Self::Value(_) | Self::Choice(_) => {}
            Self::List(item) => item.add_rows(path, seen, table),
            Self::Named(value) => value.add_rows(&format!("{path}.*"), seen, table),
            Self::Either(shapes) => {
                for shape in shapes {
                    shape.add_rows(path, seen, table);
                }
            }
            Self::Mapping(keys) if seen.iter().any(|seen| names(seen).eq(names(keys))) => {}
            Self::Mapping(keys) => {
                seen.push(keys);
                for key in keys {
                    let path = match path {
                        "" => key.name.to_owned(),
                        _ => format!("{path}.{}", key.name),
                    };
                    let required = if key.is_required { ", required" } else { "" };
                    let (value, about) = (key.shape.in_words(), key.about.trim());
                    table.push_str(&format!("| `{path}` | {value}{required} | {about} |\n"));
                    key.shape.add_rows(&path, seen, table);
                }
            }
        }
    }

    fn in_words(self) -> String {
        match self {
            Self::Value(words) => words.to_owned(),
            Self::Choice(words) => alternatives(words.iter().map(|word| format!("`{word}`"))),
            Self::List(Self::Value("address")) => "list of addresses".to_owned(),
            Self::List(item @ (Self::Value(_) | Self::Mapping(_))) => {
                format!("list of {}s", item.in_words())
            }
            Self::List(Self::Either([one, other])) => {
                format!("list of {}s and {}s", one.in_words(), other.in_words())
            }
            Self::List(item) => format!("list of {}", item.in_words()),
            Self::Mapping(_) => "mapping".to_owned(),
            Self::Named(value) => format!("name → {}", value.in_words()),
            Self::Either([one, other]) => format!("{}, or {}", one.in_words(), other.in_words()),
        }
    }
}

fn names(keys: &'static [Key]) -> impl Iterator<Item = &'static str> {
    keys.iter().map(|key| key.name)
}

/// `a, b or c`.
fn alternatives(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}
