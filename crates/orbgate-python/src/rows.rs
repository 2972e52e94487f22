//! Reads single rows of a decided table, and builds the table from its own columns.

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};

use crate::capsule::{Wanted, parts};
use crate::charge::Charge;
use crate::column::Column;
use crate::decision::Decision;
use crate::error::{self, guarded};
use crate::outcome;
use crate::table::DecisionTable;

/// The result of an index.
#[derive(IntoPyObject)]
pub(crate) enum Indexed {
    Row(Decision),
    Rows(DecisionTable),
}

impl DecisionTable {
    /// One row, which can be counted from the end, or a range of rows.
    pub(crate) fn at(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Indexed> {
        if let Ok(slice) = index.cast::<PySlice>() {
            return self.part(slice).map(Indexed::Rows);
        }
        let Ok(index) = index.extract::<isize>() else {
            let name = index.get_type().name()?;
            let message = format!("expected an int or a slice, not {name}");
            return Err(PyTypeError::new_err(message));
        };
        let row = match usize::try_from(index) {
            Ok(row) => Some(row),
            Err(_) => self.rows.checked_sub(index.unsigned_abs()),
        };
        let row = row.filter(|row| *row < self.rows);
        let mut row = row.ok_or_else(|| PyIndexError::new_err("there is no such row"))?;
        for batch in &self.batches {
            if row < batch.num_rows() {
                return decision(py, batch, row).map(Indexed::Row);
            }
            row = row.saturating_sub(batch.num_rows());
        }
        Err(PyIndexError::new_err("there is no such row"))
    }

    fn part(&self, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let length = isize::try_from(self.rows)?;
        let range = slice.indices(length)?;
        if range.step != 1 {
            return Err(PyValueError::new_err("a part of a table has every row of it"));
        }
        let (mut start, rows) = (usize::try_from(range.start)?, range.slicelength);
        let (mut batches, mut left) = (Vec::new(), rows);
        for batch in &self.batches {
            let skipped = start.min(batch.num_rows());
            start = start.saturating_sub(skipped);
            let taken = left.min(batch.num_rows().saturating_sub(skipped));
            if taken > 0 {
                batches.push(batch.slice(skipped, taken));
                left = left.saturating_sub(taken);
            }
        }
        let schema = self.schema.clone();
        Ok(Self { schema, batches, rows })
    }
}

/// The table with these columns. Unpickling uses it.
#[pyfunction]
pub(crate) fn table_of(data: &Bound<'_, PyAny>) -> PyResult<DecisionTable> {
    guarded(|| {
        let py = data.py();
        let schema = outcome::schema();
        let wanted = schema.fields().iter().map(|field| Wanted { name: field.name(), required: true });
        let mut table = DecisionTable { schema: schema.clone(), batches: Vec::new(), rows: 0 };
        for part in parts(data, &wanted.collect::<Vec<_>>())? {
            let part = part.map_err(|error| error::table(py, &error))?;
            let columns = part.columns.iter().flatten().map(outcome::column);
            let batch = columns.collect::<Result<_, _>>();
            let batch = batch.and_then(|columns| RecordBatch::try_new(schema.clone(), columns));
            let batch = batch.map_err(|error| error::table(py, &error.to_string()))?;
            table.rows = table.rows.saturating_add(batch.num_rows());
            table.batches.push(batch);
        }
        Ok(table)
    })
}

/// The decision of a row.
fn decision(py: Python<'_>, batch: &RecordBatch, row: usize) -> PyResult<Decision> {
    let column = |name: &str| batch.column_by_name(name).filter(|column| column.is_valid(row));
    let text = |name: &str| column(name).and_then(|column| text(column, row));
    let name = |name: &str| text(name).map(|text| PyString::new(py, &text).unbind());
    let flag = |name: &str| column(name).map(|column| column.as_boolean().value(row));
    let amount = column("amount").map(|column| column.as_primitive::<Int64Type>().value(row));
    let orbs = flag("consumes").map(|consumes| Charge {
        consumes,
        amount: amount.and_then(|amount| u64::try_from(amount).ok()),
        bonus_allowed: flag("bonus_allowed").unwrap_or_default(),
    });
    Decision::new(
        &text("reason").unwrap_or_default(),
        PyString::new(py, &text("policy").unwrap_or_default()).unbind(),
        text("detail").as_deref(),
        name("api"),
        name("route"),
        name("scope"),
        orbs,
        name("about"),
        text("needs").and_then(|needs| serde_json::from_str(&needs).ok()),
    )
}

fn text(column: &ArrayRef, row: usize) -> Option<String> {
    let text = Column::new(column.to_data())?.get(row)?.to_vec();
    String::from_utf8(text).ok()
}
