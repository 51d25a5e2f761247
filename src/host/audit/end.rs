//! The end of the log held against the chain: cheap enough for the start of a session. `verify` looks at all of it.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::chain::{Chain, Seen};
use super::memory::Last;
use super::seal;
use super::verify::{Bad, Check, Checked, Place, Wrong};
use super::{CURRENT, cannot, files};
use crate::domain::Fault;
use crate::host::private;

/// So much of the newest file is looked at first, and so much where no sealed line is in that.
const WINDOWS: [u64; 2] = [128 << 10, 4 << 20];

/// What the end of a log is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// There is no line that a chain could prove.
    None,
    /// The last lines are as they were written. `given` is the number from which a verification key proves lines; 0 = none was given out.
    Fine {
        given: u64,
    },
    Wrong(Bad),
}

/// The same at a session's start, from which on it is remembered how far the log went.
pub fn begun(dir: &Path) -> Result<End, Fault> {
    let found = end(dir)?;
    if let Some(seen) = Chain::look(dir)? {
        // The next session tries again.
        let _kept = Last::follow(dir, &seen);
    }
    Ok(found)
}

/// Looks at the last lines, at whether the last one is the anchored one, and whether the first one is there.
pub fn end(dir: &Path) -> Result<End, Fault> {
    let held = Chain::look(dir)?;
    let all = files(dir)?;
    let found = ended(dir, held.as_ref(), &all)?;
    let Some(place) = all.first().map(|file| Place { file: file.clone(), line: 1, offset: 0 }) else {
        return Ok(gone(dir, held.as_ref()).unwrap_or(found));
    };
    if matches!(found, End::Wrong(_)) {
        return Ok(found);
    }
    let removed =
        held.as_ref().and_then(|seen| Some((seen.base.count.saturating_add(1), first(seen, &place.file)?)));
    Ok(match removed.filter(|(due, first)| first > due) {
        Some((due, first)) => End::Wrong(place.bad(Wrong::Removed(due, first - 1))),
        None => gone(dir, held.as_ref()).unwrap_or(found),
    })
}

/// What is remembered of a chain that went further than this one does, or that is not there at all.
fn gone(dir: &Path, held: Option<&Seen>) -> Option<End> {
    let last = Last::of(dir)?;
    let (at, was) = match held {
        Some(seen) if seen.chain.keys.chain.name != last.name => return None,
        Some(seen) => (seen.chain.anchor.count, last.count),
        None => (0, last.count.max(1)),
    };
    let place = Place { file: dir.join(CURRENT), line: 1, offset: 0 };
    (was > at).then(|| End::Wrong(place.bad(Wrong::CutOff(at.saturating_add(1), was))))
}

/// The number of the first line of the chain in a file.
fn first(seen: &Seen, path: &Path) -> Option<u64> {
    let mut bytes = Vec::new();
    private::open(path, false).ok()?.take(WINDOWS[0]).read_to_end(&mut bytes).ok()?;
    let seal = bytes.split_inclusive(|byte| *byte == b'\n').find_map(seal::read)?;
    (seal.key == seen.chain.keys.chain.name).then_some(seal.count)
}

/// The end alone.
fn ended(dir: &Path, held: Option<&Seen>, all: &[PathBuf]) -> Result<End, Fault> {
    // The newest file may have no line yet.
    for path in all.iter().rev().take(2) {
        for window in WINDOWS {
            let lines = tail(path, window).map_err(|error| cannot(path, &error))?;
            let mut seals = lines.iter().rev().filter_map(|(_, line)| seal::read(line));
            let Some(last) = seals.next() else { continue };
            let offset = lines.first().map_or(0, |(offset, _)| *offset);
            let place = Place { file: path.clone(), line: 1, offset };
            return match held {
                // Of lines that an earlier version wrote only the whole chain says more.
                Some(seen) if last.proof.is_none() => Ok(reached(seen, last.count, place)),
                Some(seen) => look(seen, &lines, place),
                None => Ok(End::Wrong(place.bad(Wrong::KeyGone))),
            };
        }
    }
    let Some(Seen { chain, base, given, .. }) = held else { return Ok(End::None) };
    if chain.anchor.count == base.count {
        return Ok(End::Fine { given: *given });
    }
    let place = Place { file: dir.join(CURRENT), line: 1, offset: 0 };
    Ok(End::Wrong(place.bad(Wrong::CutOff(base.count.saturating_add(1), chain.anchor.count))))
}

/// The last lines of a file, in so many bytes, each with its place; a piece in front of the first line feed is left out.
fn tail(path: &Path, window: u64) -> io::Result<Vec<(u64, Vec<u8>)>> {
    let mut file = private::open(path, false)?;
    let length = file.metadata()?.len();
    // One byte more shows whether a line begins where the window does.
    let from = length.saturating_sub(window.saturating_add(1));
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(length - from).read_to_end(&mut bytes)?;
    let mut at = from;
    let mut lines: Vec<(u64, Vec<u8>)> = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        lines.push((at, line.to_vec()));
        at += line.len() as u64;
    }
    if from > 0 && !lines.is_empty() {
        lines.remove(0);
    }
    Ok(lines)
}

/// Whether the last line is the anchored one, by its number.
fn reached(seen: &Seen, last: u64, place: Place) -> End {
    let anchor = seen.chain.anchor.count;
    if last < anchor {
        End::Wrong(place.bad(Wrong::CutOff(last.saturating_add(1), anchor)))
    } else {
        End::Fine { given: seen.given }
    }
}

/// Where the gap begins that this line's seal covers; the line itself if it covers none, or not what stands in front of it.
fn gap_of(lines: &[(u64, Vec<u8>)], at: usize) -> usize {
    let covered = lines.get(at).and_then(|(_, line)| seal::read(line)).map_or(0, |seal| seal.gap);
    let mut length = 0;
    let in_front = lines.iter().enumerate().take(at).rev();
    let reached = in_front.map(|(index, (_, line))| {
        length += line.len() as u64;
        (index, length)
    });
    let begins = reached.take_while(|(_, length)| *length <= covered).last();
    begins.filter(|(_, length)| *length == covered).map_or(at, |(index, _)| index)
}

/// Follows the lines. The first one that has a proof is taken for what it says, unless the chain's file knows the line before it.
fn look(seen: &Seen, lines: &[(u64, Vec<u8>)], place: Place) -> Result<End, Fault> {
    let claimed = |line: &[u8]| seal::read(line).and_then(|seal| seal.claimed());
    let first = lines.iter().position(|(_, line)| claimed(line).is_some()).unwrap_or(0);
    let Some(own) = lines.get(first).and_then(|(_, line)| claimed(line)) else {
        return Ok(reached(seen, 0, place));
    };
    let known = [seen.base, seen.chain.last_seam()?];
    let before = known.into_iter().find(|link| link.count.saturating_add(1) == own.count);
    let (start, from) = before.map_or((own, first + 1), |before| (before, gap_of(lines, first)));
    let mut checked = Checked::default();
    let mut check = Check::new(seen, seen.follow(None), &mut checked, place.clone()).from(start);
    for (offset, line) in lines.iter().skip(from) {
        check.line(Place { offset: *offset, ..place.clone() }, line);
    }
    Ok(match check.end(None) {
        Err(bad) => End::Wrong(bad),
        Ok(()) => End::Fine { given: seen.given },
    })
}
