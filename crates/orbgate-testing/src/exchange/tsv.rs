//! The decision cases with a target: rows of `policy/cases`.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use crate::exchange::world::root;

/// A row: the request, and the expected status.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// File, line and name.
    pub(crate) location: String,
    pub(crate) policy: String,
    pub(crate) method: Vec<u8>,
    pub(crate) target: Vec<u8>,
    /// Empty for no token.
    pub(crate) kind: String,
    pub(crate) scopes: String,
    /// 200 for an allow.
    pub(crate) status: u16,
}

/// The rows of a file that have a target.
pub(crate) fn rows(file: &str) -> Result<Vec<Row>> {
    let path = root().join("policy/cases").join(format!("{file}.tsv"));
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let lines = (1..).zip(text.lines());
    let mut lines = lines.filter(|(_, line)| !line.starts_with('#'));
    let (_, header) = lines.next().context("no header")?;
    let columns =
        "name policy method target by_scope kind scopes bonus decision status reason detail api route scope orbs";
    ensure!(header == columns.replace(' ', "\t"), "{file}: {header}");
    let rows = lines.map(|(number, line)| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [name, policy, method, target, by_scope, kind, scopes, _, _, status, ..] = cells[..] else {
            anyhow::bail!("{file}.tsv:{number}: too few cells");
        };
        let row = Row {
            location: format!("{file}.tsv:{number}: {name}"),
            policy: policy.to_owned(),
            method: unescape(method)?,
            target: unescape(target)?,
            kind: kind.to_owned(),
            scopes: scopes.to_owned(),
            status: if status.is_empty() { 200 } else { status.parse()? },
        };
        Ok(by_scope.is_empty().then_some(row))
    });
    let rows: Result<Vec<_>> = rows.collect();
    Ok(rows?.into_iter().flatten().collect())
}

/// Undoes `\xNN` and `\\`, as described in `policy/cases/README.md`.
pub(crate) fn unescape(cell: &str) -> Result<Vec<u8>> {
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
                let (digits, rest) = digits.split_at_checked(2).context("half an escape")?;
                bytes.push(u8::from_str_radix(digits, 16)?);
                rest
            }
            _ => anyhow::bail!("`{cell}` has a backslash before something else"),
        };
    }
    bytes.extend(rest.as_bytes());
    Ok(bytes)
}
