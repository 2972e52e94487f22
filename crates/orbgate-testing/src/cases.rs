//! The decision cases with a target: rows of `policy/cases`.

use std::fs;
use std::path::Path;

/// A row: the request, and the expected status.
#[derive(Clone, Debug)]
pub struct Row {
    /// File, line and name.
    pub location: String,
    pub policy: String,
    pub method: Vec<u8>,
    pub target: Vec<u8>,
    /// Empty for no token.
    pub kind: String,
    pub scopes: String,
    /// Whether the request allows bonus orbs.
    pub allows_bonus: bool,
    /// 200 for an allow.
    pub status: u16,
}

/// The rows of a file that have a target.
pub fn rows(file: &str) -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy/cases");
    let text = fs::read_to_string(folder.join(format!("{file}.tsv"))).unwrap();
    let lines = (1..).zip(text.lines());
    let mut lines = lines.filter(|(_, line)| !line.starts_with('#'));
    let (_, header) = lines.next().expect("a header");
    let columns =
        "name policy method target by_scope kind scopes bonus decision status reason detail api route scope orbs";
    assert_eq!(header, columns.replace(' ', "\t"), "{file}");
    let rows = lines.map(|(number, line)| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [name, policy, method, target, by_scope, kind, scopes, bonus, _, status, ..] = cells[..] else {
            panic!("{file}.tsv:{number}: too few cells");
        };
        let row = Row {
            location: format!("{file}.tsv:{number}: {name}"),
            policy: policy.to_owned(),
            method: unescape(method),
            target: unescape(target),
            kind: kind.to_owned(),
            scopes: scopes.to_owned(),
            allows_bonus: bonus == "yes",
            status: if status.is_empty() { 200 } else { status.parse().unwrap() },
        };
        by_scope.is_empty().then_some(row)
    });
    rows.flatten().collect()
}

/// Undoes `\xNN` and `\\`, as described in `policy/cases/README.md`.
pub fn unescape(cell: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = cell;
    while let Some((before, escape)) = rest.split_once('\\') {
        bytes.extend(before.as_bytes());
        rest = match (escape.strip_prefix('\\'), escape.strip_prefix('x')) {
            (Some(rest), _) => {
                bytes.push(b'\\');
                rest
            }
            (_, Some(digits)) => {
                bytes.push(u8::from_str_radix(&digits[..2], 16).unwrap());
                &digits[2..]
            }
            _ => panic!("`{cell}` has a backslash before something else"),
        };
    }
    bytes.extend(rest.as_bytes());
    bytes
}
