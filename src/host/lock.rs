//! The one place that takes a file lock (fs2's method names collide with the standard library's, hence the full path).

use std::fs::File;
use std::io;
use std::time::Duration;

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// One holder.
    Alone,
    /// Many readers.
    Shared,
}

/// First and longest pause between two tries.
const PAUSE_US: (u64, u64) = (50, 4_000);

/// Takes the lock if it is free: `false` = somebody else has it.
pub(super) fn try_hold(file: &File, hold: Hold) -> io::Result<bool> {
    let taken = match hold {
        Hold::Alone => fs2::FileExt::try_lock_exclusive(file),
        Hold::Shared => fs2::FileExt::try_lock_shared(file),
    };
    match taken {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error),
    }
}

/// A lock that is given back when this goes, even when a child process that another thread is just starting still has a
/// copy of the descriptor: closing alone would leave the lock with that copy.
#[must_use]
pub(super) struct Held<'a>(&'a File);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // What can't be given back here goes with the descriptor.
        let _left = fs2::FileExt::unlock(self.0);
    }
}

/// Takes the whole lock if it is free, until the answer goes: `None` = somebody else has it.
pub(super) fn held(file: &File) -> io::Result<Option<Held<'_>>> {
    Ok(try_hold(file, Hold::Alone)?.then_some(Held(file)))
}

/// Takes the lock, trying for about `wait_ms`: `false` = it could not be had. Closing the file gives it back.
pub(super) fn hold(file: &File, hold: Hold, wait_ms: u64) -> io::Result<bool> {
    let (mut pause, longest) = PAUSE_US;
    let mut left = wait_ms.saturating_mul(1000);
    loop {
        if try_hold(file, hold)? {
            return Ok(true);
        }
        if left == 0 {
            return Ok(false);
        }
        let rest = pause.min(left);
        std::thread::sleep(Duration::from_micros(rest));
        left -= rest;
        pause = (pause * 2).min(longest);
    }
}
