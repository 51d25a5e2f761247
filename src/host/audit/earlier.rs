//! A chain of an earlier version: one key for all lines, and one tag in a seal. It is followed, and goes on as one of ours.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::CURRENT;
use super::form::{self, Hot, LINK};
use super::seal::{ChainKey, Keys, Link, SIZE};
use super::sealing::SealingKey;
use super::walk::{Follow, GAP, Walk};
use crate::host::private;

const MAGIC: &[u8; 12] = b"lazaret aud2";
/// Magic, the key with its name, the size of the current file, the anchor, where the chain begins; then the ends of files.
const SEAMS: usize = 12 + 4 + SIZE + 8 + LINK + LINK;
/// Most ends of files that are kept.
const MAX_SEAMS: usize = 100_000;

/// What the earlier version's key sealed.
#[derive(Debug, Clone)]
pub(super) struct Earlier {
    pub key: ChainKey,
    /// The number of the last such line.
    pub last: u64,
}

/// The file of an earlier version. Its sealing key is none.
pub(super) struct Old {
    pub hot: Hot,
    pub base: Link,
}

/// A file of an earlier version, from its beginning.
pub(super) fn read(bytes: &[u8]) -> Option<Old> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (chain, rest) = form::chain_key(rest)?;
    let (size, rest) = form::number(rest)?;
    let (anchor, base) = rest.split_at_checked(LINK)?;
    let anchor = form::link(anchor).map(|link| Link { tag: link.mark, ..link })?;
    let sealing = SealingKey { number: anchor.count.saturating_add(1), secret: [0; SIZE] };
    Some(Old { hot: Hot { keys: Keys { chain, sealing }, anchor, size }, base: form::link(base)? })
}

/// The ends of the files that were set aside, which are spelt as ours are.
pub(super) fn seams(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes =
        vec![0; usize::try_from(file.metadata()?.len()).unwrap_or(0).min(SEAMS + MAX_SEAMS * LINK)];
    file.read_exact_at(&mut bytes, 0)?;
    let seams = bytes.get(SEAMS..).unwrap_or_default();
    Ok(seams.as_chunks::<LINK>().0.concat())
}

/// The last line that the earlier version sealed, also where it was killed before it anchored it, and the current file's size with it.
pub(super) fn end(dir: &Path, key: &ChainKey, (anchor, size): (Link, u64)) -> (Link, u64) {
    let Ok(mut file) = private::open(&dir.join(CURRENT), false) else { return (anchor, size) };
    if file.seek(SeekFrom::Start(size)).is_err() {
        return (anchor, size);
    }
    let earlier = Some(Earlier { key: key.clone(), last: u64::MAX });
    let with = Follow { key: key.clone(), earlier, sealing: None, anchored: u64::MAX };
    let mut walk = Walk::new(with, anchor);
    let (mut rest, mut line, mut read) = (BufReader::new(file.take(GAP as u64)), Vec::new(), size);
    let mut end = (anchor, size);
    while rest.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        read = read.saturating_add(line.len() as u64);
        let _step = walk.step(&line);
        if walk.at.count > end.0.count {
            end = (walk.at, read);
        }
        line.clear();
    }
    end
}
