//! Whether there is anything in a work tree that a command of git would discard. What cannot be told counts as being there.

use super::tree::STASH;
use crate::domain::{join, lies_in};
use crate::host::files::{self, Links};
use crate::host::ignore::Ignore;
use crate::host::{facts, index};

pub use crate::host::index::{Extent as Tracked, is_changed};

/// Most names that are looked at; beyond, there is something.
const MAX_NAMES: usize = 50_000;
/// Longest file of settings that is read.
const MAX_CONFIG: u64 = 1 << 20;

/// Whether something lies in the stash.
pub fn has_stash(repo: &str) -> bool {
    let Some(dir) = facts::git_dir(repo) else { return true };
    let common = facts::common_git_dir(&dir);
    STASH.iter().any(|name| !facts::is_missing(&join(&common, name)))
}

/// Files that git does not track.
#[derive(Debug, Clone, Copy)]
pub struct Others<'a> {
    /// Absolute places that they lie in; none = the whole work tree.
    pub within: &'a [String],
    /// Those that git ignores count.
    pub ignored: bool,
    /// The others count.
    pub plain: bool,
    /// Those in repositories inside count.
    pub inner: bool,
}

/// Whether there are such files.
pub fn has_others(repo: &str, others: Others<'_>, home: Option<&str>) -> bool {
    let repo = facts::real_path(repo);
    let Some(tracked) = index::names_of(&repo) else { return true };
    let mut ignore = Ignore::new(&repo, home);
    let mut open = vec![(repo.clone(), false)];
    let mut looked_at = 0_usize;
    while let Some((dir, in_ignored)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { return true };
        for entry in entries.flatten() {
            looked_at += 1;
            let Ok(name) = entry.file_name().into_string() else { return true };
            let Ok(kind) = entry.file_type() else { return true };
            if looked_at > MAX_NAMES {
                return true;
            }
            let path = join(&dir, &name);
            let inside = path.strip_prefix(&repo).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
            let within = &others.within;
            let leads = |place: &String| lies_in(&path, place) || kind.is_dir() && lies_in(place, &path);
            if name == ".git" && dir == repo
                || tracked.contains(inside)
                || !(within.is_empty() || within.iter().any(leads))
            {
                continue;
            }
            let is_ignored = in_ignored || ignore.ignores(&path, kind.is_dir());
            let counts = if is_ignored { others.ignored } else { others.plain };
            if kind.is_dir() && !others.inner && !facts::is_missing(&join(&path, ".git")) {
                continue;
            }
            if kind.is_dir() && (!is_ignored || others.ignored) {
                open.push((path, is_ignored));
            } else if counts {
                return true;
            }
        }
    }
    false
}

/// Whether git notes each commit that is left: those of a branch that is set to another stay in the reflog.
pub fn notes_commits(repo: &str) -> bool {
    facts::git_dir(repo)
        .is_some_and(|dir| std::fs::metadata(join(&dir, "logs/HEAD")).is_ok_and(|log| log.is_file()))
}

/// Whether the settings of a repository have its work tree lie elsewhere, or say so by other files.
pub fn lies_elsewhere(repo: &str) -> bool {
    let Some(dir) = facts::git_dir(repo) else { return true };
    let common = facts::common_git_dir(&dir);
    [join(&common, "config"), join(&dir, "config.worktree")].iter().any(|path| {
        match files::read(path, MAX_CONFIG, Links::Follow) {
            Ok(Some(bytes)) => {
                let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
                text.lines().any(|line| {
                    let line = line.trim_start();
                    line.starts_with("[include")
                        || line.trim_start_matches("[core]").trim_start().starts_with("worktree")
                })
            }
            Ok(None) => false,
            Err(_) => true,
        }
    })
}
