//! The whole log followed from the beginning of the chain to its anchor: it is as it was written, or here is the first place where it
//! is not. Changes nothing.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::chain::{Chain, Seen};
use super::seal::{self, Link, Seal};
use super::sealing::{SealingKey, VerificationKey};
use super::walk::{Follow, GAP, Step, Walk};
use super::{CURRENT, cannot, files, read};
use crate::domain::Fault;
use crate::host::{Watched, private};

/// After how many bytes it is said how far it is.
const OFTEN: u64 = 1 << 18;

/// A log that is as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    pub files: usize,
    /// Lines that the chain proves.
    pub lines: u64,
    /// The numbers of the first and the last of them.
    pub first: u64,
    pub last: u64,
    /// Lines written before there was a chain: nothing is known of them.
    pub unchained: u64,
    /// Lines of the chain that an earlier version sealed with its one key.
    pub earlier: u64,
    /// The number of the first line that the verification key proves.
    pub proven: Option<u64>,
    /// The number of the first line that the last verification key given out proves; 0 = none was given out.
    pub given: u64,
    /// Lines from before the chain's beginning, in files that were to be removed.
    pub pruned: u64,
    /// Lines behind the anchor: their writers were killed before they anchored them.
    pub unanchored: u64,
    /// Whether others than the owner may read the key; the next session's start closes it again.
    pub exposed: bool,
    /// Pieces of lines whose writers were killed. Those that a later line follows can't be changed unseen.
    pub torn: Vec<Torn>,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    pub file: PathBuf,
    pub line: u64,
    pub offset: u64,
    pub length: usize,
}

/// What is wrong with a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    Changed,
    Added,
    /// The lines from and to these numbers are not there.
    Removed(u64, u64),
    /// The line of that number stands somewhere else.
    Moved(u64),
    Repeated(u64),
    /// The lines from and to these numbers were there.
    CutOff(u64, u64),
    KeyGone,
    /// The anchor names another last line than the log has, or is of another key than it was made with.
    Anchor,
    /// The chain's key sealed the line, and the line's own key did not.
    Forged,
    /// The verification key is one of another chain.
    OtherChain,
}

impl Wrong {
    pub const fn name(self) -> &'static str {
        match self {
            Wrong::Changed => "changed",
            Wrong::Added => "added",
            Wrong::Removed(..) => "removed",
            Wrong::Moved(_) => "moved",
            Wrong::Repeated(_) => "repeated",
            Wrong::CutOff(..) => "cut_off",
            Wrong::KeyGone => "key_gone",
            Wrong::Anchor => "anchor",
            Wrong::Forged => "forged",
            Wrong::OtherChain => "other_chain",
        }
    }
}

/// The first place that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    pub wrong: Wrong,
    pub file: PathBuf,
    /// From 1; the line behind the last one where the log ends too early.
    pub line: u64,
    /// Bytes in front of it.
    pub offset: u64,
}

/// Follows the log. The files are opened while no line is being written, and read afterwards.
/// `each` is told the bytes that are behind it.
pub fn verify(
    dir: &Path,
    key: Option<&VerificationKey>,
    each: &mut Watched<'_>,
) -> Result<Result<Checked, Bad>, Fault> {
    let held = Chain::look(dir)?;
    let mut open = Vec::new();
    for path in files(dir)? {
        // Without a chain nobody waits for us, and one that is gone was old.
        let opened = private::found(private::open(&path, false)).map_err(|error| cannot(&path, &error))?;
        if let Some(file) = opened {
            let length = file.metadata().map_err(|error| cannot(&path, &error))?.len();
            open.push((path, file, length));
        }
    }
    let mut checked = Checked { files: open.len(), ..Checked::default() };
    let here = Place { file: dir.join(CURRENT), line: 1, offset: 0 };
    let other = held.as_ref().is_none_or(|seen| Some(seen.chain.keys.chain.name) != key.map(|key| key.name));
    if key.is_some() && other {
        return Ok(Err(here.bad(Wrong::OtherChain)));
    }
    let Some(seen) = held else { return without_key(open, checked) };
    (checked.exposed, checked.given) = (seen.chain.is_open(), seen.given);
    checked.first = seen.base.count.saturating_add(1);
    let present = seen.chain.keys.sealing.clone();
    let mut check = Check::new(&seen, seen.follow(key), &mut checked, here);
    // The files are open: from here on others may write.
    drop(seen);
    let (mut behind, mut told) = (0_u64, 0_u64);
    for (path, file, length) in open {
        check.here = Place { file: path.clone(), line: 1, offset: 0 };
        every(file.take(length), &path, |place, line| {
            let now = behind.saturating_add(place.offset);
            if now.saturating_sub(told) > OFTEN {
                told = now;
                let _reader = each(now);
            }
            check.line(place, line);
        })
        .map_err(|error| cannot(&path, &error))?;
        behind = behind.saturating_add(length);
    }
    let found = check.end(key.map(|key| (key, &present)));
    Ok(found.map(|()| checked))
}

/// A log that has no chain: fine, unless there was one.
fn without_key(open: Vec<(PathBuf, File, u64)>, mut checked: Checked) -> Result<Result<Checked, Bad>, Fault> {
    checked.first = 0;
    let mut sealed = None;
    for (path, file, length) in open {
        let mut look = |place: Place, line: &[u8]| {
            if sealed.is_none() && seal::read(line).is_some() {
                sealed = Some(place);
            }
            checked.unchained += 1;
        };
        every(file.take(length), &path, &mut look).map_err(|error| cannot(&path, &error))?;
    }
    Ok(match sealed {
        Some(place) => Err(place.bad(Wrong::KeyGone)),
        None => Ok(checked),
    })
}

/// A line's place.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub file: PathBuf,
    pub line: u64,
    pub offset: u64,
}

impl Place {
    pub fn bad(self, wrong: Wrong) -> Bad {
        Bad { wrong, file: self.file, line: self.line, offset: self.offset }
    }
}

/// Every line of a file with its place.
fn every(file: impl Read, path: &Path, mut f: impl FnMut(Place, &[u8])) -> io::Result<()> {
    let (mut line, mut offset, mut bytes) = (0, 0, Vec::new());
    let mut file = BufReader::with_capacity(1 << 16, file);
    loop {
        bytes.clear();
        // A line that is longer than any of ours comes in pieces, of which none is one.
        let length = (&mut file).take(GAP as u64).read_until(b'\n', &mut bytes)?;
        if length == 0 {
            return Ok(());
        }
        line += 1;
        f(Place { file: path.to_owned(), line, offset }, &bytes);
        offset += length as u64;
    }
}

/// What stands between two lines of the chain: where, how long, and whether something in it is no piece of a line.
struct Gap {
    at: Place,
    length: usize,
    strange: bool,
}

impl Gap {
    /// What killed writers leave, unless there is more in it than that.
    fn torn(self) -> Result<Torn, Bad> {
        if self.strange {
            return Err(self.at.bad(Wrong::Added));
        }
        let Place { file, line, offset } = self.at;
        Ok(Torn { file, line, offset, length: self.length })
    }
}

pub(super) struct Check<'c> {
    walk: Walk,
    base: Link,
    anchor: Link,
    checked: &'c mut Checked,
    /// Whether a line of the chain was seen.
    begun: bool,
    gap_at: Option<Gap>,
    /// The place behind the last line.
    here: Place,
    /// The first place that is wrong, and the number that is looked for to know whether it was moved.
    wrong: Option<Bad>,
}

impl<'c> Check<'c> {
    /// From the chain's beginning.
    pub fn new(seen: &Seen, with: Follow, checked: &'c mut Checked, here: Place) -> Check<'c> {
        let (base, anchor) = (seen.base, seen.chain.anchor);
        let walk = Walk::new(with, base);
        Check { walk, base, anchor, checked, begun: false, gap_at: None, here, wrong: None }
    }

    /// From another place.
    pub fn from(self, base: Link) -> Check<'c> {
        Check { walk: Walk::new(self.walk.with, base), base, begun: true, ..self }
    }

    pub fn line(&mut self, place: Place, line: &[u8]) {
        self.here = Place { line: place.line + 1, offset: place.offset + line.len() as u64, ..place.clone() };
        if let Some(bad) = &mut self.wrong {
            // What is missing may stand further behind.
            if let (Wrong::Removed(missing, _), Some(seal)) = (bad.wrong, seal::read(line))
                && seal.count == missing
            {
                bad.wrong = Wrong::Moved(missing);
            }
            return;
        }
        if !self.begun && self.base.count == 0 && seal::read(line).is_some_and(|seal| seal.gap == 0) {
            // What was torn before there was a chain is covered by nothing.
            self.walk.gap.clear();
            self.torn();
        }
        match self.walk.step(line) {
            Step::Next => self.next(),
            Step::Sealed(seal) => self.sealed(place, line, &seal),
            Step::Forged => self.wrong = Some(place.bad(Wrong::Forged)),
            Step::Foreign => self.wrong = Some(self.gap_or(place).bad(Wrong::KeyGone)),
            Step::Plain => self.plain(place, line),
        }
    }

    fn next(&mut self) {
        self.begun = true;
        self.checked.lines += 1;
        self.torn();
        if self.wrong.is_some() {
            return;
        }
        let at = self.walk.at;
        let is_earlier = self.walk.with.earlier.as_ref().is_some_and(|earlier| at.count <= earlier.last);
        self.checked.earlier += u64::from(is_earlier);
        if at.count == self.anchor.count && at != self.anchor {
            self.wrong = Some(self.here.clone().bad(Wrong::Anchor));
        }
        self.checked.unanchored += u64::from(at.count > self.anchor.count);
    }

    /// A line with a seal that does not continue the chain.
    fn sealed(&mut self, place: Place, line: &[u8], seal: &Seal) {
        let next = self.walk.at.count.saturating_add(1);
        if !self.begun && seal.count <= self.base.count {
            self.checked.pruned += 1;
            self.walk.gap.clear();
            return;
        }
        let gap = self.gap_at.take();
        let has_gap = gap.is_some();
        let at = gap.map_or(place.clone(), |gap| gap.at);
        // Without what stands in front of it it continues the chain: that was put there.
        let alone = seal::follow(&self.walk.with.key, &self.walk.at, b"", (line, seal)).is_some();
        self.wrong = Some(if has_gap && alone {
            at.bad(Wrong::Added)
        } else if seal.count == next || (has_gap && seal.count > next) {
            at.bad(Wrong::Changed)
        } else if seal.count > next {
            at.bad(Wrong::Removed(next, seal.count - 1))
        } else {
            place.bad(Wrong::Repeated(seal.count))
        });
    }

    /// A line without a seal: of an earlier version, or a piece, or none of ours.
    fn plain(&mut self, place: Place, line: &[u8]) {
        let whole = read::is_event(line);
        // A seal that was damaged is none of an earlier version.
        let sealed = line.windows(seal::SEAL.len()).any(|window| window == seal::SEAL);
        if !self.begun && self.base.count == 0 && whole && !sealed {
            self.checked.unchained += 1;
            self.walk.gap.clear();
            self.torn();
            return;
        }
        let gap = self.gap_at.get_or_insert(Gap { at: place, length: 0, strange: false });
        gap.length = gap.length.saturating_add(line.strip_suffix(b"\n").unwrap_or(line).len());
        gap.strange |= whole || !read::is_piece(line);
        if gap.length > GAP {
            let at = gap.at.clone();
            self.wrong = Some(at.bad(Wrong::Added));
        }
    }

    /// What stands in front of the line that was just read is told.
    fn torn(&mut self) {
        match self.gap_at.take().map(Gap::torn) {
            None => {}
            Some(Ok(torn)) => self.checked.torn.push(torn),
            Some(Err(bad)) => self.wrong = Some(bad),
        }
    }

    fn gap_or(&mut self, place: Place) -> Place {
        self.gap_at.take().map_or(place, |gap| gap.at)
    }

    pub fn end(mut self, proven: Option<(&VerificationKey, &SealingKey)>) -> Result<(), Bad> {
        if let Some(bad) = self.wrong {
            return Err(bad);
        }
        let at = self.walk.at.count;
        let gap = self.gap_at.take();
        // A gap that ends in a line feed is a whole line's place: its seal was changed.
        if at < self.anchor.count {
            return Err(match gap {
                Some(gap) if self.walk.gap.ends_with(b"\n") => gap.at.bad(Wrong::Changed),
                Some(gap) => gap.at.bad(Wrong::CutOff(at + 1, self.anchor.count)),
                None => self.here.bad(Wrong::CutOff(at + 1, self.anchor.count)),
            });
        }
        let without = self.base.count == self.anchor.count && self.base.mark != self.anchor.mark;
        if without || self.base.count > self.anchor.count {
            return Err(self.here.bad(Wrong::Anchor));
        }
        if let Some((key, present)) = proven {
            self.proven(key, present)?;
        }
        if let Some(gap) = gap {
            self.checked.torn.push(gap.torn()?);
        }
        self.checked.last = at;
        Ok(())
    }

    /// The end is the true one if the present key is what the verification key becomes: nobody can make an earlier one.
    fn proven(&mut self, key: &VerificationKey, present: &SealingKey) -> Result<(), Bad> {
        let next = self.anchor.count.saturating_add(1);
        if next < key.first() {
            return Err(self.here.clone().bad(Wrong::CutOff(next, key.first() - 1)));
        }
        if key.sealing.of(next).as_ref() != Some(present) {
            return Err(self.here.clone().bad(Wrong::Anchor));
        }
        let first = self.base.count.saturating_add(1).max(key.first());
        self.checked.proven = (first <= self.walk.at.count).then_some(first);
        Ok(())
    }
}
