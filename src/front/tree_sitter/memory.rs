//! Memory of tree-sitter's library in C, which is that of the program: so it is counted ([`crate::work::memory`]), and freed by
//! threads that did not allocate it without waiting for each other.
//!
//! In front of each piece stands its size, which the allocator of the program wants back and C does not tell.
//!
//! Deliberately absent: anything but handing on. Sizes for which there can be no memory end the program, as they do elsewhere.

#![expect(unsafe_code, reason = "what a C library calls for memory is unsafe; each function says why it is sound")]

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error, realloc};
use std::ffi::c_void;
use std::sync::Once;
use tree_sitter::{Allocator, set_allocator};

/// Bytes in front of each piece, with its size at their start; the alignment that C expects of any memory.
const HEAD: usize = 16;

/// Makes the library use the memory of the program. Called before it is used for anything else.
pub(super) fn shared() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        let allocator = Allocator { malloc, calloc, realloc: resized, free };
        // SAFETY: the functions are one family, return no null and align to `HEAD`; `call_once` lets no second thread in, and
        // nothing of the library exists yet.
        unsafe { set_allocator(Some(allocator)) }
    });
}

/// The layout of a piece of `size` bytes with its head.
fn layout(size: usize) -> Layout {
    let whole = size.checked_add(HEAD).and_then(|whole| Layout::from_size_align(whole, HEAD).ok());
    whole.unwrap_or_else(|| handle_alloc_error(Layout::new::<u8>()))
}

/// What C is given of memory of that layout.
///
/// # Safety
/// `whole` is null or was allocated by that layout.
unsafe fn headed(whole: *mut u8, layout: Layout) -> *mut c_void {
    if whole.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: there are `HEAD` bytes at least, aligned for a number.
    unsafe {
        whole.cast::<usize>().write(layout.size() - HEAD);
        whole.add(HEAD).cast()
    }
}

/// The memory of a piece, and its layout.
///
/// # Safety
/// `piece` is from [`headed`].
unsafe fn whole(piece: *mut c_void) -> (*mut u8, Layout) {
    // SAFETY: the size stands in front of it.
    unsafe {
        let whole = piece.cast::<u8>().sub(HEAD);
        (whole, layout(whole.cast::<usize>().read()))
    }
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    let layout = layout(size);
    // SAFETY: the layout has a size, that of the head at least.
    unsafe { headed(alloc(layout), layout) }
}

unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let layout = layout(count.saturating_mul(size));
    // SAFETY: as above.
    unsafe { headed(alloc_zeroed(layout), layout) }
}

unsafe extern "C" fn resized(piece: *mut c_void, size: usize) -> *mut c_void {
    if piece.is_null() {
        // SAFETY: it has no conditions.
        return unsafe { malloc(size) };
    }
    let new = layout(size);
    // SAFETY: the library gives back what these functions gave it; the new size has room for the head.
    unsafe {
        let (old, of_old) = whole(piece);
        headed(realloc(old, of_old, new.size()), new)
    }
}

unsafe extern "C" fn free(piece: *mut c_void) {
    if piece.is_null() {
        return;
    }
    // SAFETY: as above, once for each piece.
    unsafe {
        let (whole, layout) = whole(piece);
        dealloc(whole, layout);
    }
}
