//! Review sessions that come from another machine or go to one: opened, looked up and ended with their lines in the log, as those of this
//! machine alone.

use std::io::{Read, Write};

use anyhow::Result;

use super::start::Brief;
use super::{Office, id};
use crate::cli::Machine;
use crate::domain::{EventKind, Key, ReviewId, escape};
use crate::host::clock;
use crate::host::quarantine::{Session, Shared, VaultKind, Why};

/// A session of this machine that is open, by its id as a person wrote it.
pub fn open_session(text: &str, machine: &Machine) -> Result<Session> {
    let office = Office::look(machine);
    Ok(office.open_session(&id(text)?)?)
}

/// Opens a session with the key and the copies that it has on another machine, and prints the task of its agent.
pub fn take(
    (shared, from): (Shared, &str),
    key: &Key,
    files: &mut dyn Read,
    (json, machine): (bool, &Machine),
    out: &mut dyn Write,
) -> Result<()> {
    let office = Office::open(machine)?;
    let now = clock::now();
    let keys = VaultKind::chosen(&machine.env)?;
    let session = shared.take(&machine.dirs, key, (keys, now), files)?;
    let log = office.log();
    let came = format!("review {}: it comes from the machine {}", session.id, escape(from));
    let noted = log.review_started(&session).and_then(|()| log.plain(EventKind::TrustChanged, &came));
    office.noted(&session, noted)?;
    let brief = Brief::of(&office, &session)?;
    if json { super::line(out, &brief.json()) } else { brief.print(out) }
}

/// Writes into the log that other machines are given a session.
pub fn noted(id: &ReviewId, to: &str, machine: &Machine) -> Result<()> {
    let note = format!("review {id}: it is shared with {}", escape(to));
    Ok(Office::lenient(machine).log().plain(EventKind::TrustChanged, &note)?)
}

/// Ends a session of this machine: `false` = it was not open.
pub fn end(id: &ReviewId, machine: &Machine) -> Result<bool> {
    Ok(Office::lenient(machine).end(id, Why::Asked)?)
}

/// The id of a session as a person wrote it.
pub fn parsed(text: &str) -> Result<ReviewId> {
    Ok(id(text)?)
}
