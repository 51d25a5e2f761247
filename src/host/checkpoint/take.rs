//! What is at the wanted paths, found and saved inside the bounds. What lies beyond a bound is named, not left out in silence.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustix::fs::{FileType, Mode, Stat};

use super::objects::{Objects, Refused};
use super::record::{Entry, State};
use super::way::{DIRECTORY, Way};
use crate::domain::{CheckpointPolicy, Protected, join, lies_in};
use crate::host::ignore::Ignore;
use crate::host::index::Index;
use crate::host::{facts, places};

/// Deepest directory below a wanted one.
const MAX_DEPTH: usize = 128;
/// Most names that are looked at, for each file that may be saved.
const LOOKED_AT: usize = 10;
/// Most files that git ignores one by one and that are saved with the directory that goes, and the longest of them.
const MAX_IGNORED: (usize, u64) = (1_000, 1 << 20);
/// Why a file is left out that can be had from git, and one that can be made again.
const HELD: &str = "it is long, and git holds it";
const IGNORED: &str = "git ignores it";
/// Why a protected place is not saved.
pub(super) const PROTECTED: &str = "it is a place that no agent may change";

/// One path whose content is to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToSave {
    /// Absolute, normalised.
    pub path: String,
    /// It is a pattern in shell spelling.
    pub glob: bool,
    /// With all that lies below it.
    pub deep: bool,
    /// What a link there leads to is changed, not the link.
    pub follow: bool,
    /// The path is a directory, and meant is what in it has a name that this pattern finds.
    pub from: Option<String>,
}

/// How much of a repository; each holds what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tree {
    /// Its branches, tags and stashes.
    Names,
    /// What is checked out and staged.
    Staged,
    /// What git does not hold: changed, deleted and untracked files.
    Changed,
    /// All of it.
    Whole,
}

/// A repository of which something is to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The top of its work tree.
    pub repo: String,
    pub tree: Tree,
}

/// What is discarded of work trees beside what git tracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Files that git does not track.
    pub untracked: bool,
    /// Files that git ignores.
    pub ignored: bool,
    /// What lies in repositories inside.
    pub inner: bool,
}

/// What is to be saved before a call.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    pub to_save: &'a [ToSave],
    pub sites: &'a [Site],
    /// What else of the work trees.
    pub extent: Extent,
    /// Places that an agent must not change: no checkpoint makes that milder.
    pub protected: &'a [Protected],
    /// The top of the git work tree.
    pub repo: Option<&'a str>,
    pub home: Option<&'a str>,
    /// How long it may take, in milliseconds.
    pub time_ms: u64,
}

impl Wanted<'_> {
    /// Nothing is there that could be saved, and nothing is made.
    pub(super) fn is_void(&self) -> bool {
        let gone = |to_save: &ToSave| !to_save.glob && !to_save.follow && facts::is_missing(&to_save.path);
        self.sites.is_empty() && self.to_save.iter().all(gone)
    }
}

/// What was found, and the directories of which every name that git does not ignore is among it.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub entries: Vec<Entry>,
    pub listed: Vec<String>,
    /// Work trees of which every file is among it that git did not hold.
    pub trees: Vec<String>,
}

/// Saves everything that is wanted.
pub(super) fn take(
    wanted: &Wanted<'_>,
    (bounds, room): (&CheckpointPolicy, u64),
    objects: Option<&mut Objects>,
) -> Result<Taken, std::io::Error> {
    let mut taker = Taker {
        bounds,
        room: room.min(bounds.max_bytes),
        until: Instant::now() + Duration::from_millis(wanted.time_ms),
        objects,
        way: Way::default(),
        ignore: wanted.repo.map(|repo| Ignore::new(repo, wanted.home)),
        found: BTreeMap::new(),
        looked_at: 0,
        ignored: 0,
        in_tree: false,
        extent: wanted.extent,
        protected: wanted.protected,
        repo: wanted.repo,
        home: wanted.home,
        index: None,
        listed: Vec::new(),
        trees: Vec::new(),
        full: None,
    };
    for to_save in wanted.to_save {
        taker.save_path(to_save)?;
    }
    for site in wanted.sites {
        taker.tree(&facts::real_path(&site.repo), site.tree)?;
    }
    if let Some(why) = taker.full.take() {
        let place = wanted.repo.or(wanted.home).unwrap_or_default();
        taker.found.insert(format!("{place}/…"), State::skipped(why));
        taker.listed.clear();
        taker.trees.clear();
    }
    let entries = taker.found.into_iter().map(|(path, state)| Entry { path, state }).collect();
    Ok(Taken { entries, listed: taker.listed, trees: taker.trees })
}

pub(super) struct Taker<'a> {
    bounds: &'a CheckpointPolicy,
    /// Bytes that may still be saved.
    room: u64,
    until: Instant,
    /// Where contents go; without it they are only looked at.
    objects: Option<&'a mut Objects>,
    way: Way,
    pub(super) ignore: Option<Ignore>,
    pub(super) found: BTreeMap<String, State>,
    looked_at: usize,
    /// Files that git ignores and that were saved all the same.
    ignored: usize,
    /// The work tree is walked, not a directory that goes.
    pub(super) in_tree: bool,
    pub(super) extent: Extent,
    protected: &'a [Protected],
    repo: Option<&'a str>,
    pub(super) home: Option<&'a str>,
    /// What git holds unchanged, once a file is too long.
    index: Option<Option<Index>>,
    listed: Vec<String>,
    pub(super) trees: Vec<String>,
    /// Why nothing more is looked at.
    pub(super) full: Option<String>,
}

impl Taker<'_> {
    fn save_path(&mut self, to_save: &ToSave) -> Result<(), std::io::Error> {
        if let Some(pattern) = &to_save.from {
            let found = facts::real_path(before_pattern(pattern));
            let Some(names) = self.listing(&found, 0) else { return Ok(()) };
            for (name, _) in names {
                let Some(name) =
                    name.filter(|name| fast_glob::glob_match(pattern, join(&found, name).as_str()))
                else {
                    continue;
                };
                let path = join(&to_save.path, &name);
                self.save_path(&ToSave { path, deep: true, from: None, ..to_save.clone() })?;
            }
            return Ok(());
        }
        if to_save.glob {
            let top = before_pattern(&to_save.path);
            return self.walk(&facts::real_path(top), |path| {
                fast_glob::glob_match(to_save.path.as_str(), path)
                    || to_save.deep
                        && places::upwards(path)
                            .skip(1)
                            .any(|above| fast_glob::glob_match(to_save.path.as_str(), above))
            });
        }
        let path = beside(&to_save.path);
        match self.way.stat(&path).ok().flatten().map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Some(FileType::Directory) if to_save.deep => {
                self.one(&path)?;
                self.walk(&path, |_| true)?;
                self.listed.push(path);
                Ok(())
            }
            Some(FileType::Symlink) if to_save.follow => {
                self.one(&path)?;
                self.one(&facts::real_path(&path))
            }
            Some(_) => self.one(&path),
            // Deleting what is not there changes nothing.
            None if !to_save.follow => Ok(()),
            None => {
                // What has to be made for it goes with it.
                let missing = places::upwards(&path).skip(1).take_while(|above| facts::is_missing(above));
                for above in missing.map(str::to_owned).collect::<Vec<_>>() {
                    self.found.entry(above).or_insert(State::Absent);
                }
                self.one(&path)
            }
        }
    }

    /// Saves what is at one path.
    pub(super) fn one(&mut self, path: &str) -> Result<(), std::io::Error> {
        if self.found.contains_key(path) || self.full.is_some() {
            return Ok(());
        }
        if self.found.len() >= usize::try_from(self.bounds.max_files).unwrap_or(usize::MAX) {
            let most = self.bounds.max_files;
            self.full = Some(format!("there are more than {most} files (checkpoints.max_files)"));
            return Ok(());
        }
        if Instant::now() >= self.until {
            self.full = Some("saving it took too long".to_owned());
            return Ok(());
        }
        let most = self.bounds.max_file_bytes.min(self.room);
        let state = match self.way.look(path, most, self.objects.as_deref_mut()) {
            Ok(state) => state,
            Err(Refused::Source(error)) => State::skipped(format!("it cannot be read ({error})")),
            Err(Refused::Store(error)) => return Err(error),
        };
        let state = match state {
            State::Skipped { loss: true, .. } if self.is_held(path) => {
                State::Skipped { why: HELD.to_owned(), loss: false }
            }
            state => state,
        };
        if let State::File { size, .. } = state {
            self.room = self.room.saturating_sub(size);
        }
        self.found.insert(path.to_owned(), state);
        Ok(())
    }

    /// Whether git gives back what is at a path.
    fn is_held(&mut self, path: &str) -> bool {
        let repo = self.repo;
        let index = self.index.get_or_insert_with(|| repo.map(Index::new));
        index.as_mut().is_some_and(|index| index.holds(path))
    }

    /// Notes what is left out and is not counted as lost.
    fn omit(&mut self, path: String, why: &str) {
        if self.objects.is_some() {
            self.found.entry(path).or_insert_with(|| State::Skipped { why: why.to_owned(), loss: false });
        }
    }

    /// Saves a file that git ignores and that goes with its directory: most can be made again, a `.env` cannot. Where it is
    /// one of very many, or long, nothing counts as lost with it.
    fn ignored(&mut self, path: &str) -> Result<(), std::io::Error> {
        if self.in_tree && !self.extent.ignored || self.objects.is_none() {
            return Ok(());
        }
        let is_short = |stat: Stat| u64::try_from(stat.st_size).is_ok_and(|size| size <= MAX_IGNORED.1);
        if self.ignored < MAX_IGNORED.0 && self.way.stat(path).ok().flatten().is_some_and(is_short) {
            self.ignored += 1;
            self.one(path)?;
            if let Some(State::Skipped { loss, .. }) = self.found.get_mut(path) {
                *loss = false;
            }
        } else {
            self.omit(path.to_owned(), IGNORED);
        }
        Ok(())
    }

    /// Saves what lies below a directory and is meant: not the directories that git ignores, unless it is one of them itself,
    /// and not what is git's own in this repository.
    pub(super) fn walk(&mut self, top: &str, meant: impl Fn(&str) -> bool) -> Result<(), std::io::Error> {
        let own = self.repo.map(|repo| format!("{}/.git", facts::real_path(repo)));
        let is_ignored = self.is_ignored(top, true);
        let mut open = vec![(top.to_owned(), 0_usize, false)];
        while let Some((dir, depth, in_git)) = open.pop() {
            if self.full.is_some() {
                break;
            }
            let Some(names) = self.listing(&dir, depth) else { continue };
            let is_repo = dir != top && names.iter().any(|(name, _)| name.as_deref() == Some(".git"));
            if is_repo && self.in_tree && !self.extent.inner {
                // Git leaves it alone.
                continue;
            }
            for (name, is_dir) in names {
                let Some(name) = name else {
                    self.found.insert(format!("{dir}/?"), State::skipped("its name is not UTF-8"));
                    continue;
                };
                let path = format!("{}/{name}", dir.trim_end_matches('/'));
                let in_git = in_git || name == ".git";
                if name == ".git" && (self.in_tree || own.as_deref() == Some(path.as_str())) {
                    continue;
                }
                if !in_git && self.is_ignored(&path, is_dir) {
                    match (is_dir, meant(&path)) {
                        (true, _) if is_ignored => open.push((path, depth + 1, false)),
                        (true, true) if !self.in_tree || self.extent.ignored => self.omit(path, IGNORED),
                        (false, true) => self.ignored(&path)?,
                        (true | false, _) => {}
                    }
                    continue;
                }
                if meant(&path) && self.in_tree && !is_dir && self.is_protected(&path) {
                    let loss = self.extent.untracked;
                    self.found
                        .entry(path)
                        .or_insert_with(|| State::Skipped { why: PROTECTED.to_owned(), loss });
                    continue;
                }
                if meant(&path) {
                    self.one(&path)?;
                }
                if is_dir {
                    open.push((path, depth + 1, in_git));
                }
            }
        }
        Ok(())
    }

    /// What a directory holds; nothing where it cannot be told, which is noted.
    fn listing(&mut self, dir: &str, depth: usize) -> Option<Vec<(Option<String>, bool)>> {
        if depth > MAX_DEPTH {
            let why = format!("it lies deeper than {MAX_DEPTH} directories");
            self.found.insert(dir.to_owned(), State::skipped(why));
            return None;
        }
        match self.names(dir) {
            Ok(names) => Some(names),
            // What is not there holds nothing that could be lost: the call itself may make it.
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Some(Vec::new()),
            Err(errno) => {
                self.found.insert(dir.to_owned(), State::skipped(format!("it cannot be listed ({errno})")));
                None
            }
        }
    }

    fn is_ignored(&mut self, path: &str, is_dir: bool) -> bool {
        self.ignore.as_mut().is_some_and(|ignore| ignore.ignores(path, is_dir))
    }

    /// Whether a file is a protected place, lies in one, or leads to one.
    pub(super) fn is_protected(&self, path: &str) -> bool {
        self.protected.iter().any(|place| {
            path == place.path || place.tree && lies_in(path, &place.path) || lies_in(&place.path, path)
        })
    }

    /// What a directory holds; no name for what is not UTF-8.
    fn names(&mut self, dir: &str) -> Result<Vec<(Option<String>, bool)>, rustix::io::Errno> {
        let (above, name) = self.way.to(dir)?;
        let fd = rustix::fs::openat(above, name, DIRECTORY, Mode::empty())?;
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(&fd)? {
            let entry = entry?;
            let name = entry.file_name().to_str().ok().map(str::to_owned);
            if matches!(name.as_deref(), Some("." | "..")) {
                continue;
            }
            self.looked_at += 1;
            let most = usize::try_from(self.bounds.max_files).unwrap_or(usize::MAX).saturating_mul(LOOKED_AT);
            if self.looked_at > most {
                self.full = Some(format!(
                    "there are more than {most} names ({LOOKED_AT} times checkpoints.max_files)"
                ));
                break;
            }
            let is_dir = match entry.file_type() {
                FileType::Unknown => {
                    let path = format!("{dir}/{}", name.as_deref().unwrap_or_default());
                    rustix::fs::lstat(path.as_str())
                        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
                }
                kind => kind == FileType::Directory,
            };
            found.push((name, is_dir));
        }
        crate::domain::sort_by(&mut found, Ord::cmp);
        Ok(found)
    }
}

/// The directory in front of a pattern.
fn before_pattern(glob: &str) -> &str {
    let first = glob.find(['*', '?', '[', '{', '\\']).unwrap_or(glob.len());
    let front = glob.get(..first).unwrap_or_default();
    match front.rfind('/') {
        Some(0) | None => "/",
        Some(slash) => front.get(..slash).unwrap_or("/"),
    }
}

/// The path itself, with no link in the directories before its last name.
fn beside(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((dir, name)) if !dir.is_empty() && !name.is_empty() => join(&facts::real_path(dir), name),
        Some(_) | None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_in_front_of_patterns() {
        assert_eq!(before_pattern("/p/src/*.rs"), "/p/src");
        assert_eq!(before_pattern("/p/**/x"), "/p");
        assert_eq!(before_pattern("/*"), "/");
        assert_eq!(before_pattern("/p/a[bc]"), "/p");
    }
}
