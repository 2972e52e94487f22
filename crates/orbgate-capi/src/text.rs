//! String that the library hands out.

use core::ffi::c_char;
use core::ptr;

/// String of the library: UTF-8, not NUL-terminated. `data` is null where there is no string.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OrbgateStr {
    /// The first byte, or null.
    pub data: *const c_char,
    /// How many bytes.
    pub len: usize,
}

impl OrbgateStr {
    /// No string.
    pub(crate) const NULL: Self = Self {
        data: ptr::null(),
        len: 0,
    };

    pub(crate) const fn new(text: &str) -> Self {
        Self {
            data: text.as_ptr().cast(),
            len: text.len(),
        }
    }

    /// Bytes that may be no string.
    #[cfg(feature = "gate")]
    pub(crate) const fn of_bytes(bytes: &[u8]) -> Self {
        Self {
            data: bytes.as_ptr().cast(),
            len: bytes.len(),
        }
    }

    pub(crate) fn optional(text: Option<&str>) -> Self {
        text.map_or(Self::NULL, Self::new)
    }
}
