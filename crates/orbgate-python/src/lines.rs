//! Reads lines of logs into columns, each line a row.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, StringBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::ArrowError;
use orbgate_log::{DelimitedRow, Field, LINE_LIMIT, RequestLine, ScopeStrings, Subject, TOO_LONG};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::capsule::STREAM;
use crate::error::{self, guarded};

/// Reads requests, one JSON object on each line, into a stream of Arrow's C interface: the call or scope and
/// the token of each request, or the error in its line.
#[pyfunction]
pub(crate) fn read_requests<'py>(lines: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyCapsule>> {
    guarded(|| {
        let text = lines.as_bytes();
        stream(lines.py(), || {
            let mut columns = RequestColumns::default();
            each_line(text).for_each(|line| columns.append(line));
            columns.finish()
        })
    })
}

/// The access log of one file, which is read in blocks of lines.
#[pyclass(module = "orbgate._native")]
#[derive(Debug, Default)]
pub(crate) struct AccessLog(orbgate_log::AccessLog);

#[pymethods]
impl AccessLog {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Reads lines into a stream of Arrow's C interface: method, target, the requested fields under the given names (all
    /// as bytes), and the error in a line. Directives of a W3C log are left out.
    fn read<'py>(
        &mut self,
        lines: &Bound<'py, PyBytes>,
        fields: Vec<(String, String)>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        guarded(|| {
            let py = lines.py();
            let fields = fields.into_iter().map(|(column, name)| {
                let field = Field::from_name(&name);
                field.map(|field| (column, field)).ok_or_else(|| {
                    let fields = Field::NAMES.join("`, `");
                    let message = format!(
                        "an access log has no field `{name}`; the fields are `{fields}`, and after them `extra1`, `extra2` and so on"
                    );
                    error::table(py, &message)
                })
            });
            let mut columns = AccessColumns::new(fields.collect::<PyResult<_>>()?);
            let (text, log) = (lines.as_bytes(), &mut self.0);
            stream(py, || {
                each_line(text).for_each(|line| columns.append(line, log));
                columns.finish()
            })
        })
    }
}

/// Reads rows of delimited values from complete lines into a stream of Arrow's C interface: the values at these
/// positions under the given names (all as bytes), and the error in a row.
///
/// Also returns the numbers of bytes and lines that were read (the remaining lines are a row that needs further lines),
/// and the number of rows whose end is uncertain because a quote isn't closed properly. `width` is the number of values
/// in a row, and `line` the number of the first line.
#[pyfunction]
pub(crate) fn read_delimited<'py>(
    lines: &Bound<'py, PyBytes>,
    delimiter: u8,
    fields: Vec<(String, usize)>,
    width: usize,
    line: usize,
    is_end: bool,
) -> PyResult<(Bound<'py, PyCapsule>, usize, usize, usize)> {
    guarded(|| {
        let text = lines.as_bytes();
        let mut columns = DelimitedColumns::new(fields, width);
        let (mut bytes, mut next, mut torn) = (0_usize, line, 0_usize);
        let stream = stream(lines.py(), || {
            let mut values = Vec::new();
            let mut rest = text;
            while let Some(row) = DelimitedRow::parse(rest, delimiter, is_end, &mut values) {
                columns.append(&row, &values, next);
                bytes = bytes.saturating_add(row.bytes);
                next = next.saturating_add(row.lines);
                torn = torn.saturating_add(usize::from(row.diagnostic.is_some()));
                rest = text.get(bytes..).unwrap_or_default();
            }
            columns.finish()
        })?;
        Ok((stream, bytes, next, torn))
    })
}

/// The lines without their line endings, and which of them are too long.
fn each_line(text: &[u8]) -> impl Iterator<Item = Result<&[u8], String>> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.split(|byte| *byte == b'\n').map(|line| {
        let fits = line.len() <= LINE_LIMIT;
        fits.then_some(line).ok_or_else(|| TOO_LONG.to_owned())
    })
}

/// A stream of one batch, built without the interpreter's lock.
fn stream<'py>(
    py: Python<'py>,
    read: impl FnOnce() -> Result<RecordBatch, ArrowError> + Send,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batch = py.detach(read);
    let batch = batch.map_err(|error| error::table(py, &error.to_string()))?;
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// The columns of requests.
#[derive(Debug, Default)]
struct RequestColumns {
    method: StringBuilder,
    target: StringBuilder,
    by_scope: StringBuilder,
    kind: StringBuilder,
    scopes: StringBuilder,
    allow_bonus_orbs_use: BooleanBuilder,
    error: StringBuilder,
}

impl RequestColumns {
    fn append(&mut self, line: Result<&[u8], String>) {
        let (request, error) = match line.and_then(RequestLine::parse) {
            Ok(request) => (Some(request), None),
            Err(error) => (None, Some(error)),
        };
        let (method, target, by_scope) = match request.as_ref().map(|request| &request.subject) {
            Some(Subject::Call { method, target }) => (Some(method), Some(target), None),
            Some(Subject::Scope(scope)) => (None, None, Some(scope)),
            None => (None, None, None),
        };
        self.method.append_option(method);
        self.target.append_option(target);
        self.by_scope.append_option(by_scope);
        let token = request.as_ref().and_then(|request| request.token.as_ref());
        self.kind.append_option(token.map(|token| token.kind.as_str()));
        match token.map(|token| &token.scopes) {
            None => self.scopes.append_null(),
            Some(ScopeStrings::Separated(text)) => self.scopes.append_value(text),
            Some(ScopeStrings::Each(each)) => self.scopes.append_value(joined(each)),
        }
        let bonus = request.map(|request| request.allow_bonus_orbs_use);
        self.allow_bonus_orbs_use.append_option(bonus);
        self.error.append_option(error);
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let bonus = self.allow_bonus_orbs_use.finish();
        let texts = [
            ("method", self.method),
            ("target", self.target),
            ("by_scope", self.by_scope),
            ("kind", self.kind),
            ("scopes", self.scopes),
            ("error", self.error),
        ];
        let mut columns: Vec<(&str, ArrayRef)> = vec![("allow_bonus_orbs_use", Arc::new(bonus))];
        for (name, mut column) in texts {
            columns.push((name, Arc::new(column.finish())));
        }
        let columns = columns.into_iter();
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
    }
}

/// Scopes as one string. A scope that contains a space is invalid. The space is escaped, because the scope
/// must not become two.
fn joined(scopes: &[impl AsRef<str>]) -> String {
    let mut text = String::new();
    for scope in scopes {
        if !text.is_empty() {
            text.push(' ');
        }
        text.extend(scope.as_ref().chars().map(|letter| match letter {
            ' ' => '\u{2420}',
            other => other,
        }));
    }
    text
}

/// The columns of an access log.
#[derive(Debug)]
struct AccessColumns {
    method: BinaryBuilder,
    target: BinaryBuilder,
    fields: Vec<(String, Field, BinaryBuilder)>,
    error: StringBuilder,
}

impl AccessColumns {
    fn new(fields: Vec<(String, Field)>) -> Self {
        let fields = fields.into_iter();
        Self {
            method: BinaryBuilder::new(),
            target: BinaryBuilder::new(),
            fields: fields.map(|(column, field)| (column, field, BinaryBuilder::new())).collect(),
            error: StringBuilder::new(),
        }
    }

    /// A line without a request still has its fields.
    fn append(&mut self, line: Result<&[u8], String>, log: &mut orbgate_log::AccessLog) {
        let line = match line.and_then(|line| log.read(line)) {
            Ok(None) => return,
            Ok(Some(line)) => Ok(line),
            Err(error) => Err(error),
        };
        for (_, field, column) in &mut self.fields {
            let line = line.as_ref().ok();
            column.append_option(line.and_then(|line| line.field(field)));
        }
        let (method, target, error) = match line.and_then(|line| line.call()) {
            Ok(call) => (Some(call.method), Some(call.target), None),
            Err(error) => (None, None, Some(error)),
        };
        self.method.append_option(method);
        self.target.append_option(target);
        self.error.append_option(error);
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let column = |mut column: BinaryBuilder| -> ArrayRef { Arc::new(column.finish()) };
        let mut columns = vec![
            ("method".to_owned(), column(self.method)),
            ("target".to_owned(), column(self.target)),
            ("error".to_owned(), Arc::new(self.error.finish())),
        ];
        let fields = self.fields.into_iter();
        columns.extend(fields.map(|(name, _, field)| (name, column(field))));
        let columns = columns.into_iter().map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}

/// The columns of rows of values.
#[derive(Debug)]
struct DelimitedColumns {
    width: usize,
    fields: Vec<(String, usize, BinaryBuilder)>,
    error: StringBuilder,
}

impl DelimitedColumns {
    fn new(fields: Vec<(String, usize)>, width: usize) -> Self {
        let fields = fields.into_iter();
        Self {
            width,
            fields: fields.map(|(column, position)| (column, position, BinaryBuilder::new())).collect(),
            error: StringBuilder::new(),
        }
    }

    /// A blank line is a row in which every value is empty.
    fn append(&mut self, row: &DelimitedRow, values: &[Cow<'_, [u8]>], line: usize) {
        let is_blank = values.len() == 1 && values.iter().all(|value| value.is_empty());
        let error = match row.diagnostic {
            Some((diagnostic, at)) => Some(diagnostic.message(line.saturating_add(at).saturating_sub(1))),
            None if values.len() == self.width || is_blank => None,
            None => Some(match values.len() {
                1 => format!("1 value where the header has {}", self.width),
                more => format!("{more} values where the header has {}", self.width),
            }),
        };
        for (_, position, column) in &mut self.fields {
            match (&error, values.get(*position)) {
                (Some(_), _) => column.append_null(),
                (None, value) => column.append_value(value.map_or(&[][..], AsRef::as_ref)),
            }
        }
        self.error.append_option(error);
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let error: ArrayRef = Arc::new(self.error.finish());
        let fields = self.fields.into_iter().map(|(name, _, mut column)| {
            let column: ArrayRef = Arc::new(column.finish());
            (name, column, true)
        });
        let columns = fields.chain([("error".to_owned(), error, true)]);
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}
