//! The form of a ring file: a header page and fixed-size records, each with version and checksum. Bytes to values and
//! back; no files here.

use crate::domain::{Entry, Outcome, PastCall, Verdict, Watch};
use crate::host::clock::Now;

/// Records in a ring: what is older has been overwritten. All agents of a session share it, so it has room for the limit of each of
/// them, however many work at once: with fewer, a hundred agents wear out the ring in a minute, and no limit can be counted any more.
pub const CAPACITY: u64 = 65_536;
/// The same of rings that earlier versions made, which are kept as they are.
const EARLIER: u64 = 4096;
/// Bytes of a record. It divides a page, so no record crosses one.
pub(super) const RECORD: usize = 64;
/// Bytes of the header that are used.
pub(super) const HEADER: usize = 128;
/// Where the records begin.
const RECORDS_AT: u64 = 4096;
/// Bytes of a new ring file, always (most of a young one is a hole).
pub(super) const FILE: u64 = bytes(CAPACITY);

const fn bytes(capacity: u64) -> u64 {
    RECORDS_AT + capacity * RECORD as u64
}

/// How many records a ring file of that size has.
pub(super) fn capacity(size: u64) -> Option<u64> {
    [CAPACITY, EARLIER].into_iter().find(|capacity| bytes(*capacity) == size)
}

const MAGIC: u64 = u64::from_le_bytes(*b"lazaring");
const VERSION: u64 = 1;

/// What the header knows of the session's document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Papers {
    /// There is none.
    None,
    /// There may be one: it is being written, or the ring was begun anew beside it.
    Maybe,
    /// There is one; if it is gone, somebody took it.
    Kept,
    /// The same, and a call that is about to run is decided on without it.
    Quiet,
}

/// The counters in front of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Sequence number of the next record; the first is 1.
    pub next: u64,
    pub file_operations: u64,
    pub prompts: u64,
    pub papers: Papers,
    /// When the ring was begun.
    pub begun: Now,
    /// It was begun anew because what was there was damaged.
    pub lost: bool,
    /// Behind the checksum: rings of before have zeros there, and what is torn is only looked at again.
    pub watch: Watch,
}

/// Why a header cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    Foreign(u64),
    Damaged,
}

impl Header {
    pub fn new(begun: Now, lost: bool) -> Header {
        Header {
            next: 1,
            file_operations: 0,
            prompts: 0,
            papers: Papers::Maybe,
            begun,
            lost,
            watch: Watch::default(),
        }
    }

    /// The oldest sequence number that the ring still has.
    pub fn oldest(&self, capacity: u64) -> u64 {
        // One less than fits: the slot of the next record is never counted as history.
        self.next.saturating_sub(capacity - 1).max(1)
    }

    pub fn count(&mut self, entry: &Entry) {
        self.next += 1;
        self.file_operations += u64::from(entry.file_operation);
    }

    pub fn encode(&self) -> [u8; HEADER] {
        let papers = match self.papers {
            Papers::None => 0,
            Papers::Maybe => 1,
            Papers::Kept => 2,
            Papers::Quiet => 3,
        };
        let body = [
            MAGIC,
            VERSION,
            self.next,
            self.file_operations,
            self.prompts,
            papers,
            self.begun.unix_ms,
            self.begun.boot_ms,
            u64::from(self.lost),
            0,
        ];
        let mut bytes = [0; HEADER];
        let watch = self.watch;
        let watch = [watch.before, watch.after, watch.ended_ms, u64::from(watch.lingers), watch.spoke_ms];
        put(&mut bytes, body.into_iter().chain([checksum(&body)]).chain(watch));
        bytes
    }

    pub fn decode(bytes: &[u8; HEADER]) -> Result<Header, Unreadable> {
        let [whole @ .., before, after, ended_ms, lingers, spoke_ms] = words::<16>(bytes);
        let [body @ .., sum] = whole;
        let [magic, version, next, file_operations, prompts, papers, unix_ms, boot_ms, lost, _] = body;
        if magic != MAGIC {
            return Err(Unreadable::Damaged);
        }
        if version != VERSION {
            return Err(Unreadable::Foreign(version));
        }
        let papers = match papers {
            0 => Papers::None,
            1 => Papers::Maybe,
            2 => Papers::Kept,
            3 => Papers::Quiet,
            _ => return Err(Unreadable::Damaged),
        };
        if sum != checksum(&body) || next == 0 || next == u64::MAX {
            return Err(Unreadable::Damaged);
        }
        let begun = Now { unix_ms, boot_ms };
        let watch = Watch { before, after, ended_ms, spoke_ms, lingers: lingers != 0 };
        Ok(Header { next, file_operations, prompts, papers, begun, lost: lost != 0, watch })
    }
}

/// One call as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    pub sequence: u64,
    pub at: Now,
    pub entry: Entry,
}

const WRITES: u64 = 1;
const FILE_OPERATION: u64 = 2;

impl Record {
    pub fn encode(&self) -> [u8; RECORD] {
        let entry = &self.entry;
        let flags =
            if entry.writes { WRITES } else { 0 } | if entry.file_operation { FILE_OPERATION } else { 0 };
        let kind =
            VERSION | verdict_code(entry.verdict) << 8 | outcome_code(entry.outcome) << 16 | flags << 24;
        let [mut meta, rest @ ..] = [
            kind,
            self.sequence,
            self.at.unix_ms,
            self.at.boot_ms,
            entry.action,
            entry.agent,
            entry.tool,
            entry.call,
        ];
        meta |= checksum_of_record(kind, &rest) << 32;
        let mut bytes = [0; RECORD];
        put(&mut bytes, [meta].into_iter().chain(rest));
        bytes
    }

    /// The record, if it is whole and the one of that number.
    #[inline]
    pub fn decode(bytes: &[u8; RECORD], expected: u64) -> Option<Record> {
        let [meta, rest @ ..] = words::<8>(bytes);
        let [sequence, unix_ms, boot_ms, action, agent, tool, call] = rest;
        let kind = meta & u64::from(u32::MAX);
        if kind & 0xff != VERSION || sequence != expected || meta >> 32 != checksum_of_record(kind, &rest) {
            return None;
        }
        let entry = Entry {
            action,
            agent,
            tool,
            call,
            verdict: verdict_of(kind >> 8 & 0xff)?,
            outcome: outcome_of(kind >> 16 & 0xff)?,
            writes: kind >> 24 & WRITES != 0,
            file_operation: kind >> 24 & FILE_OPERATION != 0,
        };
        Some(Record { sequence, at: Now { unix_ms, boot_ms }, entry })
    }
}

/// The record of that number as a decision sees it; one that cannot be read is present, and as young as can be.
#[inline]
pub(super) fn past(bytes: &[u8; RECORD], number: u64, now: Now) -> PastCall {
    let Some(record) = Record::decode(bytes, number) else {
        return PastCall {
            action: 0,
            agent: 0,
            tool: 0,
            age_ms: 0,
            outcome: Outcome::Pending,
            writes: false,
            damaged: true,
        };
    };
    let entry = record.entry;
    PastCall {
        action: entry.action,
        agent: entry.agent,
        tool: entry.tool,
        age_ms: now.age_ms(record.at),
        outcome: entry.outcome,
        writes: entry.writes,
        damaged: false,
    }
}

/// Where the record of that number lies in the file.
pub(super) fn offset(sequence: u64, capacity: u64) -> u64 {
    RECORDS_AT + (sequence.saturating_sub(1) % capacity) * RECORD as u64
}

/// How many records, from that number on, lie behind each other before the ring begins again.
pub(super) fn until_wrap(sequence: u64, capacity: u64) -> u64 {
    capacity - sequence.saturating_sub(1) % capacity
}

const fn verdict_code(verdict: Verdict) -> u64 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Warn => 1,
        Verdict::Modify => 2,
        Verdict::Block => 3,
    }
}

const fn verdict_of(code: u64) -> Option<Verdict> {
    match code {
        0 => Some(Verdict::Allow),
        1 => Some(Verdict::Warn),
        2 => Some(Verdict::Modify),
        3 => Some(Verdict::Block),
        _ => None,
    }
}

pub(super) const fn outcome_code(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Pending => 0,
        Outcome::Done => 1,
        Outcome::Failed => 2,
        Outcome::Blocked => 3,
    }
}

pub(super) const fn outcome_of(code: u64) -> Option<Outcome> {
    match code {
        0 => Some(Outcome::Pending),
        1 => Some(Outcome::Done),
        2 => Some(Outcome::Failed),
        3 => Some(Outcome::Blocked),
        _ => None,
    }
}

/// One multiplication for two words: two hundred records are checked on a call, so it must be cheap. It finds what is
/// torn, not what is forged. A last word without its pair would not count.
pub(super) fn checksum<const N: usize>(words: &[u64; N]) -> u64 {
    const { assert!(N.is_multiple_of(2)) };
    let pairs = words.as_chunks().0;
    pairs.iter().fold(SEED, |hash, [first, second]| mixed(hash, *first, *second))
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

#[inline(always)]
fn mixed(hash: u64, first: u64, second: u64) -> u64 {
    let (first, second) = (first ^ hash, second ^ hash.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15);
    let product = u128::from(first) * u128::from(second);
    product as u64 ^ (product >> 64) as u64
}

/// The half of it that fits beside a record's kind. Without a loop: it is worked out for each call that a decision looks back on.
#[inline]
fn checksum_of_record(kind: u64, rest: &[u64; 7]) -> u64 {
    let [sequence, unix_ms, boot_ms, action, agent, tool, call] = *rest;
    mixed(mixed(mixed(mixed(SEED, kind, sequence), unix_ms, boot_ms), action, agent), tool, call) >> 32
}

pub(super) fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

pub(super) fn put(bytes: &mut [u8], words: impl Iterator<Item = u64>) {
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: u64) -> Entry {
        Entry {
            action: n,
            agent: n ^ 1,
            tool: n ^ 2,
            call: n ^ 3,
            verdict: Verdict::Warn,
            outcome: Outcome::Failed,
            writes: true,
            file_operation: true,
        }
    }

    fn record(sequence: u64) -> Record {
        Record { sequence, at: Now { unix_ms: u64::MAX, boot_ms: 7 }, entry: entry(sequence) }
    }

    #[test]
    fn a_record_comes_back_as_it_was() {
        for verdict in [Verdict::Allow, Verdict::Warn, Verdict::Modify, Verdict::Block] {
            for outcome in [Outcome::Pending, Outcome::Done, Outcome::Failed, Outcome::Blocked] {
                for flags in 0..4 {
                    let mut written = record(9);
                    written.entry.verdict = verdict;
                    written.entry.outcome = outcome;
                    written.entry.writes = flags & 1 != 0;
                    written.entry.file_operation = flags & 2 != 0;
                    assert_eq!(Record::decode(&written.encode(), 9), Some(written));
                }
            }
        }
    }

    #[test]
    fn a_record_with_any_bit_changed_is_not_one() {
        let bytes = record(3).encode();
        for bit in 0..RECORD * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Record::decode(&damaged, 3), None, "bit {bit}");
        }
        assert_eq!(Record::decode(&[0; RECORD], 0), None);
        assert_eq!(Record::decode(&bytes, 3 + CAPACITY), None, "the one of the round before");
    }

    #[test]
    fn a_header_comes_back_as_it_was_and_not_with_a_bit_changed() {
        let mut header = Header::new(Now { unix_ms: 5, boot_ms: 6 }, true);
        header.count(&entry(1));
        header.papers = Papers::Kept;
        header.watch = Watch { before: 1, after: u64::MAX, ended_ms: 3, spoke_ms: 4, lingers: true };
        let bytes = header.encode();
        assert_eq!(Header::decode(&bytes), Ok(header));
        for bit in 0..11 * 64 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Header::decode(&damaged).is_err(), "bit {bit}");
        }
    }
}
