//! Arrow data that Python passes in capsules (the Arrow PyCapsule interface). This is the only module with `unsafe`;
//! it moves the C structs out of the capsules. Only requested columns are converted, so other columns of a table can
//! have any type.
#![allow(unsafe_code, reason = "a capsule holds a C struct behind a pointer, and nothing but its name says so")]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::slice;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::error;

/// The capsule names that the interface defines.
pub(crate) const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// A requested column. If it isn't required, it can be absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) name: &'a str,
    pub(crate) required: bool,
}

/// Rows of a table.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) rows: usize,
    /// The rows that are null as a whole.
    pub(crate) nulls: Option<NullBuffer>,
    /// The requested columns, in order; `None` if one is absent.
    pub(crate) columns: Vec<Option<ArrayData>>,
}

/// The consecutive parts of a table.
pub(crate) struct Parts {
    source: Handed,
    /// The position of each requested column, and its type.
    positions: Vec<Option<(usize, DataType)>>,
}

enum Handed {
    Stream(FFI_ArrowArrayStream),
    One(Option<FFI_ArrowArray>),
}

impl Parts {
    /// A part without rows, whose columns have the same types as in all parts.
    pub(crate) fn nothing(&self) -> Part {
        let positions = self.positions.iter().map(Option::as_ref);
        let columns = positions.map(|position| position.map(|(_, data_type)| ArrayData::new_empty(data_type)));
        Part { rows: 0, nulls: None, columns: columns.collect() }
    }
}

impl Iterator for Parts {
    type Item = Result<Part, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let array = match &mut self.source {
            Handed::One(array) => array.take()?,
            Handed::Stream(stream) => match next(stream) {
                // A released array marks the end of a stream.
                Ok(array) if array.is_released() => return None,
                Ok(array) => array,
                Err(error) => return Some(Err(error)),
            },
        };
        Some(part(array, &self.positions))
    }
}

/// The parts of an object with the Arrow C interface. A column that is missing or that occurs twice is an error,
/// before any row is read.
pub(crate) fn parts(data: &Bound<'_, PyAny>, wanted: &[Wanted<'_>]) -> PyResult<Parts> {
    let py = data.py();
    let exported = if let Some(export) = data.getattr_opt("__arrow_c_stream__")? {
        let capsule = handed_over(&export)?.cast_into::<PyCapsule>()?;
        let mut stream = take_stream(&capsule)?;
        let schema = py.detach(|| schema(&mut stream));
        schema.map(|schema| (schema, Handed::Stream(stream)))
    } else if let Some(export) = data.getattr_opt("__arrow_c_array__")? {
        let pair = handed_over(&export)?.cast_into::<PyTuple>()?;
        let schema = pair.get_item(0)?.cast_into::<PyCapsule>()?;
        let array = pair.get_item(1)?.cast_into::<PyCapsule>()?;
        let (schema, array) = take_array(&schema, &array)?;
        Ok((schema, Handed::One(Some(array))))
    } else {
        let name = data.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "expected an object with the Arrow C interface, as the tables of pyarrow, polars, pandas and duckdb are, \
             not {name}"
        )));
    };
    let parts = exported.and_then(|(schema, source)| {
        let positions = positions(&schema, wanted)?;
        Ok(Parts { source, positions })
    });
    parts.map_err(|error| error::table(py, &error))
}

/// The object's export. If it can't be converted to Arrow, such as a pandas column with both numbers and strings,
/// that is an error in the table.
fn handed_over<'py>(export: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = export.py();
    export.call0().map_err(|cause| {
        let is_of_data = cause.is_instance_of::<PyValueError>(py) || cause.is_instance_of::<PyTypeError>(py);
        if !is_of_data {
            return cause;
        }
        let error = error::table(py, &cause.value(py).to_string());
        error.set_cause(py, Some(cause));
        error
    })
}

/// The positions of the requested columns, and their types. Other columns aren't read.
fn positions(schema: &FFI_ArrowSchema, wanted: &[Wanted<'_>]) -> Result<Vec<Option<(usize, DataType)>>, String> {
    if schema.format() != "+s" {
        let data_type = type_of(schema)?;
        return Err(format!("expected a table or a column of structs, not a column of {data_type}"));
    }
    let names: Vec<_> = schema.children().map(FFI_ArrowSchema::name).collect();
    let position = |wanted: &Wanted<'_>| {
        let mut positions = names.iter().enumerate();
        let mut positions = positions.by_ref().filter(|(_, name)| **name == Some(wanted.name));
        match (positions.next(), positions.next()) {
            (Some((at, _)), None) => Ok(Some((at, type_of(schema.child(at))?))),
            // Two columns have the same name, and choosing one would be a guess.
            (Some(_), Some(_)) => Err(format!("there are two columns `{}`", wanted.name)),
            (None, _) if wanted.required => {
                let names: Vec<_> = names.iter().map(|name| name.unwrap_or_default()).collect();
                let names = names.join("`, `");
                let name = wanted.name;
                Err(format!("there is no column `{name}`; the columns are `{names}`"))
            }
            (None, _) => Ok(None),
        }
    };
    wanted.iter().map(position).collect()
}

fn type_of(schema: &FFI_ArrowSchema) -> Result<DataType, String> {
    DataType::try_from(schema).map_err(|_not_known| {
        let (name, format) = (schema.name().unwrap_or_default(), schema.format());
        format!("column `{name}` has a type that is not known here: `{format}`")
    })
}

/// The start of `ArrowArrayStream` of the C interface, up to the last function that is called here. Its layout is
/// frozen; arrow doesn't export it.
#[repr(C)]
struct StreamStart {
    get_schema: Option<Get<FFI_ArrowSchema>>,
    get_next: Option<Get<FFI_ArrowArray>>,
    get_last_error: Option<unsafe extern "C" fn(*mut FFI_ArrowArrayStream) -> *const c_char>,
}

type Get<T> = unsafe extern "C" fn(*mut FFI_ArrowArrayStream, *mut T) -> c_int;

/// The start of `ArrowArray`.
#[repr(C)]
struct ArrayStart {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *const *mut FFI_ArrowArray,
}

fn schema(stream: &mut FFI_ArrowArrayStream) -> Result<FFI_ArrowSchema, String> {
    get(stream, FFI_ArrowSchema::empty(), |start| start.get_schema)
}

fn next(stream: &mut FFI_ArrowArrayStream) -> Result<FFI_ArrowArray, String> {
    get(stream, FFI_ArrowArray::empty(), |start| start.get_next)
}

/// The result of one of a stream's functions, or its error.
fn get<T>(
    stream: &mut FFI_ArrowArrayStream,
    mut value: T,
    function: impl FnOnce(&StreamStart) -> Option<Get<T>>,
) -> Result<T, String> {
    let stream: *mut FFI_ArrowArrayStream = stream;
    // SAFETY: both are the interface's `ArrowArrayStream`, of which this is the start.
    let start = unsafe { &*stream.cast_const().cast::<StreamStart>() };
    let (get, last_error) = (function(start), start.get_last_error);
    let get = get.ok_or("the stream has no functions")?;
    // SAFETY: the stream is not released, and `value` is a struct for it to fill in.
    let code = unsafe { get(stream, &raw mut value) };
    if code == 0 {
        return Ok(value);
    }
    // SAFETY: the last call failed, and the stream was not called since.
    let message = last_error.map(|last_error| unsafe { last_error(stream) });
    let message = message.filter(|message| !message.is_null());
    // SAFETY: a text of C, which lives until the stream is called again.
    let message = message.map(|message| unsafe { CStr::from_ptr(message) }.to_string_lossy());
    let message = message.as_deref().unwrap_or("its producer does not say why");
    Err(format!("the stream failed with code {code}: {message}"))
}

/// Moves the requested columns out of an array of structs, and drops the others with it.
fn part(array: FFI_ArrowArray, positions: &[Option<(usize, DataType)>]) -> Result<Part, String> {
    let (rows, offset) = (array.len(), array.offset());
    let end = offset.saturating_add(rows);
    let mut columns: Vec<Option<ArrayData>> = Vec::with_capacity(positions.len());
    for (nth, position) in positions.iter().enumerate() {
        let Some((at, data_type)) = position else {
            columns.push(None);
            continue;
        };
        let earlier = positions.iter().take(nth).position(|other| other == position);
        let column = match earlier.and_then(|earlier| columns.get(earlier)?.clone()) {
            Some(column) => column,
            // A producer can describe it in any way, because it is empty.
            None if *data_type == DataType::Null => ArrayData::new_null(data_type, rows),
            None => {
                let child = child(&array, *at).filter(|child| child.len() >= end);
                let child = child.ok_or("a column of the table has fewer rows than the table")?;
                // SAFETY: the interface promises that it is of its schema's type.
                let data = unsafe { from_ffi_and_data_type(child, data_type.clone()) };
                let column = data.map_err(|error| error.to_string())?;
                column.slice(offset, rows)
            }
        };
        columns.push(Some(column));
    }
    let nulls = nulls(&array);
    Ok(Part { rows, nulls, columns })
}

/// Moves a child out of an array, which the interface allows.
fn child(array: &FFI_ArrowArray, at: usize) -> Option<FFI_ArrowArray> {
    if at >= array.num_children() {
        return None;
    }
    let start: *const FFI_ArrowArray = array;
    // SAFETY: both are the interface's `ArrowArray`, of which this is the start. There are more children than `at`,
    // each behind a pointer of its producer; a released one is left in its place, which the array's release skips.
    let child = unsafe {
        let children = (*start.cast::<ArrayStart>()).children;
        FFI_ArrowArray::from_raw(children.add(at).read())
    };
    (!child.is_released()).then_some(child)
}

/// The rows of an array of structs that are null as a whole.
fn nulls(array: &FFI_ArrowArray) -> Option<NullBuffer> {
    if array.num_buffers() == 0 || array.null_count_opt() == Some(0) || array.buffer(0).is_null() {
        return None;
    }
    let bits = array.offset().saturating_add(array.len());
    // SAFETY: the first buffer of an array has a bit for each row after its offset.
    let bytes = unsafe { slice::from_raw_parts(array.buffer(0), bits.div_ceil(8)) };
    let buffer = BooleanBuffer::new(Buffer::from(bytes), array.offset(), array.len());
    Some(NullBuffer::new(buffer))
}

/// Moves a stream out of its capsule. A stream that was already read is an error, not an empty stream.
fn take_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<FFI_ArrowArrayStream> {
    let stream = capsule.pointer_checked(Some(STREAM))?.cast();
    // SAFETY: a capsule of this name holds a valid `ArrowArrayStream`, as the interface promises; it is moved
    // out, which leaves a released one behind, and the interpreter's lock, or that of a producer without it,
    // keeps others from the capsule meanwhile.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    if stream.release().is_none() {
        let message = "the stream has been read before, and can be read only once";
        return Err(error::table(capsule.py(), message));
    }
    Ok(stream)
}

/// Moves an array and its schema out of their capsules.
fn take_array(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyResult<(FFI_ArrowSchema, FFI_ArrowArray)> {
    let py = schema.py();
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast();
    let array = array.pointer_checked(Some(ARRAY))?.cast();
    // SAFETY: as above, an `ArrowSchema` and an `ArrowArray`.
    let (schema, array) =
        unsafe { (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr())) };
    if array.is_released() || schema.release().is_none() {
        let message = "the array has been read before, and can be read only once";
        return Err(error::table(py, message));
    }
    Ok((schema, array))
}

/// Batches as a stream of Arrow's C interface.
pub(crate) fn stream(py: Python<'_>, batches: Vec<RecordBatch>, schema: SchemaRef) -> PyResult<Bound<'_, PyCapsule>> {
    let batches = batches.into_iter().map(Ok::<_, ArrowError>);
    let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, schema)));
    PyCapsule::new_with_value(py, stream, STREAM)
}
