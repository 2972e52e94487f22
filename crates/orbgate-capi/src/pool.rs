//! The allocator of the WebAssembly module. It reuses freed small blocks at once, which is several times faster than
//! the standard library's search. Blocks keep their size.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use std::alloc::System;

#[cfg(target_family = "wasm")]
#[global_allocator]
static POOL: Pool = Pool([const { UnsafeCell::new(null_mut()) }; CLASSES]);

/// Block sizes are multiples of this, and blocks are aligned to it.
const UNIT: usize = 16;
/// Blocks of up to this many units are reused.
const CLASSES: usize = 64;

/// The lists of free blocks, by size in units, starting at one. Each block begins with the address of the next.
struct Pool([UnsafeCell<*mut u8>; CLASSES]);

// SAFETY: an instance of the module has one thread.
unsafe impl Sync for Pool {}

impl Pool {
    /// The list of blocks of this size; `None` if they aren't reused.
    #[inline(always)]
    fn list(&self, layout: Layout) -> Option<*mut *mut u8> {
        let class = layout.size().checked_sub(1)? / UNIT;
        let list = self.0.get(class)?;
        (layout.align() <= UNIT).then_some(list.get())
    }
}

/// A new block, large enough for every request that its list serves.
#[cold]
#[inline(never)]
unsafe fn fresh(layout: Layout, is_kept: bool) -> *mut u8 {
    let whole = match is_kept {
        true => layout.align_to(UNIT).map_or(layout, |layout| layout.pad_to_align()),
        false => layout,
    };
    // SAFETY: the caller's layout has a size.
    unsafe { System.alloc(whole) }
}

// SAFETY: a block comes from the standard library, and belongs either to its list or to its user. All blocks of a list
// have the list's size. The first bytes of a free block belong to the list.
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

/// Tested natively, where Miri checks each access. The module itself runs in the tests of Go and
/// Node.
#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is freed is kept for the next request of its size, up to the largest that is reused.
    #[test]
    fn a_small_block_is_reused() {
        let pool = Pool([const { UnsafeCell::new(null_mut()) }; CLASSES]);
        for (size, is_small) in [(1, true), (100, true), (1_024, true), (1_025, false)] {
            let layout = Layout::from_size_align(size, 8).unwrap();
            assert_eq!(pool.list(layout).is_some(), is_small, "{size}");
            // SAFETY: the piece is given back with its layout; what the list keeps has the size of its units.
            unsafe {
                let piece = pool.alloc(layout);
                pool.dealloc(piece, layout);
                if is_small {
                    assert_eq!(*pool.list(layout).unwrap(), piece);
                    let whole = size.next_multiple_of(UNIT);
                    System.dealloc(piece, Layout::from_size_align(whole, UNIT).unwrap());
                }
            }
        }
    }

    proptest! {
        /// Blocks keep their contents while others are allocated, grown, shrunk and freed.
        #[test]
        fn nobody_has_the_memory_of_another(
            steps in prop::collection::vec((0..12_usize, 1..2_100_usize, 0..8_u32), 1..60)
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
