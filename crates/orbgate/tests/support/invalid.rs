//! The pages of `policy/invalid`: policies and their diagnostics, side by side.

use std::fs;
use std::path::{Path, PathBuf};

/// One section of a page.
#[derive(Debug)]
pub struct Invalid {
    pub name: String,
    pub yaml: String,
    /// The lines `line:column: message`.
    pub expected: String,
}

/// Every section of every page.
pub fn all() -> Vec<Invalid> {
    let read = |page: PathBuf| sections(&fs::read_to_string(page).unwrap());
    pages().into_iter().flat_map(read).collect()
}

/// The pages.
pub fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy/invalid");
    let entries = fs::read_dir(folder).unwrap();
    let mut pages: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages
}

/// The sections of a page, in their order.
pub fn sections(page: &str) -> Vec<Invalid> {
    let section = |text: &str| {
        let (name, text) = text.split_once("\n\n```yaml").unwrap();
        let (kind, text) = text.split_once('\n').unwrap();
        let (yaml, text) = text.split_once("```\n\n```text\n").unwrap();
        let (expected, rest) = text.split_once("```\n").unwrap();
        assert_eq!(rest.trim(), "", "after the diagnostics of {name}");
        Invalid {
            name: name.to_owned(),
            yaml: match kind {
                "" => yaml.to_owned(),
                " escaped" => unescaped(yaml),
                other => panic!("{name}: yaml{other}"),
            },
            expected: expected.to_owned(),
        }
    };
    page.split("\n## ").skip(1).map(section).collect()
}

/// With each `\u{…}` as its character: a page shows those that a reader does not see.
fn unescaped(text: &str) -> String {
    let mut parts = text.split("\\u{");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (digits, rest) = part.split_once('}').unwrap();
        let number = u32::from_str_radix(digits, 16).unwrap();
        plain.push(char::from_u32(number).unwrap());
        plain.push_str(rest);
    }
    plain
}
