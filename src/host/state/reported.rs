//! A call has ended: its record gets the outcome, the session's entries get one more, and what is known of the session's
//! behaviour may change, all under one lock.

use super::document::{self, Document};
use super::file::{Purpose, Ring};
use super::history::Entries;
use super::ring::Record;
use super::{Store, catch_up, name, records};
use crate::domain::{Fault, HistoryEntry, Outcome, Subject, Verdict};
use crate::host::clock::Now;

/// Records read at once, newest first: a call is mostly reported before many others begin.
const AT_ONCE: u64 = 64;

/// What is reported of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reported {
    /// The fingerprint of its id (0 = it has none).
    pub call: u64,
    pub outcome: Outcome,
    /// What the system says now of the files that are looked at after a call; 0 = nobody asked it.
    pub seen: u64,
    /// Something that it started works on.
    pub background: bool,
}

/// Where the session stands when a call has ended.
#[derive(Debug)]
pub struct Told<'a> {
    /// What was said of the call before it ran; none = no such call is remembered.
    pub verdict: Option<Verdict>,
    /// Milliseconds since it was decided on (0 = not known).
    pub took_ms: u64,
    /// The number of the entry that is made of it.
    pub number: u64,
    /// What there was before, newest first.
    pub entries: &'a [HistoryEntry],
    /// The watched files are not as they were last seen.
    pub moved: bool,
    /// What `f` changes in it is kept.
    pub document: &'a mut Document,
}

/// Reports how a call ended. `f` says what is remembered of it (its number is set here), and its answer is given back with
/// what was said of the call before it ran. Nothing happens to a session that is not known, and nothing twice to one call.
pub fn reported<T>(
    store: &Store,
    subject: &Subject,
    now: Now,
    call: Reported,
    f: impl FnOnce(&mut Told<'_>) -> (T, Option<HistoryEntry>),
) -> Result<Option<(T, Option<Verdict>)>, Fault> {
    let Some(mut ring) = Ring::open(store, &name(subject), now, Purpose::Change)? else {
        return Ok(None);
    };
    catch_up(&mut ring)?;
    let record = if call.call == 0 { None } else { find(&ring, call.call)? };
    let entries = Entries::open(&ring)?;
    let before = entries.all(now);
    let told =
        |entry: &HistoryEntry| call.call != 0 && entry.call == call.call && entry.outcome == call.outcome;
    let twice = match record {
        Some(record) => record.entry.outcome == call.outcome,
        None => before.iter().any(told),
    };
    // One that was refused is an entry, and its record says so already.
    if twice && call.outcome != Outcome::Blocked {
        return Ok(None);
    }
    if let Some(mut record) = record.filter(|_| !twice) {
        record.entry.outcome = call.outcome;
        ring.write_record(&record)?;
    }
    let old = document::load(&mut ring, now, true)?;
    let mut document = old.clone();
    if record.is_some() && call.outcome != Outcome::Blocked {
        document.watch.ended_ms = now.unix_ms;
        document.watch.lingers |= call.background;
    }
    let verdict = record.map(|record| record.entry.verdict);
    let number = before.first().map_or(1, |entry| entry.number.saturating_add(1));
    let (answer, entry) = f(&mut Told {
        verdict,
        took_ms: record.map_or(0, |record| now.age_ms(record.at)),
        number,
        entries: &before,
        moved: call.seen != 0 && call.seen != old.watch.after,
        document: &mut document,
    });
    if let Some(entry) = entry {
        entries.add(&HistoryEntry { number, call: call.call, outcome: call.outcome, ..entry }, now)?;
    }
    if (Document { watch: old.watch, ..document.clone() }) != old {
        document::save(&mut ring, &document)?;
    } else if document.watch != old.watch {
        ring.header.watch = document.watch;
        ring.write_header()?;
    }
    Ok(Some((answer, verdict)))
}

/// The record of a call, by the fingerprint of its id.
fn find(ring: &Ring, call: u64) -> Result<Option<Record>, Fault> {
    let mut above = ring.header.next;
    while above > ring.oldest() {
        let from = above.saturating_sub(AT_ONCE).max(ring.oldest());
        let bytes = ring.records(from, above - 1)?;
        if let Some(record) = records(&bytes, from).rev().flatten().find(|record| record.entry.call == call) {
            return Ok(Some(record));
        }
        above = from;
    }
    Ok(None)
}
