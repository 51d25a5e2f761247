//! What somebody who only looks on wants to know of a session: read without its lock, so that no call ever waits for it.

use std::fs;
use std::path::Path;

use super::document::{self, Document};
use super::file::Ring;
use super::ring::Papers;
use super::{Store, cannot, name};
use crate::domain::{Client, Fault, SessionId, Subject};
use crate::host::clock::Now;
use crate::host::private;

/// How often it is tried where somebody is writing.
const TRIES: usize = 4;
/// Names of files that are looked at.
const LOOKED_AT: usize = 16_384;

/// Where a session stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Glance {
    /// Calls that were decided on.
    pub calls: u64,
    /// Why it was stopped; none = it was not.
    pub stopped: Option<String>,
    /// Why nothing may be changed any more; none = it may.
    pub held: Option<String>,
    /// Calls in a minute, and until when in milliseconds since 1970; none = as many as it likes.
    pub throttled: Option<(u32, u64)>,
}

impl Glance {
    /// A person lets it go on: it is stopped, held back or slowed down.
    pub fn waits(&self) -> bool {
        self.stopped.is_some() || self.held.is_some() || self.throttled.is_some()
    }
}

/// Where the session stands: none = it is not known.
pub fn glance(store: &Store, subject: &Subject, now: Now) -> Result<Option<Glance>, Fault> {
    let name = name(subject);
    let mut tried = 1;
    loop {
        match once(store, &name, now) {
            // A header or a document that is being replaced.
            Err(_) if tried < TRIES => tried += 1,
            told => return told,
        }
    }
}

fn once(store: &Store, name: &str, now: Now) -> Result<Option<Glance>, Fault> {
    let Some(mut ring) = Ring::glance(store, name, now)? else { return Ok(None) };
    // What a quiet document holds has no say in the calls to come.
    let Document { stopped, behaviour, .. } = match ring.header.papers {
        Papers::Quiet => Document::default(),
        Papers::None | Papers::Maybe | Papers::Kept => document::load(&mut ring, now, false)?,
    };
    let throttle = behaviour.throttle.filter(|throttle| throttle.until_ms > now.unix_ms);
    Ok(Some(Glance {
        calls: ring.header.next - 1,
        stopped,
        held: behaviour.held,
        throttled: throttle.map(|throttle| (throttle.calls, throttle.until_ms)),
    }))
}

/// The sessions whose files name them, with how long they were not touched, in milliseconds.
pub fn known(store: &Store, now: Now) -> Result<Vec<(Subject, u64)>, Fault> {
    let dir = store.sessions();
    let entries = private::found(fs::read_dir(&dir)).map_err(|error| cannot(&dir, &error))?;
    let entries = entries.into_iter().flatten().flatten().take(LOOKED_AT);
    Ok(entries
        .filter_map(|entry| {
            let path = entry.path();
            Some((named(&path)?, private::untouched_ms(&path, now)))
        })
        .collect())
}

/// The session of a ring; none = it is none, or its name is a digest.
fn named(ring: &Path) -> Option<Subject> {
    let name = ring.file_name()?.to_str()?.strip_suffix(".ring")?;
    let of = |client: Client| name.strip_prefix(client.name())?.strip_prefix('-').map(|id| (client, id));
    let (client, id) = Client::ALL.into_iter().find_map(of)?;
    let session = SessionId::new(id).filter(|_| !id.contains('.'))?;
    Some(Subject { client, session, agent: None, agent_type: None })
}
