//! What a session did to files, and what of it can be undone: out of its checkpoints.

use std::collections::BTreeMap;

use super::diff::{Diff, Room, diff};
use super::story::Session;
use crate::cli::Machine;
use crate::domain::Policy;
use crate::host::checkpoint::{Checkpoints, Manifest, State};
use crate::host::files::{self, Links};
use crate::host::hex;
use crate::review::redact::redact;
use anyhow::Result;
use sha2::{Digest, Sha256};

/// Longest file of which a difference is shown, in bytes.
const MAX_FILE: u64 = 512 * 1024;
/// Most bytes of all differences of a report, as text.
const MAX_DIFFS: usize = 1_500_000;
/// Most checkpoints whose undoing is planned.
const MAX_PLANNED: usize = 100;

/// One path, from before the session's first call that touched it to after the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: String,
    /// `made`, `deleted` or `changed`; `touched` where it is not known what the call left.
    pub what: &'static str,
    /// None = there is nothing to compare, for the reason in `note`.
    pub diff: Option<Diff>,
    pub note: String,
}

/// A checkpoint that is not undone yet, and what undoing it would do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undoable {
    pub id: String,
    pub unix_ms: u64,
    pub tool: String,
    pub action: String,
    /// Paths that would be put back.
    pub steps: usize,
    /// Paths that somebody changed since, or that were never saved.
    pub refused: usize,
}

/// What checkpoints say of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    pub files: Vec<Change>,
    /// Paths of git's own that are not among the files.
    pub of_git: usize,
    pub undoable: Vec<Undoable>,
    /// Checkpoints whose undoing was not looked at.
    pub unplanned: usize,
}

/// What checkpoints say of all sessions of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saved {
    /// Of each session.
    pub changes: Vec<Changes>,
    /// Checkpoints that cannot be read; whose they are is not known.
    pub damaged: usize,
}

#[derive(Default)]
struct Path {
    before: Option<State>,
    after: Option<State>,
}

/// What the checkpoints say of each of the sessions.
pub fn saved(sessions: &[Session], machine: &Machine) -> Result<Saved> {
    let store = Checkpoints::new(&machine.dirs.state, Policy::default().checkpoints);
    let (all, damaged) = store.counted()?;
    let standing = store.standing_of(all.clone());
    let mut room = Room(MAX_DIFFS);
    let one = |session: &Session| {
        let is_its =
            |manifest: &&Manifest| manifest.session == session.id && manifest.client == session.client;
        let mut changes = Changes::default();
        for (path, states) in paths(all.iter().filter(is_its), &store)? {
            if is_of_git(&path) {
                changes.of_git += 1;
            } else {
                changes.files.extend(change(path, states, &store, &mut room));
            }
        }
        let standing: Vec<&Manifest> = standing.iter().filter(is_its).collect();
        changes.unplanned = standing.len().saturating_sub(MAX_PLANNED);
        for manifest in standing.into_iter().take(MAX_PLANNED) {
            changes.undoable.extend(undoable(manifest, &store)?);
        }
        Ok(changes)
    };
    let changes = sessions.iter().map(one).collect::<Result<_>>()?;
    Ok(Saved { changes, damaged })
}

/// What git writes for itself: not its settings, hooks and lists, which somebody else does.
fn is_of_git(path: &str) -> bool {
    const SET: [&str; 5] = ["config", "config.worktree", "hooks", "info", "description"];
    let inside = path.rsplit_once("/.git/").map(|(_, inside)| inside);
    path.ends_with("/.git")
        || inside.is_some_and(|inside| !SET.contains(&inside.split('/').next().unwrap_or_default()))
}

/// Every path of these checkpoints, the oldest first, as it was before all of them and is after.
fn paths<'m>(
    manifests: impl Iterator<Item = &'m Manifest>,
    store: &Checkpoints,
) -> Result<BTreeMap<String, Path>> {
    let mut paths: BTreeMap<String, Path> = BTreeMap::new();
    for manifest in manifests {
        for entry in &manifest.entries {
            paths.entry(entry.path.clone()).or_default().before.get_or_insert_with(|| entry.state.clone());
        }
        let Some(after) = store.after(&manifest.id)? else { continue };
        for entry in after.new {
            let path = paths.entry(entry.path).or_default();
            path.before.get_or_insert(State::Absent);
            path.after = Some(entry.state);
        }
        for entry in after.entries {
            paths.entry(entry.path).or_default().after = Some(entry.state);
        }
    }
    Ok(paths)
}

/// What undoing it would do now, where it would do anything.
fn undoable(manifest: &Manifest, store: &Checkpoints) -> Result<Option<Undoable>> {
    let undo = store.plan(std::slice::from_ref(manifest), &[])?;
    Ok((!undo.is_void()).then(|| Undoable {
        steps: undo.steps().count(),
        refused: undo.conflicts.len() + undo.unsaved.len(),
        id: manifest.id.clone(),
        unix_ms: manifest.unix_ms,
        tool: manifest.tool.clone(),
        action: manifest.action.clone(),
    }))
}

fn change(path: String, states: Path, store: &Checkpoints, room: &mut Room) -> Option<Change> {
    let before = states.before?;
    let what = match (&before, &states.after) {
        (State::Directory { .. }, Some(State::Directory { .. }) | None) => return None,
        (before, Some(after)) if before.is_same(after) => return None,
        (State::Absent, Some(_)) => "made",
        (_, Some(State::Absent)) => "deleted",
        (_, Some(_)) => "changed",
        // The end of the call was not reported: it did not run, or nobody knows what it left.
        (_, None) => "touched",
    };
    let made = |diff, note: String| Some(Change { path: redact(&path).into_owned(), what, diff, note });
    let after = match &states.after {
        Some(after) => after,
        None => return made(None, "the client did not report the end of the call".to_owned()),
    };
    let (old, new) = match (text(&before, None, store), text(after, Some(&path), store)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(why), _) | (_, Err(why)) => return made(None, why),
    };
    if room.0 == 0 {
        return made(None, "not shown: the differences before it fill the page".to_owned());
    }
    let diff = diff(&redact(&old), &redact(&new), room);
    let hidden = diff.lines.is_empty() && old != new;
    let note = match (&before, after) {
        _ if hidden => "only what is redacted differs".to_owned(),
        (State::File { mode: old, .. }, State::File { mode: new, .. }) if old != new => {
            format!("mode {old:04o} to {new:04o}")
        }
        _ => String::new(),
    };
    made(Some(diff), note)
}

/// The text at a path, as a checkpoint remembers it; `left` is the path of what a call left, which may still be there.
fn text(state: &State, left: Option<&str>, store: &Checkpoints) -> Result<String, String> {
    match state {
        State::Absent => Ok(String::new()),
        State::Symlink { target } => Ok(format!("link to {target}\n")),
        State::Directory { .. } => Err("a directory".to_owned()),
        State::Skipped { why, .. } => Err(format!("not saved: {why}")),
        State::File { size, .. } if *size > MAX_FILE => Err(format!("{size} bytes: too long to be shown")),
        State::File { digest, size, .. } => {
            let kept = store.content(digest, MAX_FILE).or_else(|| {
                // What the last call left is nobody's to keep: it is there, or it was changed since.
                let bytes = files::read(left?, MAX_FILE, Links::Refuse).ok().flatten()?;
                (hex(&Sha256::digest(&bytes)) == *digest).then_some(bytes)
            });
            let why = match left {
                Some(_) => "that were changed since and are not kept",
                None => "whose saved content is missing: `lazaret doctor` says more",
            };
            let bytes = kept.ok_or_else(|| format!("{size} bytes {why}"))?;
            let binary = bytes.contains(&0);
            String::from_utf8(bytes)
                .ok()
                .filter(|_| !binary)
                .ok_or_else(|| format!("{size} bytes that are no text"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_git;

    #[test]
    fn what_a_person_sets_in_git_is_no_file_of_git_s_own() {
        for own in ["/p/.git", "/p/.git/index", "/p/.git/refs/heads/main", "/p/.git/worktrees/x/config"] {
            assert!(is_of_git(own), "{own}");
        }
        for set in
            ["/p/.git/config", "/p/.git/hooks/pre-commit", "/p/.git/info/exclude", "/p/a", "/p/.gitignore"]
        {
            assert!(!is_of_git(set), "{set}");
        }
    }
}
