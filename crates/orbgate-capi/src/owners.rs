//! What callers own by counted references: engines, scope sets and handles.

use std::sync::Arc;

use crate::status::guard;

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
