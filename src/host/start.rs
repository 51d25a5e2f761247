//! What Rust's own start does before `main`, as far as anything here needs it; `main.rs` has none on Linux.
#![allow(unsafe_code, reason = "the C library's own forms; each block says why it holds")]

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

/// Makes the process fit to work in, and gives its arguments.
///
/// # Safety
/// `words` must point to `count` texts, each ended by a zero.
pub unsafe fn begin(count: c_int, words: *const *const c_char) -> Vec<OsString> {
    streams();
    // SAFETY: to ignore a signal puts no code of ours in place. A reader that goes away is then an error, and no end.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the caller's promise.
    let word = |at: usize| unsafe { CStr::from_ptr(*words.add(at)) };
    (0..count).map(|at| OsStr::from_bytes(word(at).to_bytes()).to_owned()).collect()
}

/// Opens the null device in the place of every standard stream that is closed: no file of ours may get its number.
fn streams() {
    let mut all = [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO].map(|fd| libc::pollfd {
        fd,
        events: 0,
        revents: 0,
    });
    // SAFETY: `all` has three elements, and outlives the call, which does not wait.
    let looked = unsafe { libc::poll(all.as_mut_ptr(), 3, 0) } >= 0;
    for stream in &all {
        // SAFETY: both calls only ask or open, and the name is a constant text.
        unsafe {
            let closed = if looked {
                stream.revents & libc::POLLNVAL != 0
            } else {
                libc::fcntl(stream.fd, libc::F_GETFD) == -1
            };
            if closed && libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) == -1 {
                libc::_exit(2);
            }
        }
    }
}
