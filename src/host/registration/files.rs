//! Files of others, changed without harm: read whole, backed up, replaced in one step through their links with mode and
//! owner kept, and new directories remembered so that they can go again.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::host_fault;
use crate::domain::{self, Fault, FaultKind};
use crate::host::{hex, private};

/// The largest file of a client that is read.
const MAX_BYTES: u64 = 8 << 20;
/// Links followed from one path.
const MAX_LINKS: usize = 16;

/// The text of the file at `path`; none when there is no file.
pub fn read(path: &Path) -> Result<Option<String>, Fault> {
    let what = || path.display().to_string();
    let size = match fs::metadata(path) {
        Ok(found) if found.is_file() => found.len(),
        Ok(_) => return Err(Fault::new(FaultKind::Host, what(), "it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(host_fault(what(), &error)),
    };
    if size > MAX_BYTES {
        let why = format!("it is {}; at most {} are read", domain::size(size), domain::size(MAX_BYTES));
        return Err(Fault::new(FaultKind::TooLarge, what(), why));
    }
    let bytes = fs::read(path).map_err(|error| host_fault(what(), &error))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            if let [0xff, 0xfe, ..] | [0xfe, 0xff, ..] = error.as_bytes() {
                let wide = Fault::new(FaultKind::Config, what(), "it is UTF-16 text");
                return Err(wide.with_hint("save it as UTF-8"));
            }
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count() + 1;
            Err(Fault::new(FaultKind::Config, what(), format!("line {line}: it is not UTF-8 text")))
        }
    }
}

/// What `path` finally names: links followed, also when what they name is not there yet.
pub fn behind_links(path: &Path) -> Result<PathBuf, Fault> {
    let mut at = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&at) {
            Ok(target) => at = at.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return Ok(at),
        }
    }
    Err(Fault::new(FaultKind::Host, path.display().to_string(), "too many symbolic links"))
}

/// Puts `text` where `path` leads, in one step. A new file gets `mode`; an existing one keeps mode and owner.
pub fn replace(path: &Path, text: &str, mode: u32) -> Result<(), Fault> {
    let target = behind_links(path)?;
    let fault = |error: io::Error| host_fault(path.display().to_string(), &error);
    let (Some(dir), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(Fault::new(FaultKind::Host, path.display().to_string(), "it has no file name"));
    };
    let old = fs::metadata(&target).ok();
    let temporary = dir.join(format!(".{}.lazaret-{}", name.to_string_lossy(), std::process::id()));
    let written =
        write_new(&temporary, text, mode, old.as_ref()).and_then(|()| fs::rename(&temporary, &target));
    if let Err(error) = written {
        // Nothing to do about a temporary file that cannot be removed either; the first error is what counts.
        let _ = fs::remove_file(&temporary);
        return Err(fault(error));
    }
    Ok(())
}

fn write_new(path: &Path, text: &str, mode: u32, like: Option<&fs::Metadata>) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    if let Some(old) = like {
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::fchown(&file, Some(old.uid()), Some(old.gid()))?;
        }
        file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Copies the file at `path` to `<path>.lazaret-backup-<time>` beside it.
pub fn back_up(path: &Path, now: SystemTime) -> Result<PathBuf, Fault> {
    let fault = |error: io::Error| host_fault(format!("the backup of {}", path.display()), &error);
    let bytes = fs::read(path).map_err(fault)?;
    let mode = fs::metadata(path).map_err(fault)?.permissions().mode() & 0o7777;
    let time = humantime::format_rfc3339_seconds(now).to_string().replace(['-', ':'], "");
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".lazaret-backup-{time}"));
    let mut backup = PathBuf::from(&name);
    for more in 1.. {
        match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&backup) {
            Ok(mut file) => {
                file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(fault)?;
                file.set_permissions(fs::Permissions::from_mode(mode)).map_err(fault)?;
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && more < 100 => {
                let mut next = name.clone();
                next.push(format!("-{more}"));
                backup = PathBuf::from(next);
            }
            Err(error) => return Err(fault(error)),
        }
    }
    Ok(backup)
}

/// Makes `dir` and its missing parents with `mode`, and returns those it made, outermost first.
pub fn make_dirs(dir: &Path, mode: u32) -> Result<Vec<PathBuf>, Fault> {
    let missing: Vec<PathBuf> =
        dir.ancestors().take_while(|dir| !dir.exists()).map(Path::to_path_buf).collect();
    let made = fs::DirBuilder::new().recursive(true).mode(mode).create(dir);
    made.map_err(|error| host_fault(dir.display().to_string(), &error))?;
    Ok(missing.into_iter().rev().collect())
}

/// Removes the file that `path` leads to; the path itself only when it is no link.
pub fn remove(path: &Path) -> Result<(), Fault> {
    let target = behind_links(path)?;
    let gone = private::found(fs::remove_file(&target));
    gone.map(drop).map_err(|error| host_fault(path.display().to_string(), &error))
}

/// Removes those of `dirs` that are empty, innermost first.
pub fn remove_empty_dirs(dirs: &[PathBuf]) {
    for dir in dirs.iter().rev() {
        // A directory that is not empty is somebody's by now.
        let _ = fs::remove_dir(dir);
    }
}

/// The SHA-256 of a text, in hexadecimal.
pub fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    hex(&Sha256::digest(text.as_bytes()))
}
