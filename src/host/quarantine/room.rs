//! The private directory in which sessions, copies and the register lie: opened and checked anew by every process, read
//! and written relative to its descriptor, with one lock.

use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::beneath;
use crate::domain::{Fault, FaultKind};
use crate::host::dirs::Dirs;
use crate::host::files;
use crate::host::lock::{self, Hold};
use crate::host::private;

/// The directory's name below the run directory.
const NAME: &str = "review";
pub(super) const LOCK: &str = "lock";
/// What is appended to the name of a file while it is being written.
pub(super) const UNFINISHED: &str = ".new";
/// Longest wait for the lock, in milliseconds: well below every deadline.
const WAIT_MS: u64 = 1000;
/// Bits of a mode that give others something.
const OTHERS: u32 = 0o077;

/// The open directory.
#[derive(Debug)]
pub(super) struct Room {
    pub dir: OwnedFd,
    pub path: PathBuf,
}

/// The room's lock, which ends with it.
#[derive(Debug)]
pub(super) struct Locked {
    _file: File,
}

impl Room {
    /// The room, if there is one. Where there is none this is one system call.
    pub fn open(dirs: &Dirs) -> Result<Option<Room>, Fault> {
        let path = dirs.runtime.join(NAME);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(dir) => dir,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(cannot(&path, errno)),
        };
        let stat = rustix::fs::fstat(&dir).map_err(|errno| cannot(&path, errno))?;
        is_ours(&path, &stat)?;
        let above = rustix::fs::lstat(&dirs.runtime).map_err(|errno| cannot(&dirs.runtime, errno))?;
        is_ours(&dirs.runtime, &above)?;
        Ok(Some(Room { dir, path }))
    }

    /// The room, made if it is missing: `None` = a sweep took it away meanwhile.
    pub fn make(dirs: &Dirs) -> Result<Option<Room>, Fault> {
        private::dir(FaultKind::State, &dirs.runtime).map_err(elsewhere)?;
        private::dir(FaultKind::State, &dirs.runtime.join(NAME))?;
        Room::open(dirs)
    }

    /// Takes the lock: `None` = the room was taken away meanwhile.
    pub fn lock(&self) -> Result<Option<Locked>, Fault> {
        self.hold(WAIT_MS)?.map_or(Ok(None), |held| {
            let why = format!("another process has held its lock for {WAIT_MS} ms");
            held.map(Some).ok_or_else(|| {
                Fault::new(FaultKind::Busy, format!("state {}", self.at(LOCK).display()), why)
                    .with_hint("try again; if it stays, look for a hanging lazaret process")
            })
        })
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Result<Option<Locked>, Fault> {
        Ok(self.hold(0)?.flatten())
    }

    /// Outer `None` = the room is gone, inner `None` = somebody else has the lock.
    fn hold(&self, wait_ms: u64) -> Result<Option<Option<Locked>>, Fault> {
        let path = self.at(LOCK);
        // A lock file that a sweep took away between our open and our lock is opened anew.
        for _ in 0..16 {
            let file = match self.open_file(LOCK, OFlags::RDWR | OFlags::CREATE) {
                Ok(file) => file,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(cannot(&path, errno)),
            };
            if !lock::hold(&file, Hold::Alone, wait_ms).map_err(|error| told(&path, &error))? {
                return Ok(Some(None));
            }
            let meta = file.metadata().map_err(|error| told(&path, &error))?;
            if meta.nlink() > 0 {
                private::owned(FaultKind::State, &path, &meta)?;
                return Ok(Some(Some(Locked { _file: file })));
            }
        }
        Err(fault(&path, "it is removed again and again"))
    }

    /// Opens a file of the room, a path relative to it.
    pub fn open_file(&self, rel: &str, flags: OFlags) -> Result<File, Errno> {
        let mode = if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
        beneath::open(&self.dir, rel, flags, mode).map(File::from)
    }

    /// Opens a file that must be ours and closed to others: `None` = there is none.
    pub fn open_checked(&self, rel: &str, flags: OFlags) -> Result<Option<(File, Metadata)>, Fault> {
        let path = self.at(rel);
        let file = match self.open_file(rel, flags) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(cannot(&path, errno)),
        };
        let meta = file.metadata().map_err(|error| told(&path, &error))?;
        private::owned(FaultKind::State, &path, &meta)?;
        closed(&path, meta.permissions().mode())?;
        Ok(Some((file, meta)))
    }

    /// The bytes of a file: `None` = there is none. One that is not ours, open to others or too long is a fault.
    pub fn read(&self, rel: &str, max: u64) -> Result<Option<Vec<u8>>, Fault> {
        let Some((file, meta)) = self.open_checked(rel, OFlags::RDONLY)? else { return Ok(None) };
        let path = self.at(rel);
        // One byte more than it has, so that one read gets it and the next one sees its end.
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len().min(max)).unwrap_or(0) + 1);
        file.take(max + 1).read_to_end(&mut bytes).map_err(|error| told(&path, &error))?;
        if bytes.len() as u64 > max {
            return Err(fault(&path, format!("it is longer than {max} bytes")));
        }
        Ok(Some(bytes))
    }

    /// Replaces a file in one step. The caller holds the lock, so the other name can be fixed.
    pub fn write(&self, rel: &str, bytes: &[u8]) -> Result<(), Fault> {
        let path = self.at(rel);
        let temp = format!("{rel}{UNFINISHED}");
        let mut file = self
            .open_file(&temp, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)
            .map_err(|errno| cannot(&path, errno))?;
        file.write_all(bytes).map_err(|error| told(&path, &error))?;
        rustix::fs::renameat(&self.dir, temp.as_str(), &self.dir, rel).map_err(|errno| cannot(&path, errno))
    }

    /// Makes an empty file, if it is missing.
    pub fn touch(&self, rel: &str) -> Result<(), Fault> {
        let made = self.open_file(rel, OFlags::WRONLY | OFlags::CREATE);
        made.map(drop).map_err(|errno| cannot(&self.at(rel), errno))
    }

    /// Removes a file: `false` = there was none.
    pub fn remove(&self, rel: &str) -> Result<bool, Fault> {
        match rustix::fs::unlinkat(&self.dir, rel, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(cannot(&self.at(rel), errno)),
        }
    }

    /// Overwrites a small secret with zeroes and removes it: `false` = there was none.
    pub fn destroy(&self, rel: &str, length: usize) -> Result<bool, Fault> {
        // What cannot be opened is removed all the same: what counts is that nobody reads it again.
        if let Ok(mut file) = self.open_file(rel, OFlags::WRONLY) {
            let _wiped = file.write_all(&vec![0; length]);
        }
        self.remove(rel)
    }

    pub fn exists(&self, rel: &str) -> bool {
        rustix::fs::statat(&self.dir, rel, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Makes a directory of the room, if it is missing.
    pub fn make_dir(&self, rel: &str) -> Result<(), Fault> {
        match rustix::fs::mkdirat(&self.dir, rel, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(cannot(&self.at(rel), errno)),
        }
    }

    /// The names in a directory of the room, at most `max`; none when it is missing.
    pub fn names(&self, rel: &str, max: usize) -> Result<Vec<String>, Fault> {
        let path = self.at(rel);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let dir = match beneath::open(&self.dir, rel, flags, Mode::empty()) {
            Ok(dir) => dir,
            Err(Errno::NOENT) => return Ok(Vec::new()),
            Err(errno) => return Err(cannot(&path, errno)),
        };
        let entries = rustix::fs::Dir::new(dir).map_err(|errno| cannot(&path, errno))?;
        let text = |entry: rustix::fs::DirEntry| entry.file_name().to_str().ok().map(str::to_owned);
        let names = entries.filter_map(Result::ok).filter_map(text);
        Ok(names.filter(|name| name != "." && name != "..").take(max).collect())
    }

    /// The path of something in the room.
    pub fn at(&self, rel: &str) -> PathBuf {
        self.path.join(rel)
    }
}

/// That a directory is one, ours, and closed to others.
fn is_ours(path: &Path, stat: &rustix::fs::Stat) -> Result<(), Fault> {
    let me = rustix::process::geteuid().as_raw();
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Directory
        || stat.st_uid != me
    {
        return Err(elsewhere(fault(path, "it is not a directory of yours")));
    }
    closed(path, files::mode_of(stat))
}

/// That a mode gives others nothing.
fn closed(path: &Path, mode: u32) -> Result<(), Fault> {
    if mode & OTHERS == 0 {
        return Ok(());
    }
    let why = format!("it is open to others (mode {:o})", mode & 0o777);
    Err(fault(path, why).with_hint("end the reviews with `lazaret review end`, remove it, and start anew"))
}

/// Where the directory itself is the trouble, another one has to serve.
fn elsewhere(fault: Fault) -> Fault {
    fault.with_hint("set XDG_RUNTIME_DIR, or LAZARET_HOME, to a directory of yours that is closed to others")
}

/// A fault of what lies in the room.
pub(super) fn fault(path: &Path, why: impl Into<String>) -> Fault {
    private::fault(FaultKind::State, path, why)
}

pub(super) fn cannot(path: &Path, errno: Errno) -> Fault {
    told(path, &errno.into())
}

pub(super) fn told(path: &Path, error: &io::Error) -> Fault {
    private::cannot(FaultKind::State, path, error)
}
