//! Where what was taken back is kept: in lazaret's own state, out of the person's work tree.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::domain::FaultKind;
use crate::host::clock::Now;
use crate::host::private;

const DIR: &str = "aside";

/// Takes what is at a path away, and gives the name under which it is kept. What cannot be moved to the state directory (a directory
/// on another file system) stays beside its place under a name that no client reads.
pub fn away(path: &Path, state: &Path, now: Now) -> io::Result<PathBuf> {
    let dir = state.join(DIR);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let kept = private::dir(FaultKind::State, state).and_then(|()| private::dir(FaultKind::State, &dir));
    if kept.is_ok() {
        let place = free(&dir.join(format!("{}-{name}", now.unix_ms)));
        if moved(path, &place).is_ok() {
            return Ok(place);
        }
    }
    let place = free(&path.with_file_name(format!("{name}.lazaret-aside-{}", now.unix_ms)));
    fs::rename(path, &place)?;
    Ok(place)
}

/// Moves a file or link, also to another file system; a directory on the same one only.
pub fn moved(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let meta = fs::symlink_metadata(from)?;
            if meta.is_symlink() {
                symlink(fs::read_link(from)?, to)?;
            } else if meta.is_file() {
                fs::copy(from, to)?;
                fs::set_permissions(to, Permissions::from_mode(meta.permissions().mode()))?;
            } else {
                return Err(error);
            }
            fs::remove_file(from)
        }
        done => done,
    }
}

/// The first name that is not taken, with a number at its end if need be.
fn free(path: &Path) -> PathBuf {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    };
    let is_free = |path: &PathBuf| fs::symlink_metadata(path).is_err();
    std::iter::once(path.to_owned())
        .chain((1..100).map(numbered))
        .find(is_free)
        .unwrap_or_else(|| path.to_owned())
}
