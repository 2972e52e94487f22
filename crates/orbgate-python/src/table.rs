//! Decides whole tables, part by part, and returns the results in the same order.

use core::cell::LazyCell;
use core::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use pyo3::prelude::*;

use crate::capsule::parts;
use crate::column::{Given, Layout, Requests};
use crate::error::{self, guarded};
use crate::outcome::{Outcomes, ROWS_AT_ONCE};
use crate::parallel;
use crate::policy::Policy;
use crate::rows::DecisionTable;
use crate::token::Token;

/// The names of the columns in a Python dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Columns {
    method: String,
    target: String,
    kind: String,
    scopes: String,
    allow_bonus_orbs_use: String,
    /// Whether the flag's column is required.
    flag_required: bool,
}

/// The values that are the same for all rows in a Python dictionary. Their columns aren't read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Values {
    kind: Option<String>,
    scopes: Option<String>,
    allow_bonus_orbs_use: Option<bool>,
}

/// Decides every row of a table. A token sets the kind and scopes of all rows. `threads` is the number of threads,
/// by default and at most one for each processor of this process.
#[pyfunction]
pub(crate) fn decide_table(
    policy: &Bound<'_, Policy>,
    data: &Bound<'_, PyAny>,
    columns: Columns,
    values: Values,
    token: Option<&Bound<'_, Token>>,
    threads: Option<usize>,
) -> PyResult<DecisionTable> {
    guarded(|| {
        let py = policy.py();
        let mut layout = Layout::new(columns, values);
        if let Some(token) = token {
            let (kind, text) = token.get().parts();
            layout.kind = Given::Value(kind.into());
            layout.scopes = Given::Value(text.into());
        }
        let policy = policy.get();
        let dictionaries = policy.dictionaries();
        let mut table = DecisionTable { schema: Arc::clone(&dictionaries.schema), batches: Vec::new(), rows: 0 };
        // More threads than processors would only wait for each other. Finding the number of processors takes as
        // long as deciding some hundred rows, so it is skipped for small tables.
        let threads = LazyCell::new(|| {
            let processors = available_parallelism().map_or(1, NonZero::get);
            threads.unwrap_or(processors).clamp(1, processors)
        });
        let mut workers = Vec::new();
        each_part(data, &layout, |requests| {
            // A worker costs as much as some hundred rows, so small tables use only one.
            let wanted = match requests.rows.div_ceil(ROWS_AT_ONCE) {
                0 | 1 => 1,
                pieces => pieces.min(*threads),
            };
            let missing = wanted.saturating_sub(workers.len());
            workers.extend((0..missing).map(|_| Outcomes::new(policy.engine(), dictionaries)));
            let batches = parallel::decide(py, requests, &mut workers)?;
            table.batches.extend(batches);
            table.rows = table.rows.saturating_add(requests.rows);
            Ok(())
        })?;
        Ok(table)
    })
}

/// Reads a table's requests, part by part.
pub(crate) fn each_part(
    data: &Bound<'_, PyAny>,
    layout: &Layout,
    mut take: impl FnMut(&Requests) -> PyResult<()>,
) -> PyResult<()> {
    let py = data.py();
    let mut parts = parts(data, &layout.wanted())?;
    // A table without rows also has columns.
    Requests::new(parts.nothing(), layout).map_err(|error| error::table(py, &error))?;
    let mut empty = true;
    // A producer might run Python code, or wait for another thread that does.
    while let Some(part) = py.detach(|| parts.next()) {
        let requests = part.and_then(|part| py.detach(|| Requests::new(part, layout)));
        take(&requests.map_err(|error| error::table(py, &error))?)?;
        empty = false;
    }
    // An exhausted reader looks like one that was always empty, so an empty result would be wrong.
    if empty && data.hasattr("__next__")? {
        let message = "the reader has no batch: it has been read before, or never had one";
        return Err(error::table(py, message));
    }
    Ok(())
}

impl Layout {
    pub(crate) fn new(columns: Columns, values: Values) -> Self {
        let text = |value: Option<String>, column| {
            value.map_or(Given::Column(column, true), |value| Given::Value(value.into()))
        };
        Self {
            method: columns.method,
            target: columns.target,
            kind: text(values.kind, columns.kind),
            scopes: text(values.scopes, columns.scopes),
            bonus: values
                .allow_bonus_orbs_use
                .map_or(Given::Column(columns.allow_bonus_orbs_use, columns.flag_required), Given::Value),
            by: None,
        }
    }
}
