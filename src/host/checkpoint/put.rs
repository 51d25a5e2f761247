//! Putting one path back: what is to be there is made under another name and renamed, and only where still is what was there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::objects;
use super::record::State;
use super::store::Checkpoints;
use super::way::{BY_LINK, DIRECTORY, Way};
use crate::host::{files, private};

/// Why a path is left alone that nobody had touched when the rollback was planned.
const CHANGED: &str = "it was changed just now";
/// A directory's mode with which its owner can work in it.
const OPEN: u32 = 0o700;
/// What stands between a file's name and the process's number in the name under which it is made.
const MARK: &str = ".lazaret-";

/// One path, what is there, and what is to be there.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub path: String,
    pub now: State,
    pub to: State,
}

impl Checkpoints {
    /// Puts one path into the state that it is to have.
    pub(super) fn put(&self, way: &mut Way, step: &Step) -> Result<(), String> {
        if !is_unchanged(way, step) {
            return Err(CHANGED.to_owned());
        }
        let closed = opened(way, &step.path);
        let done = self.done(way, step);
        if let Some((dir, mode)) = closed {
            // The directory itself may be what goes next.
            let _ = rustix::fs::fchmod(dir, mode);
        }
        done
    }

    fn done(&self, way: &mut Way, step: &Step) -> Result<(), String> {
        match &step.to {
            State::Absent => remove(way, step).map_err(told),
            State::Directory { mode } => directory(way, step, *mode).map_err(told),
            State::Symlink { target } => {
                parents(way, &step.path).map_err(told)?;
                let (dir, name) = way.to(&step.path).map_err(told)?;
                let temp = temp_name(name);
                rustix::fs::symlinkat(target.as_str(), dir, temp.as_str()).map_err(told)?;
                let placed = into_place(way, step, &temp);
                discard_unless(placed.is_ok(), way, (step, &temp));
                placed
            }
            State::File { digest, mode, size, .. } => self.file(way, step, (digest, *mode, *size)),
            State::Skipped { why, .. } => Err(why.clone()),
        }
    }

    fn file(&self, way: &mut Way, step: &Step, (digest, mode, size): (&str, u32, u64)) -> Result<(), String> {
        let text = |error: std::io::Error| error.to_string();
        let from = self.objects().path(digest).ok_or("its digest is damaged")?;
        let mut from = private::open(&from, false).map_err(|error| format!("its saved content: {error}"))?;
        parents(way, &step.path).map_err(told)?;
        let (dir, name) = way.to(&step.path).map_err(told)?;
        let temp = temp_name(name);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(dir, temp.as_str(), flags, Mode::RUSR | Mode::WUSR);
        let mut copy = File::from(made.map_err(told)?);
        let written = match objects::pour(&mut from, Some(&mut copy), size) {
            Ok(poured) if poured == digest => copy
                .set_permissions(std::fs::Permissions::from_mode(mode))
                .and_then(|()| copy.sync_all())
                .map_err(text),
            Ok(_) => Err("its saved content is damaged".to_owned()),
            Err(objects::Refused::Source(error) | objects::Refused::Store(error)) => Err(text(error)),
        };
        let placed = written.and_then(|()| into_place(way, step, &temp));
        discard_unless(placed.is_ok(), way, (step, &temp));
        placed
    }
}

/// Opens to us, for a moment, a directory of ours that is closed to its owner; the mode that it had.
fn opened(way: &mut Way, path: &str) -> Option<(OwnedFd, Mode)> {
    let (dir, _) = way.to(path).ok()?;
    let stat = rustix::fs::fstat(dir).ok()?;
    let mode = files::permissions(files::mode_of(&stat));
    if mode.contains(Mode::WUSR | Mode::XUSR) || stat.st_uid != rustix::process::geteuid().as_raw() {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, ".", flags, Mode::empty()).ok()?;
    rustix::fs::fchmod(&fd, mode | Mode::RWXU).ok()?;
    Some((fd, mode))
}

/// The name under which what is to be at a path is made, beside it.
fn temp_name(name: &str) -> String {
    format!(".{}{MARK}{}", short(name), std::process::id())
}

fn short(name: &str) -> String {
    name.chars().take(40).collect()
}

/// The name as it stands in a name under which something was made, by whatever process.
fn made_for(temp: &str) -> Option<&str> {
    let (name, number) = temp.strip_prefix('.')?.rsplit_once(MARK)?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

/// Removes what was made for these paths, beside them, and never took its place.
pub(super) fn remove_leftovers<'a>(paths: impl Iterator<Item = &'a str>) {
    let mut dirs: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (dir, name) in paths.filter_map(|path| path.rsplit_once('/')) {
        dirs.entry(dir).or_default().insert(short(name));
    }
    let mut way = Way::default();
    for (dir, names) in dirs {
        // One that is not there any more, or cannot be listed, keeps what it has.
        let Some((fd, found)) = listed(&mut way, dir) else { continue };
        for temp in found.iter().filter(|temp| made_for(temp).is_some_and(|name| names.contains(name))) {
            let plain = rustix::fs::statat(&fd, temp.as_str(), AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| is_kind(&stat, FileType::RegularFile) || is_kind(&stat, FileType::Symlink));
            if plain {
                let _ = rustix::fs::unlinkat(&fd, temp.as_str(), AtFlags::empty());
            }
        }
    }
}

fn listed(way: &mut Way, dir: &str) -> Option<(OwnedFd, Vec<String>)> {
    let (above, name) = way.to(dir).ok()?;
    let fd = rustix::fs::openat(above, name, DIRECTORY, Mode::empty()).ok()?;
    let entries = rustix::fs::Dir::read_from(&fd).ok()?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    let names = names.filter(|name| made_for(name).is_some()).collect();
    Some((fd, names))
}

/// Whether still is there what was there when the rollback was planned.
fn is_unchanged(way: &mut Way, step: &Step) -> bool {
    match (&step.now, way.stat(&step.path)) {
        (State::Absent, Ok(None)) | (State::Absent, Err(Errno::NOTDIR)) => true,
        (State::File { stamp, .. }, Ok(Some(stat))) => super::way::stamp(&stat) == *stamp,
        (State::Directory { .. }, Ok(Some(stat))) => is_kind(&stat, FileType::Directory),
        (State::Symlink { .. }, Ok(Some(stat))) => is_kind(&stat, FileType::Symlink),
        _ => false,
    }
}

fn is_kind(stat: &Stat, kind: FileType) -> bool {
    FileType::from_raw_mode(stat.st_mode) == kind
}

/// What the system said, for people.
fn told(errno: Errno) -> String {
    match errno {
        Errno::LOOP => BY_LINK.to_owned(),
        Errno::NOTEMPTY => "the directory holds something else".to_owned(),
        errno => std::io::Error::from(errno).to_string(),
    }
}

/// Moves what was made under another name to its path.
fn into_place(way: &mut Way, step: &Step, temp: &str) -> Result<(), String> {
    // Writing a long file takes a while.
    if !is_unchanged(way, step) {
        return Err(CHANGED.to_owned());
    }
    let (dir, name) = way.to(&step.path).map_err(told)?;
    // A file cannot take the place of a directory; an empty one goes.
    if matches!(step.now, State::Directory { .. }) {
        rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR).map_err(told)?;
    }
    rustix::fs::renameat(dir, temp, dir, name).map_err(told)
}

/// What was made and could not take its place goes.
fn discard_unless(placed: bool, way: &mut Way, (step, temp): (&Step, &str)) {
    if !placed && let Ok((dir, _)) = way.to(&step.path) {
        let _ = rustix::fs::unlinkat(dir, temp, AtFlags::empty());
    }
}

/// Gives a directory that stayed open to us until all was back the mode that it had.
pub(super) fn close(way: &mut Way, step: &Step) -> Result<(), String> {
    let State::Directory { mode } = step.to else { return Ok(()) };
    if mode & OPEN == OPEN {
        return Ok(());
    }
    let (dir, name) = way.to(&step.path).map_err(told)?;
    let fd = rustix::fs::openat(dir, name, DIRECTORY, Mode::empty()).map_err(told)?;
    rustix::fs::fchmod(&fd, files::permissions(mode)).map_err(told)
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
    let fd = rustix::fs::openat(dir, name, DIRECTORY, Mode::empty())?;
    // It must stay open to us until what lies in it is back.
    rustix::fs::fchmod(&fd, files::permissions(mode | OPEN))
}

/// Makes the directories above a path that are missing.
fn parents(way: &mut Way, path: &str) -> Result<(), Errno> {
    match way.to(path) {
        Ok(_) => return Ok(()),
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno),
    }
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
