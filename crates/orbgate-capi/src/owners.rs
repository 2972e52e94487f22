//! Ownership by callers: engines, scope sets and handles are reference counted; all other objects
//! have one owner.

use std::sync::Arc;

use crate::status::guard;

/// Adds an owner to a pointer from `Arc::into_raw`; null for null.
pub(crate) unsafe fn retain<T>(pointer: *const T) -> *mut T {
    let _ = guard(|| {
        if !pointer.is_null() {
            // SAFETY: made by `Arc::into_raw`, and the caller guarantees that it has an owner.
            unsafe { Arc::increment_strong_count(pointer) }
        }
        Ok(())
    });
    pointer.cast_mut()
}

/// Removes an owner. Null is fine.
pub(crate) unsafe fn release<T>(pointer: *mut T) {
    let _ = guard(|| {
        if !pointer.is_null() {
            // SAFETY: made by `Arc::into_raw`, and the caller is an owner.
            drop(unsafe { Arc::from_raw(pointer.cast_const()) });
        }
        Ok(())
    });
}

/// Gives a value to a caller as its only owner.
pub(crate) fn into_owned<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Frees a value that has one owner. Null is fine.
pub(crate) unsafe fn drop_owned<T>(pointer: *mut T) {
    let _ = guard(|| {
        if !pointer.is_null() {
            // SAFETY: made by `into_owned`, and the caller's to free once.
            drop(unsafe { Box::from_raw(pointer) });
        }
        Ok(())
    });
}
