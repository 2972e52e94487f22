//! Decides whole tables, part by part, and returns the results in the same order.

use core::cell::LazyCell;
use core::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule::{STREAM, parts};
use crate::column::{Given, Layout, Requests};
use crate::error::{self, guarded};
use crate::outcome::{Outcomes, ROWS_AT_ONCE};
use crate::parallel;
use crate::policy::Policy;
use crate::rows::Indexed;
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
        let batches = self.batches.clone().into_iter().map(Ok::<_, ArrowError>);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, STREAM)
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
