//! A session that is new on this machine: its directory filled under another name, its key made, and put in its place in one step.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::life::{MAX_OPEN, forget_if_idle, locked, open_ids, remove_tree, rename};
use super::record::{
    self, CONTENTS, COPIES, Contents, OPEN, RECORD, SALT, Session, write_contents, write_record,
};
use super::register;
use super::room::{Room, cannot, fault, told};
use super::vault::{self, VaultKind};
use crate::domain::{Fault, FaultKind, Key, ReviewId};
use crate::host::clock::Now;
use crate::host::dirs::Dirs;
use crate::host::lock::{self, Hold};
use crate::host::private;

/// The master stays so much longer than the last session, in seconds.
const SLACK_S: u32 = 60;

/// A session that is new here, whole or not at all. `fill` fills the directory of the copies; `key` is one that was made elsewhere.
pub(super) fn make(
    dirs: &Dirs,
    id: &ReviewId,
    (keys, now): (Option<VaultKind>, Now),
    key: Option<&Key>,
    fill: impl FnOnce(&Path) -> Result<(Session, Contents), Fault>,
) -> Result<Session, Fault> {
    note_review(dirs)?;
    let new = format!("{OPEN}/.new-{id}");
    let (room, held) = begin_in_room(dirs, &new)?;
    let made = fill(&room.at(&new).join(COPIES))
        .and_then(|(session, contents)| put_in_place(&room, session, &contents, (keys, now), key));
    drop(held);
    if made.is_err() {
        // The first error is what counts; what cannot be removed now is swept later.
        let _gone = remove_tree(&room.at(&new));
        let _forgotten = locked(&room).and_then(|_lock| forget_if_idle(&room));
    }
    made
}

/// Leaves word that there has been a review: from now on what clients keep of their agents may hold what nobody trusts.
fn note_review(dirs: &Dirs) -> Result<(), Fault> {
    private::dir(FaultKind::State, &dirs.state)?;
    let mark = dirs.reviewed();
    private::open_append(&mark).map(drop).map_err(|error| told(&mark, &error))
}

/// The room, and in it the directory that is filled. A sweep may take an empty room away before anything lies in it: then it is made
/// again.
fn begin_in_room(dirs: &Dirs, new: &str) -> Result<(Room, File), Fault> {
    const TRIES: usize = 16;
    let once = || -> Result<Option<(Room, File)>, Fault> {
        let Some(room) = Room::make(dirs)? else { return Ok(None) };
        let held = begin(&room, new)?;
        Ok(held.map(|held| (room, held)))
    };
    let mut last = None;
    for _ in 0..TRIES {
        match once() {
            Ok(Some(begun)) => return Ok(begun),
            Ok(None) => {}
            // Who holds the lock has been waited for already.
            Err(fault) if fault.kind == FaultKind::Busy => return Err(fault),
            Err(fault) => last = Some(fault),
        }
    }
    let again = || fault(&dirs.runtime, "the directory of reviews is removed again and again");
    Err(last.unwrap_or_else(|| again().with_hint("try again")))
}

/// The directory under another name, locked for as long as it is being filled: `None` = the room was taken away meanwhile.
fn begin(room: &Room, new: &str) -> Result<Option<File>, Fault> {
    let Some(_lock) = room.lock()? else { return Ok(None) };
    room.make_dir(OPEN)?;
    room.make_dir(new)?;
    room.make_dir(&format!("{new}/{COPIES}"))?;
    let path = room.at(new);
    let dir = super::beneath::open(&room.dir, new, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
        .map_err(|errno| cannot(&path, errno))?;
    let dir = File::from(dir);
    match lock::try_hold(&dir, Hold::Alone) {
        Ok(true) => Ok(Some(dir)),
        Ok(false) => Err(fault(&path, "somebody else holds it")),
        Err(error) => Err(told(&path, &error)),
    }
}

fn put_in_place(
    room: &Room,
    session: Session,
    contents: &Contents,
    (keys, now): (Option<VaultKind>, Now),
    key: Option<&Key>,
) -> Result<Session, Fault> {
    let _lock = locked(room)?;
    let open = open_ids(room)?;
    if open.len() >= MAX_OPEN {
        let why = format!("{MAX_OPEN} are open already");
        return Err(Fault::new(FaultKind::TooLarge, "review sessions", why)
            .with_hint("end one with `lazaret review end`; `lazaret review list` names them"));
    }
    let id = &session.id;
    let salt = vault::random_salt()?;
    let longest = longest(room, &open, session.ttl_s, now).saturating_add(SLACK_S);
    let vault = vault::make_master(room, keys, longest)?;
    let mut kept = salt.to_vec();
    if let Some(key) = key {
        // With what makes the key that is derived here the one that was made elsewhere.
        kept.extend_from_slice(vault::derive(room, vault, id, &salt)?.with(key.bytes()).bytes());
    }
    let new = format!("{OPEN}/.new-{id}");
    room.write(&format!("{new}/{SALT}"), &kept)?;
    let copies = room.at(&format!("{OPEN}/{id}/{COPIES}"));
    let session = Session { vault, copies, ..session };
    write_contents(room, &format!("{new}/{CONTENTS}"), contents)?;
    write_record(room, &format!("{new}/{RECORD}"), &session)?;
    register::begin(room, &open)?;
    rename(room, &new, &format!("{OPEN}/{}", session.id))?;
    Ok(session)
}

/// How long the longest session still lives, a new one of `ttl_s` among them, in seconds.
fn longest(room: &Room, open: &[ReviewId], ttl_s: u32, now: Now) -> u32 {
    let left = |session: Session| {
        let left_ms = session.expires_unix_ms().saturating_sub(now.unix_ms);
        u32::try_from(left_ms.div_ceil(1000)).unwrap_or(u32::MAX).min(session.ttl_s)
    };
    let others = open.iter().filter_map(|id| record::load(room, id).ok().flatten()).map(left);
    others.fold(ttl_s, u32::max)
}
