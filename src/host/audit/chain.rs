//! The file beside the log that holds the chain's key, its anchor, and where it begins after old files were removed. Its lock is the
//! log's: whoever writes a line or sets a file aside holds it.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rand::TryRng;
use rand::rngs::SysRng;

use super::cannot;
use super::seal::{self, Key, Link, SIZE};
use crate::domain::{Fault, FaultKind};
use crate::host::clock::Now;
use crate::host::lock::{self, Hold};
use crate::host::private;

/// The file's name, which no project has. It holds a key: `places` keeps every tool from reading it.
pub const FILE: &str = "lazaret-audit.key";
/// What the files of every version begin with, and ours.
const KIN: &[u8] = b"lazaret aud";
const MAGIC: &[u8; 12] = b"lazaret aud2";
/// Magic, the key with its name, the anchor: what every line needs, in one read.
const HOT: usize = HEAD + ANCHOR;
const HEAD: usize = 12 + 4 + SIZE;
/// A size and a link.
const ANCHOR: usize = 8 + LINK;
const ANCHOR_AT: u64 = HEAD as u64;
const LINK: usize = 8 + SIZE;
/// Where the chain begins, then the ends of the files that were set aside.
const BASE_AT: u64 = HOT as u64;
const SEAMS_AT: u64 = BASE_AT + LINK as u64;
/// Longest file that is read: some hundred thousand files set aside.
const MAX: u64 = 4 << 20;
/// Longest wait for the lock, in milliseconds: well below every deadline.
const WAIT_MS: u64 = 1000;

/// The open file; its lock ends with it.
pub(super) struct Chain {
    file: File,
    path: PathBuf,
    pub key: Key,
    /// The last line that is anchored.
    pub anchor: Link,
    /// Size of the current file with that line.
    pub size: u64,
}

impl Chain {
    /// Opens the chain of a log for one writer, and makes it where there is none.
    pub fn open(dir: &Path, now: Now) -> Result<Chain, Fault> {
        let path = dir.join(FILE);
        let file = match private::open_make(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                private::dir(FaultKind::Audit, dir)?;
                private::open_make(&path)
            }
            opened => opened,
        }
        .map_err(|error| cannot(&path, &error))?;
        locked(&file, &path, Hold::Alone)?;
        let mut bytes = [0; HOT];
        let read = file.read_at(&mut bytes, 0).map_err(|error| cannot(&path, &error))?;
        if read == 0 {
            return begin(file, path, dir);
        }
        match parts(&bytes).filter(|_| read == HOT) {
            Some((key, anchor, size)) => Ok(Chain { file, path, key, anchor, size }),
            None => Err(aside(&path, &bytes, now)),
        }
    }

    /// The chain as it is now, for a reader: `None` = there is none. Whoever writes waits while the answer lives.
    pub fn look(dir: &Path) -> Result<Option<(Chain, Link)>, Fault> {
        let path = dir.join(FILE);
        let file = match private::open(&path, false) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot(&path, &error)),
        };
        locked(&file, &path, Hold::Shared)?;
        let meta = file.metadata().map_err(|error| cannot(&path, &error))?;
        private::owned(FaultKind::Audit, &path, &meta)?;
        let mut bytes = [0; HOT];
        let read = file.read_at(&mut bytes, 0).map_err(|error| cannot(&path, &error))?;
        let Some((key, anchor, size)) = parts(&bytes).filter(|_| read == HOT) else { return Ok(None) };
        let chain = Chain { file, path, key, anchor, size };
        let base = chain.base()?;
        Ok(Some((chain, base)))
    }

    /// Makes the file private again, where somebody opened it to others; one of another user is a fault.
    pub fn check(&self) -> Result<(), Fault> {
        let meta = self.file.metadata().map_err(|error| cannot(&self.path, &error))?;
        private::owned(FaultKind::Audit, &self.path, &meta)?;
        if meta.mode() & 0o077 != 0 {
            let private = Permissions::from_mode(0o600);
            self.file.set_permissions(private).map_err(|error| cannot(&self.path, &error))?;
        }
        Ok(())
    }

    /// Whether others than the owner may open the file.
    pub fn is_open(&self) -> bool {
        self.file.metadata().is_ok_and(|meta| meta.mode() & 0o077 != 0)
    }

    /// Anchors what was written; `size` is the current file's.
    pub fn anchor(&mut self, link: Link, size: u64) -> io::Result<()> {
        (self.anchor, self.size) = (link, size);
        let mut bytes = [0; ANCHOR];
        write(&mut bytes, &size.to_le_bytes(), &link);
        self.file.write_all_at(&bytes, ANCHOR_AT)
    }

    /// The last line before the first one that is kept.
    pub fn base(&self) -> Result<Link, Fault> {
        let mut bytes = [0; LINK];
        self.file.read_exact_at(&mut bytes, BASE_AT).map_err(|error| cannot(&self.path, &error))?;
        Ok(link(&bytes).unwrap_or_default())
    }

    /// Remembers where the file that is about to be set aside ends.
    pub fn seam(&mut self) -> Result<(), Fault> {
        let end = self.file.metadata().map_or(SEAMS_AT, |meta| meta.len().max(SEAMS_AT));
        let mut bytes = [0; LINK];
        write(&mut bytes, b"", &self.anchor);
        self.file.write_all_at(&bytes, end).map_err(|error| cannot(&self.path, &error))
    }

    /// From now on the chain begins behind line `count`, if a file ended there. The files are to be removed after this.
    pub fn forget(&mut self, count: u64) -> Result<(), Fault> {
        let in_vain = |error: io::Error| cannot(&self.path, &error);
        let mut all = Vec::new();
        (&self.file).take(MAX).read_to_end(&mut all).map_err(in_vain)?;
        let seams = all.get(SEAMS_AT as usize..).unwrap_or_default();
        let seams: Vec<Link> = seams.as_chunks::<LINK>().0.iter().filter_map(|seam| link(seam)).collect();
        let base = self.base()?;
        let Some(last) = seams.iter().find(|seam| seam.count == count && count > base.count) else {
            return Ok(());
        };
        let mut bytes = vec![0; LINK];
        write(&mut bytes, b"", last);
        self.file.write_all_at(&bytes, BASE_AT).map_err(in_vain)?;
        // Written over in place, then cut: killed in between, some stand there twice.
        let mut kept = Vec::new();
        for seam in seams.iter().filter(|seam| seam.count > count) {
            write(&mut bytes, b"", seam);
            kept.extend_from_slice(&bytes);
        }
        self.file.write_all_at(&kept, SEAMS_AT).map_err(in_vain)?;
        self.file.set_len(SEAMS_AT + kept.len() as u64).map_err(in_vain)
    }
}

fn locked(file: &File, path: &Path, hold: Hold) -> Result<(), Fault> {
    if lock::hold_briefly(file, hold, WAIT_MS).map_err(|error| cannot(path, &error))? {
        return Ok(());
    }
    let why = format!("another process has held its lock for {WAIT_MS} ms");
    Err(private::fault(FaultKind::Audit, path, why).with_way_out("try again"))
}

/// A new chain. What the current file holds already is of an earlier version, or of a chain whose key is gone.
fn begin(file: File, path: PathBuf, dir: &Path) -> Result<Chain, Fault> {
    let mut random = [0_u8; SIZE + 4];
    SysRng
        .try_fill_bytes(&mut random)
        .map_err(|error| private::fault(FaultKind::Audit, &path, format!("no randomness: {error}")))?;
    let Some(key) = key(&random) else { return Err(private::fault(FaultKind::Audit, &path, "no key")) };
    let anchor = seal::begin(&key);
    let current = dir.join(super::CURRENT);
    let size = fs::symlink_metadata(&current).map_or(0, |meta| meta.len());
    // A piece of a line at its end belongs to the first line's gap.
    let tail = super::prune::tail(&current).unwrap_or_default();
    let piece = tail.iter().rev().take_while(|byte| **byte != b'\n').count();
    let size = size.saturating_sub(piece as u64);
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&random);
    let (mut first, mut base) = ([0; ANCHOR], [0; LINK]);
    write(&mut first, &size.to_le_bytes(), &anchor);
    write(&mut base, b"", &anchor);
    bytes.extend_from_slice(&first);
    bytes.extend_from_slice(&base);
    let written = file.write_at(&bytes, 0).map_err(|error| cannot(&path, &error))?;
    if written < bytes.len() {
        // Half of it would be taken for damage.
        let _empty = file.set_len(0);
        return Err(cannot(&path, &io::Error::from_raw_os_error(libc::ENOSPC)));
    }
    Ok(Chain { file, path, key, anchor, size })
}

/// Keeps a file that is no chain of ours under another name. The lines so far can't be proven any more, which `verify` says.
fn aside(path: &Path, bytes: &[u8; HOT], now: Now) -> Fault {
    let other = bytes.starts_with(KIN) && !bytes.starts_with(MAGIC);
    let what = if other { "of another version of lazaret" } else { "damaged" };
    let mut kept = path.as_os_str().to_owned();
    kept.push(format!(".damaged-{}", now.unix_ms));
    match fs::rename(path, &kept) {
        Ok(()) => {
            let why = format!("it is {what}; it was kept as {}", Path::new(&kept).display());
            private::fault(FaultKind::Audit, path, why)
                .with_way_out("try again: a new chain begins with the next line")
        }
        Err(error) => cannot(path, &error),
    }
}

fn parts(bytes: &[u8; HOT]) -> Option<(Key, Link, u64)> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let key = key(rest)?;
    let (size, rest) = rest.get(SIZE + 4..)?.split_first_chunk()?;
    Some((key, link(rest)?, u64::from_le_bytes(*size)))
}

fn key(bytes: &[u8]) -> Option<Key> {
    let (name, rest) = bytes.split_first_chunk()?;
    Some(Key { secret: *rest.first_chunk()?, name: u32::from_le_bytes(*name) })
}

fn link(bytes: &[u8]) -> Option<Link> {
    let (count, tag) = bytes.split_first_chunk()?;
    Some(Link { count: u64::from_le_bytes(*count), tag: *tag.first_chunk()? })
}

fn write(to: &mut [u8], before: &[u8], link: &Link) {
    let bytes =
        before.iter().chain(link.count.to_le_bytes().iter()).chain(&link.tag).copied().collect::<Vec<u8>>();
    for (to, from) in to.iter_mut().zip(bytes) {
        *to = from;
    }
}
