//! Old sessions are taken away, a bounded number at a time. A stopped session stays until a person resumes it.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::document::{beside, holds_a_stop};
use super::history;
use super::{Store, cannot};
use crate::domain::Fault;
use crate::host::clock::Now;
use crate::host::lock::{Hold, try_hold};
use crate::host::private;

/// Files looked at in one sweep.
const LOOKED_AT: usize = 4096;
/// A temporary file that is older than this was left by a process that was killed.
const ORPHAN_MS: u64 = 60 * 60 * 1000;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Removes the files of sessions that were not touched for `keep_days`, and says how many files. For the start of a
/// session: it reads a directory.
pub fn sweep(store: &Store, now: Now, keep_days: u32) -> Result<usize, Fault> {
    let dir = store.sessions();
    let entries = private::found(fs::read_dir(&dir)).map_err(|error| cannot(&dir, &error))?;
    let entries = entries.into_iter().flatten();
    let keep_ms = u64::from(keep_days).saturating_mul(DAY_MS);
    let mut removed = 0;
    for entry in entries.flatten().take(LOOKED_AT) {
        let path = entry.path();
        let age = private::untouched_ms(&path, now);
        let gone = if is_temporary(&path) {
            age > ORPHAN_MS && fs::remove_file(&path).is_ok()
        } else if age <= keep_ms {
            false
        } else if path.extension() == Some(OsStr::new("ring")) {
            remove_session(&path, now, keep_ms)
        } else if path.extension() == Some(OsStr::new("json")) {
            // A ring's document goes with its ring; this is for one that has none.
            !path.with_extension("ring").exists() && !holds_a_stop(&path) && fs::remove_file(&path).is_ok()
        } else {
            fs::remove_file(&path).is_ok()
        };
        removed += usize::from(gone);
    }
    Ok(removed)
}

/// Removes a ring and its document under the ring's lock; who waits for that lock sees that the file has no name left.
fn remove_session(ring: &Path, now: Now, keep_ms: u64) -> bool {
    let Ok(file) = private::open(ring, true) else { return false };
    if !matches!(try_hold(&file, Hold::Alone), Ok(true)) {
        return false;
    }
    // Looked at again, under the lock: a call may have come in between.
    if private::untouched_ms(ring, now) <= keep_ms || holds_a_stop(ring) {
        return false;
    }
    let besides = [beside(ring), history::beside(ring)];
    let cleared = besides.iter().all(|path| !path.exists() || fs::remove_file(path).is_ok());
    cleared && fs::remove_file(ring).is_ok()
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.starts_with(".new-") || name.ends_with(".json.new")
}
