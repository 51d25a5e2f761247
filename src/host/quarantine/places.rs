//! Places kept for agents from their start to their first call, in the register and under its lock.

use super::register::{intact, save};
use super::room::Room;
use super::waiting::{Start, Waiting};
use crate::domain::{Client, Fault, ReviewId, SessionId};
use crate::host::clock::Now;
use crate::host::dirs::Dirs;

/// Keeps one of `concurrent` places for the agent that this call starts, until its first call: `false` = none is left.
pub fn reserve(
    dirs: &Dirs,
    start: Start<'_>,
    review: &ReviewId,
    now: Now,
    concurrent: u32,
) -> Result<bool, Fault> {
    let Some(room) = Room::open(dirs)? else { return Ok(true) };
    let Some(_lock) = room.lock()? else { return Ok(true) };
    let mut register = intact(&room, now)?;
    register.waiting.retain(|waiting| waiting.is_kept(now) && !waiting.is_by(start));
    if register.taken(None, now) >= usize::try_from(concurrent).unwrap_or(usize::MAX) {
        return Ok(false);
    }
    register.waiting.push(Waiting::new(start, review, now));
    save(&room, &register).map(|()| true)
}

/// The call that was to start an agent is over: no place is kept for one any more.
pub fn unreserve(dirs: &Dirs, start: Start<'_>, now: Now) -> Result<(), Fault> {
    let Some(room) = Room::open(dirs)? else { return Ok(()) };
    let Some(_lock) = room.lock()? else { return Ok(()) };
    let mut register = intact(&room, now)?;
    let before = register.waiting.len();
    register.waiting.retain(|waiting| !waiting.is_by(start));
    if register.waiting.len() == before { Ok(()) } else { save(&room, &register) }
}

/// The session of a client that has ended starts nobody any more.
pub(super) fn forget(room: &Room, client: Client, session: &SessionId, now: Now) -> Result<(), Fault> {
    let Some(_lock) = room.lock()? else { return Ok(()) };
    let mut register = intact(room, now)?;
    let before = register.waiting.len();
    register.waiting.retain(|waiting| !waiting.is_of(client, session));
    if register.waiting.len() == before { Ok(()) } else { save(room, &register) }
}
