//! The tree of the commit that is checked out, read from git's own files without git.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::facts::{common_git_dir, git_dir, is_missing};
use super::files::{self, Links};
use crate::domain::join;

/// How git names content: a SHA-1.
pub type Id = [u8; 20];

/// Longest file of a name, longest list of packed names, longest commit and most packs that are looked into.
const MAX_NAME: u64 = 4096;
const MAX_PACKED: u64 = 8 << 20;
const MAX_COMMIT: usize = 1 << 20;
const MAX_PACKS: usize = 2_000;
/// Most names that lead to one another, and most differences that one object is made of.
const MAX_STEPS: usize = 8;
const MAX_DELTAS: usize = 64;
/// Of an index of a pack: its head, and the table of how many names begin with at most that byte.
const HEAD: u64 = 8;
const FANOUT: u64 = 256 * 4;

/// What is checked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// There is no commit yet.
    Unborn,
    Tree(Id),
}

/// What the repository of a work tree has checked out; nothing where that cannot be told.
pub fn head(repo: &str) -> Option<Head> {
    let dir = git_dir(repo)?;
    let common = common_git_dir(&dir);
    if !is_missing(&join(&common, "reftable")) {
        return None;
    }
    let Some(id) = resolved(&dir, &common)? else { return Some(Head::Unborn) };
    let commit = object(&common, &id, MAX_DELTAS)?;
    let first = commit.split(|byte| *byte == b'\n').next()?;
    Some(Head::Tree(id_of(std::str::from_utf8(first.strip_prefix(b"tree ")?).ok()?)?))
}

/// The commit that `HEAD` stands for; `Some(None)` where its branch has none.
fn resolved(dir: &str, common: &str) -> Option<Option<Id>> {
    let text = |path: &str| {
        let bytes = files::read(path, MAX_NAME, Links::Follow).ok()??;
        String::from_utf8(bytes).ok().map(|text| text.trim().to_owned())
    };
    let mut said = text(&join(dir, "HEAD"))?;
    for _ in 0..MAX_STEPS {
        let Some(name) = said.strip_prefix("ref:").map(str::trim) else { return id_of(&said).map(Some) };
        if !name.starts_with("refs/") || name.contains("..") {
            return None;
        }
        let path = join(common, name);
        if is_missing(&path) {
            return packed(common, name);
        }
        said = text(&path)?;
    }
    None
}

/// The commit of a name that is packed with others; `Some(None)` where it is not among them.
fn packed(common: &str, name: &str) -> Option<Option<Id>> {
    let path = join(common, "packed-refs");
    if is_missing(&path) {
        return Some(None);
    }
    let bytes = files::read(&path, MAX_PACKED, Links::Follow).ok()??;
    let text = std::str::from_utf8(&bytes).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let found = lines.find(|(_, other)| other.trim() == name);
    match found {
        Some((id, _)) => id_of(id).map(Some),
        None => Some(None),
    }
}

fn id_of(text: &str) -> Option<Id> {
    let mut id = Id::default();
    if text.len() != id.len() * 2 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(id)
}

/// The content of an object, wherever in the repository it lies.
fn object(common: &str, id: &Id, deltas: usize) -> Option<Vec<u8>> {
    let name = super::hex(id.as_slice());
    let (front, rest) = name.split_at_checked(2)?;
    let loose = join(common, &format!("objects/{front}/{rest}"));
    if let Ok(Some(bytes)) = files::read(&loose, MAX_COMMIT as u64, Links::Follow) {
        let whole = inflated(&bytes)?;
        let end = whole.iter().position(|byte| *byte == 0)?;
        return whole.get(end + 1..).map(<[u8]>::to_vec);
    }
    let packs = join(common, "objects/pack");
    for entry in std::fs::read_dir(&packs).ok()?.flatten().take(MAX_PACKS) {
        let Ok(file) = entry.file_name().into_string() else { continue };
        let Some(pack) = file.strip_suffix(".idx") else { continue };
        let index = File::open(join(&packs, &file)).ok()?;
        if let Some(at) = offset(&index, id) {
            let pack = File::open(join(&packs, &format!("{pack}.pack"))).ok()?;
            return packed_object(common, &pack, at, deltas);
        }
    }
    None
}

fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, MAX_COMMIT).ok()
}

fn number(file: &File, at: u64) -> Option<u64> {
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(u64::from(u32::from_be_bytes(bytes)))
}

/// Where in its pack an object stands, by the pack's index.
fn offset(index: &File, id: &Id) -> Option<u64> {
    // The second version, which git has written since 2007.
    if (number(index, 0)?, number(index, 4)?) != (0xff74_4f63, 2) {
        return None;
    }
    let first = u64::from(*id.first()?);
    let until = |byte: u64| number(index, HEAD + byte * 4);
    let all = until(255)?;
    let (mut low, mut high) = (first.checked_sub(1).map_or(Some(0), until)?, until(first)?);
    let names = HEAD + FANOUT;
    while low < high {
        let middle = low.midpoint(high);
        let mut name = Id::default();
        index.read_exact_at(&mut name, names + middle * 20).ok()?;
        match name.cmp(id) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => {
                // Behind the names stand checksums, then the places, then those that need more than 31 bits.
                let places = names + all * 24;
                let place = number(index, places + middle * 4)?;
                let Some(long) = (place >> 31 == 1).then_some(place & 0x7fff_ffff) else {
                    return Some(place);
                };
                let at = places + all * 4 + long * 8;
                return Some(number(index, at)? << 32 | number(index, at + 4)?);
            }
        }
    }
    None
}

/// The content of the object at that place in a pack.
fn packed_object(common: &str, pack: &File, at: u64, deltas: usize) -> Option<Vec<u8>> {
    let bytes = stretch(pack, at)?;
    let kind = bytes.first()? >> 4 & 7;
    let head = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let rest = bytes.get(head..)?;
    match kind {
        // A commit.
        1 => inflated(rest),
        // The difference from one that stands so far in front of it.
        6 => {
            let (back, width) = super::index::varint(rest)?;
            let delta = inflated(rest.get(width..)?)?;
            let base = at.checked_sub(u64::try_from(back).ok()?)?;
            applied(&packed_object(common, pack, base, deltas.checked_sub(1)?)?, &delta)
        }
        // The difference from one of that name.
        7 => {
            let (base, rest) = rest.split_first_chunk()?;
            applied(&object(common, base, deltas.checked_sub(1)?)?, &inflated(rest)?)
        }
        _ => None,
    }
}

/// What stands in a pack from there on: as much as nearly every commit is long.
fn stretch(pack: &File, at: u64) -> Option<Vec<u8>> {
    const SHORT: usize = 16 * 1024;
    let mut bytes = vec![0; SHORT];
    let mut got = 0;
    while let Some(room) = bytes.get_mut(got..).filter(|room| !room.is_empty()) {
        match pack.read_at(room, at + got as u64).ok()? {
            0 => break,
            more => got += more,
        }
    }
    bytes.truncate(got);
    Some(bytes)
}

/// A content made from another by git's difference.
fn applied(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let (size, rest) = size_of(delta)?;
    let (length, mut rest) = size_of(rest)?;
    if size != base.len() || length > MAX_COMMIT {
        return None;
    }
    let mut made = Vec::with_capacity(length);
    while let Some((&op, behind)) = rest.split_first() {
        rest = behind;
        if op & 0x80 == 0 {
            let (new, behind) = rest.split_at_checked(usize::from(op)).filter(|_| op != 0)?;
            made.extend_from_slice(new);
            rest = behind;
        } else {
            // Four bytes of a place and three of a length, each of which may be left out.
            let mut part = |bits: std::ops::Range<u32>| {
                let mut value = 0_usize;
                for (shift, bit) in bits.enumerate() {
                    if op >> bit & 1 == 1 {
                        let (&byte, behind) = rest.split_first()?;
                        value |= usize::from(byte) << (8 * shift);
                        rest = behind;
                    }
                }
                Some(value)
            };
            let (from, count) = (part(0..4)?, part(4..7)?);
            let count = if count == 0 { 0x1_0000 } else { count };
            made.extend_from_slice(base.get(from..from.checked_add(count)?)?);
        }
        if made.len() > length {
            return None;
        }
    }
    (made.len() == length).then_some(made)
}

/// A size in groups of seven bits, the lowest first, and what follows.
fn size_of(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut size = 0_usize;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        size |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((size, bytes.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_content() {
        assert_eq!(id_of("00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff").map(|id| id[1]), Some(255));
        for wrong in ["", "00", "zz", &"0".repeat(64), &"é".repeat(20)] {
            assert_eq!(id_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn differences() {
        // Copies "cd", writes "xy", copies "a".
        let delta = [4, 5, 0x91, 2, 2, 2, b'x', b'y', 0x90, 1];
        assert_eq!(applied(b"abcd", &delta).as_deref(), Some(b"cdxya".as_slice()));
        for wrong in
            [&[3, 5][..], &[4, 5, 0], &[4, 5, 0x91, 9, 2], &[4, 1, 2, b'x', b'y'], &[4, 5, 7, b'x'], &[]]
        {
            assert_eq!(applied(b"abcd", wrong), None, "{wrong:?}");
        }
    }
}
