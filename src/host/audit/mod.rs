//! The audit log: one JSON line per event, one write per line, files set aside by size and by age. What is in a line has
//! been redacted before it comes here.

mod line;
mod read;

use std::fs;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use rand::TryRng;
use rand::rngs::SysRng;

pub use read::{Filter, Found, Line, Lines, lines};

use super::clock::{self, Now};
use super::lock;
use super::private;
use crate::domain::{AuditEvent, AuditPolicy, Fault, FaultKind};

/// The file that lines are added to.
const CURRENT: &str = "audit.jsonl";
/// The name of a file that was set aside is this, the time, and [`SUFFIX`].
const PREFIX: &str = "audit-";
const SUFFIX: &str = ".jsonl";
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Where the log lies.
pub fn dir(state_dir: &Path) -> PathBuf {
    state_dir.join("audit")
}

/// Adds a line, and gives its id: none = the log is switched off. `dir` is the log's own directory.
pub fn append(
    dir: &Path,
    policy: &AuditPolicy,
    now: Now,
    event: &AuditEvent<'_>,
) -> Result<Option<String>, Fault> {
    if !policy.enabled {
        return Ok(None);
    }
    let id = new_id(now)?;
    let bytes = line::write(&id, now, event)
        .map_err(|error| private::fault(FaultKind::Audit, dir, error.to_string()))?;
    let path = dir.join(CURRENT);
    let mut file = match private::open_append(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private::dir(FaultKind::Audit, dir)?;
            private::open_append(&path)
        }
        opened => opened,
    }
    .map_err(|error| cannot(&path, &error))?;
    // One write, so that lines of other processes stay whole. What does not fit on the disk is a fault, not a retry: a
    // second write could land behind somebody else's line.
    let written = file.write(&bytes).map_err(|error| cannot(&path, &error))?;
    if written < bytes.len() {
        return Err(cannot(&path, &io::Error::from_raw_os_error(libc::ENOSPC)));
    }
    // The line is there, so neither of these can be a fault of this call; the next one tries again.
    if file.stream_position().is_ok_and(|size| size >= policy.max_bytes) {
        let _aside = set_aside(dir, now, |size, _| size >= policy.max_bytes);
    }
    Ok(Some(id))
}

/// Sets the current file aside when it is older than a day, and removes what was set aside more than `retain_days` ago.
/// For the start of a session: it reads a directory. Says how many files were removed.
pub fn sweep(dir: &Path, policy: &AuditPolicy, now: Now) -> Result<usize, Fault> {
    set_aside(dir, now, |_, age_ms| age_ms > DAY_MS)?;
    let keep_ms = u64::from(policy.retain_days).saturating_mul(DAY_MS);
    let mut removed = 0;
    for path in files(dir)? {
        let aside = path.file_name().is_some_and(|name| name != CURRENT);
        // The time of the last line, not of the first: a line is kept for at least that long.
        if aside && private::untouched_ms(&path, now) > keep_ms {
            removed += usize::from(fs::remove_file(&path).is_ok());
        }
    }
    Ok(removed)
}

/// Renames the current file when `due` says so of its size and its age. Only one process does it; a line that another one
/// is just writing goes into the renamed file and is read there.
fn set_aside(dir: &Path, now: Now, due: impl Fn(u64, u64) -> bool) -> Result<(), Fault> {
    let current = dir.join(CURRENT);
    let lock_path = dir.join(".lock");
    if !current.exists() {
        return Ok(());
    }
    let file = private::open_append(&lock_path).map_err(|error| cannot(&lock_path, &error))?;
    let Some(_held) = lock::held(&file).map_err(|error| cannot(&lock_path, &error))? else { return Ok(()) };
    // Under the lock: another process may just have done it.
    let Ok(meta) = fs::symlink_metadata(&current) else { return Ok(()) };
    if !due(meta.len(), now.unix_ms.saturating_sub(read::begun_ms(&current).unwrap_or(now.unix_ms))) {
        return Ok(());
    }
    let time = clock::rfc3339(now.unix_ms).replace([':', '-'], "");
    let mut aside = dir.join(format!("{PREFIX}{time}{SUFFIX}"));
    for number in 1..1000 {
        if !aside.exists() {
            break;
        }
        aside = dir.join(format!("{PREFIX}{time}-{number:03}{SUFFIX}"));
    }
    fs::rename(&current, &aside).map_err(|error| cannot(&current, &error))
}

/// The log's files, oldest first; the current one is the last.
fn files(dir: &Path) -> Result<Vec<PathBuf>, Fault> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(cannot(dir, &error)),
    };
    let is_aside = |name: &str| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
    let mut aside: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_aside))
        .map(|entry| entry.path())
        .collect();
    // The names sort by time: of one millisecond, the one without a number was first (`.` is after `-`, so by stem).
    crate::domain::sort_by_key(&mut aside, |path| path.file_stem().map(std::ffi::OsStr::to_owned));
    let current = dir.join(CURRENT);
    if current.exists() {
        aside.push(current);
    }
    Ok(aside)
}

/// A UUID of version 7: it sorts by time.
fn new_id(now: Now) -> Result<String, Fault> {
    let mut random = [0_u8; 10];
    SysRng
        .try_fill_bytes(&mut random)
        .map_err(|error| Fault::new(FaultKind::Host, "an audit id", format!("no randomness: {error}")))?;
    let id = uuid::Builder::from_unix_timestamp_millis(now.unix_ms, &random).into_uuid();
    Ok(id.hyphenated().to_string())
}

fn cannot(path: &Path, error: &io::Error) -> Fault {
    private::cannot(FaultKind::Audit, path, error)
}
