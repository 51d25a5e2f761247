//! The allocator of the binary: a fixed arena first, the system's allocator when that is full. An ordinary hook call lives for a
//! fifth of a millisecond, allocates about two thousand small blocks and frees little that would be used again. What a long call
//! or many calls in one process free is used again, by its size.
//!
//! Static musl, some two thousand small allocations (valgrind, strace): with musl's own allocator 2.9 million instructions and 137
//! system calls, with the dlmalloc crate 1.15 million and 17, with this one 0.73 million and 16.
#![allow(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait; each block says why it holds")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// What the arena has behind it: the system's allocator, by itself where the system bounds what a process takes.
#[cfg(target_os = "linux")]
static BEHIND: System = System;
#[cfg(not(target_os = "linux"))]
pub(super) static BEHIND: Bounded = Bounded::new();

/// Bytes in the arena. Those that are not used cost nothing; those that are used are not given back to the system.
const SIZE: usize = 1 << 23;
/// A block larger than this, or aligned to more than [`ALIGN`], is the system's affair.
const LARGEST: usize = 1 << 18;
const ALIGN: usize = 64;
/// Blocks begin and end at multiples of this.
const GRAIN: usize = 8;
/// Free blocks are kept by size up to this one.
const KEPT: usize = 1024;
/// Before so much is used, no small block is kept: a short call has ended by then.
const EARLY: usize = 1 << 18;
/// How many larger free blocks are kept.
const LARGE: usize = 8;

#[repr(C, align(64))]
struct Bytes(UnsafeCell<[u8; SIZE]>);

/// A bump allocator over one block of memory, with the system's allocator behind it. It is the first thread's that asks for memory; what
/// other threads ask for is the system's affair. An operation that the processor does at once for all threads costs as much as
/// thirty others, and all threads but one are those that wait for a child's output.
pub struct Arena {
    bytes: Bytes,
    /// Whether it is a thread's, whose [`OWNED`] says so. Only that thread changes what is below.
    taken: AtomicBool,
    /// Everything from here on is free.
    next: AtomicUsize,
    /// The first free block of each size, whose first bytes say where the next one is.
    free: [AtomicPtr<u8>; KEPT / GRAIN + 1],
    /// Larger free blocks, and how many bytes they have.
    large: [(AtomicPtr<u8>, AtomicUsize); LARGE],
}

thread_local! {
    /// Where the arena lies that is this thread's.
    static OWNED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: a part of `bytes` belongs to whoever was given it by `next`, and to nobody else until it is given back. What says so is
// only read and written by the owner.
unsafe impl Sync for Arena {}

impl Default for Arena {
    fn default() -> Arena {
        Arena::new()
    }
}

impl Arena {
    pub const fn new() -> Arena {
        Arena {
            bytes: Bytes(UnsafeCell::new([0; SIZE])),
            taken: AtomicBool::new(false),
            next: AtomicUsize::new(0),
            free: [const { AtomicPtr::new(null_mut()) }; KEPT / GRAIN + 1],
            large: [const { (AtomicPtr::new(null_mut()), AtomicUsize::new(0)) }; LARGE],
        }
    }

    /// Whether the arena is this thread's, as it is the first one's that asks.
    #[inline]
    fn is_mine(&self) -> bool {
        OWNED.get() == std::ptr::from_ref(self).addr() || self.claim()
    }

    #[cold]
    fn claim(&self) -> bool {
        let is_first = !self.taken.swap(true, Ordering::Relaxed);
        if is_first {
            OWNED.set(std::ptr::from_ref(self).addr());
        }
        is_first
    }

    /// Where in the arena a block lies; none = it is the system's.
    #[inline]
    fn place(&self, block: *mut u8) -> Option<usize> {
        let at = block.addr().wrapping_sub(self.bytes.0.get().addr());
        (at < SIZE).then_some(at)
    }

    /// What nearly every request is: a small block, free or new, of this thread's arena.
    #[inline]
    fn take_small(&self, layout: Layout) -> Option<*mut u8> {
        if OWNED.get() != std::ptr::from_ref(self).addr() || layout.size() > KEPT || layout.align() > GRAIN {
            return None;
        }
        self.reuse(layout.size()).or_else(|| self.bump(layout.size()))
    }

    /// A block of the arena, free or new, or nothing when it does not fit.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        if !self.is_mine() {
            return None;
        }
        if layout.size() > KEPT || layout.align() > GRAIN {
            return self.take_large(layout);
        }
        self.reuse(layout.size()).or_else(|| self.bump(layout.size()))
    }

    /// Any other request: a large block, the first of a thread, one that does not fit.
    #[cold]
    #[inline(never)]
    fn alloc_otherwise(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`, which alone calls this.
        self.take(layout).unwrap_or_else(|| unsafe { BEHIND.alloc(layout) })
    }

    /// Takes back a small block of this thread's arena; `false` = it is none.
    #[inline]
    fn give_small(&self, block: *mut u8, size: usize) -> bool {
        let at = block.addr().wrapping_sub(self.bytes.0.get().addr());
        if at >= SIZE || size > KEPT || OWNED.get() != std::ptr::from_ref(self).addr() {
            return false;
        }
        if !self.move_end(at + room(size), at) {
            self.keep(block, size);
        }
        true
    }

    /// Takes back any other block.
    #[cold]
    #[inline(never)]
    fn dealloc_otherwise(&self, block: *mut u8, layout: Layout) {
        match self.place(block) {
            Some(at) => {
                // What another thread frees stays as it is: no more than what a child was started with.
                if self.is_mine() && !self.move_end(at + room(layout.size()), at) {
                    self.keep(block, layout.size());
                }
            }
            // SAFETY: as in `dealloc`, which alone calls this: a block outside the arena came from the system, with this layout.
            None => unsafe { BEHIND.dealloc(block, layout) },
        }
    }

    #[cold]
    fn take_large(&self, layout: Layout) -> Option<*mut u8> {
        if layout.size() > LARGEST || layout.align() > ALIGN {
            return None;
        }
        let next = self.next.load(Ordering::Relaxed);
        let free = if layout.align() <= GRAIN { self.reuse_large(layout.size()) } else { None };
        free.or_else(|| {
            self.next.store(next.next_multiple_of(layout.align()), Ordering::Relaxed);
            self.bump(layout.size())
        })
    }

    /// A new block of the arena, or nothing when it does not fit.
    #[inline]
    fn bump(&self, size: usize) -> Option<*mut u8> {
        let from = self.next.load(Ordering::Relaxed);
        let to = from + room(size);
        if to > SIZE {
            return None;
        }
        self.next.store(to, Ordering::Relaxed);
        Some(self.bytes.0.get().cast::<u8>().wrapping_add(from))
    }

    /// Nothing small is kept yet, and nothing could have been.
    #[inline]
    fn is_early(&self) -> bool {
        self.next.load(Ordering::Relaxed) < EARLY
    }

    /// A free block of this size, where one is kept.
    #[inline]
    fn reuse(&self, size: usize) -> Option<*mut u8> {
        if self.is_early() {
            return None;
        }
        let first = self.free.get(room(size) / GRAIN)?;
        let block = first.load(Ordering::Relaxed);
        if block.is_null() {
            return None;
        }
        // SAFETY: `keep` put the block here and wrote to it where the next one is; nobody has it until it is taken from here.
        first.store(unsafe { block.cast::<*mut u8>().read() }, Ordering::Relaxed);
        Some(block)
    }

    /// A large block that is not much larger than what is asked for: a text of ten kilobytes is copied a dozen times, and each time new
    /// pages cost more than the copy.
    fn reuse_large(&self, size: usize) -> Option<*mut u8> {
        let wanted = room(size);
        let fits = |size: &AtomicUsize| (wanted..=2 * wanted).contains(&size.load(Ordering::Relaxed));
        let (block, size) = self.large.iter().find(|(_, size)| fits(size))?;
        size.store(0, Ordering::Relaxed);
        Some(block.load(Ordering::Relaxed))
    }

    /// Keeps a block of the arena that is free from now on.
    #[inline]
    fn keep(&self, block: *mut u8, size: usize) {
        if size > KEPT {
            return self.keep_large(block, room(size));
        }
        if self.is_early() {
            return;
        }
        let Some(first) = self.free.get(room(size) / GRAIN) else { return };
        // SAFETY: nobody has the block any more, and it has at least `GRAIN` bytes, aligned to that.
        unsafe { block.cast::<*mut u8>().write(first.load(Ordering::Relaxed)) };
        first.store(block, Ordering::Relaxed);
    }

    /// Keeps a large block in the place of the smallest one.
    #[cold]
    fn keep_large(&self, block: *mut u8, room: usize) {
        let smallest = self.large.iter().min_by_key(|(_, size)| size.load(Ordering::Relaxed));
        if let Some((place, size)) = smallest.filter(|(_, size)| size.load(Ordering::Relaxed) < room) {
            place.store(block, Ordering::Relaxed);
            size.store(room, Ordering::Relaxed);
        }
    }

    /// Moves the end of the last block: `false` = it is not the last one any more.
    #[inline]
    fn move_end(&self, end: usize, to: usize) -> bool {
        let is_last = to <= SIZE && self.next.load(Ordering::Relaxed) == end;
        if is_last {
            self.next.store(to, Ordering::Relaxed);
        }
        is_last
    }
}

/// The bytes that a block of this size takes up.
const fn room(size: usize) -> usize {
    // A size is at most `isize::MAX`: nothing overflows.
    size.wrapping_add(GRAIN - 1) & !(GRAIN - 1)
}

// SAFETY: `bump` gives out parts of the arena that do not overlap, each with all of its room: `next` only ever goes back to the start
// of a block that reaches up to it, when its owner frees it, so nothing behind `next` is in use. A block that is freed otherwise
// is kept by the room of its size at most, and given out once, to one of no more room. All other blocks are the system's, told
// apart by their address. All that is changed without regard to other threads is changed by the arena's own. Nothing here panics.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.take_small(layout) {
            Some(block) => block,
            None => self.alloc_otherwise(layout),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(block) => {
                // SAFETY: the block is `layout.size()` bytes that are the caller's alone from now on. It may have been used.
                unsafe { block.write_bytes(0, layout.size()) };
                block
            }
            // SAFETY: as in `alloc`.
            None => unsafe { BEHIND.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !self.give_small(block, layout.size()) {
            self.dealloc_otherwise(block, layout);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(at) = self.place(block) else {
            // SAFETY: a block outside the arena came from the system, with this layout.
            return unsafe { BEHIND.realloc(block, layout, size) };
        };
        let is_mine = self.is_mine();
        if is_mine && size <= LARGEST && self.move_end(at + room(layout.size()), at + room(size)) {
            return block;
        }
        if size <= room(layout.size()) {
            return block;
        }
        let Ok(larger) = Layout::from_size_align(size, layout.align()) else {
            return null_mut();
        };
        // SAFETY: `larger` is a valid layout of a size above zero; both blocks are the caller's, do not overlap, and
        // have at least `layout.size()` bytes.
        unsafe {
            let moved = self.alloc(larger);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(block, layout.size());
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

/// The system's allocator, up to a bound on all that it gave and was not given back, in bytes.
pub struct Bounded {
    most: AtomicUsize,
    given: AtomicUsize,
}

impl Default for Bounded {
    fn default() -> Bounded {
        Bounded::new()
    }
}

impl Bounded {
    /// One without a bound yet.
    pub const fn new() -> Bounded {
        Bounded { most: AtomicUsize::new(usize::MAX), given: AtomicUsize::new(0) }
    }

    /// From here on no more than that is given: whoever asks for it gets nothing.
    pub fn bound(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Counts so many bytes, and then asks the system; what it does not give is not counted.
    fn counted(&self, bytes: usize, ask: impl FnOnce() -> *mut u8) -> *mut u8 {
        let before = self.given.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.checked_add(bytes).is_some_and(|all| all <= self.most.load(Ordering::Relaxed));
        let block = if fits { ask() } else { null_mut() };
        if block.is_null() {
            self.given.fetch_sub(bytes, Ordering::Relaxed);
        }
        block
    }
}

// SAFETY: every block is the system's, given, changed and taken back with the layout that the caller has to know. Nothing here panics.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        self.counted(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        self.counted(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { System.dealloc(block, layout) };
        self.given.fetch_sub(layout.size(), Ordering::Relaxed);
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (before, more) = (layout.size(), size.saturating_sub(layout.size()));
        // SAFETY: as the caller says.
        let moved = self.counted(more, || unsafe { System.realloc(block, layout, size) });
        if !moved.is_null() {
            self.given.fetch_sub(before.saturating_sub(size), Ordering::Relaxed);
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn what_is_over_the_bound_is_not_given_and_not_counted() {
        static BOUNDED: Bounded = Bounded::new();
        // SAFETY: the blocks are live and have those layouts.
        unsafe {
            let block = BOUNDED.alloc(layout(600, 8));
            BOUNDED.bound(1000);
            assert!(
                BOUNDED.alloc(layout(401, 1)).is_null() && BOUNDED.alloc_zeroed(layout(401, 1)).is_null()
            );
            assert!(BOUNDED.realloc(block, layout(600, 8), 1001).is_null());
            let larger = BOUNDED.realloc(block, layout(600, 8), 1000);
            assert!(!larger.is_null() && BOUNDED.alloc(layout(1, 1)).is_null());
            let smaller = BOUNDED.realloc(larger, layout(1000, 8), 100);
            let other = BOUNDED.alloc_zeroed(layout(900, 1));
            assert!(!other.is_null() && BOUNDED.alloc(layout(1, 1)).is_null());
            BOUNDED.dealloc(smaller, layout(100, 8));
            BOUNDED.dealloc(other, layout(900, 1));
        }
        assert_eq!(BOUNDED.given.load(Ordering::Relaxed), 0);
    }

    /// Blocks of many sizes and alignments from many threads, grown, shrunk and freed in mixed order: each keeps what was
    /// written to it.
    #[test]
    fn blocks_do_not_overlap() {
        static ARENA: Arena = Arena::new();
        let work = |seed: u64| {
            let mut state = seed;
            let mut random = |below: u64| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                usize::try_from((state >> 33) % below).unwrap()
            };
            let mut held: Vec<(*mut u8, Layout, u8)> = Vec::new();
            for step in 0..4000_u32 {
                let mark = u8::try_from(step % 251).unwrap();
                if held.len() < 64 && random(3) > 0 {
                    let size = if random(50) == 0 { LARGEST + random(9) } else { 1 + random(400) };
                    let layout = layout(size, 1 << random(8));
                    // SAFETY: the size is above zero, and writing stays inside the block.
                    unsafe {
                        let zeroed = random(2) == 0;
                        let block = if zeroed { ARENA.alloc_zeroed(layout) } else { ARENA.alloc(layout) };
                        assert!(!block.is_null() && block.addr().is_multiple_of(layout.align()));
                        assert!(!zeroed || (0..size).all(|at| *block.add(at) == 0), "not zeroed");
                        block.write_bytes(mark, size);
                        held.push((block, layout, mark));
                    }
                } else if !held.is_empty() {
                    // The last one often, as programs do.
                    let which = if random(2) == 0 { held.len() - 1 } else { random(held.len() as u64) };
                    let (block, old, mark) = held.swap_remove(which);
                    // SAFETY: the block is live and has that layout.
                    unsafe {
                        assert!((0..old.size()).all(|at| *block.add(at) == mark), "overwritten");
                        if random(2) == 0 {
                            ARENA.dealloc(block, old);
                        } else {
                            let size = 1 + random(800);
                            let moved = ARENA.realloc(block, old, size);
                            assert!((0..size.min(old.size())).all(|at| *moved.add(at) == mark), "lost");
                            moved.write_bytes(mark, size);
                            held.push((moved, layout(size, old.align()), mark));
                        }
                    }
                }
            }
            for (block, layout, mark) in held {
                // SAFETY: the block is live and has that layout.
                unsafe {
                    assert!((0..layout.size()).all(|at| *block.add(at) == mark), "overwritten");
                    ARENA.dealloc(block, layout);
                }
            }
        };
        std::thread::scope(|scope| (1..5).for_each(|seed| drop(scope.spawn(move || work(seed)))));
    }

    #[test]
    fn the_last_block_grows_in_place_and_is_used_again() {
        static ARENA: Arena = Arena::new();
        // SAFETY: the blocks are live and have those layouts.
        unsafe {
            let first = ARENA.alloc(layout(10, 1));
            let grown = ARENA.realloc(first, layout(10, 1), 1000);
            assert_eq!(grown, first);
            let second = ARENA.alloc(layout(8, 8));
            assert_ne!(ARENA.realloc(first, layout(1000, 1), 2000), first);
            ARENA.dealloc(second, layout(8, 8));
        }
        let before = ARENA.next.load(Ordering::Relaxed);
        // SAFETY: as above.
        unsafe {
            let block = ARENA.alloc(layout(64, 1));
            ARENA.dealloc(block, layout(64, 1));
        }
        assert_eq!(ARENA.next.load(Ordering::Relaxed), before);
    }

    #[test]
    fn what_does_not_fit_is_the_systems() {
        static ARENA: Arena = Arena::new();
        // SAFETY: the block is live and has that layout.
        unsafe {
            for big in [layout(LARGEST + 1, 1), layout(8, 4096)] {
                let block = ARENA.alloc(big);
                assert!(!block.is_null() && ARENA.place(block).is_none());
                ARENA.dealloc(block, big);
            }
        }
        let count = (0..SIZE / 1024 + 10).filter(|_| ARENA.bump(1024).is_some()).count();
        assert_eq!(count, SIZE / 1024);
    }

    #[test]
    fn what_is_freed_is_used_again_by_its_size() {
        static ARENA: Arena = Arena::new();
        // SAFETY: the blocks are live and have those layouts.
        unsafe {
            let early = ARENA.alloc(layout(40, 8));
            let after = ARENA.alloc(layout(40, 8));
            ARENA.dealloc(early, layout(40, 8));
            assert_ne!(ARENA.alloc(layout(40, 8)), early, "kept before it is of use");
            while ARENA.next.load(Ordering::Relaxed) < EARLY {
                ARENA.alloc(layout(LARGEST / 8, 1));
            }
            ARENA.dealloc(after, layout(40, 8));
            assert_ne!(ARENA.alloc(layout(41, 1)), after);
            assert_ne!(ARENA.alloc(layout(40, 16)), after);
            assert_eq!(ARENA.alloc(layout(33, 1)), after);
            assert_ne!(ARENA.alloc(layout(33, 1)), after);
        }
    }

    #[test]
    fn other_threads_are_given_the_systems_memory() {
        static ARENA: Arena = Arena::new();
        // SAFETY: the blocks are live and have those layouts.
        unsafe {
            let own = ARENA.alloc(layout(16, 8));
            assert!(ARENA.place(own).is_some());
            let other = std::thread::spawn(|| {
                let block = ARENA.alloc(layout(16, 8));
                assert!(ARENA.place(block).is_none());
                block.addr()
            });
            let other = std::ptr::with_exposed_provenance_mut::<u8>(other.join().unwrap());
            other.write_bytes(1, 16);
            ARENA.dealloc(other, layout(16, 8));
        }
    }

    #[test]
    fn large_blocks_are_used_again_from_the_beginning() {
        static ARENA: Arena = Arena::new();
        // SAFETY: the blocks are live and have those layouts.
        unsafe {
            let first = ARENA.alloc(layout(10_000, 1));
            let behind = ARENA.alloc(layout(8, 1));
            ARENA.dealloc(first, layout(10_000, 1));
            assert_ne!(ARENA.alloc(layout(4_000, 1)), first, "half of it would be lost");
            let again = ARENA.alloc(layout(9_000, 8));
            assert_eq!(again, first);
            assert_ne!(ARENA.alloc(layout(9_000, 8)), first);
            ARENA.dealloc(behind, layout(8, 1));
        }
    }
}
