//! Whether git's index holds what is in a file: our own small reader of index files, without git. Like git it trusts the times
//! and sizes that stand there, and where the times differ it compares the content.

use std::collections::{BTreeMap, BTreeSet};

use rustix::fs::{FileType, Stat};
use sha1::{Digest, Sha1};

use super::commits::{self, Head, Id};
use super::facts::{git_dir, real_path};
use super::files::{self, Links};
use crate::domain::{join, lies_in};

/// Longest index that is read, in bytes: some 80 000 files. Of a longer one nothing is said to be held.
const MAX_INDEX: u64 = 8 * 1024 * 1024;
/// Most bytes of files whose times differ that are compared with what git holds, for one tree. Beyond, they count as changed.
const MAX_COMPARED: u64 = 64 * 1024 * 1024;
/// The part of an entry that has a fixed length: ten numbers, a SHA-1 and the flags.
const FIXED: usize = 62;
/// The flags stand at its end.
const FLAGS: usize = 60;
/// Two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;
/// The bits of a stage: a conflict.
const STAGE: u16 = 0x3000;
/// The checksum that an index ends with is at most that long: of SHA-256.
const CHECKSUM: usize = 32;
/// Of the second flags: the file is announced, but its content is not held.
const ANNOUNCED: u16 = 0x2000;

/// The index of one work tree, read when it is first asked for.
pub struct Index {
    repo: String,
    real_repo: Option<String>,
    read: Option<Option<Read>>,
}

struct Read {
    bytes: Vec<u8>,
    /// When the index was written: seconds and nanoseconds.
    written: (i64, i64),
}

impl Index {
    pub fn new(repo: &str) -> Index {
        Index { repo: repo.to_owned(), real_repo: None, read: None }
    }

    /// Whether the file at `path` (absolute, normalised) is tracked and as it was when git last took it in. What cannot be
    /// told is not held.
    pub fn holds(&mut self, path: &str) -> bool {
        let Ok(stat) = rustix::fs::lstat(path) else { return false };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return false;
        }
        let repo = &self.repo;
        let real = self.real_repo.get_or_insert_with(|| real_path(repo));
        let below = |root: &str| path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        let Some(name) = below(&self.repo).or_else(|| below(real)) else { return false };
        let read = self.read.get_or_insert_with(|| load(&self.repo));
        let Some(index) = read else { return false };
        let entry = find(&index.bytes, name.as_bytes());
        entry.is_some_and(|entry| Compare::new(index).is_same(entry, path, &stat))
    }
}

fn load(repo: &str) -> Option<Read> {
    let path = join(&git_dir(repo)?, "index");
    // The time first: an index that is replaced in between then counts as too old, not as too new.
    let stat = rustix::fs::lstat(path.as_str()).ok()?;
    let bytes = files::read(&path, MAX_INDEX, Links::Refuse).ok()??;
    Some(Read { bytes, written: mtime(&stat) })
}

#[allow(clippy::useless_conversion, reason = "the widths differ between systems")]
pub(super) fn mtime(stat: &Stat) -> (i64, i64) {
    (i64::from(stat.st_mtime), i64::try_from(stat.st_mtime_nsec).unwrap_or(i64::MAX))
}

#[allow(clippy::useless_conversion, reason = "the widths differ between systems")]
pub(super) fn ctime(stat: &Stat) -> (i64, i64) {
    (i64::from(stat.st_ctime), i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX))
}

/// What an entry says of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    ctime: (u32, u32),
    mtime: (u32, u32),
    mode: u32,
    size: u32,
    /// What git calls the content.
    id: Id,
}

impl Entry {
    /// A submodule is a directory, with files and a history of its own.
    const fn is_module(self) -> bool {
        self.mode >> 12 == 0o16
    }

    /// Whether it speaks of an ordinary file, and of the one with that state.
    fn is(self, stat: &Stat, written: (i64, i64)) -> bool {
        let same = |kept: (u32, u32), now: (i64, i64)| {
            // Some write no nanoseconds.
            i64::from(kept.0) == now.0 && (kept.1 == 0 || i64::from(kept.1) == now.1)
        };
        // A file changed in the moment in which the index was written looks unchanged.
        let settled = (i64::from(self.mtime.0), i64::from(self.mtime.1)) < written;
        let is_file = self.mode >> 12 == 0o10;
        is_file
            && settled
            && same(self.mtime, mtime(stat))
            && same(self.ctime, ctime(stat))
            && i64::from(self.size) == stat.st_size
    }
}

/// Files held against the entries of an index, by their times first.
struct Compare {
    written: (i64, i64),
    /// So many bytes may still be read.
    left: u64,
}

impl Compare {
    const fn new(index: &Read) -> Compare {
        Compare { written: index.written, left: MAX_COMPARED }
    }

    /// Whether the file is as the entry says. Filters of git's (line ends, large files) make it another content: changed.
    fn is_same(&mut self, entry: Entry, path: &str, stat: &Stat) -> bool {
        if entry.is(stat, self.written) {
            return true;
        }
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        if u64::from(entry.size) != size || size > self.left {
            return false;
        }
        self.left -= size;
        let runs = |mode: u32| mode & 0o100 != 0;
        let content = match (FileType::from_raw_mode(stat.st_mode), entry.mode >> 12) {
            (FileType::RegularFile, 0o10) if runs(entry.mode) == runs(files::mode_of(stat)) => {
                files::read(path, size, Links::Refuse).ok().flatten()
            }
            (FileType::Symlink, 0o12) => {
                std::fs::read_link(path).ok().map(|target| target.into_os_string().into_encoded_bytes())
            }
            _ => None,
        };
        content.is_some_and(|content| id(b"blob", &content) == entry.id)
    }
}

/// The entry of that name; none for one in conflict or merely announced, and where the index cannot be read.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<Entry> {
    let mut found = None;
    each(bytes, |name, entry| {
        if name == wanted {
            found = entry;
            return false;
        }
        true
    })?;
    found
}

/// Every name in the index with its entry, none for one in conflict or merely announced, until `f` says that it is enough; what
/// follows is given back. Nothing where the index cannot be read.
fn each(bytes: &[u8], mut f: impl FnMut(&[u8], Option<Entry>) -> bool) -> Option<&[u8]> {
    let mut rest = bytes.strip_prefix(b"DIRC")?;
    let version = number(rest, 0)?;
    let count = number(rest, 4)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    rest = rest.get(8..)?;
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let flags = short(rest, FLAGS)?;
        let more = if flags & EXTENDED != 0 { short(rest, FIXED)? } else { 0 };
        let fixed = FIXED + if flags & EXTENDED != 0 { 2 } else { 0 };
        let mut text = rest.get(fixed..)?;
        let mut length = fixed;
        if version == 4 {
            // The name begins as the one before, without its last bytes.
            let (cut, width) = varint(text)?;
            name.truncate(name.len().checked_sub(cut)?);
            text = text.get(width..)?;
            length += width;
        } else {
            name.clear();
        }
        let end = text.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(text.get(..end)?);
        length += end + 1;
        if version < 4 {
            length = length.next_multiple_of(8);
        }
        let held = flags & STAGE == 0 && more & ANNOUNCED == 0;
        let entry = if held { Some(entry(rest)?) } else { None };
        rest = rest.get(length..)?;
        if !f(&name, entry) {
            break;
        }
    }
    Some(rest)
}

/// Whether an extension (one whose name begins with a small letter) must be understood: the index is split, or sparse.
fn needs_more(rest: &[u8]) -> bool {
    extensions(rest).any(|(name, _)| name.first().is_some_and(u8::is_ascii_lowercase))
}

/// The extensions behind the entries: the name of each, and what it holds, as far as that is there.
fn extensions(rest: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = Some(rest);
    std::iter::from_fn(move || {
        let bytes = rest.filter(|bytes| bytes.len() > CHECKSUM)?;
        let (name, size) = bytes.get(..4).zip(number(bytes, 4))?;
        let end = usize::try_from(size).ok().and_then(|size| size.checked_add(8));
        rest = end.and_then(|end| bytes.get(end..));
        Some((name, end.and_then(|end| bytes.get(8..end)).unwrap_or_default()))
    })
}

/// Whether git has what is in a tracked file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Unchanged,
    /// Changed, deleted, in conflict or merely announced.
    Changed,
}

/// Every tracked file by its name in the work tree; nothing where the index cannot be read, is split, or has a name that is
/// not UTF-8. Without an index nothing is tracked.
pub fn tracked(repo: &str) -> Option<BTreeMap<String, Held>> {
    let path = join(&git_dir(repo)?, "index");
    if super::facts::is_missing(&path) {
        return Some(BTreeMap::new());
    }
    let index = load(repo)?;
    let (mut found, mut compare) = (BTreeMap::new(), Compare::new(&index));
    let mut plain = true;
    let rest = each(&index.bytes, |name, entry| {
        let Ok(name) = std::str::from_utf8(name) else {
            plain = false;
            return false;
        };
        let path = join(repo, name);
        let is_held = |entry: Entry| {
            rustix::fs::lstat(path.as_str()).is_ok_and(|stat| compare.is_same(entry, &path, &stat))
        };
        let held = if entry.is_some_and(is_held) { Held::Unchanged } else { Held::Changed };
        found.insert(name.to_owned(), held);
        true
    })?;
    (plain && !needs_more(rest)).then_some(found)
}

/// The names in the content of an index; nothing where it cannot be read or a name is not UTF-8.
pub fn names(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut plain = true;
    let rest = each(bytes, |name, _| {
        let name = std::str::from_utf8(name);
        plain = name.is_ok();
        found.extend(name.map(str::to_owned));
        plain
    })?;
    (plain && !needs_more(rest)).then_some(found)
}

/// The names of a work tree's tracked files; as [`names`].
pub fn names_of(repo: &str) -> Option<BTreeSet<String>> {
    if super::facts::is_missing(&join(&git_dir(repo)?, "index")) {
        return Some(BTreeSet::new());
    }
    names(&load(repo)?.bytes)
}

/// What of a work tree is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Extent<'a> {
    /// Absolute places; none = all of it.
    pub within: &'a [String],
    /// Also what is staged and not committed.
    pub staged: bool,
}

/// Whether a tracked file has content that git does not hold, or a change is staged; so it is where that cannot be told. A file
/// that is gone has none.
pub fn is_changed(repo: &str, extent: Extent<'_>) -> bool {
    let Some(path) = git_dir(repo).map(|dir| join(&dir, "index")) else { return true };
    if super::facts::is_missing(&path) {
        return false;
    }
    let Some(index) = load(repo) else { return true };
    let (mut changed, mut compare) = (false, Compare::new(&index));
    let mut straight = String::new();
    let rest = each(&index.bytes, |name, entry| {
        let path = std::str::from_utf8(name).map(|name| join(repo, name)).unwrap_or_default();
        let meant = extent.within.is_empty() || extent.within.iter().any(|place| lies_in(&path, place));
        let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        if meant && dir != straight {
            // A link among the directories is put away for what git has in its place.
            changed = path.is_empty() || real_path(dir) != dir;
            dir.clone_into(&mut straight);
        }
        changed |= path.is_empty() || meant && !is_kept(entry, &path, &mut compare);
        !changed
    });
    changed || rest.is_none_or(|rest| needs_more(rest) || extent.staged && has_staged(repo, &index, rest))
}

/// Whether nothing is lost when a tracked file is written over.
fn is_kept(entry: Option<Entry>, path: &str, compare: &mut Compare) -> bool {
    match (entry, rustix::fs::lstat(path)) {
        (Some(entry), Ok(stat)) => entry.is_module() || compare.is_same(entry, path, &stat),
        (Some(_), Err(errno)) => errno == rustix::io::Errno::NOENT,
        (None, _) => false,
    }
}

/// Whether the index differs from the commit that is checked out.
fn has_staged(repo: &str, index: &Read, rest: &[u8]) -> bool {
    match commits::head(repo) {
        Some(Head::Tree(id)) => written_tree(rest).or_else(|| tree(&index.bytes)) != Some(id),
        Some(Head::Unborn) => number(&index.bytes, 8) != Some(0),
        None => true,
    }
}

/// What git calls the tree of the whole index, where it keeps that and it holds.
fn written_tree(rest: &[u8]) -> Option<Id> {
    // The root has no name; a count of its entries that is below zero says that it does not hold.
    let (_, kept) = extensions(rest).find(|(name, _)| *name == b"TREE")?;
    let counts = kept.strip_prefix(b"\0").filter(|counts| !counts.starts_with(b"-"))?;
    let line = counts.iter().position(|byte| *byte == b'\n')?;
    counts.get(line + 1..)?.first_chunk().copied()
}

/// The same worked out from the entries.
fn tree(bytes: &[u8]) -> Option<Id> {
    // The directories that are open, outermost first: the name of each, and what is in it so far.
    let mut open: Vec<(Vec<u8>, Vec<u8>)> = vec![(Vec::new(), Vec::new())];
    let mut plain = true;
    each(bytes, |name, entry| {
        let added = entry.and_then(|entry| {
            let mut parts: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
            let file = parts.pop()?;
            let same = open.iter().skip(1).zip(&parts).take_while(|((dir, _), part)| dir == *part).count();
            close(&mut open, same + 1)?;
            open.extend(parts.iter().skip(same).map(|part| (part.to_vec(), Vec::new())));
            open.last_mut().map(|(_, dir)| note(dir, entry.mode, file, &entry.id))
        });
        plain = added.is_some();
        plain
    })?;
    close(&mut open, 1)?;
    let (_, root) = open.pop().filter(|_| plain)?;
    Some(id(b"tree", &root))
}

/// Closes directories until so many are open, each a part of the one around it.
fn close(open: &mut Vec<(Vec<u8>, Vec<u8>)>, left: usize) -> Option<()> {
    while open.len() > left {
        let (name, dir) = open.pop()?;
        note(&mut open.last_mut()?.1, 0o40_000, &name, &id(b"tree", &dir));
    }
    Some(())
}

/// One line of a tree.
fn note(dir: &mut Vec<u8>, mode: u32, name: &[u8], id: &Id) {
    dir.extend_from_slice(format!("{mode:o} ").as_bytes());
    dir.extend_from_slice(name);
    dir.push(0);
    dir.extend_from_slice(id);
}

/// What git calls a content.
fn id(kind: &[u8], content: &[u8]) -> Id {
    let mut digest = Sha1::new();
    digest.update(kind);
    digest.update(format!(" {}\0", content.len()));
    digest.update(content);
    digest.finalize().into()
}

fn entry(bytes: &[u8]) -> Option<Entry> {
    Some(Entry {
        ctime: (number(bytes, 0)?, number(bytes, 4)?),
        mtime: (number(bytes, 8)?, number(bytes, 12)?),
        mode: number(bytes, 24)?,
        size: number(bytes, 36)?,
        id: bytes.get(40..60)?.try_into().ok()?,
    })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}

/// Git's number of variable width, and how many bytes it takes.
pub(super) fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        let low = usize::from(byte & 0x7f);
        value = if at == 0 { low } else { (value.checked_add(1)?.checked_mul(128)?).checked_add(low)? };
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_variable_width() {
        assert_eq!(varint(&[0x05]), Some((5, 1)));
        assert_eq!(varint(&[0x80, 0x00]), Some((128, 2)));
        assert_eq!(varint(&[0x81, 0x01]), Some((257, 2)));
        assert_eq!(varint(&[0x80]), None);
        assert_eq!(varint(&[0xff; 9]), None);
    }
}
