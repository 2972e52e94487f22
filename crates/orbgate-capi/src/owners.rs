//! What callers own: by counted references engines, scope sets and handles, alone all else.

use std::sync::Arc;

use crate::status::guard;
#[cfg(feature = "gate")]
use crate::status::{OrStatus, OrbgateStatus};

/// One more owner of what `Arc::into_raw` handed out; null for null.
pub(crate) unsafe fn retain<T>(pointer: *const T) -> *mut T {
    let _ = guard(|| {
        if !pointer.is_null() {
            // SAFETY: made by `Arc::into_raw`, and the caller vouches that it has an owner.
            unsafe { Arc::increment_strong_count(pointer) }
        }
        Ok(())
    });
    pointer.cast_mut()
}

/// One owner less. Null is fine.
pub(crate) unsafe fn release<T>(pointer: *mut T) {
    let _ = guard(|| {
        if !pointer.is_null() {
            // SAFETY: made by `Arc::into_raw`, and an owner of the caller's.
            drop(unsafe { Arc::from_raw(pointer.cast_const()) });
        }
        Ok(())
    });
}

/// What a caller owns alone.
pub(crate) fn into_owned<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Takes over what a caller owned alone.
#[cfg(feature = "gate")]
pub(crate) unsafe fn taken<T>(pointer: *mut T) -> OrStatus<Box<T>> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(OrbgateStatus::InvalidArgument);
    }
    // SAFETY: made by `into_owned`, and the caller's to hand over once.
    Ok(unsafe { Box::from_raw(pointer) })
}

/// Frees what a caller owned alone. Null is fine.
pub(crate) unsafe fn drop_owned<T>(pointer: *mut T) {
    let _ = guard(|| {
        if !pointer.is_null() {
            // SAFETY: made by `into_owned`, and the caller's to free once.
            drop(unsafe { Box::from_raw(pointer) });
        }
        Ok(())
    });
}
