//! Arrow data that Python hands over in capsules (the Arrow PyCapsule interface): the one module with
//! `unsafe`, which moves the C structs out of them. What comes in is read with the arrow crate's own reader.
#![allow(
    unsafe_code,
    reason = "a capsule holds a C struct behind a pointer, and nothing but its name says so"
)]

use core::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayRef, make_array};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::error;

/// The names that the interface gives to its capsules.
pub(crate) const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// Arrays that come one after the other.
pub(crate) enum Arrays {
    Stream(ArrayStreamReader),
    One(Option<ArrayRef>),
}

impl Iterator for Arrays {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Stream(stream) => stream.next(),
            Self::One(array) => array.take().map(Ok),
        }
    }
}

/// The arrays of an object with the Arrow C interface.
pub(crate) fn arrays(data: &Bound<'_, PyAny>) -> PyResult<Arrays> {
    let py = data.py();
    if let Some(export) = data.getattr_opt("__arrow_c_stream__")? {
        let capsule = export.call0()?.cast_into::<PyCapsule>()?;
        let stream = take_stream(&capsule)?;
        let stream = py.detach(|| ArrayStreamReader::try_new(stream));
        return stream
            .map(Arrays::Stream)
            .map_err(|error| error::table(py, &error.to_string()));
    }
    if let Some(export) = data.getattr_opt("__arrow_c_array__")? {
        let pair = export.call0()?.cast_into::<PyTuple>()?;
        let schema = pair.get_item(0)?.cast_into::<PyCapsule>()?;
        let array = pair.get_item(1)?.cast_into::<PyCapsule>()?;
        return Ok(Arrays::One(Some(take_array(&schema, &array)?)));
    }
    let found = data.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "expected an object with the Arrow C interface, as the tables of pyarrow, polars, pandas and duckdb are, \
         not {found}"
    )))
}

/// Moves a stream out of its capsule. A stream that was read before is an error, not one without rows.
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
fn take_array(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<ArrayRef> {
    let py = schema.py();
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast();
    let array = array.pointer_checked(Some(ARRAY))?.cast();
    // SAFETY: as above, an `ArrowSchema` and an `ArrowArray`.
    let (schema, array) = unsafe {
        (
            FFI_ArrowSchema::from_raw(schema.as_ptr()),
            FFI_ArrowArray::from_raw(array.as_ptr()),
        )
    };
    if array.is_released() || schema.release().is_none() {
        let message = "the array has been read before, and can be read only once";
        return Err(error::table(py, message));
    }
    // SAFETY: the interface promises that the schema is the array's own.
    let data = unsafe { from_ffi(array, &schema) };
    data.map(make_array)
        .map_err(|error| error::table(py, &error.to_string()))
}
