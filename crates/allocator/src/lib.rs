//! mimalloc as a program's allocator.
//!
//! Every block of mimalloc lies at an address that is a multiple of 16, or of its own size where that is
//! less. Who asks for an alignment all the same, as Rust does with each allocation, is given up to 15 bytes
//! more, in a slower way, and often a block of the next size: a twentieth of the instructions of a session,
//! and some of its memory. So only an alignment that is not there anyway is asked for.
//!
//! Invariant: nothing here allocates, keeps anything, or is about heeler.
#![expect(unsafe_code, reason = "Rust takes an allocator as an unsafe trait, and mimalloc is C")]

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc,
    mi_zalloc_aligned,
};

/// What every block of this size or more is aligned to: mimalloc's `MI_MAX_ALIGN_SIZE`.
const ALIGNMENT: usize = 16;

/// The allocator, for `#[global_allocator]`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Allocator;

/// Whether a block of `size` bytes is aligned so without being asked.
const fn is_aligned(size: usize, alignment: usize) -> bool {
    alignment <= ALIGNMENT && alignment <= size
}

// SAFETY: blocks are mimalloc's, of the size that is asked for at least, aligned as asked for, and
// belong to the caller until they are freed. mimalloc takes a block back however it was asked for, never
// unwinds, and says with a null pointer that there is none.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, alignment) = (layout.size(), layout.align());
        // SAFETY: both take any size, and the latter any power of two, which an alignment is.
        let block = unsafe {
            if is_aligned(size, alignment) {
                mi_malloc(size)
            } else {
                mi_malloc_aligned(size, alignment)
            }
        };
        block.cast()
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, alignment) = (layout.size(), layout.align());
        // SAFETY: as in `alloc`.
        let block = unsafe {
            if is_aligned(size, alignment) {
                mi_zalloc(size)
            } else {
                mi_zalloc_aligned(size, alignment)
            }
        };
        block.cast()
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller says that this allocator gave the block and that nobody has it any more.
        unsafe { mi_free(block.cast::<c_void>()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (block, alignment) = (block.cast::<c_void>(), layout.align());
        // SAFETY: the caller says that this allocator gave the block; one that stays where it is was
        // aligned so when it was given.
        let block = unsafe {
            if is_aligned(size, alignment) {
                mi_realloc(block, size)
            } else {
                mi_realloc_aligned(block, size, alignment)
            }
        };
        block.cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_keep_what_they_hold() {
        let sizes = (1..200).chain([255, 1000, 1024, 1025, 4097, 100_000, 3_000_000]);
        for size in sizes {
            for alignment in [1, 2, 4, 8, 16, 32, 64, 128, 4096] {
                check(size, alignment);
            }
        }
    }

    /// Fills a block, grows it, shrinks it, and looks whether what was in it is there.
    fn check(size: usize, alignment: usize) {
        let layout = Layout::from_size_align(size, alignment).unwrap();
        // SAFETY: the block is written to within its size, and freed once, by the last name it has.
        unsafe {
            let zeroed = Allocator.alloc_zeroed(layout);
            assert_eq!(std::slice::from_raw_parts(zeroed, size), vec![0; size]);
            let block = Allocator.alloc(layout);
            block.write_bytes(7, size);
            let grown = Allocator.realloc(block, layout, size * 3);
            let now = Layout::from_size_align(size * 3, alignment).unwrap();
            let shrunk = Allocator.realloc(grown, now, size.div_ceil(2));
            for block in [zeroed, shrunk] {
                assert_eq!(block.addr() % alignment, 0, "{size} bytes at {alignment}");
            }
            let kept = std::slice::from_raw_parts(shrunk, size.div_ceil(2));
            assert_eq!(kept, vec![7; kept.len()]);
            Allocator.dealloc(zeroed, layout);
            Allocator.dealloc(shrunk, layout);
        }
    }
}
