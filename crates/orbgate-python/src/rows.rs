//! A decided table: its columns, its single rows, and how it is built from its own columns.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PySlice, PyString};

use crate::capsule::{Wanted, parts, stream};
use crate::charge::Charge;
use crate::column::Column;
use crate::decision::Decision;
use crate::error::{self, guarded};
use crate::outcome;

/// A function that rebuilds a table, and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>,));

/// The decisions of a table, row by row in its order, as columns for anything that supports the Arrow
/// C interface.
#[pyclass(frozen, module = "orbgate")]
#[derive(Debug)]
pub(crate) struct DecisionTable {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
    pub(crate) rows: usize,
}

#[pymethods]
impl DecisionTable {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().as_str()).collect()
    }

    /// The decisions as a stream of Arrow's C interface, without copying. Can be called repeatedly.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer to use its own schema.
        let _ = requested_schema;
        stream(py, self.batches.clone(), Arc::clone(&self.schema))
    }

    const fn __len__(&self) -> usize {
        self.rows
    }

    /// The decision for a row or, for a slice, a table of these rows.
    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Indexed> {
        guarded(|| self.at(py, index))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("orbgate._preview")?.call_method1("rows", (slf,))
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("orbgate._preview")?.call_method1("text", (slf,))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("orbgate._preview")?.call_method1("html", (slf,))
    }

    /// Pickles like a pyarrow table. pyarrow must be installed.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let restore = slf.py().import("orbgate._native")?.getattr("table_of")?;
        Ok((restore, (Self::to_pyarrow(slf)?,)))
    }

    /// The decisions as a pyarrow table. pyarrow must be installed.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let pyarrow = slf.py().import("pyarrow")?;
        pyarrow.call_method1("table", (slf,))
    }

    /// The decisions as a polars DataFrame. polars must be installed.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let polars = slf.py().import("polars")?;
        polars.call_method1("DataFrame", (slf,))
    }

    /// The decisions as a pandas DataFrame with nullable types. pandas and pyarrow must be installed.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let frames = slf.py().import("orbgate._frames")?;
        frames.call_method1("of_decisions", (slf,))
    }
}

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
