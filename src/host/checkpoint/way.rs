//! The way to a path, followed name by name through descriptors, so that no symbolic link leads elsewhere; and what is there.

use std::fs::File;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::objects::{self, Objects, Refused};
use super::record::{Stamp, State};
use crate::domain;
use crate::host::files;
use crate::host::index::{ctime, mtime};

/// A directory needs to be passable only, where the system has a way to say so.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASS: OFlags = OFlags::RDONLY;
/// How a directory is opened to work in it, not through a link.
pub(super) const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Why nothing is looked at, or done, beyond a link.
pub(super) const BY_LINK: &str = "a directory on the way to it is a symbolic link now";

/// The way to the last directory that was asked for is kept: most paths lie beside each other.
#[derive(Debug, Default)]
pub(super) struct Way {
    last: Option<(String, OwnedFd)>,
}

impl Way {
    /// The directory of an absolute path, and the last name.
    pub fn to<'p>(&mut self, path: &'p str) -> Result<(BorrowedFd<'_>, &'p str), Errno> {
        let (dir, name) = path.rsplit_once('/').ok_or(Errno::INVAL)?;
        if name.is_empty() || name == "." || name == ".." {
            return Err(Errno::INVAL);
        }
        let fd = match self.last.take() {
            Some((known, fd)) if known == dir => fd,
            Some(_) | None => open(dir)?,
        };
        let kept = self.last.insert((dir.to_owned(), fd));
        Ok((kept.1.as_fd(), name))
    }

    /// What the system says of a path; `None` = nothing is there, or a directory above is missing.
    pub fn stat(&mut self, path: &str) -> Result<Option<Stat>, Errno> {
        let found =
            self.to(path).and_then(|(dir, name)| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW));
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// What is at a path; a file's content goes into `objects`, where they are given.
    pub fn look(&mut self, path: &str, max: u64, objects: Option<&mut Objects>) -> Result<State, Refused> {
        let skipped = |errno: Errno| match errno {
            Errno::LOOP => Ok(State::skipped(BY_LINK)),
            errno => Ok(State::skipped(format!("it cannot be looked at ({errno})"))),
        };
        let stat = match self.stat(path) {
            Ok(Some(stat)) => stat,
            Ok(None) => return Ok(State::Absent),
            // A file stands where a directory was: nothing is below it.
            Err(Errno::NOTDIR) => return Ok(State::Absent),
            Err(errno) => return skipped(errno),
        };
        let mode = files::mode_of(&stat) & 0o7777;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.file(path, max, objects),
            FileType::Directory => Ok(State::Directory { mode }),
            FileType::Symlink => {
                let read =
                    self.to(path).and_then(|(dir, name)| rustix::fs::readlinkat(dir, name, Vec::new()));
                match read.map(std::ffi::CString::into_string) {
                    Ok(Ok(target)) => Ok(State::Symlink { target }),
                    Ok(Err(_)) => Ok(State::skipped("where the link leads is not UTF-8")),
                    Err(errno) => skipped(errno),
                }
            }
            FileType::Socket => Ok(State::Skipped { why: "it is a socket".to_owned(), loss: false }),
            FileType::Fifo => Ok(State::Skipped { why: "it is a FIFO".to_owned(), loss: false }),
            _ => Ok(State::skipped("it is a device")),
        }
    }

    fn file(&mut self, path: &str, max: u64, objects: Option<&mut Objects>) -> Result<State, Refused> {
        let opened = self.to(path).and_then(|(dir, name)| rustix::fs::openat(dir, name, FILE, Mode::empty()));
        let mut file = match opened {
            Ok(fd) => File::from(fd),
            Err(errno) => return Ok(State::skipped(format!("it cannot be read ({errno})"))),
        };
        let stat = |file: &File| rustix::fs::fstat(file).map_err(Refused::source);
        let before = stat(&file)?;
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            return Ok(State::skipped("it was replaced while it was saved"));
        }
        let size = u64::try_from(before.st_size).unwrap_or(u64::MAX);
        if size > max {
            return Ok(State::skipped(format!(
                "it is {}; at most {} of it are saved",
                domain::size(size),
                domain::size(max)
            )));
        }
        let read = match objects {
            Some(objects) => objects.put(&mut file, size),
            None => objects::digest(&mut file, size),
        };
        let digest = match read {
            Ok(digest) => digest,
            Err(Refused::Source(error)) => return Ok(State::skipped(format!("it cannot be read ({error})"))),
            Err(refused @ Refused::Store(_)) => return Err(refused),
        };
        let after = stat(&file)?;
        if stamp(&before) != stamp(&after) {
            return Ok(State::skipped("it was changed while it was saved"));
        }
        Ok(State::File {
            digest,
            mode: files::mode_of(&before) & 0o7777,
            size,
            links: files::links(&before),
            stamp: stamp(&before),
        })
    }
}

/// Which file it is, and when it was last changed.
pub(super) fn stamp(stat: &Stat) -> Stamp {
    let (modified, changed) = (mtime(stat), ctime(stat));
    let inode = i64::try_from(stat.st_ino).unwrap_or(i64::MAX);
    Stamp([inode, stat.st_size, modified.0, modified.1, changed.0, changed.1])
}

/// A directory by its absolute path; a symbolic link on the way is refused.
fn open(dir: &str) -> Result<OwnedFd, Errno> {
    let mut fd = rustix::fs::open("/", PASS | DIRECTORY, Mode::empty())?;
    for name in dir.split('/').filter(|name| !name.is_empty()) {
        if name == "." || name == ".." {
            return Err(Errno::INVAL);
        }
        fd = match rustix::fs::openat(&fd, name, PASS | DIRECTORY, Mode::empty()) {
            Ok(next) => next,
            // Of a link and of a file alike the system says that it is no directory.
            Err(Errno::NOTDIR) if is_link(fd.as_fd(), name) => return Err(Errno::LOOP),
            Err(errno) => return Err(errno),
        };
    }
    Ok(fd)
}

fn is_link(dir: BorrowedFd<'_>, name: &str) -> bool {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}
