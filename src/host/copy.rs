//! `memcpy`, `memmove` and `memcmp` of the static musl build. musl copies every few bytes with a string instruction, whose start costs
//! more than the copy: a tenth of an allowed call; and it compares one byte at a time, which paths with a long beginning in common
//! make expensive. Elsewhere the C library's are used.
#![allow(
    unsafe_code,
    reason = "the C library's own functions are written with pointers; each block says why it holds"
)]

use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};

/// One register, and two.
const WIDE: usize = 16;
const WIDER: usize = 2 * WIDE;
/// From here on the string instruction is the faster way.
const LONG: usize = 2048;

/// # Safety
/// `from` must be readable and `to` writable for `n` bytes, and they must not overlap.
#[cfg(target_env = "musl")]
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    // SAFETY: the caller's promise is the one that is asked for.
    unsafe { forward(to, from, n) };
    to
}

/// # Safety
/// `from` must be readable and `to` writable for `n` bytes.
#[cfg(target_env = "musl")]
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    // Behind the source, or not reaching into it: what is written has been read.
    if (to as usize).wrapping_sub(from as usize) >= n {
        // SAFETY: the caller's promise; forward is right for this order of the two.
        unsafe { forward(to, from, n) };
    } else {
        // SAFETY: as above, backward.
        unsafe { backward(to, from, n) };
    }
    to
}

/// # Safety
/// `a` and `b` must be readable for `n` bytes.
#[cfg(target_env = "musl")]
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: the caller's promise is the one that is asked for.
    unsafe { compare(a, b, n) }
}

/// # Safety
/// `a` and `b` must be readable for `n` bytes.
#[cfg(target_env = "musl")]
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: the caller's promise is the one that is asked for.
    unsafe { compare(a, b, n) }
}

/// Negative, 0 or positive, as the first byte that differs says.
///
/// # Safety
/// `a` and `b` must be readable for `n` bytes.
unsafe fn compare(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: every access lies within `n` bytes of its pointer, by the conditions around it; none asks for alignment.
    unsafe {
        if n >= 8 {
            let mut at = 0;
            loop {
                let x = u64::from_be(a.add(at).cast::<u64>().read_unaligned());
                let y = u64::from_be(b.add(at).cast::<u64>().read_unaligned());
                if x != y || at == n - 8 {
                    return x.cmp(&y) as i32;
                }
                // The last eight may overlap those before, which are the same.
                at = (at + 8).min(n - 8);
            }
        }
        if n >= 4 {
            let of = |from: *const u8| u32::from_be(from.cast::<u32>().read_unaligned());
            let (x, y) = (of(a), of(b));
            let order = if x == y { of(a.add(n - 4)).cmp(&of(b.add(n - 4))) } else { x.cmp(&y) };
            return order as i32;
        }
        let mut at = 0;
        while at < n {
            let (x, y) = (a.add(at).read(), b.add(at).read());
            if x != y {
                return i32::from(x) - i32::from(y);
            }
            at += 1;
        }
    }
    0
}

/// Copies from the front; the two may overlap where `to` lies before `from`.
///
/// # Safety
/// `from` must be readable and `to` writable for `n` bytes.
unsafe fn forward(to: *mut u8, from: *const u8, n: usize) {
    // SAFETY: every access lies within `n` bytes of its pointer, by the conditions around it; none asks for alignment. The last
    // register is read before anything is written.
    unsafe {
        if n < WIDER {
            return short(to, from, n);
        }
        if n >= LONG {
            std::arch::asm!("rep movsb", inout("rcx") n => _, inout("rdi") to => _, inout("rsi") from => _,
                options(nostack, preserves_flags));
            return;
        }
        // Two registers at a time; the last two may overlap those before, and are read before those are written.
        let last = (load(from.add(n - WIDER)), load(from.add(n - WIDE)));
        let mut at = 0;
        while at < n - WIDER {
            let both = (load(from.add(at)), load(from.add(at + WIDE)));
            store(to.add(at), both.0);
            store(to.add(at + WIDE), both.1);
            at += WIDER;
        }
        store(to.add(n - WIDER), last.0);
        store(to.add(n - WIDE), last.1);
    }
}

/// Copies from the back; the two may overlap where `to` lies behind `from`.
///
/// # Safety
/// `from` must be readable and `to` writable for `n` bytes.
unsafe fn backward(to: *mut u8, from: *const u8, n: usize) {
    // SAFETY: as in `forward`; the first register is read before anything is written.
    unsafe {
        if n < 2 * WIDE {
            return short(to, from, n);
        }
        let first = load(from);
        let mut at = n;
        while at > WIDE {
            at -= WIDE;
            store(to.add(at), load(from.add(at)));
        }
        store(to, first);
    }
}

/// Fewer than 32 bytes, which may overlap in any way: all is read before anything is written.
///
/// # Safety
/// `from` must be readable and `to` writable for `n` bytes, fewer than 32.
unsafe fn short(to: *mut u8, from: *const u8, n: usize) {
    // SAFETY: both ends of `n` bytes are read in the largest piece that fits into them.
    unsafe {
        if n >= WIDE {
            let (first, last) = (load(from), load(from.add(n - WIDE)));
            store(to, first);
            store(to.add(n - WIDE), last);
        } else if n >= 8 {
            let first = from.cast::<u64>().read_unaligned();
            let last = from.add(n - 8).cast::<u64>().read_unaligned();
            to.cast::<u64>().write_unaligned(first);
            to.add(n - 8).cast::<u64>().write_unaligned(last);
        } else if n >= 4 {
            let first = from.cast::<u32>().read_unaligned();
            let last = from.add(n - 4).cast::<u32>().read_unaligned();
            to.cast::<u32>().write_unaligned(first);
            to.add(n - 4).cast::<u32>().write_unaligned(last);
        } else if n > 0 {
            let (first, middle, last) = (from.read(), from.add(n / 2).read(), from.add(n - 1).read());
            to.write(first);
            to.add(n / 2).write(middle);
            to.add(n - 1).write(last);
        }
    }
}

/// # Safety
/// 16 bytes must be readable.
unsafe fn load(from: *const u8) -> __m128i {
    // SAFETY: the caller's promise; the load asks for no alignment.
    unsafe { _mm_loadu_si128(from.cast()) }
}

/// # Safety
/// 16 bytes must be writable.
unsafe fn store(to: *mut u8, value: __m128i) {
    // SAFETY: the caller's promise; the store asks for no alignment.
    unsafe { _mm_storeu_si128(to.cast(), value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_every_overlap_is_copied_as_it_should_be() {
        let fresh: Vec<u8> = (0..4200_u32).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect();
        for n in (0..140).chain([255, 256, 257, 511, 600, 2047, 2048, 2049]) {
            for (from, to) in [
                (0, 2100),
                (2100, 0),
                (3, 0),
                (0, 3),
                (17, 1),
                (1, 17),
                (40, 8),
                (8, 40),
                (5, 5),
                (300, 290),
                (290, 300),
            ] {
                let (mut ours, mut theirs) = (fresh.clone(), fresh.clone());
                theirs.copy_within(from..from + n, to);
                let base = ours.as_mut_ptr();
                // SAFETY: both ranges lie in the vector; the direction fits the order of the two.
                unsafe {
                    if to <= from || to >= from + n {
                        forward(base.add(to), base.add(from), n);
                    } else {
                        backward(base.add(to), base.add(from), n);
                    }
                }
                assert_eq!(ours, theirs, "{n} bytes from {from} to {to}");
            }
        }
    }

    #[test]
    fn every_length_is_compared_as_slices_are() {
        let base: Vec<u8> = (0..64).map(|n: u8| n.wrapping_mul(73)).collect();
        for n in 0..=base.len() {
            // SAFETY: both are `n` bytes long at least.
            assert_eq!(unsafe { compare(base.as_ptr(), base.as_ptr(), n) }, 0);
            for at in 0..n {
                for other in [0_u8, 1, 127, 128, 255] {
                    let mut changed = base.clone();
                    changed[at] = other;
                    // SAFETY: as above.
                    let found = unsafe { compare(base.as_ptr(), changed.as_ptr(), n) };
                    assert_eq!(found.cmp(&0), base[..n].cmp(&changed[..n]), "{n} bytes, {other} at {at}");
                }
            }
        }
    }
}
