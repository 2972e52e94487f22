//! What the calls of a log are about: the values of their templates' parameters. A decision has none of them, because routing is the
//! server's, so only this reads them, from the route of a decision and the target of its call.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef, BinaryArray, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule::stream;
use crate::capsule::{Part, Wanted, parts};
use crate::column::{Column, numbers};
use crate::error::{self, guarded};

/// The most digits of a number that fits 64 bits.
const DIGITS: usize = 18;

/// Columns for anything that supports the Arrow C interface.
#[pyclass(frozen, module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct Columns {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Columns {
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
}

/// For each row of a table with the columns `target` and `route`: the values of the template's parameters (`object`), a digest of them
/// (`key`), and the number at the end of the last one (`number`); null without parameters. `row_key` is a digest of the columns in `same`, which
/// are strings or 64-bit integers. Digests are the same on every machine.
#[pyfunction]
pub(crate) fn objects(data: &Bound<'_, PyAny>, same: Vec<String>) -> PyResult<Columns> {
    guarded(|| {
        let py = data.py();
        let names = ["target", "route"].into_iter().chain(same.iter().map(String::as_str));
        let wanted: Vec<_> = names.map(|name| Wanted { name, required: true }).collect();
        let schema = schema();
        let mut batches = Vec::new();
        for part in parts(data, &wanted)? {
            let batch = py.detach(|| part.and_then(|part| columns(&part, &schema)));
            batches.push(batch.map_err(|error| error::table(py, &error))?);
        }
        Ok(Columns { schema, batches })
    })
}

/// What a name looks like (UTS 39): equal for two names that only differ in letters that look alike.
#[pyfunction]
pub(crate) fn skeleton(name: &str) -> String {
    unicode_security::skeleton(name).collect()
}

fn schema() -> SchemaRef {
    let maybe = |name, kind| Field::new(name, kind, true);
    Arc::new(Schema::new(vec![
        maybe("object", DataType::Binary),
        maybe("key", DataType::Int64),
        maybe("number", DataType::Int64),
        Field::new("row_key", DataType::Int64, false),
    ]))
}

/// A column of strings or of numbers.
enum Field64 {
    Texts(Column),
    Numbers(Int64Array),
}

impl Field64 {
    fn new(data: &arrow_data::ArrayData) -> Result<Self, String> {
        let is_number = *data.data_type() == DataType::Int64;
        let numbers = || numbers::<Int64Type>(data).map(Self::Numbers);
        let read = if is_number { numbers() } else { Column::new(data.clone()).map(Self::Texts) };
        read.ok_or_else(|| format!("no digest is of a column of {}", data.data_type()))
    }

    fn digest(&self, row: usize, digest: Digest) -> Digest {
        match self {
            Self::Texts(texts) => digest.value(texts.get(row)),
            Self::Numbers(numbers) => {
                let is_there = row < numbers.len() && numbers.is_valid(row);
                digest.value(is_there.then(|| numbers.value(row).to_le_bytes()).as_ref().map(<[u8; 8]>::as_slice))
            }
        }
    }
}

fn columns(part: &Part, schema: &SchemaRef) -> Result<RecordBatch, String> {
    let mut given = part.columns.iter().flatten();
    let mut text = || given.next().cloned().and_then(Column::new);
    let (Some(target), Some(route)) = (text(), text()) else {
        return Err("`target` and `route` must contain strings".to_owned());
    };
    let same = given.map(Field64::new).collect::<Result<Vec<_>, _>>()?;
    let mut templates: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    let mut objects: Vec<Option<Vec<u8>>> = Vec::with_capacity(part.rows);
    let (mut keys, mut ends, mut row_keys) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..part.rows {
        let route = route.get(row).unwrap_or_default();
        if !templates.contains_key(route) {
            templates.insert(route.to_vec(), parameters(route));
        }
        let object = target.get(row).zip(templates.get(route)).and_then(|(target, at)| values(target, at));
        keys.push(object.as_ref().map(|object| Digest::START.value(Some(route)).value(Some(object)).end()));
        ends.push(object.as_deref().and_then(number));
        row_keys.push(same.iter().fold(Digest::START, |digest, column| column.digest(row, digest)).end());
        objects.push(object);
    }
    let object: BinaryArray = objects.iter().map(Option::as_deref).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(object),
        Arc::new(Int64Array::from(keys)),
        Arc::new(Int64Array::from(ends)),
        Arc::new(Int64Array::from(row_keys)),
    ];
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(|error: ArrowError| error.to_string())
}

/// The positions of a template's parameters among its segments.
fn parameters(route: &[u8]) -> Vec<usize> {
    let segments = segments(route).enumerate();
    segments.filter(|(_, segment)| segment.starts_with(b"{")).map(|(at, _)| at).collect()
}

/// The segments after the first `/`, without the query.
fn segments(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let path = text.split(|byte| *byte == b'?').next().unwrap_or_default();
    path.split(|byte| *byte == b'/').skip(1)
}

/// The segments of a target at some positions, joined.
fn values(target: &[u8], at: &[usize]) -> Option<Vec<u8>> {
    let mut wanted = at.iter().copied().peekable();
    wanted.peek()?;
    let mut joined = Vec::new();
    for (position, segment) in segments(target).enumerate() {
        if wanted.next_if_eq(&position).is_some() {
            if !joined.is_empty() {
                joined.push(b'/');
            }
            joined.extend_from_slice(segment);
        }
    }
    wanted.peek().is_none().then_some(joined)
}

/// The number at the end of an object.
fn number(object: &[u8]) -> Option<i64> {
    let digits = object.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let start = object.len().saturating_sub(digits.min(DIGITS));
    str::from_utf8(object.get(start..)?).ok()?.parse().ok()
}

/// A digest of 64 bits: FNV-1a, with its bits mixed at the end.
#[derive(Clone, Copy)]
struct Digest(u64);

impl Digest {
    const START: Self = Self(0xcbf2_9ce4_8422_2325);

    /// With a value, so that no two values can pass for one.
    fn value(self, value: Option<&[u8]>) -> Self {
        let length = value.map_or(u64::MAX, |value| u64::try_from(value.len()).unwrap_or(u64::MAX));
        let bytes = length.to_le_bytes();
        let bytes = bytes.iter().chain(value.unwrap_or_default());
        Self(bytes.fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    const fn end(self) -> i64 {
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        i64::from_le_bytes((mixed ^ (mixed >> 31)).to_le_bytes())
    }
}
