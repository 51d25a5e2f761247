//! Small files, read with a bound and replaced in one step. Nothing here knows what is in them.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FileType, Mode, OFlags, RawMode, Stat};

use crate::domain;

/// What to do with a symbolic link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    Follow,
    Refuse,
}

/// Why a file was not read although something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// A directory, FIFO, device or socket.
    NotAFile,
    /// What is known of its size, and the bound.
    TooLong {
        size: u64,
        max: u64,
    },
    Refused(rustix::io::Errno),
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unreadable::NotAFile => f.write_str("it is not a regular file"),
            Unreadable::TooLong { size, max } => {
                write!(f, "it is {}; at most {} are read", domain::size(*size), domain::size(*max))
            }
            Unreadable::Refused(errno) => write!(f, "it cannot be read ({errno})"),
        }
    }
}

/// The mode of a file, whose width differs between systems.
#[allow(clippy::unnecessary_cast, reason = "the width differs between systems")]
pub(super) fn mode_of(stat: &Stat) -> u32 {
    stat.st_mode as u32
}

/// How many names a file has.
#[allow(clippy::useless_conversion, reason = "the width differs between systems")]
pub(super) fn links(stat: &Stat) -> u64 {
    u64::from(stat.st_nlink)
}

/// What sets the permissions of such a mode.
pub(super) fn permissions(mode: u32) -> Mode {
    Mode::from_bits_truncate((mode & 0o7777) as RawMode)
}

/// The bytes of a regular file of at most `max` bytes; `None` when there is none. Never waits for a FIFO or a device.
pub fn read(path: &str, max: u64, links: Links) -> Result<Option<Vec<u8>>, Unreadable> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(errno) => return Err(Unreadable::Refused(errno)),
    };
    let stat = rustix::fs::fstat(&file).map_err(Unreadable::Refused)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Unreadable::NotAFile);
    }
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > max {
        return Err(Unreadable::TooLong { size, max });
    }
    read_all(&file, size, max).map(Some)
}

/// One byte more than the size is asked for, so that one read both gets the file and sees its end.
fn read_all(file: &rustix::fd::OwnedFd, size: u64, max: u64) -> Result<Vec<u8>, Unreadable> {
    let first = usize::try_from(size.saturating_add(1)).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    let mut chunk = vec![0; first.max(4096)];
    loop {
        let got = match rustix::io::read(file, &mut chunk) {
            Ok(got) => got,
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(Unreadable::Refused(errno)),
        };
        if bytes.is_empty() && size > 0 && got < chunk.len() {
            chunk.truncate(got);
            return within(chunk, max);
        }
        bytes.extend_from_slice(chunk.get(..got).unwrap_or_default());
        if got == 0 {
            return Ok(bytes);
        }
        bytes = within(bytes, max)?;
    }
}

fn within(bytes: Vec<u8>, max: u64) -> Result<Vec<u8>, Unreadable> {
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size > max { Err(Unreadable::TooLong { size, max }) } else { Ok(bytes) }
}

/// Makes `dir` and what is missing above it, for the owner alone.
pub fn private_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Puts `bytes` at `path` in one step, for the owner alone. A reader sees the old file or the new one.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{}.new", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let new = path.with_file_name(name);
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        // Also when it was left by a process of the same number that was killed: the next try has room.
        let _ = std::fs::remove_file(&new);
    }
    written
}

/// Puts `bytes` at `path`, for the owner alone, unless something is there.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_files_and_no_more_than_the_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let text = path.to_str().unwrap();
        assert_eq!(read(text, 10, Links::Follow), Ok(None));
        for size in [0, 1, 4095, 4096, 4097, 9000] {
            std::fs::write(&path, vec![b'x'; size]).unwrap();
            assert_eq!(read(text, 9000, Links::Refuse).unwrap().unwrap().len(), size);
        }
        assert_eq!(read(text, 8999, Links::Follow), Err(Unreadable::TooLong { size: 9000, max: 8999 }));
        // Files of /proc say that they are empty.
        assert!(read("/proc/self/status", 1 << 20, Links::Follow).unwrap().unwrap().starts_with(b"Name:"));
        let long = read("/proc/self/status", 5, Links::Follow).unwrap_err();
        assert!(matches!(long, Unreadable::TooLong { max: 5, .. }), "{long}");
    }

    #[test]
    fn what_is_not_a_file_is_neither_read_nor_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        assert!(std::process::Command::new("mkfifo").arg(path("fifo")).status().unwrap().success());
        std::os::unix::fs::symlink("/etc/hostname", path("link")).unwrap();
        assert_eq!(read(&path("fifo"), 10, Links::Follow), Err(Unreadable::NotAFile));
        assert_eq!(read(dir.path().to_str().unwrap(), 10, Links::Follow), Err(Unreadable::NotAFile));
        assert_eq!(read("/dev/zero", 10, Links::Follow), Err(Unreadable::NotAFile));
        let refused = read(&path("link"), 1000, Links::Refuse);
        assert_eq!(refused, Err(Unreadable::Refused(rustix::io::Errno::LOOP)));
        assert_eq!(read(&path("fifo/below"), 10, Links::Follow), Ok(None));
    }

    #[test]
    fn replacing_is_private_and_leaves_nothing_behind() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/f");
        private_dir(path.parent().unwrap()).unwrap();
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(dir.path().join("a")).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(create(&path, b"three").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
    }
}
