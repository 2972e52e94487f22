//! Columns of strings and bitmaps in Arrow's layout.

use core::ffi::c_char;

use crate::arguments::slice;
use crate::status::{OrStatus, OrbgateStatus};

/// Strings in the layout of Arrow's utf8: row `i` is the bytes `offsets[i]` to `offsets[i + 1]` of `data`. Offsets, one
/// more than rows, never decrease and never exceed `data_len`. The first needn't be 0.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OrbgateColumn {
    /// The bytes of all rows, end to end.
    pub data: *const c_char,
    /// The number of bytes.
    pub data_len: usize,
    /// The start of each row, and the end of the last row. Null means that the column is absent.
    pub offsets: *const u32,
}

/// A checked column. Its offsets are `u32`, or `u64` as in Arrow's large utf8.
pub(crate) struct Texts<'a, O = u32> {
    data: &'a [u8],
    offsets: &'a [O],
}

impl<'a> Texts<'a> {
    pub(crate) unsafe fn read(column: &OrbgateColumn, len: usize) -> OrStatus<Self> {
        // SAFETY: the caller guarantees it, see the preamble.
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
    /// An Arrow column. Only its last offset gives the length of the data.
    pub(crate) unsafe fn arrow(offsets: *const O, data: *const u8, start: usize, len: usize) -> OrStatus<Self> {
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe {
            let offsets = ends(offsets, start, len)?;
            let last = index(offsets.last().copied().unwrap_or_default());
            // Arrow's offsets are signed. If one is negative, either the last one is negative or
            // the offsets decrease somewhere.
            let sign = last.checked_shr(O::BITS.saturating_sub(1));
            if sign.is_some_and(|sign| sign != 0) {
                return Err(OrbgateStatus::InvalidArgument);
            }
            Self::checked(slice(data, last)?, offsets)
        }
    }

    /// Checks that offsets never decrease, and that they end within the data.
    fn checked(data: &'a [u8], offsets: &'a [O]) -> OrStatus<Self> {
        let last = offsets.last().copied().map(index);
        // Checks all of them, because a processor can compare many at a time.
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
    /// The column must contain this row.
    #[inline(always)]
    pub(crate) unsafe fn of(&self, row: usize) -> &'a [u8] {
        // SAFETY: there is one more offset than there are rows, and `checked` has verified that they don't
        // decrease and that they end within the data.
        unsafe {
            let (start, end) = (*self.offsets.get_unchecked(row), *self.offsets.get_unchecked(row.wrapping_add(1)));
            self.data.get_unchecked(index(start)..index(end))
        }
    }
}

/// The offsets of `len` rows starting at `start`: one more than there are rows, or none if there
/// are no rows.
unsafe fn ends<'a, T>(offsets: *const T, start: usize, len: usize) -> OrStatus<&'a [T]> {
    const INVALID: OrbgateStatus = OrbgateStatus::InvalidArgument;
    if len == 0 {
        return Ok(&[]);
    }
    let count = len.checked_add(1).and_then(|count| count.checked_add(start));
    // SAFETY: the caller guarantees it, see the preamble.
    let offsets = unsafe { slice(offsets, count.ok_or(INVALID)?) }?;
    offsets.get(start..).ok_or(INVALID)
}

/// An offset as an index. If it is too large for this machine, it exceeds any data.
#[inline(always)]
fn index<T>(offset: T) -> usize
where
    usize: TryFrom<T>,
{
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// A bitmap in Arrow's format.
pub(crate) struct Bitmap<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl Bitmap<'_> {
    pub(crate) unsafe fn read(bytes: *const u8, offset: usize, len: usize) -> OrStatus<Option<Self>> {
        if bytes.is_null() {
            return Ok(None);
        }
        let bits = offset.checked_add(len).ok_or(OrbgateStatus::InvalidArgument)?;
        // SAFETY: the caller guarantees it, see the preamble.
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
