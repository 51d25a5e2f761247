//! Old files removed, always the oldest first: what is kept is one piece of the chain, and the chain knows where it begins.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::chain::Chain;
use super::earlier::Earlier;
use super::seal::Seal;
use super::{CURRENT, DAY_MS, cannot, files, read, rename, seal};
use crate::domain::{AuditPolicy, Fault};
use crate::host::clock::Now;
use crate::host::{Watched, private, unwatched};

/// Longest end of a file that is searched for its last line.
const TAIL: u64 = 1 << 20;

/// What was removed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pruned {
    pub files: Vec<PathBuf>,
    pub bytes: u64,
}

/// Sets the current file aside when it is older than a day, and removes what was set aside more than `retain_days` ago.
/// For the start of a session: it reads a directory. Says how many files were removed.
pub fn sweep(dir: &Path, policy: &AuditPolicy, now: Now) -> Result<usize, Fault> {
    let Some(mut chain) = open(dir, now)? else { return Ok(0) };
    chain.check()?;
    let begun = read::begun_ms(&dir.join(CURRENT)).unwrap_or(now.unix_ms);
    if now.unix_ms.saturating_sub(begun) > DAY_MS {
        rename(dir, &mut chain, now)?;
    }
    let keep_ms = u64::from(policy.retain_days).saturating_mul(DAY_MS);
    // The time of the last line, not of the first: a line is kept for at least that long.
    let old = oldest(dir, |path| private::untouched_ms(path, now) > keep_ms)?;
    Ok(remove(&mut chain, &old, &mut unwatched)?.files.len())
}

/// Removes every file whose events are all from before that time, in Unix milliseconds; `dry` = only says which. The current
/// file is set aside first where it is one of them. `each` is told how many are gone; where it ends that, the rest goes the next time.
pub fn prune(
    dir: &Path,
    before_ms: u64,
    now: Now,
    dry: bool,
    each: &mut Watched<'_>,
) -> Result<Pruned, Fault> {
    let due = |path: &Path| read::ended_ms(path).is_some_and(|ended| ended < before_ms);
    if dry {
        let mut old = oldest(dir, due)?;
        let current = dir.join(CURRENT);
        if files(dir)?.len() == old.len() + 1 && due(&current) {
            old.push(current);
        }
        let bytes = old.iter().map(|path| length(path)).sum();
        return Ok(Pruned { files: old, bytes });
    }
    let Some(mut chain) = open(dir, now)? else { return Ok(Pruned::default()) };
    if due(&dir.join(CURRENT)) {
        rename(dir, &mut chain, now)?;
    }
    let old = oldest(dir, due)?;
    remove(&mut chain, &old, each)
}

/// The chain of a log that is there.
fn open(dir: &Path, now: Now) -> Result<Option<Chain>, Fault> {
    if files(dir)?.is_empty() { Ok(None) } else { Chain::open(dir, now).map(Some) }
}

/// The files that were set aside and are due, up to the first one that is not.
fn oldest(dir: &Path, due: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Fault> {
    let current = dir.join(CURRENT);
    Ok(files(dir)?.into_iter().take_while(|path| *path != current && due(path)).collect())
}

fn remove(chain: &mut Chain, old: &[PathBuf], each: &mut Watched<'_>) -> Result<Pruned, Fault> {
    // First the chain is told, then the files go: killed in between, `verify` finds lines from before its beginning.
    let earlier = chain.earlier();
    if let Some(count) = old.iter().rev().find_map(|path| last_count(path, chain, earlier.as_ref())) {
        chain.forget(count)?;
    }
    let mut pruned = Pruned::default();
    for (gone, path) in old.iter().enumerate() {
        if each(gone as u64).is_break() {
            break;
        }
        let bytes = length(path);
        fs::remove_file(path).map_err(|error| cannot(path, &error))?;
        pruned.files.push(path.clone());
        pruned.bytes = pruned.bytes.saturating_add(bytes);
    }
    Ok(pruned)
}

fn length(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |meta| meta.len())
}

/// The number of the last line of this chain in a file, or of the earlier version's chain that it goes on from.
fn last_count(path: &Path, chain: &Chain, earlier: Option<&Earlier>) -> Option<u64> {
    let tail = tail(path)?;
    let seals = tail.split_inclusive(|byte| *byte == b'\n').rev().filter_map(seal::read);
    let is_earlier =
        |seal: &Seal| earlier.is_some_and(|old| seal.key == old.key.name && seal.count <= old.last);
    let ours = |seal: &Seal| seal.key == chain.keys.chain.name || is_earlier(seal);
    seals.filter(ours).map(|seal| seal.count).next()
}

/// The end of a file.
pub(super) fn tail(path: &Path) -> Option<Vec<u8>> {
    let mut file = private::open(path, false).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
