//! The process: everything is in the library.
#![cfg_attr(all(target_os = "linux", not(test)), no_main)]

#[global_allocator]
static ARENA: lazaret::host::alloc::Arena = lazaret::host::alloc::Arena::new();

/// What the C library calls. Rust's own start and end make eleven system calls more, for a guard of the stack that `host::guard` has
/// in its own way.
#[cfg(all(target_os = "linux", not(test)))]
#[allow(unsafe_code, reason = "the name that the C library calls, with the arguments in its form")]
#[unsafe(no_mangle)]
extern "C" fn main(count: std::ffi::c_int, words: *const *const std::ffi::c_char) -> std::ffi::c_int {
    // SAFETY: the C library gives as many words as it says, each ended by a zero and never freed.
    let args = unsafe { lazaret::host::start::begin(count, words) };
    lazaret::cli::run(&args).into()
}

/// Other systems start Rust's way.
#[cfg(any(not(target_os = "linux"), test))]
fn main() -> std::process::ExitCode {
    lazaret::cli::run(&std::env::args_os().collect::<Vec<_>>()).into()
}
