//! What is over goes: sessions past their time, with an agent past its deadline, or whose processes have all ended, what
//! killed processes left, the master
//! when no session is open, old tombstones, and at last the room itself. Where there is no room it is one system call.

use rustix::fs::{AtFlags, Mode, OFlags};

use super::beneath;
use super::holder::Lookout;
use super::life::{LOOKED_AT, MAX_TTL_S, end_locked, ended_ids, forget_if_idle, open_ids, remove_tree};
use super::record::{self, ENDED, OPEN, SALT, Why};
use super::register::{self, Stock};
use super::room::{LOCK, Room, UNFINISHED};
use super::vault;
use crate::domain::{Fault, ReviewId};
use crate::host::clock::Now;
use crate::host::dirs::Dirs;
use crate::host::lock::{self, Hold};
use crate::host::private;

/// How long a tombstone is kept, in milliseconds.
const KEPT_MS: u64 = 24 * 60 * 60 * 1000;

/// What a sweep did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// Sessions that were ended, and why.
    pub ended: Vec<(ReviewId, Why)>,
    /// Sessions whose record cannot be read: a person is to end them.
    pub damaged: Vec<ReviewId>,
}

/// Ends what is over. When another process holds the lock, it is left to the next call.
pub fn sweep(dirs: &Dirs, now: Now) -> Result<Swept, Fault> {
    let Some(room) = Room::open(dirs)? else { return Ok(Swept::default()) };
    let look = look(&room, now)?;
    if !look.due {
        return Ok(Swept { ended: Vec::new(), damaged: look.damaged });
    }
    let Some(_lock) = room.try_lock()? else { return Ok(Swept::default()) };
    // Looked at again, under the lock.
    let look = self::look(&room, now)?;
    let mut swept = Swept { ended: Vec::new(), damaged: look.damaged };
    for (id, why) in look.over {
        if end_locked(&room, &id, why, now)? {
            swept.ended.push((id, why));
        }
    }
    clear_leftovers(&room)?;
    forget_if_idle(&room)?;
    clear_tombstones(&room, now)?;
    give_up(&room)?;
    Ok(swept)
}

/// What one look at the room says.
#[derive(Default)]
struct Look {
    due: bool,
    over: Vec<(ReviewId, Why)>,
    damaged: Vec<ReviewId>,
}

fn look(room: &Room, now: Now) -> Result<Look, Fault> {
    let mut look = Look::default();
    let names = room.names(OPEN, LOOKED_AT)?;
    let stock = if names.is_empty() { None } else { Some(register::stock(room, now)) };
    let mut lookout = Lookout::default();
    let mut open = 0_usize;
    for name in &names {
        let Some(id) = ReviewId::parse(name) else {
            look.due = true;
            continue;
        };
        open += 1;
        match why_over(room, &id, (stock.as_ref(), &mut lookout), now) {
            Ok(None) => {}
            Ok(Some(why)) => look.over.push((id, why)),
            Err(_) => look.damaged.push(id),
        }
    }
    look.due |= !look.over.is_empty()
        || (open == 0 && (vault::may_hold(room) || !room.exists(ENDED)))
        || tombstones_are_old(room, now);
    Ok(look)
}

/// Why a session is over: none = it is not. The fault is that of a record which cannot be read.
fn why_over(
    room: &Room,
    id: &ReviewId,
    (stock, lookout): (Option<&Stock>, &mut Lookout),
    now: Now,
) -> Result<Option<Why>, Fault> {
    if stock.is_some_and(|stock| stock.is_overdue(id)) {
        return Ok(Some(Why::TimedOut));
    }
    if !room.exists(&format!("{OPEN}/{id}/{SALT}")) {
        return Ok(Some(Why::Broken));
    }
    match record::load(room, id) {
        Ok(Some(session)) if session.is_expired(now) => Ok(Some(Why::Expired)),
        Ok(Some(session)) => {
            let deserted = stock.is_some_and(|stock| stock.is_deserted(&session, lookout));
            Ok(deserted.then_some(Why::ProcessGone))
        }
        Ok(None) => Ok(None),
        Err(fault) => {
            // It cannot say how old it is; the directory can.
            let age_ms = private::untouched_ms(&room.at(&format!("{OPEN}/{id}")), now);
            if age_ms > u64::from(MAX_TTL_S) * 1000 { Ok(Some(Why::Broken)) } else { Err(fault) }
        }
    }
}

/// Removes what a killed process was filling or emptying. Who still fills a directory holds its lock.
fn clear_leftovers(room: &Room) -> Result<(), Fault> {
    for dir in [".", ENDED] {
        // Only who holds the lock writes here, and that is us.
        for name in room.names(dir, LOOKED_AT)?.iter().filter(|name| name.ends_with(UNFINISHED)) {
            room.remove(&format!("{dir}/{name}"))?;
        }
    }
    for name in room.names(OPEN, LOOKED_AT)? {
        if ReviewId::parse(&name).is_some() {
            continue;
        }
        let rel = format!("{OPEN}/{name}");
        let dir = beneath::open(&room.dir, &rel, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty());
        let in_use = dir.is_ok_and(|dir| !matches!(lock::try_hold(&dir.into(), Hold::Alone), Ok(true)));
        if !in_use {
            // The salt, if there is one, goes with its bytes.
            room.destroy(&format!("{rel}/{SALT}"), vault::SALT)?;
            remove_tree(&room.at(&rel))?;
        }
    }
    Ok(())
}

fn tombstones_are_old(room: &Room, now: Now) -> bool {
    room.exists(ENDED) && private::untouched_ms(&room.at(ENDED), now) > KEPT_MS
}

/// Removes tombstones and damaged registers that are older than a day; with the tombstones their agents, and at last the
/// directory they lay in.
fn clear_tombstones(room: &Room, now: Now) -> Result<(), Fault> {
    let mut gone = Vec::new();
    for id in ended_ids(room)? {
        let rel = format!("{ENDED}/{id}.json");
        if private::untouched_ms(&room.at(&rel), now) > KEPT_MS {
            room.remove(&rel)?;
            gone.push(id);
        }
    }
    if !gone.is_empty() {
        register::drop_rows(room, &gone, now)?;
    }
    for name in room.names(".", LOOKED_AT)? {
        if register::is_kept_aside(&name) && private::untouched_ms(&room.at(&name), now) > KEPT_MS {
            room.remove(&name)?;
        }
    }
    // One that is not empty stays.
    let _empty = rustix::fs::unlinkat(&room.dir, ENDED, AtFlags::REMOVEDIR);
    Ok(())
}

/// Removes a room in which nothing is left, so that the next sweep finds none. The lock goes last: who waits for it sees
/// that it has no name any more.
fn give_up(room: &Room) -> Result<(), Fault> {
    let nothing = open_ids(room)?.is_empty() && ended_ids(room)?.is_empty() && !vault::may_hold(room);
    let removed = |rel| rustix::fs::unlinkat(&room.dir, rel, AtFlags::REMOVEDIR).is_ok() || !room.exists(rel);
    if !nothing || !removed(OPEN) || !removed(ENDED) {
        return Ok(());
    }
    register::remove(room)?;
    room.remove(LOCK)?;
    // A damaged register that was kept aside keeps the room: a person may want to see it.
    let _given_up = rustix::fs::rmdir(&room.path);
    Ok(())
}
