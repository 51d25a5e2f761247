//! What a call has left at the paths of its checkpoint: without it nobody could tell its work from a person's.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use super::record::{After, Entry, Manifest, Stamp, State};
use super::store::Checkpoints;
use super::take::{self, Extent, Site, ToSave, Tree, Wanted};
use super::tree;
use super::way::{Way, stamp};
use crate::domain::{CheckpointPolicy, Fault, FaultKind, Subject, join, map_of, set_of};
use crate::host::{facts, index, private};

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
        let id = private::found(fs::read_to_string(&path))
            .map_err(|error| private::cannot(FaultKind::State, &path, &error))?;
        let Some(id) = id else { return Ok(()) };
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
        let mut seen: Vec<&str> = manifest.listed.iter().map(String::as_str).collect();
        let made = manifest.entries.iter().filter(|entry| entry.state == State::Absent);
        seen.extend(made.map(|entry| entry.path.as_str()).filter(|path| !lies_in_git(path)));
        let is_dir = |path: &str, way: &mut Way| {
            way.look(path, 0, None).is_ok_and(|state| matches!(state, State::Directory { .. }))
        };
        seen.retain(|path| is_dir(path, &mut way));
        let new = self.new_ones(manifest, &seen, (repo, home), time_ms);
        After { entries, new, stays: stays(manifest), unfinished: false }
    }

    /// What is there that was not there before; nothing where it is too much to be looked at, or cannot be told.
    fn new_ones(
        &self,
        manifest: &Manifest,
        seen: &[&str],
        (repo, home): (Option<&str>, Option<&str>),
        time_ms: u64,
    ) -> Vec<Entry> {
        let Some(tracked) = self.tracked_before(manifest) else { return Vec::new() };
        if seen.is_empty() && manifest.trees.is_empty() {
            return Vec::new();
        }
        let deep = |path: &&str| ToSave {
            path: (*path).to_owned(),
            glob: false,
            deep: true,
            follow: false,
            from: None,
        };
        let to_save: Vec<ToSave> = seen.iter().map(deep).collect();
        let tree = if manifest.whole { Tree::Whole } else { Tree::Changed };
        let site = |repo: &String| Site { repo: repo.clone(), tree };
        let sites: Vec<Site> = manifest.trees.iter().map(site).collect();
        let was_listed = !manifest.listed.is_empty() || !sites.is_empty();
        let bounds = CheckpointPolicy {
            max_files: if was_listed { self.bounds.max_files } else { MAX_NEW.0 },
            max_bytes: if was_listed { self.bounds.max_bytes } else { MAX_NEW.1 },
            ..self.bounds.clone()
        };
        let extent = Extent { inner: manifest.inner, ..Extent::default() };
        let wanted = Wanted { to_save: &to_save, sites: &sites, extent, protected: &[], repo, home, time_ms };
        let Ok(found) = take::take(&wanted, (&bounds, bounds.max_bytes), None) else {
            return Vec::new();
        };
        let known = map_of(manifest.entries.iter().map(|entry| (entry.path.as_str(), &entry.state)));
        // What git no longer ignores is not new.
        let is_rules = |entry: &Entry| {
            entry.path.ends_with("/.gitignore")
                && !known.get(entry.path.as_str()).is_some_and(|state| state.is_same(&entry.state))
                && !tracked.contains(&entry.path)
        };
        let is_full = |entry: &Entry| entry.path.ends_with("/…");
        if found.entries.iter().any(|entry| is_full(entry) || is_rules(entry)) {
            return Vec::new();
        }
        let is_new = |entry: &Entry| {
            !known.contains_key(entry.path.as_str())
                && !tracked.contains(&entry.path)
                && !lies_in_git(&entry.path)
        };
        found.entries.into_iter().filter(is_new).collect()
    }

    /// What git tracked in the work trees of a checkpoint, by the index that was saved with it.
    fn tracked_before(&self, manifest: &Manifest) -> Option<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for repo in &manifest.trees {
            let index = facts::real_path(&join(&facts::git_dir(repo)?, "index"));
            let kept = manifest.entries.iter().find(|entry| entry.path == index)?;
            match &kept.state {
                State::Absent => {}
                State::File { digest, .. } => {
                    let bytes = fs::read(self.objects().path(digest)?).ok()?;
                    found.extend(index::names(&bytes)?.iter().map(|name| join(repo, name)));
                }
                State::Symlink { .. } | State::Directory { .. } | State::Skipped { .. } => return None,
            }
        }
        Some(found)
    }
}

/// What a call has made or changed in git and nobody puts back: new branches and tags, and the index where it was not saved.
fn stays(manifest: &Manifest) -> Vec<String> {
    let known = set_of(manifest.entries.iter().map(|entry| entry.path.as_str()));
    let mut found = Vec::new();
    for repo in &manifest.repos {
        let Some(dir) = facts::git_dir(repo) else { continue };
        let (names, _) = tree::names_in(&facts::common_git_dir(&dir));
        let is_new = |path: &String| !known.contains(path.as_str()) && tree::is_name(path);
        found.extend(names.into_iter().filter(is_new));
    }
    let index = manifest.index.as_ref().filter(|(path, _)| !known.contains(path.as_str()));
    if let Some((path, was)) = index
        && Way::default().stat(path).ok().flatten().is_some_and(|stat| stamp(&stat) != *was)
    {
        found.push(path.clone());
    }
    found
}

/// The index of a project, and when it was last changed.
pub(super) fn index_of(repo: &str) -> Option<(String, Stamp)> {
    let path = facts::real_path(&join(&facts::git_dir(repo)?, "index"));
    let stat = Way::default().stat(&path).ok().flatten()?;
    Some((path, stamp(&stat)))
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
