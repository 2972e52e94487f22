//! Columns of strings and flags in any Arrow encoding, and the tables that contain them.

use core::fmt;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, FixedSizeListArray, GenericListArray,
    LargeBinaryArray, LargeStringArray, OffsetSizeTrait, PrimitiveArray, StringArray, StringViewArray,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;

use crate::capsule::{Part, Wanted};
use crate::text::joined;

/// Strings, each belonging to a row or to an entry of a dictionary.
#[derive(Debug)]
enum Texts {
    Utf8(StringArray),
    LargeUtf8(LargeStringArray),
    Utf8View(StringViewArray),
    Binary(BinaryArray),
    LargeBinary(LargeBinaryArray),
    BinaryView(BinaryViewArray),
    /// Only nulls.
    Null,
}

impl Texts {
    fn new(data: ArrayData) -> Option<Self> {
        Some(match data.data_type() {
            DataType::Utf8 => Self::Utf8(data.into()),
            DataType::LargeUtf8 => Self::LargeUtf8(data.into()),
            DataType::Utf8View => Self::Utf8View(data.into()),
            DataType::Binary => Self::Binary(data.into()),
            DataType::LargeBinary => Self::LargeBinary(data.into()),
            DataType::BinaryView => Self::BinaryView(data.into()),
            DataType::Null => Self::Null,
            _ => return None,
        })
    }

    /// The string at a position; `None` if it is null or after the end.
    #[inline]
    fn get(&self, at: usize) -> Option<&[u8]> {
        match self {
            Self::Utf8(texts) => there(texts, at).then(|| texts.value(at).as_bytes()),
            Self::LargeUtf8(texts) => there(texts, at).then(|| texts.value(at).as_bytes()),
            Self::Utf8View(texts) => there(texts, at).then(|| texts.value(at).as_bytes()),
            Self::Binary(texts) => there(texts, at).then(|| texts.value(at)),
            Self::LargeBinary(texts) => there(texts, at).then(|| texts.value(at)),
            Self::BinaryView(texts) => there(texts, at).then(|| texts.value(at)),
            Self::Null => None,
        }
    }
}

#[inline]
fn there(array: &impl Array, at: usize) -> bool {
    at < array.len() && array.is_valid(at)
}

/// A column of strings.
#[derive(Debug)]
pub(crate) enum Column {
    /// One string for every row.
    Constant(Vec<u8>),
    Plain(Plain),
    Coded(Coded),
}

/// A separate string for each row.
#[derive(Debug)]
pub(crate) struct Plain {
    texts: Texts,
}

/// A dictionary: codes for a few distinct strings.
#[derive(Debug)]
pub(crate) struct Coded {
    keys: Box<dyn Keys>,
    /// The number of entries, which is also the code of null.
    entries: u32,
    texts: Texts,
}

/// The keys of a dictionary, of any width.
trait Keys: fmt::Debug + Send + Sync {
    /// The code of a row.
    fn code(&self, row: usize, entries: u32) -> u32;

    /// Appends the codes of the rows starting at `start` to the positions of their combinations.
    fn append(&self, start: usize, entries: u32, positions: &mut [u32]);
}

impl<K: ArrowDictionaryKeyType> Keys for PrimitiveArray<K>
where
    K::Native: TryInto<u32>,
{
    fn code(&self, row: usize, entries: u32) -> u32 {
        let key = there(self, row).then(|| self.value(row));
        key.map_or(entries, |key| code(key, entries))
    }

    fn append(&self, start: usize, entries: u32, positions: &mut [u32]) {
        let keys = self.values().get(start..).unwrap_or_default();
        let base = entries.wrapping_add(1);
        match self.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => {
                for (position, key) in positions.iter_mut().zip(keys) {
                    *position = position.wrapping_mul(base).wrapping_add(code(*key, entries));
                }
            }
            Some(_) => {
                for (position, row) in positions.iter_mut().zip(start..) {
                    let code = self.code(row, entries);
                    *position = position.wrapping_mul(base).wrapping_add(code);
                }
            }
        }
    }
}

/// A key as a code. A key that has no entry is null.
#[inline(always)]
fn code<K: TryInto<u32>>(key: K, entries: u32) -> u32 {
    key.try_into().map_or(entries, |code| code.min(entries))
}

impl Column {
    /// A column of strings in any Arrow encoding.
    pub(crate) fn new(data: ArrayData) -> Option<Self> {
        let DataType::Dictionary(key, _) = data.data_type() else {
            let texts = Texts::new(data)?;
            return Some(Self::Plain(Plain { texts }));
        };
        let keys = keys(key, &data)?;
        let values = data.child_data().first()?.clone();
        let entries = u32::try_from(values.len()).ok()?;
        let texts = Texts::new(values)?;
        Some(Self::Coded(Coded { keys, entries, texts }))
    }

    /// A column of scopes: strings, or lists of strings.
    fn of_scopes(data: ArrayData) -> Option<Self> {
        match data.data_type() {
            DataType::List(_) => Self::of_lists(&GenericListArray::<i32>::from(data)),
            DataType::LargeList(_) => Self::of_lists(&GenericListArray::<i64>::from(data)),
            DataType::FixedSizeList(..) => {
                let lists = FixedSizeListArray::from(data);
                let size = usize::try_from(lists.value_length()).ok()?;
                let ends = (0..=lists.len()).map(|row| row.saturating_mul(size));
                Self::join(lists.values(), lists.nulls(), ends)
            }
            _ => Self::new(data),
        }
    }

    fn of_lists<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> Option<Self> {
        let ends = lists.value_offsets().iter().map(|offset| offset.as_usize());
        Self::join(lists.values(), lists.nulls(), ends)
    }

    /// Joins the items of each list. A list extends from one offset to the next.
    fn join(items: &ArrayRef, nulls: Option<&NullBuffer>, mut ends: impl Iterator<Item = usize>) -> Option<Self> {
        let items = Self::new(items.to_data())?;
        let mut texts = LargeBinaryBuilder::new();
        let mut start = ends.next()?;
        for (row, end) in ends.enumerate() {
            let list = start..end;
            let is_null = nulls.is_some_and(|nulls| nulls.is_null(row));
            texts.append_option((!is_null).then(|| joined(list.filter_map(|item| items.get(item)))));
            start = end;
        }
        let texts = Texts::LargeBinary(texts.finish());
        Some(Self::Plain(Plain { texts }))
    }

    /// The string of a row; `None` if it is null.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Constant(text) => Some(text),
            Self::Plain(plain) => plain.texts.get(row),
            Self::Coded(coded) => {
                let code = coded.keys.code(row, coded.entries);
                coded.texts.get(index(code))
            }
        }
    }

    /// The number of codes, including that of null; `None` for a column without codes.
    pub(crate) const fn code_count(&self) -> Option<u32> {
        match self {
            Self::Constant(_) => Some(1),
            Self::Plain(_) => None,
            Self::Coded(coded) => coded.entries.checked_add(1),
        }
    }

    /// The code of a row.
    #[inline]
    pub(crate) fn code(&self, row: usize) -> u32 {
        match self {
            Self::Constant(_) | Self::Plain(_) => 0,
            Self::Coded(coded) => coded.keys.code(row, coded.entries),
        }
    }

    /// The string for a code.
    pub(crate) fn text(&self, code: u32) -> Option<&[u8]> {
        match self {
            Self::Constant(text) => Some(text),
            Self::Plain(_) => None,
            Self::Coded(coded) => coded.texts.get(index(code)),
        }
    }

    /// Appends the codes of the rows starting at `start` to the positions of their combinations.
    pub(crate) fn append(&self, start: usize, positions: &mut [u32]) {
        if let Self::Coded(coded) = self {
            coded.keys.append(start, coded.entries, positions);
        }
    }
}

fn keys(key: &DataType, data: &ArrayData) -> Option<Box<dyn Keys>> {
    fn of<K: ArrowDictionaryKeyType>(data: &ArrayData) -> Option<Box<dyn Keys>>
    where
        K::Native: TryInto<u32>,
    {
        Some(Box::new(numbers::<K>(data)?))
    }
    match key {
        DataType::Int8 => of::<Int8Type>(data),
        DataType::Int16 => of::<Int16Type>(data),
        DataType::Int32 => of::<Int32Type>(data),
        DataType::Int64 => of::<Int64Type>(data),
        DataType::UInt8 => of::<UInt8Type>(data),
        DataType::UInt16 => of::<UInt16Type>(data),
        DataType::UInt32 => of::<UInt32Type>(data),
        DataType::UInt64 => of::<UInt64Type>(data),
        _ => None,
    }
}

/// The numbers in a column's first buffer.
pub(crate) fn numbers<N: ArrowPrimitiveType>(data: &ArrayData) -> Option<PrimitiveArray<N>> {
    let numbers = data.buffers().first()?.clone();
    let numbers = ScalarBuffer::new(numbers, data.offset(), data.len());
    Some(PrimitiveArray::new(numbers, data.nulls().cloned()))
}

/// A position as an index: `usize` is at least as wide.
#[expect(clippy::as_conversions, reason = "no integer is lost, and `From` does not know")]
#[inline(always)]
pub(crate) const fn index(position: u32) -> usize {
    position as usize
}

/// The strings that count as true and as false, in any letter case.
pub(crate) const TRUE: [&str; 3] = ["true", "yes", "1"];
pub(crate) const FALSE: [&str; 4] = ["false", "no", "0", ""];

/// A column of flags; null counts as false.
#[derive(Debug)]
pub(crate) enum Flags {
    Constant(bool),
    Column(BooleanArray),
}

impl Flags {
    /// A column of strings as flags. The error is the first string that isn't a flag.
    fn of_texts(column: &Column, rows: usize) -> Result<Self, String> {
        let flags = (0..rows).map(|row| {
            let text = String::from_utf8_lossy(column.get(row).unwrap_or_default());
            let is = |word: &&str| word.eq_ignore_ascii_case(text.trim());
            match (TRUE.iter().any(is), FALSE.iter().any(is)) {
                (true, _) => Ok(true),
                (_, true) => Ok(false),
                _ => Err(text.chars().take(60).collect()),
            }
        });
        let flags: Vec<bool> = flags.collect::<Result<_, String>>()?;
        Ok(Self::Column(flags.into()))
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> bool {
        match self {
            Self::Constant(flag) => *flag,
            Self::Column(flags) => there(flags, row) && flags.value(row),
        }
    }
}

/// The names of a table's columns, and the values for columns that it lacks.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) kind: Given<Vec<u8>>,
    pub(crate) scopes: Given<Vec<u8>>,
    pub(crate) bonus: Given<bool>,
    /// A column of strings by which rows are grouped.
    pub(crate) by: Option<String>,
}

impl Layout {
    /// The columns to read, in the order in which [`Requests::new`] expects them.
    pub(crate) fn wanted(&self) -> Vec<Wanted<'_>> {
        let required = |name| Some(Wanted { name, required: true });
        let (method, target) = (required(self.method.as_str()), required(&self.target));
        let (kind, scopes) = (self.kind.wanted(), self.scopes.wanted());
        let by = self.by.as_deref().and_then(required);
        let wanted = [method, target, kind, scopes, self.bonus.wanted(), by];
        wanted.into_iter().flatten().collect()
    }
}

/// A column of the table, or one value for all rows.
#[derive(Debug)]
pub(crate) enum Given<T> {
    /// A column with this name. If it isn't required, it can be absent.
    Column(String, bool),
    Value(T),
}

impl<T> Given<T> {
    fn wanted(&self) -> Option<Wanted<'_>> {
        match self {
            Self::Column(name, required) => Some(Wanted { name, required: *required }),
            Self::Value(_) => None,
        }
    }
}

/// The requests in a part of a table.
#[derive(Debug)]
pub(crate) struct Requests {
    pub(crate) rows: usize,
    pub(crate) method: Column,
    pub(crate) target: Column,
    pub(crate) kind: Column,
    pub(crate) scopes: Column,
    pub(crate) bonus: Flags,
    pub(crate) by: Option<Column>,
}

impl Requests {
    /// The columns that, together with the flag, determine a row's decision.
    pub(crate) const fn text_columns(&self) -> [&Column; 4] {
        [&self.method, &self.target, &self.kind, &self.scopes]
    }

    /// Reads the columns of a part of a table. The error names a column of another type.
    pub(crate) fn new(part: Part, layout: &Layout) -> Result<Self, String> {
        let Part { rows, nulls, columns } = part;
        let mut columns = columns.into_iter();
        let mut next = || columns.next().flatten();
        let methods = next().ok_or(ABSENT)?;
        let methods = masked(methods, nulls.as_ref())?;
        Ok(Self {
            rows,
            method: text(&layout.method, Some(methods))?,
            target: text(&layout.target, next())?,
            kind: layout.kind.texts(&mut next)?,
            scopes: layout.scopes.scopes(&mut next)?,
            bonus: layout.bonus.flags(&mut next, rows)?,
            by: layout.by.as_ref().map(|name| text(name, next())).transpose()?,
        })
    }
}

/// A requested column exists, or an error was raised before any row.
const ABSENT: &str = "a column is absent";

impl Given<Vec<u8>> {
    fn texts(&self, next: &mut impl FnMut() -> Option<ArrayData>) -> Result<Column, String> {
        match self {
            Self::Value(value) => Ok(Column::Constant(value.clone())),
            Self::Column(name, _) => text(name, next()),
        }
    }

    fn scopes(&self, next: &mut impl FnMut() -> Option<ArrayData>) -> Result<Column, String> {
        let name = match self {
            Self::Value(value) => return Ok(Column::Constant(value.clone())),
            Self::Column(name, _) => name,
        };
        let column = next().ok_or(ABSENT)?;
        let data_type = column.data_type().clone();
        Column::of_scopes(column).ok_or_else(|| wrong(name, "strings or lists of strings", &data_type))
    }
}

impl Given<bool> {
    fn flags(&self, next: &mut impl FnMut() -> Option<ArrayData>, rows: usize) -> Result<Flags, String> {
        let name = match self {
            Self::Value(flag) => return Ok(Flags::Constant(*flag)),
            Self::Column(name, _) => name,
        };
        let Some(column) = next() else {
            return Ok(Flags::Constant(false));
        };
        match column.data_type().clone() {
            DataType::Null => Ok(Flags::Constant(false)),
            DataType::Boolean => Ok(Flags::Column(column.into())),
            data_type => {
                let texts = Column::new(column);
                let texts = texts.ok_or_else(|| wrong(name, "booleans or strings", &data_type))?;
                Flags::of_texts(&texts, rows).map_err(|text| format!("`{name}` is `{text}`, neither true nor false"))
            }
        }
    }
}

fn text(name: &str, column: Option<ArrayData>) -> Result<Column, String> {
    let column = column.ok_or(ABSENT)?;
    let data_type = column.data_type().clone();
    Column::new(column).ok_or_else(|| wrong(name, "strings", &data_type))
}

/// A column of a table whose rows can be null as a whole. Such a row is null in every column.
fn masked(column: ArrayData, rows: Option<&NullBuffer>) -> Result<ArrayData, String> {
    if rows.is_none() || column.data_type() == &DataType::Null {
        return Ok(column);
    }
    let nulls = NullBuffer::union(rows, column.nulls());
    let data = column.into_builder().nulls(nulls).build();
    data.map_err(|error| error.to_string())
}

fn wrong(name: &str, expected: &str, actual: &DataType) -> String {
    format!("column `{name}` must contain {expected}, not {actual}")
}
