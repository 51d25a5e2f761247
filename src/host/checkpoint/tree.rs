//! What is saved of a repository: its branches, tags and stashes, what is checked out and staged, and what git does not hold.

use std::collections::BTreeSet;

use super::record::State;
use super::take::{PROTECTED, Taker, Tree};
use crate::domain::{join, lies_in, set_of};
use crate::host::facts;
use crate::host::files::{self, Links};
use crate::host::ignore::Ignore;
use crate::host::index::{self, Held};

/// Where git keeps its stash, below the directory that work trees share.
pub(super) const STASH: [&str; 2] = ["refs/stash", "logs/refs/stash"];
/// Where it keeps branches and tags, and what they were.
const NAMES: [&str; 3] = ["refs/heads", "refs/tags", "logs/refs/heads"];
const PACKED: &str = "packed-refs";
/// Longest list of packed names that is read, and most names that are looked at.
const MAX_PACKED: u64 = 8 << 20;
const MAX_NAMES: usize = 5_000;
/// Deepest directory of names.
const MAX_DEPTH: usize = 16;

impl Taker<'_> {
    /// Saves a repository: of what git holds unchanged nothing, unless all of it is wanted.
    pub(super) fn tree(&mut self, repo: &str, tree: Tree) -> Result<(), std::io::Error> {
        let Some(dir) = facts::git_dir(repo) else {
            self.found.insert(join(repo, ".git"), State::skipped("it cannot be read"));
            return Ok(());
        };
        let common = facts::common_git_dir(&dir);
        if tree >= Tree::Staged {
            for name in ["index", "HEAD"] {
                self.one(&facts::real_path(&join(&dir, name)))?;
            }
        }
        let (names, is_whole) = names_in(&common);
        for path in names {
            self.one(&path)?;
        }
        if !is_whole {
            let why = "it has more branches and tags than are saved, or keeps them in another form";
            self.found.insert(join(&common, "refs"), State::skipped(why));
        }
        if tree < Tree::Changed {
            return Ok(());
        }
        let Some(tracked) = index::tracked(repo) else {
            self.full = Some("git's index cannot be read".to_owned());
            return Ok(());
        };
        let held = |path: &str| {
            let name = path.strip_prefix(repo).and_then(|rest| rest.strip_prefix('/'));
            name.and_then(|name| tracked.get(name)).copied()
        };
        for name in tracked.keys() {
            let path = join(repo, name);
            if held(&path) == Some(Held::Changed) || tree == Tree::Whole {
                if self.is_protected(&path) {
                    self.found.insert(path, State::skipped(PROTECTED));
                    continue;
                }
                self.one(&path)?;
            }
        }
        let outer = self.ignore.replace(Ignore::new(repo, self.home));
        self.in_tree = true;
        let walked = self.walk(repo, |path| tree == Tree::Whole || held(path).is_none());
        self.in_tree = false;
        self.ignore = outer;
        self.trees.push(repo.to_owned());
        walked
    }
}

/// The files of branches, tags and stashes, also those that are not there because the name is packed with others, with the
/// directories that they lie in; and whether these are all.
pub(super) fn names_in(common: &str) -> (BTreeSet<String>, bool) {
    let common = facts::real_path(common);
    let mut found = set_of(STASH.iter().map(|name| join(&common, name)));
    let packed = join(&common, PACKED);
    if let Ok(Some(bytes)) = files::read(&packed, MAX_PACKED, Links::Refuse) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let names = text.lines().filter_map(|line| line.split_once(' ')).map(|(_, name)| name.trim());
        let own = |name: &&str| NAMES.iter().any(|dir| lies_in(name, dir));
        found.extend(names.filter(own).take(MAX_NAMES).map(|name| join(&common, name)));
    }
    found.insert(packed);
    let mut open: Vec<(String, usize)> = NAMES.iter().map(|dir| (join(&common, dir), 0)).collect();
    while let Some((dir, depth)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else { return (found, false) };
            let path = join(&dir, &name);
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && depth < MAX_DEPTH {
                open.push((path.clone(), depth + 1));
            }
            found.insert(path);
        }
        if found.len() > MAX_NAMES {
            return (found, false);
        }
    }
    let is_whole = found.len() <= MAX_NAMES && facts::is_missing(&join(&common, "reftable"));
    (found, is_whole)
}

/// Whether a file of git's is a branch or a tag, not what is noted of one and not a directory.
pub(super) fn is_name(path: &str) -> bool {
    !path.contains("/logs/refs/")
        && path.contains("/refs/")
        && std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

/// The branch that a file of git's is for, with the file that says what is checked out where it lies.
pub(super) fn branch_of(path: &str) -> Option<(String, &str)> {
    let (common, branch) = path.rsplit_once("/refs/heads/")?;
    (!common.ends_with("/logs")).then(|| (join(common, "HEAD"), branch))
}

/// Whether a branch is checked out in the work tree that the file is of.
pub(super) fn is_checked_out(head: &str, branch: &str) -> bool {
    let text =
        files::read(head, 4096, Links::Refuse).ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| text.strip_prefix("ref: refs/heads/").map(str::trim) == Some(branch))
}

/// The work trees of a repository's submodules that are there.
pub fn modules(repo: &str) -> Vec<String> {
    let Ok(Some(bytes)) = files::read(&join(repo, ".gitmodules"), MAX_PACKED, Links::Refuse) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let path = |line: &str| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "path").then(|| join(repo, value.trim().trim_matches('"')))
    };
    text.lines().filter_map(path).filter(|dir| !facts::is_missing(&join(dir, ".git"))).collect()
}

/// The top of the work tree that a directory lies in.
pub fn top_of(dir: &str) -> Option<String> {
    let real = facts::real_path(dir);
    crate::host::places::upwards(&real)
        .find(|above| !facts::is_missing(&join(above, ".git")))
        .map(str::to_owned)
}
