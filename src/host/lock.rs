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
/// Longest pause where the lock is held for microseconds: who sleeps for longer finds it taken again by those who came later.
const BRIEF_US: u64 = 200;

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

/// Takes the lock, trying for about `wait_ms`: `false` = it could not be had. Closing the file gives it back.
pub(super) fn hold(file: &File, hold: Hold, wait_ms: u64) -> io::Result<bool> {
    tried(file, hold, wait_ms, PAUSE_US.1)
}

/// The same for a lock that many take in turn and nobody holds for longer than a write.
pub(super) fn hold_briefly(file: &File, hold: Hold, wait_ms: u64) -> io::Result<bool> {
    tried(file, hold, wait_ms, BRIEF_US)
}

fn tried(file: &File, hold: Hold, wait_ms: u64, longest: u64) -> io::Result<bool> {
    let mut pause = PAUSE_US.0;
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
