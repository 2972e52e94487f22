//! The module's memory, where the library is WebAssembly: small pieces that were given back are handed out again at once, which takes a
//! fraction of the time of the standard library's search for room. They stay of their size.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use std::alloc::System;

#[cfg(target_family = "wasm")]
#[global_allocator]
static POOL: Pool = Pool([const { UnsafeCell::new(null_mut()) }; CLASSES]);

/// Pieces are multiples of this, and aligned to it.
const UNIT: usize = 16;
/// Pieces of up to that many units are kept.
const CLASSES: usize = 64;

/// The pieces that were given back, by their size in units, from one on: each begins with the address of the next.
struct Pool([UnsafeCell<*mut u8>; CLASSES]);

// SAFETY: an instance of the module has one thread.
unsafe impl Sync for Pool {}

impl Pool {
    /// The list of pieces of this size; `None` where they are not kept.
    #[inline(always)]
    fn list(&self, layout: Layout) -> Option<*mut *mut u8> {
        let class = layout.size().checked_sub(1)? / UNIT;
        let list = self.0.get(class)?;
        (layout.align() <= UNIT).then_some(list.get())
    }
}

/// A new piece, large enough for each that its list is for.
#[cold]
#[inline(never)]
unsafe fn fresh(layout: Layout, is_kept: bool) -> *mut u8 {
    let whole = match is_kept {
        true => layout
            .align_to(UNIT)
            .map_or(layout, |layout| layout.pad_to_align()),
        false => layout,
    };
    // SAFETY: the caller's layout has a size.
    unsafe { System.alloc(whole) }
}

// SAFETY: a piece is the standard library's, and stays in its list or with who has it: a list's pieces all have the size of the list. The
// first bytes of one that nobody has are the list's.
unsafe impl GlobalAlloc for Pool {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let list = self.list(layout);
        // SAFETY: see above.
        unsafe {
            match list {
                Some(list) if !(*list).is_null() => {
                    let piece = *list;
                    *list = *piece.cast::<*mut u8>();
                    piece
                }
                _ => fresh(layout, list.is_some()),
            }
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        // SAFETY: see above.
        unsafe {
            match self.list(layout) {
                Some(list) => {
                    *piece.cast::<*mut u8>() = *list;
                    *list = piece;
                }
                None => System.dealloc(piece, layout),
            }
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see above; the caller's size is one that a layout can have.
        unsafe {
            let other = Layout::from_size_align_unchecked(size, layout.align());
            match (self.list(layout), self.list(other)) {
                (None, None) => System.realloc(piece, layout, size),
                (before, after) if before == after => piece,
                _ => {
                    let moved = self.alloc(other);
                    if !moved.is_null() {
                        core::ptr::copy_nonoverlapping(piece, moved, layout.size().min(size));
                        self.dealloc(piece, layout);
                    }
                    moved
                }
            }
        }
    }
}

/// Natively, where Miri sees each access: the module's own runs are in the tests of Go and Node.
#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Pieces keep what they have while others are taken, grown, shrunk and given back.
        #[test]
        fn nobody_has_the_memory_of_another(
            steps in prop::collection::vec((0..12_usize, 1..2_100_usize, 0..6_u32), 1..60)
        ) {
            let pool = Pool([const { UnsafeCell::new(null_mut()) }; CLASSES]);
            let mut pieces = [const { None::<(*mut u8, Layout)> }; 12];
            for (at, size, align) in steps {
                let mark = u8::try_from(at).unwrap();
                let new = Layout::from_size_align(size, 1 << align).unwrap();
                // SAFETY: each piece is used with the layout that it was last given, and given back once.
                unsafe {
                    pieces[at] = match pieces[at] {
                        None => Some((pool.alloc(new), new)),
                        Some((piece, layout)) if layout.align() == new.align() => {
                            let moved = pool.realloc(piece, layout, size);
                            for byte in 0..layout.size().min(size) {
                                prop_assert_eq!(*moved.add(byte), mark);
                            }
                            Some((moved, new))
                        }
                        Some((piece, layout)) => {
                            for byte in 0..layout.size() {
                                prop_assert_eq!(*piece.add(byte), mark);
                            }
                            pool.dealloc(piece, layout);
                            None
                        }
                    };
                    if let Some((piece, layout)) = pieces[at] {
                        prop_assert!(!piece.is_null() && piece.addr() & layout.align().wrapping_sub(1) == 0);
                        piece.write_bytes(mark, layout.size());
                    }
                }
            }
            // SAFETY: as above; what the lists keep is the standard library's, of the size of its list.
            unsafe {
                for (piece, layout) in pieces.into_iter().flatten() {
                    pool.dealloc(piece, layout);
                }
                for (units, list) in (1..).zip(&pool.0) {
                    while !(*list.get()).is_null() {
                        let piece = *list.get();
                        *list.get() = *piece.cast::<*mut u8>();
                        System.dealloc(piece, Layout::from_size_align(UNIT.wrapping_mul(units), UNIT).unwrap());
                    }
                }
            }
        }
    }
}
