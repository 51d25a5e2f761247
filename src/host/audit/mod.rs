//! The audit log: one JSON line per event, each sealed with the one before it, files set aside by size and by age. What is in a line
//! has been redacted before it comes here.

mod chain;
mod earlier;
mod end;
mod form;
mod line;
mod mark;
mod memory;
mod prune;
mod read;
mod seal;
mod sealing;
mod verify;
mod walk;
mod why;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub use chain::FILE as CHAIN;
pub use end::{End, begun, end};
pub use prune::{Pruned, prune, sweep};
pub use read::{Filter, Found, Line, Lines, Tail, last, lines, marked};
pub use sealing::VerificationKey;
pub use verify::{Bad, Checked, Torn, Wrong, verify};
pub use why::{Because, Effect, OFFERED, Why};

use super::clock::{self, Now};
use super::private;
use crate::domain::{AuditEvent, AuditPolicy, EventKind, Fault, FaultKind};
use chain::Chain;
use walk::{Follow, Walk};

/// The file that lines are added to.
const CURRENT: &str = "audit.jsonl";
/// The log's directory in the state's.
const NAME: &str = "audit";
/// The name of a file that was set aside is this, the time, and [`SUFFIX`].
const PREFIX: &str = "audit-";
const SUFFIX: &str = ".jsonl";
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Where the log lies.
pub fn dir(state_dir: &Path) -> PathBuf {
    state_dir.join(NAME)
}

/// Adds a line, and gives its id: none = the log is switched off, or not told of such events. `dir` is the log's own directory.
pub fn append(
    dir: &Path,
    policy: &AuditPolicy,
    now: Now,
    event: &AuditEvent<'_>,
) -> Result<Option<String>, Fault> {
    if !policy.enabled || event.kind.level() < policy.log_level {
        return Ok(None);
    }
    let mut chain = Chain::open(dir, now)?;
    let path = dir.join(CURRENT);
    let mut file = private::open_append(&path).map_err(|error| cannot(&path, &error))?;
    let mut before = file.seek(SeekFrom::End(0)).map_err(|error| cannot(&path, &error))?;
    let mut behind = Behind::default();
    if before > chain.size {
        match catch_up(&mut chain, &path, before).map_err(|error| cannot(&path, &error))? {
            Some(found) => behind = found,
            // More than a killed process leaves: it is not taken into the chain, and `verify` tells of it.
            None => {
                rename(dir, &mut chain, now)?;
                file = private::open_append(&path).map_err(|error| cannot(&path, &error))?;
                before = 0;
            }
        }
    }
    // Set aside by a process that was killed before it said so: all that is anchored lies there.
    if before == 0 && chain.size > 0 && chain.last_seam().is_ok_and(|seam| seam.is_where(&chain.anchor)) {
        let last = chain.anchor;
        chain.anchor(last, 0).map_err(|error| cannot(&dir.join(CHAIN), &error))?;
    }
    // Less than was anchored: the file was removed or cut, or the log with its keys. The first line then says so.
    let lost = chain.lost.take().or((before < chain.size).then_some(chain.anchor.count));
    if let Some(lost) = lost {
        let note = format!(
            "{}: lines of the audit log up to number {lost} are not there any more",
            FaultKind::Audit.code()
        );
        let told = gap(event, &note);
        before = add((&mut chain, &mut file), (dir, &path), (before, Behind::default()), now, &told)?.1;
    }
    let (id, size) = add((&mut chain, &mut file), (dir, &path), (before, behind), now, event)?;
    if size >= policy.max_bytes {
        let _aside = rename(dir, &mut chain, now);
    }
    Ok(Some(id))
}

/// The event that says that lines are gone.
fn gap<'a>(event: &AuditEvent<'a>, note: &'a str) -> AuditEvent<'a> {
    AuditEvent { subject: event.subject, cwd: event.cwd, note, ..AuditEvent::of(EventKind::Fault) }
}

/// Adds one line to the chain; gives its id, and the file's size with it.
fn add(
    (chain, file): (&mut Chain, &mut File),
    (dir, path): (&Path, &Path),
    (before, behind): (u64, Behind),
    now: Now,
    event: &AuditEvent<'_>,
) -> Result<(String, u64), Fault> {
    let Behind { mut gap, cut } = behind;
    let id = new_id(now, chain.anchor.shown());
    let mut bytes = line::write(&id, now, event)
        .map_err(|error| private::fault(FaultKind::Audit, dir, error.to_string()))?;
    // What was cut short gets an end, so that no line begins behind it.
    if cut && !gap.is_empty() {
        gap.push(b'\n');
    }
    let link = seal::close(&mut bytes, &chain.keys, &chain.anchor, &gap);
    if cut {
        bytes.insert(0, b'\n');
    }
    // One write, so that no reader sees half a line; what does not fit on the disk is taken back.
    let written = file.write(&bytes).map_err(|error| cannot(path, &error))?;
    if written < bytes.len() {
        let _taken_back = file.set_len(before);
        return Err(cannot(path, &io::Error::from_raw_os_error(libc::ENOSPC)));
    }
    let size = before.saturating_add(bytes.len() as u64);
    // The line is there, so neither of these can be a fault of this call; the next one tries again.
    let _anchored = chain.anchor(link, size);
    Ok((id, size))
}

/// What is behind the last line of the chain.
#[derive(Default)]
struct Behind {
    /// Bytes that are no line.
    gap: Vec<u8>,
    /// Whether the file's last line feed is missing.
    cut: bool,
}

/// Follows the lines that a process wrote and was killed before it anchored them, and gives what is behind them: `None` = more than
/// is looked through.
fn catch_up(chain: &mut Chain, path: &Path, end: u64) -> io::Result<Option<Behind>> {
    if end.saturating_sub(chain.size) > walk::GAP as u64 {
        return Ok(None);
    }
    let mut file = private::open(path, false)?;
    file.seek(SeekFrom::Start(chain.size))?;
    let with = Follow {
        key: chain.keys.chain.clone(),
        earlier: None,
        sealing: Some(chain.keys.sealing.clone()),
        anchored: chain.anchor.count,
    };
    let mut walk = Walk::new(with, chain.anchor);
    let (mut rest, mut line, mut cut) = (BufReader::new(file), Vec::new(), false);
    while rest.read_until(b'\n', &mut line)? > 0 {
        let _step = walk.step(&line);
        cut = !line.ends_with(b"\n");
        line.clear();
    }
    chain.anchor = walk.at;
    if let Some(next) = walk.with.sealing {
        chain.keys.sealing = next;
    }
    chain.size = end.saturating_sub(walk.gap.len() as u64);
    Ok(Some(Behind { gap: walk.gap, cut }))
}

/// The key with which a person verifies all lines from the next one on. That one is to be written at once: it ends the key here.
pub fn give(dir: &Path, now: Now) -> Result<VerificationKey, Fault> {
    private::dir(FaultKind::Audit, dir)?;
    Chain::open(dir, now)?.give()
}

/// Sets the current file aside. The name sorts behind all there are, also when the clock was set back.
fn rename(dir: &Path, chain: &mut Chain, now: Now) -> Result<(), Fault> {
    let current = dir.join(CURRENT);
    let time = format!("{PREFIX}{}", clock::rfc3339(now.unix_ms).replace([':', '-'], ""));
    let names = files(dir)?;
    let last =
        names.iter().rev().filter(|path| **path != current).find_map(|path| path.file_stem()?.to_str());
    let (stem, number) = match last {
        Some(last) if last >= time.as_str() => after(last),
        _ => (time, 0),
    };
    let number = if number == 0 { String::new() } else { format!("-{number:03}") };
    let aside = dir.join(format!("{stem}{number}{SUFFIX}"));
    chain.seam()?;
    fs::rename(&current, &aside).map_err(|error| cannot(&current, &error))?;
    let last = chain.anchor;
    chain.anchor(last, 0).map_err(|error| cannot(&dir.join(CHAIN), &error))
}

/// Stem and number of the file after the one with this stem.
fn after(last: &str) -> (String, u32) {
    let numbered = last.rsplit_once('-').filter(|(_, digits)| digits.len() == 3);
    match numbered.and_then(|(stem, digits)| Some((stem, digits.parse::<u32>().ok()?))) {
        Some((stem, number)) if number < 999 => (stem.to_owned(), number + 1),
        _ => (last.to_owned(), 1),
    }
}

/// The log's files, oldest first; the current one is the last.
fn files(dir: &Path) -> Result<Vec<PathBuf>, Fault> {
    let entries = private::found(fs::read_dir(dir)).map_err(|error| cannot(dir, &error))?;
    let Some(entries) = entries else { return Ok(Vec::new()) };
    let is_aside = |name: &str| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
    let mut aside: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_aside))
        .map(|entry| entry.path())
        .collect();
    // The names sort by time: of one millisecond, the one without a number was first (`.` is after `-`, so by stem).
    crate::domain::sort_by_key(&mut aside, |path| path.file_stem().map(std::ffi::OsStr::to_owned));
    let current = dir.join(CURRENT);
    if current.exists() {
        aside.push(current);
    }
    Ok(aside)
}

/// How long all files of the log are together.
pub fn bytes(dir: &Path) -> u64 {
    let lengths =
        files(dir).unwrap_or_default().into_iter().map(|path| fs::metadata(path).map(|meta| meta.len()));
    lengths.flatten().sum()
}

/// A UUID of version 7: it sorts by time. What is random in it comes of the line before, which no two lines share: no system call.
fn new_id(now: Now, before: &[u8]) -> String {
    let mut random = [0_u8; 10];
    for (to, from) in random.iter_mut().zip(before) {
        *to = *from;
    }
    let id = uuid::Builder::from_unix_timestamp_millis(now.unix_ms, &random).into_uuid();
    id.hyphenated().to_string()
}

fn cannot(path: &Path, error: &io::Error) -> Fault {
    private::cannot(FaultKind::Audit, path, error)
}
