//! Undoing what calls did: what still is as the call left it is put back, and nothing else, after a checkpoint of what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use super::objects::{Objects, Refused};
use super::put::Step;
use super::record::{After, Entry, Manifest, State};
use super::store::{self, Checkpoints, Meta};
use super::tree;
use super::way::Way;
use crate::domain::{Fault, FaultKind, lies_in, map_of, set_of};
use crate::host::clock::Now;
use crate::host::{Watched, private};

/// How long a rollback waits for a process that saves, in milliseconds: longer than saving may take.
const WAIT_MS: u64 = 10_000;
/// How long it may take to look what a rollback has left, in milliseconds.
const LOOK_MS: u64 = 600_000;

/// Why a branch stays where the call has put it.
const CHECKED_OUT: &str = "the branch is checked out now; go to another one first, or see `git reflog` of it";

/// Why a path is not put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub path: String,
    pub why: String,
}

/// What a rollback would do.
#[derive(Debug, Clone, Default)]
pub struct Undo {
    /// Paths and what is to be there.
    steps: Vec<Step>,
    /// Paths that are as they were, or that the calls did not change.
    pub unchanged: usize,
    /// Changed since by somebody else.
    pub conflicts: Vec<Refusal>,
    /// Never saved.
    pub unsaved: Vec<Refusal>,
    /// Left out of the checkpoint, and gone or another now; nothing counts as lost with it.
    pub omitted: Vec<Refusal>,
    /// What the calls have made or changed and nothing puts back.
    pub stays: Vec<String>,
    of: Vec<String>,
}

/// What a rollback has done.
#[derive(Debug, Clone, Default)]
pub struct Done {
    /// The checkpoint by which it can itself be undone.
    pub id: Option<String>,
    pub restored: Vec<String>,
    pub removed: Vec<String>,
    pub failed: Vec<Refusal>,
    /// Paths that nothing was done about, because it was stopped before.
    pub untouched: usize,
    /// Files with other names that still have the later content.
    pub linked: Vec<String>,
}

impl Undo {
    /// What would be restored and what removed.
    pub fn steps(&self) -> impl Iterator<Item = (&str, &State)> {
        self.steps.iter().map(|step| (step.path.as_str(), &step.to))
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether everything is as it was: there is nothing to do, and nothing to be told.
    pub fn is_void(&self) -> bool {
        self.steps.is_empty() && self.conflicts.is_empty() && self.unsaved.is_empty()
    }
}

/// One path over all checkpoints that are undone together.
struct Past {
    before: State,
    after: Option<State>,
    /// Between two of the calls somebody else changed it.
    broken: bool,
}

impl Checkpoints {
    /// The newest checkpoints first, without those that a rollback has undone already. One that was ended half-way has not.
    pub fn standing(&self) -> Result<Vec<Manifest>, Fault> {
        Ok(self.standing_of(self.all()?))
    }

    /// The same of all checkpoints, oldest first.
    pub fn standing_of(&self, mut all: Vec<Manifest>) -> Vec<Manifest> {
        all.reverse();
        let mut undone: BTreeSet<String> = BTreeSet::new();
        for manifest in all.iter().filter(|manifest| !manifest.undoes.is_empty()) {
            if !undone.contains(&manifest.id) && !self.is_unfinished(manifest) {
                undone.extend(manifest.undoes.iter().cloned());
            }
        }
        all.retain(|manifest| manifest.undoes.is_empty() && !undone.contains(&manifest.id));
        all
    }

    /// What undoing these checkpoints, the newest first, would do. `forced` are paths that are put back whatever is there.
    pub fn plan(&self, checkpoints: &[Manifest], forced: &[String]) -> Result<Undo, Fault> {
        let mut past: BTreeMap<String, Past> = BTreeMap::new();
        let mut undo =
            Undo { of: checkpoints.iter().map(|manifest| manifest.id.clone()).collect(), ..Undo::default() };
        for manifest in checkpoints {
            let after = self.after(&manifest.id)?;
            add(&mut past, manifest, after.as_ref());
            undo.stays.extend(after.into_iter().flat_map(|after| after.stays));
        }
        crate::domain::sort_by(&mut undo.stays, Ord::cmp);
        undo.stays.dedup();
        let mut way = Way::default();
        // Where what is checked out goes back too, branches can.
        let is_head = |path: &&String| path.ends_with("/HEAD");
        let heads = set_of(past.keys().filter(is_head).cloned());
        for (path, past) in past {
            let refused = |why: &str| Refusal { path: path.clone(), why: why.to_owned() };
            if let State::Skipped { why, loss } = &past.before {
                if *loss {
                    undo.unsaved.push(refused(why));
                } else if way.stat(&path).is_ok_and(|stat| stat.is_none()) {
                    undo.omitted.push(refused(why));
                }
                continue;
            }
            let now = match way.look(&path, u64::MAX, None) {
                Ok(State::Skipped { why, .. }) => {
                    undo.conflicts.push(refused(&why));
                    continue;
                }
                Ok(now) => now,
                Err(_) => {
                    undo.conflicts.push(refused("it cannot be looked at"));
                    continue;
                }
            };
            if now.is_same(&past.before) {
                undo.unchanged += 1;
                continue;
            }
            let moved = tree::branch_of(&path).filter(|(head, _)| !heads.contains(head));
            if moved.is_some_and(|(head, branch)| tree::is_checked_out(&head, branch)) {
                undo.conflicts.push(refused(CHECKED_OUT));
                continue;
            }
            let is_forced = forced.iter().any(|forced| lies_in(&path, forced));
            match why_not(&path, &past, &now) {
                Answer::Leave if !is_forced => undo.unchanged += 1,
                Answer::Refuse(why) if !is_forced => undo.conflicts.push(refused(why)),
                Answer::Leave | Answer::Refuse(_) | Answer::Restore => {
                    undo.steps.push(Step { path, now, to: past.before });
                }
            }
        }
        Ok(undo)
    }

    /// Does what was planned, after a checkpoint of what is there now. `each` is told how many paths are done; where it ends that, what
    /// is left can be done another time.
    pub fn perform(
        &self,
        undo: &Undo,
        meta: &Meta<'_>,
        now: Now,
        each: &mut Watched<'_>,
    ) -> Result<Done, Fault> {
        let mut done = Done::default();
        if undo.is_empty() {
            return Ok(done);
        }
        let _held = self.hold_within(WAIT_MS)?;
        self.remove_leftovers();
        let own = self.save_now(undo, meta, now)?;
        // What it will have left, in case it is ended before its end: then it can be undone, and done again, all the same.
        let planned = |step: &Step| Entry { path: step.path.clone(), state: step.to.clone() };
        let entries = undo.steps.iter().map(planned).collect();
        self.keep_after(&own.id, &After { entries, unfinished: true, ..After::default() })
            .and_then(|()| self.write(&self.restoring(), own.id.as_bytes()))
            .map_err(unchanged)?;
        done.id = Some(own.id.clone());
        self.put_all(undo, &mut done, each);
        let after = self.left(&own, (None, None), LOOK_MS);
        let unfinished = !done.failed.is_empty() || done.untouched > 0;
        // Where that does not fit any more, what was planned stands there: nothing is left to do a second time.
        let kept = After { new: Vec::new(), stays: Vec::new(), unfinished, ..after };
        let _kept = self.keep_after(&own.id, &kept);
        let _ = fs::remove_file(self.restoring());
        Ok(done)
    }

    /// Every path in turn, until it is ended.
    fn put_all(&self, undo: &Undo, done: &mut Done, each: &mut Watched<'_>) {
        let mut way = Way::default();
        let gone = |step: &&Step| matches!(step.to, State::Absent);
        // What lies deeper goes first and comes last.
        let removed = undo.steps.iter().rev().filter(gone);
        let steps: Vec<&Step> = removed.chain(undo.steps.iter().filter(|step| !gone(step))).collect();
        let mut put = 0_usize;
        for step in &steps {
            if each(put as u64).is_break() {
                break;
            }
            put += 1;
            match self.put(&mut way, step) {
                Ok(()) if gone(step) => done.removed.push(step.path.clone()),
                Ok(()) => {
                    if matches!(step.to, State::File { links: 2.., .. }) {
                        done.linked.push(step.path.clone());
                    }
                    done.restored.push(step.path.clone());
                }
                Err(why) => done.failed.push(Refusal { path: step.path.clone(), why }),
            }
        }
        done.untouched = steps.len() - put;
        for step in steps.iter().take(put).rev() {
            if let Err(why) = super::put::close(&mut way, step) {
                done.failed.push(Refusal { path: step.path.clone(), why });
            }
        }
    }

    /// Where it stands which rollback is on its way.
    fn restoring(&self) -> PathBuf {
        self.dir.join("restoring")
    }

    /// Removes what a rollback that was killed has left beside the paths that it was to put back. The lock is held.
    pub(super) fn remove_leftovers(&self) {
        let Ok(id) = fs::read_to_string(self.restoring()) else { return };
        if let Ok(Some(killed)) = self.find(id.trim()) {
            super::put::remove_leftovers(killed.entries.iter().map(|entry| entry.path.as_str()));
        }
        let _ = fs::remove_file(self.restoring());
    }

    /// Whether a rollback was ended before its end, or could not do all.
    pub(super) fn is_unfinished(&self, rollback: &Manifest) -> bool {
        self.after(&rollback.id).ok().flatten().is_none_or(|after| after.unfinished)
    }

    /// A checkpoint of everything that the rollback will change; without it nothing is changed.
    fn save_now(&self, undo: &Undo, meta: &Meta<'_>, now: Now) -> Result<Manifest, Fault> {
        let mut objects = self.objects();
        let saved = self.look_again(undo, &mut objects);
        let entries = saved.inspect_err(|_| objects.take_back())?;
        let manifest = Manifest {
            id: store::new_id(now)?,
            unix_ms: now.unix_ms,
            client: meta.subject.client.name().to_owned(),
            session: meta.subject.session.as_str().to_owned(),
            prompt: meta.prompt.map(str::to_owned),
            call: None,
            tool: meta.tool.to_owned(),
            action: meta.action.to_owned(),
            cwd: meta.cwd.to_owned(),
            root: meta.root.map(str::to_owned),
            undoes: undo.of.clone(),
            repos: Vec::new(),
            trees: Vec::new(),
            whole: false,
            inner: false,
            listed: Vec::new(),
            index: None,
            entries,
        };
        self.keep(&manifest, objects.added).inspect_err(|_| objects.take_back()).map_err(unchanged)?;
        Ok(manifest)
    }

    /// What is there, saved: the same as when the rollback was planned.
    fn look_again(&self, undo: &Undo, objects: &mut Objects) -> Result<Vec<Entry>, Fault> {
        let mut way = Way::default();
        let mut entries = Vec::with_capacity(undo.steps.len());
        for step in &undo.steps {
            let saved = way.look(&step.path, u64::MAX, Some(&mut *objects));
            let state = match saved {
                Ok(state) if state.is_same(&step.now) => state,
                Ok(_) => {
                    let why = "it was changed while the rollback was prepared";
                    return Err(Fault::new(FaultKind::Host, step.path.as_str(), why)
                        .with_hint("nothing was changed; run the rollback again"));
                }
                Err(Refused::Source(error) | Refused::Store(error)) => {
                    return Err(unchanged(private::cannot(FaultKind::State, &self.dir, &error)));
                }
            };
            entries.push(Entry { path: step.path.clone(), state });
        }
        Ok(entries)
    }
}

/// A fault before the first path was touched.
fn unchanged(fault: Fault) -> Fault {
    fault.with_hint("nothing was changed; make room or fix it, then try again")
}

/// What is to be done about a path that is not as it was.
enum Answer {
    Restore,
    /// The calls did not change it.
    Leave,
    Refuse(&'static str),
}

fn why_not(path: &str, past: &Past, now: &State) -> Answer {
    if past.broken {
        return Answer::Refuse("somebody else changed it between the calls");
    }
    if path.ends_with("/.git/index") && rustix::fs::lstat(format!("{path}.lock")).is_ok() {
        return Answer::Refuse("git is at work (index.lock)");
    }
    let is_dir = |state: &State| matches!(state, State::Directory { .. });
    let was_dir = past.after.as_ref().is_some_and(is_dir);
    if is_dir(now) && (is_dir(&past.before) && !was_dir || past.before == State::Absent && was_dir) {
        // With another mode, by a person or by a rollback that was ended half-way. Only an empty one is removed.
        return Answer::Restore;
    }
    match &past.after {
        Some(after) if after.is_same(&past.before) => Answer::Leave,
        Some(after) if now.is_same(after) => Answer::Restore,
        Some(_) => Answer::Refuse("it was changed since the call"),
        // Nothing that is there is lost.
        None if *now == State::Absent => Answer::Restore,
        None if past.before == State::Absent => Answer::Refuse("it is not known whether the call made it"),
        None => Answer::Refuse("it is not known what the call left there"),
    }
}

/// Adds an older checkpoint: its states count as what was before.
fn add(past: &mut BTreeMap<String, Past>, manifest: &Manifest, after: Option<&After>) {
    let entries = after.iter().flat_map(|after| after.entries.iter().chain(&after.new));
    let left = map_of(entries.map(|entry| (entry.path.as_str(), &entry.state)));
    let new = after.iter().flat_map(|after| &after.new).map(|entry| (&entry.path, State::Absent));
    let known = manifest.entries.iter().map(|entry| (&entry.path, entry.state.clone()));
    for (path, before) in known.chain(new) {
        let after = left.get(path.as_str()).copied().cloned();
        let later = past.get_mut(path);
        let Some(later) = later else {
            past.insert(path.clone(), Past { before, after, broken: false });
            continue;
        };
        // The older call left it alone: what it was before the later one counts.
        if after.as_ref().is_some_and(|after| after.is_same(&before)) {
            continue;
        }
        let joined =
            after.as_ref().is_some_and(|after| after.is_same(&later.before)) || before.is_same(&later.before);
        later.broken |= !joined;
        later.before = before;
    }
}
