//! Answers to the review's questions about the machine. Looks, never changes anything, and never waits for a FIFO or a
//! device.

use rustix::fs::FileType;
use rustix::io::Errno;

use super::files::{self, Links};
use super::ignore::Ignore;
use super::index::Index;
use super::places;
use crate::domain::{Ask, Facts, PathFact, PathKind, Places, join, lies_in};

/// Most symbolic links that are followed by hand, as the kernel's own bound.
const MAX_LINKS: u32 = 40;
/// Longest file of git's that is read for a branch or the place of a work tree.
const MAX_GIT_FILE: u64 = 4096;

/// Answers questions about one work tree, with what they have in common looked up once.
#[derive(Default)]
pub struct Witness {
    ignore: Option<Option<Ignore>>,
    index: Option<Option<Index>>,
    near: Near,
    asked: usize,
    texts: usize,
}

impl Witness {
    /// Answers a question that has no answer yet, as far as [`Ask::MAX`] goes. One about a path that is not absolute stays
    /// unanswered.
    pub fn answer(&mut self, ask: Ask, facts: &Facts) {
        let text = usize::from(matches!(ask, Ask::Content(_)));
        if facts.knows(&ask) || self.asked >= Ask::MAX || self.texts + text > Ask::MAX_TEXTS {
            return;
        }
        self.asked += 1;
        self.texts += text;
        let places = &facts.places;
        let repo = places.repo.as_deref();
        match ask {
            Ask::Path(path) if path.starts_with('/') => {
                let ignore = || repo.map(|repo| Ignore::new(repo, places.home.as_deref()));
                let ignore = self.ignore.get_or_insert_with(ignore).as_mut();
                let fact = path_fact(&path, &mut self.near, ignore, places);
                facts.answer_path(path, fact);
            }
            Ask::Content(path) if path.starts_with('/') => {
                let text = content(&path);
                facts.answer_content(path, text);
            }
            Ask::Saved(path) if path.starts_with('/') => {
                let index = self.index.get_or_insert_with(|| repo.map(Index::new)).as_mut();
                let saved = index.is_some_and(|index| index.holds(&path));
                facts.answer_saved(path, saved);
            }
            Ask::Path(_) | Ask::Content(_) | Ask::Saved(_) => {}
            Ask::Branch => facts.answer_branch(repo.and_then(head_branch)),
        }
    }
}

/// Answers every question that has no answer yet, as far as [`Ask::MAX`] goes.
pub fn answer(asks: &[Ask], facts: &Facts) {
    let mut witness = Witness::default();
    for ask in asks {
        witness.answer(ask.clone(), facts);
    }
}

fn path_fact(path: &str, near: &mut Near, ignore: Option<&mut Ignore>, places: &Places) -> PathFact {
    let found = near.find(path).unwrap_or_else(|| Found::at(path, MAX_LINKS));
    // `/a/../b` is another name of `/b`, not a link.
    let plain = join("/", path);
    let link = (found.real != plain || found.kind == PathKind::Other) && is_link(&plain);
    let ignored = ignore.is_some_and(|ignore| {
        let directory = found.kind == PathKind::Directory;
        ignore.ignores(&found.real, directory) && (!link || ignore.ignores(&plain, false))
    });
    let checkout = in_another_checkout(&found.real, places);
    PathFact { kind: found.kind, real: found.real, link, ignored, checkout }
}

/// See [`PathFact::checkout`].
fn in_another_checkout(real: &str, places: &Places) -> bool {
    const MOST: usize = 16;
    let Some(home) = places.home.as_deref().filter(|home| lies_in(real, home)) else { return false };
    !places.roots().any(|root| lies_in(real, root))
        && places::upwards(real)
            .skip(1)
            .take_while(|dir| dir.len() > home.len())
            .take(MOST)
            .any(places::has_git)
}

/// Whether nothing is at a path. What cannot be looked at is not missing.
pub fn is_missing(path: &str) -> bool {
    rustix::fs::lstat(path).is_err_and(|error| matches!(error, Errno::NOENT | Errno::NOTDIR))
}

fn is_link(path: &str) -> bool {
    rustix::fs::lstat(path).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// The path with every symbolic link resolved, as far as it exists; see [`PathFact::real`].
pub fn real_path(path: &str) -> String {
    real(path).1
}

/// What is at a path, and its real name.
pub(super) fn real(path: &str) -> (PathKind, String) {
    let found = Found::at(path, MAX_LINKS);
    (found.kind, found.real)
}

/// The directory of the path before. Of hundreds of files in one directory each but the first is looked at once, by its own name.
#[derive(Default)]
struct Near {
    dir: String,
    found: Option<(PathKind, String)>,
}

impl Near {
    /// What is at a path in the same directory as the one before; none where it takes a closer look.
    fn find(&mut self, path: &str) -> Option<Found> {
        let (dir, name) = path.rsplit_once('/')?;
        if dir.is_empty() || dir != self.dir {
            dir.clone_into(&mut self.dir);
            self.found = None;
            return None;
        }
        // Only what is the same by every reading: no dots, no case folding.
        if !cfg!(target_os = "linux") || matches!(name, "" | "." | "..") || join("/", path) != path {
            return None;
        }
        let (kind, real) = self.found.get_or_insert_with(|| real(dir));
        let missing = |real: &str| Found { kind: PathKind::Missing, real: join(real, name) };
        match kind {
            PathKind::Missing => Some(missing(real)),
            PathKind::Directory => match rustix::fs::lstat(path) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                    Some(Found { kind: PathKind::File, real: join(real, name) })
                }
                Err(Errno::NOENT) => Some(missing(real)),
                Ok(_) | Err(_) => None,
            },
            PathKind::File | PathKind::Other => None,
        }
    }
}

/// What one look at a path gives.
struct Found {
    kind: PathKind,
    real: String,
}

impl Found {
    fn at(path: &str, links: u32) -> Found {
        match existing(path) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR) => Found::missing(path, links),
            // Too long, a loop, or not ours to look at: something we cannot name may be there.
            Err(_) => Found { kind: PathKind::Other, ..Found::missing(path, links) },
        }
    }

    /// Of what cannot be opened: the nearest ancestor that can, with the rest appended. A dangling link is followed, for a
    /// write through it makes a file where it leads.
    fn missing(path: &str, links: u32) -> Found {
        let none = |real: String| Found { kind: PathKind::Missing, real };
        let plain = join("/", path);
        for above in places::upwards(&plain) {
            let rest = plain.get(above.len()..).unwrap_or_default();
            if above != plain
                && let Ok(found) = existing(above)
            {
                return none(join(&found.real, rest.trim_start_matches('/')));
            }
            let Ok(target) = rustix::fs::readlink(above, Vec::new()) else { continue };
            let (Ok(target), Some(links)) = (target.into_string(), links.checked_sub(1)) else { break };
            let parent = places::upwards(above).nth(1).map_or_else(|| "/".to_owned(), real_parent);
            let found = Found::at(&join(&parent, &target), links);
            let real = join(&found.real, rest.trim_start_matches('/'));
            return Found { real, ..found };
        }
        none(plain)
    }
}

fn real_parent(dir: &str) -> String {
    existing(dir).map_or_else(|_| dir.to_owned(), |found| found.real)
}

/// Opened without access to the content, so that nothing happens to a FIFO, a device or a file without permission.
#[cfg(target_os = "linux")]
fn existing(path: &str) -> Result<Found, Errno> {
    use rustix::fs::{Mode, OFlags};
    let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let kind = kind(rustix::fs::fstat(&fd)?.st_mode);
    let number = rustix::fd::AsRawFd::as_raw_fd(&fd);
    let real = rustix::fs::readlink(format!("/proc/self/fd/{number}"), Vec::new());
    let real = match real.map(std::ffi::CString::into_string) {
        Ok(Ok(real)) if real.starts_with('/') => real,
        // A pipe or socket by way of /proc, a name that is not text, or no /proc.
        _ => std::fs::canonicalize(path)
            .ok()
            .and_then(|real| real.to_str().map(str::to_owned))
            .ok_or(Errno::ILSEQ)?,
    };
    Ok(Found { kind, real })
}

/// What is there is looked at by name, so that nothing happens to a FIFO, a device or a file without permission.
#[cfg(not(target_os = "linux"))]
fn existing(path: &str) -> Result<Found, Errno> {
    let kind = kind(rustix::fs::stat(path)?.st_mode);
    let real = std::fs::canonicalize(path).ok();
    let real = real.as_deref().and_then(std::path::Path::to_str).ok_or(Errno::ILSEQ)?;
    Ok(Found { kind, real: join("/", real) })
}

fn kind(mode: rustix::fs::RawMode) -> PathKind {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => PathKind::File,
        FileType::Directory => PathKind::Directory,
        _ => PathKind::Other,
    }
}

fn content(path: &str) -> Option<String> {
    let bytes = files::read(path, Ask::MAX_CONTENT, Links::Follow).ok()??;
    String::from_utf8(bytes).ok()
}

/// The directory in which git keeps a work tree's own files: `.git`, or what the file `.git` of a linked one names.
pub fn git_dir(repo: &str) -> Option<String> {
    let dot_git = join(repo, ".git");
    let text = match files::read(&dot_git, MAX_GIT_FILE, Links::Follow) {
        Ok(Some(bytes)) => String::from_utf8(bytes).ok()?,
        Ok(None) => return None,
        Err(_) => return Some(dot_git),
    };
    let dir = text.strip_prefix("gitdir:")?.trim();
    Some(join(repo, dir))
}

/// The directory that all work trees of a repository share.
pub fn common_git_dir(git_dir: &str) -> String {
    let common = files::read(&join(git_dir, "commondir"), MAX_GIT_FILE, Links::Follow);
    match common.map(|bytes| bytes.map(String::from_utf8)) {
        Ok(Some(Ok(dir))) => join(git_dir, dir.trim()),
        _ => git_dir.to_owned(),
    }
}

/// The branch that is checked out; none when HEAD is detached or the repository keeps its branches elsewhere.
pub(super) fn head_branch(repo: &str) -> Option<String> {
    let head = join(&git_dir(repo)?, "HEAD");
    let text = String::from_utf8(files::read(&head, MAX_GIT_FILE, Links::Follow).ok()??).ok()?;
    let branch = text.strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")?;
    // Repositories with reftables put this name there.
    (branch != ".invalid").then(|| branch.to_owned())
}
