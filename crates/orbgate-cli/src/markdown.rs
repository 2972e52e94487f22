//! Text and code in the cells of a Markdown table.

use crate::output::one_line;

/// Text in a cell: what Markdown would take for markup is escaped.
pub(crate) fn prose(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for character in one_line(text).chars() {
        if matches!(
            character,
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '~' | '&'
        ) {
            cell.push('\\');
        }
        cell.push(character);
    }
    cell
}

/// Code in a cell. A `|` would end the cell even within code.
pub(crate) fn code(text: &str) -> String {
    span(&text.replace('|', "\\|"))
}

/// Code outside of tables.
pub(crate) fn span(text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() {
        return text.into_owned();
    }
    // The code ends at more backticks than any run inside it has.
    let runs = text.split(|character| character != '`').map(str::len);
    match runs.max().unwrap_or(0) {
        0 => format!("`{text}`"),
        longest => {
            let fence = "`".repeat(longest.saturating_add(1));
            format!("{fence} {text} {fence}")
        }
    }
}
