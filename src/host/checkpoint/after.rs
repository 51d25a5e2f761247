//! What a call has left at the paths of its checkpoint: without it nobody could tell its work from a person's.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use super::record::{After, Entry, Manifest, State};
use super::store::Checkpoints;
use super::take::{self, Tree, Wanted, Wish};
use super::way::{Way, stamp};
use crate::domain::{CheckpointPolicy, Fault, FaultKind, Subject};
use crate::host::private;

/// Most files, and most of their bytes, that are looked at in directories that the call made.
const MAX_NEW: (u64, u64) = (2_000, 32 << 20);

impl Checkpoints {
    /// Whether the call has a checkpoint and its end was not reported yet.
    pub fn is_awaited(&self, subject: &Subject, call: &str) -> bool {
        rustix::fs::lstat(self.pending(subject, call)).is_ok()
    }

    /// A call has ended: what it left is kept with its checkpoint, if it has one. Looks for `time_ms` at most.
    pub fn ended(
        &self,
        subject: &Subject,
        call: &str,
        (repo, home): (Option<&str>, Option<&str>),
        time_ms: u64,
    ) -> Result<(), Fault> {
        let path = self.pending(subject, call);
        let id = match fs::read_to_string(&path) {
            Ok(id) => id,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(private::cannot(FaultKind::State, &path, &error)),
        };
        let _held = self.hold()?;
        let _ = fs::remove_file(&path);
        let Some(manifest) = self.find(id.trim())? else { return Ok(()) };
        let after = self.left(&manifest, (repo, home), time_ms);
        self.keep_after(&manifest.id, &after)
    }

    /// What is there now.
    pub(super) fn left(
        &self,
        manifest: &Manifest,
        (repo, home): (Option<&str>, Option<&str>),
        time_ms: u64,
    ) -> After {
        let max = if manifest.undoes.is_empty() { self.bounds.max_bytes } else { u64::MAX };
        let until = Instant::now() + Duration::from_millis(time_ms);
        let mut way = Way::default();
        let mut entries = Vec::with_capacity(manifest.entries.len());
        for entry in &manifest.entries {
            if Instant::now() >= until {
                break;
            }
            if let Some(state) = now_at(&mut way, entry, max) {
                entries.push(Entry { path: entry.path.clone(), state });
            }
        }
        let made: Vec<Wish> = manifest
            .entries
            .iter()
            .filter(|entry| entry.state == State::Absent && !lies_in_git(&entry.path))
            .map(|entry| Wish { path: entry.path.clone(), glob: false, deep: true, follow: false })
            .filter(|wish| {
                way.look(&wish.path, 0, None).is_ok_and(|state| matches!(state, State::Directory { .. }))
            })
            .collect();
        let tree = manifest.whole.then_some(Tree::Whole);
        let new = if made.is_empty() && tree.is_none() {
            Vec::new()
        } else {
            self.new_ones(
                manifest,
                Wanted { wishes: &made, tree, untracked: false, protected: &[], repo, home, time_ms },
            )
        };
        After { entries, new, unfinished: false }
    }

    /// What is there that was not there before; nothing where it is too much to be looked at.
    fn new_ones(&self, manifest: &Manifest, wanted: Wanted<'_>) -> Vec<Entry> {
        let bounds = CheckpointPolicy {
            max_files: if wanted.tree.is_some() { self.bounds.max_files } else { MAX_NEW.0 },
            max_bytes: if wanted.tree.is_some() { self.bounds.max_bytes } else { MAX_NEW.1 },
            ..self.bounds.clone()
        };
        let Ok(found) = take::take(&wanted, (&bounds, bounds.max_bytes), None) else {
            return Vec::new();
        };
        let known: BTreeSet<&str> = manifest.entries.iter().map(|entry| entry.path.as_str()).collect();
        let is_full = found.iter().any(|entry| entry.path.ends_with("/…"));
        if is_full {
            return Vec::new();
        }
        found.into_iter().filter(|entry| !known.contains(entry.path.as_str())).collect()
    }
}

fn lies_in_git(path: &str) -> bool {
    path.split('/').any(|name| name == ".git")
}

/// What is at the path of an entry now. A file that nobody has touched is not read again.
fn now_at(way: &mut Way, entry: &Entry, max: u64) -> Option<State> {
    if let State::File { stamp: known, .. } = &entry.state
        && let Ok(Some(stat)) = way.stat(&entry.path)
        && stamp(&stat) == *known
    {
        return Some(entry.state.clone());
    }
    if matches!(entry.state, State::Skipped { .. }) {
        return None;
    }
    let state = way.look(&entry.path, max, None).ok()?;
    // Too long to be read in a call's time: then nobody can tell what the call left there.
    (!matches!(state, State::Skipped { .. })).then_some(state)
}
