//! What is remembered of a client session between calls: a ring of records for what every call changes, a document for
//! what changes seldom. One lock per session; what is damaged is never taken for empty. Nothing here decides.

mod document;
mod file;
mod glance;
mod history;
mod marks;
mod reported;
mod ring;
mod sweep;

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

pub use document::Document;
use file::{Purpose, Ring};
pub use glance::{Glance, glance, known};
pub use reported::{Reported, Told, reported};
pub use ring::CAPACITY;
use ring::{RECORD, Record, past};
pub use sweep::sweep;

use super::clock::Now;
use super::{hex, private};
use crate::domain::{Entry, Fault, FaultKind, HistoryEntry, Marks, PastCall, Stand, Subject, Watch};

/// Where the state lies, and how long a call waits for another one of its session.
#[derive(Debug, Clone)]
pub struct Store {
    state_dir: PathBuf,
    wait_ms: u64,
}

impl Store {
    /// Longest wait for the lock, in milliseconds: well below every deadline.
    const WAIT_MS: u64 = 1000;

    pub fn new(state_dir: impl Into<PathBuf>) -> Store {
        Store { state_dir: state_dir.into(), wait_ms: Store::WAIT_MS }
    }

    /// The same with another longest wait.
    #[must_use]
    pub fn waiting(mut self, wait_ms: u64) -> Store {
        self.wait_ms = wait_ms;
        self
    }

    /// lazaret's state directory.
    pub fn dir(&self) -> &Path {
        &self.state_dir
    }

    fn sessions(&self) -> PathBuf {
        self.state_dir.join("sessions")
    }
}

/// How far back a decision looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// At least so many calls, where there are that many.
    pub records: u64,
    /// And all that are not older than this.
    pub window_ms: u64,
}

/// What is to be remembered besides the call itself.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    pub marks: Option<Marks>,
    pub watch: Option<Watch>,
    /// Why the session is stopped from now on.
    pub stopped: Option<String>,
}

/// One call under the session's lock: `f` sees where the session stands and says what is to be remembered of the call.
pub fn update<T>(
    store: &Store,
    subject: &Subject,
    now: Now,
    look: Look,
    f: impl FnOnce(&Stand) -> (T, Option<Entry>),
) -> Result<T, Fault> {
    remember(store, subject, now, look, |stand| {
        let (answer, entry) = f(stand);
        (answer, entry, Kept::default())
    })
}

/// The same, where more than the call may be remembered.
pub fn remember<T>(
    store: &Store,
    subject: &Subject,
    now: Now,
    look: Look,
    f: impl FnOnce(&Stand) -> (T, Option<Entry>, Kept),
) -> Result<T, Fault> {
    let mut ring = session(store, subject, now)?;
    let document = document::load_for_call(&mut ring, now)?;
    let stand = stand(&mut ring, document, now, look)?;
    let (answer, entry, kept) = f(&stand);
    if let Some(watch) = kept.watch {
        ring.header.watch = watch;
    }
    if let Some(entry) = entry {
        // The record first: one that the header does not count yet is found by the next call.
        ring.write_record(&Record { sequence: ring.header.next, at: now, entry })?;
        ring.header.count(&entry);
        ring.write_header()?;
    }
    let marks = kept.marks.filter(|marks| *marks != stand.marks);
    if marks.is_some() || kept.stopped.is_some() {
        let document = document::load(&mut ring, now, true)?;
        let marks = marks.unwrap_or_else(|| document.marks.clone());
        let stopped = kept.stopped.or_else(|| document.stopped.clone());
        document::save(&mut ring, &Document { marks, stopped, ..document })?;
    }
    Ok(answer)
}

/// Where the session stands; nothing is made, changed or repaired.
pub fn look(store: &Store, subject: &Subject, now: Now, look: Look) -> Result<Stand, Fault> {
    let Some(mut ring) = Ring::open(store, &name(subject), now, Purpose::Look)? else {
        return Ok(Stand::default());
    };
    let document = document::load(&mut ring, now, false)?;
    stand(&mut ring, document, now, look)
}

/// The entries of the session, newest first.
pub fn entries(store: &Store, subject: &Subject, now: Now) -> Result<Vec<HistoryEntry>, Fault> {
    match Ring::open(store, &name(subject), now, Purpose::Look)? {
        Some(ring) => Ok(history::Entries::open(&ring)?.all(now)),
        None => Ok(Vec::new()),
    }
}

/// Whether a call whose id has this fingerprint is among those that the ring still holds.
pub fn saw(store: &Store, subject: &Subject, now: Now, call: u64) -> Result<bool, Fault> {
    let Some(ring) = Ring::open(store, &name(subject), now, Purpose::Look)? else { return Ok(false) };
    let (from, next) = (ring.oldest(), ring.header.next);
    let bytes = ring.records(from, next)?;
    Ok(records(&bytes, from).flatten().any(|record| record.entry.call == call))
}

/// Forgets what is remembered of the files that `gone` names; looked at only where something is remembered.
pub fn forget(
    store: &Store,
    subject: &Subject,
    now: Now,
    gone: impl FnOnce(&Marks) -> Vec<String>,
) -> Result<(), Fault> {
    let Some(mut ring) = Ring::open(store, &name(subject), now, Purpose::Change)? else {
        return Ok(());
    };
    let mut document = document::load(&mut ring, now, true)?;
    if document.marks.is_empty() {
        return Ok(());
    }
    let paths = gone(&document.marks);
    if paths.is_empty() {
        return Ok(());
    }
    catch_up(&mut ring)?;
    paths.iter().for_each(|path| document.marks.forget(path));
    document::save(&mut ring, &document)
}

/// Changes what changes seldom; nothing is written when nothing changed.
pub fn amend<T>(
    store: &Store,
    subject: &Subject,
    now: Now,
    f: impl FnOnce(&mut Document) -> T,
) -> Result<T, Fault> {
    let mut ring = session(store, subject, now)?;
    catch_up(&mut ring)?;
    let before = document::load(&mut ring, now, true)?;
    let mut after = before.clone();
    let answer = f(&mut after);
    if after == before {
        return Ok(answer);
    }
    if (Document { prompts: before.prompts, watch: before.watch, ..after.clone() }) == before {
        ring.header.prompts = after.prompts;
        ring.header.watch = after.watch;
        ring.write_header()?;
    } else {
        document::save(&mut ring, &after)?;
    }
    Ok(answer)
}

fn session(store: &Store, subject: &Subject, now: Now) -> Result<Ring, Fault> {
    let name = name(subject);
    Ring::open(store, &name, now, Purpose::Make)?
        .ok_or_else(|| fault(&store.sessions().join(name), "it could not be made"))
}

/// The name of a session's files: its id where that is a plain file name, else a digest, told apart by its dot.
fn name(subject: &Subject) -> String {
    let (client, id) = (subject.client.name(), subject.session.as_str());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if id.len() <= 100 && id.bytes().all(plain) {
        return format!("{client}-{id}");
    }
    format!("{client}-sha256.{}", hex(&Sha256::digest(id.as_bytes())))
}

/// Counts a record that was written by a process which did not come to write the header.
fn catch_up(ring: &mut Ring) -> Result<(), Fault> {
    while let Some(record) = ring.record(ring.header.next)? {
        ring.header.count(&record.entry);
    }
    Ok(())
}

fn stand(ring: &mut Ring, document: Document, now: Now, look: Look) -> Result<Stand, Fault> {
    let (history, overwritten) = history(ring, now, look)?;
    let lost = ring.header.lost.then(|| now.age_ms(ring.header.begun));
    Ok(Stand {
        history,
        missing_ms: overwritten.into_iter().chain(lost).min(),
        calls: ring.header.next - 1,
        file_operations: ring.header.file_operations,
        prompts: document.prompts,
        watch: ring.header.watch,
        stopped: document.stopped,
        marks: document.marks,
        behaviour: document.behaviour,
    })
}

/// The calls, newest first, and how old the youngest may be of those that are not among them. One read in the ordinary case: it
/// takes in the slot after the newest record, where one may lie that the header does not count yet.
fn history(ring: &mut Ring, now: Now, look: Look) -> Result<(Vec<PastCall>, Option<u64>), Fault> {
    let first = |ring: &Ring, records: u64| ring.header.next.saturating_sub(records).max(ring.oldest());
    let mut wide = look.records;
    let mut from = first(ring, wide);
    let mut bytes = ring.records(from, ring.header.next)?;
    if bytes.last_chunk().and_then(|bytes| Record::decode(bytes, ring.header.next)).is_some() {
        catch_up(ring)?;
        from = first(ring, wide);
        bytes = ring.records(from, ring.header.next)?;
    }
    // Wider until the window is in it: a ring has room for far more than most windows hold.
    while from > ring.oldest() && oldest_ms(&bytes, from, now).is_none_or(|age| age <= look.window_ms) {
        wide = wide.saturating_mul(8).max(1024);
        from = first(ring, wide);
        bytes = ring.records(from, ring.header.next)?;
    }
    let missing = (from > 1).then(|| oldest_ms(&bytes, from, now).unwrap_or(0));
    // Newest first; the slot after the newest is no history.
    let slots: &[[u8; RECORD]] = bytes.as_chunks().0;
    let mut number = ring.header.next;
    let mut history: Vec<PastCall> = Vec::with_capacity(slots.len());
    history.extend(slots.iter().rev().skip(1).map(|bytes| {
        number -= 1;
        past(bytes, number, now)
    }));
    let wanted = usize::try_from(look.records).unwrap_or(usize::MAX);
    if history.len() > wanted {
        let mut place = 0;
        history.retain(|call| {
            place += 1;
            place <= wanted || call.age_ms <= look.window_ms
        });
    }
    Ok((history, missing))
}

/// The age of the oldest of these records, which all that are missing have reached. One that cannot be read does not tell; the
/// next one does.
fn oldest_ms(bytes: &[u8], from: u64, now: Now) -> Option<u64> {
    records(bytes, from).flatten().next().map(|record| now.age_ms(record.at))
}

/// The records in these bytes, the first of which has the number `from`; none = it cannot be read.
fn records(bytes: &[u8], from: u64) -> impl DoubleEndedIterator<Item = Option<Record>> {
    let all: &[[u8; RECORD]] = bytes.as_chunks().0;
    let number = move |index: usize| from + u64::try_from(index).unwrap_or(u64::MAX - from);
    all.iter().enumerate().map(move |(index, bytes)| Record::decode(bytes, number(index)))
}

/// A fault of the state, with the name of the file.
fn fault(path: &Path, why: impl Into<String>) -> Fault {
    private::fault(FaultKind::State, path, why)
}

fn cannot(path: &Path, error: &io::Error) -> Fault {
    private::cannot(FaultKind::State, path, error)
}
