//! Columns of strings and bitmaps, as Arrow lays them out.

use core::ffi::c_char;

use crate::arguments::slice;
use crate::status::{OrStatus, OrbgateStatus};

/// A column of strings, as Arrow lays out utf8: the string of row `i` is the bytes `offsets[i]` to `offsets[i + 1]`
/// of `data`. There is one offset more than there are rows; offsets never decrease and never exceed
/// `data_len`. The first need not be 0.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OrbgateColumn {
    /// The bytes of all rows, end to end.
    pub data: *const c_char,
    /// How many bytes.
    pub data_len: usize,
    /// Where each row starts, and where the last one ends. Null: no such column.
    pub offsets: *const u32,
}

/// A column that has been checked. Its offsets are `u32`, or `u64` as those of Arrow's large utf8.
pub(crate) struct Texts<'a, O = u32> {
    data: &'a [u8],
    offsets: &'a [O],
}

impl<'a> Texts<'a> {
    pub(crate) unsafe fn read(column: &OrbgateColumn, len: usize) -> OrStatus<Self> {
        // SAFETY: the caller's, see the preamble.
        unsafe {
            let offsets = ends(column.offsets, 0, len)?;
            let data = match len {
                0 => &[],
                _ => slice(column.data.cast(), column.data_len)?,
            };
            Self::checked(data, offsets)
        }
    }
}

/// The offsets of a column.
pub(crate) trait Offset: Copy + Default + Ord {
    const BITS: u32;
}

impl Offset for u32 {
    const BITS: u32 = Self::BITS;
}

impl Offset for u64 {
    const BITS: u32 = Self::BITS;
}

impl<'a, O: Offset> Texts<'a, O>
where
    usize: TryFrom<O>,
{
    /// A column of Arrow's: only its last offset says how long the data is.
    pub(crate) unsafe fn arrow(
        offsets: *const O,
        data: *const u8,
        start: usize,
        len: usize,
    ) -> OrStatus<Self> {
        // SAFETY: the caller's, see the preamble.
        unsafe {
            let offsets = ends(offsets, start, len)?;
            let last = index(offsets.last().copied().unwrap_or_default());
            // Arrow's offsets are signed, and a column with a negative one ends with one, or falls.
            let sign = last.checked_shr(O::BITS.saturating_sub(1));
            if sign.is_some_and(|sign| sign != 0) {
                return Err(OrbgateStatus::InvalidArgument);
            }
            Self::checked(slice(data, last)?, offsets)
        }
    }

    /// Offsets that never decrease and end within the data.
    fn checked(data: &'a [u8], offsets: &'a [O]) -> OrStatus<Self> {
        let last = offsets.last().copied().map(index);
        // To the end: a processor compares many at a time.
        let steps = offsets.iter().zip(offsets.iter().skip(1));
        let falls = steps.fold(false, |falls, (start, end)| falls | (start > end));
        if falls || last.is_some_and(|last| last > data.len()) {
            return Err(OrbgateStatus::InvalidArgument);
        }
        Ok(Self { data, offsets })
    }

    /// The string of a row.
    ///
    /// # Safety
    ///
    /// The column has this row.
    #[inline(always)]
    pub(crate) unsafe fn of(&self, row: usize) -> &'a [u8] {
        // SAFETY: there is one offset more than there are rows, and `checked` has seen that they do not decrease
        // and end within the data.
        unsafe {
            let (start, end) = (
                *self.offsets.get_unchecked(row),
                *self.offsets.get_unchecked(row.wrapping_add(1)),
            );
            self.data.get_unchecked(index(start)..index(end))
        }
    }
}

/// The offsets of `len` rows from `start` on: one more than there are rows, none for no row.
unsafe fn ends<'a, T>(offsets: *const T, start: usize, len: usize) -> OrStatus<&'a [T]> {
    const INVALID: OrbgateStatus = OrbgateStatus::InvalidArgument;
    if len == 0 {
        return Ok(&[]);
    }
    let count = len
        .checked_add(1)
        .and_then(|count| count.checked_add(start));
    // SAFETY: the caller's, see the preamble.
    let offsets = unsafe { slice(offsets, count.ok_or(INVALID)?) }?;
    offsets.get(start..).ok_or(INVALID)
}

/// An offset as an index. One that is too large for this machine is beyond any data.
#[inline(always)]
fn index<T>(offset: T) -> usize
where
    usize: TryFrom<T>,
{
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// A bitmap as Arrow's.
pub(crate) struct Bitmap<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl Bitmap<'_> {
    pub(crate) unsafe fn read(
        bytes: *const u8,
        offset: usize,
        len: usize,
    ) -> OrStatus<Option<Self>> {
        if bytes.is_null() {
            return Ok(None);
        }
        let bits = offset
            .checked_add(len)
            .ok_or(OrbgateStatus::InvalidArgument)?;
        // SAFETY: the caller's, see the preamble.
        let bytes = unsafe { slice(bytes, bits.div_ceil(8)) }?;
        Ok(Some(Self { bytes, offset }))
    }

    #[inline(always)]
    pub(crate) fn has(&self, row: usize) -> bool {
        let bit = self.offset.wrapping_add(row);
        let byte = self.bytes.get(bit >> 3);
        byte.is_some_and(|byte| byte >> (bit & 7) & 1 == 1)
    }
}
