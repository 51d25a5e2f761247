//! Whether there is anything in a work tree that a command of git would discard. What cannot be told counts as being there.

use super::tree::STASH;
use crate::domain::join;
use crate::host::ignore::Ignore;
use crate::host::{facts, index};

/// Most names that are looked at; beyond, there is something.
const MAX_NAMES: usize = 50_000;

pub use crate::host::index::is_changed as has_changes;

/// Whether something lies in the stash.
pub fn has_stash(repo: &str) -> bool {
    let Some(dir) = facts::git_dir(repo) else { return true };
    let common = facts::common_git_dir(&dir);
    STASH.iter().any(|name| !facts::is_missing(&join(&common, name)))
}

/// Whether there are files that git neither tracks nor ignores.
pub fn has_untracked(repo: &str, home: Option<&str>) -> bool {
    let repo = facts::real_path(repo);
    let Some(tracked) = index::tracked(&repo) else { return true };
    let mut ignore = Ignore::new(&repo, home);
    let mut open = vec![repo.clone()];
    let mut looked_at = 0_usize;
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { return true };
        for entry in entries.flatten() {
            looked_at += 1;
            let Ok(name) = entry.file_name().into_string() else { return true };
            let Ok(kind) = entry.file_type() else { return true };
            if looked_at > MAX_NAMES {
                return true;
            }
            let path = join(&dir, &name);
            let within = path.strip_prefix(&repo).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
            if name == ".git" || tracked.contains_key(within) || ignore.ignores(&path, kind.is_dir()) {
                continue;
            }
            if !kind.is_dir() {
                return true;
            }
            open.push(path);
        }
    }
    false
}
