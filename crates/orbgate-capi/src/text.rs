//! Strings that the library returns.

use core::ffi::c_char;
use core::ptr;

/// A string of the library: UTF-8, not NUL-terminated. `data` is null if there is no string. Otherwise it is a valid
/// address, even for an empty string.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OrbgateStr {
    /// The first byte, or null.
    pub data: *const c_char,
    /// The number of bytes.
    pub len: usize,
}

/// The address of every empty string. Rust's own empty strings point to address 1, and Go's runtime aborts if it finds
/// such a pointer on a stack that it moves.
static EMPTY: c_char = 0;

impl OrbgateStr {
    /// No string.
    pub(crate) const NULL: Self = Self { data: ptr::null(), len: 0 };

    pub(crate) const fn new(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    /// Bytes that might not be a string.
    pub(crate) const fn of_bytes(bytes: &[u8]) -> Self {
        let data = if bytes.is_empty() { &raw const EMPTY } else { bytes.as_ptr().cast() };
        Self { data, len: bytes.len() }
    }

    pub(crate) fn optional(text: Option<&str>) -> Self {
        text.map_or(Self::NULL, Self::new)
    }
}
