//! The page `policy/valid.md`: policies that are accepted, each in a section.

/// Each policy with its name, and `layout` also with other bytes at the ends of its lines.
pub fn all() -> Vec<(&'static str, String)> {
    let page = include_str!("../../../../policy/valid.md");
    let section = |text: &'static str| {
        let (name, text) = text.split_once("\n\n```yaml\n").unwrap();
        let (yaml, rest) = text.split_once("```\n").unwrap();
        assert_eq!(rest.trim(), "", "after the policy {name}");
        (name, yaml.to_owned())
    };
    let mut all: Vec<_> = page.split("\n## ").skip(1).map(section).collect();
    let (_, layout) = all.iter().find(|(name, _)| *name == "layout").unwrap().clone();
    all.extend([
        ("byte-order-mark", format!("\u{feff}{layout}")),
        ("crlf", layout.replace('\n', "\r\n")),
        ("no-final-newline", layout.trim_end().to_owned()),
    ]);
    all
}

/// The policy of a section.
pub fn policy(name: &str) -> String {
    let entry = all().into_iter().find(|(other, _)| *other == name);
    entry.unwrap_or_else(|| panic!("policy/valid.md has no {name}")).1
}
