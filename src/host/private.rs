//! Files that are lazaret's own: for their owner only, never reached through a symbolic link, with faults that name them.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::clock::Now;
use crate::domain::{Fault, FaultKind};

/// What every open asks for: no symbolic link, no waiting for a pipe's other end, nothing for a child process.
const ALWAYS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
const OWNER_ONLY: Mode = Mode::RUSR.union(Mode::WUSR);

/// Opens a file that is there.
pub(super) fn open(path: &Path, write: bool) -> io::Result<File> {
    open_as(path, if write { OFlags::RDWR } else { OFlags::RDONLY })
}

/// A new file; there must be none of that name.
pub(super) fn open_new(path: &Path) -> io::Result<File> {
    open_as(path, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)
}

/// Opens a file to add to its end, and makes it if it is missing.
pub(super) fn open_append(path: &Path) -> io::Result<File> {
    open_as(path, OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND)
}

/// Opens a file to read and write, and makes it if it is missing.
pub(super) fn open_make(path: &Path) -> io::Result<File> {
    open_as(path, OFlags::RDWR | OFlags::CREATE)
}

/// Straight to the kernel: musl's own `open` makes a second system call of it.
fn open_as(path: &Path, flags: OFlags) -> io::Result<File> {
    Ok(rustix::fs::open(path, flags | ALWAYS, OWNER_ONLY)?.into())
}

/// Writes a file under another name, `temp`, and renames it to `path`: there is never half of it.
pub(super) fn replace(path: &Path, temp: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open_as(temp, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)?;
    file.write_all(bytes)?;
    fs::rename(temp, path)
}

/// What was found; none where there is nothing.
pub(super) fn found<T>(looked: io::Result<T>) -> io::Result<Option<T>> {
    match looked {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        looked => looked.map(Some),
    }
}

/// The bytes of a file, if it has no more than `max` of them.
pub(super) fn read(file: &mut File, max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= max).then_some(bytes))
}

/// That the file is a file, and ours.
pub(super) fn owned(kind: FaultKind, path: &Path, meta: &Metadata) -> Result<(), Fault> {
    if !meta.is_file() {
        return Err(fault(kind, path, "it is not a file").with_hint("remove it"));
    }
    let me = rustix::process::geteuid().as_raw();
    if meta.uid() == me {
        return Ok(());
    }
    let why = format!("it belongs to user {} and not to {me}", meta.uid());
    Err(fault(kind, path, why).with_hint("remove it"))
}

/// A directory that is there, no symbolic link, our own, and closed to others; made if it is missing.
pub(super) fn dir(kind: FaultKind, dir: &Path) -> Result<(), Fault> {
    let in_vain = |error: io::Error| cannot(kind, dir, &error);
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(in_vain)?;
    let meta = fs::symlink_metadata(dir).map_err(in_vain)?;
    if !meta.is_dir() || meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(fault(kind, dir, "it is not a directory of yours").with_hint("remove it"));
    }
    if meta.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(in_vain)?;
    }
    Ok(())
}

/// How long ago the file was changed; 0 for one from the future, or that is not there.
pub(super) fn untouched_ms(path: &Path, now: Now) -> u64 {
    let changed = fs::symlink_metadata(path).map_or(i64::MAX, |meta| meta.mtime());
    now.unix_ms.saturating_sub(u64::try_from(changed).unwrap_or(0).saturating_mul(1000))
}

/// A fault with the name of the file.
pub(super) fn fault(kind: FaultKind, path: &Path, why: impl Into<String>) -> Fault {
    let what = if kind == FaultKind::Audit { "audit log" } else { "state" };
    Fault::new(kind, format!("{what} {}", path.display()), why)
}

/// What the system said of the file, and what a person can do about it.
pub(super) fn cannot(kind: FaultKind, path: &Path, error: &io::Error) -> Fault {
    let hint = match error.raw_os_error() {
        Some(libc::ELOOP) => {
            return fault(kind, path, "it is a symbolic link").with_hint("remove the link");
        }
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => "make room on that disk",
        Some(libc::EACCES | libc::EPERM | libc::EROFS) => "make it readable and writable for you again",
        _ => return fault(kind, path, error.to_string()),
    };
    fault(kind, path, error.to_string()).with_hint(hint)
}
