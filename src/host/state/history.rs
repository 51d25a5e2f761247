//! The entries of a session: a file of fixed-size records beside the ring, under the ring's lock. Only a call that has ended
//! touches it, so an ordinary decision costs nothing for it. What is damaged is left out, never made up.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::cannot;
use super::file::Ring;
use super::ring::{checksum, outcome_code, outcome_of, put, words};
use crate::domain::{ActionKind, Fault, FaultKind, HistoryEntry, Marked, Place};
use crate::host::clock::Now;
use crate::host::private;

/// Entries that are looked back on.
pub const LOOKED_AT: u64 = 200;
/// Slots of the file: a power of two above it.
const SLOTS: u64 = 256;
/// Bytes of a record; it divides a page, so no record crosses one.
const RECORD: usize = 128;
const WORDS: usize = RECORD / 8;
const FILE: u64 = SLOTS * RECORD as u64;
const VERSION: u64 = 1;
const MISSING: u64 = 1;

/// The entries of the session of a ring.
#[derive(Debug)]
pub(super) struct Entries {
    /// None = there is no file yet.
    file: Option<File>,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Entries {
    /// Reads the file, if there is one. One of another size is not ours: it is begun anew, for nothing but advice hangs on it.
    pub fn open(ring: &Ring) -> Result<Entries, Fault> {
        let path = beside(&ring.path);
        let mut bytes = vec![0; usize::try_from(FILE).unwrap_or(0)];
        let file = match private::open(&path, true) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Entries { file: None, path, bytes });
            }
            opened => opened.map_err(|error| cannot(&path, &error))?,
        };
        let meta = file.metadata().map_err(|error| cannot(&path, &error))?;
        private::owned(FaultKind::State, &path, &meta)?;
        if meta.len() == FILE {
            file.read_exact_at(&mut bytes, 0).map_err(|error| cannot(&path, &error))?;
        } else {
            file.set_len(0).and_then(|()| file.set_len(FILE)).map_err(|error| cannot(&path, &error))?;
        }
        Ok(Entries { file: Some(file), path, bytes })
    }

    /// The entries that can be read, newest first, at most [`LOOKED_AT`].
    pub fn all(&self, now: Now) -> Vec<HistoryEntry> {
        let slots: &[[u8; RECORD]] = self.bytes.as_chunks().0;
        let mut entries: Vec<HistoryEntry> = slots.iter().filter_map(|bytes| decode(bytes, now)).collect();
        crate::domain::sort_by_key(&mut entries, |entry| std::cmp::Reverse(entry.number));
        entries.truncate(usize::try_from(LOOKED_AT).unwrap_or(usize::MAX));
        entries
    }

    /// Writes one more; the first makes the file.
    pub fn add(&self, entry: &HistoryEntry, now: Now) -> Result<(), Fault> {
        let write = || {
            let made;
            let file = match &self.file {
                Some(file) => file,
                None => {
                    made = private::open_new(&self.path)?;
                    made.set_len(FILE)?;
                    &made
                }
            };
            file.write_all_at(&encode(entry, now), (entry.number % SLOTS) * RECORD as u64)
        };
        write().map_err(|error| cannot(&self.path, &error))
    }
}

/// The file's path, from the ring's.
pub(super) fn beside(ring: &Path) -> PathBuf {
    ring.with_extension("history")
}

fn encode(entry: &HistoryEntry, now: Now) -> [u8; RECORD] {
    let kind = VERSION
        | outcome_code(entry.outcome) << 8
        | operation_code(entry.operation) << 16
        | place_code(entry.place) << 24
        | u64::from(entry.alignment) << 32
        | if entry.missing { MISSING } else { 0 } << 40;
    let body: [u64; WORDS] = [
        kind,
        entry.number,
        now.unix_ms,
        now.boot_ms,
        entry.call,
        entry.action,
        entry.agent,
        entry.tool,
        entry.path,
        entry.error,
        u64::from(entry.duration_ms) | u64::from(entry.size) << 32,
        u64::from(entry.prompt),
        entry.marked.by,
        u64::from(entry.marked.among) | u64::from(entry.marked.counts) << 32,
        0,
        0,
    ];
    let sum = checksum(&body);
    let mut bytes = [0; RECORD];
    put(&mut bytes, body.into_iter().take(WORDS - 1).chain([sum]));
    bytes
}

fn decode(bytes: &[u8; RECORD], now: Now) -> Option<HistoryEntry> {
    // Most sessions have filled few of the slots.
    if bytes.first() == Some(&0) {
        return None;
    }
    let mut body = words::<WORDS>(bytes);
    let sum = std::mem::take(body.last_mut()?);
    let [kind, number, unix_ms, boot_ms, call, action, agent, tool, path, error, sizes, prompt, by, bits, ..] =
        body;
    if checksum(&body) != sum || kind & 0xff != VERSION || number == 0 {
        return None;
    }
    Some(HistoryEntry {
        number,
        age_ms: now.age_ms(Now { unix_ms, boot_ms }),
        call,
        action,
        agent,
        tool,
        path,
        error,
        operation: *ActionKind::ALL.get(usize::try_from(kind >> 16 & 0xff).ok()?)?,
        place: *Place::ALL.get(usize::try_from(kind >> 24 & 0xff).ok()?)?,
        outcome: outcome_of(kind >> 8 & 0xff)?,
        missing: kind >> 40 & MISSING != 0,
        alignment: u8::try_from(kind >> 32 & 0xff).ok()?,
        duration_ms: low(sizes),
        size: high(sizes),
        prompt: u32::try_from(prompt).ok()?,
        marked: Marked { by, among: low(bits), counts: high(bits) },
    })
}

/// The lower half of a word.
#[expect(clippy::cast_possible_truncation, reason = "half of it")]
fn low(word: u64) -> u32 {
    word as u32
}

/// The upper half of a word.
fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

fn operation_code(operation: ActionKind) -> u64 {
    ActionKind::ALL.iter().position(|known| *known == operation).map_or(u64::from(u8::MAX), |at| at as u64)
}

fn place_code(place: Place) -> u64 {
    Place::ALL.iter().position(|known| *known == place).map_or(u64::from(u8::MAX), |at| at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Outcome;

    fn entry(number: u64) -> HistoryEntry {
        HistoryEntry {
            number,
            age_ms: 0,
            call: 1,
            action: 2,
            agent: 3,
            tool: 4,
            path: 5,
            error: 6,
            operation: ActionKind::Delete,
            place: Place::Outside,
            outcome: Outcome::Failed,
            missing: true,
            alignment: 40,
            duration_ms: u32::MAX,
            size: 7,
            prompt: 9,
            marked: Marked { by: 10, among: u32::MAX, counts: 11 },
        }
    }

    #[test]
    fn a_deed_comes_back_as_it_was_for_every_word_in_it() {
        let now = Now { unix_ms: 10, boot_ms: 20 };
        for operation in ActionKind::ALL {
            for place in Place::ALL {
                for outcome in [Outcome::Pending, Outcome::Done, Outcome::Failed, Outcome::Blocked] {
                    let written = HistoryEntry { operation, place, outcome, ..entry(3) };
                    assert_eq!(decode(&encode(&written, now), now), Some(written));
                }
            }
        }
    }

    #[test]
    fn a_deed_with_any_bit_changed_is_left_out() {
        let now = Now { unix_ms: 10, boot_ms: 20 };
        let bytes = encode(&entry(3), now);
        for bit in 0..RECORD * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&damaged, now), None, "bit {bit}");
        }
        assert_eq!(decode(&[0; RECORD], now), None);
    }
}
