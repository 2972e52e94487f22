//! Tables with what each server was measured to do: a row for some bytes, a column for a server.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

use crate::cases::unescape;
use crate::exchange::suite::Suite;
use crate::exchange::world::root;

/// A row: its location for messages, the bytes as the table writes them, and the cell of the program's server.
pub(crate) struct Row<'t> {
    pub(crate) location: String,
    pub(crate) sent: &'t str,
    pub(crate) expected: &'t str,
}

/// Measures each row, and compares what comes with the column of the program's server. `false` if the table has no such
/// column. With `ORBGATE_UPDATE`, writes what came.
pub(crate) fn each(suite: &Suite, file: &str, mut measure: impl FnMut(&Row<'_>) -> Result<String>) -> Result<bool> {
    let path: PathBuf = root().join("policy/cases/gate").join(file);
    let text = fs::read_to_string(&path)?;
    let mut rows: Vec<Vec<String>> = text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    let header = rows.first().with_context(|| format!("{file} is empty"))?;
    let width = header.len();
    let Some(column) = header.iter().position(|name| Some(&**name) == suite.program.server.as_deref()) else {
        return Ok(false);
    };
    let updates = std::env::var_os("ORBGATE_UPDATE").is_some();
    for (number, row) in rows.iter_mut().enumerate().skip(1) {
        let location = format!("{file}:{}: {}", number + 1, row[0]);
        ensure!(row.len() == width, "{location}: not a cell for each column");
        let expected = row[column].clone();
        let came = measure(&Row { location: location.clone(), sent: &row[1], expected: &expected });
        let came = came.with_context(|| location.clone())?;
        suite.saw_one();
        if came != expected && !updates {
            suite.fail(format!("{location}\n  expected: {expected}\n  came:     {came}"));
        }
        row[column] = came;
    }
    if updates {
        let lines = rows.iter().map(|row| row.join("\t") + "\n");
        fs::write(path, lines.collect::<String>())?;
    }
    Ok(true)
}

/// The bytes of a cell, in which `\r`, `\n` and `\xNN` are bytes, and each name between braces is replaced by its value.
pub(crate) fn bytes(cell: &str, names: &[(&str, &str)]) -> Vec<u8> {
    let mut line = cell.replace("\\r", "\\x0d").replace("\\n", "\\x0a");
    for (name, text) in names {
        line = line.replace(&format!("{{{name}}}"), text);
    }
    unescape(&line)
}
