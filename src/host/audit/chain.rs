//! The file beside the log that holds the chain's keys, its anchor, and where it begins after old files were removed. Its lock is the
//! log's: whoever writes a line or sets a file aside holds it.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rand::TryRng;
use rand::rngs::SysRng;

use super::cannot;
use super::earlier::{self, Earlier};
use super::form::{self, HOT, Hot, LINK};
use super::memory::Last;
use super::seal::{self, Keys, Link, SIZE};
use super::sealing::VerificationKey;
use super::walk::Follow;
use crate::domain::{Fault, FaultKind};
use crate::host::clock::Now;
use crate::host::lock::{self, Hold};
use crate::host::private;

/// The file's name, which no project has. It holds keys: `places` keeps every tool from reading it.
pub const FILE: &str = "lazaret-audit.key";
/// Longest file that is read: some hundred thousand files set aside.
const MAX: u64 = 4 << 20;
/// Longest wait for the lock, in milliseconds: well below every deadline.
const WAIT_MS: u64 = 1000;

/// The open file; its lock ends with it.
pub(super) struct Chain {
    file: File,
    path: PathBuf,
    pub keys: Keys,
    /// The last line that is anchored.
    pub anchor: Link,
    /// Size of the current file with that line.
    pub size: u64,
    /// A chain that was here before it and is gone had a line of this number.
    pub lost: Option<u64>,
}

/// What a reader sees of a chain: whoever writes waits while it lives.
pub(super) struct Seen {
    pub chain: Chain,
    /// The last line before the first one that is kept.
    pub base: Link,
    /// What an earlier version sealed with one key.
    pub earlier: Option<Earlier>,
    /// The number of the first line that the last verification key given out verifies; 0 = none was.
    pub given: u64,
}

impl Seen {
    /// What lines are followed with: with the verification key, all from its number on are proven; without, those behind the anchor.
    pub fn follow(&self, key: Option<&VerificationKey>) -> Follow {
        let keys = &self.chain.keys;
        Follow {
            key: keys.chain.clone(),
            earlier: self.earlier.clone(),
            sealing: Some(key.map_or_else(|| keys.sealing.clone(), |key| key.sealing.clone())),
            anchored: self.chain.anchor.count,
        }
    }
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
        if let Some(hot) = Hot::read(&bytes).filter(|_| read == HOT) {
            return Ok(Chain::new(file, path, hot));
        }
        match earlier::read(bytes.get(..read).unwrap_or_default()) {
            Some(old) => renew(file, path, dir, old),
            None => Err(aside(&path, &bytes, now)),
        }
    }

    fn new(file: File, path: PathBuf, hot: Hot) -> Chain {
        let Hot { keys, anchor, size } = hot;
        Chain { file, path, keys, anchor, size, lost: None }
    }

    /// The chain as it is now, for a reader: `None` = there is none.
    pub fn look(dir: &Path) -> Result<Option<Seen>, Fault> {
        let path = dir.join(FILE);
        let opened = private::found(private::open(&path, false)).map_err(|error| cannot(&path, &error))?;
        let Some(file) = opened else { return Ok(None) };
        locked(&file, &path, Hold::Shared)?;
        let meta = file.metadata().map_err(|error| cannot(&path, &error))?;
        private::owned(FaultKind::Audit, &path, &meta)?;
        let mut bytes = [0; form::SEAMS];
        let read = file.read_at(&mut bytes, 0).map_err(|error| cannot(&path, &error))?;
        let bytes = bytes.get(..read).unwrap_or_default();
        if let Some(old) = earlier::read(bytes) {
            let earlier::Old { hot, base } = old;
            let earlier = Some(Earlier { key: hot.keys.chain.clone(), last: u64::MAX });
            return Ok(Some(Seen { chain: Chain::new(file, path, hot), base, earlier, given: 0 }));
        }
        let seen = form::read(bytes).map(|whole| Seen {
            chain: Chain::new(file, path, whole.hot),
            base: whole.base,
            earlier: whole.earlier,
            given: whole.given,
        });
        Ok(seen)
    }

    /// The key with which all lines from the next one on are verified. It is for one person, once: the next line is its end here.
    pub fn give(&mut self) -> Result<VerificationKey, Fault> {
        let sealing = self.keys.sealing.clone();
        self.file
            .write_all_at(&sealing.number.to_le_bytes(), form::GIVEN)
            .map_err(|error| cannot(&self.path, &error))?;
        Ok(VerificationKey { name: self.keys.chain.name, sealing })
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

    /// Anchors what was written, and forgets the keys that it was sealed with; `size` is the current file's.
    pub fn anchor(&mut self, link: Link, size: u64) -> io::Result<()> {
        if let Some(next) = self.keys.sealing.of(link.count.saturating_add(1)) {
            self.keys.sealing = next;
        }
        (self.anchor, self.size) = (link, size);
        self.file.write_all_at(&form::moving(&self.keys.sealing, &link, size), form::MOVING)
    }

    /// The last line before the first one that is kept.
    pub fn base(&self) -> Result<Link, Fault> {
        let mut bytes = [0; LINK];
        self.file.read_exact_at(&mut bytes, form::BASE).map_err(|error| cannot(&self.path, &error))?;
        Ok(form::link(&bytes).unwrap_or_default())
    }

    /// Where the last file that was set aside ends; where the chain begins if none is there.
    pub fn last_seam(&self) -> Result<Link, Fault> {
        let length = self.file.metadata().map_or(0, |meta| meta.len());
        if length < (form::SEAMS + LINK) as u64 {
            return self.base();
        }
        let mut bytes = [0; LINK];
        let at = length - LINK as u64;
        self.file.read_exact_at(&mut bytes, at).map_err(|error| cannot(&self.path, &error))?;
        Ok(form::link(&bytes).unwrap_or_default())
    }

    /// What an earlier version sealed.
    pub fn earlier(&self) -> Option<Earlier> {
        let mut bytes = [0; form::SEAMS];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        form::read(&bytes)?.earlier
    }

    /// Remembers where the file that is about to be set aside ends.
    pub fn seam(&mut self) -> Result<(), Fault> {
        let first = form::SEAMS as u64;
        let end = self.file.metadata().map_or(first, |meta| meta.len().max(first));
        self.file.write_all_at(&form::linked(&self.anchor), end).map_err(|error| cannot(&self.path, &error))
    }

    /// From now on the chain begins behind line `count`, if a file ended there. The files are to be removed after this.
    pub fn forget(&mut self, count: u64) -> Result<(), Fault> {
        let in_vain = |error: io::Error| cannot(&self.path, &error);
        let mut all = Vec::new();
        (&self.file).take(MAX).read_to_end(&mut all).map_err(in_vain)?;
        let seams = all.get(form::SEAMS..).unwrap_or_default();
        let seams: Vec<Link> =
            seams.as_chunks::<LINK>().0.iter().filter_map(|seam| form::link(seam)).collect();
        let base = self.base()?;
        let Some(last) = seams.iter().find(|seam| seam.count == count && count > base.count) else {
            return Ok(());
        };
        self.file.write_all_at(&form::linked(last), form::BASE).map_err(in_vain)?;
        // Written over in place, then cut: killed in between, some are there twice.
        let kept = seams.iter().filter(|seam| seam.count > count).flat_map(form::linked);
        let kept: Vec<u8> = kept.collect();
        let first = form::SEAMS as u64;
        self.file.write_all_at(&kept, first).map_err(in_vain)?;
        self.file.set_len(first + kept.len() as u64).map_err(in_vain)
    }
}

fn locked(file: &File, path: &Path, hold: Hold) -> Result<(), Fault> {
    if lock::hold_briefly(file, hold, WAIT_MS).map_err(|error| cannot(path, &error))? {
        return Ok(());
    }
    let why = format!("another process has held its lock for {WAIT_MS} ms");
    Err(private::fault(FaultKind::Audit, path, why).with_hint("try again"))
}

/// A new chain. What the current file holds already is of an earlier version, or of a chain whose keys are gone.
fn begin(file: File, path: PathBuf, dir: &Path) -> Result<Chain, Fault> {
    // Where there was one before, its numbers go on: the lines that are missing in front are told of for as long as these are kept.
    let lost = Last::of(dir).map(|last| last.count.max(1));
    let keys = made(&path, lost.unwrap_or(0).saturating_add(1))?;
    let base = seal::begin(&keys.chain);
    let anchor = Link { count: lost.unwrap_or(0), ..base };
    let current = dir.join(super::CURRENT);
    let size = fs::symlink_metadata(&current).map_or(0, |meta| meta.len());
    // A piece of a line at its end belongs to the first line's gap.
    let tail = super::prune::tail(&current).unwrap_or_default();
    let piece = tail.iter().rev().take_while(|byte| **byte != b'\n').count();
    let size = size.saturating_sub(piece as u64);
    let name = keys.chain.name;
    let bytes = form::write(&Hot { keys, anchor, size }, &base, None);
    let chain = Chain { lost, ..written(file, path, &bytes)? };
    // Without it only this is not known: that there was a chain, once it is gone.
    let _kept = Last { name, count: anchor.count }.keep(dir);
    Ok(chain)
}

/// The chain of an earlier version goes on with keys that are forgotten. What it sealed so far is still verified with its one key.
fn renew(file: File, path: PathBuf, dir: &Path, old: earlier::Old) -> Result<Chain, Fault> {
    let earlier::Old { hot: Hot { keys, anchor, size }, base } = old;
    let (anchor, size) = earlier::end(dir, &keys.chain, (anchor, size));
    let earlier = Earlier { key: keys.chain, last: anchor.count };
    let keys = made(&path, anchor.count.saturating_add(1))?;
    let bytes = form::write(&Hot { keys, anchor, size }, &base, Some(&earlier));
    let seams = earlier::seams(&file).map_err(|error| cannot(&path, &error))?;
    written(file, path, &[bytes, seams].concat())
}

/// New keys; `number` is the first line's.
fn made(path: &Path, number: u64) -> Result<Keys, Fault> {
    let mut random = [0_u8; 4 + 2 * SIZE];
    SysRng
        .try_fill_bytes(&mut random)
        .map_err(|error| private::fault(FaultKind::Audit, path, format!("no randomness: {error}")))?;
    form::keys(&random, number).ok_or_else(|| private::fault(FaultKind::Audit, path, "no key"))
}

/// The chain with this file.
fn written(file: File, path: PathBuf, bytes: &[u8]) -> Result<Chain, Fault> {
    let written = file.write_at(bytes, 0).map_err(|error| cannot(&path, &error))?;
    let hot = bytes.first_chunk().and_then(Hot::read).filter(|_| written == bytes.len());
    let Some(hot) = hot else {
        // Half of it would be taken for damage.
        let _empty = file.set_len(0);
        return Err(cannot(&path, &io::Error::from_raw_os_error(libc::ENOSPC)));
    };
    Ok(Chain::new(file, path, hot))
}

/// Keeps a file that is no chain of ours under another name. The lines so far can't be proven any more, which `verify` says.
fn aside(path: &Path, bytes: &[u8; HOT], now: Now) -> Fault {
    let other = bytes.starts_with(form::KIN) && !bytes.starts_with(form::MAGIC);
    let what = if other { "of another version of lazaret" } else { "damaged" };
    let mut kept = path.as_os_str().to_owned();
    kept.push(format!(".damaged-{}", now.unix_ms));
    match fs::rename(path, &kept) {
        Ok(()) => {
            let why = format!("it is {what}; it was kept as {}", Path::new(&kept).display());
            private::fault(FaultKind::Audit, path, why)
                .with_hint("try again: a new chain begins with the next line")
        }
        Err(error) => cannot(path, &error),
    }
}
