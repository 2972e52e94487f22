//! Reads and checks arguments.
//!
//! The rest relies on the caller's guarantee in the header's preamble: a pointer that isn't null points
//! to what the parameter describes, for the whole call, and no thread writes to it meanwhile.

use core::ffi::c_char;
use core::mem::{MaybeUninit, size_of};
use core::ptr::NonNull;

use crate::status::{OrStatus, OrbgateStatus};

const INVALID: OrbgateStatus = OrbgateStatus::InvalidArgument;

/// Dereferences a pointer.
#[inline(always)]
pub(crate) unsafe fn shared<'a, T>(pointer: *const T) -> OrStatus<&'a T> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(INVALID);
    }
    // SAFETY: neither null nor misaligned, and the caller guarantees the rest.
    Ok(unsafe { &*pointer })
}

/// Dereferences a pointer; `None` if it is null.
#[inline(always)]
pub(crate) unsafe fn optional<'a, T>(pointer: *const T) -> OrStatus<Option<&'a T>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller guarantees it, as for `shared`.
    unsafe { shared(pointer) }.map(Some)
}

/// Whether pointers are aligned, or null.
pub(crate) fn are_aligned<T>(pointers: &[*const T]) -> bool {
    // Checks all of them, because a processor can compare many at a time.
    let aligned = pointers.iter().map(|pointer| pointer.is_aligned());
    aligned.fold(true, |all, one| all & one)
}

/// The maximum size of an object in bytes. On 64-bit processors, a process has at most 56 bits of address
/// space.
const MOST_BYTES: usize = usize::MAX >> if usize::BITS == 64 { 8 } else { 1 };

/// Whether an array of this length can exist.
#[inline(always)]
fn can_be<T>(len: usize) -> bool {
    let bytes = len.checked_mul(size_of::<T>());
    bytes.is_some_and(|bytes| bytes <= MOST_BYTES)
}

/// An array. A null pointer is valid only if the length is 0.
#[inline(always)]
pub(crate) unsafe fn slice<'a, T>(data: *const T, len: usize) -> OrStatus<&'a [T]> {
    if data.is_null() || !data.is_aligned() || !can_be::<T>(len) {
        return if len == 0 { Ok(&[]) } else { Err(INVALID) };
    }
    // SAFETY: neither null nor misaligned nor too long, and the caller guarantees the rest.
    Ok(unsafe { core::slice::from_raw_parts(data, len) })
}

/// A string of any bytes, including NUL.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(data: *const c_char, len: usize) -> OrStatus<&'a [u8]> {
    // SAFETY: the caller guarantees it, as for `slice`.
    unsafe { slice(data.cast(), len) }
}

/// The address of an output.
#[derive(Debug)]
pub(crate) struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Checks the address without writing.
    #[inline(always)]
    pub(crate) fn new(address: *mut T) -> OrStatus<Self> {
        match NonNull::new(address) {
            Some(address) if address.is_aligned() => Ok(Self(address)),
            _ => Err(INVALID),
        }
    }

    /// Checks the address of an array.
    pub(crate) fn array(address: *mut T, len: usize) -> OrStatus<Self> {
        match can_be::<T>(len) {
            true => Self::new(address),
            false => Err(INVALID),
        }
    }

    /// The address of another element of an array that starts here.
    #[inline(always)]
    pub(crate) const unsafe fn at(&self, index: usize) -> Self {
        // SAFETY: the caller's array has that many elements.
        Self(unsafe { self.0.add(index) })
    }

    /// Writes elements of an array that has room for them.
    #[cfg(feature = "gate")]
    pub(crate) const unsafe fn copy(self, values: &[T])
    where
        T: Copy,
    {
        // SAFETY: neither null nor misaligned; the caller guarantees that they may be written, and that they don't overlap.
        unsafe { self.0.as_ptr().copy_from_nonoverlapping(values.as_ptr(), values.len()) }
    }

    /// Writes the output.
    #[inline(always)]
    pub(crate) const unsafe fn write(self, value: T) {
        // SAFETY: neither null nor misaligned; the caller guarantees that it may be written.
        unsafe { self.0.write(value) }
    }
}

/// A struct that begins with `uint32_t struct_size`, which the caller sets to the size that it knows.
/// Later releases add fields at the end. A field that is all zeros means the same as an absent one.
///
/// # Safety
///
/// The type must be `#[repr(C)]`, its first field must be the `u32`, and all zeros must be a valid
/// value.
pub(crate) unsafe trait Sized32: Sized {
    /// Its size in the first release, a literal that never changes. No client has a smaller struct.
    const FIRST_SIZE: usize;
}

/// The size of a struct in the first release, with 64-bit and with 32-bit pointers.
pub(crate) const fn first_size(with_64: usize, with_32: usize) -> usize {
    if usize::BITS == 64 { with_64 } else { with_32 }
}

/// Reads a caller-sized struct.
#[inline(always)]
pub(crate) unsafe fn read_sized<T: Sized32>(pointer: *const T) -> OrStatus<T> {
    // SAFETY: the caller guarantees it.
    let size = unsafe { struct_size(pointer) }?;
    let known = size.min(size_of::<T>());
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: both have at least `known` bytes, and all zeros is a value of `T`.
    let value = unsafe {
        let (from, to) = (pointer.cast::<u8>(), value.as_mut_ptr().cast::<u8>());
        from.copy_to_nonoverlapping(to, known);
        value.assume_init()
    };
    if size > known {
        // SAFETY: the caller's struct has `size` bytes.
        unsafe { read_beyond(pointer.cast(), known, size) }?;
    }
    Ok(value)
}

/// Fields that a newer caller sets but this library doesn't know must not be ignored.
#[cold]
#[inline(never)]
unsafe fn read_beyond(start: *const u8, known: usize, size: usize) -> OrStatus {
    // SAFETY: the caller guarantees it, see `read_sized`.
    let beyond = unsafe { slice(start.wrapping_add(known), size.saturating_sub(known)) }?;
    match beyond.iter().all(|byte| *byte == 0) {
        true => Ok(()),
        false => Err(INVALID),
    }
}

/// Writes a caller-sized struct, up to the size that the caller knows, but not `struct_size`
/// itself.
pub(crate) unsafe fn write_sized<T: Sized32>(address: *mut T, value: &T) -> OrStatus {
    // SAFETY: the caller guarantees it.
    let size = unsafe { struct_size(address) }?;
    let known = size.min(size_of::<T>());
    let from = core::ptr::from_ref(value).cast::<u8>();
    let head = size_of::<u32>();
    // SAFETY: the caller's struct has `size` bytes and ours at least `known`, both more than a u32.
    unsafe {
        let to = address.cast::<u8>();
        from.add(head).copy_to_nonoverlapping(to.add(head), known.saturating_sub(head));
        to.add(known).write_bytes(0, size.saturating_sub(known));
    }
    Ok(())
}

/// The size that a caller sets in its struct.
#[inline(always)]
pub(crate) unsafe fn struct_size<T: Sized32>(pointer: *const T) -> OrStatus<usize> {
    /// No struct in any release is larger.
    const LARGEST: usize = 4096;
    const { assert!(T::FIRST_SIZE <= size_of::<T>(), "it has shrunk") }
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(INVALID);
    }
    // SAFETY: neither null nor misaligned, and every such struct begins with a u32.
    let size = unsafe { pointer.cast::<u32>().read() };
    let size = usize::try_from(size).map_err(|_| INVALID)?;
    // No release ends a struct in the middle of a pointer.
    let whole = size.is_multiple_of(align_of::<T>());
    if size < T::FIRST_SIZE || size > LARGEST || !whole {
        return Err(INVALID);
    }
    Ok(size)
}
