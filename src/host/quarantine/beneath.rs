//! Opening by name below an open directory: no symbolic link on the way is followed, and no name leads out of it.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// What every open asks for: no link at the end, no waiting for a pipe's other end, no terminal of ours, nothing for a
/// child process.
const ALWAYS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens `rel` below `dir`; `.` is `dir` itself. The kernel sees to the whole path in one step where it can.
#[cfg(target_os = "linux")]
pub(super) fn open(dir: impl AsFd, rel: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(&dir, rel, flags | ALWAYS, mode, how) {
        // An old kernel, or a container's filter in front of it, which may say either.
        Err(Errno::NOSYS | Errno::PERM) => by_steps(dir, rel, flags, mode),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open(dir: impl AsFd, rel: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    by_steps(dir, rel, flags, mode)
}

/// The same, one name after the other.
pub(super) fn by_steps(dir: impl AsFd, rel: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let mut names: Vec<&str> = rel.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    if rel.starts_with('/') || names.contains(&"..") {
        return Err(Errno::XDEV);
    }
    let last = names.pop().unwrap_or(".");
    let mut above: Option<OwnedFd> = None;
    for name in names {
        let into = OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS;
        let at = above.as_ref().map_or(dir.as_fd(), AsFd::as_fd);
        above = Some(rustix::fs::openat(at, name, into, Mode::empty())?);
    }
    let at = above.as_ref().map_or(dir.as_fd(), AsFd::as_fd);
    rustix::fs::openat(at, last, flags | ALWAYS, mode)
}

/// Opens a directory by its absolute path, in which no part may be a link.
pub(super) fn open_dir(path: &str) -> Result<OwnedFd, Errno> {
    let root = rustix::fs::open("/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let rel = path.trim_start_matches('/');
    let rel = if rel.is_empty() { "." } else { rel };
    open(root, rel, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn both_ways_open_the_same_and_refuse_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("a/b")).unwrap();
        std::fs::write(real.join("a/b/f"), "text").unwrap();
        symlink(real.join("a"), real.join("link")).unwrap();
        symlink("f", real.join("a/b/also")).unwrap();
        let root = open_dir(real.to_str().unwrap()).unwrap();
        type Open<'r> = &'r dyn Fn(&str) -> Result<OwnedFd, Errno>;
        let at_once: Open<'_> = &|rel| open(&root, rel, OFlags::RDONLY, Mode::empty());
        let by_steps: Open<'_> = &|rel| by_steps(&root, rel, OFlags::RDONLY, Mode::empty());
        for open in [at_once, by_steps] {
            for good in ["a/b/f", "./a/./b/f", ".", "a"] {
                assert!(open(good).is_ok(), "{good}");
            }
            for (bad, why) in [
                ("link/b/f", [Errno::LOOP, Errno::NOTDIR]),
                ("a/b/also", [Errno::LOOP, Errno::LOOP]),
                ("../x", [Errno::XDEV, Errno::XDEV]),
                ("/etc/passwd", [Errno::XDEV, Errno::XDEV]),
                ("a/b/none", [Errno::NOENT, Errno::NOENT]),
            ] {
                let refused = open(bad).unwrap_err();
                assert!(why.contains(&refused), "{bad}: {refused}");
            }
        }
        assert!(open_dir(real.join("link").to_str().unwrap()).is_err());
    }
}
