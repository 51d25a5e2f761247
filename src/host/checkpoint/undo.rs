//! Putting back what checkpoints hold: what still is as the call left it, and nothing else. Each file is replaced in one step,
//! and what is there before is itself saved first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::objects;
use super::record::{After, Entry, Manifest, State};
use super::store::{self, Checkpoints, Meta};
use super::way::Way;
use crate::domain::{Fault, FaultKind, lies_in};
use crate::host::clock::Now;
use crate::host::private;

/// How long it may take to look what a rollback has left, in milliseconds.
const LOOK_MS: u64 = 600_000;

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
    of: Vec<String>,
}

#[derive(Debug, Clone)]
struct Step {
    path: String,
    now: State,
    to: State,
}

/// What a rollback has done.
#[derive(Debug, Clone, Default)]
pub struct Done {
    /// The checkpoint by which it can itself be undone.
    pub id: Option<String>,
    pub restored: Vec<String>,
    pub removed: Vec<String>,
    pub failed: Vec<Refusal>,
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
}

/// One path over all checkpoints that are undone together.
struct Past {
    before: State,
    after: Option<State>,
    /// Between two of the calls somebody else changed it.
    broken: bool,
}

impl Checkpoints {
    /// The newest checkpoints first, without those that a rollback has undone already.
    pub fn standing(&self) -> Result<Vec<Manifest>, Fault> {
        let mut all = self.all()?;
        all.reverse();
        let mut undone: BTreeSet<String> = BTreeSet::new();
        for manifest in &all {
            if !undone.contains(&manifest.id) {
                undone.extend(manifest.undoes.iter().cloned());
            }
        }
        all.retain(|manifest| manifest.undoes.is_empty() && !undone.contains(&manifest.id));
        Ok(all)
    }

    /// What undoing these checkpoints, the newest first, would do. `forced` are paths that are put back whatever is there.
    pub fn plan(&self, checkpoints: &[Manifest], forced: &[String]) -> Result<Undo, Fault> {
        let mut past: BTreeMap<String, Past> = BTreeMap::new();
        for manifest in checkpoints {
            let after = self.after(&manifest.id)?;
            add(&mut past, manifest, after.as_ref());
        }
        let mut undo =
            Undo { of: checkpoints.iter().map(|manifest| manifest.id.clone()).collect(), ..Undo::default() };
        let mut way = Way::default();
        for (path, past) in past {
            let refused = |why: &str| Refusal { path: path.clone(), why: why.to_owned() };
            if let State::Skipped { why, loss } = &past.before {
                if *loss {
                    undo.unsaved.push(refused(why));
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

    /// Does what was planned, after a checkpoint of what is there now.
    pub fn perform(&self, undo: &Undo, meta: &Meta<'_>, now: Now) -> Result<Done, Fault> {
        let _held = self.hold()?;
        let mut done = Done::default();
        if undo.is_empty() {
            return Ok(done);
        }
        let own = self.save_now(undo, meta, now)?;
        done.id = Some(own.id.clone());
        let mut way = Way::default();
        let gone = |step: &&Step| matches!(step.to, State::Absent);
        // What lies deeper goes first and comes last.
        for step in undo.steps.iter().rev().filter(gone) {
            match self.put(&mut way, step) {
                Ok(()) => done.removed.push(step.path.clone()),
                Err(why) => done.failed.push(Refusal { path: step.path.clone(), why }),
            }
        }
        for step in undo.steps.iter().filter(|step| !gone(step)) {
            match self.put(&mut way, step) {
                Ok(()) => {
                    if matches!(step.to, State::File { links: 2.., .. }) {
                        done.linked.push(step.path.clone());
                    }
                    done.restored.push(step.path.clone());
                }
                Err(why) => done.failed.push(Refusal { path: step.path.clone(), why }),
            }
        }
        let after = self.left(&own, (None, None), LOOK_MS);
        self.keep_after(&own.id, &After { new: Vec::new(), ..after })?;
        Ok(done)
    }

    /// A checkpoint of everything that the rollback will change; without it nothing is changed.
    fn save_now(&self, undo: &Undo, meta: &Meta<'_>, now: Now) -> Result<Manifest, Fault> {
        let mut objects = self.objects();
        let mut way = Way::default();
        let mut entries = Vec::with_capacity(undo.steps.len());
        for step in &undo.steps {
            let saved = way.look(&step.path, u64::MAX, Some(&mut objects));
            let state = match saved {
                Ok(state) if state.is_same(&step.now) => state,
                Ok(_) => {
                    let why = "it was changed while the rollback was prepared";
                    return Err(Fault::new(FaultKind::Host, step.path.as_str(), why)
                        .with_way_out("nothing was changed; run the rollback again"));
                }
                Err(objects::Refused::Source(error) | objects::Refused::Store(error)) => {
                    let fault = private::cannot(FaultKind::State, &self.dir, &error);
                    return Err(
                        fault.with_way_out("nothing was changed; make room or mend it, then try again")
                    );
                }
            };
            entries.push(Entry { path: step.path.clone(), state });
        }
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
            whole: false,
            entries,
        };
        self.keep(&manifest, objects.added)?;
        Ok(manifest)
    }

    /// Puts one path into the state that it is to have.
    fn put(&self, way: &mut Way, step: &Step) -> Result<(), String> {
        let told = |errno: Errno| match errno {
            Errno::LOOP => "a directory on the way to it is a symbolic link now".to_owned(),
            Errno::NOTEMPTY => "the directory holds something else".to_owned(),
            errno => std::io::Error::from(errno).to_string(),
        };
        let unchanged = match (&step.now, way.stat(&step.path)) {
            (State::Absent, Ok(None)) | (State::Absent, Err(Errno::NOTDIR)) => true,
            (State::File { stamp, .. }, Ok(Some(stat))) => super::way::stamp(&stat) == *stamp,
            (State::Directory { .. } | State::Symlink { .. }, Ok(Some(_))) => true,
            _ => false,
        };
        if !unchanged {
            return Err("it was changed just now".to_owned());
        }
        match &step.to {
            State::Absent => remove(way, step).map_err(told),
            State::Directory { mode } => directory(way, step, *mode).map_err(told),
            State::Symlink { target } => {
                parents(way, &step.path).map_err(told)?;
                let (dir, name) = way.to(&step.path).map_err(told)?;
                let temp = temp_name(name);
                rustix::fs::symlinkat(target.as_str(), dir, temp.as_str()).map_err(told)?;
                into_place(way, step, &temp).map_err(told)
            }
            State::File { digest, mode, size, .. } => self.file(way, step, (digest, *mode, *size)),
            State::Skipped { why, .. } => Err(why.clone()),
        }
    }

    fn file(&self, way: &mut Way, step: &Step, (digest, mode, size): (&str, u32, u64)) -> Result<(), String> {
        let text = |error: std::io::Error| error.to_string();
        let from = self.objects().path(digest).ok_or("its digest is damaged")?;
        let mut from = private::open(&from, false).map_err(|error| format!("its saved content: {error}"))?;
        parents(way, &step.path).map_err(|errno| text(errno.into()))?;
        let (dir, name) = way.to(&step.path).map_err(|errno| text(errno.into()))?;
        let temp = temp_name(name);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(dir, temp.as_str(), flags, Mode::RUSR | Mode::WUSR);
        let mut copy = File::from(made.map_err(|errno| text(errno.into()))?);
        let written = match objects::pour(&mut from, Some(&mut copy), size) {
            Ok(poured) if poured == digest => copy
                .set_permissions(std::fs::Permissions::from_mode(mode))
                .and_then(|()| copy.sync_all())
                .map_err(text),
            Ok(_) => Err("its saved content is damaged".to_owned()),
            Err(objects::Refused::Source(error) | objects::Refused::Store(error)) => Err(text(error)),
        };
        let placed = written.and_then(|()| into_place(way, step, &temp).map_err(|errno| text(errno.into())));
        if placed.is_err()
            && let Ok((dir, _)) = way.to(&step.path)
        {
            let _ = rustix::fs::unlinkat(dir, temp.as_str(), AtFlags::empty());
        }
        placed
    }
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
    let left: BTreeMap<&str, &State> = after
        .iter()
        .flat_map(|after| after.entries.iter().chain(&after.new))
        .map(|entry| (entry.path.as_str(), &entry.state))
        .collect();
    let new = after.iter().flat_map(|after| &after.new).map(|entry| (&entry.path, State::Absent));
    let known = manifest.entries.iter().map(|entry| (&entry.path, entry.state.clone()));
    for (path, before) in known.chain(new) {
        let after = left.get(path.as_str()).copied().cloned();
        let later = past.get_mut(path);
        let Some(later) = later else {
            past.insert(path.clone(), Past { before, after, broken: false });
            continue;
        };
        let joined =
            after.as_ref().is_some_and(|after| after.is_same(&later.before)) || before.is_same(&later.before);
        later.broken |= !joined;
        later.before = before;
    }
}

fn temp_name(name: &str) -> String {
    let short: String = name.chars().take(40).collect();
    format!(".{short}.lazaret-{}", std::process::id())
}

/// Moves what was made under another name to its path.
fn into_place(way: &mut Way, step: &Step, temp: &str) -> Result<(), Errno> {
    let (dir, name) = way.to(&step.path)?;
    // A file cannot take the place of a directory; an empty one goes.
    if matches!(step.now, State::Directory { .. }) {
        rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?;
    }
    rustix::fs::renameat(dir, temp, dir, name)
}

fn remove(way: &mut Way, step: &Step) -> Result<(), Errno> {
    let (dir, name) = way.to(&step.path)?;
    let flags = match step.now {
        State::Directory { .. } => AtFlags::REMOVEDIR,
        State::Absent | State::File { .. } | State::Symlink { .. } | State::Skipped { .. } => {
            AtFlags::empty()
        }
    };
    rustix::fs::unlinkat(dir, name, flags)
}

fn directory(way: &mut Way, step: &Step, mode: u32) -> Result<(), Errno> {
    parents(way, &step.path)?;
    let (dir, name) = way.to(&step.path)?;
    match step.now {
        State::Directory { .. } => {}
        State::File { .. } | State::Symlink { .. } => {
            rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
            rustix::fs::mkdirat(dir, name, Mode::RWXU)?;
        }
        State::Absent | State::Skipped { .. } => match rustix::fs::mkdirat(dir, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        },
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    // It must stay open to us until what lies in it is back.
    rustix::fs::fchmod(&fd, Mode::from_raw_mode(mode | 0o700))
}

/// Makes the directories above a path that are missing.
fn parents(way: &mut Way, path: &str) -> Result<(), Errno> {
    let mut missing: Vec<&str> = Vec::new();
    for above in crate::host::places::upwards(path).skip(1) {
        match way.stat(above) {
            Ok(Some(_)) => break,
            Ok(None) if above != "/" => missing.push(above),
            Ok(None) => break,
            // The root has no name in a directory.
            Err(Errno::INVAL) => break,
            Err(errno) => return Err(errno),
        }
    }
    for dir in missing.iter().rev() {
        let (above, name) = way.to(dir)?;
        match rustix::fs::mkdirat(above, name, Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH)
        {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
